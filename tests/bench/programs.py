"""Kernels drawn from the corpus, from llc, NVIDIA's compiler and Triton. Each kernel is in its own PTX module.

The draw alternates between the groups of lineage and compiler, a few kernels at a time, so that all lineages have
similar shares.
"""

import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import cache
import corpus
import ptx
import tools

LLC, CICC, TRITON = "llc", "cicc", "triton"
COMPILERS = (LLC, CICC, TRITON)
PER_TURN = 3  # kernels that are drawn from a group at a time
LARGEST = 1500  # lines of a kernel, because each kernel is executed many times
LARGEST_MODULE = 3_000_000  # bytes of bitcode
TIMEOUT = 120


@dataclass(frozen=True)
class Program:
    """A kernel, and a file that contains no other kernel."""

    lineage: str
    compiler: str
    module: str  # the path of the compiled file
    kernel: str
    path: str

    @property
    def name(self):
        return f"{Path(self.module).stem}.{self.compiler}::{self.kernel}"


def files_of(compiler, arch):
    """Returns the files of a compiler by lineage: bitcode for llc, PTX for the other compilers."""
    folder = corpus.folder_of(arch)
    lineages = {name: source["lineage"] for name, source in corpus.sources().items()}
    if compiler == TRITON:
        paths = sorted((corpus.FOLDER / "triton-cache").glob("*/*.ptx"))
        return {"triton": [str(path) for path in paths]}
    if compiler == LLC:
        paths = corpus.modules(folder, arch=arch)
        paths = [path for path in paths if Path(path).stat().st_size <= LARGEST_MODULE]
    else:
        paths = [str(path) for path in sorted((folder / "cicc").glob("*.ptx"))]
    found = defaultdict(list)
    for path in paths:
        source = corpus.source_of(Path(path).stem)
        found[lineages.get(source, source)].append(path)
    return found


def compiled(module, flags=()):
    """Returns the PTX that llc makes of a module, cached for the next run; empty on failure."""
    store = cache.Cache(cache.folder())
    command = [tools.find_llc(), *tools.target_flags(corpus.cpu_of(module)), *flags]
    key = cache.key_of("program", cache.file_hash(module), *map(hashed, command))
    if (text := store.get_text(key)) is None:
        outcome = tools.run([*command, module, "-o", "-"], TIMEOUT)
        text = "" if outcome.error else outcome.output
        store.put_text(key, text)
    return text


def hashed(argument):
    """Returns an argument. If it contains a plugin's path, the path is replaced by the hash of the plugin's content."""
    name, _, path = argument.partition("=")
    return f"{name}={cache.file_hash(path)}" if name == "-load-pass-plugin" else argument


def text_of(compiler, path):
    return compiled(path) if compiler == LLC else Path(path).read_text(encoding="utf8", errors="replace")


def kernels_of(text):
    """Returns the kernels of a PTX module that are not too large."""
    return [name for name, is_entry, lines in ptx.functions(text) if is_entry and len(lines) <= LARGEST]


def drawn(count, seed, folder, arch="sm_90", compilers=COMPILERS):
    """Draws `count` kernels, or all, and writes the file of each into the folder. The draw depends only on the seed
    and the corpus."""
    generator = random.Random(seed)
    queues = []
    for compiler in compilers:
        for lineage, paths in sorted(files_of(compiler, arch).items()):
            queues.append((lineage, compiler, iter(generator.sample(paths, len(paths)))))
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    while queues and len(found) < count:
        for queue in list(queues):
            lineage, compiler, paths = queue
            turn = next_kernels(compiler, paths, seed)
            if not turn:
                queues.remove(queue)
            for module, name, text in turn[: count - len(found)]:
                path = folder / f"{len(found):04}.ptx"
                path.write_text(text, encoding="utf8")
                found.append(Program(lineage, compiler, module, name, str(path)))
    return found


def next_kernels(compiler, paths, seed):
    """Returns the next PER_TURN kernels of a group, from as many files as needed: the module, name and text of each
    kernel."""
    found = []
    for path in paths:
        text = text_of(compiler, path)
        names = kernels_of(text)
        # The draw from a file does not depend on draws from other files.
        own = random.Random(f"{seed} {compiler} {Path(path).name}")
        for name in own.sample(names, min(PER_TURN - len(found), len(names))):
            found.append((path, name, ptx.only(text, name)))
        if len(found) == PER_TURN:
            break
    return found
