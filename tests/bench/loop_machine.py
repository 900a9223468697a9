"""The machine code of a loop in PTX: copies of the body, instructions, loads in flight."""

import os
import re
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import machine_code
import tools
from ptxas import parse_log

LINE = re.compile(r'\s*//## File "\.nv_debug_ptx_txt", line (\d+)')
PAYLOAD = re.compile(
    r"^\s*(?:@!?%p\d+\s+)?(?:ld\.(?!param)|st\.(?!param)|atom|red|tex|fma|add\S*\.f|mul\S*\.f|mma|ex2)"
)
LOADS = ("LDG", "LD", "LDS", "TEX", "TLD", "LDSM")
TIMEOUT = 600


@dataclass(frozen=True)
class Placed:
    """An instruction, and the PTX line from which ptxas made it."""

    line: int
    label: str
    code: machine_code.Instruction


@dataclass(frozen=True)
class Machine:
    """The result of ptxas for a kernel."""

    registers: int
    spilled: int
    code: tuple

    @property
    def instructions(self):
        """The number of instructions, without NOPs."""
        return sum(not placed.code.is_any("NOP") for placed in self.code)

    @property
    def shown(self):
        """The opcodes and registers of the code. They do not depend on the names of labels."""
        return [(placed.code.opcode, placed.code.reads, placed.code.writes) for placed in self.code]


@dataclass(frozen=True)
class Unrolled:
    """The part of the machine code that executes the most iterations of a loop at once. The part is straight-line code
    if no loop is left."""

    copies: int
    instructions: int
    in_flight: int
    is_straight: bool

    @property
    def of_a_turn(self):
        """Instructions per copy of the body."""
        return self.instructions / self.copies


def assembled(text, name, ptxas, cpu):
    """Returns (Machine, error) of the single kernel of a PTX module."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "in.ptx"), os.path.join(folder, "out.cubin")
        Path(source).write_text(text, encoding="utf8")
        outcome = tools.run([ptxas, "-v", "-lineinfo", "-O3", f"-arch={cpu}", source, "-o", cubin], TIMEOUT)
        if outcome.error:
            return None, outcome.error
        nvdisasm = tools.find_cuda("nvdisasm")
        blocks, error = machine_code.disassembled(cubin, nvdisasm, TIMEOUT)
        lined = tools.run([nvdisasm, "-gp", "--print-code", cubin], TIMEOUT)
    if error or lined.error:
        return None, error or lined.error
    said, lines = parse_log(outcome.output)[name], lines_of(lined.output, name)
    code = [
        Placed(0, block.label if number == 0 else "", instruction)
        for block in blocks[name]
        for number, instruction in enumerate(block.instructions)
    ]
    code = tuple(replace(placed, line=line) for placed, line in zip(code, lines, strict=False))  # only NOPs follow
    return Machine(said["registers"], said["stores"] + said["loads"], code), ""


def lines_of(listing, name):
    """Returns the line of PTX of each instruction of a function."""
    lines, line, is_in = [], 0, False
    for text in listing.splitlines():
        if match := machine_code.FUNCTION.match(text):
            is_in = match.group(1) == name
        elif match := LINE.match(text):
            line = int(match.group(1))
        elif is_in and machine_code.INSTRUCTION.match(text):
            lines.append(line)
    return lines


def innermost(code):
    """Returns (first, last) of each innermost loop."""
    place = {placed.label: number for number, placed in enumerate(code) if placed.label}
    edges = [(place.get(placed.code.target, number), number) for number, placed in enumerate(code)]
    edges = [edge for edge in edges if edge[0] < edge[1]]
    return [e for e in edges if not any(o != e and e[0] <= o[0] and o[1] <= e[1] for o in edges)]


def unrolled(machine, text, lines):
    """Returns the machine code for a loop. `lines` are the loop's lines of the PTX."""
    code, texts = machine.code, text.split("\n")
    payload = {line for line in lines if PAYLOAD.match(texts[line - 1])} or set(lines)
    found = []
    for first, last in innermost(code):
        body = code[first : last + 1]
        if 2 * sum(placed.line in lines for placed in body) > len(body):
            found.append(part_of(body, payload, is_straight=False))
    straight = [placed for placed in code if placed.line in lines]
    if not found and straight:
        found.append(part_of(straight, payload, is_straight=True))
    return max(found, key=lambda part: (part.copies, part.instructions), default=None)


def part_of(body, payload, is_straight):
    """Measures a part of the code. Each kind of instruction of each payload line has a count; the number of copies is
    the most common of these counts."""
    work = Counter((placed.line, placed.code.opcode) for placed in body if placed.line in payload)
    often = Counter(work.values())
    copies = max(often, key=lambda count: (often[count], count), default=1)
    instructions = sum(not placed.code.is_any("NOP") for placed in body)
    return Unrolled(copies, instructions, in_flight([placed.code for placed in body], not is_straight), is_straight)


def in_flight(instructions, is_loop):
    """Returns the most loads in flight: a load is in flight until an instruction reads or overwrites its result. The
    body of a loop is counted as two iterations in a row."""
    most, waiting = 0, []
    for instruction in instructions * (2 if is_loop else 1):
        touched = instruction.reads | instruction.writes
        waiting = [results for results in waiting if not results & touched]
        if instruction.is_any(*LOADS):
            waiting.append({register for register in instruction.writes if register[0] == "GPR"})
            most = max(most, len(waiting))
    return most
