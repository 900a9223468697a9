"""nvptx-ra in the place of the ptxas that Triton calls."""

import functools
import os
import stat
from pathlib import Path

from nvptx_ra import _autotuned
from nvptx_ra._program import path

# The programs that Triton calls: the variable by which Triton knows each, and the variable by which the
# program in its place knows the real one.
PROGRAMS = {
    "ptxas": ("TRITON_PTXAS_PATH", "NVPTX_RA_PTXAS"),
    "ptxas-blackwell": ("TRITON_PTXAS_BLACKWELL_PATH", "NVPTX_RA_PTXAS_BLACKWELL"),
}

_FOLDER = Path(__file__).parent / "programs"


def enable():
    """Has Triton call nvptx-ra in the place of ptxas, in this process and in those that it starts.

    The ptxas that Triton would have called does the work, unless the environment variable NVPTX_RA_PTXAS names another
    one. What Triton knows and PTX does not say, the shared memory of a launch, goes along with the text.

    Of a kernel with `triton.autotune`, only the configuration that Triton chooses is searched, and what is slower on the
    GPU is dropped. For all others registers come back, if ptxas gives them up for nothing.

    Triton keeps kernels by what `ptxas --version` prints. So a kernel that it compiled before is compiled again, and is
    found again after that.
    """
    os.environ["NVPTX_RA_PROGRAM"] = path()
    for name, (variable, real) in PROGRAMS.items():
        program = _program(name)
        if os.environ.get(variable) == str(program):
            continue
        theirs = _theirs(name)
        if theirs is not None:
            os.environ.setdefault(real, theirs)
            os.environ[variable] = str(program)
    _forget()
    _hand_over_shared_memory()
    _autotuned.install()


def _program(name):
    """The program of the wheel. Not every installer keeps the bits that make a file a program."""
    program = _FOLDER / name
    mode = program.stat().st_mode
    if not mode & stat.S_IXUSR:
        program.chmod(mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return program


def _theirs(name):
    """The program that Triton calls; None where this Triton has no such."""
    from triton import knobs

    tool = getattr(knobs.nvidia, name.replace("-", "_"), None)
    return tool and tool.path


def _forget():
    """Triton asks ptxas for its version once, and keeps the answer."""
    from triton.backends.nvidia import compiler

    for function in (compiler.get_ptxas_version, compiler.CUDABackend.hash):
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def _hand_over_shared_memory():
    """The size of the shared memory that a launch adds stands in Triton's metadata alone. A comment at the end of the
    PTX takes it along: it is part of the text, whoever compiles it, in whatever thread. Other notes stand ahead of it."""
    from triton.backends.nvidia.compiler import CUDABackend

    make_cubin = CUDABackend.make_cubin
    if hasattr(make_cubin, "__wrapped__"):
        return

    @functools.wraps(make_cubin)
    def with_shared_memory(self, src, metadata, *arguments, **named):
        size = metadata.get("shared") if hasattr(metadata, "get") else None
        if isinstance(src, str) and isinstance(size, int):
            src = f"{src.rstrip()}\n{_autotuned.notes()}// nvptx-ra: dynamic-shared {size}\n"
        return make_cubin(self, src, metadata, *arguments, **named)

    CUDABackend.make_cubin = with_shared_memory
