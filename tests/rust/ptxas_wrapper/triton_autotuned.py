"""Tunes a Triton kernel without a GPU: triton_autotuned.py BENCH PACKAGE, where BENCH is tests/bench and PACKAGE
contains nvptx_ra. The times are invented: a searched kernel is faster for the first width and slower for the
second.

Prints a line for each benchmark and launch: the number of warps, and whether the kernel was searched.
"""

import sys

sys.path[:0] = sys.argv[1:3]
import standins  # noqa: E402

standins.install()

import nvptx_ra.triton  # noqa: E402
import triton  # noqa: E402
from nvptx_ra import _autotuned  # noqa: E402
from softmax import softmax  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402

ran = []


class Driver(standins.Driver):
    """A driver that loads and launches nothing, and records each launch."""

    def __init__(self):
        super().__init__(GPUTarget("cuda", 90, 32))
        self.utils.load_binary = lambda name, cubin, *_rest: (1, cubin, 32, 0, 1024)
        self.utils.unload_module = lambda _module: None
        self.launcher_cls = lambda _source, metadata: lambda *arguments: ran.append((metadata.num_warps, arguments[4]))

    def get_current_stream(self, _device):
        return 0


triton.runtime.driver.set_active(Driver())


class Pointer:
    dtype = "fp32"

    def data_ptr(self):
        return 256


def bench(call, quantiles):
    """A tuner's benchmark: 8 warps are faster than 4, and a searched kernel takes `seconds` seconds."""
    call()
    warps, cubin = ran.pop()
    is_searched = cubin in searched
    print(f"timed with {warps} warps{', searched' if is_searched else ''}")
    return [seconds if is_searched else 1 / warps] * len(quantiles)


configs = [triton.Config({"TILE": 1024}, num_warps=warps) for warps in (4, 8)]
tuned = triton.autotune(configs, key=["width"], do_bench=bench)(softmax)
searched = set()
nvptx_ra.triton.enable()
nvptx_ra.triton.enable()
make_cubin = triton.backends.nvidia.compiler.CUDABackend.make_cubin


def noting_cubin(self, src, metadata, *rest):
    """Makes a search's cubin differ from ptxas's cubin, as if the search had found a better variant."""
    cubin = make_cubin(self, src, metadata, *rest)
    if not _autotuned.notes()["is_candidate"]:
        cubin += b"\0"
        searched.add(cubin)
    return cubin


triton.backends.nvidia.compiler.CUDABackend.make_cubin = noting_cubin
for seconds, width in ((0.1, 1000), (0.2, 1008), (0.1, 1002)):
    for _ in range(2):
        tuned[(1,)](Pointer(), Pointer(), width)
        warps, cubin = ran.pop()
        print(f"launched with {warps} warps{', searched' if cubin in searched else ''}")
