#!/usr/bin/env python3
"""Shows the effect of nvptx-loop-shape on kernels: the loops whose last branch the pass inverts, and the machine code
before and after.

    loop_gains.py [--ptxas PROGRAM] [--most N] [--keep FOLDER] [--compare] FILE …

A FILE is LLVM IR or the PTX of any compiler. llc compiles LLVM IR with the plugin and -nvptx-ra-loop-shape=off or
on; `nvptx-ra ptx` changes PTX. Only kernels whose PTX changes are assembled. Each loop with an inverted branch has
a row: the copies of its body in the machine code, the instructions per copy, and the most loads in flight. A load
is in flight until an instruction reads or overwrites its result. A loop that has become straight-line code is
marked `whole`. --compare runs both versions of each kernel by `nvptx-ra compare`. --keep stores both versions.
"""

import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import command_line
import occupancy
import ptx
import tools
from loop_machine import Machine, Unrolled, assembled, unrolled

BRANCH = re.compile(r"^\s*@%\w+\s+bra(?:\.uni)?\s+([\w$.]+);")
THREADS = re.compile(r"^\s*\.(?:maxntid|reqntid)\s+([\d, ]+)", re.MULTILINE)
REMARK = re.compile(r"(?:the loop keeps its two jumps, which ptxas seldom unrolls: |the last branch is )(.*)")
SAID = re.compile(r"^\S+: (same|different|not comparable)", re.MULTILINE)
PASS = "nvptx-loop-shape"
TIMEOUT = 900


@dataclass(frozen=True)
class Loop:
    """A loop with an inverted branch: its lines of the PTX, and its machine code before and after."""

    lines: range
    before: Unrolled | None
    after: Unrolled | None

    @property
    def is_further(self):
        """Whether the machine code has more copies of the body than before."""
        return bool(self.before and self.after) and self.after.copies > self.before.copies


@dataclass(frozen=True)
class Kernel:
    """A kernel whose PTX changes."""

    file: str
    name: str
    before: Machine
    after: Machine
    warps: tuple
    loops: list
    meaning: str


def compiled(path, options, shape):
    """Returns (PTX, remarks, error) of a file, compiled with the given `loop-shape`."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.ptx")
        if path.endswith(".ptx"):
            if shape == "off":
                return Path(path).read_text(encoding="utf8", errors="replace"), "", ""
            command = [occupancy.nvptx_ra(), "ptx", f"-passes={PASS}", "--remarks", path, "-o", output]
        else:
            command = [tools.find_llc(), f"-load-pass-plugin={options.plugin}", f"-nvptx-ra-loop-shape={shape}"]
            command += [f"-pass-remarks={PASS}", f"-pass-remarks-missed={PASS}"]
            command += [*tools.target_flags(options.cpu), path, "-o", output]
        outcome = tools.run(command, TIMEOUT)
        text = "" if outcome.error else Path(output).read_text(encoding="utf8", errors="replace")
        # llc prints these lines around inverted branches, because it treats them as inline assembly.
        text = re.sub(r"^\t// (?:begin|end) inline asm\n", "", text, flags=re.MULTILINE)
        return text, outcome.output, outcome.error


def turned(before, after):
    """Returns the lines of each loop whose last branch is inverted. Only lines of branches differ between the two PTX
    modules."""
    old, new = before.split("\n"), after.split("\n")
    labels = {line.split(":")[0]: number for number, line in enumerate(new, 1) if re.match(r"[\w$.]+:", line)}
    loops = []
    for number, (was, now) in enumerate(zip(old, new, strict=True), 1):
        branch = BRANCH.match(now)
        if was != now and branch and labels.get(branch.group(1), number) < number:
            loops.append(range(labels[branch.group(1)], number + 2))
    return loops


def meaning(folder, stem):
    """Returns the verdict of `nvptx-ra compare` on both versions of a kernel."""
    command = [occupancy.nvptx_ra(), "compare", f"{folder}/{stem}.before.ptx", f"{folder}/{stem}.after.ptx", "--exact"]
    outcome = tools.run(command, TIMEOUT)
    said = SAID.search(outcome.output)
    return said.group(1) if said else f"not comparable ({outcome.error})"


def kernels_of(path, texts, options, folder):
    """Yields the changed kernels of a file, or a line with the reason why a kernel has no figures."""
    count = 0
    bodies = [{name: (entry, lines) for name, entry, lines in ptx.functions(text)} for text in texts]
    for name, (is_entry, lines) in bodies[0].items():
        if lines == bodies[1][name][1] or count == options.most:
            continue
        count += 1
        if not is_entry:
            yield f"{Path(path).stem}: {name}: not a kernel"
            continue
        before, after = (ptx.only(text, name) for text in texts)
        machines = [assembled(text, name, options.ptxas, options.cpu) for text in (before, after)]
        if error := machines[0][1] or machines[1][1]:
            yield f"{Path(path).stem}: {name}: {error}"
            continue
        stem = f"{Path(path).stem}.{name}"[-200:]
        for when, text in (("before", before), ("after", after)):
            (folder / f"{stem}.{when}.ptx").write_text(text, encoding="utf8")
        old, new = (machine for machine, _ in machines)
        loops = [
            Loop(lines, unrolled(old, before, lines), unrolled(new, after, lines)) for lines in turned(before, after)
        ]
        threads = threads_of(before, name)
        warps = tuple(occupancy.resident_warps(machine.registers, options.cpu, threads) for machine in (old, new))
        same = meaning(folder, stem) if options.compare else ""
        yield Kernel(Path(path).stem, name, old, new, warps, loops, same)


def threads_of(text, name):
    """Returns the threads of a block that the kernel declares, or 0."""
    said = THREADS.search(text[text.index(f".entry {name}") :].split("{")[0])
    return math.prod(int(number) for number in said.group(1).split(",")) if said else 0


def row(kernel, loop):
    """Returns a loop's line of the table."""
    cells = [kernel.file, demangled(kernel.name), f"{loop.lines.start}-{loop.lines.stop - 1}"]
    for part in (loop.before, loop.after):
        if part is None:
            cells += ["?"] * 3
        else:
            copies = f"{part.copies}{' whole' * part.is_straight}"
            cells += [copies, f"{part.of_a_turn:.1f}", str(part.in_flight)]
    machines = (kernel.before, kernel.after)
    for values in ([m.registers for m in machines], kernel.warps, [m.spilled for m in machines]):
        cells.append("→".join(map(str, values)))
    cells += ["→".join(str(machine.instructions) for machine in machines), kernel.meaning]
    return "\t".join(cells)


def demangled(name):
    """Returns a kernel's demangled, shortened name."""
    done = subprocess.run(["c++filt", name], capture_output=True, text=True, check=False)
    return (done.stdout.strip() if done.returncode == 0 else name)[:120]


HEAD = (
    "file\tkernel\tlines\tcopies\tinstructions per copy\tin flight\tcopies after\tinstructions per copy after\t"
    "in flight after\tregisters\twarps\tspilled\tinstructions\tmeaning"
)


def summary(kernels, entries, remarks):
    """Yields the lines of the summary."""
    loops = [loop for kernel in kernels for loop in kernel.loops]
    further = [loop for loop in loops if loop.is_further]
    yield f"{entries} kernels, {len(kernels)} change; {len(loops)} of their loops get an inverted branch"
    changed = [kernel for kernel in kernels if kernel.before.shown != kernel.after.shown]
    unrolls = sum(any(loop.is_further for loop in kernel.loops) for kernel in kernels)
    yield f"machine code of {len(changed)} changes; {len(further)} loops of {unrolls} kernels are unrolled further"
    for what, count in (
        ("lose warps", sum(k.warps[1] < k.warps[0] for k in kernels)),
        ("gain warps", sum(k.warps[1] > k.warps[0] for k in kernels)),
        ("spill more", sum(k.after.spilled > k.before.spilled for k in kernels)),
        ("have more registers", sum(k.after.registers > k.before.registers for k in kernels)),
        ("have fewer registers", sum(k.after.registers < k.before.registers for k in kernels)),
    ):
        yield f"{count} {what}"
    if further:
        for what, figure in (("in flight", "in_flight"), ("instructions per copy", "of_a_turn"), ("copies", "copies")):
            parts = [[loop.before for loop in further], [loop.after for loop in further]]
            medians = [statistics.median(getattr(part, figure) for part in side) for side in parts]
            yield f"median of those unrolled further, {what}: {medians[0]:g} → {medians[1]:g}"
    yield "meaning: " + ", ".join(f"{count} {what}" for what, count in Counter(k.meaning for k in kernels).items())
    yield from (f"{count:6} {reason}" for reason, count in remarks.most_common())


def main():
    parser = command_line.parser_of(__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--cpu", default="sm_90")
    parser.add_argument("--ptxas", default=tools.find_cuda("ptxas"))
    command_line.add_plugin(parser)
    parser.add_argument("--most", type=int, help="most kernels of a file that are assembled, because many are similar")
    parser.add_argument("--keep", help="folder for both versions of each changed kernel")
    parser.add_argument("--compare", action="store_true", help="run both versions on the CPU")
    options = parser.parse_args()
    options.plugin = options.plugin or tools.find(None, False).plugin
    kernels, entries, remarks = [], 0, Counter()
    print(HEAD)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for path in options.files:
            (before, _, error), (after, said, other) = (compiled(path, options, shape) for shape in ("off", "on"))
            if error or other:
                print(f"{Path(path).stem}: {error or other}", file=sys.stderr)
                continue
            entries += sum(is_entry for _, is_entry, _ in ptx.functions(before))
            remarks.update(REMARK.findall(said))
            for kernel in kernels_of(path, (before, after), options, folder):
                if isinstance(kernel, str):
                    print(kernel, file=sys.stderr)
                    continue
                kernels.append(kernel)
                for loop in kernel.loops:
                    print(row(kernel, loop), flush=True)
    print(*summary(kernels, entries, remarks), sep="\n", file=sys.stderr)


if __name__ == "__main__":
    main()
