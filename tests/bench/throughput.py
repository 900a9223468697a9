#!/usr/bin/env python3
"""Measures the instructions per second of the plugin's phases, next to LLVM's own passes in the same run of llc.

    throughput.py [options] [MODULE-GLOB …]

The plugin's times come from the statistics (-nvptx-ra-stats), LLVM's times from -time-passes. Each phase counts
with the shortest time of several runs. Both rates use the number of instructions that our pass reads; LLVM's
earlier passes read a few more, for example PHIs.
"""

import json
import tempfile
from collections import Counter
from pathlib import Path

import command_line
import corpus
import cost
import report
import tools

# The title in -time-passes, and the column of the table.
LLVM_PASSES = {
    "NVPTX DAG->DAG Pattern Instruction Selection": "selection",
    "Eliminate PHI nodes for register allocation": "PHI elimination",
    "Two-Address instruction pass": "two-address",
    "Live Variable Analysis": "live variables",
    "Live Interval Analysis": "live intervals",
    "Register Coalescer": "coalescer",
    "NVPTX Assembly Printer": "printer",
}
OURS = ("flatten", "cross", "analyses", "coalesce", "apply")


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    command_line.add_modules(parser, "default: those of --subset")
    add("--subset", default="small", help="used if no module is given (default: %(default)s)")
    command_line.add_plugin(parser)
    add("--repeat", type=int, default=5)
    add("--timeout", type=int, default=1200)
    add("--json", type=Path, help="write seconds and instructions of every module")
    return parser.parse_args()


def one_run(found, module, timeout):
    """Returns the instructions, and the seconds by phase, of one run of llc."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "stats.json")
        command = [*cost.command_for(found, module, f"-nvptx-ra-stats={log}"), "-time-passes"]
        output = cost.checked(tools.run(command, timeout))
        instructions, seconds = read_statistics(log.read_text() if log.exists() else "")
    for name, time in cost.pass_times(output):
        if name in LLVM_PASSES:
            seconds[LLVM_PASSES[name]] += time
    return instructions, seconds


def read_statistics(text):
    """Returns the instructions and the seconds by phase from the log of -nvptx-ra-stats."""
    instructions, seconds = 0, Counter()
    for event in map(json.loads, text.splitlines()):
        instructions += event.get("insts", 0)
        for phase, nanoseconds in event.get("time_ns", {}).items():
            seconds[phase] += nanoseconds * 1e-9
    return instructions, seconds


def fastest(runs):
    """Returns the number of instructions, and the shortest time of each phase, because disturbances only add time."""
    phases = runs[0][1].keys()
    return runs[0][0], Counter({phase: min(seconds[phase] for _, seconds in runs) for phase in phases})


def total_of(measured):
    instructions, seconds = 0, Counter()
    for of_module, of_phases in measured.values():
        instructions += of_module
        seconds.update(of_phases)
    return instructions, seconds


def rows_of(measured):
    """Yields one row for each module and one for all: millions of instructions per second in each phase."""
    for name, (instructions, seconds) in [*measured.items(), ("total", total_of(measured))]:
        seconds = seconds | {"ours": sum(seconds[phase] for phase in OURS)}
        columns = ["ours", *OURS, *LLVM_PASSES.values()]
        rates = [f"{instructions / seconds[c] / 1e6:.1f}" if seconds.get(c) else "-" for c in columns]
        yield [name, f"{instructions:,}", *rates]


def main():
    arguments = parse_arguments()
    found = tools.find(arguments.plugin, with_ptxas=False)
    subset = None if arguments.modules else arguments.subset
    measured = {}
    for module in corpus.modules(arguments.corpus, arguments.modules, subset):
        runs = [one_run(found, module, arguments.timeout) for _ in range(arguments.repeat)]
        measured[Path(module).stem] = fastest(runs)
    print(f"millions of instructions per second, the fastest of {arguments.repeat}\n")
    header = ["module", "instructions", "ours", *OURS, *LLVM_PASSES.values()]
    print("\n".join(report.table(rows_of(measured), header)))
    if arguments.json:
        data = {name: {"instructions": n, "seconds": seconds} for name, (n, seconds) in measured.items()}
        arguments.json.write_text(json.dumps(data, indent=1))


if __name__ == "__main__":
    main()
