# scripts/setup.sh installs all requirements and lists what it installs. It is quick if all are installed.

.PHONY: all setup build demo check check-doors wheel dist valgrind sanitize corpus bench bench-diff calibrate cost throughput optimum schedule tuning kept spill-plans meaning mutants fuzz-ptxas gpu-bench gpu-bundle gpu-operators gpu-calibrate recorded learned clean

all: build

setup:
	@scripts/setup.sh

build:
	@scripts/setup.sh build
	@scripts/with-env.sh cargo build --release

# The examples with and without the plugin, side by side.
demo: setup
	@scripts/with-env.sh cargo build --release --quiet
	@scripts/with-env.sh tests/bench/demo.py

# Formatting, lints, all tests. Longer checks are check-doors, dist, valgrind and sanitize.
check:
	@scripts/check.sh

# Tests with other releases of ptxas, which make check uses less: all tests of the ptxas wrapper with the newest
# toolkit, and a search with the ptxas of each Triton.
check-doors: setup
	@scripts/setup.sh all-doors
	@scripts/with-env.sh scripts/check-doors.sh

# The wheel as for a new user: pip install into a new environment, and Python's calls. Needs the package index.
wheel:
	@WHEEL=required python3 -m unittest discover -s tests/python

# Files for installation without Rust, in target/dist: the wheel for manylinux2014, the tool as one static file, and the
# plugin. A test installs each in an environment without cargo and runs it. Three release builds of some minutes each.
dist:
	@scripts/dist.sh

# The C ABI's tests and the whole lit suite under valgrind, and with the shim under ASan and UBSan. ARGS are arguments
# of lit, such as "--filter NAME".
valgrind: build
	@scripts/setup.sh valgrind
	@scripts/memory.sh valgrind $(ARGS)

sanitize: setup
	@scripts/setup.sh sanitizers
	@scripts/memory.sh sanitizers $(ARGS)

# Real kernels from package registries, compiled, into target/corpus/ARCH: more than half an hour, and more than 4 GB.
# SOURCES="fla vllm" compiles only these. Sources that corpus.toml holds out to test forecasts are compiled only in this
# way.
ARCH ?= sm_90
corpus: setup
	@scripts/with-env.sh tests/bench/fetch.py --arch $(ARCH) $(SOURCES)

# The corpus with stock llc, the plugin and NVIDIA's compiler, ptxas at the kernels' own bounds. ARGS="--subset small"
# is for daily work: 405 kernels, a minute and a half on two unused cores. ARGS="--settings own,32,64,128" adds register
# limits. The setting "none" removes the bounds, and "one" requires only one block per SM. Each setting is one more run
# of ptxas. ARGS="--no-ptxas" stops at PTX; tests/bench/bench.py --help has the rest. CORPUS=FOLDER uses your own .bc
# and .ll files.
bench: build
	@scripts/setup.sh cuda
	@scripts/setup.sh bench
	@test -n "$(CORPUS)" || $(MAKE) corpus
	@scripts/with-env.sh sh -c '"$$VENV/bin/python" tests/bench/bench.py --arch $(ARCH) --json target/bench/results.json \
	    --html target/bench/index.html $(ARGS)'

# Compares two results of bench, kernel by kernel: make bench-diff A=old.json B=new.json
bench-diff:
	@tests/bench/diff.py $(A) $(B) $(ARGS)

# Fits the forecast's tables to results of bench: make calibrate RESULTS="own.json limits.json". limits.json is the
# result of make bench ARGS="--settings one,32,64". WRITE= only prints the accuracy.
WRITE ?= --write
calibrate: build
	@scripts/setup.sh calibrate
	@scripts/with-env.sh sh -c '"$$VENV/bin/python" tests/bench/calibrate.py --reports target/bench/reports-$(ARCH) \
	    --make-reports target/corpus/$(ARCH) --results $(RESULTS) $(WRITE)'

# The instructions and time of our passes, beside similar passes of LLVM.
cost: build
	@scripts/with-env.sh tests/bench/cost.py $(ARGS)

# Instructions per second of our phases, beside LLVM's passes in the same run.
throughput: build
	@scripts/with-env.sh tests/bench/throughput.py $(ARGS)

# A lower bound of the necessary copies among the remaining ones, on the whole corpus.
optimum: build
	@scripts/with-env.sh tests/bench/optimum.py $(ARGS)

# The accuracy of a rule that predicts the pressure in ptxas's order, on a random part of the corpus.
schedule: build
	@scripts/with-env.sh tests/bench/schedule.py $(ARGS)

# The results of tune on the corpus: all kernels that spill and 200 others, beside stock llc and cicc. Takes hours;
# ARGS="--draw 20 --others 20 'candle__*'" takes less, --runs 16,64 searches twice. Measurements are cached.
tuning: build
	@scripts/with-env.sh tests/bench/tuning.py $(ARGS)

# The gain of values in shared memory for all kernels of the corpus that spill, beside stock, NVIDIA's pragma, tune and
# cicc. Takes hours; ARGS="--only auto,said --draw 20 'candle__*'" takes less. Measurements are cached.
kept: build
	@scripts/with-env.sh tests/bench/kept.py $(ARGS)

# The results of each allocation engine on sixty of the corpus's kernels that spill, beside stock, cicc and
# regalloc=auto. Takes half an hour; ARGS="--draw 20 --json new.json --against old.json" takes less and compares two
# builds. Measurements are cached.
spill-plans: build
	@scripts/with-env.sh tests/bench/spill_plans.py $(ARGS)

# Whether random kernels of the corpus compute the same with and without each pass, run on the CPU. ARGS="--extremes"
# also draws infinities, NaN and the limits of integers; ARGS="--ways schedule --count 60" takes less.
meaning: build
	@scripts/with-env.sh tests/bench/meaning.py $(ARGS)

# How many of a thousand mutants of the corpus's kernels the emulator distinguishes from the originals, by kind of
# fault.
mutants: build
	@scripts/with-env.sh cargo build --release --no-default-features --features fuzzing,tool --example mutants --target-dir target/mutants
	@scripts/with-env.sh tests/bench/mutants.py $(ARGS)

# Compares random PTX programs with ptxas's machine code for them, on the CPU. Continues at the seed where the last run
# ended; ARGS="--seed 1000 --seconds 7200" sets another seed and the duration, --ptxas PATH adds a release, and
# --options "-O1" uses only these options. For each difference, target/fuzz-ptxas has SEED_KERNEL.ptx, and
# SEED_KERNEL.txt describes the difference.
FUZZED ?= $(wildcard target/cuda/bin/ptxas target/doors/cuda-*/nvidia/cu13/bin/ptxas)
fuzz-ptxas:
	@scripts/setup.sh cuda
	@scripts/with-env.sh cargo build --release --no-default-features --features fuzzing,tool \
	    --example fuzz_ptxas --target-dir target/tool
	@target/tool/release/examples/fuzz_ptxas run $(addprefix --ptxas ,$(FUZZED)) $(ARGS)

# The predictions of `nvptx-ra time` beside the times measured on GPUs, as in the pages. The machine code is in
# target/recorded, or in the folder of ARGS="--folder FOLDER"; tests/bench/recorded_code.py explains how to rebuild it.
recorded: build
	@tests/bench/recorded.py $(ARGS)

# The share of the gain that a search with a given number of runs finds by recorded searches, with each lineage held
# out. ARGS are files of trials, to which `ARGS="--record TRIALS FILE.ptx …"` adds. With --write the program's table is
# rewritten.
learned: build
	@scripts/with-env.sh tests/bench/learned.py $(ARGS)

# The examples on a GPU, without and with the plugin: compares result bits and times. Without a GPU it only prepares
# them.
gpu-bench: setup build
	@scripts/with-env.sh tests/bench/gpu/prepare.py
	@tests/bench/gpu/run.py $(ARGS)

# The examples and 40 kernels of the corpus in all variants, as a folder and a .tar.gz for a machine with a GPU only.
# run.py there compares outputs and times. Without a GPU, run.py compares by emulation (docs/emulate.md). The folder has
# the tool without LLVM. Compilations and searches are cached.
gpu-bundle: setup build
	@scripts/setup.sh cuda
	@scripts/setup.sh bench
	@test -n "$(wildcard target/corpus/sm_90/*.bc)" || $(MAKE) corpus
	@CARGO_PROFILE_RELEASE_STRIP=symbols scripts/with-env.sh cargo build --release --no-default-features \
	    --features tool --target-dir target/tool
	@scripts/with-env.sh sh -c '"$$VENV/bin/python" tests/bench/gpu/bundle.py $(ARGS)'

# Operators of fla-core and liger-kernel on a GPU, with Triton's own ptxas and with nvptx-ra: compares result bits and
# times. Needs PyTorch, Triton and both packages in the Python that runs it.
gpu-operators:
	@cargo build --release --no-default-features --features tool --target-dir target/tool
	@NVPTX_RA="$${NVPTX_RA:-target/tool/release/nvptx-ra}" tests/bench/gpu/operators.py $(ARGS)

# Measures the numbers of the model of time (src/sass/time/sm_90.txt) on a GPU, each by a micro-benchmark. Without a GPU
# it checks that each compiles to the code that it should measure, and prints the numbers that ptxas assumes.
gpu-calibrate:
	@test -x target/cuda/bin/ptxas || scripts/setup.sh cuda
	@tests/bench/gpu/gpu_calibrate.py $(ARGS)

clean:
	cargo clean
