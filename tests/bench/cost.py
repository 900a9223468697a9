#!/usr/bin/env python3
"""Measures the cost of a pass next to the comparable passes of LLVM, on the same modules in one run of llc.

    cost.py [options] [MODULE-GLOB …]

The coalescer is compared with LiveIntervals and RegisterCoalescer. --pass=cssa compares conventional SSA with
LiveVariables and PHI elimination. --pass=forecast compares the forecast with whole llc, because LLVM has no
comparable pass. --pass=regalloc compares spilling to shared memory with whole llc, and --pass=regalloc-off does the
same without enabling the pass. The last two need kernels with many live words, for example
candle__mmq_gguf_mmq_instance_q8_0.

Callgrind counts all instructions that are executed inside each pass. For our passes, this includes flattening, the
core and applying the edits; the checker is off. If the forecast directly follows the coalescer, it reuses the
coalescer's view and flattens nothing. It then does most of its work within the coalescer's time, which -time-passes
does not separate. Times are those of -time-passes. The difference between whole llc with and without the plugin has
two parts: analyses that run only for the plugin, and the work that LLVM's passes save.
"""

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import callgrind
import command_line
import corpus
import report
import tools

MODULES = [
    "candle__affine",
    "candle__conv",
    "candle__reduce",
    "dfdx__conv2d_conv2d",
    "ggml__softmax",
    "mrs-quant__rotary_rotary",
]
ENTRY = "llvm::MachineFunctionPass::runOnFunction(llvm::Function&)"


@dataclass(frozen=True)
class Subject:
    """A pass of this project and the comparable passes of LLVM. `theirs` maps a column to a pass of LLVM: its title in
    -time-passes, and a function that no other pass calls. The function is the pass itself or is called by the pass."""

    title: str
    functions: tuple
    plugin_args: str
    theirs: dict


REGALLOC = ("nvptx_ra::LegacyPass<nvptx_ra::Regalloc>::runOnMachineFunction",)
SUBJECTS = {
    "coalescer": Subject(
        "NVPTX copy coalescer",
        ("nvptx_ra::LegacyPass<nvptx_ra::CopyCoalescer>::runOnMachineFunction",),
        "",
        {
            "LiveIntervals": (
                "Live Interval Analysis",
                "llvm::LiveIntervalsWrapperPass::runOnMachineFunction(llvm::MachineFunction&)",
            ),
            "RegisterCoalescer": (
                "Register Coalescer",
                "llvm::CoalescerPair::setRegisters(llvm::MachineInstr const*)",
            ),
        },
    ),
    "cssa": Subject(
        "NVPTX conventional SSA",
        ("nvptx_ra::LegacyPass<nvptx_ra::Cssa>::runOnMachineFunction",),
        "-nvptx-ra-cssa",
        {
            "LiveVariables": ("Live Variable Analysis", "llvm::LiveVariables::analyze(llvm::MachineFunction&)"),
            "PHIElimination": (
                "Eliminate PHI nodes for register allocation",
                "llvm::findPHICopyInsertPoint(llvm::MachineBasicBlock*, llvm::MachineBasicBlock*, llvm::Register)",
            ),
        },
    ),
    "forecast": Subject(
        "NVPTX resource forecast",
        ("nvptx_ra::LegacyForecast<nvptx_ra::Forecast>::", "nvptx_ra::passes::forecast::summarise_coalesced"),
        "-nvptx-ra-forecast",
        {},
    ),
    "regalloc": Subject("NVPTX register allocation", REGALLOC, "-nvptx-ra-regalloc=255", {}),
    "regalloc-off": Subject("NVPTX register allocation", REGALLOC, "", {}),
}


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    command_line.add_modules(parser, f"default: {' '.join(MODULES)}", unless_set=", target/corpus")
    command_line.add_plugin(parser)
    add("--plugin-args", default="", metavar="ARGS", help="options of the plugin, as --plugin-args=-x")
    add("--pass", dest="subject", choices=SUBJECTS, default="coalescer", help="default: %(default)s")
    add("--no-callgrind", dest="callgrind", action="store_false", help="measure time only")
    add("--repeat", type=int, default=5, help="timed runs; the fastest counts (default: %(default)s)")
    add("--timeout", type=int, default=1200)
    return parser.parse_args()


def command_for(found, module, plugin_args):
    """Returns llc's command line: stock if plugin_args is None. Renaming is off, because it is not part of
    coalescing."""
    command = [found.llc]
    if plugin_args is not None:
        command += [f"-load-pass-plugin={found.plugin}", "-nvptx-ra-rename=off", *shlex.split(plugin_args)]
    return [*command, "-O3", "-mcpu=sm_90", "-mattr=+ptx88", "-fp-contract=fast", module, "-o", os.devnull]


def checked(outcome):
    if outcome.error:
        sys.exit(outcome.error)
    return outcome.output


def count_instructions(found, module, arguments):
    """Returns the instructions of our pass, of LLVM's passes, and of whole llc with and without the plugin."""
    subject = SUBJECTS[arguments.subject]
    with tempfile.TemporaryDirectory() as folder:
        profiles = []
        for plugin_args in (f"{subject.plugin_args} {arguments.plugin_args}", None):
            output = os.path.join(folder, "callgrind.out")
            prefix = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}"]
            checked(tools.run([*prefix, *command_for(found, module, plugin_args)], arguments.timeout))
            profiles.append(callgrind.read(output))
    ours, stock = profiles
    result = Counter({"llc": ours.total, "stock llc": stock.total, "ours": ours.cost_of(subject.functions)})
    for callee, cost in ours.callees(ENTRY).items():
        for column, (_, function) in subject.theirs.items():
            result[column] += cost * (callee[1] == function or ours.reaches(callee, function))
    return result


def pass_times(output):
    """Yields the name and wall-clock seconds of each pass that -time-passes lists."""
    for line in output.splitlines():
        match = re.match(r".* ([\d.]+) \(\s*[\d.]+%\)\s+(\D.*)$", line)
        if match:
            yield match.group(2).strip(), float(match.group(1))


def time_passes(found, module, arguments):
    """Returns the seconds of our pass and of LLVM's passes, the fastest of several runs."""
    subject = SUBJECTS[arguments.subject]
    names = {subject.title: "ours"} | {name: column for column, (name, _) in subject.theirs.items()}
    best = {}
    for _ in range(arguments.repeat):
        command = command_for(found, module, f"{subject.plugin_args} {arguments.plugin_args}")
        output = checked(tools.run([*command, "-time-passes"], arguments.timeout))
        seconds = Counter()
        for name, time in pass_times(output):
            if name in names:
                seconds[names[name]] += time
        if not best or seconds["ours"] < best["ours"]:
            best = seconds
    return best


def rows_of(measured, theirs, unit):
    """Returns one row for each module: ours, LLVM's, and the ratio."""
    total = Counter()
    for counts in measured.values():
        total.update(counts)
    for name, counts in [*measured.items(), ("total", total)]:
        of_llvm = sum(counts[column] for column in theirs)
        ratio = f"{counts['ours'] / of_llvm:.2f}" if of_llvm else "-"
        row = [name, *(unit(counts[k]) for k in ("ours", *theirs)), ratio]
        if "llc" in counts:
            row.append(f"{counts['ours'] / counts['stock llc'] * 100:.2f} %")
            row.append(f"{(counts['llc'] - counts['stock llc']) / counts['stock llc'] * 100:+.2f} %")
        yield row


def main():
    arguments = parse_arguments()
    found = tools.find(arguments.plugin, with_ptxas=False)
    modules = corpus.modules(arguments.corpus, arguments.modules or MODULES)
    theirs = list(SUBJECTS[arguments.subject].theirs)
    header = ["module", "ours", *theirs, "ours / theirs"]
    if arguments.callgrind and not shutil.which("valgrind"):
        sys.exit("missing:\n  valgrind: run scripts/setup.sh valgrind, or use --no-callgrind")
    if arguments.callgrind:
        counted = {Path(m).stem: count_instructions(found, m, arguments) for m in modules}
        print("millions of instructions, ours as a share of stock llc's, and the increase of llc's with the plugin")
        rows = rows_of(counted, theirs, lambda n: f"{n / 1e6:.2f}")
        print("\n".join(report.table(rows, [*header, "of llc", "whole llc"])))
    timed = {Path(m).stem: time_passes(found, m, arguments) for m in modules}
    print(f"\nmilliseconds by -time-passes, the fastest of {arguments.repeat}")
    print("\n".join(report.table(rows_of(timed, theirs, lambda s: f"{s * 1e3:.2f}"), header)))


if __name__ == "__main__":
    main()
