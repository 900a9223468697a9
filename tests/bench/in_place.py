#!/usr/bin/env python3
"""Measures the effect of the ptxas wrapper on a build, on files of PTX, compared with ptxas itself.

    in_place.py [options] PRODUCER=GLOB …

Each file is assembled in three ways: by ptxas; by nvptx-ra with 0 runs, where the cubin and messages must equal
those of ptxas; and twice by nvptx-ra with its default number of runs, the second time from its cache. A producer is
a row of the table. Exits with 1 if a kernel has more spilled bytes, fewer warps or more machine instructions than
with ptxas, or if 0 runs change a byte.
"""

import glob
import math
import os
import re
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import command_line
import corpus
import occupancy
import ptxas
import report
import tools

TARGET = re.compile(r"^\.target\s+(\w+)", re.MULTILINE)
THREADS = re.compile(r"\.entry\s+([\w$.]+)[^{]*?\.(?:reqntid|maxntid)\s+([\d, ]+)", re.DOTALL)
NOTE = re.compile(r"// nvptx-ra: dynamic-shared (\d+)\s*$")
HEADER = ["", "files", "kernels", "better", "bytes spilled", "less", "spill less", "gain warps", "instructions"]
HEADER += ["first", "from the cache", "0 runs"]


@dataclass
class Assembled:
    """The result of a program for a file."""

    error: str
    seconds: float
    cubin: bytes = b""
    messages: str = ""
    kernels: dict = field(default_factory=dict)


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("files", nargs="+", metavar="PRODUCER=GLOB")
    add("--draw", type=int, metavar="N", help="draw N files of each producer (default: all)")
    add("--seed", type=int, default=1, help="seed of the draw (default: %(default)s)")
    add("--runs", default="", help="value of NVPTX_RA_RUNS (default: that of nvptx-ra)")
    add("--largest", type=int, default=4 << 20, metavar="BYTES", help="largest size of a file (default: %(default)s)")
    add("--timeout", type=int, default=3600, help="seconds for a file (default: %(default)s)")
    command_line.add_jobs(parser)
    command_line.add_tool(parser)
    return parser.parse_args()


def assembled(command, path, cpu, programs, timeout, **environment):
    """Runs ptxas or the ptxas wrapper with -v."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "out.cubin")
        variables = [f"{name}={value}" for name, value in environment.items()]
        call = ["env", *variables, *command, "-v", f"-arch={cpu}", path, "-o", cubin]
        outcome = tools.run(call, timeout)
        if outcome.error:
            return Assembled(outcome.error, outcome.seconds, messages=outcome.output)
        kernels = ptxas.parse_log(outcome.output)
        error = ptxas.count_sass(cubin, kernels, programs, timeout)
        return Assembled(error, outcome.seconds, Path(cubin).read_bytes(), outcome.output, kernels)


def without_times(messages):
    return re.sub(r"Compile time = [\d.]+ ms", "", messages)


def is_wanted(path, largest):
    """Whether a file is PTX with a target processor, and not too large."""
    text = Path(path).read_text(encoding="utf8", errors="replace") if os.path.getsize(path) <= largest else ""
    return bool(TARGET.search(text))


def compared(path, arguments, programs):
    """Compares a file. Returns (path, cpu, text, ptxas's result, the result with 0 runs, the first and the second
    result of the search)."""
    text = Path(path).read_text(encoding="utf8", errors="replace")
    cpu = TARGET.search(text).group(1)
    ours = [os.path.abspath(arguments.tool), "ptxas"]
    with tempfile.TemporaryDirectory() as cache:
        settings = {"NVPTX_RA_PTXAS": programs.ptxas, "NVPTX_RA_CACHE": os.path.join(cache, "c")}
        if arguments.runs:
            settings["NVPTX_RA_RUNS"] = arguments.runs
        run = lambda command, **more: assembled(command, path, cpu, programs, arguments.timeout, **settings | more)
        return path, cpu, text, run([programs.ptxas]), run(ours, NVPTX_RA_RUNS="0"), run(ours), run(ours)


def threads_of(text):
    """Returns the threads of a block by kernel, if the PTX declares them."""
    return {name: math.prod(map(int, sizes.split(","))) for name, sizes in THREADS.findall(text)}


def bytes_of(kernel):
    return kernel["stores"] + kernel["loads"]


def figures(kernel, cpu, threads, text):
    """Returns the three figures that may not get worse; less is better. Dynamic shared memory that the PTX notes also
    limits the warps."""
    warps = occupancy.resident_warps(kernel["registers"], cpu, threads)
    noted = NOTE.search(text)
    if noted and threads:
        blocks = occupancy.resident_blocks(kernel["shared"] + int(noted.group(1)), cpu.rstrip("af"))
        warps = min(warps, blocks * -(-threads // 32))
    return bytes_of(kernel), -warps, kernel["sass"]


def problems_of(result):
    """Returns the violations of a file, one line each."""
    path, cpu, text, stock, none, first, second = result
    if stock.error:
        same = stock.error == first.error.replace("nvptx-ra: ", "ptxas: ") or stock.messages == first.messages
        return [] if same else [f"{path}: ptxas reports {stock.error}, nvptx-ra {first.error or 'nothing'}"]
    problems = [f"{path}: {made.error}" for made in (none, first, second) if made.error]
    if (none.cubin, without_times(none.messages)) != (stock.cubin, without_times(stock.messages)):
        problems.append(f"{path}: with 0 runs, the output differs from ptxas's")
    if first.cubin != second.cubin:
        problems.append(f"{path}: the output from the cache differs from that of the search")
    threads = threads_of(text)
    for name, kernel in stock.kernels.items():
        before = figures(kernel, cpu, threads.get(name, 0), text)
        after = figures(first.kernels.get(name, kernel), cpu, threads.get(name, 0), text)
        if any(now > then for now, then in zip(after, before, strict=True)):
            problems.append(f"{path}: worse: {name}: {before} → {after}")
    return problems


def row_of(producer, results):
    pairs = []
    for _, cpu, text, stock, _, first, _ in results:
        threads = threads_of(text)
        for name, kernel in stock.kernels.items():
            if name in first.kernels:
                of = lambda kernel: figures(kernel, cpu, threads.get(name, 0), text)
                pairs.append((of(kernel), of(first.kernels[name])))
    total = lambda side, at: sum(pair[side][at] for pair in pairs)
    seconds = [sum(made.seconds for made in column) for column in zip(*(result[3:] for result in results), strict=True)]
    times = [f"{mine / seconds[0]:.2f}" for mine in (seconds[2], seconds[3], seconds[1])]
    spilled, spills = total(0, 0), total(1, 0)
    return [
        producer,
        str(len(results)),
        str(len(pairs)),
        str(sum(before != after for before, after in pairs)),
        f"{spilled:,} → {spills:,}",
        f"{100 * (spilled - spills) / spilled:.0f} %" if spilled else "",
        str(sum(after[0] < before[0] for before, after in pairs)),
        str(sum(after[1] < before[1] for before, after in pairs)),
        f"{total(0, 2):,} → {total(1, 2):,}",
        *times,
    ]


def main():
    arguments = parse_arguments()
    programs = tools.Tools(llc=None, plugin=None, ptxas=tools.find_cuda("ptxas"), cuobjdump=tools.find_cuda("cuobjdump"))
    files = defaultdict(list)
    for argument in arguments.files:
        producer, _, pattern = argument.partition("=")
        found = sorted(glob.glob(pattern, recursive=True))
        files[producer] += [path for path in found if is_wanted(path, arguments.largest)]
    rows, problems = [], []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for producer, paths in files.items():
            drawn = paths if arguments.draw is None else corpus.drawn(paths, arguments.draw, arguments.seed)
            results = []
            for result in pool.map(lambda path: compared(path, arguments, programs), drawn):
                print(result[0], *(f"{made.seconds:.2f}" for made in result[3:]), file=sys.stderr)
                problems += problems_of(result)
                results.append(result)
            rows.append(row_of(producer, results))
    print("\n".join(report.table(rows, HEADER)))
    print("\ntimes are multiples of the time of ptxas alone")
    print("\n".join(problems or ["no kernel got worse; with 0 runs, the output is ptxas's"]))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
