#!/usr/bin/env python3
"""Counts the kernels that each value of an axis improved in searches. Lists the values in the best order for a search.

    gains.py [--ir RESULTS …] [--ptx RESULTS …] -o TABLE

RESULTS has one JSON object per line, as `nvptx-ra tune --json` prints it or tuning.py stores it. More runs give a
better table. The table has a line for each value: the kind of kernel, the value, the number of kernels that it
improved, and the amount. The order is a greedy cover: each value is the one that improves the most kernels in
addition to the values before it; the bytes, or the warps, decide ties. A kernel improves if its best variant that
uses only the values so far is better than its best variant before.
"""

import argparse
import json
from pathlib import Path

# Most variants of spilling kernels have this value, so it is not a candidate.
ALWAYS = {"add-passes=assembly-effects"}
SPILLS, WARPS = "spills", "warps"
MOST_WARPS = 64
HEAD = """\
# Values of axes that improved kernels in searches, written by tests/bench/gains.py: kind of kernel, value, number of
# kernels improved given the values above it, and bytes or warps gained by them. A greedy cover determines the order.
"""
EARLIER = {"add": "add-passes", "skip": "skip-passes"}  # as results of before have them


def values(choice):
    """Returns the values of a choice that differ from the defaults. All seeds count as a single value. So do all
    limits, and all options of spilling."""
    found = set()
    for option in choice.split(";"):
        name, _, value = option.partition("=")
        name = EARLIER.get(name, name)
        if name in EARLIER.values():
            found |= {f"{name}={part}" for part in value.split("+")}
        elif name.startswith("regalloc") or name in ("threads", "shared-limit", "dynamic-shared"):
            found.add("regalloc")
        elif name in ("order-seed", "maxnreg"):
            found.add(name)
        elif name not in ("default", "stock"):
            found.add(option)
    return frozenset(found)


def bytes_of(figures):
    return figures["spill_store_bytes"] + figures["spill_load_bytes"]


def is_no_worse(figures, stock):
    return (
        bytes_of(figures) <= bytes_of(stock)
        and figures["warps"] >= stock["warps"]
        and figures["sass_instructions"] <= stock["sass_instructions"]
    )


def worth(figures, kind):
    """Returns the figure by which variants are ranked; higher is better."""
    return -bytes_of(figures) if kind == SPILLS else figures["warps"]


def kernels_of(paths, kind):
    """Yields, for each kernel of a kind, stock's figure, and (values, figure) of each variant that is no worse than
    stock."""
    for path in paths:
        for line in Path(path).read_text(encoding="utf8").splitlines():
            for kernel in json.loads(line)["kernels"]:
                stock = kernel["stock"]
                if (bytes_of(stock) > 0) != (kind == SPILLS) or (kind == WARPS and stock["warps"] >= MOST_WARPS):
                    continue
                tried = [(values(one["choice"]), one["figures"]) for one in kernel["tried"] if one["figures"]]
                counts = [(of, worth(figures, kind)) for of, figures in tried if is_no_worse(figures, stock)]
                yield worth(stock, kind), counts


def best(kernel, allowed):
    stock, variants = kernel
    return max([stock, *(worth for of, worth in variants if of <= allowed)])


def cover(kernels):
    """Yields (value, kernels gained, amount gained) in the order of a greedy cover."""
    allowed = set(ALWAYS)
    candidates = sorted({value for _, variants in kernels for of, _ in variants for value in of} - allowed)
    now = [best(kernel, allowed) for kernel in kernels]
    while candidates:
        gains = []
        for value in candidates:
            more = [best(kernel, allowed | {value}) - before for kernel, before in zip(kernels, now, strict=True)]
            gains.append((sum(gain > 0 for gain in more), sum(more), value))
        # The first value by name wins ties, so that the table is reproducible.
        count, amount, value = max(gains, key=lambda gain: gain[:2])
        if not count:
            break
        yield value, count, amount
        allowed.add(value)
        candidates.remove(value)
        now = [best(kernel, allowed) for kernel in kernels]


def table(ir, ptx):
    """Returns the table's text."""
    lines = [HEAD]
    for code, paths in (("ir", ir), ("ptx", ptx)):
        for kind in (SPILLS, WARPS):
            kernels = list(kernels_of(paths, kind))
            lines += [f"{code}-{kind} {value} {count} {amount}\n" for value, count, amount in cover(kernels)]
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir", nargs="*", default=[], metavar="RESULTS", help="searches of LLVM IR")
    parser.add_argument("--ptx", nargs="*", default=[], metavar="RESULTS", help="searches of PTX")
    parser.add_argument("-o", "--output", required=True, metavar="TABLE")
    arguments = parser.parse_args()
    Path(arguments.output).write_text(table(arguments.ir, arguments.ptx), encoding="utf8")


if __name__ == "__main__":
    main()
