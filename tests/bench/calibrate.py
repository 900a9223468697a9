#!/usr/bin/env python3
"""Fit the forecast's model to what ptxas made of the corpus, and say how good it is.

    calibrate.py --reports FOLDER --results JSON [JSON …] [--write]

FOLDER has what `nvptx-ra report --json --features` says of each module, one file each, as MODULE.json (--make-reports
writes them from a corpus); the results are the bench's own (`make bench ARGS="--settings own,one,32,64"`), whose stock
compiler is what is fitted. Without results under limits the models of spills stay as they are, and without those of the
setting `one` that of the registers of kernels that say how many blocks an SM is to hold. --write NAME writes that model
alone.

The figures are of code lineages that were not fitted on: each is left out in turn, the model fitted on all others and
judged on it. What is shipped is then fitted on all of them, in the same way. Nothing is known of a kernel's name.
"""

import json
import math
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import command_line
import corpus
import judge
import likely
from occupancy import resident_warps
from plan import ONE, OWN

# One division into what is fitted on and what is judged, beside leaving out each lineage in turn.
FITTED_LINEAGES = ("fla", "ggml", "liger")
STOCK = "stock"
SPILL_LIMITS = (32, 64, 128)
LEAST_SPILL = 8  # bytes; below that the forecast says none
# Registers that a kernel with a call takes at least, however little it and its callees hold: ptxas 13.0.88 gives so
# many to each of 826 kernels of the corpus that call something, and no more to 239 of them.
WITH_CALLS = 24
# Registers that a division or root of 64-bit floating-point numbers takes at least beside the words live there, for it
# is a subroutine. With 0 to 40 words live across it ptxas 13.0.88 gives div.rn.f64 of two values 17 to 20 more for
# sm_90, and 18 where it takes more than 32 registers; with a constant it gives 14 to 20, and sqrt.rn.f64 15 to 18.
WITH_DOUBLE = 17
# Registers that a kernel takes at least beside the words live at a call of a function that is not there: they lie above
# those that the callee may overwrite. With 0 to 40 words live across it ptxas 13.0.88 gives a call of an unknown
# function and one of vprintf 19 to 48 more, for sm_80, sm_90 and sm_100, and never fewer than 19 to the 141 kernels of
# the corpus that hold something there. What callees take that are there it knows: 10 more are enough for some.
WITH_EXTERNAL = 19
# The same of a division of 64-bit integers. Where 31 to 60 words are live there ptxas 13.0.88 takes 20 more, or above,
# in 134 of 135 kernels of 16 files, 18 to 22 in three quarters of them.
WITH_DIVISION = 20
# Not asked about registers: who calls something is a matter of style (ggml's checks do, in kernels of a few
# instructions and in the largest), and what callees need is in the other features.
OF_CALLS = ("external_calls", "internal_calls", "words_at_call")
# For reports alone, and in the sums: the trees do not ask about these either.
OF_REPORTS = ("inner_invariant_words", "invariant_words", "stack_words")
# Lower bounds by themselves, and what goes with them.
OF_FLOORS = ("carried_words", "carried_all_words", "passed_words", "moved_words", "moved_uniform_words")
OF_SUMS = ("early_words", "unrolled_words", "unrolling_words")
# What the trees correct, in registers: what must be held, as counted in several ways, and what ptxas adds. Trees alone
# know nothing beyond the kernels that they have seen, and share the credit among all that grows with the code.
#
# Registers have two models. Where a kernel says how many blocks an SM is to hold, ptxas has no reason to save registers
# and issues loads early; where it does not, ptxas saves them for more warps. Few lineages say it, but ptxas can be told
# of every kernel that one block is enough (ONE), so the second model is fitted to what it then makes of all of them.
WITHOUT_BLOCKS, WITH_BLOCKS = "registers.model", "registers-with-blocks.model"
# Whether a kernel spills, and how much if it does: what is fitted to all kernels says too little of those that spill,
# because most kernels spill nothing.
SPILLS, SPILL_SIZES = "spills.model", "spill-sizes.model"
BASES = {
    WITHOUT_BLOCKS: (11, {"reordered_words": 0.5, "reordered_varying_words": 0.25, "unrolling_words": 0.35}),
    WITH_BLOCKS: (11, {"reordered_words": 0.5, "early_words": 0.4}),
    SPILL_SIZES: (16, {"reordered_words_over_budget": 6, "words_over_budget": 4}),
}
# A forecast of at most so many registers above a step of the occupancy is that step: ptxas reorders to keep it, and does
# more for it where it knows how large a block is, but not how many of them an SM is to hold.
STEP_REACH, STEP_REACH_WITH_SIZE = 1, 4
# Where ptxas knows how large a block is, and not how many of them an SM is to hold, and where all registers do not
# suffice, it may give registers up for warps and spill nearly everything. Of the kernels of the corpus that hold so many
# varying words in the order of the code, and more than all registers in the better order, it does so for 62 of 103.
GIVES_UP = 550
# Any other forecast is a multiple of this in the same step: pairs are aligned, and 62 to 95 % of each lineage's kernels
# take an even number.
MULTIPLE = 2
# What counts is the share of what ptxas takes by which a forecast is off: 128 instead of 32 by 300 %, 32 instead of 128
# by 75 %. So a kernel that takes fewer registers than the sum says counts for more, by this power of the ratio: 1, as
# the measure has it. The larger ones pay: with 0.5 they are off by 1.4 points less, the others by file by 4 more.
LESS_THAN_BASE = 1
# So many fits, which differ by their seed alone, of so many trees each.
SEEDS, STEPS = 2, 50
# The most leaves of a tree.
LEAVES = 24
# A leaf says what its kernels say, and 0 for so many files more: of few files little is learned.
FILES_OF_REGISTERS, FILES_OF_SPILLS = 5, 3
META = {"module", "lineage", "setting", "registers", "stores", "loads_of_spills", "threads"}
# What ptxas has to hold, as compared with the register limit: the only way in which it decides about spills, so that a
# larger one never makes more of them.
HELD = (
    "declared_words",
    "entry_words",
    "hoisted_words",
    "loop_entry_words",
    "reordered_loop_words",
    "reordered_varying_words",
    "reordered_words",
    "varying_words",
    "words",
    "words_at_division",
    "words_at_double",
)
OVER_LIMIT = "_over_budget"
OVER = {name + OVER_LIMIT for name in HELD}
MODELS = corpus.ROOT / "src/forecast/model"


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("--reports", type=Path, required=True, help="folder of MODULE.json")
    add("--make-reports", metavar="CORPUS", type=Path, help="write them first, from the .bc and .ll files of a folder")
    add("--results", type=Path, nargs="+", required=True, help="results of the bench")
    add("--tool", type=Path, default=corpus.ROOT / "target/release/nvptx-ra")
    add("--write", metavar="MODEL", nargs="*", help="replace src/forecast/model/*.model, or those of these names alone")
    return parser.parse_args()


def make_reports(tool, folder, reports, cpu="sm_90"):
    """What the tool says of each module. A module that fails is named and left out."""
    reports.mkdir(parents=True, exist_ok=True)
    for module in map(Path, corpus.modules(folder)):
        target = reports / f"{module.stem}.json"
        if target.exists():
            continue
        arch = cpu + "a" if module.suffix == ".ll" else cpu
        command = [tool, "report", "--json", "--features", "--cpu", arch, "--mattr", "+ptx88", "-O3", module]
        run = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1200, check=False)
        if run.returncode:
            print(f"{module.name}: {run.stderr.strip().splitlines()[:1]}", file=sys.stderr)
        else:
            target.write_text(run.stdout, encoding="utf8")


def names_of(kernel):
    """The names that the bench may have for a kernel: it gives internal ones external linkage."""
    return (kernel, "_Z" + kernel[3:]) if kernel.startswith("_ZL") else (kernel,)


def load(reports, results):
    """A row for each kernel and setting that both know, but of sources that are held out: nothing is fitted to them."""
    measured = defaultdict(dict)
    for path in results:
        result = json.loads(path.read_text(encoding="utf8"))
        for setting, by_compiler in result["kernels"].items():
            measured[setting].update(by_compiler.get(STOCK, {}))
    sources = corpus.sources()
    rows = []
    for path in sorted(reports.glob("*.json")):
        module = path.stem
        source = sources.get(corpus.source_of(module), {})
        if source.get("held_out"):
            continue
        for kernel in json.loads(path.read_text(encoding="utf8"))["kernels"]:
            for setting, of_kernels in measured.items():
                found = next(
                    (
                        of_kernels[key]
                        for key in (f"{module}/{name}" for name in names_of(kernel["name"]))
                        if key in of_kernels
                    ),
                    None,
                )
                if found is None or setting not in (OWN, ONE, *map(str, SPILL_LIMITS)):
                    continue
                if setting == ONE and kernel.get("min_blocks"):
                    continue  # ptxas was told nothing new
                features, limit = kernel["features"], int(setting) if setting.isdigit() else 255
                register_limit = min(kernel["budget"], limit)
                blocks = 1 if setting == ONE else kernel.get("min_blocks") or 0
                rows.append(
                    {
                        "module": module,
                        "lineage": source.get("lineage", module),
                        "setting": setting,
                        **features,
                        **{name + OVER_LIMIT: features[name] - register_limit for name in HELD},
                        "budget": register_limit,
                        "any_blocks": int(bool(kernel.get("threads")) and not blocks),
                        "min_blocks": blocks,
                        "threads": kernel.get("threads") or 0,
                        "registers": found["registers"],
                        "stores": found["stores"],
                        "loads_of_spills": found["loads"],
                    }
                )
    return rows


def model_of(row):
    """Which of the models of registers a row belongs to."""
    return WITH_BLOCKS if row["min_blocks"] else WITHOUT_BLOCKS


def base_of(row):
    """The registers that the trees correct."""
    return max(1, min(sum_of(row, model_of(row)), judge.MOST_REGISTERS))


def sum_of(row, model):
    """A constant, and so many of each of some features, those below 0 counting as 0."""
    constant, factors = BASES[model]
    return constant + sum(factor * max(0, row[name]) for name, factor in factors.items())


def taken(wanted, threads=0, any_blocks=False):
    """The registers that are expected where so many are wanted: the step of the occupancy that they come down to, or
    the nearest multiple in their own. `threads` of a block, 0 if that is not known."""
    reach = STEP_REACH_WITH_SIZE if any_blocks else STEP_REACH
    warps = lambda registers: resident_warps(registers, "sm_90", threads)  # noqa: E731
    nearest, multiple = math.floor(wanted + 0.5), MULTIPLE * math.floor(wanted / MULTIPLE + 0.5)
    for fewer in range(1, min(reach, nearest - 1) + 1):
        if warps(nearest - fewer) > warps(nearest):
            return nearest - fewer
    return multiple if warps(multiple) == warps(nearest) else nearest


def gives_up(row):
    """Whether a kernel is expected to take few registers for the sake of warps."""
    many = row["varying_words"] >= GIVES_UP and row["reordered_words"] > judge.MOST_REGISTERS
    return bool(row["any_blocks"]) and many


def for_warps(threads):
    """The most registers with which an SM holds as many warps as it can, in blocks of so many threads."""
    most = resident_warps(1, "sm_90", threads)
    return max(n for n in range(1, judge.MOST_REGISTERS + 1) if resident_warps(n, "sm_90", threads) == most)


def fit(rows, names, target, objective, steps, rate, files, growing=(), seeds=(0, 1), weight=lambda row: 1):
    """Boosted trees, the mean of several fits of so many steps each, as lists of nested (feature, threshold, yes, no)
    or values. The forecast never falls where one of the `growing` features grows."""
    import lightgbm
    import numpy as np

    counts = defaultdict(int)
    for row in rows:
        counts[row["module"], row["setting"]] += 1
    # Each file counts once: instances of a few templates are most of the kernels.
    weights = np.array([weight(row) / counts[row["module"], row["setting"]] for row in rows])
    values = np.array([[row[name] for name in names] for row in rows], dtype=float)
    wanted = np.array([target(row) for row in rows])
    trees = []
    for seed in seeds:
        model = lightgbm.LGBMRegressor(
            objective=objective,
            n_estimators=steps,
            learning_rate=rate,
            num_leaves=LEAVES,
            reg_lambda=files,
            min_child_samples=20,
            subsample=0.8,
            subsample_freq=1,
            colsample_bytree=0.5,
            random_state=seed,
            n_jobs=1,
            monotone_constraints=[int(name in growing) for name in names] if growing else None,
            verbose=-1,
            deterministic=True,
            force_row_wise=True,
        )
        model.fit(values, wanted, sample_weight=weights)
        dump = model.booster_.dump_model()["tree_info"]
        trees += [nested(tree["tree_structure"], names, 1 / len(seeds)) for tree in dump]
    return trees


def nested(node, names, scale):
    if "leaf_value" in node:
        return round(node["leaf_value"] * scale, 6)
    # Features are whole numbers: "at most 3" is "less than 3.5".
    than = math.floor(node["threshold"]) + 0.5
    children = [nested(node[side], names, scale) for side in ("left_child", "right_child")]
    return (names[node["split_feature"]], than, *children)


def predict(trees, row):
    total = 0.0
    for tree in trees:
        while isinstance(tree, tuple):
            name, than, less, more = tree
            tree = less if row[name] < than else more
        total += tree
    return total


def shown(tree):
    if not isinstance(tree, tuple):
        return f"{tree:g}"
    name, than, less, more = tree
    return f"{name}<{than:g} {shown(less)} {shown(more)}"


def fit_registers(rows):
    """The trees of each model by its name, and the function that makes a forecast of them."""
    trees = {}
    for name in (WITHOUT_BLOCKS, WITH_BLOCKS):
        chosen = [row for row in rows if model_of(row) == name]
        trees[name] = fit_model(chosen) if chosen else []

    def forecast(row):
        if gives_up(row):
            return min(for_warps(row["threads"]), int(row["budget"]))
        wanted = max(base_of(row) * math.exp(predict(trees[model_of(row)], row)), least(row))
        return min(taken(wanted, row["threads"], row["any_blocks"]), int(row["budget"]))

    return trees, forecast


def fit_model(rows):
    """The trees of one of the models."""
    names = [name for name in features_of(rows) if not name.endswith(OVER_LIMIT) and name not in OF_CALLS]
    # Kernels that take what a call takes at least do not show what they need, nor do those that give registers up.
    hides_needs = lambda row: gives_up(row) or (does_call(row) and row["registers"] <= WITH_CALLS)  # noqa: E731
    shown_needs = [row for row in rows if not hides_needs(row)]
    over_base = lambda row: math.log(row["registers"] / base_of(row))  # noqa: E731
    weight = lambda row: max(1, base_of(row) / row["registers"]) ** LESS_THAN_BASE  # noqa: E731
    seeds, files = range(SEEDS), FILES_OF_REGISTERS
    return fit(shown_needs, names, over_base, "l1", STEPS, rate=0.1, files=files, seeds=seeds, weight=weight)


def least(row):
    """The fewest registers that a kernel takes."""
    # What is live at a call counts as live at what the callee may divide, even where nothing has such numbers.
    divides = row["words_at_double"] > 0 and row["doubles"] > 0
    only_external = row["external_calls"] > 0 and not row["internal_calls"]
    # What cannot be held is spilled, to wherever ptxas wants to be.
    can_hold = row["words_at_division"] + WITH_DIVISION <= judge.MOST_REGISTERS
    floors = (
        (does_call(row), 0, WITH_CALLS),
        (divides, row["words_at_double"], WITH_DOUBLE),
        (row["wide_divisions"] > 0 and can_hold, row["words_at_division"], WITH_DIVISION),
        (only_external, row["words_at_call"], WITH_EXTERNAL),
    )
    return max([1, *(int(live) + more for applies, live, more in floors if applies)])


def does_call(row):
    return row["internal_calls"] + row["external_calls"] > 0


def fit_spills(rows):
    """The fit's trees, and the function that says whether a kernel spills."""
    total = lambda row: math.log1p(judge.spilled(row))  # noqa: E731
    trees = fit(rows, of_spills(rows), total, "l2", steps=40, rate=0.25, files=FILES_OF_SPILLS, growing=OVER)
    return trees, lambda row: math.expm1(predict(trees, row)) >= LEAST_SPILL


def fit_sizes(rows):
    """The trees, and the function that says how many bytes a kernel spills, if it spills: a larger register limit
    never makes them more."""
    chosen = [row for row in rows if judge.does_spill(row)]
    over_base = lambda row: math.log(judge.spilled(row) / sum_of(row, SPILL_SIZES))  # noqa: E731
    names, seeds, files = of_spills(rows), range(SEEDS), FILES_OF_SPILLS
    # Huber's loss: kernels of which a few spill a hundred times more than others alike decide little.
    trees = fit(chosen, names, over_base, "huber", steps=80, rate=0.1, files=files, growing=OVER, seeds=seeds)
    return trees, lambda row: sum_of(row, SPILL_SIZES) * math.exp(predict(trees, row))


def of_spills(rows):
    """The features that models of spills ask about: what is held counts as far as it is over the register limit."""
    return [name for name in features_of(rows) if name not in (*HELD, "any_blocks", "budget", "min_blocks")]


def features_of(rows):
    return sorted(name for name in rows[0] if name not in (*META, *OF_REPORTS, *OF_SUMS, *OF_FLOORS))


def left_out(rows, judged, fit_some):
    """For each of the judged rows what a fit on all other lineages of the rows says."""
    fits = {
        lineage: fit_some([row for row in rows if row["lineage"] != lineage])[1]
        for lineage in sorted({row["lineage"] for row in judged})
    }
    return [fits[row["lineage"]](row) for row in judged]


def judge_registers(rows):
    """The lines of the tables, and how sure their forecasts are, by the tables' names: what is judged is what kernels
    take at their own bounds."""
    own, by_division = ([row for row in some if row["setting"] == OWN] for some in (rows, divided(rows)[1]))
    pairs = list(zip(own, left_out(rows, own, fit_registers), strict=True))
    forecast = fit_registers(divided(rows)[0])[1]
    about = lines_of("left out", pairs)
    about += lines_of(f"fitted on {', '.join(FITTED_LINEAGES)} alone", [(row, forecast(row)) for row in by_division])
    for what, some in (("all", own), ("that division", by_division)):
        declared = [row["declared_words"] for row in some]
        about += judge.registers(f"most declared words instead, {what}", some, declared)
    saying = [(row, said) for row, said in pairs if model_of(row) == WITH_BLOCKS]
    abouts = {WITHOUT_BLOCKS: about, WITH_BLOCKS: lines_of("left out, of kernels that say their blocks", saying)}
    sure = {}
    for name, lines in abouts.items():
        # What is given up, or is not, has no range: it is one or the other.
        judged = [(row, said) for row, said in pairs if model_of(row) == name and not gives_up(row)]
        sure[name] = [f"likely {up_to} {least:g} {most:g}" for up_to, least, most in likely.ranges(judged)]
        lines += [likely.within(judged)] if judged else []
    return abouts, sure


def lines_of(what, pairs):
    """How good the forecasts of (row, forecast) pairs are, by lineage."""
    if not pairs:
        return []
    judged = judge.by_lineage(*map(list, zip(*pairs, strict=True)))
    return [line for lineage, *of_it in judged for line in judge.registers(f"{what}, {lineage}", *of_it)]


def judge_spills(rows):
    about = []
    fitted, held = divided(rows)
    spills = fit_spills(fitted)[1]
    divisions = (
        ("left out", rows, left_out(rows, rows, fit_spills)),
        (f"fitted on {', '.join(FITTED_LINEAGES)} alone", held, list(map(spills, held))),
    )
    for what, some, expected in divisions:
        for setting in sorted({row["setting"] for row in some}):
            of_setting = [pair for pair in zip(some, expected, strict=True) if pair[0]["setting"] == setting]
            for lineage, chosen, said in judge.by_lineage(*map(list, zip(*of_setting, strict=True))):
                about.append(f"{what}, {setting}, {lineage}: {judge.of_spills(chosen, said)}")
    return about


def judge_sizes(rows):
    """The lines of the table of sizes, and how sure they are: of kernels that spill, each lineage left out in turn."""
    spilling = [row for row in rows if judge.does_spill(row)]
    pairs = list(zip(spilling, left_out(rows, spilling, fit_sizes), strict=True))
    about = []
    for setting in (*sorted({row["setting"] for row in spilling}), "all"):
        chosen = [pair for pair in pairs if setting in (pair[0]["setting"], "all")]
        about.append(f"left out, {setting}: {judge.of_sizes(chosen)}")
    return about, [f"likely {up_to} {least:g} {most:g}" for up_to, least, most in likely.ranges_of_sizes(pairs)]


def divided(rows):
    """What is fitted on and what is judged, by FITTED_LINEAGES."""
    is_fitted = lambda row: row["lineage"] in FITTED_LINEAGES  # noqa: E731
    return [row for row in rows if is_fitted(row)], [row for row in rows if not is_fitted(row)]


def write(name, about, trees, extra=()):
    constant, factors = BASES.get(name, (None, {}))
    used = set(factors)
    for tree in trees:
        used |= asked_of(tree)
    lines = [f"# {line}" for line in about]
    lines += ["processor sm_90", "ptxas 13.0.88", *extra, "features " + " ".join(sorted(used))]
    if factors:
        lines.append(" ".join(["base", f"{constant:g}", *(f"{name} {factor:g}" for name, factor in factors.items())]))
    lines += [f"tree {shown(tree)}" for tree in trees]
    (MODELS / name).write_text("\n".join(lines) + "\n", encoding="utf8")


def asked_of(tree):
    """The features that a tree asks about."""
    if not isinstance(tree, tuple):
        return set()
    return {tree[0]} | asked_of(tree[2]) | asked_of(tree[3])


def main():
    options = parse_arguments()
    if options.make_reports:
        make_reports(options.tool, options.make_reports, options.reports)
    rows = load(options.reports, options.results)
    of_registers = [row for row in rows if row["setting"] in (OWN, ONE)]
    spill_rows = [row for row in rows if row["setting"] != ONE]
    lineages = ", ".join(sorted({row["lineage"] for row in rows}))
    said = f"fitted to stock LLVM 22 and ptxas 13.0.88, lineages {lineages}; figures of lineages left out"
    abouts, sure = judge_registers(of_registers)
    about = {name: [f"Registers, {said}", *lines] for name, lines in abouts.items()}
    is_limited = any(row["setting"].isdigit() for row in rows)
    about_spills = [f"Bytes of spills plus one, {said}", *judge_spills(spill_rows)] if is_limited else []
    sizes, sure_of_sizes = judge_sizes(spill_rows) if is_limited else ([], [])
    about_sizes = [f"Bytes of spills of kernels that spill, {said}", *sizes]
    print("\n".join([*about[WITHOUT_BLOCKS], *about[WITH_BLOCKS], *about_spills, *about_sizes]))
    asked = lambda name: options.write is not None and (not options.write or name in options.write)  # noqa: E731
    facts = [f"with-calls {WITH_CALLS}", f"with-double {WITH_DOUBLE}", f"with-external {WITH_EXTERNAL}"]
    facts += [f"with-division {WITH_DIVISION}", f"step-reach {STEP_REACH}"]
    facts += [f"step-reach-with-size {STEP_REACH_WITH_SIZE}", f"gives-up {GIVES_UP}", f"multiple {MULTIPLE}"]
    told = any(row["setting"] == ONE for row in rows)
    if asked(WITHOUT_BLOCKS) or asked(WITH_BLOCKS):
        for name, trees in fit_registers(of_registers)[0].items():
            if asked(name) and (name == WITHOUT_BLOCKS or told):
                write(name, about[name], trees, facts + sure[name])
    if asked(SPILLS) and is_limited:
        write(SPILLS, about_spills, fit_spills(spill_rows)[0], [f"least {LEAST_SPILL}"])
    if asked(SPILL_SIZES) and is_limited:
        share = sum(row["stores"] for row in spill_rows) / max(1, sum(map(judge.spilled, spill_rows)))
        write(SPILL_SIZES, about_sizes, fit_sizes(spill_rows)[0], [f"stores {share:.3f}", *sure_of_sizes])


if __name__ == "__main__":
    main()
