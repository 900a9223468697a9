"""owners.py PTX SHAPE: checks which thread owns each byte of the array of slots, in blocks of one, two and three
dimensions.

Evaluates the assembly that computes a thread's addresses for every thread of several blocks, partial warps
included. No byte that one thread stores or loads may belong to another thread or lie outside of the array. SHAPE is
the shape of every block, for example 8,4,4, or the most threads of a block of any shape.
"""

import re
import sys

with open(sys.argv[1]) as file:
    ptx = file.read()
shape = [int(size) for size in sys.argv[2].split(",")]
most = shape[0] if len(shape) == 1 else shape[0] * shape[1] * shape[2]
size = int(re.search(r"nvptx_ra_spills\[(\d+)\]", ptx)[1])
text = ptx[ptx.index("{ .reg .b32 %nvptx_ra") : ptx.index("// end inline asm", ptx.index("{ .reg .b32 %nvptx_ra"))]
instructions = re.findall(r"(mov\.u32|mad\.lo\.u32)\s+([^;]+);", text)
accesses = re.findall(r"(?:st|ld)\.volatile\.shared(?:\.v([24]))?\.b(16|32|64)[^\[]*\[(%r\d+)(?:\+(\d+))?\]", ptx)
accesses = [(int(number or 1) * int(bits), base, offset) for number, bits, base, offset in accesses]
assert instructions and accesses


def addresses(tid, ntid):
    """The registers that the assembly sets for a thread."""
    values = {f"%tid.{d}": t for d, t in zip("xyz", tid)} | {f"%ntid.{d}": n for d, n in zip("xyz", ntid)}
    values["nvptx_ra_spills"] = 0
    value = lambda word: int(word) if word.isdigit() else values[word]
    for opcode, operands in instructions:
        to, *sources = [word.strip() for word in operands.split(",")]
        sources = [value(word) for word in sources]
        values[to] = sources[0] if opcode == "mov.u32" else sources[0] * sources[1] + sources[2]
    return values


shapes = [(most, 1, 1), (most - 1, 1, 1), (1, 1, 1), (most // 4, 4, 1), (most // 16, 4, 4), (2, 2, most // 4), (5, 3, 2)]
blocks = shapes if len(shape) == 1 else [tuple(shape)]
for ntid in blocks:
    owners = {}
    threads = [(x, y, z) for z in range(ntid[2]) for y in range(ntid[1]) for x in range(ntid[0])]
    assert len(threads) <= most
    for thread in threads:
        registers = addresses(thread, ntid)
        for bits, base, offset in set(accesses):
            start = registers[base] + int(offset or 0)
            assert start % (bits // 8) == 0, "misaligned"
            for byte in range(start, start + bits // 8):
                assert 0 <= byte < size, f"{thread} of {ntid}: byte {byte} of {size}"
                assert owners.setdefault(byte, thread) == thread, f"byte {byte}: {owners[byte]} and {thread} of {ntid}"
print(f"{len(set(accesses))} slots, {len(blocks)} blocks")
