#!/usr/bin/env python3
"""Compiles every module of a corpus with stock llc and with the plugin, and shows what became of the code.

    compare.py [options] [MODULE-GLOB …]

Each --plugin-args adds a configuration; without any, the plugin's defaults are one. The plugin runs strict and with its
checker and LLVM's machine verifier on; a module that anything fails on is listed and left out of the sums.

Results are cached by content under target/bench/cache, or under BENCH_CACHE, so a second run compiles only what has
changed, and a run that was broken off goes on.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import corpus
import measure
import summary
import tools
from cache import Cache

STOCK = measure.Configuration("stock", None)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("modules", nargs="*", metavar="MODULE-GLOB", help="names without suffix; all where none is given")
    add(
        "--corpus",
        default=os.environ.get("CORPUS"),
        help="folder with .bc and .ll files (default: $CORPUS, target/corpus)",
    )
    add("--subset", choices=["small"], help="small: a fixed sample that takes a minute")
    add("--plugin", help="default: $PLUGIN, target/release/libnvptx_ra.so")
    add(
        "--plugin-args",
        action="append",
        metavar="ARGS",
        help="as --plugin-args=-x: the plugin's own options; repeat for more",
    )
    add("--no-verify", dest="verify", action="store_false", help="leave the plugin's checker off: faster, for tuning")
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


def measure_job(job):
    """One module under one configuration, in a worker process."""
    return measure.measure(*job)


def measure_all(modules, configurations, shared, jobs):
    """{module: {configuration: result}}; the largest modules start first, so that no core waits at the end."""
    work = [(m, c) for m in sorted(modules, key=os.path.getsize, reverse=True) for c in configurations]
    results = {m: {} for m in modules}
    with ProcessPoolExecutor(jobs) as pool:
        done = pool.map(measure_job, [(m, c, *shared) for m, c in work])
        spoken = time.monotonic()
        for i, ((module, configuration), result) in enumerate(zip(work, done, strict=True), 1):
            results[module][configuration.name] = result
            if time.monotonic() > spoken + 15 or i == len(work):
                spoken = time.monotonic()
                print(f"[{i}/{len(work)}]", file=sys.stderr, flush=True)
    return results


def main():
    arguments = parse_arguments()
    found = tools.find(arguments.plugin, arguments.ptxas, arguments.sass)
    cache = Cache(os.environ.get("BENCH_CACHE") or tools.ROOT / "target/bench/cache")
    modules = corpus.modules(arguments.corpus, arguments.modules, arguments.subset)
    limits = tuple(sorted({0, *map(int, arguments.limits.split(","))})) if arguments.ptxas else ()
    options = measure.Options(
        arguments.opt_level, arguments.cpu, arguments.mattr, arguments.timeout, limits, arguments.sass
    )
    configurations = [STOCK]
    for text in arguments.plugin_args or [""]:
        configurations.append(measure.Configuration(text.strip() or "plugin", text, arguments.verify))
    names = [c.name for c in configurations]

    results = measure_all(modules, configurations, (options, found, cache), arguments.jobs)
    for by_name in results.values():
        for result in by_name.values():
            if not result["error"] and result["functions"].keys() != by_name[STOCK.name]["functions"].keys():
                result["error"] = "other functions than stock's"
    whole = {m: by_name for m, by_name in results.items() if not any(r["error"] for r in by_name.values())}
    data = {"configurations": names, "risen": summary.print_ptx(whole, names, arguments.per_module), "losses": {}}
    for limit in limits:
        data["losses"][limit] = summary.print_ptxas(whole, names, limit, arguments.cpu)

    failures = [(m, n, r["error"]) for m, by_name in results.items() for n, r in by_name.items() if r["error"]]
    print()
    for module, name, error in failures:
        print(f"FAILED {Path(module).stem} ({name}): {error}")
    print(f"{len(whole)} modules compared, {len(failures)} failures")
    if arguments.json:
        data["modules"] = {Path(m).stem: by_name for m, by_name in results.items()}
        Path(arguments.json).write_text(json.dumps(data, indent=1))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
