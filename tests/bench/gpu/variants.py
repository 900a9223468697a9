"""The ways in which prepare.py compiles the examples, and with which other way run.py compares each."""

from dataclasses import dataclass

# Registers that a thread may have, where a variant shows what spilling costs.
LIMITS = (24, 32, 48, 64, 128, 255)


@dataclass(frozen=True)
class Variant:
    """One way of compiling. Its times are compared with those of `base`, its outputs with those of `outputs_of`."""

    name: str
    compiler: str  # clang, nvcc, or a command of nvptx-ra: compile, tune, or ptx on what nvcc makes
    options: tuple = ()  # of that command
    limit: int | None = None  # registers, as the kernel's attribute nvvm.maxnreg, or .maxnreg in the PTX
    base: str = "stock"
    outputs_of: str = "stock"  # the variant that writes the same bits


def limited(registers):
    """Variants with one limit: ptxas spills to local memory, or we keep values in shared memory first, outside of loops
    or everywhere."""
    local = f"local-{registers}"
    yield Variant(local, "compile", limit=registers)
    kept = ("--set", f"regalloc={registers}", "--set", "regalloc-slack=12")
    yield Variant(f"outside-{registers}", "compile", kept, registers, local)
    yield Variant(f"shared-{registers}", "compile", (*kept, "--set", "regalloc-loops=on"), registers, local)


def on_ptx():
    """What nvcc makes, and what passes on its PTX make of that."""
    yield Variant("nvcc", "nvcc", outputs_of="nvcc")
    passes = {
        "remat": "nvptx-remat<remat=high>",
        "late": "nvptx-schedule<order=late>",
        "eager": "nvptx-schedule<order=eager>",
        "names": "nvptx-rename<rename-all>",
        "all": "nvptx-copy-coalescer,nvptx-remat<remat=peaks>,nvptx-schedule<order=bottom-up>,nvptx-rename",
    }
    for name, pipeline in passes.items():
        yield Variant(f"nvcc-{name}", "ptx", (f"-passes={pipeline}",), base="nvcc", outputs_of="nvcc")
    for registers in (32, 64, 255):
        local = f"nvcc-local-{registers}"
        yield Variant(local, "nvcc", limit=registers, base="nvcc", outputs_of="nvcc")
        for to in ("shared", "local", "all"):
            kept = f"nvptx-regalloc<regalloc={registers};regalloc-slack=12;regalloc-loops=on;spill-to={to}>"
            yield Variant(f"nvcc-to-{to}-{registers}", "ptx", (f"-passes={kept}",), registers, local, "nvcc")


VARIANTS = [
    Variant("stock", "clang"),
    Variant("default", "compile"),
    Variant("tuned", "tune"),
    *(variant for registers in LIMITS for variant in limited(registers)),
    *on_ptx(),
]
