#!/usr/bin/env python3
"""Fit the forecast's model to what ptxas made of the corpus, and say how good it is.

    calibrate.py --reports FOLDER --results JSON [JSON …] [--write]

FOLDER has what `nvptx-ra report --json --features` says of each module, one file each, as MODULE.json (--make-reports
writes them from a corpus); the results are the bench's own (`make bench ARGS="--settings own,32,64,128"`), whose stock
compiler is what is fitted. Code lineages are held apart: the model is fitted on some and judged on the others, and the
figures of both are written into the table. Nothing is known of a kernel's name.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import corpus

# Whose code the model is fitted on. What is left is for judging alone.
FITTED_LINEAGES = ("fla", "ggml", "liger")
STOCK = "stock"
SPILL_LIMITS = (32, 64, 128)
LEAST_SPILL = 16  # bytes; below that the forecast says none, as src/forecast/mod.rs does
MODELS = corpus.ROOT / "src/forecast"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--reports", type=Path, required=True, help="folder of MODULE.json")
    add("--make-reports", metavar="CORPUS", type=Path, help="write them first, from the .bc and .ll files of a folder")
    add("--results", type=Path, nargs="+", required=True, help="results of the bench")
    add("--tool", type=Path, default=corpus.ROOT / "target/release/nvptx-ra")
    add("--write", action="store_true", help="replace src/forecast/*.model")
    return parser.parse_args()


def make_reports(tool, folder, reports, cpu="sm_90"):
    """What the tool says of each module. A module that fails is named and left out."""
    reports.mkdir(parents=True, exist_ok=True)
    for module in sorted([*folder.glob("*.bc"), *folder.glob("*.ll")]):
        target = reports / f"{module.stem}.json"
        if target.exists():
            continue
        arch = cpu + "a" if module.suffix == ".ll" else cpu
        command = [tool, "report", "--json", "--features", "--cpu", arch, "--mattr", "+ptx88", "-O3", module]
        run = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1200)
        if run.returncode:
            print(f"{module.name}: {run.stderr.strip().splitlines()[:1]}", file=sys.stderr)
        else:
            target.write_text(run.stdout, encoding="utf8")


def names_of(kernel):
    """The names that the bench may have for a kernel: it gives internal ones external linkage."""
    return (kernel, "_Z" + kernel[3:]) if kernel.startswith("_ZL") else (kernel,)


def load(reports, results):
    """A row for each kernel and setting that both know."""
    measured = defaultdict(dict)
    for path in results:
        result = json.loads(path.read_text(encoding="utf8"))
        for setting, by_compiler in result["kernels"].items():
            measured[setting].update(by_compiler.get(STOCK, {}))
    listed = tomllib.loads(corpus.LIST.read_text())["source"]
    lineages = {source["name"]: source["lineage"] for source in listed}
    rows = []
    for path in sorted(reports.glob("*.json")):
        module = path.stem
        for kernel in json.loads(path.read_text(encoding="utf8"))["kernels"]:
            for setting, of_kernels in measured.items():
                found = next((of_kernels[key] for key in (f"{module}/{name}" for name in names_of(kernel["name"]))
                              if key in of_kernels), None)
                if found is None or setting not in ("own", *map(str, SPILL_LIMITS)):
                    continue
                limit = 255 if setting == "own" else int(setting)
                rows.append({
                    "module": module, "lineage": lineages.get(corpus.source_of(module), module), "setting": setting,
                    **kernel["features"], "budget": min(kernel["budget"], limit),
                    "min_blocks": kernel.get("min_blocks") or 0,
                    "registers": found["registers"], "stores": found["stores"], "loads_of_spills": found["loads"],
                })
    return rows


def fit(rows, names, target, objective, seeds=(0, 1)):
    """Boosted trees, the mean of several fits, as lists of nested (feature, threshold, yes, no) or values."""
    import lightgbm
    import numpy as np

    counts = defaultdict(int)
    for row in rows:
        counts[row["module"], row["setting"]] += 1
    # Each file counts once: instances of a few templates are most of the kernels.
    weights = np.array([1 / counts[row["module"], row["setting"]] for row in rows])
    values = np.array([[row[name] for name in names] for row in rows], dtype=float)
    wanted = np.array([target(row) for row in rows])
    trees = []
    for seed in seeds:
        model = lightgbm.LGBMRegressor(
            objective=objective, n_estimators=150, learning_rate=0.1, num_leaves=8, min_child_samples=20,
            subsample=0.8, subsample_freq=1, colsample_bytree=0.5, extra_trees=True, random_state=seed, n_jobs=1,
            verbose=-1, deterministic=True, force_row_wise=True)
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


def warps(registers):
    """Warps that an SM holds by registers alone, in blocks of four warps."""
    per_warp = -(-max(1, min(255, round(registers))) * 32 // 256) * 256
    return min(64, 65536 // 4 // per_warp * 4)


def means(of_rows):
    """The plain mean, and the mean of the means of the files."""
    by_file = defaultdict(list)
    for row, value in of_rows:
        by_file[row["module"]].append(value)
    return statistics.fmean(v for _, v in of_rows), statistics.fmean(map(statistics.fmean, by_file.values()))


def judge_registers(rows, forecast):
    """One line: error, share within 4, share of steps that are right; plain and by file."""
    errors = [(row, abs(min(forecast(row), row["budget"]) - row["registers"])) for row in rows]
    relative = means([(row, 100 * error / row["registers"]) for row, error in errors])
    near = means([(row, 100.0 * (error <= 4)) for row, error in errors])
    steps = means([(row, 100.0 * (warps(min(forecast(row), row["budget"])) == warps(row["registers"])))
                   for row in rows])
    return (f"{len(rows)} kernels: error {relative[0]:.1f} %, within 4 {near[0]:.0f} %, step {steps[0]:.0f} %; "
            f"by file {relative[1]:.1f} %, {near[1]:.0f} %, {steps[1]:.0f} %")


def judge_spills(rows, spills):
    """One line: how many spill, and how many of them are found."""
    found = sum(spills(row) and row["stores"] + row["loads_of_spills"] > 0 for row in rows)
    real = sum(row["stores"] + row["loads_of_spills"] > 0 for row in rows)
    said = sum(map(spills, rows))
    score = 2 * found / (real + said) if real + said else 1.0
    return f"{len(rows)} kernels, {real} spill, {said} forecast, {found} of them do: F1 {score:.2f}"


def write(name, about, names, trees, extra=()):
    lines = [f"# {line}" for line in about]
    lines += ["processor sm_90", "ptxas 13.0.88", *extra, "features " + " ".join(names)]
    lines += [f"tree {shown(tree)}" for tree in trees]
    (MODELS / name).write_text("\n".join(lines) + "\n", encoding="utf8")


def main():
    options = parse_arguments()
    if options.make_reports:
        make_reports(options.tool, options.make_reports, options.reports)
    rows = load(options.reports, options.results)
    meta = {"module", "lineage", "setting", "registers", "stores", "loads_of_spills"}
    names = sorted(name for name in rows[0] if name not in meta)
    fitted = [row for row in rows if row["lineage"] in FITTED_LINEAGES]
    held = [row for row in rows if row["lineage"] not in FITTED_LINEAGES]
    own = lambda some: [row for row in some if row["setting"] == "own"]  # noqa: E731

    registers = fit(own(fitted), names, lambda row: math.log(row["registers"]), "l1")
    forecast = lambda row: math.exp(predict(registers, row))  # noqa: E731
    about = [f"Registers, fitted to stock LLVM 22 and ptxas 13.0.88, lineages {', '.join(FITTED_LINEAGES)}",
             f"fitted on: {judge_registers(own(fitted), forecast)}"]
    for lineage in sorted({row["lineage"] for row in held}):
        of_lineage = [row for row in own(held) if row["lineage"] == lineage]
        about.append(f"held out, {lineage}: {judge_registers(of_lineage, forecast)}")
    about.append(f"held out: {judge_registers(own(held), forecast)}")
    large = [row for row in own(held) if row["registers"] >= 64]
    about.append(f"held out, of 64 registers or more: {judge_registers(large, forecast)}")
    about.append(f"peak of declared words instead: {judge_registers(own(held), lambda row: row['declared_words'])}")

    total = lambda row: math.log1p(row["stores"] + row["loads_of_spills"])  # noqa: E731
    spilled = fit(fitted, names, total, "l2")
    stores = sum(row["stores"] for row in fitted)
    share = stores / max(1, stores + sum(row["loads_of_spills"] for row in fitted))
    spills = lambda row: math.expm1(predict(spilled, row)) >= LEAST_SPILL  # noqa: E731
    about_spills = [f"Bytes of spills plus one, fitted to stock LLVM 22 and ptxas 13.0.88, lineages "
                    f"{', '.join(FITTED_LINEAGES)}"]
    for setting in sorted({row["setting"] for row in rows}):
        for what, some in (("fitted on", fitted), ("held out", held)):
            of_setting = [row for row in some if row["setting"] == setting]
            if of_setting:
                about_spills.append(f"{what}, {setting}: {judge_spills(of_setting, spills)}")
    print("\n".join([*about, *about_spills]))
    if options.write:
        write("registers.model", about, names, registers)
        write("spills.model", about_spills, names, spilled, [f"stores {share:.3f}"])


if __name__ == "__main__":
    main()
