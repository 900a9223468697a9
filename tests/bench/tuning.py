#!/usr/bin/env python3
"""Measures `nvptx-ra tune` on real kernels: all kernels that spill, and others drawn by a seed, next to stock LLVM and
cicc.

    tuning.py [options] [MODULE-GLOB …]

llc and ptxas first judge every kernel. Then the kernels that spill (or a sample of --draw of them) and --others of
the other kernels are tuned. Each kernel is alone in its module. CUDA modules come from before LLVM's optimisations
if such modules exist (fetch.py --unoptimised). The launch is that of launches.py, if known. Each kernel is tuned
once for each number of --runs. Each profile is replayed and must give the same PTX, byte for byte. Winners are
compared with stock by execution, as `tune` does by default. Each winner has a line with its choice, the evidence
that it computes the same (proved, run or neither), and the ratio of its executed PTX instructions to stock's. If
--tool does not report this ratio, the default tool computes it.

All measurements are cached, so an interrupted run resumes. Exits with 1 in three cases: a kernel is worse than
stock LLVM (with --also, than the better of both compilers) in spilled bytes, warps or machine instructions; a
replay differs; or a kernel could not be tuned.
"""

import json
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import cache
import command_line
import corpus
import gather
import measure
import occupancy
import ptxas
import report
import searched
import tools
import traffic
import winners
from plan import CICC, OWN, STOCK, Compiler, Plan

CPU = "sm_90"
SPILLING, OTHERS = "spill", "spill nothing"
ALSO = "also"  # the choice in `tune --json` that is the other compiler's unchanged code
LARGEST = 3  # kernels that the second percentage leaves out
HEADER = ["", "runs", "kernels", "bytes spilled", "less", f"without {LARGEST}", "spill less", "nothing now"]
HEADER += ["local accesses", "bytes of slots", "machine instructions"]
HEADER += ["lack warps", "gain some", "no plain limit does", "without a limit"]
LIMIT = re.compile(r"\bmaxnreg=(\d+)")


@dataclass(frozen=True)
class Tuned:
    """A search of a kernel: the number of runs, an error message, the result of `tune --json`, and whether stock's
    code with a register limit has the same warps and is not worse otherwise."""

    kernel: searched.Kernel
    runs: int
    error: str
    said: dict | None
    plain_limit_does: bool = False
    winner: winners.Winner | None = None


def numbers(text):
    return [int(number) for number in text.split(",")]


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    command_line.add_modules(parser)
    command_line.add_subset(parser)
    add("--runs", type=numbers, default=[16], metavar="N,…", help="runs of ptxas for each kernel (default: 16)")
    add("--draw", type=int, metavar="N", help="draw N of the kernels that spill (default: all)")
    add("--others", type=int, default=200, metavar="N", help="draw N kernels that spill nothing (default: %(default)s)")
    add("--seed", type=int, default=1, help="seed of the draw (default: %(default)s)")
    add("--also", action="store_true", help="also search NVIDIA's code of each kernel, if cicc compiles its module")
    add("--timeout", type=int, default=300, help="seconds for llc or ptxas on a module (default: %(default)s)")
    command_line.add_jobs(parser)
    add("--results", metavar="FILE", help="write the results of the searches, one per line, for gains.py")
    command_line.add_plugin(parser)
    command_line.add_tool(parser)
    return parser.parse_args()


def plan_of(arguments):
    """Returns a plan for compiling and assembling only. Its folder has no job results."""
    paths = corpus.modules(arguments.corpus, arguments.modules, arguments.subset)
    return Plan(
        folder=str(tools.ROOT / "target/bench/tuning"),
        cache=cache.folder(),
        cpu=CPU,
        modules={Path(path).stem: path for path in paths},
        compilers=(Compiler(STOCK), Compiler(CICC)),
        settings=(OWN,),
        tools=tools.find(arguments.plugin),
        timeout=arguments.timeout,
        sass=False,
        sources=corpus.sources(),
    )


def spills_of(module, compiler, plan):
    """Returns the bytes that each kernel of a module spills, by name. On failure, prints an error and returns an empty
    dict."""
    compiled, text = measure.compile_module(module, plan.compiler(compiler), plan)
    judged = compiled if compiled["error"] else measure.assemble_text(text, module, OWN, None, plan)
    if judged["error"]:
        print(f"{module}: {compiler}: {judged['error']}", file=sys.stderr)
        return {}
    return {name: kernel["stores"] + kernel["loads"] for name, kernel in judged["kernels"].items()}


def chosen(stock, arguments):
    """Returns the kernels to tune, as (module, kernel): those that spill, or a sample of them, and a sample of the
    others."""
    kernels = [(module, name) for module in sorted(stock) for name in sorted(stock[module])]
    spilling = [(module, name) for module, name in kernels if stock[module][name]]
    others = [(module, name) for module, name in kernels if not stock[module][name]]
    if arguments.draw is not None:
        spilling = corpus.drawn(spilling, arguments.draw, arguments.seed)
    return {SPILLING: spilling, OTHERS: corpus.drawn(others, arguments.others, arguments.seed)}


def searches(wanted, stock, plan, arguments):
    """Returns a Tuned for each kernel and number of runs, in the order of the kernels."""

    def tuned(job):
        (module, name), runs = job
        kernel, error = searched.alone(module, plan.modules[module], name, list(stock[module]), plan, ahead=True)
        if error:
            return Tuned(kernel, runs, error, None)
        path = kernel.unoptimised or kernel.path
        theirs = plan.cicc_text(module)
        also = str(theirs) if arguments.also and theirs.exists() else ""
        error, said, code = searched.searched(kernel, path, runs, plan, arguments.tool, also)
        if error:
            return Tuned(kernel, runs, error, None)
        winner = winners.winner_of(kernel, said, code, plan)
        return Tuned(kernel, runs, "", said, plain_limit_does(kernel, said, plan), winner)

    jobs = [(kernel, runs) for kernel in wanted for runs in arguments.runs]
    done = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for number, of in enumerate(pool.map(tuned, jobs), 1):
            done.append(of)
            print(f"{number} of {len(jobs)}: {of.kernel.key} {of.runs} {of.error}", file=sys.stderr)
    return done


def plain_limit_does(kernel, said, plan):
    """Whether a register limit alone gives stock's code the same gain of warps, without more spilled bytes or more
    machine instructions."""
    limit = LIMIT.search(said["choice"])
    if not limit or said["tuned"]["warps"] <= said["stock"]["warps"]:
        return False
    own = replace(plan, modules={kernel.module: kernel.path})
    _, text = measure.compile_module(kernel.module, plan.compiler(STOCK), own)
    text = ptxas.with_setting(text, limit[1])
    limited = traffic.measured(text, kernel.name, plan.cpu_of(kernel.module), plan)
    return (
        not limited["error"]
        and limited["local_bytes"] <= bytes_of(said["stock"])
        and limited["instructions"] <= said["stock"]["sass_instructions"]
    )


def bytes_of(judged):
    return judged["spill_store_bytes"] + judged["spill_load_bytes"]


def is_worse(after, before):
    """Whether `after` is worse than `before` in spilled bytes, warps or machine instructions."""
    return (
        bytes_of(after) > bytes_of(before)
        or after["warps"] < before["warps"]
        or after["sass_instructions"] > before["sass_instructions"]
    )


def better_of_both(kernel):
    """Returns the figures of NVIDIA's code of a kernel if it was searched, if no comparison refused it, and if no
    figure is worse than stock's; otherwise stock's figures. Spilled bytes and accesses of local memory decide as in
    the search."""
    theirs = next((tried["figures"] for tried in kernel["tried"] if tried["choice"] == ALSO), None)
    is_refused = any(refused["choice"] == ALSO for refused in kernel["refused"] + kernel.get("barred", []))
    if not theirs or is_refused or is_worse(theirs, kernel["stock"]):
        return kernel["stock"]
    return theirs if theirs["sass_local"] <= kernel["stock"]["sass_local"] else kernel["stock"]


def gains(of):
    """Returns three booleans: whether more warps fit on an SM, whether stock's code with the same register limit would
    not gain them, and whether the choice has no register limit."""
    more = of.said["tuned"]["warps"] > of.said["stock"]["warps"]
    return more, more and not of.plain_limit_does, more and not LIMIT.search(of.said["choice"])


def less(kernels):
    """Returns the share of spilled bytes that is saved; empty if no kernel spills."""
    before, after = (sum(bytes_of(kernel[side]) for kernel in kernels) for side in ("stock", "tuned"))
    return f"{100 * (before - after) / before:.1f} %" if before else ""


def row_of(title, runs, results):
    """Returns a row of the table for searches, in the order of HEADER."""
    kernels = [of.said for of in results]

    def change(what):
        before, after = (sum(what(kernel[side]) for kernel in kernels) for side in ("stock", "tuned"))
        return f"{before:,} → {after:,}"

    lacking = [gains(of) for of in results if of.said["stock"]["warps"] < occupancy.most_warps(CPU)]
    slots = (kernel["tuned"]["shared_bytes"] - kernel["stock"]["shared_bytes"] for kernel in kernels)
    by_size = sorted(kernels, key=lambda kernel: bytes_of(kernel["stock"]))
    return [
        title,
        str(runs),
        str(len(kernels)),
        change(bytes_of),
        less(kernels),
        less(by_size[:-LARGEST]),
        str(sum(bytes_of(kernel["tuned"]) < bytes_of(kernel["stock"]) for kernel in kernels)),
        str(sum(bytes_of(kernel["tuned"]) == 0 < bytes_of(kernel["stock"]) for kernel in kernels)),
        change(lambda figures: figures["sass_local"]),
        f"{sum(max(0, more) for more in slots):,}",
        change(lambda figures: figures["sass_instructions"]),
        str(len(lacking)),
        *(str(sum(of[which] for of in lacking)) for which in range(3)),
    ]


def against_cicc(runs, results, spills):
    """Returns a line on the kernels that cicc also compiles. `spills` has the spilled bytes of cicc's code, by
    gather.kernel_key()."""
    keys = [(of.said, gather.kernel_key(of.kernel.module, of.kernel.name)) for of in results]
    both = [(said, spills[key]) for said, key in keys if key in spills]
    if not both:
        return f"{runs} runs: cicc compiles none of them"
    stock, ours = (sum(bytes_of(said[side]) for said, _ in both) for side in ("stock", "tuned"))
    theirs = sum(spilled for _, spilled in both)
    more = sum(bytes_of(said["tuned"]) > spilled for said, spilled in both)
    return (
        f"{runs} runs: of {len(both)} that cicc compiles, too: {stock:,} → {ours:,} bytes, cicc {theirs:,}; "
        f"{more} spill more than cicc's"
    )


def with_both(runs, results):
    """Returns a line on the kernels whose NVIDIA code is also searched; no line if there are none."""
    kernels = [of.said for of in results if any(tried["choice"] == ALSO for tried in of.said["tried"])]
    if not kernels:
        return []
    better = [said for said in kernels if better_of_both(said) is not said["stock"]]
    taken = sum(said["from"] is not None for said in kernels)
    figures = [(said["stock"], better_of_both(said), said["tuned"]) for said in kernels]
    sums = [
        " → ".join(f"{sum(map(what, column)):,}" for column in zip(*figures, strict=True))
        for what in (bytes_of, lambda of: of["warps"], lambda of: of["sass_instructions"])
    ]
    return [
        f"{runs} runs: NVIDIA's code of {len(kernels)} is searched, too: it is no worse than stock in {len(better)}, "
        f"and {taken} are taken from it; stock, the better of both, tuned: bytes {sums[0]}, warps {sums[1]}, "
        f"instructions {sums[2]}"
    ]


def compared(runs, results):
    """Returns a line on the verdicts of comparing changed kernels by execution."""
    changed = [of.said for of in results if of.said["choice"] != "stock"]
    verdicts = Counter(said["compared"]["verdict"] if said["compared"] else "not compared" for said in changed)
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    refused = sum(len(of.said["refused"]) for of in results)
    return f"{runs} runs: of {len(changed)} that change, compared by running: {told}; {refused} variants refused"


def shown(wanted, results, cicc):
    """Returns the lines to print, and those of them that report problems. Kernels are not counted if no block fits on
    an SM."""
    rows, lines, bad = [], [], []
    judged = [of for of in results if of.said]
    fitting = [of for of in judged if of.said["stock"]["warps"]]
    for runs in sorted({of.runs for of in results}):
        with_runs = [of for of in fitting if of.runs == runs]
        for part, kernels in wanted.items():
            of_part = [of for of in with_runs if (of.kernel.module, of.kernel.name) in kernels]
            if part == SPILLING:
                for source in sorted({corpus.source_of(of.kernel.module) for of in of_part}):
                    of_source = [of for of in of_part if corpus.source_of(of.kernel.module) == source]
                    rows.append(row_of(f"{source}, {part}", runs, of_source))
                lines.append(against_cicc(runs, of_part, cicc))
            rows.append(row_of(f"all that {part}", runs, of_part))
        lines += [compared(runs, with_runs), *with_both(runs, with_runs)]
        lines += winners.lines_of(runs, [(of.kernel.key, of.winner) for of in with_runs if of.winner])
    rows.sort(key=lambda row: row[0])  # a stable sort, which keeps the order of the numbers of runs
    for of in fitting:
        if is_worse(of.said["tuned"], of.said["stock"]):
            bad.append(f"worse: {of.kernel.module}: {of.kernel.name}")
        elif is_worse(of.said["tuned"], better_of_both(of.said)):
            bad.append(f"worse than NVIDIA's code: {of.kernel.module}: {of.kernel.name}")
    bad += [f"not tuned: {of.kernel.module}: {of.kernel.name}: {of.error}" for of in results if of.error]
    counts = f"{len(judged)} searches, of {len(judged) - len(fitting)} no block fits"
    return [*report.table(rows, HEADER), "", counts, *lines, *(bad or ["none worse; all replayed, byte for byte"])], bad


def main():
    arguments = parse_arguments()
    plan = plan_of(arguments)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        stock = dict(zip(plan.modules, pool.map(lambda m: spills_of(m, STOCK, plan), plan.modules), strict=True))
        wanted = chosen(stock, arguments)
        with_cicc = sorted({module for module, _ in wanted[SPILLING] if plan.cicc_text(module).exists()})
        spills = zip(with_cicc, pool.map(lambda m: spills_of(m, CICC, plan), with_cicc), strict=True)
        cicc = {gather.kernel_key(module, name): count for module, of in spills for name, count in of.items()}
    results = searches([kernel for kernels in wanted.values() for kernel in kernels], stock, plan, arguments)
    if arguments.results:
        said = (json.dumps({"kernels": [of.said]}) + "\n" for of in results if of.said)
        Path(arguments.results).write_text("".join(said), encoding="utf8")
    lines, bad = shown(wanted, results, cicc)
    print("\n".join(lines))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
