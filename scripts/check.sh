#!/usr/bin/env bash
# Runs all checks, step by step; a failed step does not stop the others. The last line is "N passed, N failed", in which
# each test counts, and a step without tests counts as one.
set -uo pipefail
"$(dirname "$0")/setup.sh" || exit 1
"$(dirname "$0")/setup.sh" valgrind
"$(dirname "$0")/setup.sh" doors
"$(dirname "$0")/setup.sh" cmake
"$(dirname "$0")/setup.sh" browser
source "$(dirname "$0")/env.sh"
cd "$ROOT" || exit 1
# Without link-time optimisation, the build takes half as long on two processors. The source code is the same.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
LOGS=$ROOT/target/check
mkdir -p "$LOGS"
passed=0 failed=0 started=$SECONDS
broken=$LOGS/failed.txt
: >"$broken"

# step NAME COMMAND...: runs a command, shows its output if it fails, and adds the passed and failed tests of its output
# to the totals.
step() {
  local name=$1 log=$LOGS/${1// /-}.log begin=$SECONDS ok=1
  shift
  "$@" >"$log" 2>&1 </dev/null || ok=0
  local good bad
  read -r good bad < <(count_tests "$log")
  if ((good + bad == 0)); then good=$ok; fi
  if ((ok == 0 && bad == 0)); then bad=1; fi
  passed=$((passed + good)) failed=$((failed + bad))
  local verdict=ok
  if ((bad)); then verdict=FAILED; fi
  printf '%-28s %-6s  %5d passed  %3d failed  %4d s\n' "$name" $verdict "$good" "$bad" $((SECONDS - begin))
  if ((bad)); then
    tail -n 80 "$log" | sed 's/^/    /'
    failures "$name" "$log" >>"$broken"
  fi
}

# Prints failed tests and the places of panics: in a log of many test programs they are far from the end.
failures() {
  echo "$1:"
  grep -hE -A1 "^test .* \.\.\. FAILED|^thread '.*' .*panicked at|^(FAIL|ERROR|TIMEOUT): |^error" "$2" |
    grep -vE '^(--)?$|\.\.\. ok$' | head -n 20 | cut -c 1-240 | sed 's/^/    /'
}

# Sums the counts of cargo test, lit and unittest: passed, failed.
count_tests() {
  awk '
    /^test result:/ { for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) good += $(i-1)
                                                  if ($i ~ /^failed/) bad += $(i-1) } }
    /^ *Passed *:/ { sub(/.*: */, ""); good += $1 }
    /^ *(Failed|Timed Out|Unresolved|Unexpectedly Passed) *:/ { sub(/.*: */, ""); bad += $1 }
    /^Ran [0-9]+ tests? in/ { ran += $2 }
    /^FAILED \(/ { gsub(/[^0-9]+/, " "); for (i = 1; i <= NF; i++) wrong += $i }
    END { print good + ran - wrong, bad + wrong }' "$1"
}

# The newest toolkit of scripts/door-packages.txt. `make check-doors` runs more tests with it and with others.
newest_cuda() { printf '%s\n' "$ROOT"/target/doors/cuda-*/nvidia/cu13 | tail -n 1; }

step "format" cargo fmt --check
step "clippy" cargo clippy --all-targets --features fuzzing -- -D warnings
# The core and the tool must compile without LLVM. Their tests are the same with LLVM, and run below.
step "clippy without LLVM" cargo clippy --lib --bins --no-default-features --features fuzzing,tool -- -D warnings
# With the features of the other steps, so that the shim is not compiled again.
step "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --features fuzzing
step "documentation of the core" env RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --no-default-features
step "build" cargo build --release
# The tests with ptxas run once, in a separate step, because they take long.
step "tests" env PTXAS=skip cargo test --no-fail-fast --features fuzzing
step "occupancy" env OCCUPANCY=required cargo test --features fuzzing --test library occupancy::
step "register limits" env PTXAS=required cargo test --features fuzzing --test library register_limit::
step "PTX instructions" env PTXAS=required cargo test --features fuzzing --test library -- \
  ptx_instructions:: random_programs::
step "in ptxas's place" env PTXAS=required DOORS=required cargo test --features fuzzing --test tool ptxas_wrapper::
step "options of the newest ptxas" env PTXAS=required CUDA_PATH="$(newest_cuda)" \
  cargo test --features fuzzing --bin nvptx-ra -- ptxas_wrapper::options
step "machine code" env PTXAS=required \
  cargo test --features fuzzing --test tool -- machine_code:: check_ptxas:: diff_ptxas:: ptxas_faults:: decode:: time:: \
  tune_ptx::
step "machine code as it is read" env PTXAS=required cargo test --features fuzzing --bin nvptx-ra -- machine::
step "measured registers" env PTXAS=required cargo test --features fuzzing --test tool report_sass::
step "Python package" python3 -m unittest discover -s tests/python -p 'test_[!w]*.py'
step "tests of the harness" python3 -m unittest discover -s tests/bench -p 'test_*.py'
step "CMake" env CMAKE=required python3 -m unittest discover -s tests/cmake
step "lit" env BROWSER=required "$LLVM_BIN/lit" tests/lit
if command -v valgrind >/dev/null; then
  # One test of the lit suite; `make valgrind` runs the whole suite.
  step "under valgrind" scripts/memory.sh valgrind --filter smoke/accepted
else
  echo "valgrind                     skipped: not there; apt-get install valgrind brings it"
fi

cat "$broken"
echo "logs in ${LOGS#"$ROOT"/}, $((SECONDS - started)) s"
echo "$passed passed, $failed failed"
((failed == 0))
