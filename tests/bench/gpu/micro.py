"""A micro-benchmark: a kernel with a timed loop of many copies of one instruction, and the formula that computes a
number from its time."""

from dataclasses import dataclass

PARTITIONS = 4
LANES = 32

# Bytes of a load by the PTX type of its register.
BYTES = {"b32": 4, "f32": 4, "b64": 8, "f64": 8}


@dataclass(frozen=True)
class Ring:
    """A ring of pointers in memory, whole lines apart, so that a chase through them hits one level of the memory."""

    bytes: int
    stride: int = 128
    steps: int = 0  # number of pointers that are chased; 0: all that fit


@dataclass(frozen=True)
class Micro:
    """One number of the time model and the loop that measures it.

    `opcode` is nvdisasm's name of the instruction, `count` its number of copies in the loop. With `order` =
    `chain`, each instruction depends on the previous one. With `stream`, it is independent of the three previous
    ones. With other values, neither is required. `share` is the unit that is measured: `warp` (a latency),
    `partition`, `sm`, `turn` (the part of an iteration beyond its instructions) or `bytes`.
    """

    number: str
    opcode: str
    lines: tuple[str, ...]
    loaded: tuple[tuple[str, str], ...]
    order: str = "stream"
    share: str = "partition"
    count: int = 64
    warps: int = 1
    working: int = 0  # warps that measure, while the others exit; 0: all
    before: tuple[str, ...] = ()
    head: str = ""  # declarations of the module before its kernels, once
    beside: tuple[str, ...] = ()  # other opcodes that the loop needs
    less: float = 0.0  # cycles of these, for each of `count`
    bytes: int = 0  # of one lane's access
    parts: float = 1.0  # instructions that one of `count` counts for
    mixed: bool = False  # ptxas alternates two opcodes, and the number is their mean
    ring: Ring | None = None
    buffer: int = 0  # bytes of memory instead of a ring
    whole_gpu: bool = False
    turns: tuple[int, int] = (64, 320)

    def name(self):
        return "k_" + "".join(c if c.isalnum() else "_" for c in self.number)

    def value(self, cycles, loop_instructions=0):
        """Returns the number, from the cycles of one iteration."""
        each = cycles / self.count - self.less
        if self.share == "warp":
            return each / self.parts
        if self.share == "turn":
            return cycles - loop_instructions
        working = self.working or self.warps
        if self.share == "bytes":
            return self.bytes * LANES * working * self.count / cycles
        return each * (PARTITIONS if self.share == "partition" else 1) / working / self.parts


def registers(kind, letter, count):
    """Returns `count` registers. They are loaded from memory, so that ptxas does not know their values."""
    return tuple((kind, f"%{letter}{i}") for i in range(count))


def kernel(micro):
    """Returns the PTX of a kernel. Each warp stores the clock before and after its loop, so that the runner can use
    the earliest start and the latest end."""
    declared = "\n".join(f"    .reg .{kind} {name};" for kind, name in micro.loaded)
    loads, stores, at = [], [], 0
    for kind, name in micro.loaded:
        loads.append(f"    ld.global.{kind} {name}, [%mine+{at}];")
        stores.append(f"    st.global.{kind} [%mine+{at}], {name};")
        at += 8

    def shown(lines):
        return "\n".join(f"    {line}" for line in lines)

    return f"""
.visible .entry {micro.name()}(.param .u64 times, .param .u64 data, .param .u64 ring, .param .u32 turns)
.reqntid {micro.warps * LANES}, 1, 1
{{
    .reg .pred %again;
    .reg .b32 %turn, %thread, %block, %slot, %lane;
    .reg .b64 %times, %mine, %ring, %start, %end, %wide;
{declared}
    ld.param.u64 %times, [times];
    ld.param.u64 %mine, [data];
    ld.param.u64 %ring, [ring];
    ld.param.u32 %turn, [turns];
    mov.u32 %thread, %tid.x;
    mov.u32 %block, %ctaid.x;
    mad.lo.u32 %slot, %block, {micro.warps * LANES}, %thread;
    mul.wide.u32 %wide, %slot, {max(at, 8)};
    add.u64 %mine, %mine, %wide;
{chr(10).join(loads)}
{shown(micro.before)}
    bar.sync 0;
    mov.u64 %start, %clock64;
again:
    .pragma "nounroll";
{shown(micro.lines)}
    sub.u32 %turn, %turn, 1;
    setp.ne.u32 %again, %turn, 0;
    @%again bra again;
    mov.u64 %end, %clock64;
{chr(10).join(stores)}
    and.b32 %lane, %thread, 31;
    setp.ne.u32 %again, %lane, 0;
    @%again bra done;
    shr.u32 %slot, %slot, 5;
    mul.wide.u32 %wide, %slot, 16;
    add.u64 %times, %times, %wide;
    st.global.v2.u64 [%times], {{%start, %end}};
done:
    ret;
}}
"""


def module(micros):
    """Returns one module with all kernels, because starting ptxas or nvdisasm takes longer than processing a kernel."""
    heads = dict.fromkeys(one.head for one in micros if one.head)
    return "\n".join([".version 9.0", ".target sm_90", ".address_size 64", *heads, *map(kernel, micros)])


def stream(line, count, width):
    """Returns copies of a line in which `{i}` cycles through `width` registers."""
    return tuple(line.format(i=at % width) for at in range(count))


def chain(line, count):
    """Returns copies of a line that reads its own result."""
    return (line,) * count
