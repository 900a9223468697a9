"""Ranges of forecasts of registers or spilled bytes: 80 % intervals, which contain four out of five kernels with the
same forecast.

A tenth of the kernels with a similar forecast are below the range and a tenth above it. Bounds are factors of the
forecast. Each file has the same weight. Ranges are computed from forecasts of code lineages that were left out of
the fit.
"""

from collections import Counter
from itertools import pairwise

from judge import MOST_REGISTERS, spilled

TENTH = 0.1
# Edges between intervals of forecasts, in registers. Each interval (above one edge, up to the next) has its own range,
# if it has enough files.
EDGES = (0, 16, 24, 32, 40, 64, 96, 160, MOST_REGISTERS)
ENOUGH_FILES = 30
# The edges for spilled bytes.
EDGES_OF_SIZES = (0, 64, 256, 1024, 4096, 1 << 30)


def ranges(pairs):
    """Returns (up to, least, most) for each range of (row, forecast) pairs. A range covers the forecasts above the
    previous range, up to `up to`. Four out of five of its kernels take between `least` and `most` times the
    forecast. Empty if there are no pairs."""
    return ranges_between(EDGES, pairs, registers_of)


def ranges_of_sizes(pairs):
    """Returns the ranges of forecasts of spilled bytes, for kernels that spill."""
    return ranges_between(EDGES_OF_SIZES, pairs, spilled)


def registers_of(row):
    return row["registers"]


def ranges_between(edges, pairs, real):
    if not pairs:
        return []
    found, chosen = [], []
    for above, up_to in pairwise(edges):
        chosen += [(row, said) for row, said in pairs if above < said <= up_to]
        if len({row["module"] for row, _ in chosen}) >= ENOUGH_FILES:
            found.append((up_to, *tails(chosen, real)))
            chosen = []
    if not found:
        found.append((edges[-1], *tails(chosen, real)))
    # If too few files are left after the last range, this range extends to the last edge.
    found[-1] = (edges[-1], *found[-1][1:])
    return found


def tails(pairs, real):
    """Returns two factors of the forecast: a tenth of the kernels is below the first one, and a tenth above the second
    one."""
    kernels = Counter(row["module"] for row, _ in pairs)
    shares = sorted((real(row) / said, 1 / kernels[row["module"]]) for row, said in pairs)
    return [least_with(shares, part * len(kernels)) for part in (TENTH, 1 - TENTH)]


def least_with(shares, wanted):
    """Returns the first share at which the cumulated weight reaches `wanted`."""
    total = 0
    for share, weight in shares:
        total += weight
        if total >= wanted - 1e-9:
            break
    return round(share, 3)


def range_of(said, ranges):
    """Returns the range of a forecast, which includes the forecast itself."""
    least, most = next(shares for up_to, *shares in ranges if said <= up_to)
    return min(said, nearest(least * said)), max(said, nearest(most * said))


def nearest(number):
    return int(number + 0.5)


def within(pairs):
    """Returns a line with the share of kernels in their range. The ranges of a lineage are computed from the other
    lineages."""
    of_file = Counter(row["module"] for row, _ in pairs)
    held = plain = 0
    for lineage in sorted({row["lineage"] for row, _ in pairs}):
        others = ranges([pair for pair in pairs if pair[0]["lineage"] != lineage])
        for row, said in pairs:
            if row["lineage"] == lineage:
                least, most = range_of(said, others) if others else (said, said)
                is_held = least <= row["registers"] <= most
                plain += is_held
                held += is_held / of_file[row["module"]]
    return (
        f"in the range that other lineages have for as many: {100 * plain / len(pairs):.0f} % of {len(pairs)} kernels;"
        f" by file {100 * held / len(of_file):.0f} %"
    )
