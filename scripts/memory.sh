#!/usr/bin/env bash
# Runs the tests of the C ABI and the lit suite under a tool that detects memory errors.
#
#   scripts/memory.sh valgrind|sanitizers [LIT ARGUMENT...]
#   scripts/memory.sh fuzz SECONDS [FIRST]
#     valgrind    the unmodified programs
#     sanitizers  a separate build, whose shim clang instruments for ASan and UBSan, but not Rust's half and LLVM
#     fuzz        the same build, which applies unchecked random edits, seeded by the functions' numbers from FIRST on
set -euo pipefail
source "$(dirname "$0")/env.sh"
cd "$ROOT"
HOST=$(rustc -vV | sed -n 's/^host: //p')

# under COMMAND [FLAG...]: runs both suites, each program under the command, which is split at spaces. The flags apply
# only to the tests of the C ABI.
under() {
  local runner=CARGO_TARGET_${HOST^^}_RUNNER
  env "${runner//-/_}=$*" cargo test "${CARGO_FLAGS[@]}" --features fuzzing --lib -- ffi::
  env RUN_UNDER="$1" "$LLVM_BIN/lit" tests/lit "${LIT_ARGUMENTS[@]}"
}

under_valgrind() {
  CARGO_FLAGS=()
  cargo build --release
  # valgrind has a thousand reports on clang's own front end, with and without the plugin.
  export RUN_CLANG_UNDER=
  # LLVM unloads a plugin before the leak check, and memory that only the plugin points to looks lost.
  under "valgrind -q --error-exitcode=99" --leak-check=full --errors-for-leak-kinds=definite
}

# Builds with sanitizers, into a separate folder; $SANITIZED is the command to run such programs.
with_sanitizers() {
  local runtime
  runtime=$(asan_runtime)
  # With an explicit target, the flags apply to the target's code and not to build scripts.
  CARGO_FLAGS=(--target "$HOST")
  export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/sanitizers
  export PLUGIN=$CARGO_TARGET_DIR/$HOST/debug/libnvptx_ra.so NVPTX_RA=$CARGO_TARGET_DIR/$HOST/debug/nvptx-ra
  # -fsanitize=vptr needs type information, which LLVM is built without.
  export CXX=$LLVM_BIN/clang++ CXXFLAGS="-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all"
  # The plugin stays loaded, so that no false leaks are reported, and each frame of a leak has its name.
  export RUSTFLAGS="-Clink-arg=$runtime -Clink-arg=-Wl,-z,nodelete"
  cargo build "${CARGO_FLAGS[@]}"
  export UBSAN_OPTIONS=print_stacktrace=1
  SANITIZED="$ROOT/scripts/preload.sh $runtime"
}

under_sanitizers() {
  with_sanitizers
  under "$SANITIZED"
}

# The functions of tests/lit/edits/wrong.test, through the new pass manager and through llc.
fuzz() {
  local seconds=${1:?"how many seconds"} first=${2:-0} count=500 form folder
  local edits=$ROOT/tests/lit/edits
  with_sanitizers
  # A pass inserted after one that -start-before skips is never owned by LLVM, and looks lost.
  export ASAN_OPTIONS=detect_leaks=0
  folder=$(mktemp -d)
  "$LLVM_BIN/split-file" "$edits/wrong.test" "$folder"
  SECONDS=0
  while ((SECONDS < seconds)); do
    for form in ssa:phi-node-elimination flat:register-coalescer; do
      local place=before
      if [[ $form == flat:* ]]; then place=after; fi
      python3 "$edits/Inputs/functions.py" "$folder/${form%%:*}.mir" $count "$first" >"$folder/all.mir"
      if ! $SANITIZED "$NVPTX_RA" mir -mcpu=sm_90 "$folder/all.mir" -o "$folder/out.mir" 2>"$folder/said" \
        -passes="nvptx-apply-edits<edits=$folder/none.edits;inject=wrong-edits>,print<nvptx-ra-view>" ||
        ! $SANITIZED "$LLVM_BIN/llc" -load-pass-plugin="$PLUGIN" -nvptx-ra-inject=wrong-edits -mcpu=sm_90 -x mir \
          "-start-$place=${form#*:}" "$folder/all.mir" -o "$folder/out.ptx" 2>"$folder/said"; then
        tail -n 60 "$folder/said"
        echo "form ${form%%:*}: one of the $count functions from k$first on ends the program: scripts/memory.sh fuzz 1 $first"
        return 1
      fi
    done
    first=$((first + count))
  done
  rm -rf "$folder"
  echo "functions k${2:-0} to k$((first - 1)) in two forms, through both pass managers: no program ended"
}

[[ $# -gt 0 ]] || set -- help
TOOL=$1
shift
LIT_ARGUMENTS=("$@")
case $TOOL in
  valgrind | sanitizers) "under_$TOOL" ;;
  fuzz) fuzz "$@" ;;
  *) echo "usage: memory.sh valgrind|sanitizers [LIT ARGUMENT...] | fuzz SECONDS [FIRST]" >&2 && exit 1 ;;
esac
