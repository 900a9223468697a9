"""Finds NVIDIA's programs: in the toolkit of CUDA_PATH, on PATH, or in NVIDIA's own packages."""

import os
import shutil
from importlib import metadata
from pathlib import Path

# NVIDIA's packages have other names for each release of CUDA.
PACKAGES = {
    "ptxas": ("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu13", "nvidia-cuda-nvcc-cu12"),
    "cuobjdump": ("nvidia-cuda-cuobjdump", "nvidia-cuda-cuobjdump-cu13", "nvidia-cuda-cuobjdump-cu12"),
    # Called by cuobjdump.
    "nvdisasm": ("nvidia-cuda-nvdisasm", "nvidia-cuda-nvdisasm-cu13", "nvidia-cuda-nvdisasm-cu12"),
}


def find(name):
    """Returns the path of a program of the CUDA toolkit, or None."""
    toolkit = os.environ.get("CUDA_PATH")
    if toolkit:
        found = shutil.which(name, path=os.path.join(toolkit, "bin"))
        if found:
            return found
    return shutil.which(name) or _in_package(name)


def _in_package(name):
    for package in PACKAGES.get(name, ()):
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name == name and os.access(file.locate(), os.X_OK):
                return str(file.locate())
    return None


def environment():
    """Returns the environment for a program that looks for ptxas, cuobjdump and nvdisasm on PATH."""
    found = [find(name) for name in PACKAGES]
    folders = [str(Path(program).parent) for program in found if program]
    return {**os.environ, "PATH": os.pathsep.join([*folders, os.environ.get("PATH", "")])}
