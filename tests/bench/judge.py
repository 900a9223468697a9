"""Accuracy of a forecast: registers, occupancy step, and whether a kernel spills; as a plain mean and by file.

A row is a kernel at a setting, as made by load() of calibrate.py; a forecast is a number for each row. The mean by
file is the mean of the files' means, so that files with many instances of a few templates do not dominate.
"""

import math
import statistics
from collections import defaultdict

from occupancy import resident_warps

# Kernels with at least this many registers are also counted separately: they are few, and ptxas unrolls, hoists and
# reorders most in them.
LARGE = 64
MOST_REGISTERS = 255


def step(row, registers):
    """Returns the warps that an SM holds, as limited by registers alone."""
    return resident_warps(max(1, min(MOST_REGISTERS, round(registers))), row.get("cpu", "sm_90"))


def means(of_rows):
    """Returns the plain mean of (row, value) pairs, and the mean of the files' means."""
    by_file = defaultdict(list)
    for row, value in of_rows:
        by_file[row["module"]].append(value)
    return statistics.fmean(v for _, v in of_rows), statistics.fmean(map(statistics.fmean, by_file.values()))


def scores(rows, forecasts):
    """Returns the error, the share within 4 registers, and the share of right occupancy steps, in per cent, each as a
    plain mean and by file."""
    pairs = [(row, min(forecast, row["budget"])) for row, forecast in zip(rows, forecasts, strict=True)]
    errors = means([(row, 100 * abs(said - row["registers"]) / row["registers"]) for row, said in pairs])
    near = means([(row, 100.0 * (abs(said - row["registers"]) <= 4)) for row, said in pairs])
    steps = means([(row, 100.0 * (step(row, said) == step(row, row["registers"]))) for row, said in pairs])
    return errors, near, steps


def of_registers(rows, forecasts):
    """Returns the scores as one line."""
    if not rows:
        return "no kernels"
    errors, near, steps = scores(rows, forecasts)
    return (
        f"{len(rows)} kernels: error {errors[0]:.1f} %, within 4 {near[0]:.0f} %, step {steps[0]:.0f} %; "
        f"by file {errors[1]:.1f} %, {near[1]:.0f} %, {steps[1]:.0f} %"
    )


def registers(what, rows, forecasts):
    """Returns lines for all kernels, for kernels below LARGE, and for the others."""
    parts = [
        ("", lambda row: True),
        (f", below {LARGE}", lambda row: row["registers"] < LARGE),
        (f", from {LARGE} on", lambda row: row["registers"] >= LARGE),
    ]
    lines = []
    for part, wanted in parts:
        chosen = [(row, forecast) for row, forecast in zip(rows, forecasts, strict=True) if wanted(row)]
        lines.append(f"{what}{part}: {of_registers(*(zip(*chosen, strict=True) if chosen else ((), ())))}")
    return lines


def spilled(row):
    """Returns the bytes stored to spill slots and loaded from them."""
    return row["stores"] + row["loads_of_spills"]


def does_spill(row):
    return spilled(row) > 0


def counts_of_spills(rows, expected):
    """Returns four values: the number of kernels that spill, the number that are forecast to spill, the number of
    these that do spill, and the F1 score as text."""
    real = sum(map(does_spill, rows))
    said = sum(expected)
    found = sum(does_spill(row) for row, is_expected in zip(rows, expected, strict=True) if is_expected)
    return real, said, found, f"{2 * found / (real + said):.2f}" if real else "none"


def of_spills(rows, expected):
    """Returns the counts as one line."""
    real, said, found, score = counts_of_spills(rows, expected)
    return f"{len(rows)} kernels, {real} spill, {said} forecast, {found} of them do: F1 {score}"


def by_lineage(rows, values):
    """Yields (lineage, its rows, their values), sorted by lineage, then all rows."""
    for lineage in sorted({row["lineage"] for row in rows}):
        chosen = [(row, value) for row, value in zip(rows, values, strict=True) if row["lineage"] == lineage]
        yield (lineage, *map(list, zip(*chosen, strict=True)))
    yield "all", rows, values


def of_sizes(pairs):
    """Returns a line on the accuracy of forecasts of spilled bytes, from (row, forecast) pairs of kernels that spill.
    The line has the geometric mean of the factor between forecast and measurement, plain and by file, the median of
    the forecast divided by the measurement, and the share within a factor of two."""
    if not pairs:
        return "no kernels"
    ratios = [(row, math.log(said / spilled(row))) for row, said in pairs]
    plain, by_file = (math.exp(mean) for mean in means([(row, abs(ratio)) for row, ratio in ratios]))
    median = math.exp(statistics.median(ratio for _, ratio in ratios))
    within = statistics.fmean(abs(ratio) <= math.log(2) for _, ratio in ratios)
    return (
        f"{len(pairs)} kernels: off by a factor of {plain:.2f}, by file {by_file:.2f}; median {median:.2f} of what it is; "
        f"within a factor of two {100 * within:.0f} %"
    )
