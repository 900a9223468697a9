"""Checks with nvdisasm, without a GPU, that a micro-benchmark compiles to the code that it is meant to measure."""

import os
import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tools

TIMEOUT = 300
INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
WORD = re.compile(r"/\* 0x([0-9a-f]{16}) \*/\s*$")
LABEL = re.compile(r"^(\.L_\w+):")
REGISTER = re.compile(r"\bR(\d+)\b")
SECTION = re.compile(r"^\s*\.section\s+\.text\.(\w+).*$", re.MULTILINE)
TARGET = re.compile(r"\((\.L_\w+)\)")

# Other instructions that a loop may contain, at most FEW of them: a counter, its comparison and the branch, in either
# register file, moves that ptxas inserts for them, and NOPs that fill a latency.
OF_A_LOOP = ("IADD3", "UIADD3", "ISETP", "UISETP", "BRA", "NOP", "MOV", "UMOV", "R2UR", "PLOP3")
FEW = 6
NEAR = 3  # instructions of a stream that do not wait for each other

# Position of two fields in the upper word of an instruction: the cycles that its warp waits after it, and the
# scoreboard of its result.
STALL_AT, STALL_MASK = 41, 15
SCOREBOARD_AT, NO_SCOREBOARD = 46, 7


@dataclass(frozen=True)
class Instruction:
    opcode: str
    operands: str
    stall: int = 0
    scoreboard: int = NO_SCOREBOARD

    def written(self):
        found = REGISTER.search(self.operands)
        return found.group(1) if found else None

    def read(self):
        return REGISTER.findall(self.operands)[1:]


def is_of(opcode, wanted):
    """Whether an opcode is `wanted`, or `wanted` with more modifiers: `HMMA.16816.F32.BF16` is a form of
    `HMMA.16816.F32`."""
    return opcode == wanted or opcode.startswith(wanted + ".")


def timed_loop(listing):
    """Returns the instructions of the loop between the two reads of the clock, or `None` and an error message. A
    listing is the output of `nvdisasm -c -hex`."""
    code, labels = [], {}
    lines = listing.splitlines()
    for line, behind in zip(lines, [*lines[1:], ""], strict=True):
        if label := LABEL.match(line):
            labels[label.group(1)] = len(code)
        elif match := INSTRUCTION.match(line):
            upper = WORD.search(behind)
            bits = int(upper.group(1), 16) if upper else NO_SCOREBOARD << SCOREBOARD_AT
            code.append(
                Instruction(*match.groups(), bits >> STALL_AT & STALL_MASK, bits >> SCOREBOARD_AT & NO_SCOREBOARD)
            )
    clocks = [at for at, one in enumerate(code) if is_of(one.opcode, "CS2R") and "SR_CLOCKLO" in one.operands]
    if len(clocks) != 2:
        return None, f"the clock is read {len(clocks)} times, not twice"
    first, last = clocks
    for at in range(first, last):
        target = TARGET.search(code[at].operands) if is_of(code[at].opcode, "BRA") else None
        if target and first < labels.get(target.group(1), -1) <= at:
            return code[labels[target.group(1)] : at + 1], ""
    return None, "no loop between the reads of the clock"


def findings(micro, listing):
    """Returns the faults of a micro-benchmark's machine code, empty if there are none."""
    loop, complaint = timed_loop(listing)
    if loop is None:
        return [complaint]
    measured = [one for one in loop if is_of(one.opcode, micro.opcode)]
    found = []
    if len(measured) != micro.count:
        found.append(f"{micro.opcode} stands {len(measured)} times in the loop, not {micro.count}")
    others = [one.opcode for one in loop if not is_of(one.opcode, micro.opcode)]
    strange = [one for one in others if not any(is_of(one, known) for known in OF_A_LOOP + micro.beside)]
    if strange:
        found.append(f"the loop has {', '.join(sorted(set(strange)))} as well")
    of_loop = [one for one in others if not any(is_of(one, known) for known in micro.beside + ("NOP",))]
    if len(of_loop) > FEW:
        found.append(f"the loop has {len(of_loop)} instructions besides, more than {FEW}")
    found += order(micro, measured)
    return found


def order(micro, measured):
    """Returns the violations of `order`: instructions that do not depend on the previous one (`chain`), or that depend
    on one of the three previous ones (`stream`)."""
    if micro.order == "chain":
        broken = [1 for ahead, one in zip(measured, measured[1:], strict=False) if ahead.written() not in one.read()]
        return [f"{len(broken)} instructions do not read the previous one's result"] if broken else []
    if micro.order == "stream":
        waits = [
            1
            for at, one in enumerate(measured)
            if any(ahead.written() in one.read() for ahead in measured[max(at - NEAR, 0) : at])
        ]
        return [f"{len(waits)} instructions wait for one of the {NEAR} before"] if waits else []
    return []


def scheduled(micro, loop):
    """Returns the cycles that ptxas leaves between two of the instructions. ptxas thereby estimates the number if
    these instructions have the whole pipe, or if they form a chain without scoreboards. `None` if there is no
    estimate."""
    at = [place for place, one in enumerate(loop) if is_of(one.opcode, micro.opcode)]
    waits = any(loop[place].scoreboard != NO_SCOREBOARD for place in at)
    of_warp = micro.share == "warp" and micro.order == "chain" and not waits
    if not (of_warp or micro.share == "partition"):
        return None
    gaps = [sum(one.stall for one in loop[a:b]) for a, b in zip(at, at[1:], strict=False)]
    each = statistics.mean(gaps) if micro.mixed else statistics.median(gaps)
    return (each - micro.less) / micro.parts


def assemble(text, folder, ptxas, nvdisasm):
    """Returns the machine code of a module and the listings of its functions. Raises ValueError with the error message
    of a program."""
    source, cubin = Path(folder, "micro.ptx"), Path(folder, "micro.cubin")
    source.write_text(text, encoding="utf8")
    outcome = tools.run([ptxas, "-O3", "-arch=sm_90", str(source), "-o", str(cubin)], TIMEOUT)
    if outcome.error:
        raise ValueError(outcome.error)
    listing = tools.run([nvdisasm, "-c", "-hex", str(cubin)], TIMEOUT)
    if listing.error:
        raise ValueError(listing.error)
    parts = SECTION.split(listing.output)
    return cubin.read_bytes(), dict(zip(parts[1::2], parts[2::2], strict=True))


def programs():
    """Returns the paths of ptxas and nvdisasm, `None` for a missing one."""
    return tools.find_cuda("ptxas"), os.environ.get("NVDISASM") or tools.find_cuda("nvdisasm")
