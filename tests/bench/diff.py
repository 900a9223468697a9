#!/usr/bin/env python3
"""Compares two runs, or two compilers of one run, kernel by kernel. Exits with 1 if any kernel or module got worse.

    diff.py A.json B.json [--compiler NAME[:NAME]]

A kernel got worse if it lost an occupancy step or spills at least 16 bytes more. A module got worse if its PTX has
more copies or more moves of registers and immediates. A gain elsewhere never offsets a loss.
"""

import json
import sys
from pathlib import Path

import command_line
import losses
import report
import tables


def read(path):
    try:
        return json.loads(Path(path).read_text(encoding="utf8"))
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}: write this file with bench.py --json=FILE")
    except ValueError as error:
        sys.exit(f"{path}: not a result of bench.py --json: {error}")


def pairs(a, b, chosen):
    """Returns the compilers to compare: (name in A, name in B)."""
    if chosen:
        first, _, second = chosen.partition(":")
        wanted = [(first, second or first)]
    else:
        wanted = [(name, name) for name in a["compilers"] if name in b["compilers"]]
    for first, second in wanted:
        for name, run in ((first, a), (second, b)):
            if name not in run["compilers"]:
                sys.exit(f"--compiler: '{name}' is not in the run, which has {', '.join(run['compilers'])}")
    return wanted


def kernels(run, setting, name):
    by_key = run["kernels"].get(setting, {}).get(name, {})
    return {tuple(key.split("/", 1)): counts for key, counts in by_key.items()}


def changed(before, after):
    """Returns [kernel, count, before, after] for every count that differs, the largest change first."""
    rows = []
    for key in sorted(before.keys() & after.keys()):
        for count in sorted(before[key].keys() & after[key].keys()):
            old, new = before[key][count], after[key][count]
            if old != new:
                rows.append([*key, count, old, new])
    return sorted(rows, key=lambda row: -abs(row[4] - row[3]))


def describe(a, b, first, second, setting):
    """Returns the lines about one compiler and one setting, and the number of kernels that got worse."""
    before, after = kernels(a, setting, first), kernels(b, setting, second)
    label = first if first == second else f"{first} → {second}"
    lines = [f"{label}, {tables.title(setting)}: {len(before.keys() & after.keys())} kernels in both"]
    for only, other, which in ((before, after, "first"), (after, before, "second")):
        if missing := sorted(only.keys() - other.keys()):
            lines.append(f"  only in the {which}: {len(missing)}, for example {'/'.join(missing[0])}")
    shared = sorted(before.keys() & after.keys())
    totals = {
        "before": tables.sums(before[key] for key in shared),
        "after": tables.sums(after[key] for key in shared),
    }
    lines += report.side_by_side(totals, ["before", "after"], list(totals["before"]))
    rows = changed(before, after)
    if rows:
        lines.append(f"{len(rows)} counts of {len({(row[0], row[1]) for row in rows})} kernels changed")
        shown = [[row[0], row[2], f"{row[3]}→{row[4]}", losses.short(row[1])] for row in rows[: losses.LISTED]]
        lines += report.table(shown, ["module", "count", "", "kernel"])
    compared = losses.compare(before, after, setting)
    lines += losses.shown(label, tables.title(setting), compared)
    return lines, len(compared[0])


def main():
    parser = command_line.parser_of(__doc__)
    parser.add_argument("a", metavar="A.json")
    parser.add_argument("b", metavar="B.json")
    parser.add_argument(
        "--compiler", metavar="NAME[:NAME]", help="one of both runs, or one of A and one of B (default: all in common)"
    )
    options = parser.parse_args()
    a, b = read(options.a), read(options.b)
    worse = 0
    for first, second in pairs(a, b, options.compiler):
        found = losses.risen(a["modules"][first], b["modules"][second])
        print("\n".join(losses.shown_risen(second, found)) + "\n")
        worse += len(found)
        for setting in a["settings"]:
            if setting in b["settings"]:
                lines, lost = describe(a, b, first, second, setting)
                print("\n".join(lines) + "\n")
                worse += lost
    new = [failure for failure in b["failures"] if failure not in a["failures"]]
    for module, compiler, setting, reason in new:
        print(f"new failure: {module}: {compiler} {setting}: {reason}")
    print(f"{worse} losses, {len(new)} new failures")
    sys.exit(1 if worse or new else 0)


if __name__ == "__main__":
    main()
