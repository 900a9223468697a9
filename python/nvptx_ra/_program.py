"""The path of the program in the installed wheel."""

import functools
import os
import shutil
from importlib import metadata

PROGRAM = "nvptx-ra"


@functools.cache
def path():
    """Returns the path of the program `nvptx-ra` of this installation, not of another one on PATH.

    The environment variable NVPTX_RA_PROGRAM overrides it.
    """
    named = os.environ.get("NVPTX_RA_PROGRAM")
    if named:
        return named
    try:
        files = metadata.files(PROGRAM) or []
    except metadata.PackageNotFoundError:
        # The package runs from the sources.
        files = []
    for file in files:
        if file.name == PROGRAM:
            return os.path.realpath(file.locate())
    found = shutil.which(PROGRAM)
    if found is None:
        raise FileNotFoundError(f"{PROGRAM}: neither installed with this package nor on PATH; pip install a checkout of it")
    return found
