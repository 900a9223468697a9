"""nvptx-ra from Python: better PTX for a kernel, and what ptxas will need for it.

>>> import nvptx_ra
>>> better = nvptx_ra.optimize(ptx)
>>> nvptx_ra.report(ptx).kernels[0].registers
118

`nvptx_ra.triton.enable()` puts nvptx-ra in the place of the ptxas that Triton calls, `nvptx_ra.jax.enable()` in the place
of the one that JAX's XLA calls.
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
