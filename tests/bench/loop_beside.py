#!/usr/bin/env python3
"""Compares the loops of two compilers: ptxas's code for the same kernels in two PTX files.

    loop_beside.py [--ptxas PROGRAM] FIRST.ptx SECOND.ptx [FIRST.ptx SECOND.ptx …]

For each kernel in both files, the innermost loop with the most loads is compared. A row has the loop's loads, its
instructions for each load or store, and the most loads in flight. The medians follow, for kernels whose loops have
a load with both compilers.
"""

import statistics
import sys
from pathlib import Path

import command_line
import ptx
import tools
from loop_gains import demangled
from loop_machine import LOADS, assembled, in_flight, innermost

ACCESSES = (*LOADS, "STG", "ST", "STS", "RED", "ATOMG", "ATOM")


def main_loop(machine):
    """Returns (loads, accesses, instructions, loads in flight) of the innermost loop with the most loads, or `None`."""
    found = []
    for first, last in innermost(machine.code):
        codes = [placed.code for placed in machine.code[first : last + 1] if not placed.code.is_any("NOP")]
        loads = sum(code.is_any(*LOADS) for code in codes)
        accesses = sum(code.is_any(*ACCESSES) for code in codes)
        found.append((loads, accesses, len(codes), in_flight(codes, True)))
    return max(found, default=None)


def main():
    parser = command_line.parser_of(__doc__)
    parser.add_argument("files", nargs="+", metavar="PTX")
    parser.add_argument("--cpu", default="sm_90")
    parser.add_argument("--ptxas", default=tools.find_cuda("ptxas"))
    options = parser.parse_args()
    print("kernel\tloads\tinstructions per access\tin flight\tloads\tinstructions per access\tin flight")
    both = []
    for pair in zip(options.files[::2], options.files[1::2], strict=True):
        texts = [Path(path).read_text(encoding="utf8", errors="replace") for path in pair]
        names = [[name for name, is_entry, _ in ptx.functions(text) if is_entry] for text in texts]
        for name in names[0]:
            if name not in names[1]:
                continue
            machines = [assembled(ptx.only(text, name), name, options.ptxas, options.cpu) for text in texts]
            if error := machines[0][1] or machines[1][1]:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            loops = [main_loop(machine) for machine, _ in machines]
            if not any(loops):
                continue
            cells = [
                cell
                for loop in loops
                for cell in ((loop[0], f"{loop[2] / max(loop[1], 1):.1f}", loop[3]) if loop else ("-",) * 3)
            ]
            print(demangled(name), *cells, sep="\t", flush=True)
            if all(loop and loop[0] for loop in loops):
                both.append(loops)
    for what, of in (
        ("in flight", lambda loop: loop[3]),
        ("instructions per access", lambda loop: loop[2] / loop[1]),
    ):
        if both:
            first, second = (statistics.median(of(loops[which]) for loops in both) for which in (0, 1))
            print(f"{len(both)} loops, median of {what}: {first:g}, {second:g}", file=sys.stderr)


if __name__ == "__main__":
    main()
