# shellcheck shell=bash
# Sourced by the other scripts: the paths of all programs. Variables that the caller sets take precedence.
#
#   LLVM_CONFIG   llvm-config of LLVM 22      CUDA_PATH   a CUDA toolkit, for ptxas and clang's headers
#   PLUGIN, NVPTX_RA   outputs of cargo       VENV        a virtual environment of our own

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LLVM_MAJOR=22

find_llvm_config() {
  local candidate
  for candidate in "llvm-config-$LLVM_MAJOR" "/usr/lib/llvm-$LLVM_MAJOR/bin/llvm-config" llvm-config; do
    if [[ $("$candidate" --version 2>/dev/null) == "$LLVM_MAJOR".* ]]; then
      command -v "$candidate"
      return
    fi
  done
}

set_llvm() {
  LLVM_CONFIG=${LLVM_CONFIG:-$(find_llvm_config)}
  [[ -n $LLVM_CONFIG ]] || return 0
  LLVM_BIN=$("$LLVM_CONFIG" --bindir)
  LIBCLANG_PATH=${LIBCLANG_PATH:-$("$LLVM_CONFIG" --libdir)}
  export LLVM_CONFIG LLVM_BIN LIBCLANG_PATH
}

# Prints the path, existing or not, of the library that clang loads into programs with AddressSanitizer.
asan_runtime() {
  "$LLVM_BIN/clang++" -print-file-name="libclang_rt.asan-$(uname -m).so"
}

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$ROOT/target}
export PLUGIN=${PLUGIN:-$CARGO_TARGET_DIR/release/libnvptx_ra.so}
export NVPTX_RA=${NVPTX_RA:-$CARGO_TARGET_DIR/release/nvptx-ra}
export VENV=$ROOT/target/venv
export CUDA_PATH=${CUDA_PATH:-$ROOT/target/cuda}
set_llvm
