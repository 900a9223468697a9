#!/usr/bin/env python3
"""Gathers the machine code behind recorded.toml for recorded.py: KERNEL/VARIANT.cubin and KERNEL/manifest.json.

The builds are those of the days on which the times were taken. For the examples, in a work tree of commit 9d1aefa0:

    CARGO_PROFILE_RELEASE_LTO=off scripts/with-env.sh cargo build --release
    scripts/with-env.sh tests/bench/gpu/prepare.py

Then `recorded_code.py --prepared THERE/target/gpu`, with NVPTX_RA and PLUGIN of that build, copies what prepare.py
made, and compiles what the pages name beside it: orders, and optimisations left out. THERE/target/gpu/tuned-before is
what prepare.py of aed32afd calls `tuned`, with a build of that commit. For candle's products,
`recorded_code.py --candle`, with NVPTX_RA and PLUGIN of commit 53c74d94 and a corpus. What exists is not built again.
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
import tools
from manifest import Buffer, Kernel, Scalar

# Of the examples, beside what prepare.py makes: variant, and options of `nvptx-ra compile`.
ORDERS = ("sethi-ullman", "bottom-up", "latency", "late", "eager", "loads-late", "loads-clustered")
OPTIONS = {
    **{f"order-{order}": f"order={order}" for order in ORDERS},
    "skip-loop-reduce": "skip=loop-reduce",
}
# candle's products: columns and rows of a tile, and the bytes of a block with the values that it has.
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
SIZE, COLUMNS = 4096, 512  # of the square matrix and of the other one
LIMIT = 900


def product(name):
    """The launch of one of candle's products, as candle-core has it."""
    columns, rows, block, values = TILES[name]
    matrix = Buffer("u8", SIZE * SIZE // values * block, "uniform", 0, 59)  # so that no half is a NaN
    other = Buffer("u8", SIZE * COLUMNS // 32 * 36, "uniform", 0, 59)
    sizes = (Scalar("s32", size) for size in (SIZE, SIZE, COLUMNS, SIZE, SIZE))
    arguments = (matrix, other, Buffer("f32", SIZE * COLUMNS, written=True), *sizes)
    grid = (-(-SIZE // rows), -(-COLUMNS // columns), 1)
    return Kernel(f"mul_mat_{name}", "quantized", grid, (32, 4, 1), arguments, source="candle")


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
    """PTX of an example with options of the plugin, compiled as clang compiles CUDA."""
    with tempfile.TemporaryDirectory() as own:
        module, output = Path(own, f"{example}.ll"), Path(own, f"{example}.ptx")
        demo.compile_cuda(str(tools.ROOT / f"examples/{example}.cu"), str(module), ["-S", "-emit-llvm"])
        command = [tools.nvptx_ra(), "compile", str(module), "--cpu", demo.CPU, "--fp-contract", "fast"]
        demo.run([*command, "-o", str(output), *(word for option in options for word in ("--set", option))], LIMIT)
        return output.read_text(encoding="utf8")


def gather_examples(prepared, wanted, folder, programs):
    """Copies what prepare.py made of the kernels of examples/, and compiles the rest of what is wanted."""
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
                print(f"not there: {variant} of {kernel.name}", file=sys.stderr)


def gather_product(name, module, folder, programs):
    """LLVM's code of one of candle's products, one compilation with the plugin, the search, and cicc's code."""
    kernel = product(name)
    write_launch(kernel, folder)
    opt = os.path.join(os.path.dirname(programs.llc), "opt")
    with tempfile.TemporaryDirectory() as own:
        alone, output = Path(own, "alone.bc"), Path(own, "alone.ptx")
        only = f"-internalize-public-api-list={kernel.name}"
        demo.run([opt, "-passes=internalize,globaldce", only, str(module), "-o", str(alone)], LIMIT)
        flags = tools.target_flags(demo.CPU)
        tuned = ["--mattr=+ptx88", "--fp-contract=fast", "--cpu", demo.CPU, "--runs=16", "--threads=128", "--jobs=1"]
        commands = {
            "stock": [programs.llc, *flags, str(alone), "-o", str(output)],
            "default": [programs.llc, f"-load-pass-plugin={programs.plugin}", *flags, str(alone), "-o", str(output)],
            "tuned": [tools.nvptx_ra(), "tune", str(alone), *tuned, "-o", str(output)],
            "cicc": None,
        }
        for variant, command in commands.items():
            cubin = Path(folder, kernel.name, f"{variant}.cubin")
            if cubin.exists():
                continue
            if command:
                demo.run(command, LIMIT)
                text = output.read_text(encoding="utf8")
            else:
                theirs = module.parent / "cicc" / f"{module.stem}.ptx"
                text = ptx.only(theirs.read_text(encoding="utf8"), kernel.name)
            assemble(text, cubin, programs)


def main():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("--folder", type=Path, default=recorded.FOLDER, help="where the machine code goes (default: %(default)s)")
    add("--prepared", type=Path, metavar="FOLDER", help="what prepare.py made")
    candle = Path(os.environ.get("CORPUS") or tools.ROOT / "target/corpus/sm_90", "candle__quantized.bc")
    add(
        "--candle",
        type=Path,
        nargs="?",
        metavar="FILE.bc",
        const=candle,
        help="candle's kernels (by itself: %(const)s)",
    )
    command_line.add_jobs(parser)
    arguments = parser.parse_args()
    programs = tools.find(None)
    if arguments.prepared:
        pairs = recorded.pairs_of(recorded.RECORDS.read_text(encoding="utf8"))
        wanted = {(pair.kernel, variant) for pair in pairs for variant in (pair.a, pair.b)}
        gather_examples(arguments.prepared, wanted, arguments.folder, programs)
    if arguments.candle:
        with ThreadPoolExecutor(arguments.jobs) as pool:
            list(pool.map(lambda name: gather_product(name, arguments.candle, arguments.folder, programs), TILES))


if __name__ == "__main__":
    main()
