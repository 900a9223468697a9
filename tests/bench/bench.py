#!/usr/bin/env python3
"""Compiles every module of the corpus with stock llc, with the plugin and with NVIDIA's compiler, assembles all PTX
with ptxas, and prints the figures of each kernel.

    bench.py [options] [MODULE-GLOB …]

Each --plugin-args adds a configuration of the plugin. Without this option, the plugin runs once with its defaults.
The plugin runs strict, with its checker and LLVM's machine verifier on. If any step fails on a module, the module
is listed and left out of the sums. The jobs are a Ninja graph, so an interrupted run resumes. --graph-only writes
the graph for another program that runs Ninja files. Results are also cached by content: a run with a new plugin
assembles only PTX that has changed.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import command_line
import cache
import corpus
import forecasts
import gather
import graph
import losses
import tables
import tools
from plan import CICC, NONE, ONE, OWN, STOCK, Compiler, Plan

SETTINGS = OWN  # each additional setting is one more run of ptxas, the longest part of a run


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    all_named = "names without suffix (default: all)"
    command_line.add_modules(parser, all_named, unless_set=", the output of make corpus")
    add("--subset", choices=["small"], help="small is a fixed sample for daily work")
    add(
        "--arch",
        default="sm_90",
        help="processor (default: %(default)s); each has a corpus of its own: make corpus ARGS=--arch=…",
    )
    command_line.add_plugin(parser)
    add(
        "--plugin-args",
        action="append",
        metavar="ARGS",
        help="options of the plugin, as --plugin-args=-x; can be repeated",
    )
    add("--no-verify", dest="verify", action="store_false", help="turn the plugin's checker off: faster, for tuning")
    add("--no-cicc", dest="cicc", action="store_false", help="do not run NVIDIA's compiler")
    add("--no-ptxas", dest="ptxas", action="store_false", help="count PTX only; fast")
    add("--no-forecast", dest="forecast", action="store_false", help="do not compare the forecast with ptxas")
    add("--no-sass", dest="sass", action="store_false", help="do not disassemble")
    add(
        "--settings",
        default=SETTINGS,
        help="settings of ptxas: own (the kernels' bounds as written, always included), none (no bounds), one (one "
        "block on an SM is enough), or register limits, "
        "separated by commas: own,32,64,128; each is one more run of ptxas (default: %(default)s)",
    )
    add("--opt-level", type=int, default=3, choices=range(4), help="llc's -O (default: %(default)s)")
    command_line.add_jobs(parser)
    add("--timeout", type=int, default=900, help="seconds for one command (default: %(default)s)")
    add("--folder", help="folder of the results (default: under target/bench)")
    add("--graph-only", action="store_true", help="write the Ninja graph, print its path, and run nothing")
    add("--json", metavar="FILE", help="write all measurements, for bench-diff")
    add("--html", metavar="FILE", help="write a page with plots; needs matplotlib, which make bench installs")
    return parser.parse_args()


def settings_of(text, ptxas):
    if not ptxas:
        return ()
    wanted = [part.strip() for part in text.split(",") if part.strip()]
    for part in wanted:
        if part not in (OWN, NONE, ONE) and not part.isdigit():
            sys.exit(f"--settings: '{part}': use {OWN}, {NONE}, {ONE} or a number of registers")
    return tuple(
        dict.fromkeys([OWN, *wanted])
    )  # a limit that no kernel reaches takes the result of the kernels' own bounds


def compilers_of(options):
    chosen = [Compiler(STOCK)]
    for arguments in options.plugin_args or [""]:
        chosen.append(Compiler(arguments.strip() or "plugin", tuple(shlex.split(arguments)), options.verify))
    if options.cicc:
        chosen.append(Compiler(CICC))
    return tuple(chosen)


def plan_of(options):
    paths = corpus.modules(options.corpus, options.modules, options.subset, options.arch)
    name = "-".join(["run", options.arch, *([options.subset] if options.subset else [])])
    folder = Path(options.folder or tools.ROOT / "target/bench" / name).resolve()
    return Plan(
        folder=str(folder),
        cache=cache.folder(),
        cpu=options.arch,
        modules={Path(p).stem: p for p in paths},
        compilers=compilers_of(options),
        settings=settings_of(options.settings, options.ptxas),
        tools=tools.find(
            options.plugin, options.ptxas, options.ptxas and options.sass, options.ptxas and options.forecast
        ),
        level=options.opt_level,
        timeout=options.timeout,
        sass=options.sass,
        sources=corpus.sources(),
    )


def run_ninja(path, jobs):
    """Runs the graph. If a job fails, the other jobs continue."""
    ninja = tools.find_ninja()
    command = [ninja, "-f", str(path), "-j", str(jobs), "-k", "0"]
    environment = os.environ | {"NINJA_STATUS": "[%f/%t, %e s] "}
    try:
        subprocess.run(command, check=False, env=environment, cwd=path.parent)
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command resumes the run")


def paragraphs(results):
    """The whole report. Each paragraph is a list of lines."""
    names = results.names
    with_cicc = CICC in names and results.modules[CICC]
    ours = [name for name in names if name not in (STOCK, CICC)]
    groups = [[STOCK, *ours], *([names] if with_cicc else [])]
    for group in groups:
        yield tables.ptx_table(results, group)
    for setting in results.plan.settings:
        for group in groups:
            yield tables.ptxas_table(results, setting, group)
        yield tables.source_table(results, setting, groups[-1])
    yield tables.legend() if results.plan.settings else []
    for setting in results.plan.forecast_settings:
        yield forecasts.register_table(results, setting)
        yield forecasts.spill_table(results, setting)
    yield tables.cost_table(results, [STOCK, *ours])
    for name in ours:
        yield losses.shown_risen(name, losses.risen(results.modules[STOCK], results.modules[name]))
        for setting in results.plan.settings:
            compared = losses.compare(results.kernels[setting][STOCK], results.kernels[setting][name], setting)
            yield losses.shown(name, tables.title(setting), compared)
    yield failures(results)


def failures(results):
    for setting, modules in results.too_tight.items():
        yield f"{tables.title(setting)} is too low for an instruction in {len(modules)} modules, which are left out"
    yield f"{len(results.plan.modules)} modules, {len(results.failures)} failures"
    for module, compiler, setting, reason in results.failures:
        yield f"  {module}: {compiler}{f', ptxas {setting}' if setting else ''}: {reason}"


def main():
    options = parse_arguments()
    plan = plan_of(options)
    plan.write()
    path = graph.write(plan)
    if options.graph_only:
        print(f"{path}: {len(plan.modules)} modules; ninja -f {path}")
        return
    run_ninja(path, options.jobs)
    results = gather.gather(plan)
    text = "\n\n".join("\n".join(lines) for lines in paragraphs(results) if lines)
    print(text)
    if options.json:
        Path(options.json).write_text(json.dumps(gather.to_json(results)), encoding="utf8")
    if options.html:
        import page  # matplotlib is slow to load and not needed otherwise

        page.write(results, text, Path(options.html))
    sys.exit(1 if results.failures else 0)


if __name__ == "__main__":
    main()
