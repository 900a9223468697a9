#!/usr/bin/env python3
"""Measures how many registers kernels allocate beyond the live registers, and finds the causes.

    registers.py [options] [FILE …]

`nvptx-ra report --sass` measures PTX files: the given ones, or else a sample of the corpus, with as many of cicc's
files as of Triton's. Files of more than --max-bytes are left out. The table has a row for each source of kernels:
the number of kernels with more registers than the maximum of live registers, the excess, and the causes that the
disassembler's tables prove.
"""

import json
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import command_line
import tools

CORPUS = tools.ROOT / "target/corpus"
PATTERNS = {"CUDA": "sm_90/cicc/*.ptx", "Triton": "triton-cache/*/*.ptx"}


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="PTX")
    add("--draw", type=int, default=25, help="files of each source (default: %(default)s)")
    add("--seed", type=int, default=1)
    add("--max-bytes", type=int, default=400_000)
    command_line.add_jobs(parser)
    command_line.add_tool(parser)
    add("--json", metavar="FILE", help="write the figures of every kernel")
    return parser.parse_args()


def drawn(arguments):
    """Returns pairs of a source's name and a file."""
    if arguments.files:
        return [("given", Path(file)) for file in arguments.files]
    found = []
    for name, pattern in PATTERNS.items():
        files = [file for file in sorted(CORPUS.glob(pattern)) if 0 < file.stat().st_size <= arguments.max_bytes]
        chosen = random.Random(arguments.seed).sample(files, min(arguments.draw, len(files)))
        found += [(name, file) for file in sorted(chosen)]
    return found


def measure(tool, source, file):
    """Returns the kernels of a file. If it cannot be measured, prints an error and returns an empty list."""
    command = [tool, "report", "--sass", "--json", str(file)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["failed"]
        print(f"{file}: {lines[-1]}", file=sys.stderr)
        return []
    kept = ("name", "registers", "live_registers", "disassembler_live_registers", "named_registers", "highest_register")
    kernels = []
    for kernel in json.loads(done.stdout)["kernels"]:
        if kernel["is_kernel"]:
            cause = (kernel["highest_because"] or {}).get("cause")
            forecast = (kernel["forecast"] or {}).get("registers")
            kernels.append(
                {key: kernel[key] for key in kept}
                | {
                    "cause": cause,
                    "source": source,
                    "file": file.name,
                    "calls": len(kernel["calls"]),
                    "forecast": forecast,
                }
            )
    return kernels


def parts(kernel):
    """Divides the registers beyond the live registers into three parts: above the highest register that the code
    names, below it but never named, and named but not live at the high-pressure point."""
    end = (kernel["highest_register"] or 0) + 1
    return {
        "above": kernel["registers"] - end,
        "unnamed": end - kernel["named_registers"],
        "elsewhere": kernel["named_registers"] - kernel["live_registers"],
    }


def row(name, kernels):
    """Returns a row of the Markdown table."""
    beyond = [kernel["registers"] - kernel["live_registers"] for kernel in kernels]
    sums = Counter()
    for kernel in kernels:
        sums.update(parts(kernel))
    causes = Counter(k["cause"] for k in kernels if parts(k)["elsewhere"] + parts(k)["unnamed"] > 0)
    counted = sum(kernel["disassembler_live_registers"] != kernel["live_registers"] for kernel in kernels)
    cells = [
        name,
        len(kernels),
        sum(kernel["registers"] for kernel in kernels),
        sum(kernel["live_registers"] for kernel in kernels),
        sum(more > 0 for more in beyond),
        max(beyond, default=0),
        sums["above"],
        sums["unnamed"],
        sums["elsewhere"],
        causes["full"],
        causes["alignment"],
        causes["choice"],
        counted,
    ]
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |"


def main():
    arguments = parse_arguments()
    found = drawn(arguments)
    if not found:
        sys.exit("no files: run make corpus")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        measured = pool.map(lambda pair: measure(arguments.tool, *pair), found)
        kernels = [kernel for of_file in measured for kernel in of_file]
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(kernels, indent=1), encoding="utf8")
    print(
        "| | kernels | registers | live at most | with excess | most | above | unnamed | elsewhere "
        "| full | alignment | choice | counted differently |"
    )
    print("| --- |" + " ---: |" * 12)
    sources = {kernel["source"]: None for kernel in kernels}
    for source in sources:
        print(row(source, [kernel for kernel in kernels if kernel["source"] == source]))
    if len(sources) > 1:
        print(row("all", kernels))
    widths = Counter(parts(kernel)["above"] for kernel in kernels)
    print("above the highest named: " + ", ".join(f"{more} in {times}" for more, times in sorted(widths.items())))


if __name__ == "__main__":
    main()
