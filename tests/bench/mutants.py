#!/usr/bin/env python3
"""Counts the mutants of real kernels that the emulator distinguishes from the originals, by kind of fault.

    mutants.py [options]

Kernels are drawn from the output of llc, NVIDIA's compiler and Triton on the corpus (programs.py). A few mutants
are drawn for each kernel that can be compared with itself. Each mutant has one fault, and the kinds of faults
alternate. For faults in reloads, `nvptx-regalloc` first spills values of the kernel to slots, and mutants are
compared with this output. A mutant is distinguished if a stored value differs, or if only the mutant is not
comparable, for example because of a race or an endless loop.

The table counts the distinguished mutants; --survivors prints the others. Results are cached, so an interrupted run
resumes.
"""

import json
import random
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cache
import command_line
import programs
import report
import tools

BARRIER, RELOAD = "barrier gone", "reload from another slot"
# A low register limit, and slots in shared and local memory, also in loops.
SLOTS = "nvptx-regalloc<regalloc=16;spill-to=shared+local;regalloc-loops=on;regalloc-redefined=on;threads=128>"
VERDICTS = ("different", "refused", "survives")
TIMEOUT = 300


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("--count", type=int, default=1000, help="number of mutants (default: %(default)s)")
    add("--per-kernel", type=int, default=6, help="mutants of a kernel (default: %(default)s)")
    add("--seed", type=int, default=1, help="seed of all draws (default: %(default)s)")
    add("--launches", type=int, default=8, help="launches of each kernel (default: %(default)s)")
    add("--steps", type=int, default=200_000, help="most warp instructions of a launch (default: %(default)s)")
    add("--driver", default="target/mutants/release/examples/mutants", help="runs them (default: %(default)s)")
    add("--survivors", type=int, default=0, metavar="N", help="print N survivors, drawn at random")
    add("--json", type=Path, metavar="FILE", help="write all mutants")
    command_line.add_tool(parser)
    command_line.add_jobs(parser)
    return parser.parse_args()


def mutants_of(program, text_path, count, number, arguments):
    """Returns the results of the driver (mutants.rs) for a kernel and for each of its mutants."""
    numbers = [count, arguments.seed * 1000 + number, arguments.launches, arguments.steps]
    store = cache.Cache(cache.folder())
    key = cache.key_of(
        "mutants", cache.file_hash(arguments.driver), cache.file_hash(text_path), program.kernel, numbers
    )
    if (said := store.get(key)) is None:
        outcome = tools.run([arguments.driver, text_path, program.kernel, *map(str, numbers)], TIMEOUT)
        if outcome.error:
            return {"equal": 0, "reasons": [outcome.error]}, []
        said = [json.loads(line) for line in outcome.output.splitlines()]
        store.put(key, said)
    return said[0], said[1:]


def with_slots(program, arguments):
    """Returns the file of a kernel with spilled values, or `None` if nothing is spilled."""
    path = program.path.removesuffix(".ptx") + ".slots.ptx"
    outcome = tools.run([arguments.tool, "ptx", program.path, "--passes", SLOTS, "-o", path], TIMEOUT)
    return path if not outcome.error and "nvptx_ra" in Path(path).read_text(encoding="utf8") else None


def work(item):
    number, program, arguments = item
    count = arguments.per_kernel
    kernel, found = mutants_of(program, program.path, count, number, arguments)
    if found and (path := with_slots(program, arguments)):
        # The kinds of faults alternate, so that 8 mutants include at least one reload if the kernel has any.
        _, more = mutants_of(program, path, 8, number, arguments)
        found += [mutant for mutant in more if mutant["fault"] == RELOAD][:1]
    for mutant in found:
        mutant |= {"kernel": program.name, "lineage": program.lineage, "compiler": program.compiler}
    return kernel, found


def table(found):
    kinds = sorted({mutant["fault"] for mutant in found}, key=lambda kind: (kind == BARRIER, kind))

    def line(name, mutants):
        counts = Counter(mutant["verdict"] for mutant in mutants)
        unreached = sum(1 for mutant in mutants if mutant["verdict"] == "survives" and not mutant["has_run"])
        share = (len(mutants) - counts["survives"]) / max(len(mutants), 1)
        return [name, len(mutants), *(counts[verdict] for verdict in VERDICTS), unreached, f"{100 * share:.1f} %"]

    lines = [line(kind, [mutant for mutant in found if mutant["fault"] == kind]) for kind in kinds]
    lines.append(line("all but barriers", [mutant for mutant in found if mutant["fault"] != BARRIER]))
    return lines


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        # More kernels are drawn than needed, because some kernels cannot be compared.
        drawn = programs.drawn(arguments.count // arguments.per_kernel * 3 // 2, arguments.seed, folder)
        items = [(number, program, arguments) for number, program in enumerate(drawn)]
        found, open_, kernels = [], Counter(), 0
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for kernel, mutants in pool.map(work, items):
                kernels += bool(mutants)
                found += mutants
                if not kernel["equal"]:
                    open_[(kernel["reasons"] or ["nothing was said"])[0].split(" (line")[0]] += 1
    found = found[: arguments.count]
    print("\n".join(report.table(table(found), ["", "mutants", *VERDICTS, "survivors never run", "told apart"])))
    print(f"{kernels} kernels, of {len(drawn)} drawn. The others are not comparable: ", end="")
    print("; ".join(f"{count} times: {reason}" for reason, count in open_.most_common(12)))
    survivors = [mutant for mutant in found if mutant["verdict"] == "survives" and mutant["fault"] != BARRIER]
    shown = random.Random(arguments.seed).sample(survivors, min(arguments.survivors, len(survivors)))
    for mutant in shown:
        ran = "" if mutant["has_run"] else " (never run)"
        print(f"{mutant['kernel']}:{mutant['line']}{ran}: {mutant['fault']}: {mutant['before']} -> {mutant['after']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf8")


if __name__ == "__main__":
    sys.exit(main())
