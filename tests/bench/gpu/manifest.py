"""Kernels to run, what they are given, and the file that carries both from where LLVM is to where the GPU is."""

import json
import random
import struct
from array import array
from dataclasses import asdict, dataclass, field

# By the names of PTX: struct's letter, array's letter where there is one, and the size, which is also the alignment.
TYPES = {"u8": "B", "u16": "H", "s32": "i", "u32": "I", "u64": "Q", "f16": "e", "f32": "f", "f64": "d"}
# Random values are drawn once and repeated: drawing millions takes longer than the kernels.
DRAWN = 1 << 16


@dataclass(frozen=True)
class Scalar:
    type: str
    value: float


@dataclass(frozen=True)
class Buffer:
    """Memory of the device; a pointer to it is passed. What kernels write is filled anew before each launch."""

    type: str
    count: int
    fill: str = "zeros"  # or: uniform from low to high, ramp by high, each value low (all integers in integer types)
    low: float = 0
    high: float = 1
    written: bool = False
    compared: bool = True  # where it is written


@dataclass(frozen=True)
class Struct:
    fields: tuple


@dataclass(frozen=True)
class Kernel:
    """A launch of a kernel. The emulator draws the arguments and the memory from the seed, if there is one."""

    name: str
    example: str  # the name of the file that it is in
    grid: tuple
    block: tuple
    arguments: tuple = field(default_factory=tuple)
    seed: int | None = None
    shared: int = 0  # bytes of dynamic shared memory
    source: str = "examples"

    def buffers(self):
        """All buffers, in order, those that structs point to included."""
        return list(flat_buffers(self.arguments))


def flat_buffers(arguments):
    for argument in arguments:
        if isinstance(argument, Buffer):
            yield argument
        elif isinstance(argument, Struct):
            yield from flat_buffers(argument.fields)


def size_of(argument):
    """Size and alignment, as C has them."""
    if isinstance(argument, Struct):
        sizes = [size_of(f) for f in argument.fields]
        alignment = max(alignment for _, alignment in sizes)
        offset = 0
        for size, field_alignment in sizes:
            offset = aligned(offset, field_alignment) + size
        return aligned(offset, alignment), alignment
    size = 8 if isinstance(argument, Buffer) else struct.calcsize(TYPES[argument.type])
    return size, size


def aligned(offset, alignment):
    return -(-offset // alignment) * alignment


def pack(argument, addresses):
    """The bytes of one argument; `addresses` gives the next buffer's address."""
    if isinstance(argument, Buffer):
        return struct.pack("<Q", next(addresses))
    if isinstance(argument, Scalar):
        return struct.pack("<" + TYPES[argument.type], argument.value)
    packed = b""
    for part in argument.fields:
        packed = packed.ljust(aligned(len(packed), size_of(part)[1]), b"\0") + pack(part, addresses)
    return packed.ljust(size_of(argument)[0], b"\0")


def contents(buffer, seed):
    """What a buffer holds before a launch: the same bytes for the same seed."""
    letter = TYPES[buffer.type]
    is_float = letter in "fd"
    if buffer.fill == "zeros":
        return bytes(buffer.count * struct.calcsize(letter))
    if buffer.fill == "ramp":
        return array(letter, (i * int(buffer.high) for i in range(buffer.count))).tobytes()
    source = random.Random(seed)
    if buffer.fill == "uniform":
        draw = source.uniform if is_float else source.randint
    elif buffer.fill == "integers":  # in any type: sums of few of them are exact, in any order
        draw = source.randint
    else:
        raise ValueError(f"no way to fill a buffer is called {buffer.fill}")
    drawn = array(letter, (draw(buffer.low, buffer.high) for _ in range(min(buffer.count, DRAWN))))
    data = drawn.tobytes()
    size = buffer.count * struct.calcsize(letter)
    return (data * -(-size // max(len(data), 1)))[:size]


def first_difference(one, other, type_name):
    """The index of the first element whose bits differ and both values; None where there is none."""
    if one == other:
        return None
    letter = TYPES[type_name]
    size = struct.calcsize(letter)
    if len(one) != len(other):
        return min(len(one), len(other)) // size, len(one), len(other)
    at = next(i for i in range(0, len(one), size) if one[i : i + size] != other[i : i + size])
    return at // size, *(struct.unpack_from("<" + letter, data, at)[0] for data in (one, other))


def dump(kernels):
    """The manifest's text."""

    def encode(argument):
        if isinstance(argument, Struct):
            return {"kind": "struct", "fields": [encode(f) for f in argument.fields]}
        return {"kind": type(argument).__name__.lower(), **asdict(argument)}

    return json.dumps([{**asdict(k), "arguments": [encode(a) for a in k.arguments]} for k in kernels], indent=1)


def load(text):
    def decode(argument):
        kind = argument.pop("kind")
        if kind == "struct":
            return Struct(tuple(decode(f) for f in argument["fields"]))
        return {"scalar": Scalar, "buffer": Buffer}[kind](**argument)

    def kernel(entry):
        arguments = tuple(decode(a) for a in entry["arguments"])
        shape = {"grid": tuple(entry["grid"]), "block": tuple(entry["block"])}
        return Kernel(**{**entry, **shape, "arguments": arguments})

    return [kernel(entry) for entry in json.loads(text)]
