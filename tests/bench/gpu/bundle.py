#!/usr/bin/env python3
"""Packs kernels, each compiled in several ways, into a folder and a .tar.gz for a machine that has only a GPU.

The folder has the examples, 40 kernels of the corpus as selected by choice.py, the tool, and run.py. run.py needs
only Python and NVIDIA's driver. Compilations, searches and assemblies are cached.
"""

import argparse
import os
import shutil
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import cache
import choice
import corpus
import demo
import kernels
import manifest
import measure
import sources
import tools
from plan import OWN, Plan
from variants import BUNDLED, as_json

PROGRAMS = ["run.py", "driver.py", "emulated.py", "inputs.py", "intervals.py", "manifest.py"]
SHARED_PROGRAMS = ["command_line.py", "report.py"]
MOST_BYTES = 50_000_000
README = """\
The same kernels, compiled in several ways by LLVM alone and by nvptx-ra.

    python3 run.py --json results.json

runs all kernels on the first GPU, compares the variants' outputs with stock's, bit for bit, and times them alternately.
It needs Python 3.10 and NVIDIA's driver. Without a GPU, it compares the variants by emulation. The kernels are PTX for
{cpu}: they need a GPU of that generation, and Triton's need exactly that one. `python3 run.py --help` lists more
options.

variants.json shows how each variant was compiled, manifest.json how each kernel is launched. If a kernel has a seed,
`nvptx-ra run --record` draws the arguments and the memory.
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--output", type=Path, default=tools.ROOT / "target/gpu-bundle", help="default: %(default)s")
    emulator = tools.ROOT / "target/tool/release/nvptx-ra"
    add("--emulator", type=Path, default=emulator, help="nvptx-ra without LLVM, to pack (default: %(default)s)")
    add("--kernels", type=int, default=40, help="kernels of the corpus, half of them Triton's (default: %(default)s)")
    add("--seed", type=int, default=1, help="seed of the draw (default: %(default)s)")
    add("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def plan_of():
    """Returns a plan for compiling and assembling only."""
    return Plan(
        folder=str(tools.ROOT / "target/bench/gpu-bundle"),
        cache=cache.folder(),
        cpu=demo.CPU,
        modules={Path(path).stem: path for path in corpus.modules()},
        compilers=(),
        settings=(),
        tools=tools.find(None, with_sass=False),
        sass=False,
        sources=corpus.sources(),
    )


def with_examples(plan, arguments, folder):
    """Writes the PTX of the examples. Returns ptxas's figures, by variant and example."""

    def compiled(variant, example):
        with tempfile.TemporaryDirectory() as own:
            text = sources.cached_ptx(variant, sources.Example(example, Path(own)), arguments.emulator)
        write(folder, variant.name, example, text)
        judged = measure.assemble_text(text, example, OWN, None, plan)
        if judged["error"]:
            sys.exit(f"{example}, {variant.name}: {judged['error']}")
        return f"{variant.name}/{example}", judged["kernels"]

    examples = sorted({kernel.example for kernel in kernels.KERNELS})
    pairs = [(variant, example) for example in examples for variant in BUNDLED]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        return dict(pool.map(lambda pair: compiled(*pair), pairs))


def write(folder, variant, program, text):
    path = folder / variant / f"{program}.ptx"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf8")


def say(others):
    """Prints the number of rejected kernels, and the kernels with a variant that differs."""
    print(f"{len(others)} kernels were not taken")
    for other in others:
        if "differs" in other.reason:
            print(f"{other.name}: {other.reason}")


def pack(folder):
    """Writes the archive. The same files give the same bytes of the archive."""

    def plain(info):
        info.mtime = info.uid = info.gid = 0
        info.uname = info.gname = ""
        return info

    archive = folder.with_suffix(".tar.gz")
    with tarfile.open(archive, "w:gz") as file:
        file.add(folder, folder.name, filter=plain)
    return archive


def main():
    arguments = parse_arguments()
    if not arguments.emulator.exists():
        sys.exit(f"missing:\n  {arguments.emulator}: run make gpu-bundle")
    plan = plan_of()
    folder = arguments.output
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    figures = with_examples(plan, arguments, folder)
    launches = list(kernels.KERNELS)
    for suffix, wanted in ((".bc", arguments.kernels // 2), (".ll", arguments.kernels - arguments.kernels // 2)):
        taken, others = choice.draw(plan, suffix, wanted, arguments)
        say(others)
        for each in taken:
            launches.append(each.launch)
            for variant, text in each.texts.items():
                write(folder, variant, each.launch.example, text)
                figures[f"{variant}/{each.launch.example}"] = each.figures[variant]
    for program in [HERE / name for name in PROGRAMS] + [HERE.parent / name for name in SHARED_PROGRAMS]:
        shutil.copy(program, folder)
    shutil.copy(arguments.emulator, folder / "nvptx-ra")
    (folder / "README.txt").write_text(README.format(cpu=demo.CPU))
    (folder / "variants.json").write_text(as_json(BUNDLED, figures))
    (folder / "manifest.json").write_text(manifest.dump(launches))
    archive = pack(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {len(launches)} kernels in {len(BUNDLED)} variants, {size / 1e6:.1f} MB")
    print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB")
    if size > MOST_BYTES:
        sys.exit(f"more than {MOST_BYTES / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
