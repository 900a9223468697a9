"""Passes random bytes to every command, alone and inside a text of each language, and checks the messages.

bytes.py FOLDER NVPTX-RA
"""

import pathlib
import random
import subprocess
import sys

FOLDER, TOOL = pathlib.Path(sys.argv[1]), sys.argv[2:]
PASS = ["-passes=machine-function(print<nvptx-ra-view>)", "-mcpu=sm_90", "-o", "/dev/null"]
COMMANDS = {
    "compile": ["-o", "/dev/null"],
    "tune": ["-o", "/dev/null"],
    "report": [],
    "allocate": [],
    "optimum": [],
    "replay": [],
    "mir": PASS,
    "stats": [],
}
ESCAPES = [b"\x1b[31m", b"\x1b]0;title\x07", b"\x9b2J", b"\xc2\x9b2J", b"\r", b"\x08\x08", b"\x7f", b"\xff\xfe"]
ESCAPES += [b"\xe2\x80\xae"]  # what follows reads from right to left
# Texts with a place for the bytes. The error messages for these texts quote the bytes.
FRAMES = [
    b"%s",
    b"define %s\n",
    b'target triple = "nvptx64-nvidia-cuda"\n%s\n',
    b'target triple = "%s"\n',
    b"mfv 1\nfunction \"k\"\n%s\nend\n",
    b"mfv 1\n%s",
    b"allocation 1\n%s\n",
    b"allocation %s\n",
    b"--- |\n  %s\n...\n---\nname: k\n",
    b"---\nname: %s\n",
    b"---\nname: k\nbody: |\n  bb.0:\n    %s\n",
    b'{"event": "%s"}\n',
    b"BC\xc0\xde%s",
]
KERNEL = b'define ptx_kernel void @"k\\1B[31m\\07"(ptr %p) {\n  store i32 1, ptr %p\n  ret void\n}\n'


def is_bad(said):
    text = said.decode("utf8", "replace")
    return any(ord(c) < 32 and c not in "\n\t" or 127 <= ord(c) < 160 or c in "\u202e\u2066" for c in text)


def runs():
    draw = random.Random(7)
    for frame in FRAMES:
        for number in range(2):
            parts = [draw.choice(ESCAPES) if draw.random() < 0.5 else draw.randbytes(3) for _ in range(6)]
            # A NUL ends a message of LLVM's, and would hide the text after it.
            content = frame.replace(b"%s", b"".join(parts).replace(b"\0", b"\x1b").replace(b"\n", b"\x1b"))
            for command, arguments in COMMANDS.items():
                yield command, arguments, content, number == 0
    for command in ("report", "allocate"):
        yield command, [], KERNEL, False


wrong, quoted, count = [], 0, 0
for command, arguments, content, is_piped in runs():
    path = FOLDER / "input"
    path.write_bytes(content)
    source = ["-"] if is_piped else [str(path)]
    given = content if is_piped else b""
    ran = subprocess.run([*TOOL, command, *arguments, *source], input=given, capture_output=True, timeout=60)
    count += 1
    quoted += b"u{" in ran.stderr or b"u{" in ran.stdout
    if is_bad(ran.stderr) or is_bad(ran.stdout):
        wrong.append(f"{command} {content!r}: {ran.stderr[:400]!r} {ran.stdout[:400]!r}")
for case in wrong:
    print(case)
print(f"{count} runs, {quoted} quote something that is escaped, {len(wrong)} wrong")
# If no message quoted any bytes, the test would check nothing.
sys.exit(1 if wrong or quoted < 10 else 0)
