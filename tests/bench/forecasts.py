"""Compares the forecast with the registers and spills that ptxas chooses for stock's PTX, by source.

A naive forecast is shown next to it: the registers are the maximum of declared words that are live at once. The
naive forecast expects spills if this number exceeds the register limit.
"""

import judge
import report
import tables
from corpus import source_of
from plan import STOCK


def rows_of(results, setting):
    """Returns a row in the format of judge.py for each kernel that has a measurement and a forecast. The measurement
    is in the row itself, the forecast in `said`."""
    measured = results.kernels[setting].get(STOCK, {})
    rows = []
    for key, said in sorted(results.forecasts[setting].items()):
        found = measured.get(key)
        if found is None:
            continue
        rows.append(
            {
                "module": key[0],
                "cpu": results.plan.cpu,
                "budget": said["budget"],
                "registers": found["registers"],
                "stores": found["stores"],
                "loads_of_spills": found["loads"],
                "said": said,
            }
        )
    return rows


def groups(rows):
    """Returns (label, rows) for each source, for the kernels below judge.LARGE, for the others, and for all kernels,
    without empty groups."""
    found = [
        (source, [row for row in rows if source_of(row["module"]) == source])
        for source in sorted({source_of(row["module"]) for row in rows})
    ]
    found.append((f"below {judge.LARGE}", [row for row in rows if row["registers"] < judge.LARGE]))
    found.append((f"from {judge.LARGE} on", [row for row in rows if row["registers"] >= judge.LARGE]))
    found.append(("total", rows))
    return [(label, group) for label, group in found if group]


def register_table(results, setting):
    """Yields a table of the error in registers, the share of kernels within 4 registers, and the share of right
    occupancy steps."""
    rows = rows_of(results, setting)
    lines = []
    for label, group in groups(rows):
        cells = [label, tables.lineage(results, label), len(group)]
        for forecast in ("registers", "declared_words"):
            for plain, by_file in judge.scores(group, [row["said"][forecast] for row in group]):
                cells += [f"{plain:.1f}", f"{by_file:.1f}"]
        lines.append(cells)
    columns = ["source", "lineage", "kernels"]
    for whose in ("", "naive: "):
        columns += [f"{whose}error", "by file", "within 4", "by file", "step right", "by file"]
    yield f"forecast of registers, {tables.title(setting)}: {len(rows)} kernels, per cent"
    yield from report.table(lines, columns)


def spill_table(results, setting):
    """Yields a table of the kernels that spill, of forecast spills, and of both."""
    rows = rows_of(results, setting)
    lines = []
    for label, group in groups(rows):
        expected = [row["said"]["stores"] + row["said"]["loads"] > 0 for row in group]
        naive = [row["said"]["declared_words"] > row["budget"] for row in group]
        real, said, found, score = judge.counts_of_spills(group, expected)
        cells = [label, tables.lineage(results, label), len(group), real, said, found, score]
        lines.append([*cells, *judge.counts_of_spills(group, naive)[1:]])
    columns = ["source", "lineage", "kernels", "spill", "forecast", "of them do", "F1"]
    yield f"forecast of spills, {tables.title(setting)}"
    yield from report.table(lines, [*columns, "naive: forecast", "of them do", "F1"])
