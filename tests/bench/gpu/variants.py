"""The ways in which prepare.py compiles the examples, and with which other way run.py compares each."""

from dataclasses import dataclass

# Registers that a thread may have, where a variant shows what spilling costs.
LIMITS = (24, 32, 48, 64, 128, 255)


@dataclass(frozen=True)
class Variant:
    """One way of compiling. Its code and times are compared with those of `base`."""

    name: str
    compiler: str  # clang, or a command of nvptx-ra: compile or tune
    options: tuple = ()  # of that command
    limit: int | None = None  # registers, the kernel's attribute nvvm.maxnreg
    base: str = "stock"


def limited(registers):
    """Two variants with one limit: ptxas spills to local memory, or we keep values in shared memory first."""
    local = f"local-{registers}"
    yield Variant(local, "compile", limit=registers)
    kept = ("--set", f"regalloc={registers}", "--set", "regalloc-slack=12", "--set", "regalloc-loops=on")
    yield Variant(f"shared-{registers}", "compile", kept, registers, local)


VARIANTS = [
    Variant("stock", "clang"),
    Variant("default", "compile"),
    Variant("tuned", "tune"),
    *(variant for registers in LIMITS for variant in limited(registers)),
]
