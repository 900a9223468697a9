"""How sure a forecast of registers, or of bytes of spills, is: what four of five kernels take for which as many are
forecast.

Of kernels forecast alike, a tenth take fewer than the range and a tenth more, as shares of the forecast; each file
counts once. Ranges are those of forecasts of code lineages that were left out of the fit.
"""

from collections import Counter
from itertools import pairwise

from judge import MOST_REGISTERS, spilled

TENTH = 0.1
# Forecasts of more than the one and at most the other have a range of their own, as far as there are files enough.
EDGES = (0, 16, 24, 32, 40, 64, 96, 160, MOST_REGISTERS)
ENOUGH_FILES = 30
# The same of bytes of spills.
EDGES_OF_SIZES = (0, 64, 256, 1024, 4096, 1 << 30)


def ranges(pairs):
    """(up to, least, most) for (row, forecast) pairs: of the kernels forecast so many registers, or fewer, and more than
    in the range before, four of five take between `least` and `most` times that. None of no pairs."""
    return ranges_between(EDGES, pairs, registers_of)


def ranges_of_sizes(pairs):
    """The same of forecasts of spilled bytes, of kernels that spill."""
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
    # Too few beyond the last edge: theirs is the range before.
    found[-1] = (edges[-1], *found[-1][1:])
    return found


def tails(pairs, real):
    """Which share of the forecast a tenth takes less than, and a tenth more."""
    kernels = Counter(row["module"] for row, _ in pairs)
    shares = sorted((real(row) / said, 1 / kernels[row["module"]]) for row, said in pairs)
    return [least_with(shares, part * len(kernels)) for part in (TENTH, 1 - TENTH)]


def least_with(shares, wanted):
    """The first share up to which there is as much weight as wanted."""
    total = 0
    for share, weight in shares:
        total += weight
        if total >= wanted - 1e-9:
            break
    return round(share, 3)


def range_of(said, ranges):
    """The range of a forecast."""
    least, most = next(shares for up_to, *shares in ranges if said <= up_to)
    return min(said, nearest(least * said)), max(said, nearest(most * said))


def nearest(number):
    return int(number + 0.5)


def within(pairs):
    """A line that says how many kernels of each lineage are in the ranges that the others have."""
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
