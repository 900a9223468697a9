"""nvptx-ra from Python: better PTX for a kernel, and a forecast of its registers and spills.

    >>> import nvptx_ra
    >>> better = nvptx_ra.optimize(ptx)
    >>> nvptx_ra.report(ptx).kernels[0].registers
    118

`nvptx_ra.triton.enable()` makes Triton call nvptx-ra instead of ptxas, and `nvptx_ra.jax.enable()` does the same
for JAX's XLA.
"""

from nvptx_ra._call import Error, optimize, report
from nvptx_ra._program import path
from nvptx_ra._report import CompiledApart, InMemory, Kernel, LiveValue, Peak, Ptxas, Report, Slots
from nvptx_ra._search import search

__all__ = [
    "CompiledApart",
    "Error",
    "InMemory",
    "Kernel",
    "LiveValue",
    "Peak",
    "Ptxas",
    "Report",
    "Slots",
    "optimize",
    "path",
    "report",
    "search",
]
