"""Inputs of a launch: the content of its buffers, and its arguments. They come from the manifest or from a record.

`nvptx-ra run --record FOLDER` writes a record: launch.json with the arguments, and the memory that the kernel
touches, before and after the launch.
"""

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import manifest

# The emulator's tolerances of floating-point numbers: relative to the larger number, and absolute.
TOLERANCES = {"f64": (1e-9, 1e-12), "f32": (1e-3, 1e-6), "f16": (1e-2, 1e-3), "bf16": (4e-2, 1e-3)}


@dataclass(frozen=True)
class Region:
    """A buffer: its content, and the offset of the address that is passed."""

    content: bytes
    type: str = "u32"
    written: bool = True
    compared: bool = True
    start: int = 0  # offset of the buffer from the address that is passed


@dataclass(frozen=True)
class Inputs:
    grid: tuple
    block: tuple
    regions: list
    pack: Any  # function from the addresses of the regions to the bytes of each argument
    shared: int = 0
    # Each region after the launch in the emulator: its bytes, and [offset, count, type] of the stored values.
    expected: list | None = None


def of_manifest(kernel, seed):
    """Returns the inputs of a kernel with arguments in the manifest."""
    buffers = kernel.buffers()

    def pack(addresses):
        following = iter(addresses)
        return [manifest.pack(argument, following) for argument in kernel.arguments]

    contents = (manifest.contents(buffer, seed + i) for i, buffer in enumerate(buffers))
    regions = [Region(c, b.type, b.written, b.compared) for b, c in zip(buffers, contents, strict=True)]
    return Inputs(kernel.grid, kernel.block, regions, pack, kernel.shared)


def of_record(folder, shared=0):
    """Returns the inputs from a record of the emulator."""
    launch = json.loads(Path(folder, "launch.json").read_text())
    buffers = launch["buffers"]
    before, after = (parts_of(Path(folder, name).read_bytes(), buffers) for name in ("before.bin", "after.bin"))
    regions = [Region(c, written=bool(b["stored"]), start=b["start"]) for b, c in zip(buffers, before, strict=True)]

    def pack(addresses):
        packed = []
        for parameter in launch["parameters"]:
            value = bytearray.fromhex(parameter["bytes"])
            for offset, number in parameter["pointers"]:
                struct.pack_into("<q", value, offset, addresses[number] - regions[number].start)
            packed.append(bytes(value))
        return packed

    expected = [(content, buffer["stored"]) for buffer, content in zip(buffers, after, strict=True)]
    return Inputs(tuple(launch["grid"]), tuple(launch["block"]), regions, pack, shared, expected)


def work_of(folder):
    """Returns the number of executed statements and the number of executed warp instructions of a recorded launch."""
    launch = json.loads(Path(folder, "launch.json").read_text())
    return launch["statements"][0], launch["steps"]


def parts_of(data, buffers):
    """Returns the bytes of each buffer."""
    parts, at = [], 0
    for buffer in buffers:
        parts.append(data[at : at + buffer["bytes"]])
        at += buffer["bytes"]
    return parts


def values_of(data, offset, count, element):
    """Decodes values to numbers."""
    if element == "bf16":
        halves = struct.unpack_from(f"<{count}H", data, offset)
        return [struct.unpack("<f", struct.pack("<I", half << 16))[0] for half in halves]
    return struct.unpack_from(f"<{count}{manifest.TYPES[element]}", data, offset)


def are_close(one, other, element):
    relative, absolute = TOLERANCES.get(element, (0, 0))
    if one == other or (math.isnan(one) and math.isnan(other)):
        return True
    if not (math.isfinite(one) and math.isfinite(other)):
        return False
    return abs(one - other) <= relative * max(abs(one), abs(other)) + absolute


def apart(expected, found):
    """Returns the number of values that the emulator stores, and the number of these values that differ on a GPU by
    more than the tolerance. `found` has the bytes of the written regions."""
    values = differing = 0
    written = (region for region in expected if region[1])
    for (content, runs), data in zip(written, found, strict=True):
        for offset, count, element in runs:
            pairs = zip(*(values_of(each, offset, count, element) for each in (content, data)), strict=True)
            differing += sum(not are_close(one, other, element) for one, other in pairs)
            values += count
    return values, differing
