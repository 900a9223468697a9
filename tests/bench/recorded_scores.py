"""Agreement of predicted ratios of times with recorded ratios: signs, ranks and errors.

A ratio is the time of a variant divided by the time of its counterpart. A recorded ratio is a range, because pages
also print bounds. For ranks, a recorded range counts as its geometric middle.
"""

import hashlib
import math
from collections import Counter
from dataclasses import dataclass

DIFFERENT = 0.03  # times that differ by less have no sign


@dataclass(frozen=True)
class Judged:
    """A pair with its recorded range, from low to high, and its predicted ratio."""

    lineage: str
    low: float
    high: float
    predicted: float
    sign_only: bool = False  # no ranks and no errors, because the timed launch was a different one

    @property
    def measured(self):
        return math.sqrt(self.low * self.high)


def sign_of(ratio):
    """Returns 1 if the variant is slower, -1 if it is faster, 0 if the difference is too small to count."""
    return 0 if abs(ratio - 1) < DIFFERENT - 1e-9 else (1 if ratio > 1 else -1)


def by_lineage(judged):
    """Returns a weight for each pair, so that the weights of a lineage add up to one."""
    pairs = Counter(pair.lineage for pair in judged)
    return [1 / pairs[pair.lineage] for pair in judged]


def share_of_signs(judged, weights):
    """Returns the share of right signs among the pairs whose recorded times differ, `None` if there are none. Any
    predicted difference counts, however small; a prediction of exactly 1 is wrong."""
    counted = [(pair, weight) for pair, weight in zip(judged, weights, strict=True) if sign_of(pair.measured)]
    right = sum(weight for pair, weight in counted if sign_of(pair.measured) * math.log(pair.predicted) > 0)
    return right / sum(weight for _, weight in counted) if counted else None


def ranks(values):
    """Returns the rank of each value; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    found, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for i in order[at:end]:
            found[i] = (at + end - 1) / 2
        at = end
    return found


def correlation(one, other, weights):
    """Returns Pearson's correlation of weighted values, `None` if one of the two sides is constant."""
    total = sum(weights)
    means = [sum(w * v for w, v in zip(weights, values, strict=True)) / total for values in (one, other)]
    triples = [(w, a - means[0], b - means[1]) for w, a, b in zip(weights, one, other, strict=True)]
    spreads = [sum(w * a * a for w, a, _ in triples), sum(w * b * b for w, _, b in triples)]
    if min(spreads) <= 0:
        return None
    return sum(w * a * b for w, a, b in triples) / math.sqrt(spreads[0] * spreads[1])


def spearman(judged, weights):
    """Returns the correlation of the ranks of recorded and predicted ratios."""
    judged, weights = kept(judged, weights, lambda pair: not pair.sign_only)
    if not judged:
        return None
    return correlation(ranks([pair.measured for pair in judged]), ranks([pair.predicted for pair in judged]), weights)


def kept(judged, weights, counts):
    """Returns the pairs for which `counts` holds, and their weights."""
    at = [i for i, pair in enumerate(judged) if counts(pair)]
    return [judged[i] for i in at], [weights[i] for i in at]


def error_of(pair):
    """Returns the error of a predicted ratio, relative to the smaller of the two ratios."""
    return math.exp(abs(math.log(pair.predicted / pair.measured))) - 1


def median_error(judged, weights):
    """Returns the weighted median of the errors, `None` without errors. If exactly half of the weight is below a gap
    between two errors, the median is their mean. Pairs with a recorded range have no error."""
    judged, weights = kept(judged, weights, lambda pair: not pair.sign_only and pair.low == pair.high)
    ordered = sorted((error_of(pair), weight) for pair, weight in zip(judged, weights, strict=True))
    half, below = sum(weights) / 2, 0.0
    for at, (error, weight) in enumerate(ordered):
        below += weight
        if math.isclose(below, half):
            return (error + ordered[at + 1][0]) / 2
        if below > half:
            return error
    return None


def rightly(judged, sign):
    """Returns the number of pairs of one sign that are predicted with this sign, and the number of all pairs of this
    sign. For the sign 0, predictions without a countable difference are right."""
    of = [pair for pair in judged if sign_of(pair.measured) == sign]
    if sign == 0:
        return sum(sign_of(pair.predicted) == 0 for pair in of), len(of)
    return sum(sign * math.log(pair.predicted) > 0 for pair in of), len(of)


def scores(judged):
    """Returns all figures of a predictor: with equal weights of pairs, and with equal weights of lineages."""
    alike = [1.0] * len(judged)
    found = {name: rightly(judged, sign) for name, sign in (("slower", 1), ("faster", -1), ("same", 0))}
    for name, weights in (("pairs", alike), ("lineages", by_lineage(judged))):
        found[f"signs by {name}"] = share_of_signs(judged, weights)
        found[f"ranks by {name}"] = spearman(judged, weights)
        found[f"error by {name}"] = median_error(judged, weights)
    return found


def halves(lineages, seed):
    """Returns the lineages for a fit, and the lineages that are set aside: as many, or one more. Each lineage has a
    position that depends on its own hash only, so a new lineage moves few others to the other half."""

    def place(lineage):
        return hashlib.sha256(f"{seed} {lineage}".encode()).digest()

    ordered = sorted(set(lineages), key=place)
    half = len(ordered) // 2
    return sorted(ordered[:half]), sorted(ordered[half:])
