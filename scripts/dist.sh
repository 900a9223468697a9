#!/usr/bin/env bash
# Builds three files for installation without Rust into target/dist, then tests each in an environment without cargo:
#
#   nvptx_ra-VERSION-py3-none-manylinux….whl     the package for Python with the tool, for glibc 2.17 and newer
#   nvptx-ra-VERSION-ARCH-linux                  the tool without LLVM, one static file
#   nvptx-ra-VERSION-llvm22-debian12-ARCH.tar.gz the plugin, the tool with LLVM and CMake's package, for the LLVM library
#                                                of the distribution that builds it
set -euo pipefail
"$(dirname "$0")/setup.sh" build
"$(dirname "$0")/setup.sh" dist
source "$(dirname "$0")/env.sh"
cd "$ROOT"
ARCH=$(uname -m)
VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
DIST=$ROOT/target/dist
WORK=$CARGO_TARGET_DIR/dist-build
rm -rf "$DIST"
mkdir -p "$DIST"

echo "dist: the wheel"
# maturin looks for zig beside Python.
PATH="$VENV/bin:$PATH" maturin build --quiet --release --zig --compatibility manylinux2014 --target-dir "$WORK" --out "$DIST"

echo "dist: the static file"
MUSL=$ARCH-unknown-linux-musl
CARGO_PROFILE_RELEASE_STRIP=symbols cargo build --quiet --release --locked --no-default-features --features tool \
  --bin nvptx-ra --target "$MUSL" --target-dir "$WORK"
cp "$WORK/$MUSL/release/nvptx-ra" "$DIST/nvptx-ra-$VERSION-$ARCH-linux"

echo "dist: the plugin"
NAME=nvptx-ra-$VERSION-llvm$LLVM_MAJOR-$(source /etc/os-release && echo "$ID${VERSION_ID:-}")-$ARCH
cmake -S . -B "$WORK/cmake" -DLLVM_DIR="$("$LLVM_CONFIG" --cmakedir)" -DCMAKE_INSTALL_LIBDIR=lib >"$WORK/cmake.log"
CARGO_PROFILE_RELEASE_STRIP=symbols cmake --build "$WORK/cmake" >>"$WORK/cmake.log"
rm -rf "${WORK:?}/$NAME"
cmake --install "$WORK/cmake" --prefix "$WORK/$NAME" >>"$WORK/cmake.log"
cp LICENSE "$WORK/$NAME"
tar -C "$WORK" --owner=0 --group=0 -czf "$DIST/$NAME.tar.gz" "$NAME"

"$(dirname "$0")/setup.sh" cuda
DIST=$DIST python3 -m unittest discover -s tests/dist
ls -l "$DIST"
