"""Micro-benchmarks of fetch: loops of growing code, and what the branch of a loop costs."""

from dataclasses import replace

import micro_arithmetic
from micro import stream

KIB = 1024
INSTRUCTION = 16  # bytes
SIZES = (16, 24, 32, 48, 96, 128, 160, 256)  # KiB of code
FAST, SLOW = 1.1, 1.5  # of the least: code that fits, code of the next cache

FFMA = micro_arithmetic.PIPES[0]


def growing(size):
    """A loop of FFMA that takes so many KiB, by one warp of each partition."""
    count = size * KIB // INSTRUCTION - 4
    line = "fma.rn.f32 %a{i}, %a{i}, %b0, %c0;"
    lines = stream(line, count, micro_arithmetic.WIDTH)
    return replace(FFMA, number=f"icache.cycles.{size}", lines=lines, count=count, warps=4, turns=(4, 20))


# Each cycle issues an instruction: what a turn takes beyond its instructions is the branch.
BRANCH = replace(FFMA, number="latency.branch", warps=1, share="turn")

ALL = [BRANCH, *(growing(size) for size in SIZES)]


def sizes(cycles):
    """The caches' bytes, and cycles that a line of the next takes, of cycles an instruction by KiB of code.

    The curve is flat, rises and is flat again: a cache ends where the cycles first leave a flat part.
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
