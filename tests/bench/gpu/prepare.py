#!/usr/bin/env python3
"""Compiles examples/ in several ways for run.py. Writes machine code and a manifest. Both are to be copied to a
machine with a GPU."""

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import demo
import kernels
import manifest
import ptxas
import sources
import tools
from variants import VARIANTS, as_json


def prepare(variant, example, output, found):
    """Writes the PTX and the machine code of one file. Returns ptxas's figures of its kernels."""
    folder = output / variant.name
    with tempfile.TemporaryDirectory() as own:
        text = sources.ptx_of(variant, sources.Example(example, Path(own)), own, tools.nvptx_ra())
    source, cubin = folder / f"{example}.ptx", folder / f"{example}.cubin"
    source.write_text(text, encoding="utf8")
    log = demo.run([found.ptxas, "-v", "-O3", f"-arch={demo.CPU}", str(source), "-o", str(cubin)], 300)
    return {name: dict(figures) for name, figures in ptxas.parse_log(log).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=tools.ROOT / "target/gpu", help="default: %(default)s")
    arguments = parser.parse_args()
    found = tools.find(None)
    examples = sorted({kernel.example for kernel in kernels.KERNELS})
    for variant in VARIANTS:
        (arguments.output / variant.name).mkdir(parents=True, exist_ok=True)
    pairs = [(variant, example) for variant in VARIANTS for example in examples]
    with ThreadPoolExecutor() as pool:
        said = pool.map(lambda pair: prepare(*pair, arguments.output, found), pairs)
        figures = {f"{variant.name}/{example}": of for (variant, example), of in zip(pairs, said, strict=True)}
    (arguments.output / "variants.json").write_text(as_json(VARIANTS, figures))
    (arguments.output / "manifest.json").write_text(manifest.dump(kernels.KERNELS))
    print(f"{arguments.output}: {len(kernels.KERNELS)} kernels; run.py --input needs this folder, and tests/bench")


if __name__ == "__main__":
    main()
