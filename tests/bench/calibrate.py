#!/usr/bin/env python3
"""Fits the forecast's models to the registers and spills that ptxas chose for the corpus, and reports their accuracy.

    calibrate.py --reports FOLDER --results JSON [JSON …] [--write]

FOLDER has one file MODULE.json for each module: the output of `nvptx-ra report --json --features`. --make-reports
writes these files from a corpus. The results are those of the bench (`make bench ARGS="--settings own,one,32,64"`).
The models are fitted to stock LLVM. Without results under register limits, the models of spills are not changed.
Without results of the setting `one`, the register model of kernels with a minimum of blocks per SM is not changed.
--write NAME writes only the model of this name.

The accuracy is measured on code lineages that are not used for the fit: each lineage is left out in turn, the model
is fitted to all others and then judged on this lineage. The models that are shipped are fitted in the same way, but
to all lineages. No kernel name is a feature.
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

# One more split, in addition to leaving out each lineage in turn: the models are fitted to these lineages and judged on
# the others.
FITTED_LINEAGES = ("fla", "ggml", "liger")
STOCK = "stock"
SPILL_LIMITS = (32, 64, 128)
LEAST_SPILL = 8  # bytes; below this, no spills are forecast
# Fewest registers of a kernel with a call, even if the kernel and its callees hold few values. ptxas 13.0.88 allocates
# at least this number for each of the 826 kernels of the corpus with a call, and exactly this number for 239 of them.
WITH_CALLS = 24
# Fewest registers that a division or root of 64-bit floating-point numbers needs in addition to the words that are live
# across it, because it is a subroutine. With 0 to 40 such words, ptxas 13.0.88 adds 17 to 20 registers for div.rn.f64
# of two values on sm_90, and 18 if the division needs more than 32 registers. With a constant, div.rn.f64 adds 14 to
# 20, and sqrt.rn.f64 adds 15 to 18.
WITH_DOUBLE = 17
# Fewest registers that a call of an external function needs in addition to the words that are live across the call:
# these words need registers above those that the callee may overwrite. With 0 to 40 such words, ptxas 13.0.88 adds 19
# to 48 registers for a call of an unknown function or of vprintf, on sm_80, sm_90 and sm_100. In the 141 kernels of the
# corpus with words live at such a call, ptxas never adds fewer than 19. ptxas knows the registers of callees in the
# same module: some of these calls need only 10 more registers.
WITH_EXTERNAL = 19
# Fewest registers that a division of 64-bit integers needs in addition to the words that are live across it. With 31 to
# 60 such words, ptxas 13.0.88 adds 20 registers or more in 134 of 135 kernels of 16 files, and 18 to 22 in three
# quarters of the kernels.
WITH_DIVISION = 20
# Features that models of registers do not use. Calls say little about registers: ggml's checks call functions, both in
# kernels of a few instructions and in the largest kernels. The needs of callees are covered by other features.
OF_CALLS = ("external_calls", "internal_calls", "words_at_call")
# Features that only reports and the sums use, not the trees.
OF_REPORTS = ("inner_invariant_words", "invariant_words", "stack_words")
# Features of lower bounds.
OF_FLOORS = ("carried_words", "carried_all_words", "passed_words", "moved_words", "moved_uniform_words")
OF_SUMS = ("early_words", "unrolled_words", "unrolling_words")
# Base estimates in registers, which the trees correct: several counts of the values that occupy a register, and the
# registers that ptxas adds. Trees alone do not extrapolate beyond the kernels of the fit, and they share the credit
# among all features that grow with the code.
#
# Registers have two models. If a kernel declares a minimum of blocks per SM, ptxas has no reason to save registers and
# issues loads early. Otherwise, ptxas saves registers for more warps. Few lineages declare this minimum. The model of
# the kernels with the minimum is therefore fitted to all kernels, assembled with a minimum of one block (ONE).
WITHOUT_BLOCKS, WITH_BLOCKS = "registers.model", "registers-with-blocks.model"
# Whether a kernel spills, and its spilled bytes if it does. A single model for both would describe spilling kernels
# badly, because most kernels spill nothing.
SPILLS, SPILL_SIZES = "spills.model", "spill-sizes.model"
BASES = {
    WITHOUT_BLOCKS: (11, {"reordered_words": 0.5, "reordered_varying_words": 0.25, "unrolling_words": 0.35}),
    WITH_BLOCKS: (11, {"reordered_words": 0.5, "early_words": 0.4}),
    SPILL_SIZES: (16, {"reordered_words_over_budget": 6, "words_over_budget": 4}),
}
# If a forecast exceeds an occupancy step by at most this number of registers, it is lowered to the step. ptxas reorders
# instructions to reach the step. It reorders more if it knows the block size but not the minimum of blocks per SM.
STEP_REACH, STEP_REACH_WITH_SIZE = 1, 4
# Varying words from which ptxas may trade registers for warps and spill nearly everything. ptxas does so only with a
# known block size, without a minimum of blocks per SM, and if the kernel does not fit into all registers. Among the
# corpus kernels with at least this many varying words in the code's order, and more words than all registers in the
# better order, 62 of 103 are compiled in this way.
GIVES_UP = 550
# All other forecasts are multiples of this number within their occupancy step. Register pairs are aligned, and 62 to 95
# % of each lineage's kernels take an even number.
MULTIPLE = 2
# Accuracy is the relative error, as a share of the registers that ptxas takes: 128 instead of 32 is 300 %, 32 instead
# of 128 is 75 %. A kernel that takes fewer registers than its base estimate therefore gets a larger weight: this power
# of the ratio. The relative error implies the power 1. The price is a larger error for large kernels: with 0.5, their
# error is 1.4 points lower, and the error by file of the other kernels is 4 points higher.
LESS_THAN_BASE = 1
# Number of fits, which differ only by their seed, and number of trees in each fit.
SEEDS, STEPS = 2, 50
# Most leaves of a tree.
LEAVES = 24
# Regularisation of a leaf, in files: the leaf's value is averaged with the value 0 of this many files. A leaf with few
# files therefore stays close to 0.
FILES_OF_REGISTERS, FILES_OF_SPILLS = 5, 3
META = {"module", "lineage", "setting", "registers", "stores", "loads_of_spills", "threads"}
# Features that are compared with the register limit. The register limit enters the models of spills only in this way,
# so that a larger limit never increases the forecast of spills.
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
    add("--reports", type=Path, required=True, help="folder with MODULE.json for each module")
    add("--make-reports", metavar="CORPUS", type=Path, help="first write the reports of a folder of .bc and .ll files")
    add("--results", type=Path, nargs="+", required=True, help="results of the bench")
    add("--tool", type=Path, default=corpus.ROOT / "target/release/nvptx-ra")
    add("--write", metavar="MODEL", nargs="*", help="replace src/forecast/model/*.model, or only these models")
    return parser.parse_args()


def make_reports(tool, folder, reports, cpu="sm_90"):
    """Writes the tool's report of each module. If a module fails, its error is printed, and the module is left out."""
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
    """Returns the names of a kernel that the bench may use: the bench gives internal kernels external linkage."""
    return (kernel, "_Z" + kernel[3:]) if kernel.startswith("_ZL") else (kernel,)


def load(reports, results):
    """Returns a row for each kernel and setting for which reports and results exist. Held-out sources are left out,
    because nothing is fitted to them."""
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
                    continue  # the setting changes nothing
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
    """Returns the name of the register model for a row."""
    return WITH_BLOCKS if row["min_blocks"] else WITHOUT_BLOCKS


def base_of(row):
    """Returns the base estimate of registers, which the trees correct."""
    return max(1, min(sum_of(row, model_of(row)), judge.MOST_REGISTERS))


def sum_of(row, model):
    """Returns a model's constant plus the weighted sum of its base features. Negative features count as 0."""
    constant, factors = BASES[model]
    return constant + sum(factor * max(0, row[name]) for name, factor in factors.items())


def taken(wanted, threads=0, any_blocks=False):
    """Returns the expected registers of a kernel that needs `wanted` registers: an occupancy step within reach, or
    else the nearest multiple in the same step. `threads` is the block size, 0 if unknown."""
    reach = STEP_REACH_WITH_SIZE if any_blocks else STEP_REACH
    warps = lambda registers: resident_warps(registers, "sm_90", threads)  # noqa: E731
    nearest, multiple = math.floor(wanted + 0.5), MULTIPLE * math.floor(wanted / MULTIPLE + 0.5)
    for fewer in range(1, min(reach, nearest - 1) + 1):
        if warps(nearest - fewer) > warps(nearest):
            return nearest - fewer
    return multiple if warps(multiple) == warps(nearest) else nearest


def gives_up(row):
    """Whether a kernel is expected to trade registers for warps."""
    many = row["varying_words"] >= GIVES_UP and row["reordered_words"] > judge.MOST_REGISTERS
    return bool(row["any_blocks"]) and many


def for_warps(threads):
    """Returns the most registers at which an SM still holds its greatest number of warps, in blocks of `threads`
    threads."""
    most = resident_warps(1, "sm_90", threads)
    return max(n for n in range(1, judge.MOST_REGISTERS + 1) if resident_warps(n, "sm_90", threads) == most)


def fit(rows, names, target, objective, steps, rate, files, growing=(), seeds=(0, 1), weight=lambda row: 1):
    """Returns boosted trees: the mean over the seeds, with a fit of `steps` trees for each seed. A tree is a value, or
    a nested (feature, threshold, less, more). The prediction never falls if one of the `growing` features grows."""
    import lightgbm
    import numpy as np

    counts = defaultdict(int)
    for row in rows:
        counts[row["module"], row["setting"]] += 1
    # Each file has the same weight, because most kernels are instances of a few templates.
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
    # Features are integers, so "at most 3" is written as "less than 3.5".
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
    """Returns the trees by the name of their model, and a function that computes a forecast from them."""
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
    """Returns the trees of one register model."""
    names = [name for name in features_of(rows) if not name.endswith(OVER_LIMIT) and name not in OF_CALLS]
    # The registers of two groups of kernels do not show the need: kernels at the minimum of a call, and kernels that
    # trade registers for warps.
    hides_needs = lambda row: gives_up(row) or (does_call(row) and row["registers"] <= WITH_CALLS)  # noqa: E731
    shown_needs = [row for row in rows if not hides_needs(row)]
    over_base = lambda row: math.log(row["registers"] / base_of(row))  # noqa: E731
    weight = lambda row: max(1, base_of(row) / row["registers"]) ** LESS_THAN_BASE  # noqa: E731
    seeds, files = range(SEEDS), FILES_OF_REGISTERS
    return fit(shown_needs, names, over_base, "l1", STEPS, rate=0.1, files=files, seeds=seeds, weight=weight)


def least(row):
    """Returns the fewest registers that a kernel takes."""
    # `words_at_double` also counts words live at calls, because a callee may divide. A kernel without 64-bit
    # floating-point numbers does not divide them.
    divides = row["words_at_double"] > 0 and row["doubles"] > 0
    only_external = row["external_calls"] > 0 and not row["internal_calls"]
    # If the words do not fit, ptxas spills, and this lower bound does not hold.
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
    """Returns the trees, and a function that tells whether a kernel spills."""
    total = lambda row: math.log1p(judge.spilled(row))  # noqa: E731
    trees = fit(rows, of_spills(rows), total, "l2", steps=40, rate=0.25, files=FILES_OF_SPILLS, growing=OVER)
    return trees, lambda row: math.expm1(predict(trees, row)) >= LEAST_SPILL


def fit_sizes(rows):
    """Returns the trees, and a function that returns the spilled bytes of a kernel that spills. A larger register
    limit never increases them."""
    chosen = [row for row in rows if judge.does_spill(row)]
    over_base = lambda row: math.log(judge.spilled(row) / sum_of(row, SPILL_SIZES))  # noqa: E731
    names, seeds, files = of_spills(rows), range(SEEDS), FILES_OF_SPILLS
    # Huber's loss limits the influence of outliers: a few kernels spill a hundred times more than similar kernels.
    trees = fit(chosen, names, over_base, "huber", steps=80, rate=0.1, files=files, growing=OVER, seeds=seeds)
    return trees, lambda row: sum_of(row, SPILL_SIZES) * math.exp(predict(trees, row))


def of_spills(rows):
    """Returns the features of the models of spills. Words count only as far as they exceed the register limit."""
    return [name for name in features_of(rows) if name not in (*HELD, "any_blocks", "budget", "min_blocks")]


def features_of(rows):
    return sorted(name for name in rows[0] if name not in (*META, *OF_REPORTS, *OF_SUMS, *OF_FLOORS))


def left_out(rows, judged, fit_some):
    """Returns the prediction for each judged row, from a fit to all lineages of `rows` except the row's own."""
    fits = {
        lineage: fit_some([row for row in rows if row["lineage"] != lineage])[1]
        for lineage in sorted({row["lineage"] for row in judged})
    }
    return [fits[row["lineage"]](row) for row in judged]


def judge_registers(rows):
    """Returns the lines of the tables and the ranges of their forecasts, each by the table's name. Kernels are judged
    at their own bounds."""
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
        # Kernels that may trade registers for warps have no range: their forecast is either right or far off.
        judged = [(row, said) for row, said in pairs if model_of(row) == name and not gives_up(row)]
        sure[name] = [f"likely {up_to} {least:g} {most:g}" for up_to, least, most in likely.ranges(judged)]
        lines += [likely.within(judged)] if judged else []
    return abouts, sure


def lines_of(what, pairs):
    """Returns the accuracy of (row, forecast) pairs, by lineage."""
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
    """Returns the lines of the table of spill sizes, and the ranges, for kernels that spill. Each lineage is left out
    in turn."""
    spilling = [row for row in rows if judge.does_spill(row)]
    pairs = list(zip(spilling, left_out(rows, spilling, fit_sizes), strict=True))
    about = []
    for setting in (*sorted({row["setting"] for row in spilling}), "all"):
        chosen = [pair for pair in pairs if setting in (pair[0]["setting"], "all")]
        about.append(f"left out, {setting}: {judge.of_sizes(chosen)}")
    return about, [f"likely {up_to} {least:g} {most:g}" for up_to, least, most in likely.ranges_of_sizes(pairs)]


def divided(rows):
    """Returns the rows to fit and the rows to judge, divided by FITTED_LINEAGES."""
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
    """Returns the features that a tree uses."""
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
