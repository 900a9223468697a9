"""Winners of searches: their choices, the evidence that they compute the same as stock, and the ratio of their
executed PTX instructions to stock's. If the searching tool does not report the evidence and the ratio, `nvptx-ra
compare` of the default tool provides them."""

import json
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import cache
import command_line
import measure
import searched
import tools
from plan import STOCK

MORE = 1.1  # winners above this ratio of executed instructions to stock's are counted
UNPROVED = re.compile(r"(^|;)(also|inline=|unroll=|(skip|add)(-passes)?=)")


@dataclass(frozen=True)
class Winner:
    """The choice for a kernel, the evidence that the choice computes the same as stock, and the ratio of executed
    instructions to stock's, if known."""

    choice: str
    assurance: str
    ratio: float | None


def winner_of(kernel, said, code, plan):
    """Returns the winner of a kernel from the result of `tune --json` and its PTX, `None` if it is stock."""
    if said["choice"] == "stock":
        return None
    if "executed" in said:
        return Winner(said["choice"], said["assurance"], said["executed"] and said["executed"]["ratio"])
    return Winner(said["choice"], assurance_of(said), ratio_by_comparing(kernel, code, plan))


def assurance_of(said):
    """Returns the evidence that a choice computes the same as stock, for tools that do not report it."""
    if not UNPROVED.search(said["choice"]):
        return "proved"
    return "run" if said["compared"] and said["compared"]["verdict"] == "same" else "neither"


def ratio_by_comparing(kernel, code, plan):
    """Returns the number of PTX instructions that a kernel executes, divided by that of stock LLVM's PTX. `None` if no
    launch ends."""
    own = replace(plan, modules={kernel.module: kernel.path})
    compiled, text = measure.compile_module(kernel.module, plan.compiler(STOCK), own)
    if compiled["error"]:
        return None
    words = [f"--kernel={kernel.name}", *searched.launch_flags(kernel.launch)]
    key = cache.key_of("executed", text, code, words, cache.file_hash(command_line.TOOL))
    store = cache.Cache(plan.cache)
    if (known := store.get_text(key)) is None:
        with tempfile.TemporaryDirectory() as folder:
            stock, tuned = Path(folder, "stock.ptx"), Path(folder, "tuned.ptx")
            stock.write_text(text, encoding="utf8")
            tuned.write_text(code, encoding="utf8")
            outcome = tools.run([command_line.TOOL, "compare", str(stock), str(tuned), *words, "--json"], plan.timeout)
        known = json.dumps(ratio_in(outcome.output))
        store.put_text(key, known)
    return json.loads(known)


def ratio_in(output):
    """Returns the ratio from the JSON of `nvptx-ra compare` of one kernel, `None` if there is none."""
    start = re.search(r"^\[", output, re.MULTILINE)
    executed = json.JSONDecoder().raw_decode(output, start.start())[0][0]["executed"] if start else None
    return executed[1]["instructions"] / executed[0]["instructions"] if executed else None


def lines_of(runs, winners):
    """Returns a line for each pair of a name and a winner, and a line with their sums. No winner may be `None`."""
    told = [
        f"{runs} runs: {name}: {of.assurance}, {'not known' if of.ratio is None else f'× {of.ratio:.2f}'}, {of.choice}"
        for name, of in winners
    ]
    known = [of.ratio for _, of in winners if of.ratio is not None]
    by_word = [f"{sum(of.assurance == word for _, of in winners)} {word}" for word in ("proved", "run", "neither")]
    more = sum(ratio > MORE for ratio in known)
    return [
        *told,
        f"{runs} runs: {more} of {len(winners)} winners execute more than {MORE} times stock's PTX instructions, of "
        f"{len(winners) - len(known)} it is not known; {', '.join(by_word)}",
    ]
