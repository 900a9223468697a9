"""Intervals of 95 % for ratios of times, without an assumption on how times are distributed."""

import math
import random
import statistics

LEVEL = 0.95
DRAWS = 2000


def of_median(values):
    """The median, and the interval between two of the sorted values that holds the true median with a chance of at
    least 95 %. Fewer than six values give no such interval: all of them are in it."""
    ordered = sorted(values)
    count, below, chance = len(ordered), 0, 0.0
    # The chance that at most `below` of the values are below the true median.
    while (chance := chance + math.comb(count, below) / 2**count) <= (1 - LEVEL) / 2:
        below += 1
    first = max(below - 1, 0)
    return statistics.median(ordered), ordered[first], ordered[count - 1 - first]


def of_geometric_mean(ratios, seed=1):
    """The geometric mean, and an interval by drawing the ratios anew."""
    logarithms, source = [math.log(ratio) for ratio in ratios], random.Random(seed)
    means = sorted(statistics.fmean(source.choices(logarithms, k=len(logarithms))) for _ in range(DRAWS))
    tail = int(DRAWS * (1 - LEVEL) / 2)
    return tuple(math.exp(mean) for mean in (statistics.fmean(logarithms), means[tail], means[-1 - tail]))
