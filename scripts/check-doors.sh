#!/usr/bin/env bash
# Runs the ptxas tests of `make check` with the other releases of ptxas in scripts/door-packages.txt.
set -euo pipefail
source "$(dirname "$0")/env.sh"
cd "$ROOT"
TESTS=(cargo test --quiet --no-default-features --features fuzzing,tool --target-dir "$CARGO_TARGET_DIR/tool")
NEWEST=$(printf '%s\n' "$ROOT"/target/doors/cuda-*/nvidia/cu13 | tail -n 1)
failed=0
for toolkit in "$ROOT"/target/doors/triton-*/triton/backends/nvidia "$NEWEST"; do
  echo "options of $("$toolkit/bin/ptxas" --version | grep release)"
  CUDA_PATH=$toolkit PTXAS=required "${TESTS[@]}" --bin nvptx-ra -- ptxas_wrapper::options || failed=1
done
echo "a search with each ptxas"
DOORS=all "${TESTS[@]}" --test tool -- ptxas_wrapper::releases ptxas_wrapper::doors::options_of_triton || failed=1
echo "in the place of $("$NEWEST/bin/ptxas" --version | grep release)"
CUDA_PATH=$NEWEST PTXAS=required DOORS=required "${TESTS[@]}" --test tool ptxas_wrapper:: || failed=1
exit $failed
