#!/usr/bin/env python3
"""Measures which releases of ptxas are wrong on the files of tests/ptxas-faults.

Each file is a small PTX text whose header says what goes wrong, a launch, and the releases. The script assembles the
text with every release in a folder (RELEASE/ptxas), runs the PTX and the machine code on the CPU with
`nvptx-ra run --record`, and compares the memory that both leave. It prints a Markdown table. `--write` also writes
what was measured into the headers, but for files that are not comparable with some release. `--targets` also asks
for which processors the first and the last wrong release are wrong. nvdisasm has to be on PATH; that of CUDA 13.5
refuses sm_70.
"""

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELDS = ("report", "launch", "releases wrong", "releases right", "targets")
# A processor and the first version of PTX that knows it.
TARGETS = {
    "sm_70": "6.0",
    "sm_75": "6.3",
    "sm_80": "7.0",
    "sm_86": "7.1",
    "sm_89": "7.8",
    "sm_90": "7.8",
    "sm_90a": "8.0",
    "sm_100": "8.6",
    "sm_103": "8.8",
    "sm_110": "9.0",
    "sm_120": "8.7",
}
RIGHT, WRONG, REFUSED = "right", "wrong", "refused"


@dataclasses.dataclass(frozen=True)
class Fault:
    """A file: its text, the sentence of its first line, and the fields of its header."""

    name: str
    text: str
    sentence: str
    fields: dict

    @property
    def launch(self):
        return self.fields["launch"].split()

    @property
    def target(self):
        return re.search(r"^\.target (\w+)", self.text, re.M)[1]


def read(path):
    """The file as a fault, or an error that names what its header lacks."""
    text = path.read_text(encoding="utf8")
    head = [line[2:].strip() for line in text.splitlines() if line.startswith("//")]
    fields = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
    missing = [field for field in FIELDS if field not in fields]
    if not head or missing:
        raise SystemExit(f"{path}: the header lacks {', '.join(missing) or 'a sentence'}")
    return Fault(path.stem, text, head[0], fields)


def order(release):
    """What releases are sorted by: 12.9.86 comes ahead of 12.10.1, and 13.4.46rc1 ahead of 13.4.59."""
    return [int(number) for number in re.findall(r"\d+", release)]


def ranges(wanted, releases):
    """The wanted releases as ranges of neighbours among all: `12.0.76 to 12.3.52, 13.0.48`, or `none`. They are ASCII,
    because ptxas 12.8.61 to 13.0.88 refuse any other letter, in comments, too."""
    runs, last = [], None
    for place, release in enumerate(releases):
        if release not in wanted:
            continue
        if last is not None and place == last + 1:
            runs[-1][1] = release
        else:
            runs.append([release, release])
        last = place
    return ", ".join(first if first == end else f"{first} to {end}" for first, end in runs) or "none"


def at(text, target):
    """The text for another processor, with a version of PTX that knows it."""
    version = re.search(r"^\.version (\S+)", text, re.M)[1]
    version = max(version, TARGETS.get(target, version), key=order)
    text = re.sub(r"^\.version \S+", f".version {version}", text, count=1, flags=re.M)
    return re.sub(r"^\.target \w+", f".target {target}", text, count=1, flags=re.M)


def recorded(tool, file, launch, folder):
    """The memory before and after a launch, or the reason why there is none."""
    command = [tool, "run", file, *launch, "--record", folder]
    outcome = subprocess.run(command, check=False, capture_output=True, text=True)
    if outcome.returncode:
        return None, (outcome.stderr or outcome.stdout).strip()
    folder = pathlib.Path(folder)
    return ((folder / "before.bin").read_bytes(), (folder / "after.bin").read_bytes()), ""


def reason(said):
    """The part of a message that says what is not modelled, for a cell of a table."""
    said = re.split("no result: |no record: ", said)[-1]
    said = re.split(r"; see docs/| \(instruction 0x", said)[0]
    return said.splitlines()[0] if said else "no reason given"


def judge(before, after):
    """Compares the memory that PTX and machine code leave, where both began with the same."""
    if before[0] != after[0]:
        return "not comparable: the launches begin with other memory"
    return RIGHT if before[1] == after[1] else WRONG


def measure(fault, ptxas, tool, target=None, options=()):
    """Whether a release's code computes what the PTX says."""
    target = target or fault.target
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = f"{folder}/k.ptx", f"{folder}/k.cubin"
        pathlib.Path(source).write_text(at(fault.text, target), encoding="utf8")
        command = [ptxas, f"-arch={target}", *options, source, "-o", cubin]
        if subprocess.run(command, check=False, capture_output=True).returncode:
            return REFUSED
        memory = []
        for number, file in enumerate((source, cubin)):
            found, said = recorded(tool, file, fault.launch, f"{folder}/{number}")
            if found is None:
                return f"not comparable: {reason(said)}"
            memory.append(found)
        return judge(*memory)


def in_words(verdicts, releases):
    """The verdicts of a file by release, each with its ranges, the wrong ones first."""
    kinds = sorted(set(verdicts.values()), key=lambda kind: (kind != WRONG, kind != RIGHT, kind))
    return {kind: ranges({name for name, said in verdicts.items() if said == kind}, releases) for kind in kinds}


def rewritten(text, values):
    """The text with other values in fields of its header."""
    for field, value in values.items():
        text = re.sub(rf"^// {field}: .*$", f"// {field}: {value}", text, count=1, flags=re.M)
    return text


def table(rows):
    lines = ["| file | target | wrong | right | other |", "| --- | --- | --- | --- | --- |"]
    for name, target, words in rows:
        other = "; ".join(f"{kind}: {where}" for kind, where in words.items() if kind not in (WRONG, RIGHT))
        lines.append(f"| {name} | {target} | {words.get(WRONG, 'none')} | {words.get(RIGHT, 'none')} | {other} |")
    return "\n".join(lines)


def wrong_targets(fault, releases, folder, tool):
    """The processors for which one of the releases is wrong, of those that a release knows."""
    return [
        target
        for target in TARGETS
        if any(measure(fault, folder / name / "ptxas", tool, target) == WRONG for name in releases)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="files; unless given, all of tests/ptxas-faults")
    parser.add_argument("--releases", type=pathlib.Path, required=True, help="a folder with RELEASE/ptxas")
    parser.add_argument("--tool", default="nvptx-ra", help="the program nvptx-ra")
    parser.add_argument("--only", help="releases, by commas, instead of all in the folder")
    parser.add_argument("--options", default="", help="options of ptxas, such as -O1")
    parser.add_argument("--targets", action="store_true", help="other processors, too")
    parser.add_argument("--write", action="store_true", help="write what was measured into the headers")
    arguments = parser.parse_args()
    folder = arguments.releases
    releases = sorted((path.parent.name for path in folder.glob("*/ptxas")), key=order)
    if arguments.only:
        releases = [name for name in releases if name in arguments.only.split(",")]
    if arguments.only and arguments.write:
        sys.exit("--write needs all releases")
    if not releases:
        sys.exit(f"{folder}: no release; RELEASE/ptxas is looked for")
    rows = []
    for path in arguments.files or sorted((ROOT / "tests/ptxas-faults").glob("*.ptx")):
        fault = read(path)
        verdicts = {
            name: measure(fault, folder / name / "ptxas", arguments.tool, options=arguments.options.split())
            for name in releases
        }
        words = in_words(verdicts, releases)
        values = {"releases wrong": words.get(WRONG, "none"), "releases right": words.get(RIGHT, "none")}
        shown = fault.target
        if arguments.targets:
            wrong = [name for name in releases if verdicts[name] == WRONG]
            targets = wrong_targets(fault, {*wrong[:1], *wrong[-1:]}, folder, arguments.tool)
            values["targets"] = ", ".join(targets) or "none"
            shown += f" (wrong: {values['targets']})"
        rows.append((fault.name, shown, words))
        print(table(rows[-1:]).splitlines()[-1], file=sys.stderr)
        if arguments.write and {*words} <= {RIGHT, WRONG, REFUSED}:
            path.write_text(rewritten(fault.text, values), encoding="utf8")
    print(table(rows))


if __name__ == "__main__":
    main()
