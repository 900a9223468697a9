"""Micro-benchmarks of instruction fetch: loops of growing code, and the cost of a loop's branch."""

from dataclasses import replace

import micro_arithmetic
from micro import stream

KIB = 1024
INSTRUCTION = 16  # bytes
SIZES = (16, 24, 32, 48, 96, 128, 160, 256)  # KiB of code
FAST, SLOW = 1.1, 1.5  # most cycles in multiples of the least: code that fits, code that fits into the next cache

FFMA = micro_arithmetic.PIPES[0]


def growing(size):
    """Returns a loop of FFMA with `size` KiB of code, on one warp per partition."""
    count = size * KIB // INSTRUCTION - 4
    line = "fma.rn.f32 %a{i}, %a{i}, %b0, %c0;"
    lines = stream(line, count, micro_arithmetic.WIDTH)
    return replace(FFMA, number=f"icache.cycles.{size}", lines=lines, count=count, warps=4, turns=(4, 20))


# In each cycle an instruction issues. The cycles of an iteration beyond its number of instructions are therefore those
# of the branch.
BRANCH = replace(FFMA, number="latency.branch", warps=1, share="turn")

ALL = [BRANCH, *(growing(size) for size in SIZES)]


def sizes(cycles):
    """Computes the sizes of the instruction caches, in bytes, from cycles per instruction by KiB of code.

    The curve is flat, rises, and is flat again. A cache's size is the largest code on a flat part.
    """
    least = min(cycles.values())
    fits = [size for size, each in cycles.items() if each <= FAST * least]
    numbers = {"icache.l0_bytes": max(fits) * KIB} if fits else {}
    above = {size: each for size, each in cycles.items() if size > max(fits, default=0)}
    if above:
        flat = min(above.values())
        within = [size for size, each in above.items() if each <= SLOW * flat]
        if max(within) < max(cycles):
            numbers["icache.l1_bytes"] = max(within) * KIB
    return numbers
