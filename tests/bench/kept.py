#!/usr/bin/env python3
"""Measures spilling to shared memory on real kernels: every kernel that spills, compiled in several ways, in one
table.

    kept.py [options] [MODULE-GLOB …]

Stock LLVM and ptxas first show which kernels spill. Each of these kernels becomes a separate module, which is
compiled in each way of WAYS. The figures come from ptxas and the machine code: bytes spilled to local memory,
static shared memory beyond stock's, words that instructions move to and from both memories (LDL, STL; LDS, STS
beyond stock's), warps, and machine instructions. Kernels are left out if no block fits on an SM.

A kernel counts only if all requested ways have a result for it. The exception is cicc: its row has the kernels that
cicc compiles. Failures are listed at the end, and the program then exits with 1. All measurements are cached, so an
interrupted run resumes.
"""

import json
import os
import re
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import command_line
import corpus
import gather
import launches
import measure
import occupancy
import ptx
import report
import searched
import tools
import traffic
import tuning
from plan import CICC, STOCK, Compiler

PRAGMA, AUTO, SAID, BEST_SLACK, TUNE, AHEAD = "pragma", "auto", "said", "slacks", "tune", "ahead"
WAYS = {
    PRAGMA: 'stock with NVIDIA\'s pragma "enable_smem_spilling", or stock if ptxas refuses it',
    AUTO: "regalloc=auto, without facts of the launch",
    SAID: "regalloc=auto, with threads and dynamic shared memory if launches.py knows them",
    BEST_SLACK: "the best of regalloc=255 with a slack of 12, 24, 48 and 80, with the launch",
    TUNE: "nvptx-ra tune, which tries the pass among other options, with the launch",
    AHEAD: "the same, on modules as emitted by clang's front end if they exist (fetch.py --unoptimised)",
    CICC: "NVIDIA's compiler, if it compiles the kernel",
}
SLACKS = (12, 24, 48, 80)
LARGEST = 3  # kernels that the second percentages leave out
MORE_INSTRUCTIONS = 0.03
DEFAULT_THREADS = 128  # the default of `nvptx-ra tune`
PRAGMA_LINE = '\t.pragma "enable_smem_spilling";'
HEADER = ["", "kernels", "with slots", "local bytes", "change", f"without {LARGEST}", "slots", "local words"]
HEADER += ["shared words", "warps", "instructions", "change", f"without {LARGEST}"]


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    command_line.add_modules(parser)
    command_line.add_subset(parser)
    add("--only", default=",".join(WAYS), metavar="WAYS", help="some of %(default)s")
    add("--runs", type=int, default=16, help="runs of ptxas for each tuned kernel (default: %(default)s)")
    add("--draw", type=int, metavar="N", help="draw N of the kernels that spill (default: all)")
    add("--seed", type=int, default=1, help="seed of the draw (default: %(default)s)")
    add("--timeout", type=int, default=600, help="seconds for llc or ptxas on a kernel (default: %(default)s)")
    command_line.add_jobs(parser)
    add("--json", type=Path, metavar="FILE", help="write the figures of each kernel")
    command_line.add_plugin(parser)
    command_line.add_tool(parser)
    arguments = parser.parse_args()
    arguments.ways = arguments.only.split(",")
    if unknown := set(arguments.ways) - set(WAYS):
        parser.error(f"--only: unknown way {', '.join(sorted(unknown))}; the ways are {', '.join(WAYS)}")
    return arguments


def with_pragma(text):
    """Returns the PTX of one kernel, with the pragma that lets ptxas spill registers to shared memory."""
    lines, in_head = [], False
    for line in text.split("\n"):
        in_head = in_head or ptx.ENTRY.match(line) is not None
        lines.append(line)
        if in_head and line.startswith("{"):
            lines.append(PRAGMA_LINE)
            in_head = False
    return "\n".join(lines)


def warps(figures, kernel, cpu):
    """Returns the warps of a kernel that an SM holds, limited by registers and by static and dynamic shared memory.
    Only whole blocks count."""
    cpu = cpu.rstrip("a")
    threads = figures["threads"] or kernel.launch.threads or DEFAULT_THREADS
    by_shared = occupancy.resident_blocks(figures["static"] + (kernel.launch.dynamic or 0), cpu)
    return min(occupancy.resident_warps(figures["registers"], cpu, threads), by_shared * -(-threads // launches.WARP))


def compiled(kernel, options, plan):
    """Compiles PTX with llc: stock without options, with the plugin otherwise."""
    compiler = Compiler(STOCK)
    if options and has_option("warn"):
        options += " warn=none"  # with `strict`, an exceeded limit would be an error
    if options:
        compiler = Compiler(options, tuple(f"-nvptx-ra-{option}" for option in options.split()))
    result, text = measure.compile_module(kernel.key, compiler, plan)
    return result["error"], text


def said_options(kernel):
    """Returns the known properties of a launch, as options of the plugin."""
    launch = kernel.launch
    said = [] if launch.dynamic is None else [f"dynamic-shared={launch.dynamic}"]
    if launch.threads is not None and has_option("threads"):
        said.append(f"threads={launch.threads}")
    return " ".join(said)


OPTIONS = set()


def has_option(name):
    """Whether this build of the tool has an option."""
    if not OPTIONS:
        outcome = tools.run([tools.nvptx_ra(), "explain", "--all"], 60)
        if outcome.error:
            sys.exit(outcome.error)
        OPTIONS.update(re.findall(r"^([\w-]+)=", outcome.output, re.MULTILINE))
    return name in OPTIONS


def tuned_text(kernel, path, plan, arguments):
    """Returns (error, PTX) of a search."""
    error, _, text = searched.searched(kernel, path, arguments.runs, plan, arguments.tool)
    return error, text


def cicc_text(kernel, plan):
    """Returns NVIDIA's name and PTX of a kernel, `None` if NVIDIA's PTX lacks it."""
    path = plan.cicc_text(kernel.module)
    if not path.exists():
        return None
    text = path.read_text(encoding="utf8", errors="replace")
    wanted = gather.kernel_key(kernel.module, kernel.name)
    names = [match.group(1) for line in text.split("\n") if (match := ptx.ENTRY.match(line))]
    name = next((name for name in names if gather.kernel_key(kernel.module, name) == wanted), None)
    return None if name is None else (name, ptx.only(text, name))


def best(stock, found):
    """Returns the figures of the variant that spills least, then has the fewest instructions, among variants with at
    least stock's warps. Returns stock's figures if there are none."""
    keeping = [figures for figures in found if figures["warps"] >= stock["warps"]]
    return min(keeping, key=lambda of: (of["local_bytes"], of["instructions"]), default=stock)


def figures_of(kernel, plan, arguments):
    """Returns {way: figures}, including stock's, and the failures, as (way, error)."""
    found, wrong, cpu = {}, [], plan.cpu_of(kernel.module)

    def judge(way, error, text, kernel=kernel, **more):
        figures = {"error": error} if error else traffic.measured(text, kernel.name, cpu, plan, **more)
        if figures["error"]:
            wrong.append((way, figures["error"]))
            return None
        return figures | {"warps": warps(figures, kernel, cpu)}

    error, stock_text = compiled(kernel, "", plan)
    stock = judge(STOCK, error, stock_text, wants_peak=True)
    if stock is None:
        return found, wrong
    found[STOCK] = stock
    for way in arguments.ways:
        if way == PRAGMA:
            text = with_pragma(stock_text)
            figures = traffic.measured(text, kernel.name, cpu, plan)
            taken = not figures["error"]
            if "more than" in figures["error"]:
                wrong.append((way, figures["error"]))
                continue
            found[way] = judge(way, "", text) if taken else stock
        elif way in (AUTO, SAID):
            said = said_options(kernel) if way == SAID else ""
            found[way] = judge(way, *compiled(kernel, f"regalloc=auto {said}".strip(), plan))
        elif way == BEST_SLACK:
            options = (f"regalloc=255 regalloc-slack={slack} {said_options(kernel)}".strip() for slack in SLACKS)
            judged = [judge(way, *compiled(kernel, each, plan)) for each in options]
            found[way] = best(stock, judged) if all(judged) else None
        elif way == TUNE:
            found[way] = judge(way, *tuned_text(kernel, kernel.path, plan, arguments))
        elif way == AHEAD:
            found[way] = judge(way, *tuned_text(kernel, kernel.unoptimised or kernel.path, plan, arguments))
        elif not kernel.is_triton and (theirs := cicc_text(kernel, plan)):
            found[way] = judge(way, "", theirs[1], kernel=replace(kernel, name=theirs[0]))
    return {way: figures for way, figures in found.items() if figures}, wrong


def wanted(plan, arguments):
    """Returns the kernels that spill, and the failures, as (module, kernel, way, error)."""
    spilling, wrong = [], []
    for module, path in plan.modules.items():
        compiled_, text = measure.compile_module(module, plan.compiler(STOCK), plan)
        judged = compiled_ if compiled_["error"] else measure.assemble_text(text, module, tuning.OWN, None, plan)
        if judged["error"]:
            wrong.append((module, "all kernels", STOCK, judged["error"]))
            continue
        names = list(judged["kernels"])
        spills = [name for name, of in judged["kernels"].items() if of["stores"] + of["loads"]]
        spilling += [(module, path, name, names) for name in spills]
        print(f"{module}: {len(spills)} of {len(names)} kernels spill", file=sys.stderr)
    if arguments.draw is not None:
        spilling = corpus.drawn(spilling, arguments.draw, arguments.seed)
    kernels = []
    for of in spilling:
        kernel, error = searched.alone(*of, plan, AHEAD in arguments.ways)
        if error:
            wrong.append((kernel.module, kernel.name, STOCK, error))
        else:
            kernels.append(kernel)
    return kernels, wrong


def percent(before, after):
    return f"{100 * (after - before) / before:+.1f} %" if before else ""


def without_largest(rows):
    """Returns the rows without the kernels with most spilled bytes in stock."""
    return sorted(rows, key=lambda row: row[0]["local_bytes"])[: max(0, len(rows) - LARGEST)]


def row_of(title, rows):
    """Returns a row of the table, in the order of HEADER, from pairs of figures: stock's and those of a way."""
    sums = lambda rows, what: [sum(side[what] for side in sides) for sides in zip(*rows, strict=True)] or [0, 0]  # noqa: E731
    rest = without_largest(rows)
    local, instructions, held = (sums(rows, what) for what in ("local_bytes", "instructions", "warps"))
    return [
        title,
        str(len(rows)),
        str(sum(way["static"] > stock["static"] for stock, way in rows)),
        f"{local[1]:,}",
        percent(*local),
        percent(*sums(rest, "local_bytes")),
        f"{sum(way['static'] - stock['static'] for stock, way in rows):,}",
        f"{sums(rows, 'local_words')[1]:,}",
        f"{sum(way['shared_words'] - stock['shared_words'] for stock, way in rows):+,}",
        f"{held[1]:,}",
        f"{instructions[1]:,}",
        percent(*instructions),
        percent(*sums(rest, "instructions")),
    ]


def groups_of(results, plan):
    """Yields (title, results) for each part of the table. A result is a pair (kernel, {way: figures})."""
    by_lineage = defaultdict(list)
    for result in results:
        kernel = result[0]
        source = corpus.source_of(kernel.module)
        kind = "Triton" if kernel.is_triton else "CUDA"
        by_lineage[kind, plan.sources.get(source, {}).get("lineage", source)].append(result)
    for kind in ("CUDA", "Triton"):
        of_kind = {name: rows for (of, name), rows in sorted(by_lineage.items()) if of == kind}
        yield from ((f"{kind}, {name}", rows) for name, rows in of_kind.items())
        if len(of_kind) > 1:
            yield f"{kind}, all", [row for rows in of_kind.values() for row in rows]
    for title, matrices in (("peak of matrix instructions", True), ("other peaks", False)):
        if rows := [row for row in results if row[1][STOCK]["is_of_matrices"] == matrices]:
            yield title, rows
    if results:
        yield "all", results


def is_worse(stock, figures):
    return (
        figures["local_bytes"] > stock["local_bytes"]
        or figures["instructions"] > (1 + MORE_INSTRUCTIONS) * stock["instructions"]
    )


def shown(results, ways, plan):
    """Returns the lines of the table, followed by the kernels that got worse."""
    ways = [way for way in ways if way != CICC]
    complete = [result for result in results if all(way in result[1] for way in ways)]
    rows = []
    for title, group in groups_of(complete, plan):
        rows += [row_of(f"{title}: {way}", [(of[STOCK], of[way]) for _, of in group]) for way in (STOCK, *ways)]
        if theirs := [of for _, of in group if CICC in of]:
            rows.append(row_of(f"{title}: those of cicc, stock", [(of[STOCK], of[STOCK]) for of in theirs]))
            rows.append(row_of(f"{title}: those of cicc, cicc", [(of[STOCK], of[CICC]) for of in theirs]))
    lines = list(report.table(rows, HEADER)) if rows else ["no kernel"]
    for way in ways:
        worse = [(kernel, of) for kernel, of in complete if is_worse(of[STOCK], of[way])]
        lines += ["", f"{way}: {len(worse)} kernels with more local bytes or more than 3 % more instructions"]
        for kernel, of in worse:
            pairs = ((of[STOCK][what], of[way][what]) for what in ("local_bytes", "instructions"))
            told = ", ".join(f"{before:,} → {after:,}" for before, after in pairs)
            lines.append(f"  {kernel.module} {kernel.name}: bytes and instructions {told}")
        fewer = [kernel for kernel, of in complete if of[way]["warps"] < of[STOCK]["warps"]]
        lines += [f"  fewer warps: {kernel.module} {kernel.name}" for kernel in fewer]
    return lines


def state_of(programs):
    """Returns a value that changes if a program is rebuilt."""
    return [(program, os.stat(program).st_mtime_ns) for program in programs]


def main():
    arguments = parse_arguments()
    arguments.jobs = max(1, arguments.jobs)
    plan = replace(tuning.plan_of(arguments), folder=str(tools.ROOT / "target/bench/kept"))
    programs = (
        plan.tools.llc,
        plan.tools.plugin,
        plan.tools.ptxas,
        *([arguments.tool] if {TUNE, AHEAD} & set(arguments.ways) else []),
    )
    before = state_of(programs)
    kernels, wrong = wanted(plan, arguments)
    plan = replace(plan, modules=plan.modules | {kernel.key: kernel.path for kernel in kernels})
    results, without_block = [], []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        answers = pool.map(lambda kernel: figures_of(kernel, plan, arguments), kernels)
        for number, (kernel, (found, failed)) in enumerate(zip(kernels, answers, strict=True), 1):
            print(f"{number} of {len(kernels)}: {kernel.module} {kernel.name}", file=sys.stderr)
            wrong += [(kernel.module, kernel.name, *of) for of in failed]
            if STOCK in found:
                fits = found[STOCK]["warps"] > 0
                (results if fits else without_block).append((kernel, found))
    if arguments.json:
        said = [{"module": kernel.module, "kernel": kernel.name, "figures": found} for kernel, found in results]
        arguments.json.write_text(json.dumps(said, indent=1), encoding="utf8")
    print("\n".join(f"{way}: {WAYS[way]}" for way in arguments.ways) + "\n")
    print("\n".join(shown(results, arguments.ways, plan)))
    known = sum(kernel.launch.dynamic is not None for kernel, _ in results)
    print(
        f"\n{len(results)} kernels; the launch of {known} is known; {len(without_block)} others are left out, because no "
        "block fits"
    )
    for module, name, way, error in wrong:
        print(f"failed: {module}: {name}: {way}: {error}")
    if state_of(programs) != before:
        wrong.append(before)
        print(f"failed: one of {', '.join(programs)} was rebuilt during the run: the figures come from several builds")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
