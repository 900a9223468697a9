#!/usr/bin/env python3
"""Learns from recorded searches: which recipe a search of PTX tries first, and for which kernels it tries none.

    learned.py --record TRIALS FILE.ptx …    tries all recipes on kernels that spill or are below full occupancy
    learned.py --write TRIALS …              writes src/tune/learned/outcomes.txt
    learned.py TRIALS …                      the curve of gain against runs

TRIALS is a file of JSON, one kernel per line. The search is that of src/tune/learned/expectation.rs, reimplemented
here. Each kernel is searched without the knowledge of the kernels of its own lineage. With --aside TRIALS, the
searched kernels are those of another file, from which nothing was learned. A file's lineage is the part of its name
before `__`, else its name. A gain is a share of stock's time by the formula of src/tune/learned/gain.rs. A run
counts only if its PTX is new.
"""

import json
import math
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import command_line
import report
import tools

OUTCOMES = Path(__file__).parents[2] / "src" / "tune" / "learned" / "outcomes.txt"
BYTES_OF_AN_INSTRUCTION, OF_SPILLS, OF_INSTRUCTIONS, OF_WARPS = 8.0, 0.8, 0.8, 0.2  # gain.rs
REACH, AGREEMENT, FLOOR, LEAST = 1.5, 0.03, 1e-3, 0.0005  # expectation.rs, rounds.rs
RUNS = (1, 2, 3, 4, 6, 8, 16, 32)
LOOKS = ("look", "best+look")


@dataclass
class Kernel:
    """A recorded kernel: the gain of each recipe and the PTX that it made, by the recipe's name."""

    lineage: str
    name: str
    traits: list
    gains: dict
    texts: dict

    @property
    def best(self):
        return max(self.gains.values(), default=0.0)


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="recorded trials; with --record, PTX files")
    add("--record", metavar="TRIALS", help="record trials, and append them to this file")
    add("--write", action="store_true", help="write the table that is compiled into nvptx-ra")
    add("--aside", metavar="TRIALS", action="append", default=[], help="kernels from which nothing is learned")
    add("--timeout", type=int, default=900, help="seconds for a file (default: %(default)s)")
    command_line.add_tool(parser)
    return parser.parse_args()


def lineage_of(path):
    name = Path(path).name.removesuffix(".ptx")
    return name.partition("__")[0] if "__" in name else name


def record(arguments):
    """Records the trials of each file, with the file's name."""
    for path in arguments.files:
        trials = Path(arguments.record + ".part")
        trials.unlink(missing_ok=True)
        command = [arguments.tool, "tune", path, "-o", "/dev/null", "--runs", "400", "--trials", str(trials)]
        outcome = tools.run(command, arguments.timeout)
        print(path, outcome.error or f"{outcome.seconds:.0f} s", flush=True)
        if trials.exists():
            lines = [json.loads(line) | {"file": path} for line in trials.read_text(encoding="utf8").splitlines()]
            with Path(arguments.record).open("a", encoding="utf8") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
            trials.unlink()


def gain(stock, variant):
    """Computes a gain as src/tune/learned/gain.rs does."""
    spills = lambda of: 1 + of["cost"] / (BYTES_OF_AN_INSTRUCTION * max(of["instructions"], 1))
    ratio = lambda key: max(variant[key], 1) / max(stock[key], 1)
    time = OF_SPILLS * math.log(spills(variant) / spills(stock)) + OF_INSTRUCTIONS * math.log(ratio("instructions"))
    return min(max(1 - math.exp(time - OF_WARPS * math.log(ratio("warps"))), 0.0), 1.0)


def kernel_of(line):
    gains, texts = {}, {}
    for tried in line["tried"]:
        gained = gain(line["stock"], tried["figures"]) if tried["wins"] and tried["figures"] else 0.0
        for recipe in tried["recipes"]:
            # A look stands for several variants. Its gain is that of the best one.
            gains[recipe] = max(gained, gains.get(recipe, 0.0)) if recipe in LOOKS else gained
            texts[recipe] = tried["text"]
    return Kernel(lineage_of(line["file"]), line["kernel"], line["traits"], gains, texts)


def read(paths):
    lines = [line for path in paths for line in Path(path).read_text(encoding="utf8").splitlines()]
    return [kernel_of(json.loads(line)) for line in lines]


def recipes_of_program():
    """Returns the recipes' names in the first line of the table."""
    lines = OUTCOMES.read_text(encoding="utf8").splitlines()
    return next(line for line in lines if not line.startswith("#")).split(" ")


def write(kernels):
    recipes = recipes_of_program()
    unknown = {recipe for kernel in kernels for recipe in kernel.gains} - set(recipes)
    if unknown:
        sys.exit(f"recipes missing in the first line of {OUTCOMES.name}: {', '.join(sorted(unknown))}")
    word = lambda kernel, recipe: str(min(round(1000 * kernel.gains[recipe]), 999)) if recipe in kernel.gains else "-"
    line = lambda kernel: " ".join(
        [re.sub(r"\s", "_", kernel.lineage), *map(str, kernel.traits), *(word(kernel, recipe) for recipe in recipes)]
    )
    lines = sorted({line(kernel) for kernel in kernels})
    OUTCOMES.write_text("\n".join([" ".join(recipes), *lines]) + "\n", encoding="utf8")
    print(f"{OUTCOMES}: {len(lines)} kernels of {len({kernel.lineage for kernel in kernels})} lineages")


def coordinates(traits):
    """Computes coordinates as src/tune/learned/traits.rs does."""
    instructions, registers, cost, local, traffic, work, shared, warps, wins, keeps = traits
    magnitude = lambda number: math.log2(1 + number)
    return (
        magnitude(instructions) / 2,
        registers / 64,
        4 * (cost > 0) + magnitude(cost) / 2,
        magnitude(local) / 3,
        magnitude(traffic) / 3,
        4 * work / max(instructions, 1),
        magnitude(shared) / 5,
        warps / 16,
        3 * wins,
        2 * keeps,
    )


def learned(kernel, others, recipes, least):
    """Simulates a search that learns from other kernels. Returns (the gain after each run, the number of runs)."""
    place = coordinates(kernel.traits)
    near = lambda other: FLOOR + math.exp(-math.dist(place, coordinates(other.traits)) ** 2 / (2 * REACH))
    weighted = [(near(other), other.gains) for other in others]
    best, curve, seen, given = 0.0, [], set(), set()
    while len(curve) < max(RUNS):
        is_open = lambda recipe: recipe in kernel.gains and (best > 0 or not recipe.startswith("best+"))
        open_ones = [recipe for recipe in recipes if recipe not in given and is_open(recipe)]
        improvements = [(improvement(recipe, best, weighted), recipe) for recipe in open_ones]
        expected, recipe = max(improvements, key=lambda pair: pair[0], default=(-1.0, ""))
        if expected < least:
            break
        given.add(recipe)
        gained = kernel.gains[recipe]
        agrees = lambda gains: math.exp(-((gains.get(recipe, 0.0) - gained) ** 2) / (2 * AGREEMENT**2))
        weighted = [(weight * (FLOOR + agrees(gains)), gains) for weight, gains in weighted]
        best = max(best, gained)
        extend(curve, seen, kernel.texts.get(recipe), best)
    return curve, len(curve)


def improvement(recipe, best, weighted):
    """Returns the average amount by which a recipe improves on a gain of `best`, over the kernels that the recipe
    changes."""
    had = [(weight, gains[recipe]) for weight, gains in weighted if recipe in gains]
    whole = sum(weight for weight, _ in had)
    return sum(weight * max(gain - best, 0.0) for weight, gain in had) / whole if whole else 0.0


def by_list(kernel, recipes):
    """Simulates a search in the order of the list. Returns (the gain after each run, the number of runs)."""
    best, curve, seen = 0.0, [], set()
    for recipe in recipes:
        if recipe in kernel.gains and (best > 0 or not recipe.startswith("best+")):
            best = max(best, kernel.gains[recipe])
            extend(curve, seen, kernel.texts.get(recipe), best)
    return curve, len(curve)


def extend(curve, seen, text, best):
    """Adds a run with its gain to the curve, unless the PTX is already known."""
    if text is None or text not in seen or not curve:
        curve.append(best)
        seen.add(text)
    else:
        curve[-1] = best


def curves(kernels, teachers):
    """Yields the rows of the table: by the list, learned, and learned with a stop at LEAST expected gain."""
    recipes = recipes_of_program()
    whole = sum(kernel.best for kernel in kernels)
    others = lambda kernel: [other for other in teachers if other.lineage != kernel.lineage]
    ways = {
        "order of the list": lambda kernel: by_list(kernel, recipes),
        "learned": lambda kernel: learned(kernel, others(kernel), recipes, 0.0),
        "learned, with a stop": lambda kernel: learned(kernel, others(kernel), recipes, LEAST),
    }
    for name, way in ways.items():
        found = [way(kernel) for kernel in kernels]
        after = lambda runs: sum(curve[min(runs, len(curve)) - 1] for curve, _ in found if curve)
        mean = sum(runs for _, runs in found) / max(len(found), 1)
        yield [name, *(f"{after(runs) / max(whole, 1e-9):.2f}" for runs in RUNS), f"{mean:.1f}"]


def main():
    arguments = parse_arguments()
    if arguments.record:
        record(arguments)
        return
    teachers = read(arguments.files)
    if arguments.write:
        write(teachers)
        return
    kernels = read(arguments.aside) or teachers
    gainers = sum(kernel.best > 0 for kernel in kernels)
    print(f"{len(kernels)} kernels, {gainers} gain; share of the gain of all recipes, by runs of ptxas per kernel\n")
    print("\n".join(report.table(list(curves(kernels, teachers)), ["", *map(str, RUNS), "runs"])))


if __name__ == "__main__":
    main()
