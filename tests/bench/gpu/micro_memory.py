"""Micro-benchmarks of memory: chases through rings of pointers, loads that share a unit, and streams of bytes."""

from micro import Micro, Ring, chain, registers, stream

KIB = 1024
MIB = 1024 * KIB

ADDRESS = registers("b64", "p", 1)
WORD = registers("b32", "a", 1)


# Shared memory. Each word holds its own address, so that a load gives the next address. For loads that give a row's
# words to other lanes, each word holds the address of the first word. Loads of several words are volatile, because
# otherwise ptxas loads only the used word.
def filled(value):
    return (
        ".shared .align 128 .b8 area[4096];",
        "mov.u32 %a0, area;",
        "mov.u32 %lane, 0;",
        "fill:",
        "add.u32 %slot, %a0, %lane;",
        f"st.shared.u32 [%slot], {value};",
        "add.u32 %lane, %lane, 4;",
        "setp.lt.u32 %again, %lane, 4096;",
        "@%again bra fill;",
        "bar.sync 0;",
        "mad.lo.u32 %slot, %block, 128, %thread;",
    )


OWN, FIRST = filled("%slot"), filled("%a0")


def chase(number, opcode, line, ring, **others):
    """Returns a chase through pointers in global memory by one warp. All lanes follow the same pointer."""
    before = ("mov.b64 %p0, %ring;",)
    settings = {"loaded": ADDRESS, "before": before, "ring": ring, **others}
    return Micro(number, opcode, chain(line, 64), order="chain", share="warp", **settings)


def of_shared(number, opcode, line, loaded=WORD, before=OWN):
    """Returns a chase by one warp through addresses in shared memory."""
    return Micro(number, opcode, chain(line, 64), loaded, "chain", "warp", before=before)


# DRAM: lines in random order, each touched once after a flush of L2, on few enough pages for the TLB.
FAR = Ring(256 * MIB, stride=128, steps=1 << 16)

CONSTANTS = ".const .align 64 .b8 table[1024];"  # the module's only constants: zeros, at address 0
SPARE = registers("b32", "s", 3)
ZERO = registers("b32", "z", 1)

CHASES = [
    chase("latency.l1", "LDG.E.64", "ld.global.ca.u64 %p0, [%p0];", Ring(16 * KIB)),
    chase("latency.l2", "LDG.E.64", "ld.global.cg.u64 %p0, [%p0];", Ring(4 * MIB), turns=(512, 1024)),
    chase("latency.dram", "LDG.E.64", "ld.global.cg.u64 %p0, [%p0];", FAR, turns=(256, 1024)),
    chase(
        "latency.atomic_l2",
        "ATOMG.E.ADD.64",
        "atom.global.add.u64 %p0, [%p0], %z0;",
        Ring(4 * MIB),
        loaded=ADDRESS + registers("b64", "z", 1),
    ),
    of_shared("latency.shared", "LDS", "ld.shared.u32 %a0, [%a0];"),
    of_shared("latency.shared.64", "LDS.64", "ld.volatile.shared.v2.u32 {%a0, %s0}, [%a0];", WORD + SPARE),
    of_shared("latency.shared.128", "LDS.128", "ld.volatile.shared.v4.u32 {%a0, %s0, %s1, %s2}, [%a0];", WORD + SPARE),
    of_shared("latency.atomic_shared", "ATOMS.ADD", "atom.shared.add.u32 %a0, [%a0], %z0;", WORD + ZERO),
    of_shared("latency.ldsm", "LDSM.16.M88", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a0}, [%a0];", WORD, FIRST),
    of_shared(
        "latency.ldsm.4",
        "LDSM.16.M88.4",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %s0, %s1, %s2}, [%a0];",
        WORD + SPARE,
        FIRST,
    ),
    Micro("latency.shuffle", "SHFL.BFLY", chain("shfl.sync.bfly.b32 %a0, %a0, 1, 31, -1;", 64), WORD, "chain", "warp"),
    Micro(
        "latency.constant",
        "LDC",
        chain("ld.const.u32 %a0, [%a0];", 64),
        WORD,
        "chain",
        "warp",
        head=CONSTANTS,
        before=("mov.u32 %lane, table;", "add.u32 %a0, %a0, %lane;"),
    ),
    Micro(
        "latency.local",
        "LDL",
        chain("ld.local.u32 %a0, [%a0];", 64),
        WORD + ZERO,
        "chain",
        "warp",
        before=(
            ".local .align 16 .b8 frame[64];",
            ".reg .b64 %frame;",
            "mov.u64 %frame, frame;",
            "cvt.u32.u64 %a0, %frame;",
            "add.u32 %a0, %a0, %z0;",
            "st.local.u32 [%a0], %a0;",
        ),
    ),
    Micro("latency.barrier", "BAR.SYNC", chain("bar.sync 0;", 64), WORD, "", "warp", warps=4),
]

EIGHT = registers("b32", "a", 8) + registers("b32", "z", 8)
WIDE = tuple(("b32", f"%d{i}{part}") for i in range(8) for part in "bcd")


def addresses(distance):
    """Returns code for eight addresses of a lane that are equal, without ptxas knowing it. Lanes are `distance` bytes
    apart."""
    at = ("and.b32 %lane, %thread, 31;", f"mad.lo.u32 %lane, %lane, {distance}, %a0;")
    return (*OWN, *at, *(f"add.u32 %a{i}, %lane, %z{i};" for i in range(8)))


def unit(number, opcode, line, distance=4, loaded=EIGHT, share="sm", warps=16, **others):
    """Returns accesses of shared memory. Each access uses the result of the access eight places before it."""
    lines = stream(line, 64, 8)
    others = {"before": addresses(distance), "warps": warps, **others}
    return Micro(number, opcode, lines, loaded, "stream", share, **others)


LOAD = "ld.shared.u32 %a{i}, [%a{i}];"
WIDE_LOAD = "ld.volatile.shared.v4.u32 {{%a{i}, %d{i}b, %d{i}c, %d{i}d}}, [%a{i}];"

# Only the warps of one partition continue: those with a number divisible by four.
ONE_PARTITION = (
    "shr.u32 %lane, %thread, 5;",
    "and.b32 %lane, %lane, 3;",
    "setp.ne.u32 %again, %lane, 0;",
    "@%again bra done;",
)

UNITS = [
    unit("pipe.lsu", "LDS", LOAD, working=4, before=addresses(4) + ONE_PARTITION),
    unit("pipe.lsu_issue", "LDS", LOAD),
    unit("pipe.shuffle", "SHFL.BFLY", "shfl.sync.bfly.b32 %a{i}, %a{i}, 1, 31, -1;"),
    Micro(
        "pipe.ldc",
        "LDC",
        stream("ld.const.u32 %a{i}, [%a{i}];", 64, 8),
        EIGHT,
        warps=8,
        head=CONSTANTS,
        before=("mov.u32 %lane, table;", *(f"add.u32 %a{i}, %lane, %z{i};" for i in range(8))),
    ),
    unit("shared.bytes", "LDS.128", WIDE_LOAD, 16, EIGHT + WIDE, "bytes", bytes=16),
    *(unit(f"shared.conflict.{ways}", "LDS", LOAD, 4 * ways) for ways in (2, 4, 8, 16, 32)),
]


def bandwidth(number, cache, size):
    """Returns a benchmark in which all SMs read a buffer, 16 bytes per lane, with eight loads at a time. The loaded
    values are combined, because otherwise ptxas would remove the loads."""
    block = 1024 * 16
    loads = tuple(
        f"ld.global.{cache}.v4.u32 {{%d{i}a, %d{i}b, %d{i}c, %d{i}d}}, [%from+{i * block}];" for i in range(8)
    )
    puts = tuple(f"xor.b32 %a0, %a0, %d{i}{part};" for i in range(8) for part in "abcd")
    before = (
        ".reg .b64 %base, %from, %off, %step;",
        "mul.wide.u32 %base, %thread, 16;",
        "add.u64 %base, %base, %ring;",
        f"mul.wide.u32 %off, %block, {8 * block};",
        "mov.u32 %lane, %nctaid.x;",
        f"mul.wide.u32 %step, %lane, {8 * block};",
        "add.u64 %from, %base, %off;",
    )
    ahead = ("add.u64 %off, %off, %step;", f"and.b64 %off, %off, {size - 1};", "add.u64 %from, %base, %off;")
    loaded = WORD + tuple(("b32", f"%d{i}{part}") for i in range(8) for part in "abcd")
    return Micro(
        number,
        "LDG.E.128",
        loads + puts + ahead,
        loaded,
        "stream",
        "bytes",
        count=8,
        warps=32,
        before=before,
        beside=("LOP3", "IMAD", "ULOP3"),
        bytes=16,
        buffer=size,
        whole_gpu=True,
    )


BANDWIDTHS = [bandwidth("l2.bytes", "cg", 16 * MIB), bandwidth("dram.bytes", "cg", 4096 * MIB)]

ALL = [*CHASES, *UNITS, *BANDWIDTHS]
