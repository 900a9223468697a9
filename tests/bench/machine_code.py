"""Machine code as listed by nvdisasm, with the registers that each instruction reads, writes and leaves live."""

import re
from dataclasses import dataclass, field

import tools

FUNCTION = re.compile(r"\.text\.(\S+):")
LABEL = re.compile(r"\s*(\.L_x_\d+):")
INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(@!?U?P\w+\s+)?([A-Z][\w.]*)(.*?);")
TARGET = re.compile(r"`\((\.L_x_\d+)\)")
ENDS_BLOCK = ("BRA", "BRX", "JMP", "EXIT", "RET", "CALL", "BSYNC", "BREAK")


@dataclass
class Instruction:
    """An instruction. A register is a pair of its file, in nvdisasm's names (GPR, PRED, UGPR, UPRED), and its
    number."""

    opcode: str
    is_guarded: bool = False
    reads: set = field(default_factory=set)
    writes: set = field(default_factory=set)
    live: set = field(default_factory=set)
    target: str = ""

    def is_any(self, *names):
        """Whether the opcode is one of `names`, up to its first dot."""
        return self.opcode.partition(".")[0] in names

    @property
    def leaves_under_guard(self):
        """Whether this is a guarded EXIT that other code follows. ptxas makes such an EXIT from guarded stores at the
        end."""
        return self.is_guarded and self.is_any("EXIT")


@dataclass
class Block:
    """A basic block."""

    label: str
    instructions: list


def disassembled(cubin, nvdisasm, timeout):
    """Returns the blocks of each function of a cubin by the function's name, and an error message."""
    outcome = tools.run([nvdisasm, "--print-life-ranges", "--print-code", cubin], timeout)
    return ({} if outcome.error else functions_of(outcome.output)), outcome.error


def functions_of(text):
    """Returns the blocks of each function, parsed from the output of `nvdisasm --print-life-ranges`."""
    functions, blocks, files, columns = {}, None, [], {}
    for line in text.splitlines():
        code, _, registers = line.partition("// |")
        if not registers:
            continue
        begin = len(line) - len(registers) - 1
        if re.search(r"\|\s+#", line):
            columns = columns_of(line, begin, files)
        elif not code.strip() and "GPR" in registers:
            files = re.findall(r"[A-Z]+", registers)
        elif match := FUNCTION.match(code):
            blocks = functions[match.group(1)] = [Block("", [])]
        elif blocks is not None and (match := LABEL.match(code)):
            blocks.append(Block(match.group(1), []))
        elif blocks is not None and (match := INSTRUCTION.match(code)):
            instruction = instruction_of(match, line, columns)
            blocks[-1].instructions.append(instruction)
            if instruction.is_any(*ENDS_BLOCK) and not instruction.leaves_under_guard:
                blocks.append(Block("", []))
    return {name: [block for block in found if block.instructions] for name, found in functions.items()}


def columns_of(line, begin, files):
    """Returns the register of each column. The last digit of a register's number, in the line above, is in the
    register's column."""
    bars = [place for place in range(begin, len(line)) if line[place] == "|"]
    columns = {}
    for file, start, end in zip(files, bars, bars[1:], strict=False):
        for match in re.finditer(r"\d+", line[start:end]):
            columns[start + match.end() - 1] = (file, int(match.group()))
    return columns


def instruction_of(match, line, columns):
    """Parses an instruction and its marks: `^` is written, `v` read, `x` both, `:` live."""
    guard, opcode, operands = match.groups()
    target = TARGET.search(operands)
    instruction = Instruction(opcode, guard is not None, target=target.group(1) if target else "")
    for place, register in columns.items():
        mark = line[place] if place < len(line) else " "
        if mark in "vx":
            instruction.reads.add(register)
        if mark in "^x":
            instruction.writes.add(register)
        if mark != " ":
            instruction.live.add(register)
    return instruction


def has_loop(blocks):
    """Whether a branch leads back. A branch to itself at a function's end is padding."""
    place = {block.label: number for number, block in enumerate(blocks) if block.label}
    for number, block in enumerate(blocks):
        last = block.instructions[-1]
        if place.get(last.target, len(blocks)) <= number and len(block.instructions) > 1:
            return True
    return False
