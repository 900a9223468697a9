#!/usr/bin/env python3
"""Mutants of real kernels, told from the originals by the emulator: how many, by kind of fault.

    mutants.py [options]

Kernels are drawn from the corpus as llc, NVIDIA's compiler and Triton write them (programs.py). Of a kernel that can be
compared with itself, a few mutants are drawn, each with one fault; they go round the kinds. For faults in reloads,
`nvptx-regalloc` first moves values of the kernel to slots, and mutants are compared with what it wrote. A mutant is
told apart where a stored value differs, or where nothing can be said of it alone, as where it has a race or does not
end.

The table says how many are told apart; --survivors prints the others. What was found is cached, so that a run that was
broken off goes on.
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
# Few registers, and slots in shared and local memory, in loops, too.
SLOTS = "nvptx-regalloc<regalloc=16;spill-to=shared+local;regalloc-loops=on;regalloc-redefined=on;threads=128>"
VERDICTS = ("different", "refused", "survives")
TIMEOUT = 300


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("--count", type=int, default=1000, help="of mutants (default: %(default)s)")
    add("--per-kernel", type=int, default=6, help="mutants of a kernel (default: %(default)s)")
    add("--seed", type=int, default=1, help="of all that is drawn (default: %(default)s)")
    add("--launches", type=int, default=8, help="of each kernel (default: %(default)s)")
    add("--steps", type=int, default=200_000, help="instructions of warps in a launch (default: %(default)s)")
    add("--driver", default="target/mutants/release/examples/mutants", help="what runs them (default: %(default)s)")
    add("--survivors", type=int, default=0, metavar="N", help="print so many drawn survivors")
    add("--json", type=Path, metavar="FILE", help="all mutants")
    command_line.add_tool(parser)
    command_line.add_jobs(parser)
    return parser.parse_args()


def mutants_of(program, text_path, count, number, arguments):
    """The mutants of a kernel: what the driver says of the kernel, and of each."""
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
    """The file of a kernel whose values are kept in slots, or None where none is."""
    path = program.path.removesuffix(".ptx") + ".slots.ptx"
    outcome = tools.run([arguments.tool, "ptx", program.path, "--passes", SLOTS, "-o", path], TIMEOUT)
    return path if not outcome.error and "nvptx_ra" in Path(path).read_text(encoding="utf8") else None


def work(item):
    number, program, arguments = item
    count = arguments.per_kernel
    kernel, found = mutants_of(program, program.path, count, number, arguments)
    if found and (path := with_slots(program, arguments)):
        # The kinds take turns, so that so many have one reload at least where the kernel has any.
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
        # Not every kernel can be compared.
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
    print("\n".join(report.table(table(found), ["", "mutants", *VERDICTS, "of these never run", "told apart"])))
    print(f"{kernels} kernels, of {len(drawn)} drawn. Of the others nothing can be said: ", end="")
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
