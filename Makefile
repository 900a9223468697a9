# Everything is brought by scripts/setup.sh, which says what it brings and is quick where all is there.

.PHONY: all setup build demo check valgrind corpus compare bench cost clean

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

# Formatting, lints, all tests.
check:
	@scripts/check.sh

# The whole lit suite under valgrind: minutes.
valgrind: build
	@scripts/with-env.sh env VALGRIND=1 sh -c '"$$LLVM_BIN/lit" tests/lit'

# Real kernels from package registries, as bitcode, into target/corpus: about 10 minutes and 3 GB.
corpus: setup
	@scripts/with-env.sh tests/bench/fetch.py

# The corpus with and without the plugin. ARGS="--no-ptxas" is quick; tests/bench/compare.py --help has the rest.
compare: build
	@scripts/with-env.sh tests/bench/compare.py $(ARGS)

bench: setup
	@test -n "$(CORPUS)" || $(MAKE) corpus
	@$(MAKE) compare

# What the pass costs, in instructions and time, beside LLVM's own coalescer.
cost: build
	@scripts/with-env.sh tests/bench/cost.py $(ARGS)

clean:
	cargo clean
