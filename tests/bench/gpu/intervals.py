"""95 % intervals for ratios of times, without an assumption on the distribution of times."""

import math
import random
import statistics

LEVEL = 0.95
DRAWS = 2000


def of_median(values):
    """Returns the median, and an interval between two of the sorted values that contains the true median with a
    probability of at least 95 %. For fewer than six values no such interval exists; the returned interval then
    contains all values."""
    ordered = sorted(values)
    count, below, chance = len(ordered), 0, 0.0
    # The probability that at most `below` of the values are below the true median
    while (chance := chance + math.comb(count, below) / 2**count) <= (1 - LEVEL) / 2:
        below += 1
    first = max(below - 1, 0)
    return statistics.median(ordered), ordered[first], ordered[count - 1 - first]


def of_geometric_mean(ratios, seed=1):
    """Returns the geometric mean, and an interval computed by resampling the ratios."""
    logarithms, source = [math.log(ratio) for ratio in ratios], random.Random(seed)
    means = sorted(statistics.fmean(source.choices(logarithms, k=len(logarithms))) for _ in range(DRAWS))
    tail = int(DRAWS * (1 - LEVEL) / 2)
    return tuple(math.exp(mean) for mean in (statistics.fmean(logarithms), means[tail], means[-1 - tail]))
