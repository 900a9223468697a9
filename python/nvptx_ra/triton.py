"""Makes Triton call nvptx-ra instead of ptxas."""

import functools
import os
import stat
import threading
from pathlib import Path

from nvptx_ra import _autotuned, _launch_notes
from nvptx_ra._decisions import DECISIONS, LOG, NOTE
from nvptx_ra._program import path
from nvptx_ra._switch import is_off

# The programs that Triton calls: Triton's variable for the path of each, and the wrapper's variable for the path of the
# real program.
PROGRAMS = {
    "ptxas": ("TRITON_PTXAS_PATH", "NVPTX_RA_PTXAS"),
    "ptxas-blackwell": ("TRITON_PTXAS_BLACKWELL_PATH", "NVPTX_RA_PTXAS_BLACKWELL"),
}

_FOLDER = Path(__file__).parent / "programs"

# The real programs that this module has set, by variable. A path that differs is the user's choice.
_NAMED = {}
_LOCK = threading.RLock()


def enable(check=False):
    """Makes Triton call nvptx-ra instead of ptxas, in this process and in its child processes.

    nvptx-ra runs the ptxas that Triton would have called, unless the environment variable NVPTX_RA_PTXAS names
    another one. The shared memory of a launch, which Triton knows and PTX does not contain, is passed along with
    the PTX.

    For a kernel with `triton.autotune`, only the configuration that Triton chooses is searched, and a result that
    is slower on the GPU is discarded. In all other configurations, only registers that ptxas gives up without
    benefit are recovered.

    Another package may set its own ptxas later, as PyTorch does for the ptxas of its wheel. nvptx-ra then stays in
    place and runs that ptxas from there on, and prints a warning.

    Each decision of the search is logged to `nvptx_ra` at the level INFO. If kernels are not searched, a warning
    gives the reason once.

    Triton caches kernels by the output of `ptxas --version`. A kernel that was compiled before is therefore
    compiled once more, and is then found in the cache.

    With `check`, the machine code of each kernel is compared with its PTX once, on the CPU. If the machine code
    computes something else, there is a warning.

    With NVPTX_RA=off in the environment only a line is logged.
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
    """Makes Triton call the programs of this package. Returns the other programs that were set since the last call."""
    others = []
    with _LOCK:
        for name, (variable, real) in PROGRAMS.items():
            program, theirs = str(_program(name)), _theirs(name)
            was_ours = variable in _NAMED
            _NAMED.setdefault(variable, None)
            if theirs in (None, program):
                continue
            # A real program that this module has not set is the user's choice.
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
    """Replaces the programs that another package has set."""
    others = _take_places()
    if others:
        _forget()
    for other in others:
        LOG.warning("%s; %s", other, NOTE)


def _hold_places():
    """Triton computes its backend's hash before each compilation."""
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
    """Returns the program of the wheel. Some installers remove the executable bits of the file."""
    program = _FOLDER / name
    mode = program.stat().st_mode
    if not mode & stat.S_IXUSR:
        program.chmod(mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return program


def _theirs(name):
    """Returns the program that Triton calls; None if this Triton has no such program."""
    from triton import knobs

    tool = getattr(knobs.nvidia, name.replace("-", "_"), None)
    return tool and tool.path


def _set_in_triton(name, program):
    """Sets a program in Triton's settings, which override variables if Python code has set them."""
    from triton import knobs

    setattr(knobs.nvidia, name.replace("-", "_"), program)


def _forget():
    """Triton runs `ptxas --version` once, and caches the output and everything derived from it."""
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
    """Adds the size of the shared memory of a launch, which is only in Triton's metadata, as a comment at the end of
    the PTX. The comment is part of the PTX in any compiler and thread."""
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
