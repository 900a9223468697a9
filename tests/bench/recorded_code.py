#!/usr/bin/env python3
"""Gathers the machine code that belongs to recorded.toml, for recorded.py: KERNEL/VARIANT.cubin and
KERNEL/manifest.json.

The builds are those of the days on which the times were measured. For the examples, in a work tree of commit
9d1aefa0:

    CARGO_PROFILE_RELEASE_LTO=off scripts/with-env.sh cargo build --release
    scripts/with-env.sh tests/bench/gpu/prepare.py

Then `recorded_code.py --prepared THERE/target/gpu`, with NVPTX_RA and PLUGIN of that build, copies the output of
prepare.py. It also compiles the other variants on the pages: orders, and skipped optimisations. For candle's
products, run `recorded_code.py --corpus FOLDER` with NVPTX_RA and PLUGIN of commit 53c74d94, and the same for
dfdx's kernels. Existing files are not built again.
"""

import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "gpu"))

import command_line
import demo
import kernels
import manifest
import ptx
import recorded
import sources
import tools
from manifest import Buffer, Kernel, Scalar, Struct
from plan import CICC

# Variants of the examples in addition to those of prepare.py, by name, with the options of `nvptx-ra compile`.
ORDERS = ("sethi-ullman", "bottom-up", "latency", "late", "eager", "loads-late", "loads-clustered")
OPTIONS = {
    **{f"order-{order}": f"order={order}" for order in ORDERS},
    "skip-loop-reduce": "skip-passes=loop-reduce",
}
# candle's products: columns and rows of a tile, bytes of a block, and values in a block.
TILES = {
    "q4_0": (64, 128, 18, 32),
    "q4_1": (64, 128, 20, 32),
    "q5_0": (128, 64, 22, 32),
    "q5_1": (128, 64, 24, 32),
    "q8_0": (128, 64, 34, 32),
    "q2_K": (64, 128, 84, 256),
    "q3_K": (128, 128, 110, 256),
    "q4_K": (64, 128, 144, 256),
    "q5_K": (64, 128, 176, 256),
    "q6_K": (64, 64, 210, 256),
}
SIZE, COLUMNS = 4096, 512  # rows and columns of the square matrix, and columns of the other one
# dfdx's kernels with 64-bit divisions, which the page does not name: module, kernel, type, and whether three pointers
# come before the length of a chunk. pool2d has other parameters.
DIVIDING = (
    ("bce_bce", "bce_bwd_lhs_f32", "f32", False),
    ("div_binary_div", "bdiv_bwd_rhs_f32", "f32", True),
    ("huber_error_huber_error", "huber_bwd_lhs_f32", "f32", False),
    ("maximum_maximum", "maximum_bwd_lhs_f16", "f16", False),
    ("pool2d_pool2d", "pool2d_bwd_f32", "f32", None),
)
BLOCKS, THREADS, EDGE = 132, 256, 32  # those of the bundle, and the length of each axis
LIMIT = 900
PRODUCTS = ("stock", "default", "tuned", CICC)
SKIP, WITHOUT = "skip-passes=codegenprepare", "skip-codegenprepare"


def product(name):
    """Returns the launch of one of candle's products, as in candle-core."""
    columns, rows, block, values = TILES[name]
    matrix = Buffer("u8", SIZE * SIZE // values * block, "uniform", 0, 59)  # small bytes, so that no half is a NaN
    other = Buffer("u8", SIZE * COLUMNS // 32 * 36, "uniform", 0, 59)
    sizes = (Scalar("s32", size) for size in (SIZE, SIZE, COLUMNS, SIZE, SIZE))
    arguments = (matrix, other, Buffer("f32", SIZE * COLUMNS, written=True), *sizes)
    grid = (-(-SIZE // rows), -(-COLUMNS // columns), 1)
    return Kernel(f"mul_mat_{name}", "quantized", grid, (32, 4, 1), arguments, source="candle")


def dividing(name, element, is_right):
    """Returns a launch of dfdx's kernel over tensors with three axes. It has as many blocks as the launches of a
    corpus bundle."""
    count = BLOCKS * THREADS
    sizes = Buffer("u64", 18, "integers", EDGE, EDGE)  # all dimensions and strides
    values = [Buffer(element, EDGE**3 + count, "uniform", 0.5, 1) for _ in range(3)]
    result = Buffer(element, count, written=True)
    if is_right is None:
        axes = (3, 1, 1, 1, 1, count // EDGE**2, EDGE, EDGE, EDGE, EDGE)  # window of 3 by 3
        operation = Struct((Scalar("s32", 0), *(Scalar("u64", axis) for axis in axes)))
        arguments = (operation, sizes, sizes, values[0], result, *values[1:])
    else:
        operation = Struct((Scalar("f32" if "huber" in name else "u8", 1),))
        pointers = (values[0], values[1], result) if is_right else (values[0], result)
        others = (values[2],) if is_right else (values[1], values[2])
        arguments = (operation, Scalar("u64", count), Scalar("u64", 3), sizes, *pointers, Scalar("u64", 64), *others)
    return Kernel(name, "dfdx", (BLOCKS, 1, 1), (THREADS, 1, 1), arguments, source="dfdx")


def write_launch(kernel, folder):
    path = Path(folder, kernel.name, "manifest.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(manifest.dump([kernel]) + "\n", encoding="utf8")


def assemble(text, cubin, programs):
    with tempfile.TemporaryDirectory() as own:
        source = Path(own, "code.ptx")
        source.write_text(text, encoding="utf8")
        demo.run([programs.ptxas, "-O3", f"-arch={demo.CPU}", str(source), "-o", str(cubin)], LIMIT)


def variant_of(example, options):
    """Returns the PTX of an example with options of the plugin, compiled with the flags with which clang compiles
    CUDA."""
    with tempfile.TemporaryDirectory() as own:
        module, output = Path(own, f"{example}.ll"), Path(own, f"{example}.ptx")
        demo.compile_cuda(str(tools.ROOT / f"examples/{example}.cu"), str(module), ["-S", "-emit-llvm"])
        command = [tools.nvptx_ra(), "compile", str(module), "--cpu", demo.CPU, "--fp-contract", "fast"]
        demo.run([*command, "-o", str(output), *(word for option in options for word in ("--set", option))], LIMIT)
        return output.read_text(encoding="utf8")


def gather_examples(prepared, wanted, folder, programs):
    """Copies the output of prepare.py for the kernels of examples/, and compiles the other variants."""
    for kernel in kernels.KERNELS:
        variants = sorted(variant for name, variant in wanted if name == kernel.name)
        if variants:
            write_launch(kernel, folder)
        for variant in variants:
            cubin = Path(folder, kernel.name, f"{variant}.cubin")
            source = Path(prepared, variant, f"{kernel.example}.cubin")
            if source.exists():
                shutil.copyfile(source, cubin)
            elif variant in OPTIONS and not cubin.exists():
                assemble(variant_of(kernel.example, [OPTIONS[variant]]), cubin, programs)
            elif not cubin.exists():
                print(f"missing: {variant} of {kernel.name}", file=sys.stderr)


def gather_alone(kernel, module, ways, folder, *, programs, finish=str):
    """Compiles a kernel of the corpus, in its own module, in several ways; `finish` changes the PTX."""
    write_launch(kernel, folder)
    opt = os.path.join(os.path.dirname(programs.llc), "opt")
    load = f"-load-pass-plugin={programs.plugin}"
    flags = tools.target_flags(demo.CPU)
    tuned = ["--mattr=+ptx88", "--fp-contract=fast", "--cpu", demo.CPU, "--runs=16", "--jobs=1"]
    with tempfile.TemporaryDirectory() as own:
        alone, output = Path(own, "alone.bc"), Path(own, "alone.ptx")
        only = f"-internalize-public-api-list={kernel.name}"
        demo.run([opt, "-passes=internalize,globaldce", only, str(module), "-o", str(alone)], LIMIT)
        commands = {
            "stock": [programs.llc, *flags, str(alone), "-o", str(output)],
            "default": [programs.llc, load, *flags, str(alone), "-o", str(output)],
            "tuned": [tools.nvptx_ra(), "tune", str(alone), *tuned, "-o", str(output)],
            WITHOUT: [programs.llc, load, f"-nvptx-ra-{SKIP}", *flags, str(alone), "-o", str(output)],
        }
        for way in ways:
            cubin = Path(folder, kernel.name, f"{way}.cubin")
            if cubin.exists():
                continue
            if way == CICC:
                theirs = module.parent / CICC / f"{module.stem}.ptx"
                text = ptx.only(theirs.read_text(encoding="utf8"), kernel.name)
            else:
                demo.run(commands[way], LIMIT)
                text = output.read_text(encoding="utf8")
            assemble(finish(text), cubin, programs)


def main():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("--folder", type=Path, default=recorded.FOLDER, help="folder for the machine code (default: %(default)s)")
    add("--prepared", type=Path, metavar="FOLDER", help="output folder of prepare.py")
    add("--corpus", type=Path, metavar="FOLDER", help="folder with candle__quantized.bc and dfdx's modules")
    command_line.add_jobs(parser)
    arguments = parser.parse_args()
    programs = tools.find(None)
    if arguments.prepared:
        pairs = recorded.pairs_of(recorded.RECORDS.read_text(encoding="utf8"))
        wanted = {(pair.kernel, variant) for pair in pairs for variant in (pair.a, pair.b)}
        gather_examples(arguments.prepared, wanted, arguments.folder, programs)
    if not arguments.corpus:
        return
    candle = arguments.corpus / "candle__quantized.bc"
    with ThreadPoolExecutor(arguments.jobs) as pool:
        work = [
            pool.submit(gather_alone, product(name), candle, PRODUCTS, arguments.folder, programs=programs)
            for name in TILES
        ]
        for module, *kernel in DIVIDING:
            path = arguments.corpus / f"dfdx__{module}.bc"
            of = (dividing(*kernel), path, ("stock", WITHOUT), arguments.folder)
            work.append(pool.submit(gather_alone, *of, programs=programs, finish=sources.with_rounding))
        for each in work:
            each.result()


if __name__ == "__main__":
    main()
