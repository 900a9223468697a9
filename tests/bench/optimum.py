#!/usr/bin/env python3
"""Computes how many copies must stay: a lower bound for any coalescer on real kernels, next to the copies that are
left, by source.

    optimum.py [options] [MODULE-GLOB …]

Each module is compiled with -nvptx-ra-trace=view, and `nvptx-ra optimum` computes a bound for every function that
is printed. The model is in src/lab/coalescing_optimum/mod.rs. Copies of constants are left out. With --position
after (the default), the copies are those that LLVM's coalescer leaves. With --position before, the copies are the
coalescer's input. With --plugin-args=-nvptx-ra-cssa, PHI webs are made conventional first.
"""

import json
import os
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import command_line
import corpus
import report
import tools

COLUMNS = {
    "copies": "copies of values that are not constant",
    "left": "copies that the plugin's coalescer leaves",
    "best": "fewest copies of a solution that the checker proves",
    "necessary": "no solution leaves fewer",
    "exact": "functions whose best solution is proven optimal, in per cent",
}


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    command_line.add_modules(parser)
    command_line.add_subset(parser)
    add("--position", choices=("after", "before"), default="after")
    add("--steps", type=int, default=1000, help="branchings for each connected part (default: %(default)s)")
    command_line.add_jobs(parser)
    add("--json", metavar="FILE", help="write the figures of every function")
    command_line.add_plugin(parser)
    add("--plugin-args", default="", metavar="ARGS", help="more options of the plugin, as --plugin-args=-x")
    command_line.add_tool(parser)
    return parser.parse_args()


def bound(module, found, arguments):
    """Returns the figures of a module's functions. Ends the program if a command fails."""
    compile_it = [found.llc, f"-load-pass-plugin={found.plugin}", "-nvptx-ra-trace=view"]
    # The renaming pass would also print its functions.
    compile_it.append("-nvptx-ra-rename=off")
    compile_it += shlex.split(arguments.plugin_args)
    compile_it.append(f"-nvptx-ra-position={arguments.position}")
    compile_it += [*tools.target_flags("sm_90"), module, "-o", os.devnull]
    bound_it = [arguments.tool, "optimum", "-", f"--steps={arguments.steps}"]
    # The text of all functions can be large, so it is piped from one program to the other and not stored on disk.
    with subprocess.Popen(compile_it, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as compiler:
        done = subprocess.run(bound_it, stdin=compiler.stderr, capture_output=True, text=True, check=False)
    if compiler.returncode or done.returncode:
        sys.exit(f"{shlex.join(compile_it)} | {shlex.join(bound_it)}: {done.stderr.strip() or 'llc failed'}")
    # The pass that makes PHI webs conventional also prints functions, including functions without PHIs. The coalescer
    # prints its functions last.
    bounds = {found["function"]: found for found in map(json.loads, done.stdout.splitlines())}
    return [bound | {"module": Path(module).stem} for bound in bounds.values()]


def totals_of(functions):
    """Returns sums by source, which is the part of a module's name before `__`, and over all modules."""
    totals = defaultdict(Counter)
    for function in functions:
        counts = {key: value for key, value in function.items() if isinstance(value, int | float)}
        counts |= {"functions": 1, "exact": function["best"] == function["necessary"]}
        for name in (corpus.source_of(function["module"]), "total"):
            totals[name].update(counts)
    return {name: totals[name] for name in [*sorted(totals.keys() - {"total"}), "total"] if name in totals}


def depths_of(functions):
    """Returns, over all functions and by loop depth, the number of copies, of copies left and of necessary copies."""
    depths = []
    for function in functions:
        depths += [[0, 0, 0] for _ in range(len(depths), len(function["by_depth"]))]
        for at, counts in zip(depths, function["by_depth"], strict=False):
            at[:] = map(sum, zip(at, counts, strict=True))
    return depths


def rows_of(totals):
    for name, counts in totals.items():
        exact = f"{counts['exact'] / counts['functions'] * 100:.1f}"
        yield [name, *(f"{counts[key]:,}" for key in ("functions", *COLUMNS) if key != "exact"), exact]


def weighted_rows_of(totals):
    for name, counts in totals.items():
        yield [name, *(f"{counts[f'{key}_executed']:,.0f}" for key in COLUMNS if key != "exact")]


def main():
    arguments = parse_arguments()
    found = tools.find(arguments.plugin, with_ptxas=False)
    modules = corpus.modules(arguments.corpus, arguments.modules, arguments.subset)
    # Large modules come first, so that at the end of a run no core has to wait for a large module.
    modules.sort(key=lambda module: -os.path.getsize(module))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        functions = [f for of_module in pool.map(lambda m: bound(m, found, arguments), modules) for f in of_module]
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(functions, indent=1))
    totals = totals_of(functions)
    print(f"{len(modules)} modules, position {arguments.position}\n")
    print("\n".join(report.table(rows_of(totals), ["", "functions", *COLUMNS])))
    print("\nweighted by block frequencies\n")
    print("\n".join(report.table(weighted_rows_of(totals), ["", *(key for key in COLUMNS if key != "exact")])))
    print("\nby loop depth; each bound is independent of the copies left at other depths\n")
    rows = [[str(depth), *(f"{count:,}" for count in at)] for depth, at in enumerate(depths_of(functions))]
    print("\n".join(report.table(rows, ["depth", "copies", "left", "necessary"])))
    print()
    for column, meaning in COLUMNS.items():
        print(f"{column}: {meaning}")
    broken = [f for f in functions if f["necessary"] > f["left"]]
    for function in broken:
        print(f"wrong: {function['module']} {function['function']}: fewer copies are left than necessary")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
