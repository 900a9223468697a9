"""How well predicted ratios of times agree with recorded ones: signs, ranks and errors.

A ratio is the time of a variant divided by the time of what it is compared with. A recorded ratio is a range, because
pages print bounds, too. The middle of the range is what a prediction is ranked against.
"""

import hashlib
import math
from collections import Counter
from dataclasses import dataclass

DIFFERENT = 0.03  # times that differ by less have no sign


@dataclass(frozen=True)
class Judged:
    """A pair with what was recorded, from low to high, and what is predicted."""

    lineage: str
    low: float
    high: float
    predicted: float
    sign_only: bool = False  # where the launch is not the one that was timed: no ranks and no errors

    @property
    def measured(self):
        return math.sqrt(self.low * self.high)


def sign_of(ratio):
    """1 where the variant is slower, -1 where it is faster, 0 where neither counts."""
    return 0 if abs(ratio - 1) < DIFFERENT - 1e-9 else (1 if ratio > 1 else -1)


def by_lineage(judged):
    """A weight for each pair, so that all pairs of a lineage weigh one."""
    pairs = Counter(pair.lineage for pair in judged)
    return [1 / pairs[pair.lineage] for pair in judged]


def share_of_signs(judged, weights):
    """The share of right signs among the pairs whose recorded times differ; None where none do. A prediction that is 1
    is wrong there, however small a difference it may have."""
    counted = [(pair, weight) for pair, weight in zip(judged, weights, strict=True) if sign_of(pair.measured)]
    right = sum(weight for pair, weight in counted if sign_of(pair.measured) * math.log(pair.predicted) > 0)
    return right / sum(weight for _, weight in counted) if counted else None


def ranks(values):
    """The rank of each value; equal values share the mean of their ranks."""
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
    """Pearson's, of weighted values; None where one of the two does not vary."""
    total = sum(weights)
    means = [sum(w * v for w, v in zip(weights, values, strict=True)) / total for values in (one, other)]
    triples = [(w, a - means[0], b - means[1]) for w, a, b in zip(weights, one, other, strict=True)]
    spreads = [sum(w * a * a for w, a, _ in triples), sum(w * b * b for w, _, b in triples)]
    if min(spreads) <= 0:
        return None
    return sum(w * a * b for w, a, b in triples) / math.sqrt(spreads[0] * spreads[1])


def spearman(judged, weights):
    """The correlation of the ranks of recorded and predicted ratios."""
    judged, weights = kept(judged, weights, lambda pair: not pair.sign_only)
    if not judged:
        return None
    return correlation(ranks([pair.measured for pair in judged]), ranks([pair.predicted for pair in judged]), weights)


def kept(judged, weights, counts):
    """The pairs that count, and their weights."""
    at = [i for i, pair in enumerate(judged) if counts(pair)]
    return [judged[i] for i in at], [weights[i] for i in at]


def error_of(pair):
    """How far a predicted ratio is from the recorded one, relative to the smaller."""
    return math.exp(abs(math.log(pair.predicted / pair.measured))) - 1


def median_error(judged, weights):
    """The weighted median of the errors, and the mean of two where the half is between them; None of no errors. Of a
    range there is none."""
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
    """Of the pairs of one sign, how many are predicted so, and how many there are. For the sign 0, how many predictions
    claim no difference."""
    of = [pair for pair in judged if sign_of(pair.measured) == sign]
    if sign == 0:
        return sum(sign_of(pair.predicted) == 0 for pair in of), len(of)
    return sum(sign * math.log(pair.predicted) > 0 for pair in of), len(of)


def scores(judged):
    """All figures of a predictor: by pairs, and with lineages weighed alike."""
    alike = [1.0] * len(judged)
    found = {name: rightly(judged, sign) for name, sign in (("slower", 1), ("faster", -1), ("same", 0))}
    for name, weights in (("pairs", alike), ("lineages", by_lineage(judged))):
        found[f"signs by {name}"] = share_of_signs(judged, weights)
        found[f"ranks by {name}"] = spearman(judged, weights)
        found[f"error by {name}"] = median_error(judged, weights)
    return found


def halves(lineages, seed):
    """Lineages for a fit, and those that are set aside: as many, or one more. Each has a place by itself, so that one
    that is added moves few others."""

    def place(lineage):
        return hashlib.sha256(f"{seed} {lineage}".encode()).digest()

    ordered = sorted(set(lineages), key=place)
    half = len(ordered) // 2
    return sorted(ordered[:half]), sorted(ordered[half:])
