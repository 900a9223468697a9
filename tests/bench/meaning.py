#!/usr/bin/env python3
"""Checks on the CPU that a sample of corpus kernels computes the same results with and without each pass of this
project.

    meaning.py [options]

The kernels are drawn from the output of llc, NVIDIA's compiler and Triton (programs.py). Each way of WAYS makes a
second PTX module of a kernel: llc with the plugin on the whole module, or passes on the PTX. `nvptx-ra compare
--exact` compares the results of both. LLVM's own passes may round sums differently, so a way that enables them is
compared with a tolerance. --extremes also draws infinities, NaN, subnormal numbers and integers at their limits.

Exits with 1 if a kernel differs; every difference is printed. Verdicts are cached, so an interrupted run resumes.
"""

import json
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import cache
import command_line
import programs
import ptx
import report
import tools

TIMEOUT = 300
THREADS = 128  # of a block, if the kernel does not declare them
KEPT = f"regalloc=16;regalloc-loops=on;regalloc-redefined=on;threads={THREADS}"
ORDERS = ("sethi-ullman", "bottom-up", "latency", "late", "eager", "loads-late", "loads-clustered")


@dataclass(frozen=True)
class Way:
    """Passes on PTX, or options of llc with the plugin."""

    name: str
    passes: str = ""
    flags: tuple[str, ...] | None = None
    is_exact: bool = True


WAYS = [
    Way("llc: the plugin's default", flags=()),
    Way("llc: nvptx-cssa", flags=("-nvptx-ra-cssa",)),
    Way("llc: add-passes=all", flags=("-nvptx-ra-add-passes=all",), is_exact=False),
    Way("llc: skip-passes=all", flags=("-nvptx-ra-skip-passes=all",), is_exact=False),
    Way("nvptx-copy-coalescer", "nvptx-copy-coalescer"),
    Way("nvptx-rename", "nvptx-rename"),
    Way("nvptx-remat: high", "nvptx-remat<remat=high>"),
    *(Way(f"nvptx-schedule: {order}", f"nvptx-schedule<order={order}>") for order in ORDERS),
    Way("nvptx-regalloc: shared", f"nvptx-regalloc<{KEPT};spill-to=shared>"),
    Way("nvptx-regalloc: local", f"nvptx-regalloc<{KEPT};spill-to=local>"),
    Way(
        "nvptx-regalloc: all places, hoisted, wide",
        f"nvptx-regalloc<{KEPT};spill-to=all;regalloc-hoist;regalloc-wide=16>",
    ),
    Way(
        "remat, schedule, regalloc, rename",
        f"nvptx-remat<remat=high>,nvptx-schedule<order=late>,nvptx-regalloc<{KEPT};spill-to=all>,nvptx-rename",
    ),
]


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("--count", type=int, default=240, help="number of kernels (default: %(default)s)")
    add("--seed", type=int, default=1, help="seed of the draw (default: %(default)s)")
    add("--ways", default="", help="only ways whose name contains one of these words, separated by commas")
    add("--launches", type=int, default=3, help="launches of each kernel (default: %(default)s)")
    add("--steps", type=int, default=100_000, help="most warp instructions of a launch (default: %(default)s)")
    add("--extremes", action="store_true", help="also draw extreme values, and leave out ways that may change bits")
    add("--keep", type=Path, metavar="FOLDER", help="folder for both PTX files of each kernel that differs")
    add("--json", type=Path, metavar="FILE", help="write the verdict on each kernel and way")
    command_line.add_plugin(parser)
    command_line.add_tool(parser)
    command_line.add_jobs(parser)
    return parser.parse_args()


def ways_of(arguments):
    words = [word for word in arguments.ways.split(",") if word]
    wanted = [way for way in WAYS if not words or any(word in way.name for word in words)]
    return [way for way in wanted if way.is_exact or not arguments.extremes]


def text_of(way, program, arguments, folder):
    """Returns the PTX of a kernel in a way, or `None` and the reason."""
    if way.flags is not None:
        if program.compiler != programs.LLC:
            return None, "not compiled by llc"
        plugin = tools.find(arguments.plugin, with_ptxas=False).plugin
        text = programs.compiled(program.module, (f"-load-pass-plugin={plugin}", *way.flags))
        return (ptx.only(text, program.kernel), "") if text else (None, "llc failed")
    path = Path(folder, "out.ptx")
    outcome = tools.run([arguments.tool, "ptx", program.path, "--passes", way.passes, "-o", str(path)], TIMEOUT)
    return (None, outcome.error) if outcome.error else (path.read_text(encoding="utf8"), "")


def compare(way, program, text, arguments, folder):
    """Returns the verdict of `nvptx-ra compare` on a kernel and its variant."""
    path = Path(folder, "second.ptx")
    path.write_text(text, encoding="utf8")
    command = [arguments.tool, "compare", program.path, str(path), "--kernel", program.kernel, "--json"]
    command += ["--launches", str(arguments.launches), "--steps", str(arguments.steps)]
    if way.is_exact:
        command.append("--exact")
    if arguments.extremes:
        command.append("--extremes")
    # The slots are allocated for this many threads.
    if "regalloc" in way.name and ".reqntid" not in Path(program.path).read_text(encoding="utf8"):
        command += ["--block", str(THREADS)]
    store = cache.Cache(cache.folder())
    numbers = [text, *command[4:]]
    key = cache.key_of("meaning", cache.file_hash(arguments.tool), cache.file_hash(program.path), numbers)
    if said := store.get(key):
        return said
    outcome = tools.run(command, TIMEOUT)
    try:
        found = json.loads(outcome.output)[0]
    except (ValueError, IndexError):
        return {"verdict": "failed", "reason": outcome.error or outcome.output[:300]}
    # If a kernel differs, launches that are not comparable may come before the launch that differs.
    reasons = [launch["reason"] for launch in found["launches"] if launch["reason"]]
    telling = [launch["reason"] for launch in found["launches"] if launch["verdict"] == found["verdict"]]
    said = {"verdict": found["verdict"], "reason": next((reason for reason in telling + reasons if reason), "")}
    store.put(key, said)
    return said


def work(item):
    program, ways, arguments = item
    found = []
    first = Path(program.path).read_text(encoding="utf8")
    with tempfile.TemporaryDirectory(prefix="meaning-") as folder:
        for way in ways:
            text, error = text_of(way, program, arguments, folder)
            if text is None:
                said = {"verdict": "failed" if error.startswith("nvptx") else "left out", "reason": error}
            elif text == first:
                said = {"verdict": "unchanged", "reason": ""}
            else:
                said = compare(way, program, text, arguments, folder)
            if said["verdict"] == "different" and arguments.keep:
                keep(program, way, text, arguments.keep)
            found.append({"kernel": program.name, "lineage": program.lineage, "way": way.name, **said})
    return found


def keep(program, way, text, folder):
    """Copies both PTX files, for debugging."""
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(program.path).stem
    shutil.copy(program.path, folder / f"{name}.ptx")
    (folder / f"{name}.{WAYS.index(way)}.ptx").write_text(text, encoding="utf8")


def main():
    arguments = parse_arguments()
    ways = ways_of(arguments)
    with tempfile.TemporaryDirectory(prefix="meaning-") as folder:
        drawn = programs.drawn(arguments.count, arguments.seed, folder)
        with ThreadPoolExecutor(arguments.jobs) as pool:
            items = [(program, ways, arguments) for program in drawn]
            found = [said for of_kernel in pool.map(work, items) for said in of_kernel]
    verdicts = ("unchanged", "same", "different", "not comparable", "failed")
    counts = defaultdict(Counter)
    for said in found:
        counts[said["way"]][said["verdict"]] += 1
    rows = [[way.name, *(counts[way.name][verdict] for verdict in verdicts)] for way in ways]
    print(f"{len(drawn)} kernels")
    print("\n".join(report.table(rows, ["", *verdicts])))
    open_ = Counter(said["reason"].split(" (line")[0] for said in found if said["verdict"] == "not comparable")
    for reason, count in open_.most_common(12):
        print(f"{count} times: {reason}")
    for said in found:
        if said["verdict"] in ("different", "failed"):
            print(f"{said['kernel']}: {said['way']}: {said['verdict']}: {said['reason']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf8")
    return int(any(said["verdict"] in ("different", "failed") for said in found))


if __name__ == "__main__":
    sys.exit(main())
