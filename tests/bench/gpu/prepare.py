#!/usr/bin/env python3
"""Compiles examples/ with and without the plugin for run.py: PTX and a manifest, to be taken to where a GPU is."""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import command_line
import demo
import kernels
import manifest
import tools

VARIANTS = ("stock", "plugin")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=tools.ROOT / "target/gpu", help="default: %(default)s")
    command_line.add_plugin(parser)
    arguments = parser.parse_args()
    found = tools.find(arguments.plugin)
    clang = os.path.join(os.path.dirname(found.llc), "clang")
    cuda = os.path.dirname(os.path.dirname(found.ptxas))
    for variant in VARIANTS:
        folder = arguments.output / variant
        folder.mkdir(parents=True, exist_ok=True)
        for example in sorted({kernel.example for kernel in kernels.KERNELS}):
            source, output = str(tools.ROOT / f"examples/{example}.cu"), str(folder / f"{example}.ptx")
            plugin = found.plugin if variant == "plugin" else None
            outcome = tools.run(demo.clang_command(clang, cuda, source, output, plugin), 120)
            if outcome.error:
                sys.exit(outcome.error)
    (arguments.output / "manifest.json").write_text(manifest.dump(kernels.KERNELS))
    print(f"{arguments.output}: {len(kernels.KERNELS)} kernels; run.py --input needs this folder and tests/bench")


if __name__ == "__main__":
    main()
