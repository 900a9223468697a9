"""Micro-benchmarks of arithmetic: the issue intervals of pipes from independent streams, and latencies from dependent
chains."""

from dataclasses import replace

from micro import Micro, chain, registers, stream

WIDTH = 8
COUNT = 64
WARPS = 8  # two per partition: one would measure ptxas's stall counts


def pipe(number, opcode, line, loaded, **others):
    """Returns a stream of one instruction on eight registers, with two warps per partition."""
    others = {"warps": WARPS, "count": COUNT, **others}
    return Micro(number, opcode, stream(line, others["count"], WIDTH), loaded, **others)


def latency(number, opcode, line, loaded, **others):
    """Returns a chain on one warp: each instruction uses the result of the previous one."""
    others = {"count": COUNT, **others}
    return Micro(number, opcode, chain(line, others["count"]), loaded, order="chain", share="warp", **others)


def kinds(kind, letters):
    """Returns registers by letter: eight for results, and operands."""
    return tuple(one for letter, count in letters for one in registers(kind, letter, count))


F32 = kinds("f32", (("a", WIDTH), ("b", 1), ("c", 1)))
B32 = kinds("b32", (("a", WIDTH), ("b", 1), ("c", 1)))
F64 = kinds("f64", (("a", WIDTH), ("b", 1), ("c", 1)))

PIPES = [
    pipe("pipe.fma", "FFMA", "fma.rn.f32 %a{i}, %a{i}, %b0, %c0;", F32),
    pipe("pipe.fma_heavy", "IMAD", "mad.lo.u32 %a{i}, %a{i}, %b0, %c0;", B32),
    pipe("pipe.alu", "PRMT", "prmt.b32 %a{i}, %a{i}, %b0, %c0;", B32),
    pipe("pipe.fma_wide", "IMAD.HI", "mul.hi.u32 %a{i}, %a{i}, %b0;", B32),
    # ptxas alternates HFMA2 with HFMA2.MMA. Each of them makes up half of the instructions and has its own pipe.
    pipe("pipe.half", "HFMA2", "fma.rn.f16x2 %a{i}, %a{i}, %b0, %c0;", B32, parts=0.5),
    pipe("pipe.fp64", "DFMA", "fma.rn.f64 %a{i}, %a{i}, %b0, %c0;", F64),
    pipe("pipe.xu", "MUFU.EX2", "ex2.approx.ftz.f32 %a{i}, %a{i};", F32),
    pipe("pipe.redux", "MATCH.ANY", "match.any.sync.b32 %a{i}, %a{i}, -1;", B32),
]

LATENCIES = [
    latency("latency.fma", "FFMA", "fma.rn.f32 %a0, %a0, %b0, %c0;", F32),
    latency("latency.fma_heavy", "IMAD", "mad.lo.u32 %a0, %a0, %b0, %c0;", B32),
    latency("latency.alu", "PRMT", "prmt.b32 %a0, %a0, %b0, %c0;", B32),
    latency("latency.half_both", "HFMA2", "fma.rn.f16x2 %a0, %a0, %b0, %c0;", B32, mixed=True),
    latency("latency.fp64", "DFMA", "fma.rn.f64 %a0, %a0, %b0, %c0;", F64),
    latency("latency.mufu", "MUFU.EX2", "ex2.approx.ftz.f32 %a0, %a0;", F32),
    latency("latency.popc", "POPC", "popc.b32 %a0, %a0;", B32),
    # I2FP converts the result back to a float; its latency is that of ALU.
    Micro(
        "latency.conversion",
        "F2I",
        chain("cvt.rzi.s32.f32 %b0, %a0;\n    cvt.rn.f32.s32 %a0, %b0;", COUNT),
        kinds("f32", (("a", 1),)) + kinds("b32", (("b", 1),)),
        order="",
        share="warp",
        beside=("I2FP",),
        less=5,
    ),
]


# Kinds of instructions for pairs: the register type, the opcodes that ptxas emits, and the PTX.
KINDS = {
    "FFMA": ("f32", ("FFMA",), "fma.rn.f32 @{i}, @{i}, @8, @9;"),
    "IMAD": ("b32", ("IMAD",), "mad.lo.u32 @{i}, @{i}, @8, @9;"),
    "IDP": ("b32", ("IDP",), "dp4a.s32.s32 @{i}, @{i}, @8, @9;"),
    "PRMT": ("b32", ("PRMT",), "prmt.b32 @{i}, @{i}, @8, @9;"),
    "HADD2": ("b32", ("HADD2", "HFMA2"), "add.rn.f16x2 @{i}, @{i}, @8;"),
    "DFMA": ("f64", ("DFMA",), "fma.rn.f64 @{i}, @{i}, @8, @9;"),
    "MUFU": ("f32", ("MUFU",), "ex2.approx.ftz.f32 @{i}, @{i};"),
    "POPC": ("b32", ("POPC",), "popc.b32 @{i}, @{i};"),
    "SHFL": ("b32", ("SHFL",), "shfl.sync.bfly.b32 @{i}, @{i}, 1, 31, -1;"),
}


def pair(names):
    """Returns alternating instructions of two kinds. The time of both shows whether they share a pipe."""
    (one, (opcode,), line), (other, beside, second) = (KINDS[name] for name in names.split("."))
    lines = line.replace("@", "%a") + second.replace("@", "%b")
    loaded = registers(one, "a", WIDTH + 2) + registers(other, "b", WIDTH + 2)
    more = {"count": 48, "warps": WARPS, "beside": beside, "mixed": True}
    return Micro(f"pair.{names}", opcode, stream(lines, 48, WIDTH), loaded, "", **more)


PAIRS = [
    pair(names)
    for names in (
        "FFMA.IMAD", "FFMA.IDP", "FFMA.PRMT", "IMAD.PRMT", "IMAD.HADD2",
        "DFMA.IMAD", "DFMA.PRMT", "MUFU.POPC", "MUFU.SHFL", "POPC.SHFL",
    )
]  # fmt: skip


def matrix(shape, latency_name, line, a, b, c, kind="b32", opcode=None):
    """Returns the stream and the chain of a matrix product. `{d}` in `line` is the accumulator."""
    count = 32

    def names(letter, many, first=0):
        return "{" + ", ".join(f"%{letter}{first + i}" for i in range(many)) + "}"

    def copies(width):
        of = {"a": names("a", a), "b": names("b", b)}
        return tuple(line.format(d=names("d", c, at % width * c), **of) for at in range(count))

    def loaded(width):
        source = "f64" if kind == "f64" else "b32"
        return registers(source, "a", a) + registers(source, "b", b) + registers(kind, "d", c * width)

    opcode = opcode or shape
    return [
        Micro(f"pipe.tensor.{shape}", opcode, copies(4), loaded(4), warps=WARPS, count=count),
        Micro(latency_name, opcode, copies(1), loaded(1), "chain", "warp", count=count),
    ]


def mma(shape, types, layout="{d}, {a}, {b}, {d}"):
    return f"mma.sync.aligned.{shape}.row.col.{types} {layout};"


MATRICES = [
    *matrix("HMMA.16816.F32", "latency.hmma", mma("m16n8k16", "f32.f16.f16.f32"), 4, 2, 4, "f32"),
    *matrix("HMMA.16816.F16", "latency.hmma.f16", mma("m16n8k16", "f16.f16.f16.f16"), 4, 2, 2),
    *matrix("HMMA.1688.F32", "latency.hmma.1688", mma("m16n8k8", "f32.f16.f16.f32"), 2, 1, 4, "f32"),
    *matrix("HMMA.1688.F16", "latency.hmma.1688.f16", mma("m16n8k8", "f16.f16.f16.f16"), 2, 1, 2),
    *matrix("HMMA.1688.F32.TF32", "latency.hmma.tf32", mma("m16n8k8", "f32.tf32.tf32.f32"), 4, 2, 4, "f32"),
    *matrix("HMMA.1684.F32.TF32", "latency.hmma.1684", mma("m16n8k4", "f32.tf32.tf32.f32"), 2, 1, 4, "f32"),
    *matrix("IMMA.16832", "latency.imma", mma("m16n8k32", "s32.s8.s8.s32"), 4, 2, 4),
    *matrix("IMMA.16816", "latency.imma.16816", mma("m16n8k16", "s32.s8.s8.s32"), 2, 1, 4),
    *matrix("DMMA.8x8x4", "latency.dmma", mma("m8n8k4", "f64.f64.f64.f64"), 1, 1, 2, "f64"),
    *matrix("DMMA.16x8x16", "latency.dmma.16x8x16", mma("m16n8k16", "f64.f64.f64.f64"), 8, 4, 4, "f64"),
]


def beside_matrix(name):
    """Returns matrix products that alternate with another kind of instruction."""
    kind, beside, line = KINDS[name]
    product = MATRICES[0]
    others = stream(line.replace("@", "%f"), product.count, WIDTH)
    lines = tuple(text for two in zip(product.lines, others, strict=True) for text in two)
    loaded = product.loaded + registers(kind, "f", WIDTH + 2)
    return replace(product, number=f"pair.HMMA.{name}", lines=lines, loaded=loaded, order="", beside=beside, mixed=True)


PAIRS += [beside_matrix(name) for name in ("FFMA", "IMAD", "PRMT", "DFMA")]

ALL = [*PIPES, *LATENCIES, *PAIRS, *MATRICES]
