#!/usr/bin/env python3
"""Whether drawn kernels of the corpus compute the same with each of our passes as without: run on the CPU.

    meaning.py [options]

Kernels are drawn as llc, NVIDIA's compiler and Triton write them (programs.py). Each way of WAYS makes another PTX of a
kernel: llc with the plugin, of the whole module, or passes on the text. `nvptx-ra compare --exact` says whether both
compute the same; where a way takes LLVM's own passes, which may round sums otherwise, with its tolerance. --extremes
draws infinities, NaN, subnormal numbers and integers at limits, too.

Exits with 1 if a kernel differs; every difference is printed. What was said is cached, so that a run that was broken
off goes on.
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
THREADS = 128  # of a block, where the kernel does not say
KEPT = f"regalloc=16;regalloc-loops=on;regalloc-redefined=on;threads={THREADS}"
ORDERS = ("sethi-ullman", "bottom-up", "latency", "late", "eager", "loads-late", "loads-clustered")


@dataclass(frozen=True)
class Way:
    """Passes on the text, or options of llc with the plugin."""

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
    add("--count", type=int, default=240, help="of kernels (default: %(default)s)")
    add("--seed", type=int, default=1, help="of what is drawn (default: %(default)s)")
    add("--ways", default="", help="only those whose name has one of these words, with commas between them")
    add("--launches", type=int, default=3, help="of each kernel (default: %(default)s)")
    add("--steps", type=int, default=100_000, help="instructions of warps in a launch (default: %(default)s)")
    add("--extremes", action="store_true", help="draw extreme values, too; only ways that keep all bits")
    add("--keep", type=Path, metavar="FOLDER", help="where both texts of a kernel that differs go")
    add("--json", type=Path, metavar="FILE", help="what was said of each kernel and way")
    command_line.add_plugin(parser)
    command_line.add_tool(parser)
    command_line.add_jobs(parser)
    return parser.parse_args()


def ways_of(arguments):
    words = [word for word in arguments.ways.split(",") if word]
    wanted = [way for way in WAYS if not words or any(word in way.name for word in words)]
    return [way for way in wanted if way.is_exact or not arguments.extremes]


def text_of(way, program, arguments, folder):
    """What a way makes of a kernel, or why it makes nothing."""
    if way.flags is not None:
        if program.compiler != programs.LLC:
            return None, "of another compiler"
        plugin = tools.find(arguments.plugin, with_ptxas=False).plugin
        text = programs.compiled(program.module, (f"-load-pass-plugin={plugin}", *way.flags))
        return (ptx.only(text, program.kernel), "") if text else (None, "llc failed")
    path = Path(folder, "out.ptx")
    outcome = tools.run([arguments.tool, "ptx", program.path, "--passes", way.passes, "-o", str(path)], TIMEOUT)
    return (None, outcome.error) if outcome.error else (path.read_text(encoding="utf8"), "")


def compare(way, program, text, arguments, folder):
    """What `nvptx-ra compare` says of a kernel and what a way made of it."""
    path = Path(folder, "second.ptx")
    path.write_text(text, encoding="utf8")
    command = [arguments.tool, "compare", program.path, str(path), "--kernel", program.kernel, "--json"]
    command += ["--launches", str(arguments.launches), "--steps", str(arguments.steps)]
    if way.is_exact:
        command.append("--exact")
    if arguments.extremes:
        command.append("--extremes")
    # Slots have room for so many threads.
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
    # Of a kernel that differs, launches of which nothing can be said may stand before the one that does.
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
    """Copies both texts, to look for the cause."""
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
