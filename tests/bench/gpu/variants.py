"""Variants: the ways in which prepare.py and bundle.py compile kernels. Each variant names the variant with which
run.py compares it."""

import json
from dataclasses import asdict, dataclass

# Register limits of variants that show the cost of spilling.
LIMITS = (24, 32, 48, 64, 128, 255)
RUNS = 8  # runs of ptxas in a search for a bundle, so that packing takes minutes


@dataclass(frozen=True)
class Variant:
    """One way to compile. Its times are compared with those of the variant `base`, its outputs with those of
    `outputs_of`."""

    name: str
    compiler: str  # clang, nvcc, or a command of nvptx-ra: compile, tune, or ptx on the output of clang or nvcc
    options: tuple = ()  # of that command
    limit: int | None = None  # register limit, as the kernel's attribute nvvm.maxnreg, or .maxnreg in the PTX
    base: str = "stock"
    outputs_of: str = "stock"  # the variant that writes the same bits
    of: str = "nvcc"  # the compiler whose PTX the command ptx reads


def limited(registers):
    """Yields variants with one register limit. In one variant, ptxas spills to local memory. In the others, nvptx-ra
    first spills to shared memory, either outside of loops or everywhere."""
    local = f"local-{registers}"
    yield Variant(local, "compile", limit=registers)
    kept = ("--set", f"regalloc={registers}", "--set", "regalloc-slack=12")
    yield Variant(f"outside-{registers}", "compile", kept, registers, local)
    yield Variant(f"shared-{registers}", "compile", (*kept, "--set", "regalloc-loops=on"), registers, local)


def on_ptx(compiler, base, limits, outputs_of):
    """Yields variants with passes on a compiler's PTX. Their names begin with the name of the compiler's variant,
    unless this is stock."""
    prefix = "" if base == "stock" else f"{base}-"
    passes = {
        "remat": "nvptx-remat<remat=high>",
        "late": "nvptx-schedule<order=late>",
        "eager": "nvptx-schedule<order=eager>",
        "names": "nvptx-rename<rename-all>",
        "all": "nvptx-copy-coalescer,nvptx-remat<remat=peaks>,nvptx-schedule<order=bottom-up>,nvptx-rename",
    }
    for name, pipeline in passes.items():
        yield Variant(f"{prefix}{name}", "ptx", (f"-passes={pipeline}",), None, base, outputs_of, compiler)
    for registers in limits:
        local = f"{prefix}local-{registers}"
        yield Variant(local, compiler, limit=registers, base=base, outputs_of=outputs_of)
        for to in ("shared", "local", "all"):
            kept = f"nvptx-regalloc<regalloc={registers};regalloc-slack=12;regalloc-loops=on;spill-to={to}>"
            name = f"{prefix}to-{to}-{registers}"
            yield Variant(name, "ptx", (f"-passes={kept}",), registers, local, outputs_of, compiler)


VARIANTS = [
    Variant("stock", "clang"),
    Variant("default", "compile"),
    Variant("tuned", "tune"),
    *(variant for registers in LIMITS for variant in limited(registers)),
    Variant("nvcc", "nvcc", outputs_of="nvcc"),
    *on_ptx("nvcc", "nvcc", (32, 64, 255), "nvcc"),
]
# The variants of a bundle. `slots` spills to shared memory at the kernel's own bounds.
BUNDLED = [
    Variant("stock", "clang"),
    Variant("default", "compile"),
    Variant("tuned", "tune", (f"--runs={RUNS}",)),
    Variant("slots", "ptx", ("-passes=nvptx-regalloc<regalloc=auto>",), of="clang"),
    *on_ptx("clang", "stock", (64,), "stock"),
]


def as_json(variants, figures):
    """Returns the text of variants.json, with ptxas's figures of each variant's kernels."""
    said = [{**asdict(variant), "options": list(variant.options)} for variant in variants]
    return json.dumps({"variants": said, "ptxas": figures}, indent=1)
