#!/usr/bin/env python3
"""Runs real kernels as PTX and as the machine code of several releases of ptxas, with `nvptx-ra compare`.

    machine_runs.py [options] FILE.ptx ...

The table has a row for each release, optimisation level and producer. It counts the kernels that are equal,
different or not comparable. It also counts the kernels with a launch that ended in both forms, and among these the
kernels in which nine tenths of the machine-code blocks ran. With --no-fmad, no operations are fused, and all bits
of results must agree.
"""

import json
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import command_line
import report
import tools
from experiments import RELEASES, VERDICTS, reason_of

TIMEOUT = 600
REACHED = 0.9  # share of the blocks


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("files", nargs="+", type=Path, metavar="FILE.ptx")
    add("--releases", default="13.0", help="releases of ptxas (default: %(default)s)")
    add("--levels", default="3", help="optimisation levels of ptxas (default: %(default)s)")
    add("--processor", default="", help="processor that replaces the target of a file, as sm_80")
    add("--no-fmad", action="store_true", help="ptxas fuses no operations, and all bits of results must agree")
    add("--steps", default="100000", help="most steps of a launch (default: %(default)s)")
    add("--steps-in-all", default="1000000", help="most steps of a kernel (default: %(default)s)")
    add("--json", type=Path, metavar="FILE", help="write every verdict")
    command_line.add_tool(parser)
    command_line.add_jobs(parser)
    return parser.parse_args()


@dataclass
class Run:
    """A file, assembled by one release, and the verdicts on its kernels."""

    file: Path
    release: str
    level: str
    error: str = ""
    seconds: float = 0
    kernels: list = field(default_factory=list)

    def producer(self):
        return "Triton" if re.match(r"(fla|liger|gems)", self.file.name) else "CUDA"


def verdict_of(kernel):
    verdicts = [launch["verdict"] for launch in kernel["launches"]]
    if "different" in verdicts:
        return "different"
    return "same" if "same" in verdicts else "not comparable"


def work(run, folder, arguments):
    text = run.file.read_text(encoding="utf8", errors="replace")
    target = arguments.processor or re.search(r"^\.target\s+(\w+)", text, re.MULTILINE)[1]
    name = folder / f"{run.file.stem}-{run.release}-{run.level}"
    name.with_suffix(".ptx").write_text(re.sub(r"^\.target\s+\w+", f".target {target}", text, flags=re.MULTILINE))
    cubin = name.with_suffix(".cubin")
    options = [f"-arch={target}", f"-O{run.level}", *(["-fmad=false"] if arguments.no_fmad else [])]
    ptxas = Path(tools.ROOT, RELEASES[run.release], "ptxas")
    outcome = tools.run([str(ptxas), *options, "-o", str(cubin), str(name.with_suffix(".ptx"))], TIMEOUT)
    if outcome.error:
        run.error = f"ptxas: {outcome.error}"
        return run
    command = [arguments.tool, "compare", run.file, cubin, "--json", "--steps", arguments.steps]
    command += ["--steps-in-all", arguments.steps_in_all, *(["--exact"] if arguments.no_fmad else [])]
    begun = time.monotonic()
    outcome = tools.run([*map(str, command)], TIMEOUT)
    run.seconds = time.monotonic() - begun
    cubin.unlink()
    try:
        run.kernels = json.loads(outcome.output[outcome.output.index("[\n") :])
    except ValueError:
        run.error = outcome.error or outcome.output[:200]
    return run


def reaches(kernel):
    ran, blocks = kernel["programs"][1]["blocks"]
    return blocks > 0 and ran >= REACHED * blocks


def show(runs):
    groups = defaultdict(Counter)
    for run in runs:
        group = groups[f"{run.release} -O{run.level} {run.producer()}"]
        group["errors"] += bool(run.error)
        for kernel in run.kernels:
            group[verdict_of(kernel)] += 1
            machine = kernel["programs"][1].get("machine") or {}
            group["counted"] += machine.get("issued", 0) > 0
            group["reached"] += reaches(kernel) and machine.get("issued", 0) > 0
            group["ptx"] += kernel["programs"][0]["steps"]
            group["machine"] += kernel["programs"][1]["steps"]
    columns = [*VERDICTS, "counted", "reached", "errors"]
    rows = [[name, *(report.number(group[column]) for column in columns)] for name, group in sorted(groups.items())]
    heads = ["kernels", *VERDICTS, "counted", "reach 90 % of blocks", "files refused"]
    print("\n".join(report.table(rows, heads)))
    reasons = defaultdict(list)
    for run in runs:
        if run.error:
            reasons[run.error[:160]].append(str(run.file.name))
        for kernel in run.kernels:
            for hazard in kernel["programs"][1]["hazards"]:
                print(f"hazard: {run.file.name} {kernel['kernel']} {run.release} -O{run.level}: {hazard}")
            if verdict_of(kernel) == "different":
                print(f"different: {run.file.name} {kernel['kernel']} {run.release} -O{run.level}: {reason_of(kernel)}")
            elif verdict_of(kernel) != "same":
                words = re.sub(r"0x[0-9a-f]+|\d+", "N", reason_of(kernel) or "")
                reasons[re.sub(r"\((line|instruction) .*", "", words)[:140]].append(f"{run.file.name}:{kernel['kernel']}")
    for reason, places in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(places):6} {reason}\n         {places[0]}")


def main():
    arguments = parse_arguments()
    runs = [
        Run(file, release, level)
        for file in arguments.files
        for release in arguments.releases.split(",")
        for level in arguments.levels.split(",")
    ]
    with tempfile.TemporaryDirectory(prefix="machine-runs-") as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        runs = list(pool.map(lambda run: work(run, Path(folder), arguments), runs))
    show(runs)
    if arguments.json:
        found = [[str(run.file), run.release, run.level, run.error, run.seconds, run.kernels] for run in runs]
        arguments.json.write_text(json.dumps(found), encoding="utf8")
    return any(verdict_of(kernel) == "different" for run in runs for kernel in run.kernels)


if __name__ == "__main__":
    sys.exit(main())
