#!/usr/bin/env bash
# Runs the tests of the C ABI and the lit suite under a tool that sees wrong uses of memory.
#
#   scripts/memory.sh valgrind|sanitizers [LIT ARGUMENT...]
#     valgrind    the programs as they are
#     sanitizers  a build of its own, whose shim clang instruments for ASan and UBSan; Rust's half and LLVM are not
set -euo pipefail
source "$(dirname "$0")/env.sh"
cd "$ROOT"
HOST=$(rustc -vV | sed -n 's/^host: //p')

# under COMMAND [FLAG...]: both suites, each program under the command, which is split at spaces; with the flags the
# tests of the C ABI alone.
under() {
  local runner=CARGO_TARGET_${HOST^^}_RUNNER
  env "${runner//-/_}=$*" cargo test "${CARGO_FLAGS[@]}" --features fuzzing --lib -- ffi::
  env RUN_UNDER="$1" "$LLVM_BIN/lit" tests/lit "${LIT_ARGUMENTS[@]}"
}

under_valgrind() {
  CARGO_FLAGS=()
  cargo build --release
  # Of clang's own front end valgrind has a thousand reports, with the plugin and without.
  export RUN_CLANG_UNDER=
  # LLVM unloads a plugin before leaks are looked for, and what only the plugin points to looks lost.
  under "valgrind -q --error-exitcode=99" --leak-check=full --errors-for-leak-kinds=definite
}

under_sanitizers() {
  local runtime
  runtime=$(asan_runtime)
  # With a target named, the flags are for what runs there and not for the build's own programs.
  CARGO_FLAGS=(--target "$HOST")
  export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/sanitizers
  export PLUGIN=$CARGO_TARGET_DIR/$HOST/debug/libnvptx_ra.so NVPTX_RA=$CARGO_TARGET_DIR/$HOST/debug/nvptx-ra
  # -fsanitize=vptr wants type information, which LLVM is built without.
  export CXX=$LLVM_BIN/clang++ CXXFLAGS="-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all"
  # Not unloaded, so that no leak is found that is none, and each frame of those that are has its name.
  export RUSTFLAGS="-Clink-arg=$runtime -Clink-arg=-Wl,-z,nodelete"
  cargo build "${CARGO_FLAGS[@]}"
  export UBSAN_OPTIONS=print_stacktrace=1
  under "$ROOT/scripts/preload.sh $runtime"
}

[[ $# -gt 0 ]] || set -- help
TOOL=$1
shift
LIT_ARGUMENTS=("$@")
case $TOOL in
  valgrind | sanitizers) "under_$TOOL" ;;
  *) echo "usage: memory.sh valgrind|sanitizers [LIT ARGUMENT...]" >&2 && exit 1 ;;
esac
