#!/usr/bin/env python3
"""Compiles every kernel of examples/ with clang, stock and with nvptx-ra, and prints both results side by side.

The first table shows the machine code of the tuned kernels. The second table shows how a single compilation with
the plugin changes the PTX.
"""

import os
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ptx
import ptxas
import report
import tools

CPU = "sm_90"
TUNED = {
    "spilled": "bytes that ptxas stores to and loads from local memory",
    "warps": "warps that an SM holds at once, 64 at most",
    "registers": "registers of a thread",
    "instructions": "machine instructions",
}
COMPILED = {
    "copies": "copies between registers in the PTX",
    "registers": "virtual registers declared in the PTX",
    "PTX bytes": "length of the PTX",
    "ptxas regs": "hardware registers, summed over the kernels",
    "spills": "bytes of spill stores and loads",
    "SASS": "machine instructions; more if ptxas unrolls a loop",
    "SASS MOVs": "machine instructions that only copy a value",
}


def run(command, seconds):
    """Runs a command and returns its standard output; ends the program if the command fails."""
    outcome = tools.run(command, seconds)
    if outcome.error:
        sys.exit(f"{outcome.error}\n{outcome.output}\nthe command was: {' '.join(command)}")
    return outcome.output


def compile_cuda(source, output, emit, options=()):
    """Compiles the device code of a CUDA file."""
    clang = os.path.join(os.path.dirname(tools.find_llc()), "clang")
    cuda = os.path.dirname(os.path.dirname(tools.find_cuda("ptxas")))
    command = [clang, "-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={CPU}", f"--cuda-path={cuda}"]
    run([*command, "-Wno-unknown-cuda-version", "-std=c++17", "-O3", *emit, source, "-o", output, *options], 120)


def tune(source):
    """Tunes the kernels of one file. Returns their figures in the format of `nvptx-ra tune --json`."""
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "kernel.bc")
        compile_cuda(source, module, ["-c", "-emit-llvm"])
        command = [tools.nvptx_ra(), "tune", module, "--cpu", CPU, "-O3", "--json", "-o", os.path.join(folder, "ptx")]
        return tools.object_in(run(command, 300))["kernels"]


def figures(tuned):
    """Returns the numbers of a tuned kernel, in the order of TUNED."""
    spilled = tuned["spill_store_bytes"] + tuned["spill_load_bytes"]
    return [spilled, tuned["warps"], tuned["registers"], tuned["sass_instructions"]]


def shortened(choice):
    """Shortens the description of a choice: of a list of registers, only the first one stays."""

    def first(named):
        registers = named[2].split("+")
        others = f" and {len(registers) - 1} more" if len(registers) > 1 else ""
        return named[1] + registers[0].split(":")[0] + others

    return re.sub(r"(regalloc-registers=)([^;]*)", first, choice)


def tuned_rows(kernels):
    """Returns a row for each kernel whose machine code changed, the largest gain first."""
    changed = [kernel for kernel in kernels if figures(kernel["stock"]) != figures(kernel["tuned"])]
    changed.sort(key=lambda k: k["tuned"]["sass_instructions"] / k["stock"]["sass_instructions"])
    return [
        [
            kernel["name"],
            *(cell(*pair) for pair in zip(figures(kernel["stock"]), figures(kernel["tuned"]), strict=True)),
            shortened(kernel["choice"]),
        ]
        for kernel in changed
    ]


def measure(source, found, plugin):
    """Compiles and assembles one file. Returns its numbers, in the order of COMPILED."""
    options = [f"-fpass-plugin={plugin}", "-mllvm", "-nvptx-ra-strict", "-mllvm", "-nvptx-ra-verify"] if plugin else []
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.ptx")
        compile_cuda(source, output, ["-S"], options)
        text = Path(output).read_text(encoding="utf8")
    assembled = ptxas.assemble(text, CPU, found, 120, with_sass=True)
    if assembled["error"]:
        sys.exit(f"{source}{' with the plugin' if plugin else ''}: {assembled['error']}")
    counts, kernels = sum_of(ptx.count(text)), sum_of(assembled["kernels"])
    return {
        "copies": counts["reg_moves"],
        "registers": counts["registers"],
        "PTX bytes": len(text),
        "ptxas regs": kernels["registers"],
        "spills": kernels["stores"] + kernels["loads"],
        "SASS": kernels["sass"],
        "SASS MOVs": kernels["sass_moves"],
    }


def sum_of(by_name):
    total = Counter()
    for counts in by_name.values():
        total.update(counts)
    return total


def cell(before, after):
    return f"{before:,}" if before == after else f"{before:,} → {after:,}"


def show(title, rows, columns, notes):
    print(title + "\n")
    print("\n".join(report.table(rows, columns)))
    print()
    for column, meaning in notes.items():
        print(f"{column}: {meaning}")
    print()


def is_worse(kernel):
    (spilled, warps, _, instructions), tuned = figures(kernel["stock"]), figures(kernel["tuned"])
    return tuned[0] > spilled or tuned[1] < warps or tuned[3] > instructions


def show_tuned(pool, sources):
    kernels = [kernel for tuned in pool.map(tune, sources) for kernel in tuned]
    rows, worse = tuned_rows(kernels), sum(map(is_worse, kernels))
    title = f"nvptx-ra tune, {CPU}: the machine code of {len(rows)} of {len(kernels)} kernels changes; worse: {worse}"
    show(title, rows, ["", *TUNED, "choice"], TUNED)


def show_compiled(pool, sources, found):
    jobs = [(source, plugin) for source in sources for plugin in (None, found.plugin)]
    results = dict(zip(jobs, pool.map(lambda job: measure(job[0], found, job[1]), jobs), strict=True))
    rows, totals = [], (Counter(), Counter())
    for source in sources:
        before, after = results[source, None], results[source, found.plugin]
        totals[0].update(before)
        totals[1].update(after)
        rows.append([Path(source).stem, *(cell(before[c], after[c]) for c in COMPILED)])
    rows.append(["total", *(cell(totals[0][c], totals[1][c]) for c in COMPILED)])
    rows.append(["change", *(report.change(totals[1][c], totals[0][c]) for c in COMPILED)])
    title = f"one compilation, clang -O3: without → with -fpass-plugin={os.path.relpath(found.plugin)}"
    show(title, rows, ["", *COMPILED], COMPILED)


def main():
    found = tools.find(None)
    sources = sorted(str(p) for p in (tools.ROOT / "examples").glob("*.cu"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        show_tuned(pool, sources)
        show_compiled(pool, sources, found)


if __name__ == "__main__":
    main()
