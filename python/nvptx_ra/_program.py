"""Where the program is that the wheel has brought."""

import functools
import os
import shutil
from importlib import metadata

PROGRAM = "nvptx-ra"


@functools.cache
def path():
    """The path of the program `nvptx-ra`, that of this installation and no other on PATH.

    The environment variable NVPTX_RA_PROGRAM names another one.
    """
    named = os.environ.get("NVPTX_RA_PROGRAM")
    if named:
        return named
    try:
        files = metadata.files(PROGRAM) or []
    except metadata.PackageNotFoundError:
        # The package is used from the sources.
        files = []
    for file in files:
        if file.name == PROGRAM:
            return os.path.realpath(file.locate())
    found = shutil.which(PROGRAM)
    if found is None:
        raise FileNotFoundError(f"{PROGRAM}: neither installed with this package nor on PATH; pip install a checkout of it")
    return found
