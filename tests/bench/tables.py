"""A run's results as text: counts of PTX, ptxas's figures by source and in total, and time."""

import math
from collections import Counter
from statistics import fmean

import ptx
import report
from corpus import source_of
from plan import CICC, OWN

ASSEMBLED = ("registers", "warps", "spills", "spilling", "stack", "sass", "sass_moves", "sass_local")
MEANINGS = {
    "registers": "hardware registers per thread, summed over kernels",
    "warps": "warps that an SM holds, as bounded by registers",
    "spills": "bytes of spill stores and loads",
    "spilling": "kernels that spill",
    "stack": "bytes of stack",
    "sass": "machine instructions without NOPs",
    "sass_moves": "machine instructions that only copy a value",
    "sass_local": "accesses of local memory",
}


def sums(rows):
    total = Counter()
    for row in rows:
        total.update({key: value for key, value in row.items() if key in ASSEMBLED})
    return total


def ptx_table(results, names):
    """Yields the PTX counts of the kernels that all of the compilers have."""
    keys = sorted(set.intersection(*(set(results.ptx[name]) for name in names)))
    totals = {name: Counter() for name in names}
    for name in names:
        for key in keys:
            totals[name].update({c: results.ptx[name][key].get(c, 0) for c in ptx.COUNTS})
    # Loop depths come from llc's comments, which NVIDIA's compiler does not write.
    shown = [c for c in ptx.COUNTS if CICC not in names or not c.startswith("weighted")]
    yield f"PTX of {len(keys)} kernels"
    yield from report.side_by_side(totals, names, shown)


def ptxas_table(results, setting, names):
    """Yields ptxas's figures of the kernels that all of the compilers have."""
    keys = results.common(setting, names)
    by_name = results.kernels[setting]
    totals = {name: sums(by_name[name][key] for key in keys) for name in names}
    shown = [key for key in ASSEMBLED if setting == OWN or not key.startswith("sass")]
    yield f"ptxas, {title(setting)}: {len(keys)} kernels"
    yield from report.side_by_side(totals, names, shown)


def title(setting):
    return {"own": "the kernels' own bounds", "none": "no bounds"}.get(setting, f".maxnreg {setting}")


def source_table(results, setting, names):
    """Yields registers, spills and SASS of each source, as ratios to the first compiler. A total favours the templates
    with most instances. The geometric mean gives each kernel the same weight, and the mean over files gives each
    file the same weight."""
    first, others = names[0], names[1:]
    keys = results.common(setting, names)
    by_name = results.kernels[setting]
    groups = {source: [k for k in keys if source_of(k[0]) == source] for source in results.sources()}
    rows = []
    for label, group in [*groups.items(), ("total", keys)]:
        if not group:
            continue
        stock = sums(by_name[first][key] for key in group)
        row = [
            label,
            lineage(results, label),
            len(group),
            report.number(stock["registers"]),
            report.number(stock["spills"]),
        ]
        for name in others:
            ours = sums(by_name[name][key] for key in group)
            row += [
                ratio(ours["registers"], stock["registers"]),
                geometric(by_name[name], by_name[first], group, "registers"),
                per_file(by_name[name], by_name[first], group, "registers"),
                report.number(ours["spills"]),
                ratio(ours["sass"], stock["sass"]) if setting == OWN else "",
            ]
        rows.append(row)
    columns = ["source", "lineage", "kernels", "registers", "spills"]
    for name in others:
        columns += [f"{name}: registers", "geo. mean", "by file", "spills", "SASS"]
    yield f"by source, {title(setting)}; registers and SASS as ratios to {first}"
    yield from report.table(rows, columns)


def lineage(results, source):
    return results.plan.sources.get(source, {}).get("lineage", "")


def ratio(value, stock):
    return f"{value / stock:.4f}" if stock else ("1.0000" if not value else "new")


def geometric(ours, stock, keys, what):
    logs = [math.log(ours[k][what] / stock[k][what]) for k in keys if ours[k].get(what) and stock[k].get(what)]
    return f"{math.exp(fmean(logs)):.4f}" if logs else ""


def per_file(ours, stock, keys, what):
    """Returns the mean over the files of each file's mean ratio."""
    by_file = {}
    for key in keys:
        if stock[key].get(what):
            by_file.setdefault(key[0], []).append(ours[key][what] / stock[key][what])
    return f"{fmean(fmean(ratios) for ratios in by_file.values()):.4f}" if by_file else ""


def cost_table(results, names):
    """Yields time and memory of the compilers, over the modules that all compilers compile."""
    modules = set.intersection(*(set(results.modules[name]) for name in names))
    totals = {}
    for name in names:
        rows = [results.modules[name][m] for m in modules]
        totals[name] = {
            "file bytes": sum(r["bytes"] for r in rows),
            "llc seconds": round(sum(r["seconds"] for r in rows), 1),
            "our passes, seconds": round(sum(r["pass_ns"] for r in rows) / 1e9, 2),
            "largest memory, MB": max((r.get("memory", 0) for r in rows), default=0) // 2**20,
        }
        for setting in results.plan.settings:
            timed = results.ptxas[setting][name]
            totals[name][f"ptxas seconds, {setting}"] = round(
                sum(timed[m]["seconds"] for m in modules if m in timed), 1
            )
    yield f"cost, {len(modules)} modules; cached results keep the time of their first run"
    yield from report.side_by_side(totals, names, list(totals[names[0]]))


def legend():
    for key, meaning in MEANINGS.items():
        yield f"{key}: {meaning}"
