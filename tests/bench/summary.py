"""What a comparison found, as text: totals, what got worse, and what failed."""

from collections import Counter
from pathlib import Path
from statistics import median

import ptx
import report
from ptxas import resident_warps

NEVER_MORE = ("true_copies", "moves", "imm_copies")  # counts that must rise in no module
MODULE_COLUMNS = ("reg_moves", "imm_copies", "true_copies", "imm_moves", "moves", "weighted_copies", "registers")
SPILL_BYTES = 16  # a kernel that spills so many bytes more has got worse
LISTED = 60  # lines of a list of losses; all are in the JSON


def sum_counts(result):
    """A module's PTX counts, totalled over its functions."""
    total = Counter()
    for counts in result["functions"].values():
        total.update({key: counts[key] for key in ptx.COUNTS})
    return total


def print_ptx(results, names, per_module):
    """PTX in total, and the modules where something rose that must not. Returns the latter, by configuration."""
    counts = {m: {n: sum_counts(r[n]) for n in names} for m, r in results.items()}
    totals = {n: sum((c[n] for c in counts.values()), Counter()) for n in names}
    for name in names:
        totals[name]["file bytes"] = sum(r[name]["bytes"] for r in results.values())
        totals[name]["llc seconds"] = round(sum(r[name]["seconds"] for r in results.values()), 1)
    print(f"PTX of {len(results)} modules")
    print("\n".join(report.side_by_side(totals, names, [*ptx.COUNTS, "file bytes", "llc seconds"])))
    return {name: print_rises(counts, names[0], name, per_module) for name in names[1:]}


def print_rises(counts, stock_name, name, per_module):
    rows, risen = [], []
    for module, by_name in counts.items():
        stock, ours = by_name[stock_name], by_name[name]
        rose = [key for key in NEVER_MORE if ours[key] > stock[key]]
        if rose:
            risen.append(Path(module).stem)
        if rose or per_module:
            cells = [str(ours[k]) if stock[k] == ours[k] else f"{stock[k]}→{ours[k]}" for k in MODULE_COLUMNS]
            worst = max(ours[key] - stock[key] for key in NEVER_MORE)
            rows.append((-worst, Path(module).stem, *cells, " ".join(rose)))
    print(f"\n{name}: {len(risen)} modules where {' or '.join(NEVER_MORE)} rose")
    if rows:
        print("\n".join(report.table([row[1:] for row in sorted(rows)], ["module", *MODULE_COLUMNS, "rose"])))
    return sorted(risen)


def print_ptxas(results, names, limit, cpu):
    """What ptxas makes of all kernels at one register limit. Returns the losses, by configuration."""
    kernels = {n: {} for n in names}
    for module, by_name in results.items():
        for name in names:
            for kernel, counts in by_name[name]["ptxas"][str(limit)]["kernels"].items():
                kernels[name][Path(module).stem, kernel] = counts
    totals = {}
    for name in names:
        totals[name] = total = Counter()
        for counts in kernels[name].values():
            total.update({k: v for k, v in counts.items() if limit == 0 or not k.startswith("sass")})
            total["kernels that spill"] += counts["stores"] + counts["loads"] > 0
            total["resident warps"] += resident_warps(counts["registers"], cpu)
        total["ptxas seconds"] = round(sum(r[name]["ptxas"][str(limit)]["seconds"] for r in results.values()), 1)
    keys = ["registers", "resident warps", "stores", "loads", "kernels that spill", "stack"]
    keys += [key for key in ("sass", "sass_moves") if key in totals[names[0]]] + ["ptxas seconds"]
    print(f"\nptxas, {f'.maxnreg {limit}' if limit else 'no register limit'}: {len(kernels[names[0]])} kernels")
    print("\n".join(report.side_by_side(totals, names, keys)))
    return {name: print_losses(kernels[names[0]], kernels[name], name, cpu) for name in names[1:]}


def print_losses(stock, ours, name, cpu):
    """The kernels that lost an occupancy step or spill more, worst first, and what is typical of those that spill."""
    losses, gains, spill_changes = [], 0, []
    for key, before in stock.items():
        after = ours[key]
        spills = [c["stores"] + c["loads"] for c in (before, after)]
        warps = [resident_warps(c["registers"], cpu) for c in (before, after)]
        if any(spills):
            spill_changes.append(spills[1] - spills[0])
        gains += warps[1] > warps[0] or spills[1] <= spills[0] - SPILL_BYTES
        if warps[1] < warps[0] or spills[1] >= spills[0] + SPILL_BYTES:
            losses.append(
                {
                    "module": key[0],
                    "kernel": key[1],
                    "registers": [before["registers"], after["registers"]],
                    "warps": warps,
                    "stores": [before["stores"], after["stores"]],
                    "loads": [before["loads"], after["loads"]],
                }
            )
    losses.sort(
        key=lambda x: (x["stores"][0] + x["loads"][0] - x["stores"][1] - x["loads"][1], x["warps"][1] - x["warps"][0])
    )
    typical = median(spill_changes) if spill_changes else 0
    print(
        f"\n{name}: {len(losses)} kernels worse by an occupancy step or {SPILL_BYTES} bytes of spills, {gains} better;"
    )
    print(f"  median change of spilled bytes over the {len(spill_changes)} kernels that spill in either: {typical:+g}")
    shown = ("registers", "warps", "stores", "loads")
    rows = [[x["module"], *(f"{a}→{b}" for a, b in (x[k] for k in shown)), short(x["kernel"])] for x in losses[:LISTED]]
    if rows:
        print("\n".join(report.table(rows, ["module", *shown, "kernel"])))
    if len(losses) > LISTED:
        print(f"… and {len(losses) - LISTED} more")
    return losses


def short(name):
    return name if len(name) <= 60 else name[:40] + "…" + name[-19:]
