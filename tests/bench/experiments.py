#!/usr/bin/env python3
"""Runs experiments: small kernels of PTX, assembled by several releases of ptxas, and executed as PTX and as machine
code.

    experiments.py [options] [ROW-GLOB ...]

Each row is a file of kernels (src/fuzzing/experiments). `nvptx-ra compare` runs the PTX and the machine code on the
same launches, with infinities, NaN and the limits of integers. All bits must agree. If PTX defines the results of a
row only within bounds, a tolerance applies. Each row is first compared with itself as PTX.

The table counts the kernels that are equal, different, or not comparable, by release and processor. --reached lists
the mnemonics in the machine code with the rows that reach them. With --corpus, a folder of nvdisasm's listings, it
also lists the mnemonics that no row reaches.
"""

import fnmatch
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import command_line
import report
import tools

TIMEOUT = 300
# Folders where scripts/setup.sh installs ptxas, by release.
RELEASES = {
    "13.0": "target/cuda/bin",
    "13.5": "target/doors/cuda-13.5/nvidia/cu13/bin",
    "12.8": "target/doors/triton-3.5.1/triton/backends/nvidia/bin",
}
VERDICTS = ("same", "different", "not comparable")
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", re.MULTILINE)


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("rows", nargs="*", metavar="ROW-GLOB", help="rows to run (default: all)")
    add("--seed", type=int, default=1, help="seed of the constants of all kernels (default: %(default)s)")
    add("--releases", default="13.0,13.5,12.8", help="releases of ptxas (default: %(default)s)")
    add("--processors", default="80,89,90", help="default: %(default)s")
    add("--levels", default="1,3", help="optimisation levels of ptxas (default: %(default)s)")
    add("--options", default="", help="additional options of compare, as one word")
    add("--launches", type=int, default=2, help="launches of each kernel (default: %(default)s)")
    add("--generator", default="target/debug/examples/experiments", help="writes the files (default: %(default)s)")
    add("--folder", type=Path, help="keep the files in this folder")
    add("--corpus", type=Path, metavar="FOLDER", help="listings of other machine code")
    add("--reached", action="store_true", help="list the mnemonics that are reached, with their rows")
    add("--only-code", action="store_true", help="assemble and list; run nothing")
    add("--json", type=Path, metavar="FILE", help="write every verdict")
    command_line.add_tool(parser)
    command_line.add_jobs(parser)
    return parser.parse_args()


@dataclass
class Case:
    """A row, assembled by one release for one processor. Without a release, the case is the PTX itself."""

    row: dict
    release: str
    processor: int
    level: int
    error: str = ""
    verdicts: list = field(default_factory=list)  # kernel, verdict, reason
    mnemonics: set = field(default_factory=set)

    def name(self):
        return f"{self.row['name']}.{self.release}.sm_{self.processor}.O{self.level}"


def reason_of(kernel):
    """Returns the reason for the first launch with another verdict than equal."""
    for launch in kernel["launches"]:
        if launch["verdict"] == "different":
            return launch.get("difference") or launch.get("reason") or json.dumps(launch.get("stores"))
        if launch["verdict"] != "same":
            return launch["reason"]
    return ""


def compared(case, second, folder, arguments):
    first = folder / f"{case.row['name']}.ptx"
    exact = ["--exact", "--extremes"] if case.row["exact"] else []
    command = [arguments.tool, "compare", first, second, *exact, "--more", "0", "--launches", str(arguments.launches)]
    # The tool reads machine code in the format of the release's own disassembler.
    ahead = [] if case.release == "PTX" else ["env", f"CUDA_PATH={Path(tools.ROOT, RELEASES[case.release]).parent}"]
    outcome = tools.run([*ahead, *map(str, command), "--json", *arguments.options.split()], TIMEOUT)
    try:
        kernels = json.loads(outcome.output[outcome.output.index("[\n") :])
    except ValueError:
        case.error = outcome.error or outcome.output[:300]
        return
    for kernel in kernels:
        verdicts = [launch["verdict"] for launch in kernel["launches"]]
        worst = next((word for word in ("different", "not comparable") if word in verdicts), "same")
        case.verdicts.append((kernel["kernel"], worst, reason_of(kernel)))


def work(case, folder, arguments):
    source = folder / f"{case.row['name']}.ptx"
    if case.release == "PTX":
        compared(case, source, folder, arguments)
        return case
    programs = Path(tools.ROOT, RELEASES[case.release])
    cubin = folder / f"{case.name()}.cubin"
    command = [programs / "ptxas", f"-arch=sm_{case.processor}{'a' if case.row['specific'] else ''}", f"-O{case.level}", "-fmad=false", "-o", cubin, source]
    outcome = tools.run([str(word) for word in command], TIMEOUT)
    if outcome.error:
        case.error = outcome.error
        return case
    listed = tools.run([str(programs / "nvdisasm"), "-c", str(cubin)], TIMEOUT)
    case.mnemonics = set(INSTRUCTION.findall(listed.output))
    if not arguments.only_code:
        compared(case, cubin, folder, arguments)
    return case


def cases_of(rows, arguments):
    for row in rows:
        if arguments.rows and not any(fnmatch.fnmatch(row["name"], glob) for glob in arguments.rows):
            continue
        if not arguments.only_code:
            yield Case(row, "PTX", row["processor"], 0)
        for release in arguments.releases.split(","):
            for processor in map(int, arguments.processors.split(",")):
                if processor == row["processor"] or processor > row["processor"] and not row["specific"]:
                    yield from (Case(row, release, processor, int(level)) for level in arguments.levels.split(","))


def show_table(cases):
    groups = defaultdict(Counter)
    for case in cases:
        group = groups[case.release if case.release == "PTX" else f"{case.release} sm_{case.processor} -O{case.level}"]
        group.update(verdict for _, verdict, _ in case.verdicts)
        group["errors"] += bool(case.error)
    rows = [[name, *(report.number(group[verdict]) for verdict in (*VERDICTS, "errors"))] for name, group in groups.items()]
    print("\n".join(report.table(rows, ["kernels", *VERDICTS, "files refused"])))


def show_reasons(cases):
    found = defaultdict(list)
    for case in cases:
        if case.error:
            found[case.error].append(case.name())
        for kernel, verdict, reason in case.verdicts:
            if verdict != "same":
                words = re.sub(r"\d+|0x[0-9a-f]+", "N", reason or "")
                found[f"{verdict}: {words[:160]}"].append(f"{case.name()}:{kernel}")
    for reason, places in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(places):6} {reason}\n         {places[0]}")


def show_reached(cases, arguments):
    reached = defaultdict(set)
    for case in cases:
        for mnemonic in case.mnemonics:
            reached[mnemonic].add(case.row["name"])
    print(f"{len(reached)} mnemonics are reached, {sum(len(rows) > 1 for rows in reached.values())} by more than one row")
    if arguments.reached:
        for mnemonic, rows in sorted(reached.items()):
            print(f"  {mnemonic} {len(rows)}: {' '.join(sorted(rows)[:6])}")
    if arguments.corpus:
        others = Counter()
        for listing in sorted(arguments.corpus.glob("*.txt")):
            others.update(INSTRUCTION.findall(listing.read_text(encoding="utf8", errors="replace")))
        missing = [(mnemonic, count) for mnemonic, count in others.most_common() if mnemonic not in reached]
        total, left = sum(others.values()), sum(count for _, count in missing)
        print(f"{len(missing)} of {len(others)} mnemonics of {arguments.corpus} are reached by no row: {left:,} of {total:,} instructions")
        print("  " + "\n  ".join(f"{count:7} {mnemonic}" for mnemonic, count in missing))


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="experiments-") as temporary:
        folder = arguments.folder or Path(temporary)
        written = tools.run([arguments.generator, str(folder), str(arguments.seed)], TIMEOUT)
        if written.error:
            sys.exit(f"{written.error}: run cargo build --example experiments --features fuzzing,tool")
        rows = json.loads(written.output)
        with ThreadPoolExecutor(arguments.jobs) as pool:
            cases = list(pool.map(lambda case: work(case, folder, arguments), cases_of(rows, arguments)))
    if not arguments.only_code:
        show_table(cases)
    show_reasons(cases)
    show_reached(cases, arguments)
    if arguments.json:
        found = [
            {"row": case.row["name"], "release": case.release, "processor": case.processor, "level": case.level,
             "error": case.error, "verdicts": case.verdicts, "mnemonics": sorted(case.mnemonics)}
            for case in cases
        ]
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf8")
    return any(verdict == "different" for case in cases for _, verdict, _ in case.verdicts)


if __name__ == "__main__":
    sys.exit(main())
