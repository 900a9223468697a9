#!/usr/bin/env python3
"""Measures how a pass's time grows with the size of a function. The coalescer runs on 10^3 to 10^6 instructions and on
10 to 10^4 copies. With --pass=nvptx-regalloc, spilling to shared memory runs on 10^3 to 10^6 instructions.

    growth.py [--pass NAME] [--tool target/release/nvptx-ra] [--largest 1000000] [--plot docs/growth.svg]

Generates functions in the text form and times `nvptx-ra replay` on them; parsing and checking are not counted. Fits
c·n·log n to each series and reports how far the worst point deviates from the fit. --plot needs matplotlib.
"""

import math
import re
import subprocess
import tempfile
from pathlib import Path

import command_line

HEADER = 'mfv 1\nfunction "k"\nopcode ADD\nopcode COPY copy\nopcode LOAD\nopcode STORE\nopcode GOTO\n'
COALESCER, REGALLOC = "nvptx-copy-coalescer", "nvptx-regalloc"
# At most 62 of a phase's 140 words may be live, so two fifths of them are spilled.
OPTIONS = {COALESCER: (), REGALLOC: ("regalloc=64", "regalloc-slack=0")}


def registers(count):
    """Declares `count` 32-bit registers."""
    return "".join(f"regs %{i} " + " ".join(["B32"] * min(16, count - i)) + "\n" for i in range(0, count, 16))


def one_block(n):
    """Yields one block of n instructions; every fifth is a copy."""
    yield HEADER + registers(n)
    yield "bb0: frequency 1.0 depth 0\n  %0 = LOAD 0 :: read\n"
    for i in range(1, n - 1):
        yield f"  %{i} = COPY %{i - 1}\n" if i % 5 == 0 else f"  %{i} = ADD %{i - 1}, %{max(0, i - 7)}\n"
    yield f"  STORE %{n - 2} :: write\nend\n"


def diamonds(n):
    """Yields about n instructions in a row of diamonds, each with the two copies of a PHI."""
    count = n // 12
    yield HEADER + registers(4 * count + 1)
    for i in range(count):
        r, b = 4 * i + 1, 4 * i
        before = r - 1 if i == 0 else r - 2
        yield (
            f"bb{b}: frequency 1.0 depth 0 -> bb{b + 1} bb{b + 2}\n  %{r} = ADD %{before}, 1\n"
            f"  %{r + 1} = ADD %{before}, %{r}\n  GOTO bb{b + 1} :: terminator\n  GOTO bb{b + 2} :: terminator\n"
        )
        for side in (1, 2):
            yield f"bb{b + side}: frequency 0.5 depth 0 -> bb{b + 3}\n  %{r + 2} = COPY %{r + side - 1}\n"
            yield f"  GOTO bb{b + 3} :: terminator\n"
        yield f"bb{b + 3}: frequency 1.0 depth 0 -> bb{b + 4}\n  %{r + 3} = ADD %{r + 2}, %{r}\n"
        yield f"  STORE %{r + 3} :: write\n  GOTO bb{b + 4} :: terminator\n"
    yield f"bb{4 * count}: frequency 1.0 depth 0\nend\n"


def one_web(n):
    """Yields a function in which one register is copied to in each of n blocks. All sources of the copies are
    candidates for this register."""
    yield HEADER + registers(n + 1)
    yield "bb0: frequency 1.0 depth 0 -> " + " ".join(f"bb{i + 1}" for i in range(n)) + "\n"
    for i in range(n):
        yield f"bb{i + 1}: frequency 1.0 depth 0 -> bb{n + 1}\n  %{i + 1} = LOAD {i} :: read\n"
        yield f"  STORE %{i + 1} :: write\n  %0 = COPY %{i + 1}\n"
    yield f"bb{n + 1}: frequency 1.0 depth 0\n  STORE %0 :: write\nend\n"


KEPT, WORKING = 60, 40  # words of a phase: live throughout it, and used in its computation


def phases(n):
    """Yields one block of n instructions in phases. Each phase loads words, computes with other words, and then stores
    the loaded words."""
    count = max(1, n // (2 * KEPT + 2 * WORKING))
    size = KEPT + 2 * WORKING
    yield HEADER.replace('"k"\n', '"k"\nkernel maxntid 128\n') + registers(count * size)
    yield "bb0: frequency 1.0 depth 0\n"
    for first in range(0, count * size, size):
        working, computed = first + KEPT, first + KEPT + WORKING
        yield "".join(f"  %{i} = LOAD {i} :: read global\n" for i in range(first, computed))
        for i in range(WORKING):
            yield f"  %{computed + i} = ADD %{working + i}, %{working + (i + 7) % WORKING}\n"
        yield "".join(f"  STORE %{first + i}, %{computed + i % WORKING} :: write global\n" for i in range(KEPT))
    yield "end\n"


def half_live(n):
    """Yields the same phases, with KEPT more words that are live throughout the function."""
    text = "".join(phases(n))
    head, body = text.split("bb0: frequency 1.0 depth 0\n")
    first = text.count("B32")
    body = body.removesuffix("end\n")
    loads = "".join(f"  %{first + i} = LOAD {i} :: read global\n" for i in range(KEPT))
    stores = "".join(f"  STORE %{first + i} :: write global\n" for i in range(KEPT))
    yield head + "".join(f"regs %{first + i} B32\n" for i in range(KEPT))
    yield f"bb0: frequency 1.0 depth 0\n{loads}{body}{stores}end\n"


def seconds(tool, subject, make, n):
    """Returns the shortest of several runs of a pass."""
    unit = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
    with tempfile.TemporaryDirectory() as folder:
        with Path(folder, "function.mfv").open("w", encoding="utf8") as file:
            file.writelines(make(n))
        Path(folder, "report.json").write_text('{"target": "sm_90"}', encoding="utf8")
        command = [tool, "replay", folder, "--no-check", "--time", "5", f"--pass={subject}"]
        command += [f"--set={option}" for option in OPTIONS[subject]]
        log = subprocess.run(command, check=True, capture_output=True, text=True)
    found = re.search(r"least ([\d.]+)(ns|µs|ms|s)", log.stdout + log.stderr)
    return float(found[1]) * unit[found[2]]


def decades(low, high):
    """Yields low, 10·low, … up to high."""
    while low <= high:
        yield low
        low *= 10


def main():
    parser = command_line.parser_of(__doc__)
    parser.add_argument("--pass", dest="subject", choices=OPTIONS, default=COALESCER)
    parser.add_argument("--tool", default="target/release/nvptx-ra")
    parser.add_argument("--largest", type=int, default=1_000_000, help="instructions (default: 1000000)")
    parser.add_argument("--plot", help="file for the plot, for example docs/growth.svg")
    arguments = parser.parse_args()
    series = [
        ("one block, by instructions", one_block, 1000, arguments.largest),
        ("diamonds, by instructions", diamonds, 1000, arguments.largest),
        ("one web, by copies", one_web, 10, min(10_000, arguments.largest)),
    ]
    if arguments.subject == REGALLOC:
        series = [
            ("phases, by instructions", phases, 1000, arguments.largest),
            ("half of the words live throughout, by instructions", half_live, 1000, arguments.largest),
        ]
    measured = []
    for label, make, low, high in series:
        points = [(n, seconds(arguments.tool, arguments.subject, make, n)) for n in decades(low, high)]
        # Returns the constant of the best fit for relative errors: the geometric mean.
        ratios = [time / (n * math.log(n)) for n, time in points]
        constant = math.exp(sum(map(math.log, ratios)) / len(ratios))
        worst = max(max(ratio / constant, constant / ratio) for ratio in ratios)
        print(f"{label}: c·n·log n with c = {constant * 1e9:.2f} ns; the worst point is off by {worst:.2f}")
        for n, time in points:
            print(f"  {n:>9,}  {time * 1e3:>12.3f} ms")
        measured.append((label, points, constant))
    if arguments.plot:
        plot(measured, arguments.subject, arguments.plot)


def plot(measured, subject, path):
    """Plots points and fits on logarithmic axes."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for label, points, constant in measured:
        sizes = [n for n, _ in points]
        (line,) = axes.loglog(sizes, [time * 1e3 for _, time in points], "o", label=label)
        axes.loglog(sizes, [constant * n * math.log(n) * 1e3 for n in sizes], "-", color=line.get_color(), alpha=0.5)
    axes.set_xlabel("n (lines: fit of c·n·log n)")
    axes.set_ylabel("milliseconds")
    axes.set_title(f"Time of {subject}")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
