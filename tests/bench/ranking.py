#!/usr/bin/env python3
"""Does the forecast rank the orders of a kernel as ptxas does? Kendall's tau over a fixed draw of real kernels.

    ranking.py [options] [MODULE-GLOB …]

Each module is compiled with every order of `order`, and ptxas judges each kernel at its own bounds and with 64
registers. `nvptx-ra report --order` forecasts the same. Of one kernel, two orders make a pair wherever ptxas tells them
apart. With --runs FILE what was measured before is read and not measured again.
"""

import itertools
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import command_line
import corpus
import occupancy
import ptxas
import report
import tools

# What `order=auto` chooses from (src/forecast/decide/order.rs), that of the code first.
ORDERS = ("source", "late", "eager", "loads-late", "loads-clustered", "sethi-ullman", "bottom-up", "latency")
SETTINGS = ("own", "64")
# What is ranked, by what, at which settings.
RANKED = (
    ("registers", "peak words", lambda forecast: forecast["words"], ("own",)),
    ("registers", "forecast of registers", lambda forecast: forecast["registers"], ("own",)),
    ("spills", "peak words", lambda forecast: forecast["words"], SETTINGS),
    ("spills", "forecast of spills", lambda forecast: forecast["spills"], SETTINGS),
)
ORDER_AUTO = (40, 10)  # the margins of src/forecast/decide/order.rs: of bytes spilled, and of registers where nothing is
MARGINS = (0, 5, 10, 20, 40)  # percent that the best forecast is below that of the source order


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    command_line.add_modules(parser)
    command_line.add_subset(parser)
    add("--draw", type=int, default=24, help="modules that are drawn (default: %(default)s)")
    add("--smallest", type=int, default=0, metavar="KB", help="no smaller ones (default: %(default)s)")
    add("--largest", type=int, default=120, metavar="KB", help="no larger ones (default: %(default)s)")
    add("--kernels", type=int, default=6, help="kernels drawn of each module (default: %(default)s)")
    add("--seed", type=int, default=1)
    command_line.add_jobs(parser)
    add("--runs", metavar="FILE", help="keeps what was measured, one module a line")
    command_line.add_tool(parser)
    return parser.parse_args()


def drawn(modules, arguments):
    """The same for the same seed and files, in the order of their names."""
    sizes = range(1024 * arguments.smallest, 1024 * arguments.largest + 1)
    fitting = [module for module in sorted(modules) if os.path.getsize(module) in sizes]
    return corpus.drawn(fitting, arguments.draw, arguments.seed)


def output_of(command):
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, check=False)
    if run.returncode:
        raise RuntimeError(f"{command[1]}: {run.stderr.strip()[:200]}")
    return run.stdout


def measured(module, found, arguments):
    """{kernel: {order: {setting: {what is forecast, what ptxas says}}}} of a module; empty where anything fails."""
    cpu = corpus.cpu_of(module)
    options = ["--cpu", cpu, "--mattr", "+ptx88", "-O3", module]
    kernels = {}
    try:
        for order in ORDERS:
            text = output_of([arguments.tool, "compile", "--set", f"order={order}", "-o", "-", *options])
            for setting in SETTINGS:
                limit = ["--max-regs", setting] if setting.isdigit() else []
                command = [arguments.tool, "report", "--json", "--features", "--order", order, *limit, *options]
                real = ptxas.assemble(ptxas.with_setting(text, setting), cpu, found, 300, with_sass=False)
                if real["error"]:
                    raise RuntimeError(f"ptxas: {real['error'][:200]}")
                for kernel in json.loads(output_of(command))["kernels"]:
                    of_ptxas = real["kernels"][kernel["name"]]
                    by_order = kernels.setdefault(kernel["name"], {}).setdefault(order, {})
                    by_order[setting] = {
                        "forecast": {
                            "words": kernel["features"]["words"],
                            "registers": kernel["registers"],
                            "spills": kernel["spill_store_bytes"] + kernel["spill_load_bytes"],
                        },
                        "registers": of_ptxas["registers"],
                        "spills": of_ptxas["stores"] + of_ptxas["loads"],
                    }
    except (RuntimeError, subprocess.TimeoutExpired) as problem:
        print(f"{Path(module).name}: {problem}", file=sys.stderr)
        return {}
    names = sorted(kernels)
    kept = random.Random(arguments.seed).sample(names, min(arguments.kernels, len(names)))
    return {name: kernels[name] for name in kept}


def sign(number):
    return (number > 0) - (number < 0)


def pairs(rows):
    """(concordant, discordant, tied in the forecast alone, tied by ptxas alone, tied in both) of (forecast, real)."""
    counts = Counter()
    for (one, real_one), (other, real_other) in itertools.combinations(rows, 2):
        counts[sign(one - other), sign(real_one - real_other)] += 1
    agree, differ = counts[1, 1] + counts[-1, -1], counts[1, -1] + counts[-1, 1]
    return agree, differ, counts[0, 1] + counts[0, -1], counts[1, 0] + counts[-1, 0], counts[0, 0]


def tau(agree, differ, tied_forecast, tied_real, _both):
    """Kendall's tau-b; None where ptxas tells no two apart, 0 where the forecast does not."""
    real = agree + differ + tied_forecast
    forecast = agree + differ + tied_real
    if not real:
        return None
    return (agree - differ) / math.sqrt(real * forecast) if forecast else 0.0


def ranking(kernels, what, figure, settings):
    """Of all kernels: those whose orders ptxas tells apart, such pairs, those that the forecast tells apart too, the
    share of these that it has right, the mean tau."""
    taus, total = [], Counter()
    for kernel, setting in itertools.product(kernels, settings):
        rows = [(figure(kernel[order][setting]["forecast"]), kernel[order][setting][what]) for order in ORDERS]
        counted = pairs(rows)
        if (value := tau(*counted)) is not None:
            taus.append(value)
            total.update(dict(zip(("agree", "differ", "tied"), counted, strict=False)))
    decided = total["agree"] + total["differ"]
    return {
        "kernels": len(taus),
        "pairs": decided + total["tied"],
        "decided": decided,
        "right": total["agree"] / decided if decided else math.nan,
        "tau": sum(taus) / len(taus) if taus else math.nan,
    }


def choice(kernels, what, figure, settings, margin):
    """What comes of the order with the best forecast, where that is so many percent below the source's: kernels that
    get another order, those of them that get better and worse, and the sum over all before and after."""
    counts = Counter()
    for kernel, setting in itertools.product(kernels, settings):
        by_order = {order: figure(kernel[order][setting]["forecast"]) for order in ORDERS}
        best = min(ORDERS, key=lambda order: (by_order[order], ORDERS.index(order)))
        before, after = kernel["source"][setting][what], kernel[best][setting][what]
        if best == "source" or by_order[best] * 100 >= by_order["source"] * (100 - margin):
            best, after = "source", before
        counts.update(before=before, after=after, changed=best != "source", better=after < before, worse=after > before)
    return counts


def preferred(forecasts, margins):
    """The order that `order=auto` takes: the fewest bytes spilled, then registers, where that is clearly less."""
    source, best = forecasts["source"], "source"
    of_spills, of_registers = margins
    for order in ORDERS:
        new = forecasts[order]
        if source["spills"]:
            is_clear = new["spills"] * 100 <= source["spills"] * (100 - of_spills)
        else:
            is_clear = not new["spills"] and new["registers"] * 100 <= source["registers"] * (100 - of_registers)
        is_less = (new["spills"], new["registers"]) < (forecasts[best]["spills"], forecasts[best]["registers"])
        if is_clear and (best == "source" or is_less):
            best = order
    return best


def chosen(kernel, setting, margins):
    """The order that `order=auto` takes, and what ptxas makes of the source's and of that: bytes spilled, then warps
    that an SM does not hold."""
    best = preferred({order: kernel[order][setting]["forecast"] for order in ORDERS}, margins)
    before, after = (
        (of["spills"], -occupancy.resident_warps(of["registers"], "sm_90"))
        for of in (kernel["source"][setting], kernel[best][setting])
    )
    return best, before, after


def automatic(kernels, margins):
    """What comes of `order=auto`, as ptxas has it: better and worse are bytes spilled, then resident warps."""
    counts = Counter()
    for kernel, setting in itertools.product(kernels, SETTINGS):
        best, before, after = chosen(kernel, setting, margins)
        counts.update(before=before[0], after=after[0])
        counts.update(changed=best != "source", better=after < before, worse=after > before)
    return counts


def losses(kernels, margins):
    """A line for each kernel, by name, that `order=auto` makes worse."""
    for (name, kernel), setting in itertools.product(kernels.items(), SETTINGS):
        best, before, after = chosen(kernel, setting, margins)
        if after > before:
            bytes_and_warps = f"{before[0]} → {after[0]} bytes spilled, {-before[1]} → {-after[1]} warps"
            yield f"worse by order=auto, with the order {best}: {name} ({setting}): {bytes_and_warps}"


def shown(kernels):
    rows, choices = [], []
    for what, by, figure, settings in RANKED:
        found = ranking(kernels, what, figure, settings)
        rows.append(
            [f"{what} by {by}", str(found["kernels"]), str(found["pairs"]), str(found["decided"])]
            + [f"{100 * found['right']:.0f} %", f"{found['tau']:+.2f}"]
        )
        for margin in MARGINS:
            made = choice(kernels, what, figure, settings, margin)
            counts = [made[name] for name in ("changed", "better", "worse", "before", "after")]
            choices.append([f"{what} by {by}", f"{margin} %", *map(str, counts)])
    made = automatic(kernels, ORDER_AUTO)
    counts = [made[name] for name in ("changed", "better", "worse", "before", "after")]
    choices.append(["spills, warps by order=auto", "", *map(str, counts)])
    yield from report.table(rows, ["", "kernels", "pairs", "decided", "right", "tau"])
    yield ""
    yield from report.table(choices, ["the best forecast", "margin", "changed", "better", "worse", "before", "after"])


def main():
    arguments = parse_arguments()
    found = tools.find(None, with_sass=False)
    modules = drawn(corpus.modules(arguments.corpus, arguments.modules, arguments.subset), arguments)
    known = {}
    if arguments.runs and Path(arguments.runs).exists():
        known = dict(json.loads(line) for line in Path(arguments.runs).read_text(encoding="utf8").splitlines())

    def one(module):
        name = Path(module).name
        return name, known[name] if name in known else measured(module, found, arguments)

    kernels = {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for name, of_module in pool.map(one, modules):
            kernels |= {f"{name}: {kernel}": orders for kernel, orders in of_module.items()}
            if arguments.runs and name not in known:
                with open(arguments.runs, "a", encoding="utf8") as file:
                    file.write(json.dumps([name, of_module]) + "\n")
    print(f"{len(kernels)} kernels of {len(modules)} modules, {len(ORDERS)} orders\n")
    print("\n".join(shown(list(kernels.values()))))
    print("\n".join(losses(kernels, ORDER_AUTO)))


if __name__ == "__main__":
    main()
