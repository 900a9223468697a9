#!/usr/bin/env python3
"""Measures the spill plans of each allocation engine on kernels that spill: bytes moved to memory, slots, machine
instructions.

    spill_plans.py [options] [MODULE-GLOB …]

Each kernel becomes a separate module. It is compiled by stock LLVM, by the plugin with `regalloc=off`, with
`regalloc=N` by each engine, and with `regalloc=auto`. N is the number of registers that ptxas takes for stock's
code. *Moved* are the bytes of ptxas's spills plus the bytes that instructions move to and from slots (machine code
beyond stock's). *Best* is the engine that moves least, then has the fewest instructions. If the CPU can run a
kernel, `nvptx-ra compare --exact` checks that a variant stores the same values as stock, and counts the warp
instructions that access shared and local memory.

If a kernel's code does not declare the block size, it comes from launches.py, or else it is 128 threads. The draw
alternates between the lineages and takes at most --of-module kernels of a module, so that only a part of the corpus
is assembled; --list stores the drawn kernels. All measurements are cached, so an interrupted run resumes.
"""

import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import cache
import command_line
import corpus
import kept
import measure
import report
import searched
import tools
import traffic
import tuning
from plan import CICC, OWN, STOCK, Compiler

ENGINES = ("price", "greedy", "briggs", "fatpoint")
DEFAULT, BEST, AUTO = "default", "best", "auto"
WAYS = (DEFAULT, *ENGINES, AUTO)
SHOWN = (STOCK, DEFAULT, *ENGINES, BEST, AUTO)
FEWEST, MOST = 16, 255  # registers that `regalloc` takes
STEPS_IN_ALL = 6  # most steps of a kernel, in multiples of those of a launch
HEADER = ["", "kernels", "spilled", "moved", "change", "with slots", "slots", "warps"]
HEADER += ["instructions", "change", "executed"]
COMPARED = ("better", "worse", "same")


@dataclass(frozen=True)
class Answer:
    """Results for a kernel: the registers that ptxas takes, the figures of each way, and the failures, as (way,
    error)."""

    kernel: searched.Kernel
    register_limit: int
    ways: dict
    wrong: list


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    command_line.add_modules(parser)
    command_line.add_subset(parser)
    add("--draw", type=int, default=60, metavar="N", help="draw N kernels that spill (default: %(default)s)")
    add("--others", type=int, default=0, metavar="N", help="draw N kernels that spill nothing (default: %(default)s)")
    add("--registers", type=int, default=0, metavar="N", help="fewest registers of --others (default: %(default)s)")
    add("--of-module", type=int, default=3, metavar="N", help="most kernels of a module (default: %(default)s)")
    add("--seed", type=int, default=1, help="seed of the draw (default: %(default)s)")
    add("--list", type=Path, metavar="FILE", help="kernels to take, a line `module kernel` each; written if missing")
    add("--list-only", action="store_true", help="only draw")
    add("--set", default="", metavar="OPTIONS", help="options for each way, as 'regalloc-slack=12 spill-to=all'")
    add("--timeout", type=int, default=120, help="seconds for one command (default: %(default)s)")
    add("--steps", type=int, default=100_000, help="most warp instructions of a launch (default: %(default)s)")
    add("--no-run", dest="runs", action="store_false", help="do not run kernels on the CPU")
    add("--json", type=Path, metavar="FILE", help="write the figures of each kernel")
    add("--against", type=Path, metavar="FILE", help="compare with the figures of another build, kernel by kernel")
    command_line.add_jobs(parser)
    command_line.add_plugin(parser)
    command_line.add_tool(parser)
    return parser.parse_args()


def figures_of_module(module, plan):
    """Returns ptxas's figures of a module's kernels with stock LLVM, by name. On failure, prints an error and returns
    `None`."""
    compiled, text = measure.compile_module(module, plan.compiler(STOCK), plan)
    judged = compiled if compiled["error"] else measure.assemble_text(text, module, OWN, None, plan)
    if judged["error"]:
        print(f"{module}: left out: {judged['error']}", file=sys.stderr)
        return None
    return judged["kernels"]


def is_wanted(figures, spilling, arguments):
    spills = figures["stores"] + figures["loads"] > 0
    return spills if spilling else not spills and figures["registers"] >= arguments.registers


def drawn(plan, arguments, count, spilling):
    """Draws `count` pairs (module, kernel), or all. The draw depends only on the seed and the corpus."""
    generator, by_lineage = random.Random(arguments.seed), defaultdict(list)
    for module in sorted(plan.modules):
        source = corpus.source_of(module)
        by_lineage[plan.sources.get(source, {}).get("lineage", source)].append(module)
    queues = [iter(generator.sample(modules, len(modules))) for _, modules in sorted(by_lineage.items())]
    found = []
    while queues and len(found) < count:
        for queue in list(queues):
            turn = next_of(queue, plan, arguments, spilling)
            if not turn:
                queues.remove(queue)
            found += turn[: count - len(found)]
    return found


def next_of(modules, plan, arguments, spilling):
    """Returns (module, kernel) pairs of a lineage's next module that has wanted kernels; empty after the last
    module."""
    for module in modules:
        judged = figures_of_module(module, plan) or {}
        names = sorted(name for name, figures in judged.items() if is_wanted(figures, spilling, arguments))
        # The draw from a module does not depend on draws from other modules.
        own = random.Random(f"{arguments.seed} {module}")
        if names:
            chosen = own.sample(names, min(arguments.of_module, len(names)))
            print(f"{module}: {len(chosen)} of {len(names)}", file=sys.stderr)
            return [(module, name) for name in chosen]
    return []


def wanted(plan, arguments):
    """Returns the (module, kernel) pairs of the list. Without a list, draws them and writes the list."""
    if arguments.list and arguments.list.exists():
        lines = arguments.list.read_text(encoding="utf8").splitlines()
        return [tuple(line.split()) for line in lines if line.strip() and not line.startswith("#")]
    found = drawn(plan, arguments, arguments.draw, spilling=True)
    found += drawn(plan, arguments, arguments.others, spilling=False)
    if arguments.list:
        arguments.list.write_text("".join(f"{module} {name}\n" for module, name in found), encoding="utf8")
    return found


def options_of(way, register_limit, said, also):
    """Returns the plugin's options of a way."""
    of_way = [f"regalloc={register_limit}", f"allocator={way}"]
    words = {DEFAULT: ["regalloc=off"], AUTO: ["regalloc=auto"]}.get(way, of_way)
    return " ".join([*words, *said.split(), *also.split()])


def compared(kernel, stock_text, text, arguments, plan):
    """Runs both PTX modules. Returns the verdict and, for each module, the numbers of executed warp instructions: all
    of them, and those that access shared and local memory."""
    if text == stock_text:
        return {"verdict": "unchanged"}
    with tempfile.TemporaryDirectory(prefix="plans-") as folder:
        paths = [Path(folder, name) for name in ("stock.ptx", "way.ptx")]
        for path, content in zip(paths, (stock_text, text), strict=True):
            path.write_text(content, encoding="utf8")
        words = ["--exact", "--json", f"--kernel={kernel.name}", "--launches=3", "--more=4"]
        words += [f"--steps={arguments.steps}", f"--steps-in-all={STEPS_IN_ALL * arguments.steps}"]
        words += searched.launch_flags(kernel.launch)
        key = cache.key_of("plans", cache.file_hash(arguments.tool), stock_text, text, words)
        store = cache.Cache(plan.cache)
        if (known := store.get(key)) is not None:
            return known
        outcome = tools.run([arguments.tool, "compare", *map(str, paths), *words], plan.timeout)
        try:
            (found,) = json.loads(outcome.output)
        except ValueError:
            return {"verdict": "failed", "reason": outcome.error or outcome.output[:300]}
    reasons = [launch["reason"] for launch in found["launches"] if launch["reason"]]
    said = {"verdict": found["verdict"], "reason": next(iter(reasons), ""), "executed": found["executed"]}
    store.put(key, said)
    return said


def slot_bytes(stock, figures):
    """Returns the bytes that machine instructions move to and from slots: shared words beyond stock's, and local words
    beyond ptxas's spills and stock's arrays."""
    arrays = lambda of: max(0, 4 * of["local_words"] - of["local_bytes"])  # noqa: E731
    in_shared = max(0, 4 * (figures["shared_words"] - stock["shared_words"]))
    return in_shared + max(0, arrays(figures) - arrays(stock))


def answer_of(wanted_kernel, plan, arguments):
    """Returns an Answer for a (module, kernel) pair, or the failure as a tuple."""
    module, name = wanted_kernel
    judged = figures_of_module(module, plan)
    if judged is None:
        return (module, name, STOCK, "the module")
    kernel, error = searched.alone(module, plan.modules[module], name, list(judged), plan, False)
    if error:
        return (module, name, STOCK, error)
    plan, cpu = replace(plan, modules=plan.modules | {kernel.key: kernel.path}), plan.cpu_of(module)
    error, stock_text = kept.compiled(kernel, "", plan)
    stock = {"error": error} if error else traffic.measured(stock_text, name, cpu, plan)
    if stock["error"]:
        return (module, name, STOCK, stock["error"])
    if stock["threads"] is None and kernel.launch.threads is None:
        kernel = replace(kernel, launch=replace(kernel.launch, threads=kept.DEFAULT_THREADS))
    register_limit = min(max(stock["registers"], FEWEST), MOST)
    ways, wrong = {STOCK: stock | {"slots": 0, "moved": stock["local_bytes"]}}, []
    for way in WAYS:
        options = options_of(way, register_limit, kept.said_options(kernel), arguments.set)
        error, text = kept.compiled(kernel, options, plan)
        figures = {"error": error} if error else traffic.measured(text, name, cpu, plan)
        if figures["error"]:
            wrong.append((way, figures["error"]))
            continue
        slots = slot_bytes(stock, figures)
        ways[way] = figures | {"slots": slots, "moved": figures["local_bytes"] + slots}
        if arguments.runs:
            ways[way]["compared"] = compared(kernel, stock_text, text, arguments, plan)
    if not kernel.is_triton and (theirs := kept.cicc_text(kernel, plan)):
        figures = traffic.measured(theirs[1], theirs[0], cpu, plan)
        if not figures["error"]:
            ways[CICC] = figures | {"slots": 0, "moved": figures["local_bytes"]}
    for figures in ways.values():
        figures["warps"] = kept.warps(figures, kernel, cpu)
    if all(engine in ways for engine in ENGINES):
        best = min(ENGINES, key=lambda engine: (ways[engine]["moved"], ways[engine]["instructions"]))
        ways[BEST] = ways[best] | {"engine": best}
    return Answer(kernel, register_limit, ways, wrong)


def counts_of(pairs, what="moved"):
    """Returns the numbers of pairs (before, after) that are better, worse and the same."""
    counts = Counter()
    for before, after in pairs:
        gain = before[what] - after[what] if what != "warps" else after[what] - before[what]
        counts["better" if gain > 0 else "worse" if gain else "same"] += 1
    return [counts[word] for word in COMPARED]


def executed_of(figures):
    """Returns the number of executed warp instructions that access slots: accesses of shared memory beyond stock's,
    and accesses of local memory. `None` if unknown."""
    both = figures.get("compared", {}).get("executed")
    if not both or "shared" not in both[0]:
        return None
    return sum(both[1][memory] - both[0][memory] for memory in ("shared", "local"))


def rows_of(answers):
    """Yields the rows of the table, for kernels with results of every way."""
    for way in SHOWN:
        pairs = [(of.ways[STOCK], of.ways[way]) for of in answers]
        sums = lambda what: [sum(side[what] for side in sides) for sides in zip(*pairs, strict=True)] or [0, 0]  # noqa: B023, E731
        ran = [number for _, figures in pairs if (number := executed_of(figures)) is not None]
        yield [
            way,
            str(len(pairs)),
            f"{sums('local_bytes')[1]:,}",
            f"{sums('moved')[1]:,}",
            kept.percent(*sums("moved")),
            str(sum(figures["static"] > stock["static"] for stock, figures in pairs)),
            f"{sum(figures['static'] - stock['static'] for stock, figures in pairs):,}",
            f"{sums('warps')[1]:,}",
            f"{sums('instructions')[1]:,}",
            kept.percent(*sums("instructions")),
            f"{sum(ran):,} of {len(ran)}" if ran else "",
        ]


def complete(answers):
    return [answer for answer in answers if all(way in answer.ways for way in SHOWN)]


def shown(answers):
    """Yields the lines of the tables."""
    whole = complete(answers)
    yield from report.table(rows_of(whole), HEADER)
    if theirs := [of for of in whole if CICC in of.ways]:
        before, after = (sum(of.ways[way]["local_bytes"] for of in theirs) for way in (STOCK, CICC))
        yield f"cicc compiles {len(theirs)} of them: stock spills {before:,} bytes in these, cicc's code {after:,}"
    yield ""
    rows = []
    for way in (*ENGINES, BEST, AUTO):
        for against in (STOCK, DEFAULT, "price"):
            for what in ("moved", "local_bytes"):
                pairs = [(of.ways[against], of.ways[way]) for of in whole]
                rows.append([f"{way} against {against}, {what}", *counts_of(pairs, what)])
    yield from report.table(rows, ["", *COMPARED])
    engines = Counter(of.ways[BEST]["engine"] for of in whole)
    yield "best: " + ", ".join(f"{engine} {engines[engine]}" for engine in ENGINES)
    verdicts = Counter(of.ways[way].get("compared", {}).get("verdict") for of in whole for way in WAYS)
    yield "compared with stock: " + ", ".join(f"{word} {number}" for word, number in sorted(verdicts.items(), key=str))
    yield ""
    yield from each(whole)


def each(answers):
    """Yields a line for each kernel with the bytes that each way moves."""
    rows = []
    for of in answers:
        moved = [f"{of.ways[way]['moved']:,}" for way in SHOWN]
        rows.append([f"{of.kernel.module} {of.kernel.name[:60]}", of.register_limit, *moved])
    yield from report.table(rows, ["bytes moved", "registers", *SHOWN])


def as_json(answers, plan):
    kernels = [
        {"module": of.kernel.module, "kernel": of.kernel.name, "registers": of.register_limit, "ways": of.ways}
        for of in answers
    ]
    return {"plugin": cache.file_hash(plan.tools.plugin), "kernels": kernels}


def against(answers, other):
    """Yields the lines that compare this build with another build, on the kernels of both."""
    before = {(of["module"], of["kernel"]): of["ways"] for of in other["kernels"]}
    for what in ("moved", "local_bytes", "warps", "instructions"):
        rows, worse = [], []
        for way in SHOWN:
            pairs = [
                (of, theirs[way], of.ways[way])
                for of in answers
                if way in of.ways and way in (theirs := before.get((of.kernel.module, of.kernel.name), {}))
            ]
            sums = [sum(side[what] for _, *sides in pairs for side in sides[at : at + 1]) for at in (0, 1)]
            counts = counts_of([pair for _, *pair in pairs], what)
            rows.append([way, len(pairs), f"{sums[0]:,}", f"{sums[1]:,}", kept.percent(*sums), *counts])
            worse += [(way, of, old, new) for of, old, new in pairs if new[what] > old[what]]
        yield from report.table(rows, [what, "kernels", "before", "now", "change", *COMPARED])
        for way, of, old, new in worse if what == "moved" else []:
            yield f"  {way}: {of.kernel.module} {of.kernel.name}: {old[what]:,} → {new[what]:,}"
        yield ""


def main():
    arguments = parse_arguments()
    plan = replace(tuning.plan_of(arguments), folder=str(tools.ROOT / "target/bench/plans"))
    plan = replace(plan, compilers=(Compiler(STOCK), Compiler(CICC)))
    programs = (plan.tools.llc, plan.tools.plugin, plan.tools.ptxas)
    before, kernels = kept.state_of(programs), wanted(plan, arguments)
    if arguments.list_only:
        return
    answers, wrong = [], []
    with ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        found = pool.map(lambda kernel: answer_of(kernel, plan, arguments), kernels)
        for number, answer in enumerate(found, 1):
            print(f"{number} of {len(kernels)}: {' '.join(kernels[number - 1])}", file=sys.stderr)
            if not isinstance(answer, Answer):
                wrong.append(answer)
                continue
            answers.append(answer)
            wrong += [(answer.kernel.module, answer.kernel.name, *of) for of in answer.wrong]
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(answers, plan), indent=1), encoding="utf8")
    print("\n".join(shown(answers)))
    if arguments.against:
        print("\n".join(["", *against(answers, json.loads(arguments.against.read_text(encoding="utf8")))]))
    differing = [
        (of.kernel.module, of.kernel.name, way, of.ways[way]["compared"]["verdict"])
        for of in answers
        for way in WAYS
        if of.ways.get(way, {}).get("compared", {}).get("verdict") in ("different", "failed")
    ]
    for module, name, way, error in wrong + differing:
        print(f"failed: {module}: {name}: {way}: {error}")
    if kept.state_of(programs) != before:
        sys.exit(f"one of {', '.join(programs)} was rebuilt during the run: the figures come from several builds")
    sys.exit(1 if wrong or differing else 0)


if __name__ == "__main__":
    main()
