#!/usr/bin/env python3
"""Shows which loops ptxas unrolls: a kernel for each form of a loop, and the copies of its body in the machine code.

`loop_forms.py --ptxas PROGRAM...` prints a table with the prediction and with a column for each ptxas, and writes
it to --output. A result lists the copies of the body in each innermost loop, the most copies first, and then the
copies outside of loops. `4|1` is a main loop of four copies and a remainder loop of one. `4+3` has a straight-line
remainder, `+8` has no loop left, and `1` is a loop that is not unrolled. Copies are counted by markers. A question
mark means that the number of markers is not a multiple of the markers in one body.
"""

import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import command_line
import tools
from loop_bodies import bodies, lengths, limits
from loop_branches import guards, last_branch, pragmas, shapes
from loop_counters import bounds_of, counters, known, steps
from loop_kernels import Forms
from ptxas import SASS_FUNCTION, parse_log

INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)(.*?);")
TARGET = re.compile(r"0x([0-9a-f]+)\s*$")
VERSION = re.compile(r"V(\d+\.\d+\.\d+)")


@dataclass(frozen=True)
class Instruction:
    """An instruction of the machine code."""

    address: int
    opcode: str
    target: int | None


def forms():
    """Returns all forms."""
    every = Forms()
    for add in (last_branch, guards, shapes, counters, steps, bounds_of, known, bodies, lengths, limits, pragmas):
        add(every)
    return every


def functions_of(listing):
    """Returns the instructions of each function, parsed from the output of `cuobjdump -sass`."""
    functions, instructions = {}, None
    for line in listing.splitlines():
        if match := SASS_FUNCTION.match(line):
            instructions = functions[match.group(1)] = []
        elif instructions is not None and (match := INSTRUCTION.match(line)):
            address, opcode, operands = match.groups()
            target = TARGET.search(operands) if opcode.startswith("BRA") else None
            instructions.append(Instruction(int(address, 16), opcode, int(target.group(1), 16) if target else None))
    return functions


def copies_of(instructions, marker, each):
    """Returns the copies of a body in the format of a result. `each` instructions of the body match the marker."""
    marks = [i.address for i in instructions if re.match(marker, i.opcode)]
    edges = [(i.target, i.address) for i in instructions if i.target is not None and i.target < i.address]
    edges = [(start, end) for start, end in edges if any(start <= mark <= end for mark in marks)]
    inner = [
        (start, end)
        for start, end in edges
        if not any((s, e) != (start, end) and start <= s and e <= end for s, e in edges)
    ]
    counts = [sum(start <= mark <= end for mark in marks) for start, end in inner]
    straight = sum(not any(start <= mark <= end for start, end in inner) for mark in marks)
    loops = "|".join(number_of(count, each) for count in sorted(counts, reverse=True) if count)
    return loops + (f"+{number_of(straight, each)}" if straight else "") or "0"


def number_of(count, each):
    """Returns the number of copies, with a question mark if markers are left over."""
    return f"{count // each}" if count % each == 0 else f"{count}/{each}?"


def factor_of(result):
    """Returns the copies in the loop with the most copies; `all` if no loop is left."""
    return "all" if result.startswith("+") else re.split(r"[|+]", result)[0]


def version_of(program):
    """Returns the release of a ptxas."""
    return VERSION.search(tools.run([program, "--version"], 60).output).group(1)


def results_of(program, cpu, wanted):
    """Returns the result of each form, followed by `spills N` if ptxas spills N bytes."""
    results = {}
    for arguments in dict.fromkeys(form.arguments for form in wanted):
        group = [form for form in wanted if form.arguments == arguments]
        results |= assembled(program, cpu, arguments, group)
    return results


def assembled(program, cpu, arguments, group):
    """Returns the results of forms with the same arguments. If ptxas refuses the module, it refuses at least one of
    the forms. Each half of the forms is then tried separately."""
    functions = "".join(dict.fromkeys(form.functions for form in group))
    text = f".version 8.7\n.target {cpu}\n.address_size 64\n{functions}" + "".join(form.text for form in group)
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "in.ptx"), os.path.join(folder, "out.cubin")
        Path(source).write_text(text, encoding="utf8")
        outcome = tools.run([program, "-v", "-O3", f"-arch={cpu}", *arguments, source, "-o", cubin], 600)
        if outcome.error:
            if len(group) == 1:
                print(f"{group[0].name}: {outcome.error}", file=sys.stderr)
                return {group[0].name: "refused"}
            half = len(group) // 2
            parts = (group[:half], group[half:])
            return {n: r for part in parts for n, r in assembled(program, cpu, arguments, part).items()}
        listing = tools.run([tools.find_cuda("cuobjdump"), "-sass", cubin], 600)
    if listing.error:
        sys.exit(listing.error)
    code, said = functions_of(listing.output), parse_log(outcome.output)
    results = {}
    for form in group:
        result = copies_of(code[form.name], form.marker, form.each)
        spilled = said[form.name]["stores"] + said[form.name]["loads"]
        results[form.name] = result + (f" spills {spilled}" if spilled else "")
    return results


def main():
    parser = command_line.parser_of(__doc__)
    parser.add_argument("--ptxas", nargs="+", default=[tools.find_cuda("ptxas")])
    parser.add_argument("--cpu", default="sm_90")
    parser.add_argument("--form", default="", help="only forms whose group or name matches this expression")
    parser.add_argument("--output", help="write the table to this file, separated by tabs")
    parser.add_argument("--text", action="store_true", help="only print the kernels")
    arguments = parser.parse_args()
    wanted = [form for form in forms() if re.search(arguments.form, f"{form.group}/{form.name}")]
    if arguments.text:
        print("".join(form.text for form in wanted))
        return
    columns = {version_of(program): results_of(program, arguments.cpu, wanted) for program in arguments.ptxas}
    rows = [["group", "form", "predicted", *columns]]
    for form in wanted:
        rows.append([form.group, form.name, form.predicted, *(column[form.name] for column in columns.values())])
    table = "".join("\t".join(row) + "\n" for row in rows)
    if arguments.output:
        Path(arguments.output).write_text(table, encoding="utf8")
    print(table, end="")
    last = list(columns.values())[-1]
    wrong = [form.name for form in wanted if form.predicted and factor_of(last[form.name]) != form.predicted]
    print(f"{len(wanted)} forms; {len(wrong)} not as predicted: {' '.join(wrong)}", file=sys.stderr)


if __name__ == "__main__":
    main()
