# Everything is brought by scripts/setup.sh, which says what it brings and is quick where all is there.

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

# Formatting, lints, all tests. What takes longer is in check-doors, dist, valgrind and sanitize.
check:
	@scripts/check.sh

# Other releases of ptxas than that of development, which make check asks less: all tests in ptxas's place with the newest
# toolkit, and a search with the ptxas of each Triton.
check-doors: setup
	@scripts/setup.sh all-doors
	@scripts/with-env.sh scripts/check-doors.sh

# The wheel as a new user meets it: pip install into a new environment, and Python's calls. It takes the package index.
wheel:
	@WHEEL=required python3 -m unittest discover -s tests/python

# What is installed without Rust, into target/dist: the wheel for manylinux2014, the tool as one static file, and the plugin.
# A test installs each in an environment without cargo and runs it. Three builds of release mode: minutes each.
dist:
	@scripts/dist.sh

# The C ABI's tests and the whole lit suite under valgrind, and with the shim under ASan and UBSan. ARGS="--filter NAME"
# are lit's.
valgrind: build
	@scripts/setup.sh valgrind
	@scripts/memory.sh valgrind $(ARGS)

sanitize: setup
	@scripts/setup.sh sanitizers
	@scripts/memory.sh sanitizers $(ARGS)

# Real kernels from package registries, compiled, into target/corpus/ARCH: more than half an hour, and more than 4 GB.
# SOURCES="fla vllm" brings these alone; those that corpus.toml holds out, to judge forecasts by, come only so.
ARCH ?= sm_90
corpus: setup
	@scripts/with-env.sh tests/bench/fetch.py --arch $(ARCH) $(SOURCES)

# The corpus with stock llc, the plugin and NVIDIA's compiler, ptxas at the kernels' own bounds. ARGS="--subset small" for
# daily work: 405 kernels. ARGS="--settings own,32,64,128" adds register limits, ARGS="--settings none" no bounds, one
# that one block on an SM is enough, each one more run of ptxas; ARGS="--no-ptxas" is PTX alone;
# tests/bench/bench.py --help has the rest. CORPUS=FOLDER takes .bc and .ll files of yours. The small subset takes a
# minute and a half on two quiet cores.
bench: build
	@scripts/setup.sh cuda
	@scripts/setup.sh bench
	@test -n "$(CORPUS)" || $(MAKE) corpus
	@scripts/with-env.sh sh -c '"$$VENV/bin/python" tests/bench/bench.py --arch $(ARCH) --json target/bench/results.json \
	    --html target/bench/index.html $(ARGS)'

# Two results of bench, kernel by kernel: make bench-diff A=old.json B=new.json
bench-diff:
	@tests/bench/diff.py $(A) $(B) $(ARGS)

# The forecast's tables, fitted anew to results of bench: make calibrate RESULTS="own.json limits.json"; the limits are
# those of make bench ARGS="--settings one,32,64". WRITE= only prints how good they are.
WRITE ?= --write
calibrate: build
	@scripts/setup.sh calibrate
	@scripts/with-env.sh sh -c '"$$VENV/bin/python" tests/bench/calibrate.py --reports target/bench/reports-$(ARCH) \
	    --make-reports target/corpus/$(ARCH) --results $(RESULTS) $(WRITE)'

# What our passes cost, in instructions and time, beside LLVM's that do the like.
cost: build
	@scripts/with-env.sh tests/bench/cost.py $(ARGS)

# Instructions per second of our phases, beside LLVM's passes in the same run.
throughput: build
	@scripts/with-env.sh tests/bench/throughput.py $(ARGS)

# How many of the copies that remain are necessary: a lower bound, on the whole corpus.
optimum: build
	@scripts/with-env.sh tests/bench/optimum.py $(ARGS)

# How well a rule foresees what is live in the order that ptxas makes, on a draw of the corpus.
schedule: build
	@scripts/with-env.sh tests/bench/schedule.py $(ARGS)

# What tune makes of the corpus: all kernels that spill and 200 others, beside stock llc and cicc. Hours; ARGS="--draw 20
# --others 20 'candle__*'" takes less, --runs 16,64 searches twice. What was measured is kept.
tuning: build
	@scripts/with-env.sh tests/bench/tuning.py $(ARGS)

# What values in shared memory bring to all kernels of the corpus that spill, beside stock, NVIDIA's pragma, tune and cicc.
# Hours; ARGS="--only auto,said --draw 20 'candle__*'" takes less. What was measured is kept.
kept: build
	@scripts/with-env.sh tests/bench/kept.py $(ARGS)

# What each allocation engine makes of sixty of the corpus's kernels that spill, beside stock, cicc and regalloc=auto. Half an
# hour; ARGS="--draw 20 --json new.json --against old.json" takes less and compares two builds. What was measured is kept.
spill-plans: build
	@scripts/with-env.sh tests/bench/spill_plans.py $(ARGS)

# Whether drawn kernels of the corpus compute the same with each pass as without, run on the CPU. ARGS="--extremes" draws
# infinities, NaN and the limits of integers, too; ARGS="--ways schedule --count 60" takes less.
meaning: build
	@scripts/with-env.sh tests/bench/meaning.py $(ARGS)

# How many of a thousand mutants of kernels of the corpus the emulator tells from the originals, by kind of fault.
mutants: build
	@scripts/with-env.sh cargo build --release --no-default-features --features fuzzing,tool --example mutants --target-dir target/mutants
	@scripts/with-env.sh tests/bench/mutants.py $(ARGS)

# Random programs of PTX beside the machine code that ptxas makes of them, run on the CPU. It goes on at the seed where
# the last run ended; ARGS="--seed 1000 --seconds 7200" says another one and how long, --ptxas PATH adds a release, and
# --options "-O1" takes these alone. Of each difference, target/fuzz-ptxas has SEED_KERNEL.ptx, and SEED_KERNEL.txt
# says what differs.
FUZZED ?= $(wildcard target/cuda/bin/ptxas target/doors/cuda-*/nvidia/cu13/bin/ptxas)
fuzz-ptxas:
	@scripts/setup.sh cuda
	@scripts/with-env.sh cargo build --release --no-default-features --features fuzzing,tool \
	    --example fuzz_ptxas --target-dir target/tool
	@target/tool/release/examples/fuzz_ptxas run $(addprefix --ptxas ,$(FUZZED)) $(ARGS)

# What `nvptx-ra time` predicts beside the times that GPUs took, as the pages have them. The machine code is in
# target/recorded, or where ARGS="--folder FOLDER" says; tests/bench/recorded_code.py says how to build it again.
recorded: build
	@tests/bench/recorded.py $(ARGS)

# Which share of the gain a search of so many runs finds by what was recorded of searches, each lineage left out. ARGS are files of
# trials, which `ARGS="--record TRIALS FILE.ptx …"` adds to; with --write the table of the program is written anew.
learned: build
	@scripts/with-env.sh tests/bench/learned.py $(ARGS)

# The examples on a GPU, without and with the plugin: the same bits, and how long. Without a GPU it only prepares them.
gpu-bench: setup build
	@scripts/with-env.sh tests/bench/gpu/prepare.py
	@tests/bench/gpu/run.py $(ARGS)

# The examples and 40 kernels of the corpus in all variants, as a folder and a .tar.gz for a machine with a GPU and nothing
# else: run.py there compares outputs and times. Without a GPU, run.py compares by emulation (docs/emulate.md). The
# folder has the tool without LLVM. What is compiled and searched is cached.
gpu-bundle: setup build
	@scripts/setup.sh cuda
	@scripts/setup.sh bench
	@test -n "$(wildcard target/corpus/sm_90/*.bc)" || $(MAKE) corpus
	@CARGO_PROFILE_RELEASE_STRIP=symbols scripts/with-env.sh cargo build --release --no-default-features \
	    --features tool --target-dir target/tool
	@scripts/with-env.sh sh -c '"$$VENV/bin/python" tests/bench/gpu/bundle.py $(ARGS)'

# Operators of fla-core and liger-kernel on a GPU, with Triton's own ptxas and with nvptx-ra: the same bits, and how long.
# Needs PyTorch, Triton and both packages in the Python that is called.
gpu-operators:
	@cargo build --release --no-default-features --features tool --target-dir target/tool
	@NVPTX_RA="$${NVPTX_RA:-target/tool/release/nvptx-ra}" tests/bench/gpu/operators.py $(ARGS)

# The numbers of the model of time (src/sass/time/sm_90.txt), each by a micro-benchmark, measured on a GPU. Without a GPU: do
# they compile to what they should measure, and what does ptxas believe of the numbers?
gpu-calibrate:
	@test -x target/cuda/bin/ptxas || scripts/setup.sh cuda
	@tests/bench/gpu/gpu_calibrate.py $(ARGS)

clean:
	cargo clean
