#!/usr/bin/env python3
"""Runs one operator on a GPU with the kernels of Triton's own ptxas and with those of nvptx-ra. operators.py starts
this program.

    operator_run.py NAME FOLDER --tool PROGRAM

First, the outputs are compared bit for bit, and the result is written to FOLDER/NAME.json. If a kernel differs, the
program waits for the file FOLDER/go. Then it times both sets of kernels alternately, one operator at a time, and
writes the result again with the times.
"""

import contextlib
import fcntl
import json
import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[2] / "python")]

import command_line
import operator_triton

VARIANTS = ("stock", "ours")


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("name")
    add("folder", type=Path)
    add("--configs", type=int, default=6, help="most configurations that an autotuner tries (default: %(default)s)")
    add("--rounds", type=int, default=15, help="timed runs of each set of kernels (default: %(default)s)")
    add("--warm-up", type=int, default=5)
    add("--only-local-memory", action="store_true", help="search only kernels that have local memory")
    add("--untimed", action="store_true", help="search as for kernels that are not timed")
    command_line.add_tool(parser)
    return parser.parse_args()


def same_bits(one, other):
    import torch

    one, other = (tensor.detach().reshape(-1).contiguous().view(torch.uint8) for tensor in (one, other))
    return torch.equal(one, other)


def apart(one, other):
    """Returns the largest difference of two tensors, relative to the largest magnitude."""
    one, other = one.detach().double(), other.detach().double()
    largest = one.abs().max().item()
    return (one - other).abs().max().item() / (largest or 1.0)


def compare(first, second, ours):
    """Returns two booleans for each output: whether two runs of the stock kernels give the same bits, and whether a
    run of our kernels gives these bits."""
    import torch

    found = []
    for one, again, other in zip(first, second, ours, strict=True):
        repeats, same = same_bits(one, again), same_bits(one, other)
        found.append(
            {
                "finite": bool(torch.isfinite(one).all()),
                "repeats": repeats,
                "same": same,
                "apart_stock": 0.0 if repeats else apart(one, again),
                "apart": 0.0 if same else apart(one, other),
            }
        )
    return found


def profiled(work):
    """Runs `work`. Returns (name, microseconds) of all kernels that run on the GPU meanwhile, in order. Empty without
    a profiler."""
    import torch
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    profiler = profile(activities=[ProfilerActivity.CUDA])
    try:
        profiler.start()
    except (AssertionError, RuntimeError) as error:
        print(f"no profiler: {error}", file=sys.stderr)
        profiler = None
    work()
    torch.cuda.synchronize()
    if profiler is None:
        return []
    profiler.stop()
    events = [event for event in profiler.events() if event.device_type == DeviceType.CUDA]
    events.sort(key=lambda event: event.time_range.start)
    return [(event.name, event.time_range.elapsed_us()) for event in events]


def assign(events, order, sequence, names):
    """Returns the microseconds of each kernel in each run: {variant: [[run, …] for each kernel]}.

    `order` has the variants of the runs, `sequence` the kernels' numbers in one run. Launches with the same name
    are distinguished by their order. If some launches of a kernel are missing, the kernel has `None` instead of the
    runs.
    """
    seen = defaultdict(list)
    for name, microseconds in events:
        seen[name].append(microseconds)
    launches = Counter(names[number] for number in sequence)
    complete = {name for name, count in launches.items() if len(seen[name]) == count * len(order)}
    result = {variant: [[] if name in complete else None for name in names] for variant in VARIANTS}
    following = {name: iter(seen[name]) for name in complete}
    for variant in order:
        sums = defaultdict(float)
        for number in sequence:
            if names[number] in complete:
                sums[number] += next(following[names[number]])
        for number, microseconds in sums.items():
            result[variant][number].append(microseconds)
    return result


def turns(rounds):
    """Returns the variants in the order of their runs. The variants take turns in running first."""
    return [variant for turn in range(rounds) for variant in (VARIANTS if turn % 2 == 0 else VARIANTS[::-1])]


def measure(call, launches, sets, sequence, names, arguments):
    """Returns (microseconds of each kernel, in the format of assign(), and milliseconds of the whole call, by
    variant)."""
    import torch

    def run(variant):
        launches.use(sets[variant])
        call()

    for variant in turns(arguments.warm_up):
        run(variant)
    torch.cuda.synchronize()
    order = turns(arguments.rounds)
    kernels = assign(profiled(lambda: [run(variant) for variant in order]), order, sequence, names)
    whole = {variant: [] for variant in VARIANTS}
    for variant in order:
        launches.use(sets[variant])
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        whole[variant].append(start.elapsed_time(end))
    return kernels, whole


class Report:
    """The results so far, in a file that is complete at any time."""

    def __init__(self, path, name):
        self.path, self.said, self.began = path, {"operator": name, "stage": "start"}, time.monotonic()

    def stage(self, text, **more):
        """Records the start of a stage, and writes the results of earlier stages."""
        seconds = round(time.monotonic() - self.began, 1)
        self.said |= more | {"stage": text}
        self.said.setdefault("seconds", {})[text] = seconds
        print(f"{seconds:6.1f} s  {text}", file=sys.stderr, flush=True)
        self.write()

    def write(self, **more):
        self.said |= more
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.said))
        part.rename(self.path)


def prepare(arguments, report):
    """Compiles with both programs and compares the outputs. Returns the arguments of measure(), `None` if no kernel
    differs."""
    report.stage("imports")
    import nvptx_ra.triton
    import operator_calls
    from nvptx_ra import _autotuned
    import torch

    launches = operator_triton.Launches()
    operator_triton.limit_tuning(arguments.configs)
    report.stage("inputs")
    call = operator_calls.make(arguments.name)
    report.stage("stock kernels")
    first = call()
    torch.cuda.synchronize()
    report.stage("stock kernels again")
    second, launched = launches.of(call)
    torch.cuda.synchronize()
    sets = {"stock": launches.kernels()}
    report.stage("our kernels")
    os.environ["NVPTX_RA_PROGRAM"] = os.path.realpath(arguments.tool)
    nvptx_ra.triton.enable()
    folder = arguments.folder / "ours" / arguments.name
    # Users who enable nvptx-ra get this behaviour: autotuned kernels are timed, and slower searched kernels are
    # dropped.
    context = contextlib.nullcontext if arguments.untimed else _autotuned.timed
    sets["ours"] = operator_triton.search(sets["stock"], launched, folder, arguments.only_local_memory, context)
    report.stage("our outputs")
    launches.use(sets["ours"])
    outputs = call()
    torch.cuda.synchronize()
    report.stage("comparison")
    sequence, kernels = operator_triton.pairs(launched, sets["stock"], sets["ours"])
    operator_triton.save_ptx(arguments.folder / "ptx", arguments.name, kernels)
    listed = operator_triton.described(kernels, sequence)
    changed = any(kernel["changed"] for kernel in listed)
    compared = compare(first, second, outputs)
    names = [kernel["name"] for kernel in listed]
    if changed:
        report.stage("profiler")
        profiled(call)
    del first, second, outputs
    torch.cuda.empty_cache()
    known = {"outputs": compared, "changed": changed, "device": torch.cuda.get_device_name()}
    report.stage("ready", kernels=listed, **known)
    return (call, launches, sets, sequence, names) if changed else None


def time_in_turn(prepared, arguments, report):
    while not (arguments.folder / "go").exists():
        time.sleep(0.05)
    with open(arguments.folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        report.stage("times")
        kernels, whole = measure(*prepared, arguments)
    for number, kernel in enumerate(report.said["kernels"]):
        kernel["microseconds"] = {variant: kernels[variant][number] for variant in VARIANTS}
    report.stage("timed", milliseconds=whole)


def main():
    arguments = parse_arguments()
    report = Report(arguments.folder / f"{arguments.name}.json", arguments.name)
    try:
        prepared = prepare(arguments, report)
        if prepared:
            time_in_turn(prepared, arguments, report)
    except BaseException as error:
        text = f"{type(error).__name__}: {error}".strip().splitlines()
        report.write(error=f"{report.said['stage']}: {text[0][:300]}")
        raise
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # PyTorch's shutdown takes seconds and is not needed
