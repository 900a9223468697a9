#!/usr/bin/env python3
"""Measures which releases of ptxas miscompile the files of tests/ptxas-faults.

Each file is a small PTX module with a header: a description of the fault, a launch, and the releases. The script
assembles the file with every release in a folder (RELEASE/ptxas), runs the PTX and the machine code on the CPU with
`nvptx-ra run --record`, and compares the memory after both runs. It prints a Markdown table. `--write` also writes
the measured releases into the headers, except for files that are not comparable with some release. `--targets` also
finds the processors for which the first and the last wrong release are wrong. nvdisasm must be on PATH; that of
CUDA 13.5 rejects sm_70.
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
# The first PTX version that supports each processor.
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
    """Parses a file with a fault. Raises an error that lists missing parts of the header."""
    text = path.read_text(encoding="utf8")
    head = [line[2:].strip() for line in text.splitlines() if line.startswith("//")]
    fields = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
    missing = [field for field in FIELDS if field not in fields]
    if not head or missing:
        raise SystemExit(f"{path}: the header lacks {', '.join(missing) or 'a sentence'}")
    return Fault(path.stem, text, head[0], fields)


def order(release):
    """Returns the sort key of a release. It sorts 12.9.86 before 12.10.1, and 13.4.46rc1 before 13.4.59."""
    return [int(number) for number in re.findall(r"\d+", release)]


def ranges(wanted, releases):
    """Returns the wanted releases as ranges of neighbours among all releases: `12.0.76 to 12.3.52, 13.0.48`, or
    `none`. The text is ASCII, because ptxas 12.8.61 to 13.0.88 reject other characters, even in comments."""
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
    """Returns the text for another processor, with a version of PTX that supports it."""
    version = re.search(r"^\.version (\S+)", text, re.M)[1]
    version = max(version, TARGETS.get(target, version), key=order)
    text = re.sub(r"^\.version \S+", f".version {version}", text, count=1, flags=re.M)
    return re.sub(r"^\.target \w+", f".target {target}", text, count=1, flags=re.M)


def recorded(tool, file, launch, folder):
    """Returns the memory before and after a launch, or `None` and the reason."""
    command = [tool, "run", file, *launch, "--record", folder]
    outcome = subprocess.run(command, check=False, capture_output=True, text=True)
    if outcome.returncode:
        return None, (outcome.stderr or outcome.stdout).strip()
    folder = pathlib.Path(folder)
    return ((folder / "before.bin").read_bytes(), (folder / "after.bin").read_bytes()), ""


def reason(said):
    """Returns the part of a message that names the unmodelled feature, for a cell of a table."""
    said = re.split("no result: |no record: ", said)[-1]
    said = re.split(r"; see docs/| \(instruction 0x", said)[0]
    return said.splitlines()[0] if said else "no reason given"


def judge(before, after):
    """Returns the verdict from the memory before and after both runs. Launches that begin with different memory are
    not comparable."""
    if before[0] != after[0]:
        return "not comparable: the launches begin with different memory"
    return RIGHT if before[1] == after[1] else WRONG


def measure(fault, ptxas, tool, target=None, options=()):
    """Returns whether a release's code computes the same as the PTX."""
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
    """Returns the verdicts on a file. Each verdict has the ranges of its releases. Wrong releases come first."""
    kinds = sorted(set(verdicts.values()), key=lambda kind: (kind != WRONG, kind != RIGHT, kind))
    return {kind: ranges({name for name, said in verdicts.items() if said == kind}, releases) for kind in kinds}


def rewritten(text, values):
    """Returns the text with new values in fields of its header."""
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
    """Returns the processors for which at least one of the releases is wrong, among the processors that the release
    supports."""
    return [
        target
        for target in TARGETS
        if any(measure(fault, folder / name / "ptxas", tool, target) == WRONG for name in releases)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="files (default: all of tests/ptxas-faults)")
    parser.add_argument("--releases", type=pathlib.Path, required=True, help="folder with RELEASE/ptxas")
    parser.add_argument("--tool", default="nvptx-ra", help="the program nvptx-ra")
    parser.add_argument("--only", help="releases, separated by commas (default: all in the folder)")
    parser.add_argument("--options", default="", help="options of ptxas, such as -O1")
    parser.add_argument("--targets", action="store_true", help="also find the wrong processors")
    parser.add_argument("--write", action="store_true", help="write the measured releases into the headers")
    arguments = parser.parse_args()
    folder = arguments.releases
    releases = sorted((path.parent.name for path in folder.glob("*/ptxas")), key=order)
    if arguments.only:
        releases = [name for name in releases if name in arguments.only.split(",")]
    if arguments.only and arguments.write:
        sys.exit("--write needs all releases")
    if not releases:
        sys.exit(f"{folder}: no release, which is a folder RELEASE with ptxas")
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
