"""Kernels to run with their inputs, and the file that transfers them from the machine with LLVM to the machine with
the GPU."""

import json
import random
import struct
from array import array
from dataclasses import asdict, dataclass, field

# Letters of module `struct` by PTX type. Module `array` uses the same letters, as far as it knows them. The size of a
# type is also its alignment.
TYPES = {"u8": "B", "u16": "H", "s32": "i", "u32": "I", "u64": "Q", "f16": "e", "f32": "f", "f64": "d"}
# Number of random values of a buffer. They are repeated, because drawing millions of values takes longer than the
# kernels.
DRAWN = 1 << 16


@dataclass(frozen=True)
class Scalar:
    type: str
    value: float


@dataclass(frozen=True)
class Buffer:
    """Memory of the device, passed as a pointer. Buffers that kernels write are filled again before each launch."""

    type: str
    count: int
    fill: str = "zeros"  # or: uniform from low to high, ramp by high, each value low (all integers in integer types)
    low: float = 0
    high: float = 1
    written: bool = False
    compared: bool = True  # if it is written


@dataclass(frozen=True)
class Struct:
    fields: tuple


@dataclass(frozen=True)
class Kernel:
    """A launch of a kernel. If there is a seed, the emulator draws the arguments and the memory from it."""

    name: str
    example: str  # the name of its file
    grid: tuple
    block: tuple
    arguments: tuple = field(default_factory=tuple)
    seed: int | None = None
    shared: int = 0  # bytes of dynamic shared memory
    source: str = "examples"

    def buffers(self):
        """Returns all buffers in order, including buffers in structs."""
        return list(flat_buffers(self.arguments))


def flat_buffers(arguments):
    for argument in arguments:
        if isinstance(argument, Buffer):
            yield argument
        elif isinstance(argument, Struct):
            yield from flat_buffers(argument.fields)


def size_of(argument):
    """Returns the size and the alignment of an argument, as in C."""
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
    """Returns the bytes of one argument. `addresses` yields the address of the next buffer."""
    if isinstance(argument, Buffer):
        return struct.pack("<Q", next(addresses))
    if isinstance(argument, Scalar):
        return struct.pack("<" + TYPES[argument.type], argument.value)
    packed = b""
    for part in argument.fields:
        packed = packed.ljust(aligned(len(packed), size_of(part)[1]), b"\0") + pack(part, addresses)
    return packed.ljust(size_of(argument)[0], b"\0")


def contents(buffer, seed):
    """Returns the content of a buffer before a launch. The same seed gives the same bytes."""
    letter = TYPES[buffer.type]
    is_float = letter in "fd"
    if buffer.fill == "zeros":
        return bytes(buffer.count * struct.calcsize(letter))
    if buffer.fill == "ramp":
        return array(letter, (i * int(buffer.high) for i in range(buffer.count))).tobytes()
    source = random.Random(seed)
    if buffer.fill == "uniform":
        draw = source.uniform if is_float else source.randint
    elif buffer.fill == "integers":  # integers in any type, so that sums of a few are exact in any order
        draw = source.randint
    else:
        raise ValueError(f"unknown fill of a buffer: {buffer.fill}")
    drawn = array(letter, (draw(buffer.low, buffer.high) for _ in range(min(buffer.count, DRAWN))))
    data = drawn.tobytes()
    size = buffer.count * struct.calcsize(letter)
    return (data * -(-size // max(len(data), 1)))[:size]


def first_difference(one, other, type_name):
    """Returns the index of the first element whose bits differ, and both values. `None` if there is no difference."""
    if one == other:
        return None
    letter = TYPES[type_name]
    size = struct.calcsize(letter)
    if len(one) != len(other):
        return min(len(one), len(other)) // size, len(one), len(other)
    at = next(i for i in range(0, len(one), size) if one[i : i + size] != other[i : i + size])
    return at // size, *(struct.unpack_from("<" + letter, data, at)[0] for data in (one, other))


def dump(kernels):
    """Returns the manifest's text."""

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
