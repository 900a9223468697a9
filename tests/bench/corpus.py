"""The modules to compare on: a folder of bitcode and textual IR, and what brings it."""

import fnmatch
import random
import sys
import tomllib
from pathlib import Path

from tools import ROOT

LIST = Path(__file__).with_name("corpus.toml")
FOLDER = ROOT / "target/corpus"
UNOPTIMISED = "-unoptimised"  # behind the name of a folder


def folder_of(arch, is_unoptimised=False):
    """Where the modules for a processor are: clang compiles for one at a time. CUDA's as clang's front end leaves them have
    a folder of their own."""
    return FOLDER / (arch + UNOPTIMISED * is_unoptimised)


def unoptimised(path):
    """The path of a CUDA module as clang's front end leaves it; empty where there is none."""
    path = Path(path)
    found = path.parent.with_name(path.parent.name + UNOPTIMISED) / path.name
    return str(found) if path.suffix == ".bc" and found.exists() else ""


def modules(folder=None, globs=(), subset=None, arch="sm_90"):
    """The paths of the modules in a folder, sorted: those whose name one of the globs matches, or, where none is given,
    all, but of what `make corpus` brings not those that are held out."""
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
        sys.exit(f"no modules in {folder}: make corpus, or CORPUS=… with .bc or .ll files")
    return paths


def cpu_of(module):
    """The processor that a module of the corpus for sm_90 is for: Triton's kernels use what only sm_90a has."""
    return "sm_90a" if Path(module).suffix == ".ll" else "sm_90"


def source_of(module):
    """The source of corpus.toml that a module is of: what stands before two underscores in its name."""
    return module.partition("__")[0]


def sources():
    """What the harness asks of the sources of corpus.toml, by name."""
    listed = tomllib.loads(LIST.read_text(encoding="utf8"))["source"]
    wanted = ("lineage", "accelerated", "held_out")
    return {source["name"]: {key: source[key] for key in wanted if key in source} for source in listed}


def drawn(values, count, seed):
    """So many of the values, or all, sorted: the same for the same seed and values."""
    return sorted(random.Random(seed).sample(values, min(count, len(values))))
