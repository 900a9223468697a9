"""Sources of the kernels to compile in several ways: the examples, and single kernels of the corpus."""

import argparse
import re
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import cache
import demo
import kept
import measure
import ptxas
import tools
from plan import STOCK, Compiler
from variants import RUNS

KERNEL = re.compile(r"^(define .*\bptx_kernel\b.*) (#\d+)", re.MULTILINE)
# Operations that ptxas may fuse. The order of the code determines whether ptxas fuses a product and a sum, and thereby
# the bits of the result.
FUSABLE = re.compile(r"(?<![.\w])(add|sub|mul)((?:\.ftz|\.sat)*\.(?:f16x2|f16|bf16x2|bf16|f32|f64))\b")


def with_rounding(text):
    """Returns PTX in which ptxas fuses no product with a sum."""
    return FUSABLE.sub(r"\1.rn\2", text)


@dataclass(frozen=True)
class Example:
    """A file of examples/. `folder` has its intermediate files."""

    name: str
    folder: Path

    @property
    def path(self):
        return str(tools.ROOT / f"examples/{self.name}.cu")

    @property
    def identity(self):
        """The inputs from which the PTX is made, except the variant."""
        return [self.name, cache.file_hash(self.path), cache.file_hash(tools.nvptx_ra())]

    def plain(self, compiler):
        """Returns the PTX of clang or nvcc."""
        output = self.folder / f"{self.name}.ptx"
        if compiler == "clang":
            demo.compile_cuda(self.path, str(output), ["-S"])
        else:
            nvcc = tools.find_cuda("nvcc") or sys.exit("missing:\n  nvcc: run make setup, or set CUDA_PATH")
            options = [f"-arch={demo.CPU}", "-std=c++17", "-fmad=false"]
            demo.run([nvcc, *options, "-ptx", self.path, "-o", str(output)], 300)
        return output.read_text(encoding="utf8")

    def ours(self, variant):
        """Returns the PTX that a compiling command of nvptx-ra makes."""
        module, output = self.folder / f"{self.name}.ll", self.folder / f"{self.name}.ptx"
        demo.compile_cuda(self.path, str(module), ["-S", "-emit-llvm"])
        if variant.limit:
            limited = KERNEL.sub(rf'\1 "nvvm.maxnreg"="{variant.limit}" \2', module.read_text(encoding="utf8"))
            module.write_text(limited, encoding="utf8")
        # The flags with which clang compiles CUDA
        as_clang = ["--cpu", demo.CPU, "--fp-contract", "fast"]
        command = [tools.nvptx_ra(), variant.compiler, str(module), *as_clang, "-o", str(output)]
        demo.run([*command, *variant.options], 600)
        module.unlink()
        return output.read_text(encoding="utf8")


class Failed(Exception):
    """Error: a kernel of the corpus does not compile in one of the ways."""


@dataclass(frozen=True)
class OfCorpus:
    """A kernel of the corpus in its own module, compiled as by kept.py. Compilations are cached."""

    kernel: Any  # searched.Kernel
    plan: Any

    @property
    def identity(self):
        programs = (tools.nvptx_ra(), self.plan.tools.llc, self.plan.tools.plugin)
        return [self.kernel.name, *(cache.file_hash(path) for path in (self.kernel.path, *programs))]

    def plain(self, _):
        """Returns the PTX of stock llc."""
        return self.compiled(Compiler(STOCK))

    def ours(self, variant):
        if variant.compiler == "compile":
            return self.compiled(Compiler("plugin", ()))
        search = argparse.Namespace(tool=tools.nvptx_ra(), runs=RUNS)
        error, text = kept.tuned_text(self.kernel, self.kernel.path, self.plan, search)
        if error:
            raise Failed(error)
        return text

    def compiled(self, compiler):
        result, text = measure.compile_module(self.kernel.key, compiler, self.plan)
        if result["error"]:
            raise Failed(result["error"])
        return text


def ptx_of(variant, source, folder, tool):
    """Returns the PTX of a source, compiled as a variant. `tool` runs passes on PTX. Temporary files are in
    `folder`."""
    if variant.compiler in ("compile", "tune"):
        return source.ours(variant)
    text = source.plain(variant.of if variant.compiler == "ptx" else variant.compiler)
    if variant.limit:
        text = ptxas.with_setting(text, str(variant.limit))
    if variant.compiler == "ptx":
        path = Path(folder, "passes.ptx")
        path.write_text(text, encoding="utf8")
        outcome = tools.run([tool, "ptx", str(path), *variant.options, "-o", str(path)], 300)
        if outcome.error:
            raise Failed(outcome.error)
        text = path.read_text(encoding="utf8")
    return text


def cached_ptx(variant, source, tool):
    """Returns the PTX of a source, compiled as a variant, from the cache if possible."""
    passes = cache.file_hash(tool) if variant.compiler == "ptx" else ""
    key = cache.key_of("bundled", source.identity, asdict(variant), passes)
    store = cache.Cache(cache.folder())
    if (text := store.get_text(key)) is None:
        with tempfile.TemporaryDirectory() as folder:
            text = ptx_of(variant, source, folder, tool)
        store.put_text(key, text)
    return with_rounding(text)
