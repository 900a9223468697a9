#!/usr/bin/env python3
"""Compiles examples/ in several ways for run.py: machine code and a manifest, to be taken to where a GPU is."""

import argparse
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import demo
import kernels
import manifest
import ptxas
import tools
from variants import VARIANTS

KERNEL = re.compile(r"^(define .*\bptx_kernel\b.*) (#\d+)", re.MULTILINE)


def ptx_of(variant, example, folder):
    """Compiles one file. Returns the PTX's path."""
    source, module, output = tools.ROOT / f"examples/{example}.cu", folder / f"{example}.ll", folder / f"{example}.ptx"
    if variant.compiler == "clang":
        demo.compile_cuda(str(source), str(output), ["-S"])
    elif variant.compiler in ("nvcc", "ptx"):
        nvcc = tools.find_cuda("nvcc") or sys.exit("missing:\n  nvcc: make setup, or CUDA_PATH=…")
        # nvcc leaves it to ptxas which products and sums to fuse, which changes bits with the order of the code.
        options = [f"-arch={demo.CPU}", "-std=c++17", "-fmad=false"]
        demo.run([nvcc, *options, "-ptx", str(source), "-o", str(output)], 300)
        if variant.limit:
            text = output.read_text(encoding="utf8")
            output.write_text(ptxas.with_setting(text, str(variant.limit)), encoding="utf8")
        if variant.compiler == "ptx":
            demo.run([tools.nvptx_ra(), "ptx", str(output), *variant.options, "-o", str(output)], 300)
    else:
        demo.compile_cuda(str(source), str(module), ["-S", "-emit-llvm"])
        if variant.limit:
            limited = KERNEL.sub(rf'\1 "nvvm.maxnreg"="{variant.limit}" \2', module.read_text(encoding="utf8"))
            module.write_text(limited, encoding="utf8")
        # As clang compiles CUDA.
        as_clang = ["--cpu", demo.CPU, "--fp-contract", "fast"]
        command = [tools.nvptx_ra(), variant.compiler, str(module), *as_clang, "-o", str(output)]
        demo.run([*command, *variant.options], 600)
        module.unlink()
    return output


def prepare(variant, example, output, found):
    """Writes the PTX and the machine code of one file. Returns what ptxas says of its kernels."""
    folder = output / variant.name
    source, cubin = ptx_of(variant, example, folder), folder / f"{example}.cubin"
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
    variants = [{**asdict(variant), "options": list(variant.options)} for variant in VARIANTS]
    (arguments.output / "variants.json").write_text(json.dumps({"variants": variants, "ptxas": figures}, indent=1))
    (arguments.output / "manifest.json").write_text(manifest.dump(kernels.KERNELS))
    print(f"{arguments.output}: {len(kernels.KERNELS)} kernels; run.py --input needs this folder and tests/bench")


if __name__ == "__main__":
    main()
