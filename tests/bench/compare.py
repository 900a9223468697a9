#!/usr/bin/env python3
"""Compiles every module of a corpus with stock llc and with the plugin, and shows what became of the code.

    compare.py [options] [MODULE-GLOB …]

Each --plugin-args adds a configuration; without any, the plugin's defaults are one. The plugin runs strict and with its
checker and LLVM's machine verifier on. Results are cached by content under target/bench/cache, so a second run compiles
only what changed. BENCH_CACHE names another folder.
"""

import argparse
import json
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import corpus
import measure
import ptx
import report
import tools
from cache import Cache

STOCK = measure.Configuration("stock", None)
NEVER_MORE = ("true_copies", "moves", "imm_copies")  # counts that must rise in no module


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("modules", nargs="*", metavar="MODULE-GLOB", help="names without suffix; all where none is given")
    add("--corpus", default=os.environ.get("CORPUS"), help="folder with .bc and .ll files (default: $CORPUS, target/corpus)")
    add("--subset", choices=["small"], help="small: a fixed sample that takes a minute")
    add("--plugin", help="default: $PLUGIN, target/release/libnvptx_ra.so")
    add("--plugin-args", action="append", metavar="ARGS", help="as --plugin-args=-x: the plugin's own options; repeat for more")
    add("--no-ptxas", dest="ptxas", action="store_false", help="count PTX only: fast")
    add("--no-sass", dest="sass", action="store_false", help="do not disassemble")
    add("--limits", default="0,32,64", help="register limits for ptxas, 0 for none (default: %(default)s)")
    add("--opt-level", type=int, default=3, choices=range(4), help="llc's -O (default: %(default)s)")
    add("--cpu", default="sm_90")
    add("--mattr", default="+ptx88")
    add("--jobs", type=int, default=os.cpu_count())
    add("--timeout", type=int, default=300, help="seconds for one command (default: %(default)s)")
    add("--per-module", action="store_true", help="print every module, not those alone that got worse")
    add("--json", metavar="FILE", help="write everything that was measured")
    return parser.parse_args()


def compile_job(job):
    """One module under one configuration, in a worker process."""
    module, configuration, options, found, cache = job
    result, _ = measure.compile_module(module, configuration, options, found, cache)
    return result


def compile_all(modules, configurations, options, found, cache, jobs):
    """{module: {configuration: result}}; the largest modules start first, so that no core waits at the end."""
    work = [(m, c) for m in sorted(modules, key=os.path.getsize, reverse=True) for c in configurations]
    results = {m: {} for m in modules}
    with ProcessPoolExecutor(jobs) as pool:
        done = pool.map(compile_job, [(m, c, options, found, cache) for m, c in work])
        for i, ((module, configuration), result) in enumerate(zip(work, done), 1):
            results[module][configuration.name] = result
            if i % 50 == 0 or i == len(work):
                print(f"[{i}/{len(work)}]", file=sys.stderr)
    return results


def sum_counts(result):
    """A module's totals over its functions."""
    total = Counter()
    for counts in result["functions"].values():
        total.update({key: counts[key] for key in ptx.COUNTS})
    return total


def main():
    arguments = parse_arguments()
    found = tools.find(arguments.plugin, arguments.ptxas, arguments.sass)
    cache = Cache(os.environ.get("BENCH_CACHE") or tools.ROOT / "target/bench/cache")
    modules = corpus.modules(arguments.corpus, arguments.modules, arguments.subset)
    options = measure.Options(arguments.opt_level, arguments.cpu, arguments.mattr, arguments.timeout, arguments.ptxas)
    configurations = [STOCK]
    for text in arguments.plugin_args or [""]:
        configurations.append(measure.Configuration(text.strip() or "plugin", text))
    results = compile_all(modules, configurations, options, found, cache, arguments.jobs)
    names = [c.name for c in configurations]
    failures = [(m, n, r["error"]) for m, by_name in results.items() for n, r in by_name.items() if r["error"]]
    whole = [m for m in modules if not any(results[m][n]["error"] for n in names)]
    counts = {m: {n: sum_counts(results[m][n]) for n in names} for m in whole}
    print_counts(counts, names, results, arguments.per_module)
    for module, name, error in failures:
        print(f"FAILED {Path(module).stem} ({name}): {error}")
    print(f"{len(whole)} modules compared, {len(failures)} failures")
    if arguments.json:
        data = {"configurations": names, "modules": {Path(m).stem: results[m] for m in modules}}
        Path(arguments.json).write_text(json.dumps(data, indent=1))
    return 1 if failures else 0


def print_counts(counts, names, results, per_module):
    """PTX in total, and the modules where something rose that must not."""
    totals = {n: Counter() for n in names}
    for by_name in counts.values():
        for name, total in by_name.items():
            totals[name].update(total)
    for name in names:
        totals[name]["file bytes"] = sum(results[m][name]["bytes"] for m in counts)
        totals[name]["llc seconds"] = round(sum(results[m][name]["seconds"] for m in counts), 1)
    print("\n".join(report.side_by_side(totals, names, [*ptx.COUNTS, "file bytes", "llc seconds"])))
    shown = ("reg_moves", "imm_copies", "true_copies", "imm_moves", "moves", "weighted_copies", "registers")
    for name in names[1:]:
        rows = []
        for module, by_name in counts.items():
            stock, ours = by_name["stock"], by_name[name]
            rose = [key for key in NEVER_MORE if ours[key] > stock[key]]
            if rose or per_module:
                cells = [f"{stock[key]}→{ours[key]}" if stock[key] != ours[key] else str(ours[key]) for key in shown]
                rows.append((max(ours[key] - stock[key] for key in NEVER_MORE), [Path(module).stem, *cells, " ".join(rose)]))
        rows.sort(key=lambda row: (-row[0], row[1]))
        rose = sum(1 for _, row in rows if row[-1])
        print(f"\n{name}: {rose} modules where {' or '.join(NEVER_MORE)} rose")
        if rows:
            print("\n".join(report.table([row for _, row in rows], ["module", *shown, "rose"])))


if __name__ == "__main__":
    sys.exit(main())
