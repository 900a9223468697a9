"""nvptx-ra in the place of the ptxas that Triton calls."""

import functools
import os
import stat
import threading
from pathlib import Path

from nvptx_ra import _autotuned, _launch_notes
from nvptx_ra._decisions import DECISIONS, LOG, NOTE
from nvptx_ra._program import path
from nvptx_ra._switch import is_off

# The programs that Triton calls: the variable by which Triton knows each, and the variable by which the
# program in its place knows the real one.
PROGRAMS = {
    "ptxas": ("TRITON_PTXAS_PATH", "NVPTX_RA_PTXAS"),
    "ptxas-blackwell": ("TRITON_PTXAS_BLACKWELL_PATH", "NVPTX_RA_PTXAS_BLACKWELL"),
}

_FOLDER = Path(__file__).parent / "programs"

# The real programs that this module has named, by the variable: a user's own choice is none of these.
_NAMED = {}
_LOCK = threading.RLock()


def enable(check=False):
    """Has Triton call nvptx-ra in the place of ptxas, in this process and in those that it starts.

    The ptxas that Triton would have called does the work, unless the environment variable NVPTX_RA_PTXAS names another
    one. What Triton knows and PTX does not say, the shared memory of a launch, goes along with the text.

    Of a kernel with `triton.autotune`, only the configuration that Triton chooses is searched, and what is slower on the
    GPU is dropped. For all others registers come back, if ptxas gives them up for nothing.

    Another package may name a ptxas of its own later, as PyTorch does for the one of its wheel. Then that one does the
    work from there on, nvptx-ra stays in its place, and a warning says so.

    Each decision of the search goes to the logger `nvptx_ra` at the level INFO. A warning says once why kernels are not
    searched, if they are not.

    Triton keeps kernels by what `ptxas --version` prints. So a kernel that it compiled before is compiled again, and is
    found again after that.

    With `check`, the machine code of each kernel is compared with its PTX once, on the CPU. Code that does not compute
    what the PTX says is a warning.

    Nothing happens with NVPTX_RA=off in the environment, but for a line of the logger.
    """
    if is_off("Triton"):
        return
    if check:
        os.environ["NVPTX_RA_CHECK"] = "1"
    os.environ["NVPTX_RA_PROGRAM"] = path()
    DECISIONS.start()
    _check_places()
    _forget()
    _hold_places()
    _hand_over_shared_memory()
    _autotuned.install()


def _take_places():
    """Has Triton call the programs of this package. Says which others were named in their place since the last time."""
    others = []
    with _LOCK:
        for name, (variable, real) in PROGRAMS.items():
            program, theirs = str(_program(name)), _theirs(name)
            was_ours = variable in _NAMED
            _NAMED.setdefault(variable, None)
            if theirs in (None, program):
                continue
            # A real program that this module has not named is the user's choice.
            if os.environ.get(real) == _NAMED[variable]:
                os.environ[real] = _NAMED[variable] = theirs
            os.environ[variable] = program
            if _theirs(name) != program:
                _set_in_triton(name, program)
            if was_ours:
                behind = os.environ[real]
                others.append(f"{variable} was set to {theirs}; nvptx-ra is back in its place, in front of {behind}")
    return others


def _check_places():
    """Takes back the places that another package has taken."""
    others = _take_places()
    if others:
        _forget()
    for other in others:
        LOG.warning("%s; %s", other, NOTE)


def _hold_places():
    """Triton asks for its backend's hash ahead of each compilation."""
    from triton.backends.nvidia.compiler import CUDABackend

    of_backend = CUDABackend.hash
    if hasattr(of_backend, "holds_places"):
        return

    @functools.wraps(of_backend)
    def hash_of(self):
        _check_places()
        return of_backend(self)

    hash_of.holds_places = True
    CUDABackend.hash = hash_of


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


def _set_in_triton(name, program):
    """Names a program in Triton's settings, which count more than variables where Python has set them."""
    from triton import knobs

    setattr(knobs.nvidia, name.replace("-", "_"), program)


def _forget():
    """Triton asks ptxas for its version once, and keeps the answer and what follows from it."""
    from triton import knobs
    from triton.backends.nvidia import compiler

    names = ("get_ptxas_version", "get_ptx_version_from_options", "get_features")
    functions = [getattr(compiler, name, None) for name in names]
    functions += [compiler.CUDABackend.hash, getattr(getattr(knobs, "NvidiaTool", None), "from_path", None)]
    for function in functions:
        while function is not None:
            if hasattr(function, "cache_clear"):
                function.cache_clear()
            function = getattr(function, "__wrapped__", None)


def _hand_over_shared_memory():
    """The size of the shared memory that a launch adds stands in Triton's metadata alone. A comment at the end of the
    PTX takes it along: it is part of the text, whoever compiles it, in whatever thread."""
    from triton.backends.nvidia.compiler import CUDABackend

    make_cubin = CUDABackend.make_cubin
    if hasattr(make_cubin, "__wrapped__"):
        return

    @functools.wraps(make_cubin)
    def with_shared_memory(self, src, metadata, *arguments, **named):
        size = metadata.get("shared") if hasattr(metadata, "get") else None
        if isinstance(src, str) and isinstance(size, int):
            src = _launch_notes.noted(src, dynamic_shared=size, **_autotuned.notes())
        _check_places()
        DECISIONS.start()
        try:
            return make_cubin(self, src, metadata, *arguments, **named)
        finally:
            if not DECISIONS.read():
                DECISIONS.warn("Triton did not call nvptx-ra, or the program is older than this package")

    CUDABackend.make_cubin = with_shared_memory
