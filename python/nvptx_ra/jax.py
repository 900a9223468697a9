"""Makes JAX's XLA call nvptx-ra instead of ptxas."""

import atexit
import importlib
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from nvptx_ra import _toolkit
from nvptx_ra._program import path
from nvptx_ra._switch import is_off

# XLA starts ptxas only if it uses neither of NVIDIA's libraries that do the same in its own process.
LIBRARIES = ("xla_gpu_enable_libnvptxcompiler", "xla_gpu_enable_libnvjitlink")

# The ptxas of NVIDIA's pip packages; JAX uses the first that exists.
_PACKAGES = ("nvidia.cu13", "nvidia.cuda_nvcc")

_PLUGINS = ("jax_plugins.xla_cuda13", "jax_plugins.xla_cuda12")


def enable(check=False):
    """Makes XLA start nvptx-ra instead of ptxas, in this process and in its child processes.

    Call this before `import jax`. nvptx-ra runs the ptxas that JAX would have called, unless the environment
    variable NVPTX_RA_PTXAS names another one. The function sets `CUDA_ROOT` to a CUDA toolkit of links, which lasts
    as long as this process, and extends `XLA_FLAGS`.

    With `check`, the machine code of each kernel is compared with its PTX once, on the CPU. If the machine code
    computes something else, there is a warning on the standard error of ptxas, and a line in the log that
    NVPTX_RA_LOG names.

    Raises RuntimeError if JAX has been imported already, and FileNotFoundError if a program of NVIDIA's is missing.
    With NVPTX_RA=off in the environment only a line is logged to `nvptx_ra`.
    """
    if is_off("JAX"):
        return
    if "jax" in sys.modules:
        raise RuntimeError("nvptx-ra: JAX knows its ptxas already; call nvptx_ra.jax.enable() ahead of `import jax`")
    if check:
        os.environ["NVPTX_RA_CHECK"] = "1"
    wrapped = os.environ.get("NVPTX_RA_WRAPPED_CUDA")
    if wrapped and os.environ.get("CUDA_ROOT") == wrapped:
        return
    _find_disassemblers()
    os.environ["CUDA_ROOT"] = os.environ["NVPTX_RA_WRAPPED_CUDA"] = _wrapped(_toolkit_of_jax())
    flags = [f"--{name}=false" for name in LIBRARIES if _knows(name)]
    os.environ["XLA_FLAGS"] = " ".join([*os.environ.get("XLA_FLAGS", "").split(), *flags])


def _toolkit_of_jax():
    """Returns the CUDA toolkit whose ptxas JAX calls. None if JAX calls a ptxas of the system."""
    if root := os.environ.get("CUDA_ROOT"):
        return root
    for name in _PACKAGES:
        try:
            folders = importlib.import_module(name).__path__
        except ImportError:
            continue
        for folder in folders:
            if Path(folder, "bin/ptxas").exists():
                return folder
    return None


def _wrapped(toolkit):
    """Creates a toolkit of links whose ptxas is nvptx-ra."""
    folder = tempfile.mkdtemp(prefix="nvptx-ra-cuda-")
    atexit.register(_remove, folder, os.getpid())
    command = [path(), "wrap-cuda", folder, *(["--cuda", toolkit] if toolkit else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FileNotFoundError(done.stderr.strip())
    return folder


def _remove(folder, owner):
    """Removes a folder when its owner ends, but not when a fork of its owner ends."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _find_disassemblers():
    """Appends the folders of the programs that read machine code to PATH, if a package has them."""
    for name in ("cuobjdump", "nvdisasm"):
        found = _toolkit.find(name)
        if found is None:
            raise FileNotFoundError(f"nvptx-ra: {name} is missing; pip install nvidia-cuda-{name}")
        if shutil.which(name) is None:
            os.environ["PATH"] = os.pathsep.join([*filter(None, [os.environ.get("PATH")]), str(Path(found).parent)])


def _knows(flag):
    """Whether this XLA has a flag: XLA ends the process on an unknown flag. The name of a flag is a separate string in
    the library. Other settings of XLA are only fields, whose names are parts of longer strings."""
    for plugin in _PLUGINS:
        try:
            spec = find_spec(plugin)
        except ImportError:
            continue
        for folder in spec.submodule_search_locations if spec else ():
            library = Path(folder, "xla_cuda_plugin.so")
            if library.exists():
                with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    return content.find(b"\0" + flag.encode() + b"\0") >= 0
    return False
