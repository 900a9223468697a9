#!/usr/bin/env python3
"""Finds the meaning of each bit of a machine instruction with nvdisasm, because NVIDIA documents no encoding.

    encoding.py flips 90 000fe40007ffe0ff0000000103027810    the effect of each bit of an instruction
    encoding.py values 90 000fe4... 76+3 73+1                the text for all values of fields, given as FROM+COUNT
    encoding.py unknown 90 CUBIN...                          an example of each operation and mnemonic, with its bits
    encoding.py golden 90=DIRECTORY 80=DIRECTORY...          writes tests/golden/sass/instructions.txt from cubins

nvdisasm takes raw code (`-b SM90`), thousands of instructions at a time. If it refuses one instruction, it lists
none of them. The refused words are replaced by NOP until nvdisasm accepts the code. For a new processor, run
`golden` with its cubins in addition to the others. The test of the file then lists the operations that
src/sass/decode does not know, and `flips` and `values` show their meaning.
"""

import itertools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NVDISASM = os.environ.get("NVDISASM", str(ROOT / "target/cuda/bin/nvdisasm"))
GOLDEN = ROOT / "tests/golden/sass/instructions.txt"
NOP = 0x000FC000000000000000000000007918
REFUSED = re.compile(r" at address 0x([0-9a-f]+)")
RAW = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*$")
ENCODED = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
REST = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
NUMBERS = re.compile(r"(?<=R)(\d+|Z)|(?<=P)[\dT]|-?0x[0-9a-f]+|-?\b\d+(\.\d+)?(e[+-]?\d+)?\b")


def disassembled(words, processor):
    """Returns the text of each word, `None` if nvdisasm refuses it."""
    words = list(words)
    refused = set()
    while True:
        code = b"".join((NOP if at in refused else word).to_bytes(16, "little") for at, word in enumerate(words))
        with tempfile.NamedTemporaryFile() as file:
            file.write(code)
            file.flush()
            command = [NVDISASM, "-ndf", "-b", f"SM{processor}", "-c", file.name]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode == 0:
            break
        more = {int(match[1], 16) // 16 for match in REFUSED.finditer(run.stderr)} - refused
        if not more:
            raise SystemExit(run.stderr)
        refused |= more
    texts = [None] * len(words)
    for match in filter(None, map(RAW.match, run.stdout.splitlines())):
        at = int(match[1], 16) // 16
        if at not in refused:
            texts[at] = match[2]
    return texts


def flips(processor, word):
    """Prints the bits that change the text. Neighbours with the same effect share a line."""
    bits = range(12, 105)
    texts = disassembled(itertools.chain.from_iterable((word, word ^ 1 << bit) for bit in bits), processor)
    print(texts[0])
    groups = []
    for bit, plain, changed in zip(bits, texts[::2], texts[1::2], strict=True):
        if plain == changed:
            continue
        if changed is None:
            effect = "refused"
        elif NUMBERS.sub("#", plain) == NUMBERS.sub("#", changed):
            effect = "a number of: " + NUMBERS.sub("#", plain)
        else:
            effect = changed
        if groups and groups[-1][1] == bit - 1 and groups[-1][2] == effect:
            groups[-1][1] = bit
        else:
            groups.append([bit, bit, effect])
    for first, last, effect in groups:
        print(f"{first:4}-{last:<4}{effect}" if first != last else f"{first:4}     {effect}")


def values(processor, word, fields):
    """Prints the text for all values of some fields."""
    fields = [tuple(map(int, field.split("+"))) for field in fields]
    chosen = list(itertools.product(*(range(1 << count) for _, count in fields)))
    words = []
    for numbers in chosen:
        changed = word
        for (first, count), number in zip(fields, numbers, strict=True):
            changed = changed & ~(((1 << count) - 1) << first) | number << first
        words.append(changed)
    for numbers, text in zip(chosen, disassembled(words, processor), strict=True):
        if text is not None:
            print(*numbers, text)


def instructions(cubin):
    """Yields (bits, text) of each instruction of a cubin."""
    command = [NVDISASM, "-c", "-hex", cubin]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    for line, following in itertools.pairwise(lines):
        encoded, rest = ENCODED.match(line), REST.match(following)
        if encoded and rest:
            yield int(rest[1], 16) << 64 | int(encoded[2], 16), encoded[1]


def mnemonic(text):
    """Returns the mnemonic, without the guard."""
    words = text.split()
    return words[1] if words[0].startswith("@") else words[0]


def examples(cubins, known):
    """Returns the first instruction of each operation and mnemonic that is not known yet, in order."""
    found = {}
    for cubin in cubins:
        for word, text in instructions(cubin):
            key = word & 0xFFF, mnemonic(text)
            if key not in known and key not in found:
                found[key] = word
    return [found[key] for key in sorted(found)]


def golden(directories):
    """Writes the golden file. Instructions that the first processor has are left out for all further processors."""
    lines = [
        "# Instructions as ptxas made them and nvdisasm prints them (encoding.py golden): by processor, one of each",
        "# operation and mnemonic; of the second processor on, those that the first one does not have. The n-th one of a",
        "# processor stands at address 16 n. What a minus stands ahead of is not decoded.",
    ]
    known = set()
    for processor, directory in directories:
        words = examples(map(str, sorted(Path(directory).glob("**/*.cubin"))), known)
        lines.append(f"[{processor}]")
        for word, text in zip(words, disassembled(words, processor), strict=True):
            lines.append(f"{word:032x} {text}")
            if processor == directories[0][0] and text:
                known.add((word & 0xFFF, mnemonic(text)))
    GOLDEN.write_text("\n".join(lines) + "\n")


def main():
    """Runs the command of the arguments."""
    what, *rest = sys.argv[1:] or ["help"]
    if what == "flips":
        flips(rest[0], int(rest[1], 16))
    elif what == "values":
        values(rest[0], int(rest[1], 16), rest[2:])
    elif what == "unknown":
        for word in examples(rest[1:], set()):
            print(f"{word:032x} {disassembled([word], rest[0])[0]}")
    elif what == "golden":
        golden([tuple(part.split("=", 1)) for part in rest])
    else:
        print(__doc__)


if __name__ == "__main__":
    main()
