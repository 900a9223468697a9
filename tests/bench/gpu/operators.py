#!/usr/bin/env python3
"""Runs Triton operators of fla-core and liger-kernel on a GPU, with Triton's own ptxas and with nvptx-ra in its place.

Needs PyTorch, Triton and both packages. Outputs are compared bit for bit, and each kernel that nvptx-ra changes is
timed alternately with the stock kernel. Each operator has its own process. Several processes compile at a time.
After all processes have compiled, the operators are timed one after another. At the deadline, the tables show the
results so far.
"""

import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import command_line
import intervals
import operator_calls
import report

SECONDS = 3  # estimated duration of timing one operator
MARGIN = 5  # seconds before the deadline


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("--operator", action="append", choices=list(operator_calls.MAKERS), help="only this operator (default: all)")
    add("--configs", type=int, default=6, help="most configurations that an autotuner tries (default: %(default)s)")
    add("--only-local-memory", action="store_true", help="search only kernels that have local memory")
    add("--untimed", action="store_true", help="search as for kernels that are not timed: no more instructions")
    add("--rounds", type=int, default=15, help="timed runs of each set of kernels (default: %(default)s)")
    add("--jobs", type=int, default=8, help="operators that compile at a time (default: %(default)s)")
    add("--timeout", type=int, default=150, help="seconds for compiling one operator (default: %(default)s)")
    add("--deadline", type=float, default=math.inf, help="seconds for all operators (default: no limit)")
    folder = HERE.parents[2] / "target/gpu-operators"
    add("--folder", type=Path, default=folder, help="folder of results and Triton's cache (default: %(default)s)")
    add("--json", type=Path)
    add("--ptx", type=Path, help="write a .tar.gz of the PTX of stock kernels with local memory, and of all messages")
    command_line.add_tool(parser)
    return parser.parse_args()


@dataclass
class Job:
    """The process of one operator."""

    name: str
    folder: Path
    process: object
    began: float
    killed: str = ""

    def said(self):
        """Returns the process's results so far."""
        path = self.folder / f"{self.name}.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def runs(self):
        return self.process.poll() is None

    def prepared(self):
        """Whether the process waits to be timed, or has ended, so that another process may compile."""
        return not self.runs() or "changed" in self.said()

    def kill(self, why):
        """Ends the process and all its child processes."""
        self.killed = why
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def result(self):
        """Returns the final results. An operator without a comparison has an error."""
        said = {"operator": self.name} | self.said()
        if "error" not in said and "milliseconds" not in said and said.get("changed", True):
            said["error"] = f"{said.get('stage', 'start')}: {self.killed or self.last_line()}"
        return said

    def last_line(self):
        lines = (self.folder / f"{self.name}.log").read_text(errors="replace").split("\n")
        return f"exit status {self.process.returncode}: {next((s for s in lines[::-1] if s.strip()), '')[:200]}"


def start(name, arguments):
    """Starts an operator. All operators share Triton's cache, because they have kernels in common."""
    folder = arguments.folder
    environment = os.environ | {
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "NVPTX_RA_LOG": str(folder / f"{name}.search.log"),
        "NVPTX_RA_REPORT": str(folder / f"{name}.report"),
        "OMP_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    options = [f"--{key}={getattr(arguments, key)}" for key in ("configs", "rounds", "tool")]
    options += ["--only-local-memory"] * arguments.only_local_memory + ["--untimed"] * arguments.untimed
    command = [sys.executable, str(HERE / "operator_run.py"), name, str(folder), *options]
    with open(folder / f"{name}.log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
    return Job(name, folder, process, time.monotonic())


def compile_all(names, jobs, arguments, latest):
    """Starts all operators, some at a time, and adds them to the jobs. `latest` is the deadline.

    Returns when each operator has compiled or failed. Returns earlier if the remaining time is needed to time the
    operators that have compiled.
    """
    waiting, told = list(names), set()
    while True:
        busy = [job for job in jobs if not job.prepared()]
        for job in busy:
            if time.monotonic() - job.began > arguments.timeout:
                job.kill(f"more than {arguments.timeout} s")
        for job in jobs:
            if job not in busy and job.name not in told:
                told.add(job.name)
                what = "compiled" if job.runs() else job.result().get("error", "compiled, nothing changed")
                say(f"{len(told)} of {len(names)}: {job.name}: {what}")
        if not waiting and not busy:
            return
        timed = sum(job not in busy and job.runs() for job in jobs)
        if time.monotonic() > latest - MARGIN - SECONDS * timed:
            say(f"{len(busy)} operators are not ready in time, {len(waiting)} were not started")
            for job in busy:
                job.kill("not ready in time")
            return
        while waiting and len(busy) < arguments.jobs:
            job = start(waiting.pop(0), arguments)
            jobs.append(job)
            busy.append(job)
        time.sleep(0.2)


def take_times(jobs, arguments, latest):
    """Lets the waiting operators measure their times."""
    waiting = [job for job in jobs if job.runs()]
    say(f"times of {len(waiting)} operators")
    (arguments.folder / "go").touch()
    while any(job.runs() for job in waiting) and time.monotonic() < latest:
        time.sleep(0.2)
    for job in waiting:
        if job.runs():
            job.kill("no time left")


STARTED = time.monotonic()


def say(text):
    print(f"{time.monotonic() - STARTED:6.1f} s  {text}", file=sys.stderr, flush=True)


def clean(folder):
    """Removes results of an earlier run. Triton's cache stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*folder.glob("*"), *folder.glob("ptx/*.ptx")]:
        if path.is_file():
            path.unlink()


def changed(result):
    return [kernel for kernel in result.get("kernels", []) if kernel["changed"]]


def ratio_of(times):
    """Returns the ratio of our times to stock's: the median over all rounds, with its interval. `None` without
    times."""
    if not times or not all(times.get(variant) for variant in ("stock", "ours")):
        return None
    return intervals.of_median([ours / stock for stock, ours in zip(times["stock"], times["ours"], strict=True)])


def both(kernel, figure):
    """Formats a figure of the stock kernel and of our kernel."""
    one, other = kernel["stock"][figure], kernel["ours"][figure]
    return f"{one:,}" if one == other else f"{one:,} → {other:,}"


def kernel_rows(results):
    """Yields a line for each changed kernel."""
    for result in results:
        for kernel in changed(result):
            times, ratio = kernel.get("microseconds"), ratio_of(kernel.get("microseconds"))
            figures = [both(kernel, figure) for figure in ("local", "registers", "shared")]
            row = [f"{result['operator']}: {kernel['name']}", *figures]
            if ratio is None:
                yield [*row, "", "", "", ""]
                continue
            middle, low, high = ratio
            measured = [f"{statistics.median(times[variant]):,.1f}" for variant in ("stock", "ours")]
            yield [*row, *measured, report.change(middle, 1.0), f"{low:.3f} … {high:.3f}"]


def verdict(outputs):
    """Describes how our outputs compare with stock's."""
    if all(output["same"] for output in outputs):
        text = "same bits"
    elif wrong := [output["apart"] for output in outputs if output["repeats"] and not output["same"]]:
        text = f"{len(wrong)} of {len(outputs)} differ by {max(wrong):.1e}"
    else:
        own, ours = (max(output[key] for output in outputs) for key in ("apart_stock", "apart"))
        text = f"stock differs from itself by {own:.1e}, ours by {ours:.1e}"
    return text if all(output["finite"] for output in outputs) else f"{text}, not finite"


def operator_rows(results):
    """Yields a line for each compared operator."""
    for result in results:
        if "outputs" not in result:
            continue
        kernels, times = result["kernels"], result.get("milliseconds")
        local = sum(kernel["stock"]["local"] > 0 for kernel in kernels)
        row = [result["operator"], len(kernels), local, len(changed(result))]
        ratio = ratio_of(times)
        measured = ["", "", ""]
        if ratio:
            measured = [f"{statistics.median(times[variant]):.3f}" for variant in ("stock", "ours")]
            measured.append(report.change(ratio[0], 1.0))
        yield [*row, *measured, verdict(result["outputs"])]


def summary(results):
    """Yields the geometric mean over the changed kernels with times, and the numbers of kernels that are significantly
    faster and slower."""
    everything = [kernel for result in results for kernel in changed(result)]
    for text, kernels in (
        ("changed kernels", everything),
        ("of these with local memory", [kernel for kernel in everything if kernel["stock"]["local"]]),
    ):
        ratios = [ratio for kernel in kernels if (ratio := ratio_of(kernel.get("microseconds")))]
        line = f"{text}: {len(kernels)}, timed {len(ratios)}"
        if ratios:
            mean, low, high = intervals.of_geometric_mean([ratio for ratio, _, _ in ratios])
            line += f", geometric mean of the times {mean:.4f} ({low:.4f} … {high:.4f})"
            line += f", faster {sum(high < 1 for _, _, high in ratios)}, slower {sum(low > 1 for _, low, _ in ratios)}"
        yield line


KERNELS = ["operator: kernel", "local bytes", "registers", "shared", "stock µs", "our µs", "", "interval"]
OPERATORS = ["operator", "kernels", "with local memory", "changed", "stock ms", "our ms", "", "outputs"]


def show(results):
    devices = {result["device"] for result in results if "device" in result}
    print(f"{', '.join(sorted(devices)) or 'no GPU'}\n")
    for rows, header in ((kernel_rows(results), KERNELS), (operator_rows(results), OPERATORS)):
        print("\n".join(report.table(list(rows), header)) + "\n")
    print("\n".join(summary(results)))
    for result in results:
        if "error" in result:
            print(f"{result['operator']}: {result['error']}")


def pack(path, folder):
    """Packs PTX, messages and logs of the searches into one archive."""
    with tarfile.open(path, "w:gz") as archive:
        for each in sorted([*folder.glob("ptx/*.ptx"), *folder.glob("*.log"), *folder.glob("*.report")]):
            archive.add(each, each.relative_to(folder))


def main():
    arguments = parse_arguments()
    arguments.folder = arguments.folder.resolve()
    if not os.access(arguments.tool, os.X_OK):
        print(f"{arguments.tool} is not a program; use --tool for the path of nvptx-ra", file=sys.stderr)
        return 1
    latest = STARTED + arguments.deadline
    clean(arguments.folder)
    names = arguments.operator or list(operator_calls.MAKERS)
    jobs = []
    try:
        compile_all(names, jobs, arguments, latest)
        take_times(jobs, arguments, latest)
    finally:
        for job in jobs:
            if job.runs():
                job.kill("ended")
    results = [job.result() for job in jobs]
    started = {job.name for job in jobs}
    results += [{"operator": name, "error": "not started in time"} for name in names if name not in started]
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))
    if arguments.ptx:
        pack(arguments.ptx, arguments.folder)
    show(results)
    wrong = any(output["repeats"] and not output["same"] for r in results for output in r.get("outputs", []))
    return 1 if wrong or any("error" in result for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
