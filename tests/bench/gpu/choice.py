"""Selects the corpus kernels of a bundle, and their launches.

A kernel is taken if three conditions hold. First, it spills, or its registers keep an SM from holding all warps.
Second, the emulator can record a launch that touches only the buffers of its parameters. Third, every variant
computes the same in that launch, bit for bit, in the emulator. Modules are drawn in random order, and no module
contributes more than two kernels.
"""

import random
import re
import sys
import tempfile
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import cache
import corpus
import emulated
import inputs
import launches
import manifest
import measure
import occupancy
import searched
import sources
from plan import OWN, STOCK, Compiler
from variants import BUNDLED

OF_A_MODULE = 2
LARGEST_MODULE = 400_000  # bytes: larger modules take minutes to tune
LARGEST_TEXT = 120_000  # bytes of a kernel's PTX, because a bundle has a dozen variants of it
GRIDS = (132, 33, 4)  # the first has a block for every SM of an H100
SEEDS = (1, 2, 3)
STEPS = 150_000  # most warp instructions of a launch, so that a check takes seconds
THREADS = 256  # of a block, if unknown
DYNAMIC_SHARED = 48 << 10  # bytes that the emulator gives every launch


@dataclass(frozen=True)
class Chosen:
    """A kernel for the bundle, or the reason why it is rejected."""

    name: str
    reason: str = ""
    launch: manifest.Kernel | None = None
    texts: dict | None = None  # PTX by variant
    figures: dict | None = None  # ptxas's figures, by variant


def wanting(module, plan):
    """Returns the kernels of a module that spill or are below full occupancy, and the names of all its kernels."""
    compiled, text = measure.compile_module(module, Compiler(STOCK), plan)
    judged = compiled if compiled["error"] else measure.assemble_text(text, module, OWN, None, plan)
    if judged["error"]:
        return [], []
    cpu = plan.cpu_of(module).rstrip("a")
    full = occupancy.most_warps(cpu)

    def lacks(of):
        return of["stores"] + of["loads"] > 0 or occupancy.resident_warps(of["registers"], cpu) < full

    return [name for name, of in sorted(judged["kernels"].items()) if lacks(of)], list(judged["kernels"])


def dynamic_shared(kernel, text):
    if not re.search(r"^\.extern \.shared", text, re.MULTILINE):
        return 0
    return DYNAMIC_SHARED if kernel.launch.dynamic is None else kernel.launch.dynamic


def cached(work, *depends_on):
    """Returns the result of `work` from the cache, or computes and caches it. The given values are all inputs of the
    result."""
    key, store = cache.key_of("choice", *depends_on), cache.Cache(cache.folder())
    if (said := store.get(key)) is None:
        said = work()
        store.put(key, said)
    return said


def launch_of(kernel, text, folder, tool):
    """Returns a kernel's launch that runs most of its code, or `None` and the reason."""

    def work():
        launch, reason = drawn_launch(kernel, text, folder, tool)
        return [manifest.dump([launch] if launch else []), reason]

    limits = [GRIDS, SEEDS, STEPS, THREADS, DYNAMIC_SHARED]
    of = [kernel.module, kernel.number, kernel.name, kernel.launch.threads, kernel.launch.dynamic]
    listed, reason = cached(work, cache.file_hash(tool), text, limits, of)
    return next(iter(manifest.load(listed)), None), reason


def drawn_launch(kernel, text, folder, tool):
    path, program = Path(folder, "stock.ptx"), f"{kernel.module}-{kernel.number}"
    path.write_text(text, encoding="utf8")
    is_bound = re.search(r"^\s*\.(reqntid|maxntid)", text, re.MULTILINE)
    block = () if is_bound else (kernel.launch.threads or THREADS, 1, 1)
    shared, reason = dynamic_shared(kernel, text), ""
    for grid in GRIDS:
        found = []
        for seed in SEEDS:
            launch = manifest.Kernel(kernel.name, program, (grid, 1, 1), block, (), seed, shared, kernel.kind)
            record = Path(folder, "record")
            if error := emulated.record(tool, path, launch, record, STEPS):
                reason = error.partition("no record: ")[2].partition(";")[0] or error
            else:
                found.append((inputs.work_of(record), -seed, replace(launch, block=inputs.of_record(record).block)))
        if found:
            return max(found, key=lambda each: each[:2])[2], ""
    return None, reason


def chosen(kernel, plan, arguments, enough):
    """Compiles a kernel in all ways and checks that the variants compute the same. Ends early if enough kernels are
    taken."""
    tool = arguments.emulator
    source = sources.OfCorpus(kernel, replace(plan, modules={kernel.key: kernel.path}))
    texts, figures = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            stock = sources.with_rounding(source.plain("clang"))
            if len(stock) > LARGEST_TEXT:
                return Chosen(kernel.key, "its PTX is too long")
            launch, reason = launch_of(kernel, stock, folder, tool)
            if reason:
                return Chosen(kernel.key, reason)
            for variant in sorted(
                BUNDLED, key=lambda variant: variant.compiler == "tune"
            ):  # the slowest variant is last
                if enough.is_set():
                    return Chosen(kernel.key, "enough kernels are taken")
                text = sources.cached_ptx(variant, source, tool)
                judged = measure.assemble_text(text, kernel.module, OWN, None, plan)
                if judged["error"]:
                    return Chosen(kernel.key, f"{variant.name}: {judged['error']}")
                texts[variant.name], figures[variant.name] = text, judged["kernels"]
                path = Path(folder, f"{variant.name}.ptx")
                path.write_text(text, encoding="utf8")
                compare = lambda: emulated.compare(tool, Path(folder, "stock.ptx"), path, launch)  # noqa: E731, B023
                verdict, reason, reads = cached(compare, cache.file_hash(tool), stock, text, manifest.dump([launch]))
                if verdict != "same" or reads:
                    return Chosen(kernel.key, f"{variant.name}: {verdict}: {reason or f'{reads} more places are read'}")
        except sources.Failed as error:
            return Chosen(kernel.key, str(error))
    return Chosen(kernel.key, "", launch, texts, figures)


@dataclass(frozen=True)
class Kernel(searched.Kernel):
    """A kernel, numbered in its module."""

    number: int = 0

    @property
    def kind(self):
        return "Triton" if self.is_triton else "CUDA"


def of_module(module, plan, arguments, enough):
    """Returns the results for a few kernels of a module."""
    path, results = plan.modules[module], []
    names, all_names = wanting(module, plan)
    for number, name in enumerate(corpus.drawn(names, OF_A_MODULE, arguments.seed)):
        own, error = searched.reduced(path, name, all_names, plan)
        if error:
            results.append(Chosen(f"{module}::{name}", error))
            continue
        launch = launches.launch_of(path, name)
        kernel = Kernel(module, name, own, launch, Path(path).suffix == ".ll", number=number)
        results.append(chosen(kernel, plan, arguments, enough))
    return results


def draw(plan, suffix, wanted, arguments):
    """Returns `wanted` kernels from modules with this suffix, and the results for rejected kernels."""
    modules = [m for m, p in plan.modules.items() if p.endswith(suffix) and Path(p).stat().st_size <= LARGEST_MODULE]
    modules = random.Random(arguments.seed).sample(sorted(modules), len(modules))
    taken, others, waiting, enough = [], [], deque(), Event()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        while len(taken) < wanted and (modules or waiting):
            while modules and len(waiting) < 3 * arguments.jobs:
                waiting.append(pool.submit(of_module, modules.pop(0), plan, arguments, enough))
            for result in waiting.popleft().result():
                print(f"{result.name}: {result.reason or 'taken'}", file=sys.stderr)
                (others if result.reason else taken).append(result)
        enough.set()
        pool.shutdown(cancel_futures=True)
    return taken[:wanted], others
