#!/usr/bin/env python3
"""Compiles every kernel of examples/ with clang, as it is and with the plugin, and shows both side by side."""

import os
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
COLUMNS = {
    "copies": "copies between registers in the PTX",
    "registers": "virtual registers declared in the PTX",
    "PTX bytes": "length of the PTX",
    "ptxas regs": "hardware registers, the sum over the kernels",
    "spills": "bytes of spill stores and loads",
    "SASS": "machine instructions",
    "SASS MOVs": "machine instructions that only move a value",
}


def clang_command(clang, cuda, source, output, plugin):
    command = [clang, "-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={CPU}", f"--cuda-path={cuda}"]
    command += ["-Wno-unknown-cuda-version", "-std=c++17", "-O3", "-S", source, "-o", output]
    if plugin:
        command += [f"-fpass-plugin={plugin}", "-mllvm", "-nvptx-ra-strict", "-mllvm", "-nvptx-ra-verify"]
    return command


def measure(source, plugin, found, clang, cuda):
    """Compiles and assembles one file. Returns the numbers of COLUMNS, or ends the program where a command fails."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.ptx")
        command = clang_command(clang, cuda, source, output, plugin)
        outcome = tools.run(command, 120)
        if outcome.error:
            sys.exit(f"{outcome.error}\n{outcome.output}\nthe command was: {' '.join(command)}")
        with open(output, encoding="utf8") as file:
            text = file.read()
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


def main():
    found = tools.find(None)
    clang = os.path.join(os.path.dirname(found.llc), "clang")
    cuda = os.path.dirname(os.path.dirname(found.ptxas))
    sources = sorted(str(p) for p in (tools.ROOT / "examples").glob("*.cu"))
    jobs = [(source, plugin) for source in sources for plugin in (None, found.plugin)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(jobs, pool.map(lambda job: measure(*job, found, clang, cuda), jobs), strict=True))

    rows, totals = [], (Counter(), Counter())
    for source in sources:
        before, after = results[source, None], results[source, found.plugin]
        totals[0].update(before)
        totals[1].update(after)
        rows.append([Path(source).stem, *(cell(before[c], after[c]) for c in COLUMNS)])
    rows.append(["total", *(cell(totals[0][c], totals[1][c]) for c in COLUMNS)])
    rows.append(["change", *(report.change(totals[1][c], totals[0][c]) for c in COLUMNS)])
    print(
        f"{len(sources)} examples for {CPU}, clang -O3: without → with -fpass-plugin={os.path.relpath(found.plugin)}\n"
    )
    print("\n".join(report.table(rows, ["", *COLUMNS])))
    print()
    for column, meaning in COLUMNS.items():
        print(f"{column}: {meaning}")


if __name__ == "__main__":
    main()
