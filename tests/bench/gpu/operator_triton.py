"""Triton's compiled kernels of an operator: the launched kernels, and the same kernels compiled by nvptx-ra."""

import hashlib
import math
import re
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

SEARCHES = 4  # parallel searches of one operator
STACK = re.compile(r"\[R1(\+0x[0-9a-f]+)?\]")


def spread(values, most):
    """Returns at most `most` of the values, evenly spaced."""
    count = len(values)
    if count <= most:
        return list(values)
    return [values[(2 * at + 1) * count // (2 * most)] for at in range(most)]


def limit_tuning(most):
    """Makes Triton's autotuners try fewer configurations, and measure each configuration with three launches.

    Evenly spaced configurations come first. Others are tried only until one of them fits into the GPU.
    """
    import torch
    from triton.runtime.autotuner import Autotuner

    prune, benchmark = Autotuner.prune_configs, Autotuner._bench

    def order(self, named):
        configs = prune(self, named)
        first = spread(configs, most)
        self.operator_left, self.operator_fits = len(first), False
        return first + [config for config in configs if all(config is not other for other in first)]

    def try_one(self, *arguments, config, **named):
        self.operator_left -= 1
        if self.operator_left < 0 and self.operator_fits:
            return [math.inf] * 3
        times = benchmark(self, *arguments, config=config, **named)
        self.operator_fits |= math.isfinite(times[0])
        return times

    def measure(launch, quantiles=None, **_others):
        launch()
        times = []
        for _ in range(3):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            launch()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        return [statistics.median(times), min(times), max(times)]

    Autotuner.prune_configs, Autotuner._bench = order, try_one
    Autotuner.do_bench = property(lambda self: measure)


class Launches:
    """The launches of Triton kernels, recorded on demand, and the caches in which launches find compiled kernels."""

    def __init__(self):
        from triton.runtime.jit import JITFunction

        self.noted, self.functions = None, {}
        run = JITFunction.run

        def noting(function, *arguments, **named):
            kernel = run(function, *arguments, **named)
            self.functions[id(function)] = function
            if self.noted is not None and not named.get("warmup"):
                self.noted.append(kernel)
            return kernel

        JITFunction.run = noting

    def of(self, call):
        """Returns (the result of a call, the compiled kernel of each of its launches)."""
        self.noted = []
        try:
            return call(), self.noted
        finally:
            self.noted = None

    def _caches(self):
        """Yields Triton's dictionaries of compiled kernels. Each is the first value of a device's entry in
        device_caches."""
        for number, function in list(self.functions.items()):
            for device, (cache, *_) in list(function.device_caches.items()):
                yield (number, device), cache

    def kernels(self):
        """Returns the compiled kernels of all functions that were launched."""
        return {place: dict(cache) for place, cache in self._caches()}

    def use(self, kernels):
        """Makes later launches use these kernels. Other kernels are compiled on demand."""
        for place, cache in self._caches():
            cache.clear()
            cache.update(kernels.get(place, {}))


def searched(kernel, path):
    """Returns the kernel with new machine code, from the program that Triton currently calls as ptxas.

    Everything else stays, including the autotuner's choice. Triton's front end does not run again.
    """
    from triton.compiler.compiler import CompiledKernel, make_backend

    target = kernel.metadata.target
    cubin = make_backend(target).make_cubin(kernel.asm["ptx"], kernel.metadata._asdict(), kernel.metadata, target.arch)
    path.write_bytes(cubin)
    files = {name: str(path) if name.endswith(".cubin") else file for name, file in kernel.metadata_group.items()}
    return CompiledKernel(kernel.src, files, kernel.hash)


def search(stock, launched, folder, only_local_memory, context=nullcontext):
    """Searches the launched stock kernels. Returns dictionaries in the format of Launches.kernels().

    Each kernel is searched in its own context: by default, as a kernel that is not timed.
    """

    def searched_in_context(kernel, path):
        with context():
            return searched(kernel, path)

    folder.mkdir(parents=True, exist_ok=True)
    wanted = {id(kernel) for kernel in launched if kernel.n_spills or not only_local_memory}
    places = [(place, key, one) for place, cache in stock.items() for key, one in cache.items() if id(one) in wanted]
    paths = [folder / f"{number}.cubin" for number in range(len(places))]
    with ThreadPoolExecutor(SEARCHES) as pool:
        found = list(pool.map(lambda at, path: searched_in_context(at[2], path), places, paths))
    ours = {place: dict(cache) for place, cache in stock.items()}
    for (place, key, _), kernel in zip(places, found, strict=True):
        ours[place][key] = kernel
    return ours


def figures(kernel):
    """Returns the figures of a compiled kernel. Triton counts local memory in words of four bytes and calls them
    spills."""
    metadata = kernel.metadata
    return {
        "local": kernel.n_spills * 4,
        "registers": kernel.n_regs,
        "shared": metadata.shared,
        "warps": metadata.num_warps,
        "stages": metadata.num_stages,
        "cubin": hashlib.sha256(kernel.asm["cubin"]).hexdigest(),
    }


def without_places(code):
    """Returns disassembled code without stack offsets, because ptxas orders equal slots differently from run to run."""
    return STACK.sub("[R1]", code)


def disassemble(kernel):
    from triton import knobs

    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        command = [knobs.nvidia.nvdisasm.path, "-c", file.name]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def differ(one, other):
    """Whether two kernels have different code."""
    if one.asm["cubin"] == other.asm["cubin"]:
        return False
    if (one.n_regs, one.n_spills) != (other.n_regs, other.n_spills):
        return True
    return without_places(disassemble(one)) != without_places(disassemble(other))


def described(kernels, sequence):
    """Returns the report's entry for each kernel of pairs()."""
    return [
        {
            "name": one.name,
            "launches": sequence.count(number),
            "changed": differ(one, other),
            "stock": figures(one),
            "ours": figures(other),
        }
        for number, (one, other) in enumerate(kernels)
    ]


def pairs(launched, stock, ours):
    """Returns the launched kernels: the kernel's number for each launch, and (stock, ours) of each kernel.

    Kernels with the same name are different specialisations.
    """
    others = {id(one): ours[place][key] for place, cache in stock.items() for key, one in cache.items()}
    numbers, kernels, sequence = {}, [], []
    for kernel in launched:
        number = numbers.setdefault(id(kernel), len(kernels))
        if number == len(kernels):
            kernels.append((kernel, others[id(kernel)]))
        sequence.append(number)
    return sequence, kernels


def save_ptx(folder, name, kernels):
    """Writes the PTX of the stock kernels with local memory."""
    folder.mkdir(exist_ok=True)
    for number, (kernel, _) in enumerate(kernels):
        if kernel.n_spills > 0:
            shared = f"// nvptx-ra: dynamic-shared {kernel.metadata.shared}"
            path = folder / f"{name}__{kernel.name}.ptx"
            path = path.with_stem(f"{path.stem}-{number}") if path.exists() else path
            path.write_text(f"{kernel.asm['ptx'].rstrip()}\n// num_warps {kernel.metadata.num_warps}\n{shared}\n")
