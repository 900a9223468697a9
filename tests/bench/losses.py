"""Kernels and modules that got worse. A total would hide them."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

import report

SPILL_BYTES = 16  # a kernel got worse if it spills at least this many bytes more
NEVER_MORE = ("true_copies", "moves", "imm_copies")  # PTX counts that may rise in no module
LISTED = 60  # most lines of a list; the JSON has all


@dataclass(frozen=True)
class Loss:
    """A kernel that lost an occupancy step or spills more: (before, after) of each figure."""

    module: str
    kernel: str
    setting: str
    registers: tuple
    warps: tuple
    spills: tuple

    def order(self):
        return self.spills[0] - self.spills[1], self.warps[1] - self.warps[0], self.module, self.kernel


def compare(stock, ours, setting):
    """Returns (losses, worst first; number of gains; changes of spilled bytes of the kernels that spill before or
    after)."""
    losses, gains, changes = [], 0, []
    for key in sorted(stock.keys() & ours.keys()):
        before, after = stock[key], ours[key]
        spills, warps = (before["spills"], after["spills"]), (before["warps"], after["warps"])
        if any(spills):
            changes.append(spills[1] - spills[0])
        gains += warps[1] > warps[0] or spills[1] <= spills[0] - SPILL_BYTES
        if warps[1] < warps[0] or spills[1] >= spills[0] + SPILL_BYTES:
            losses.append(Loss(*key, setting, (before["registers"], after["registers"]), warps, spills))
    losses.sort(key=Loss.order)
    return losses, gains, changes


def risen(stock, ours):
    """Returns {module: counts of NEVER_MORE that increased}."""
    found = {}
    for module in sorted(stock.keys() & ours.keys()):
        rose = [c for c in NEVER_MORE if ours[module].get(c, 0) > stock[module].get(c, 0)]
        if rose:
            found[module] = {c: (stock[module].get(c, 0), ours[module].get(c, 0)) for c in rose}
    return found


def shown(name, setting_title, compared):
    """Yields the comparison of one compiler at one setting, as lines."""
    losses, gains, changes = compared
    typical = median(changes) if changes else 0
    yield (
        f"{name}, {setting_title}: {len(losses)} kernels worse by an occupancy step or {SPILL_BYTES} bytes of spills, "
        f"{gains} better; median change of {len(changes)} kernels that spill in either: {typical:+g} bytes"
    )
    rows = [
        [loss.module, *(f"{a}→{b}" for a, b in (loss.registers, loss.warps, loss.spills)), short(loss.kernel)]
        for loss in losses[:LISTED]
    ]
    if rows:
        yield from report.table(rows, ["module", "registers", "warps", "spills", "kernel"])
    if len(losses) > LISTED:
        yield f"… and {len(losses) - LISTED} more"


def shown_risen(name, found):
    yield f"{name}: {len(found)} modules with more {' or '.join(NEVER_MORE)}"
    for module, counts in found.items():
        yield f"  {Path(module).name}: " + ", ".join(f"{c} {a}→{b}" for c, (a, b) in counts.items())


def short(name):
    return name if len(name) <= 60 else name[:40] + "…" + name[-19:]
