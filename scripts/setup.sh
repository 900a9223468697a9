#!/usr/bin/env bash
# Installs the tools for building, testing and measuring, and lists what it installs. Quick if all are installed.
#
#   scripts/setup.sh [build|cuda|doors|all-doors|bench|calibrate|valgrind|cmake|browser|dist|sanitizers|all]
#     build       a C++ compiler, LLVM 22 with clang, lit and FileCheck; from apt if it has them, with sudo unless root
#     cuda        ptxas, cuobjdump and CUDA's headers, from PyPI, into a virtual environment under target/
#     doors       compilers that call ptxas and other releases of CUDA, from PyPI, into target/doors; the wheels are kept in
#                 nvptx-ra-wheels in XDG_CACHE_HOME or ~/.cache
#     all-doors   the same, and those that only make check-doors uses
#     bench       plots and the scheduler of the benchmark, from PyPI, into the same environment
#     calibrate   libraries that fit the forecast's tables, from PyPI, into the same environment
#     valgrind    from apt, if it has it
#     cmake       CMake, from apt, for the tests of docs/cmake.md
#     browser     Chromium, from apt, for the test of the report's page
#     dist        maturin with zig, from PyPI, into the same environment; Rust's library for static programs, by rustup
#     sanitizers  clang's runtime libraries for them
set -euo pipefail
source "$(dirname "$0")/env.sh"

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

# apt_install PACKAGE...: installs as root or with sudo, or prints the command for the user.
apt_install() {
  local install=(apt-get install -y --no-install-recommends "$@") sudo=()
  command -v apt-get >/dev/null || fail "missing, and this system has no apt: $*" "$OTHERWISE"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || fail "missing; as root: apt-get update && ${install[*]}"
    sudo=(sudo)
  fi
  say "installing with apt: $*"
  mkdir -p "$ROOT/target/setup"
  local log=$ROOT/target/setup/apt.log
  "${sudo[@]}" apt-get update >"$log" 2>&1 || true # a source that does not answer need not be the one that is needed
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" >>"$log" 2>&1 ||
    fail "$(tail -n 5 "$log")" "apt could not install: $*" "$OTHERWISE"
}

setup_build() {
  command -v cargo >/dev/null || fail "cargo is missing: install Rust 1.89 or newer, then run this again"
  OTHERWISE="install a C++ compiler and Python 3 with venv"
  local packages=()
  command -v c++ >/dev/null || packages+=(g++)
  python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
  [[ ${#packages[@]} == 0 ]] || apt_install "${packages[@]}"

  OTHERWISE="install LLVM $LLVM_MAJOR with development files, clang, libclang, lld, lit and FileCheck,
       or name it: LLVM_CONFIG=/path/to/llvm-config"
  local all=("llvm-$LLVM_MAJOR-dev" "llvm-$LLVM_MAJOR-tools" "clang-$LLVM_MAJOR" "libclang-$LLVM_MAJOR-dev"
    "lld-$LLVM_MAJOR" "clang-tools-$LLVM_MAJOR")
  if [[ -z $LLVM_CONFIG ]]; then
    apt_install "${all[@]}"
    set_llvm
  fi
  local version
  [[ -n $LLVM_CONFIG ]] || fail "there is no llvm-config-$LLVM_MAJOR" "$OTHERWISE"
  version=$("$LLVM_CONFIG" --version) || fail "$LLVM_CONFIG does not run" "$OTHERWISE"
  [[ $version == "$LLVM_MAJOR".* ]] || fail "$LLVM_CONFIG is LLVM $version, LLVM $LLVM_MAJOR is needed" "$OTHERWISE"

  packages=()
  [[ -f $("$LLVM_CONFIG" --includedir)/llvm/Plugins/PassPlugin.h ]] || packages+=("llvm-$LLVM_MAJOR-dev")
  [[ -x $LLVM_BIN/FileCheck && -x $LLVM_BIN/not ]] || packages+=("llvm-$LLVM_MAJOR-tools")
  [[ -x $LLVM_BIN/clang ]] || packages+=("clang-$LLVM_MAJOR")
  compgen -G "$LIBCLANG_PATH/libclang*.so*" >/dev/null || packages+=("libclang-$LLVM_MAJOR-dev")
  [[ -x $LLVM_BIN/ld.lld ]] || packages+=("lld-$LLVM_MAJOR")
  # The device linker. If LLVM is not Debian's, its test is skipped instead.
  [[ -x $LLVM_BIN/clang-nvlink-wrapper || $LLVM_BIN != /usr/lib/llvm-$LLVM_MAJOR/bin ]] ||
    packages+=("clang-tools-$LLVM_MAJOR")
  if [[ ${#packages[@]} != 0 ]]; then
    [[ $LLVM_BIN == /usr/lib/llvm-$LLVM_MAJOR/bin ]] ||
      fail "the LLVM in $LLVM_BIN lacks what these packages hold: ${packages[*]}" "$OTHERWISE"
    apt_install "${packages[@]}"
  fi
  say "LLVM $version in $LLVM_BIN"
}

setup_venv() {
  [[ -x $VENV/bin/python ]] && return
  say "making a virtual environment in $VENV"
  python3 -m venv "$VENV"
}

# Creates the tree of links that clang's --cuda-path needs. Repeated if the list of packages changes.
setup_cuda() {
  if [[ $CUDA_PATH != "$ROOT/target/cuda" ]]; then
    [[ -x $CUDA_PATH/bin/ptxas ]] || fail "CUDA_PATH=$CUDA_PATH has no bin/ptxas"
    say "CUDA in $CUDA_PATH, as CUDA_PATH says"
    return
  fi
  local list=$ROOT/scripts/cuda-packages.txt stamp=$CUDA_PATH/.packages
  if ! cmp -s "$list" "$stamp"; then
    setup_venv
    say "installing with pip: $(grep -v '^#' "$list" | paste -sd' ')"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$list"
    local site
    site=$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/nvidia/cu13
    rm -rf "$CUDA_PATH"
    mkdir -p "$CUDA_PATH"
    local folder
    for folder in bin include lib nvvm; do cp -as "$site/$folder" "$CUDA_PATH/$folder"; done
    ln -s lib "$CUDA_PATH/lib64"
    echo '{"cuda":{"name":"CUDA SDK","version":"13.0.88"}}' >"$CUDA_PATH/version.json" # clang reads it
    cp "$list" "$stamp"
  fi
  say "$("$CUDA_PATH/bin/ptxas" --version | tail -n 1 | sed 's/.*cuda_/ptxas /; s/\.r.*//') in $CUDA_PATH"
}

# setup_doors [all]: installs each line of the list into its own folder. Wheels are kept outside of the checkout, so
# that nothing is downloaded twice.
setup_doors() {
  setup_venv
  local wheels=${XDG_CACHE_HOME:-$HOME/.cache}/nvptx-ra-wheels name packages
  mkdir -p "$wheels"
  while read -r name packages; do
    [[ -n $name && $name != "#"* ]] || continue
    [[ $name != "*"* || ${1:-} == all ]] || continue
    name=${name#"*"}
    # shellcheck disable=SC2086 # a package has no spaces
    setup_door "$wheels" "$name" $packages || say "going on without $name"
  done <"$ROOT/scripts/door-packages.txt"
}

# setup_door WHEELS NAME PACKAGE...
setup_door() {
  local wheels=$1 name=$2 folder=$ROOT/target/doors/$2
  shift 2
  [[ $(cat "$folder/.packages" 2>/dev/null) != "$*" ]] || return 0
  local pip=("$VENV/bin/python" -m pip --quiet --disable-pip-version-check)
  local install=(install --no-deps --no-compile --no-index --find-links "$wheels" --target "$folder" "$@")
  rm -rf "$folder"
  if ! "${pip[@]}" "${install[@]}" 2>/dev/null; then
    say "downloading into $wheels: $*"
    "${pip[@]}" download --no-deps --only-binary :all: --dest "$wheels" "$@" || return
    "${pip[@]}" "${install[@]}" || return
  fi
  echo "$*" >"$folder/.packages"
  say "$name in $folder"
}

setup_bench() {
  setup_venv
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$ROOT/scripts/bench-packages.txt"
}

setup_calibrate() {
  setup_venv
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$ROOT/scripts/calibrate-packages.txt"
}

# A part of `make check` needs valgrind, and is skipped without it.
setup_valgrind() {
  command -v valgrind >/dev/null || (OTHERWISE="" && apt_install valgrind) || say "going on without valgrind"
}

setup_cmake() {
  OTHERWISE="install CMake 3.20 or newer, and make or ninja"
  local packages=()
  command -v cmake >/dev/null || packages+=(cmake)
  command -v make ninja >/dev/null || packages+=(make)
  [[ ${#packages[@]} == 0 ]] || apt_install "${packages[@]}"
}

setup_browser() {
  OTHERWISE="install Chromium beside it"
  command -v chromium chromium-browser google-chrome >/dev/null || apt_install chromium
}

setup_dist() {
  setup_cmake
  setup_venv
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$ROOT/scripts/dist-packages.txt"
  local musl
  musl=$(uname -m)-unknown-linux-musl
  [[ ! -d $(rustc --print sysroot)/lib/rustlib/$musl/lib ]] || return 0
  command -v rustup >/dev/null || fail "missing: Rust's library for $musl" "install it beside Rust"
  say "installing with rustup: $musl"
  rustup --quiet target add "$musl"
}

setup_sanitizers() {
  OTHERWISE="install clang's runtime libraries for sanitizers beside it"
  [[ -f $(asan_runtime) ]] || apt_install "libclang-rt-$LLVM_MAJOR-dev"
}

case ${1:-all} in
  build) setup_build ;;
  cuda) setup_cuda ;;
  doors) setup_doors ;;
  all-doors) setup_doors all ;;
  bench) setup_bench ;;
  calibrate) setup_calibrate ;;
  valgrind) setup_valgrind ;;
  cmake) setup_cmake ;;
  browser) setup_browser ;;
  dist) setup_dist ;;
  sanitizers) setup_sanitizers ;;
  all)
    setup_build
    setup_cuda
    ;;
  *) fail "usage: setup.sh [build|cuda|doors|all-doors|bench|calibrate|valgrind|cmake|browser|dist|sanitizers|all]" ;;
esac
