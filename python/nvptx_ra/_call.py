"""Calls of the program on PTX."""

import logging
import subprocess
from collections.abc import Mapping

from nvptx_ra import _report, _toolkit
from nvptx_ra._program import path

LOG = logging.getLogger("nvptx_ra")


class Error(Exception):
    """The program's message on a failure."""


def optimize(ptx, *, arch=None, runs=None, threads=None, dynamic_shared=None, cache=None):
    """Returns the best PTX that a search finds for each kernel of `ptx`. It is never worse than `ptx` in spilled
    bytes, warps per SM, and instructions. A kernel without a better variant stays unchanged.

    arch: the processor, e.g. "sm_90"; by default that of the PTX.
    runs: how many variants of each kernel ptxas judges; 16 by default.
    threads: threads per block, for kernels that do not declare them.
    dynamic_shared: bytes of shared memory that a launch adds: a number for all kernels, or a mapping from names.
    cache: a folder for ptxas's results, which later searches read.

    NVIDIA's ptxas, cuobjdump and nvdisasm are found by CUDA_PATH, on PATH, or in NVIDIA's own packages, which `pip
    install '.[cuda]'` installs.
    """
    missing = [name for name in _toolkit.PACKAGES if _toolkit.find(name) is None]
    if missing:
        raise Error(f"{', '.join(missing)}: not found; pip install '.[cuda]' in a checkout, or set CUDA_PATH")
    options = _options(("--cpu", arch), ("--runs", runs), ("--threads", threads), ("--cache", cache))
    return _run("tune", *options, *_shared(dynamic_shared), "-o", "-", text=ptx)


def report(ptx, *, arch=None, max_registers=None, dynamic_shared=None, ptxas=False):
    """Returns the forecast of registers and spills for each kernel of `ptx`, as a `Report`. ptxas does not run.

    arch, dynamic_shared: as for `optimize`.
    max_registers: forecast as if this were the register limit of all kernels.
    ptxas: whether to run ptxas as well, so that each kernel has ptxas's figures beside the forecast.
    """
    options = _options(("--cpu", arch), ("--max-regs", max_registers))
    options += ["--compare-ptxas"] if ptxas else []
    return _report.read(_run("report", "--json", *options, *_shared(dynamic_shared), text=ptx))


def _options(*pairs):
    return [f"{name}={value}" for name, value in pairs if value is not None]


def _shared(dynamic_shared):
    if dynamic_shared is None:
        return []
    if isinstance(dynamic_shared, Mapping):
        return [f"--dynamic-shared={name}={size}" for name, size in dynamic_shared.items()]
    return [f"--dynamic-shared={dynamic_shared}"]


def _run(*arguments, text):
    """Returns the program's output for a PTX module. Its diagnostics, e.g. that ptxas refuses a kernel, are logged."""
    command = [path(), *arguments, "-"]
    result = subprocess.run(command, input=text.encode(), capture_output=True, env=_toolkit.environment(), check=False)
    said = result.stderr.decode(errors="replace").strip()
    if result.returncode != 0:
        raise Error(said or f"{command[0]}: exit status {result.returncode}")
    for line in said.splitlines():
        LOG.info("%s", line)
    return result.stdout.decode()
