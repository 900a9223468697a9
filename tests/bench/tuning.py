#!/usr/bin/env python3
"""What `nvptx-ra tune` makes of real kernels: all that spill and others drawn by a seed, beside stock LLVM and cicc.

    tuning.py [options] [MODULE-GLOB …]

llc and ptxas judge every kernel first, which is cached as the bench's results are. Then those that spill, or --draw of
them, are tuned, and --others of the rest. Each profile is replayed by llc, with all checks on, and has to make the same
PTX, byte for byte.
With --results FILE every module is kept as it is done, and is not tuned again: one file for each build and number of
runs. Ends with 1 where a kernel is worse than stock LLVM in bytes spilled, warps or machine instructions, or where a
replay differs.
"""

import json
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import cache
import command_line
import corpus
import gather
import measure
import occupancy
import report
import tools
from plan import CICC, OWN, STOCK, Compiler, Plan

CPU = "sm_90"
KERNELS_OF_A_JOB = 3  # of a module with many of them, so that no core waits long at the end
SPILLING, OTHERS = "spill", "spill nothing"
HEADER = ["", "kernels", "bytes spilled", "less", "spill less", "nothing now", "machine instructions"]
HEADER += ["lack warps", "gain some", "without a limit"]


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    command_line.add_modules(parser)
    command_line.add_subset(parser)
    add("--runs", type=int, default=16, help="of ptxas for each kernel (default: %(default)s)")
    add("--draw", type=int, metavar="N", help="so many of the kernels that spill (default: all)")
    add("--others", type=int, default=200, metavar="N", help="kernels that spill nothing (default: %(default)s)")
    add("--seed", type=int, default=1, help="of what is drawn (default: %(default)s)")
    add("--timeout", type=int, default=300, help="seconds for llc or ptxas on a module (default: %(default)s)")
    command_line.add_jobs(parser)
    add("--results", metavar="FILE", help="keeps what was tuned, one job a line")
    command_line.add_plugin(parser)
    command_line.add_tool(parser)
    return parser.parse_args()


def plan_of(arguments):
    """Only what compiling and assembling ask for; the folder has no jobs' results."""
    paths = corpus.modules(arguments.corpus, arguments.modules, arguments.subset)
    return Plan(
        folder=str(tools.ROOT / "target/bench/tuning"),
        cache=cache.folder(),
        cpu=CPU,
        modules={Path(path).stem: path for path in paths},
        compilers=(Compiler(STOCK), Compiler(CICC)),
        settings=(OWN,),
        tools=tools.find(arguments.plugin, with_sass=False),
        timeout=arguments.timeout,
        sass=False,
        sources=corpus.sources(),
    )


def spills_of(module, compiler, plan):
    """Bytes that each kernel of a module spills, by name; empty where something fails, which is said."""
    compiled, text = measure.compile_module(module, plan.compiler(compiler), plan)
    judged = compiled if compiled["error"] else measure.assemble_text(text, module, OWN, None, plan)
    if judged["error"]:
        print(f"{module}: {compiler}: {judged['error']}", file=sys.stderr)
        return {}
    return {name: kernel["stores"] + kernel["loads"] for name, kernel in judged["kernels"].items()}


def chosen(stock, arguments):
    """The kernels to tune, as (module, kernel): those that spill, or as many of them, and others."""
    kernels = [(module, name) for module in sorted(stock) for name in sorted(stock[module])]
    spilling = [(module, name) for module, name in kernels if stock[module][name]]
    others = [(module, name) for module, name in kernels if not stock[module][name]]
    if arguments.draw is not None:
        spilling = corpus.drawn(spilling, arguments.draw, arguments.seed)
    return {SPILLING: spilling, OTHERS: corpus.drawn(others, arguments.others, arguments.seed)}


def jobs_of(kernels):
    """(module, kernels), each a run of the tool."""
    by_module = defaultdict(list)
    for module, name in kernels:
        by_module[module].append(name)
    for module, names in by_module.items():
        for start in range(0, len(names), KERNELS_OF_A_JOB):
            yield module, names[start : start + KERNELS_OF_A_JOB]


def tool_flags(module, plan):
    """What the tool is told of the target, as measure.llc_flags() tells llc."""
    return [f"-O{plan.level}", f"--mattr={plan.attributes}", "--fp-contract=fast", f"--cpu={plan.cpu_of(module)}"]


def tuned(module, names, plan, arguments):
    """{"module", "error", "kernels": what tune --json says of each, "same": whether llc replays the profile}."""
    flags = tool_flags(module, plan)
    with tempfile.TemporaryDirectory() as folder:
        ptx, profile = Path(folder, "tuned.ptx"), Path(folder, "profile.toml")
        search = [arguments.tool, "tune", plan.modules[module], *flags, f"--runs={arguments.runs}", "--jobs=1"]
        search += ["--json", f"--output={ptx}", f"--profile={profile}", *(f"--kernel={name}" for name in names)]
        outcome = tools.run(search, timeout=None)  # what a variant may take is the tool's to say
        if outcome.error:
            return {"module": module, "error": outcome.error, "kernels": [], "same": True}
        said = tools.object_in(outcome.output)
        replay = Compiler("replay", (f"-nvptx-ra-profile={profile}",))
        # No limit of time: the checks take as long again.
        error, _, _, text = measure.run_llc(
            plan.modules[module], replay, measure.llc_flags(module, plan), replace(plan, timeout=None)
        )
        same = not error and text == ptx.read_text(encoding="utf8")
        kernels = [kernel for kernel in said["kernels"] if kernel["name"] in names]
        return {"module": module, "error": "", "kernels": kernels, "same": same}


def results_of(wanted, plan, arguments):
    """What tuned() says of all jobs, those done before first."""
    known = []
    if arguments.results and Path(arguments.results).exists():
        known = [json.loads(line) for line in Path(arguments.results).read_text(encoding="utf8").splitlines()]
    done = {(job["module"], kernel["name"]) for job in known for kernel in job["kernels"]}
    todo = list(jobs_of([kernel for kernel in wanted if kernel not in done]))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for number, job in enumerate(pool.map(lambda job: tuned(*job, plan, arguments), todo), 1):
            known.append(job)
            print(f"{number} of {len(todo)}: {job['module']} {job['error']}", file=sys.stderr)
            if arguments.results and not job["error"]:
                with open(arguments.results, "a", encoding="utf8") as file:
                    file.write(json.dumps(job) + "\n")
    return known


def bytes_of(judged):
    return judged["spill_store_bytes"] + judged["spill_load_bytes"]


def is_worse(kernel):
    before, after = kernel["stock"], kernel["tuned"]
    return (
        bytes_of(after) > bytes_of(before)
        or after["warps"] < before["warps"]
        or after["sass_instructions"] > before["sass_instructions"]
    )


def gains(kernel):
    """Whether more warps fit on an SM, and whether that is by what the code is like, not by a limit on registers."""
    more = kernel["tuned"]["warps"] > kernel["stock"]["warps"]
    return more, more and "maxnreg=" not in kernel["choice"]


def row_of(title, rows):
    """The figures of (module, kernel) pairs, as HEADER names them."""
    kernels = [kernel for _, kernel in rows]
    before, after = (sum(bytes_of(kernel[side]) for kernel in kernels) for side in ("stock", "tuned"))
    instructions, fewer = (sum(kernel[side]["sass_instructions"] for kernel in kernels) for side in ("stock", "tuned"))
    lacking = [kernel for kernel in kernels if kernel["stock"]["warps"] < occupancy.most_warps(CPU)]
    gained = [gains(kernel) for kernel in lacking]
    return [
        title,
        str(len(kernels)),
        f"{before:,} → {after:,}",
        f"{100 * (before - after) / before:.0f} %" if before else "",
        str(sum(bytes_of(kernel["tuned"]) < bytes_of(kernel["stock"]) for kernel in kernels)),
        str(sum(bytes_of(kernel["tuned"]) == 0 < bytes_of(kernel["stock"]) for kernel in kernels)),
        f"{instructions:,} → {fewer:,}",
        str(len(lacking)),
        str(sum(more for more, _ in gained)),
        str(sum(by_shape for _, by_shape in gained)),
    ]


def against_cicc(rows, spills):
    """A line on the kernels that cicc compiles, too. `spills` is what cicc's code spills, by kernel_key()."""
    keys = [(kernel, gather.kernel_key(module, kernel["name"])) for module, kernel in rows]
    both = [(kernel, spills[key]) for kernel, key in keys if key in spills]
    if not both:
        return "cicc compiles none of them"
    stock, ours = (sum(bytes_of(kernel[side]) for kernel, _ in both) for side in ("stock", "tuned"))
    theirs = sum(spilled for _, spilled in both)
    no_more = sum(bytes_of(kernel["tuned"]) <= spilled for kernel, spilled in both)
    part = f", {100 * (stock - ours) / (stock - theirs):.0f} % of the way" if stock > theirs else ""
    return (
        f"of {len(both)} that cicc compiles, too: {stock:,} → {ours:,} bytes, cicc {theirs:,}{part}; "
        f"{no_more} spill no more than cicc's"
    )


def shown(wanted, results, cicc):
    """The lines to print, and those of them that say what is not as it has to be. A kernel of which no block fits on an
    SM counts nowhere."""
    judged = {(job["module"], kernel["name"]): kernel for job in results for kernel in job["kernels"]}
    rows, of_cicc, lines, bad = [], [], [], []
    for part, kernels in wanted.items():
        have = [(module, judged[module, name]) for module, name in kernels if (module, name) in judged]
        fitting = [(module, kernel) for module, kernel in have if kernel["stock"]["warps"]]
        if part == SPILLING:
            for source in sorted({corpus.source_of(module) for module, _ in fitting}):
                of_source = [row for row in fitting if corpus.source_of(row[0]) == source]
                rows.append(row_of(f"{source}, {part}", of_source))
            of_cicc.append(against_cicc(fitting, cicc))
        rows.append(row_of(f"all that {part}", fitting))
        lines.append(f"{part}: {len(kernels)} chosen, {len(have)} tuned, of {len(have) - len(fitting)} no block fits")
        bad += [f"worse: {module}: {kernel['name']}" for module, kernel in fitting if is_worse(kernel)]
    modules = {module for kernels in wanted.values() for module, _ in kernels}
    bad += [f"replayed otherwise: {job['module']}" for job in results if job["module"] in modules and not job["same"]]
    bad += [f"not tuned: {job['module']}: {job['error']}" for job in results if job["error"]]
    ending = bad or ["none worse; all replayed, byte for byte"]
    return [*report.table(rows, HEADER), "", *lines, *of_cicc, *ending], bad


def main():
    arguments = parse_arguments()
    plan = plan_of(arguments)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        stock = dict(zip(plan.modules, pool.map(lambda m: spills_of(m, STOCK, plan), plan.modules), strict=True))
        wanted = chosen(stock, arguments)
        with_cicc = sorted({module for module, _ in wanted[SPILLING] if plan.cicc_text(module).exists()})
        spills = zip(with_cicc, pool.map(lambda m: spills_of(m, CICC, plan), with_cicc), strict=True)
        cicc = {gather.kernel_key(module, name): count for module, of in spills for name, count in of.items()}
    results = results_of([kernel for kernels in wanted.values() for kernel in kernels], plan, arguments)
    lines, bad = shown(wanted, results, cicc)
    print("\n".join(lines))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
