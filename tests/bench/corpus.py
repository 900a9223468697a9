"""The modules of a comparison: a folder of bitcode and textual IR, and the list of their sources."""

import fnmatch
import random
import sys
import tomllib
from pathlib import Path

from tools import ROOT

LIST = Path(__file__).with_name("corpus.toml")
FOLDER = ROOT / "target/corpus"
UNOPTIMISED = "-unoptimised"  # suffix of a folder's name


def folder_of(arch, is_unoptimised=False):
    """Returns the folder of the modules for a processor: clang compiles for one processor at a time. CUDA modules from
    clang's front end, before optimisation, have a separate folder."""
    return FOLDER / (arch + UNOPTIMISED * is_unoptimised)


def unoptimised(path):
    """Returns the path of a CUDA module from clang's front end, before optimisation; an empty string if it does not
    exist."""
    path = Path(path)
    found = path.parent.with_name(path.parent.name + UNOPTIMISED) / path.name
    return str(found) if path.suffix == ".bc" and found.exists() else ""


def modules(folder=None, globs=(), subset=None, arch="sm_90"):
    """Returns the sorted paths of the modules in a folder whose names match one of the globs. Without globs, returns
    all modules, except held-out ones of the corpus of `make corpus`."""
    folder = Path(folder or folder_of(arch)).resolve()
    if subset:
        globs = [*globs, *tomllib.loads(LIST.read_text())["subset"][subset]]
    paths = sorted(str(p) for p in folder.glob("*") if p.suffix in (".bc", ".ll"))
    if globs:
        paths = [p for p in paths if any(fnmatch.fnmatch(Path(p).stem, g) for g in globs)]
    elif folder.is_relative_to(FOLDER):
        held_out = {name for name, source in sources().items() if source.get("held_out")}
        paths = [p for p in paths if source_of(Path(p).stem) not in held_out]
    if not paths:
        sys.exit(f"no modules in {folder}: run make corpus, or set CORPUS to a folder with .bc or .ll files")
    return paths


def cpu_of(module):
    """Returns the processor of a module of the sm_90 corpus: Triton's kernels use instructions that only sm_90a has."""
    return "sm_90a" if Path(module).suffix == ".ll" else "sm_90"


def source_of(module):
    """Returns the source in corpus.toml that a module belongs to: the part of its name before two underscores."""
    return module.partition("__")[0]


def sources():
    """Returns the sources of corpus.toml by name."""
    listed = tomllib.loads(LIST.read_text(encoding="utf8"))["source"]
    wanted = ("lineage", "accelerated", "held_out")
    return {source["name"]: {key: source[key] for key in wanted if key in source} for source in listed}


def drawn(values, count, seed):
    """Returns `count` of the values, or all of them, sorted. The choice depends only on the seed and the values."""
    return sorted(random.Random(seed).sample(values, min(count, len(values))))
