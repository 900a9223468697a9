#!/usr/bin/env python3
"""Checks that ptxas's code of a counted loop executes the trip count that PTX defines, by running the machine code.

A small interpreter runs one thread of the kernels of `counted()`. It implements the instructions for counters and
guards that ptxas 12.8 to 13.5 emits for sm_80, sm_90 and sm_100. A load returns nothing; the number of executed
loads gives the iterations. Starts and bounds are near zero and near the least and greatest numbers. For each
comparison, type and step, `loop_turns.py` prints the number of (start, bound) pairs with a wrong trip count, and
the first such pair.
"""

import itertools
import os
import re
import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import command_line
import tools
from loop_kernels import Form, Forms

CAP = 48  # most iterations that are counted, both in PTX and in machine code
PARAMETERS = {"sm_80": 0x160, "sm_90": 0x210, "sm_100": 0x380}  # their address in the constant bank
COMPARE = {
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
}
IGNORED = {"NOP", "FFMA", "STG", "HFMA2", "BSSY", "BSYNC", "WARPSYNC"}
LINE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?)(U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")


def signed(value, bits=32):
    """Returns the signed number of the lowest bits, read as two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def code_of(listing):
    """Returns the decoded lines of each function, sorted by address."""
    functions, lines = {}, None
    for line in listing.splitlines():
        if match := re.match(r"\s*Function : (\S+)", line):
            lines = functions[match.group(1)] = []
        elif lines is not None and (match := LINE.match(line)):
            address, negated, guard, opcode, operands = match.groups()
            parts = [part.strip() for part in re.split(r",(?![^\[]*\])", operands)]
            lines.append((int(address, 16), (guard, bool(negated)) if guard else None, opcode, parts))
    return functions


class Thread:
    """The state of one thread: registers and predicates by name."""

    def __init__(self, lines, parameters, first=PARAMETERS["sm_90"]):
        self.lines, self.parameters, self.first = lines, parameters, first
        self.place = {line[0]: number for number, line in enumerate(lines)}
        self.registers, self.predicates = {}, {}

    def predicate(self, name):
        """Returns a predicate's value."""
        name, inverted = name.lstrip("!"), name.startswith("!")
        return (True if name in ("PT", "UPT") else self.predicates.get(name, False)) != inverted

    def value(self, name):
        """Returns the value of a 32-bit operand."""
        name = name.removesuffix(".reuse")
        if name.startswith(("-", "~")) and not name.startswith("-0x"):
            inner = self.value(name[1:])
            return (-inner if name[0] == "-" else ~inner) & 0xFFFFFFFF
        if match := re.match(r"c\[0x0\]\[(0x[0-9a-f]+)\]", name):
            return self.constant(int(match.group(1), 16))
        if name in ("RZ", "URZ"):
            return 0
        if re.match(r"-?0x|\d", name):
            return int(name, 0) & 0xFFFFFFFF
        return self.registers.get(name.split(".")[0], 0)

    def constant(self, address):
        """Returns a word of the constant bank; 0 if the word belongs to no parameter."""
        offset = address - self.first
        known = 0 <= offset < len(self.parameters)
        return struct.unpack_from("<I", self.parameters, offset)[0] if known else 0

    def put(self, name, value):
        """Writes a register."""
        if name not in ("RZ", "URZ"):
            self.registers[name] = value & 0xFFFFFFFF

    def turns(self, loads_of_a_turn):
        """Returns the number of iterations until the exit, at most CAP."""
        loads, number, steps = 0, 0, 0
        while loads < CAP * loads_of_a_turn and steps < CAP * 60:
            steps += 1
            _, guard, opcode, parts = self.lines[number]
            number += 1
            if guard and self.predicate(guard[0]) == guard[1]:
                continue
            name, *kinds = opcode.split(".")
            if name == "LDG":
                loads += 1
            elif name == "EXIT":
                return loads / loads_of_a_turn
            elif name == "BRA":
                conditions = [part for part in parts[:-1] if part]
                if all(self.predicate(part) for part in conditions):
                    number = self.place[int(parts[-1].split()[-1], 16)]
            elif name not in IGNORED:
                self.execute("LDC" if name in ("ULDC", "LDCU") else name.removeprefix("U"), kinds, parts)
        return CAP

    def execute(self, name, kinds, parts):
        """Executes an instruction that computes integers or predicates."""
        if name == "LDC":
            address = int(re.search(r"\]\[(0x[0-9a-f]+)\]", parts[1]).group(1), 16)
            self.put(parts[0], self.constant(address))
            if "64" in kinds:
                file, index = re.match(r"(U?R)(\d+)", parts[0]).groups()
                self.put(f"{file}{int(index) + 1}", self.constant(address + 4))
        elif name == "MOV":
            self.put(parts[0], self.value(parts[1]))
        elif name in ("IADD3", "VIADD"):
            self.add(kinds, parts)
        elif name == "IMAD":
            self.multiply(kinds, parts)
        elif name == "ISETP":
            self.compare(kinds, parts)
        elif name == "PLOP3":
            a, b, c = (self.predicate(part) for part in parts[2:5])
            index = 4 * a + 2 * b + c
            self.predicates[parts[0]] = bool(int(parts[5], 16) >> index & 1)
            self.predicates[parts[1]] = bool(int(parts[6], 16) >> index & 1)
        elif name == "SEL":
            self.put(parts[0], self.value(parts[1 if self.predicate(parts[3]) else 2]))
        elif name == "LOP3":
            values = [self.value(part) for part in parts[1:4]]
            self.put(parts[0], table(int(parts[4], 16), values))
        elif name == "FADD":
            self.put(parts[0], bits_of(self.single(parts[1]) + self.single(parts[2])))
        elif name == "FSETP":
            self.compare_floats(kinds, parts)
        elif name == "CS2R":
            self.put(parts[0], 0)
        else:
            raise NotImplementedError(f"{name} {kinds} {parts}")

    def add(self, kinds, parts):
        """Executes IADD3 with carries."""
        registers = [part for part in parts if not re.match(r"!?U?P(T|\d)$", part)]
        predicates = [part for part in parts if re.match(r"!?U?P(T|\d)$", part)]
        total = sum(self.value(part) for part in registers[1:])
        if "X" in kinds:
            carries = [part for part in predicates if parts.index(part) > parts.index(registers[-1])]
            total += sum(self.predicate(part) for part in carries)
            out = [part for part in predicates if parts.index(part) < parts.index(registers[1])]
        else:
            # -0 of a subtraction carries, because it is ~0 + 1
            total += sum(
                (1 << 32)
                for part in registers[1:]
                if part.startswith("-") and not part.startswith("-0x") and self.value(part) == 0
            )
            out = predicates
        if out and not out[0].endswith("PT"):
            self.predicates[out[0]] = total >> 32 != 0
        self.put(registers[0], total)

    def single(self, name):
        """Returns the value of a float operand."""
        if re.match(r"-?\d+(\.|e|$)", name):
            return float(name)
        return float_of(self.value(name))

    def compare_floats(self, kinds, parts):
        """Executes FSETP of numbers. Unordered comparisons need no distinction, because no operand is NaN."""
        result = COMPARE[kinds[0].lower().removesuffix("u")](self.single(parts[2]), self.single(parts[3]))
        other = self.predicate(parts[4])
        self.predicates[parts[0]] = (result or other) if "OR" in kinds else (result and other)

    def multiply(self, kinds, parts):
        """Executes the forms of IMAD."""
        if "WIDE" in kinds:
            raise NotImplementedError(f"IMAD {kinds} {parts}")
        total = self.value(parts[1]) * self.value(parts[2]) + self.value(parts[3])
        if "X" in kinds:
            total += self.predicate(parts[4])
        self.put(parts[0], total)

    def compare(self, kinds, parts):
        """Executes ISETP. With .EX, equal high words use the result for the low words."""
        a, b = self.value(parts[2]), self.value(parts[3])
        kind = kinds[0].lower()
        if "U32" not in kinds:
            a, b = signed(a), signed(b)
        if kind in ("t", "f"):
            result = kind == "t"
        elif "EX" in kinds:
            low = self.predicate(parts[5])
            if kind in ("ne", "eq"):
                result = (a != b or low) if kind == "ne" else (a == b and low)
            else:
                result = COMPARE[{"le": "lt", "ge": "gt"}.get(kind, kind)](a, b) or (a == b and low)
        else:
            result = COMPARE[kind](a, b)
        other = self.predicate(parts[4])
        joined = {"AND": result and other, "OR": result or other, "XOR": result != other}
        self.predicates[parts[0]] = next(joined[k] for k in kinds if k in joined)
        if parts[1] not in ("PT", "UPT"):
            self.predicates[parts[1]] = next(
                {"AND": not result and other, "OR": not result or other}[k] for k in kinds if k in joined
            )


def float_of(word):
    """Returns the float with the bits of a word."""
    return struct.unpack("<f", struct.pack("<I", word))[0]


def bits_of(number):
    """Returns the bits of the float nearest to a number."""
    return struct.unpack("<I", struct.pack("<f", number))[0]


def table(lookup, values):
    """Executes LOP3."""
    result = 0
    for index in range(8):
        if lookup >> index & 1:
            a, b, c = (v if index >> k & 1 else ~v for v, k in zip(values, (2, 1, 0), strict=True))
            result |= a & b & c
    return result & 0xFFFFFFFF


def expected(kernel, start, bound):
    """Returns the trip count that PTX defines, at most CAP."""
    if kernel.is_float:
        return expected_of_floats(kernel, start, bound)
    mask, turns = (1 << kernel.bits) - 1, 0
    while turns < CAP:
        start, turns = (start + kernel.step) & mask, turns + 1
        a, b = (signed(start, kernel.bits), signed(bound, kernel.bits)) if kernel.is_signed else (start, bound)
        if not COMPARE[kernel.compare](a, b):
            break
    return turns


def expected_of_floats(kernel, start, bound):
    """Returns the trip count that PTX defines for a float counter, at most CAP."""
    turns, counter, step = 0, float_of(start), float_of(bits_of(kernel.step))
    while turns < CAP:
        counter, turns = float_of(bits_of(counter + step)), turns + 1
        if not COMPARE[kernel.compare](counter, float_of(bound)):
            break
    return turns


@dataclass(frozen=True)
class Counted:
    """A kernel with a counter, and the counter's properties in PTX."""

    form: Form
    compare: str
    skip: str
    is_signed: bool
    bits: int
    step: int | float
    bound: int | None  # `None` if it is not a constant
    is_float: bool = False


def counted(guarded):
    """Returns kernels with all comparisons, types and steps. Counters that go down to zero also have variants with a
    constant bound."""
    kernels, every = [], Forms()
    for bits, sign, compare in itertools.product((32, 64), "sub", ("ne", "lt", "le", "gt", "ge")):
        if sign == "b" and compare != "ne":
            continue
        i, n, first = ("%i", "%n", "%s") if bits == 32 else ("%I", "%N", "%S")
        skip = {"ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}[compare]
        for step in (1, 2, 3, 4, 1 << (bits - 8)):
            ways = {"ne": (step, -step), "l": (step,), "g": (-step,)}
            for way in ways.get(compare) or ways[compare[0]]:
                for bound in (None, 0) if way < 0 else (None,):
                    name = f"{compare}_{sign}{bits}_{'down' if way < 0 else 'up'}_{step}" + (
                        "" if bound is None else "_to_0"
                    )
                    type_, to = f"{compare}.{sign}{bits}", n if bound is None else bound
                    ahead = f"setp.{skip}.{sign}{bits} %q, {i}, {to}; @%q bra EXIT;" if guarded else ""
                    latch = f"mov.b{bits} {'%k' if bits == 32 else '%K'}, {way}; "
                    latch += (
                        f"add.s{bits} {i}, {i}, {'%k' if bits == 32 else '%K'}; setp.{type_} %p, {i}, {to}; @%p bra H;"
                    )
                    every.loop("turns", name, "", latch, before=f"mov.b{bits} {i}, {first}; {ahead}")
                    kernels.append(Counted(every[-1], compare, skip, sign == "s", bits, way, bound))
    for step in (0.1, 1.0):
        name, word = f"lt_f32_up_{str(step).replace('.', '_')}", f"0f{bits_of(step):08X}"
        ahead = "setp.ge.f32 %q, %g, %f; @%q bra EXIT;" if guarded else ""
        latch = f"add.f32 %g, %g, {word}; setp.lt.f32 %p, %g, %f; @%p bra H;"
        every.loop("turns", name, "", latch, before=f"mov.b32 %g, %s; mov.b32 %f, %n; {ahead}")
        kernels.append(Counted(every[-1], "lt", "ge", False, 32, step, None, True))
    return kernels


def pairs_of_floats(step):
    """Returns starts that are multiples of the step, and bounds up to forty steps above them."""
    tenths = [(start, start + turns) for start in range(0, 100, 3) for turns in range(1, 40)]
    return [(bits_of(start * step), bits_of(bound * step)) for start, bound in tenths]


def pairs(bits, step):
    """Returns (start, bound) pairs. Bounds are near zero, near the least number, and halfway between these. Starts are
    some steps before the bound or far away."""
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    found = set()
    for bound in [base + k for base in (0, half) for k in range(-4, 5)] + [half // 2, half + half // 2]:
        for turns in (0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17):
            found.add(((bound - turns * step) & mask, bound & mask))
        for start in (0, 1, half - 1, half, half + 1, half // 2, bound - 1 - 5 * step, bound + 1 - 5 * step):
            found.add((start & mask, bound & mask))
    return sorted(found)


def main():
    parser = command_line.parser_of(__doc__)
    parser.add_argument("--ptxas", default=tools.find_cuda("ptxas"))
    parser.add_argument("--cpu", choices=PARAMETERS, default="sm_90")
    parser.add_argument("--guarded", action="store_true", help="enter the loop only if it has an iteration")
    parser.add_argument("--form", default="")
    parser.add_argument("--all", action="store_true", help="print every pair with a wrong trip count")
    arguments = parser.parse_args()
    kernels = [kernel for kernel in counted(arguments.guarded) if re.search(arguments.form, kernel.form.name)]
    text = f".version 8.7\n.target {arguments.cpu}\n.address_size 64\n" + "".join(
        kernel.form.text for kernel in kernels
    )
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "in.ptx"), os.path.join(folder, "out.cubin")
        Path(source).write_text(text, encoding="utf8")
        outcome = tools.run([arguments.ptxas, "-O3", f"-arch={arguments.cpu}", source, "-o", cubin], 600)
        listing = tools.run([tools.find_cuda("cuobjdump"), "-sass", cubin], 600)
    if outcome.error or listing.error:
        sys.exit(outcome.error or listing.error)
    code = code_of(listing.output)
    for kernel in kernels:
        tried, wrong = compared(kernel, code[kernel.form.name], arguments)
        first = "; ".join(
            f"start {shown(start, kernel)}, bound {shown(bound, kernel)}: {should} iterations, machine code {does:g}"
            for start, bound, should, does in (wrong if arguments.all else wrong[:1])
        )
        print(f"{kernel.form.name.removeprefix('turns_')}\t{len(wrong)} of {tried}\t{first}", flush=True)


def shown(word, kernel):
    """Formats a start or a bound."""
    return f"{float_of(word):.8g}" if kernel.is_float else f"{word:#x}"


def compared(kernel, lines, arguments):
    """Returns the number of tried (start, bound) pairs, and the pairs with a wrong trip count."""
    tried, wrong = 0, []
    for start, bound in pairs_of_floats(kernel.step) if kernel.is_float else pairs(kernel.bits, kernel.step):
        if kernel.bound not in (None, bound):
            continue
        a, b = (signed(start, kernel.bits), signed(bound, kernel.bits)) if kernel.is_signed else (start, bound)
        should = (
            0
            if arguments.guarded and not kernel.is_float and COMPARE[kernel.skip](a, b)
            else expected(kernel, start, bound)
        )
        words = (0, 0, 0, bound & 0xFFFFFFFF, start & 0xFFFFFFFF, bound, start, 0)
        does = Thread(lines, struct.pack("<QQQIIQQQ", *words), PARAMETERS[arguments.cpu]).turns(2)
        tried += 1
        if does != should:
            wrong.append((start, bound, should, does))
    return tried, wrong


if __name__ == "__main__":
    main()
