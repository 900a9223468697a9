#!/usr/bin/env python3
"""Compares the predictions of `nvptx-ra time` with times measured on GPUs, as collected in recorded.toml from the
pages of docs/.

The folder has KERNEL/VARIANT.cubin for each variant and KERNEL/manifest.json for its launch. recorded_code.py
gathers these files from builds of the days on which the times were measured. Missing files are listed. Predictions
are cached by the content of the tool, the machine code and the launch.

The figures cover the half of the lineages to which models may be fitted. --half aside selects the other half, which
must be evaluated only once, at the end.
"""

import itertools
import json
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import cache
import command_line
import recorded_scores as scores
import report
import tools

RECORDS = Path(__file__).with_suffix(".toml")
FOLDER = tools.ROOT / "target/recorded"
SECOND_LEVEL = 50_000_000  # bytes of an H100's and an H200's L2 cache: larger launches read from DRAM
SIZES = {"u8": 1, "u16": 2, "f16": 2, "s32": 4, "u32": 4, "f32": 4, "u64": 8, "f64": 8}
TIMEOUT = 900


@dataclass(frozen=True)
class Pair:
    """Two variants of a kernel, and the time of b divided by the time of a: a number, or the bounds of a range."""

    lineage: str
    kernel: str
    a: str
    b: str
    ratio: tuple
    day: str
    page: str
    note: str = ""
    sign_only: bool = False

    def code(self, folder):
        return [Path(folder, self.kernel, f"{variant}.cubin") for variant in (self.a, self.b)]

    def launch(self, folder):
        return Path(folder, self.kernel, "manifest.json")

    def sides(self, folder):
        """Returns (machine code, kernel's name, launch) of a and of b."""
        return [(path, self.kernel, self.launch(folder)) for path in self.code(folder)]

    def missing(self, folder):
        return [str(path) for path in (*self.code(folder), self.launch(folder)) if not path.exists()]


def pairs_of(text):
    """Returns the pairs of a file in the format of recorded.toml, in the file's order."""
    said = tomllib.loads(text)
    found = []

    def add(entry, kernel, a, b, ratio):
        lineage = said.get("lineages", {}).get(kernel, kernel)
        more = {name: entry[name] for name in ("note", "sign_only") if name in entry}
        found.append(Pair(lineage, kernel, a, b, ratio, entry["day"], entry["page"], **more))

    for entry in said.get("times", []):
        for (a, first), (b, second) in itertools.combinations(entry["of"].items(), 2):
            add(entry, entry["kernel"], a, b, (second / first, second / first))
    for entry in said.get("pair", []):
        ratio = tuple(entry["between"]) if "between" in entry else (entry["ratio"], entry["ratio"])
        for kernel, b in itertools.product(listed(entry["kernel"]), listed(entry["b"])):
            add(entry, kernel, entry["a"], b, ratio)
    return found


def listed(value):
    return value if isinstance(value, list) else [value]


def as_json(pairs, folder):
    """Returns the pairs and the paths of their files, for use by other programs."""

    def one(pair):
        a, b = pair.code(folder)
        low, high = pair.ratio
        middle = scores.Judged("", low, high, 1).measured
        paths = {"a": str(a), "b": str(b), "manifest": str(pair.launch(folder))}
        return {**asdict(pair), **paths, "variants": [pair.a, pair.b], "ratio": middle, "between": [low, high]}

    return json.dumps([one(pair) for pair in pairs], indent=1) + "\n"


def bytes_of(manifest):
    """Returns the bytes of all buffers of a launch."""

    def of(argument):
        if argument["kind"] == "struct":
            return sum(of(part) for part in argument["fields"])
        return argument["count"] * SIZES[argument["type"]] if argument["kind"] == "buffer" else 0

    return sum(of(argument) for launch in manifest for argument in launch["arguments"])


def time_of(command):
    """Returns (error, the tool's result for one kernel)."""
    outcome = tools.run(command, TIMEOUT)
    if outcome.error:
        return outcome.error, None
    try:
        (kernel,) = tools.object_in(outcome.output)["kernels"]
        (said,) = kernel["files"]
    except (StopIteration, KeyError, ValueError):
        return f"not the JSON of one kernel in one file: {outcome.output[:200]}", None
    return ("", said) if said["cycles"] else (said["reason"] or "no cycles", None)


def predicted(tool, cubin, kernel, launch):
    """Returns the tool's prediction for a kernel, and caches it."""
    key = cache.key_of("time", cache.file_hash(tool), cache.file_hash(str(cubin)), cache.file_hash(str(launch)), kernel)
    store = cache.Cache(cache.folder())
    if (known := store.get(key)) is not None:
        return "", known
    error, said = time_of([tool, "time", str(cubin), "--kernel", kernel, "--launch", str(launch), "--json"])
    if not error:
        store.put(key, said)
    return error, said


def predictors(total):
    """Returns the cost functions of the predictors, by name. `total` is the bytes of the launch."""
    level = "dram" if total > SECOND_LEVEL else "l2"
    return {
        "time": lambda said: said["cycles"][level],
        "time, all in L2": lambda said: said["cycles"]["l2"],
        "time, all in DRAM": lambda said: said["cycles"]["dram"],
        "executed spilled bytes": lambda said: said["local_bytes"] + 1,  # never zero, because it is a divisor
        "executed instructions": lambda said: said["instructions"],
        "largest bound": lambda said: said["bound"][level],
    }


def ratios_of(pair, said, folder):
    """Returns the predicted ratio of b to a, by the name of the predictor."""
    total = bytes_of(json.loads(pair.launch(folder).read_text(encoding="utf8")))
    return {name: costs(said[1]) / costs(said[0]) for name, costs in predictors(total).items()}


def judged_by(name, found):
    return [scores.Judged(pair.lineage, *pair.ratio, ratios[name], pair.sign_only) for pair, ratios in found]


def shown(value, form):
    return "" if value is None else format(value, form)


def tables(found):
    """Yields the lines of the tables: each pair, then the scores of each predictor."""
    names = list(predictors(0))

    def pair_row(pair, ratios):
        low, high = pair.ratio
        times = f"{low:.3f}" if low == high else f"{low:.2f} … {high:.2f}"
        return [f"{pair.kernel}: {pair.a} → {pair.b}", times, *(f"{ratios[name]:.3f}" for name in names)]

    yield from report.table([pair_row(*each) for each in found], ["pair", "recorded", *names])

    def score_row(name):
        of = scores.scores(judged_by(name, found))
        counts = [f"{right} of {total}" for right, total in (of["slower"], of["faster"], of["same"])]
        forms = (("signs", ".0%"), ("ranks", ".2f"), ("error", ".1%"))
        figures = [shown(of[f"{what} by {by}"], form) for by in ("pairs", "lineages") for what, form in forms]
        return [name, *figures, *counts]

    heads = [f"{what} by {by}" for by in ("pairs", "lineages") for what in ("signs", "ranks", "median error")]
    lineages = len({pair.lineage for pair, _ in found})
    yield ""
    yield f"{len(found)} pairs of {lineages} lineages; signs count if times differ by {scores.DIFFERENT:.0%} or more"
    yield from report.table(map(score_row, names), ["", *heads, "slower right", "faster right", "same right"])


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    add("--folder", type=Path, default=FOLDER, help="folder with the machine code (default: %(default)s)")
    add("--half", choices=("fit", "aside", "all"), default="fit", help="half of the lineages (default: %(default)s)")
    add("--seed", type=int, default=1, help="seed of the halves (default: %(default)s)")
    add("--only", metavar="TEXT", help="only kernels whose name contains this text")
    add("--pairs", type=Path, metavar="FILE", help="only write all pairs with machine code, as JSON")
    command_line.add_tool(parser)
    command_line.add_jobs(parser)
    return parser.parse_args()


def chosen(pairs, present, arguments):
    """Returns the pairs that the arguments select and whose files exist. The split of the lineages is computed from
    all pairs."""
    fit, aside = scores.halves([pair.lineage for pair in pairs], arguments.seed)
    lineages = {"fit": fit, "aside": aside, "all": fit + aside}[arguments.half]
    return [pair for pair in present if pair.lineage in lineages and (arguments.only or "") in pair.kernel]


def main():
    arguments = parse_arguments()
    pairs = pairs_of(RECORDS.read_text(encoding="utf8"))
    lacking = sorted({path for pair in pairs for path in pair.missing(arguments.folder)})
    present = [pair for pair in pairs if not pair.missing(arguments.folder)]
    for path in lacking:
        print(f"missing: {path}", file=sys.stderr)
    if arguments.pairs:
        arguments.pairs.write_text(as_json(present, arguments.folder), encoding="utf8")
        print(f"{len(present)} of {len(pairs)} pairs, {len({pair.lineage for pair in present})} lineages")
        return 0
    wanted = chosen(pairs, present, arguments)
    sides = sorted({side for pair in wanted for side in pair.sides(arguments.folder)})
    with ThreadPoolExecutor(arguments.jobs) as pool:
        said = dict(zip(sides, pool.map(lambda side: predicted(arguments.tool, *side), sides), strict=True))
    for (path, *_), (error, _) in said.items():
        if error:
            print(f"{path}: {error}", file=sys.stderr)
    found = []
    for pair in wanted:
        both = [said[side] for side in pair.sides(arguments.folder)]
        if not any(error for error, _ in both):
            found.append((pair, ratios_of(pair, [of for _, of in both], arguments.folder)))
    print("\n".join(tables(found)))
    return int(len(found) < len(wanted))


if __name__ == "__main__":
    sys.exit(main())
