"""Counts the contents of a PTX module of llc: moves by family, declared registers, bytes.

The parser is line based and expects llc's layout: a brace in the first column opens or closes a body, and two
comments enclose inline assembly. Moves inside inline assembly come from the user's source and count in no family,
but the registers that they write count as defined.
"""

import re
from collections import Counter

# The counts of a function, in the order of the tables
COUNTS = {
    "instructions": "instructions without inline assembly",
    "reg_moves": "moves from register to register",
    "imm_copies": "of these: copies whose source is defined once, by a move of an immediate",
    "true_copies": "of these: all other copies",
    "imm_moves": "moves of an immediate",
    "moves": "moves from register to register and of immediates",
    "pack": "moves of several registers into a wider register",
    "unpack": "moves of a wide register into several",
    "round_trips": "unpacks of a register that one pack defines",
    "symbol_moves": "moves of an address, a parameter's name or the stack pointer",
    "special_moves": "moves of a special register",
    "weighted_copies": "true copies, each 10 to the power of its loop depth",
    "weighted_moves": "moves from register to register and of immediates, weighted alike",
    "registers": "declared registers",
    "bytes": "length of the body",
}

HEADER = re.compile(r"^(?:\.(?:visible|weak|extern|common)\s+)*\.(entry|func)\s*(?:\([^)]*\)\s*)?([\w$.]+)")
ENTRY = re.compile(r"^\s*(?:\.visible |\.weak )?\s*\.entry ([\w$.]+)")
REGISTERS = re.compile(r"^\s*\.reg\s+\.\w+\s+%\w+<(\d+)>")
STATEMENT = re.compile(r"^(?:@!?%\w+\s+)?([a-z][\w.:]*)\s*(.*)$", re.S)
REGISTER = re.compile(r"%(?:p|rs|r|rd|rq|f|fd|h|hh)\d+\b")
WHOLE_REGISTER = re.compile(r"^%(?:p|rs|r|rd|rq|f|fd|h|hh)\d+$")
IMMEDIATE = re.compile(r"^(?:-?\d+(?:\.\d+)?U?|-?0[xX][0-9A-Fa-f]+|0[fFdD][0-9A-Fa-f]+|true|false)$")
DEPTH = re.compile(r"Depth=(\d+)")
NO_RESULT = ("st", "bra", "call", "red", "bar", "barrier", "ret", "exit", "trap", "membar", "fence", "prefetch", "cp")
DEEPEST = 6  # deeper loops have this weight, so that one loop cannot dominate the sum


def functions(text):
    """Yields (name, is a kernel, body's lines) of each function that has a body."""
    head, body, in_asm = None, None, False
    for line in text.split("\n"):
        if body is None:
            match = HEADER.match(line)
            if match:
                head = match
            if line.startswith("{") and head:
                body = []
            elif line.rstrip().endswith(";") and not line.startswith("\t"):
                head = None
            continue
        if "inline asm" in line:
            in_asm = "begin" in line
        if line.startswith("}") and not in_asm:
            yield head.group(2), head.group(1) == "entry", body
            head, body = None, None
        else:
            body.append(line)


def only(text, name):
    """Removes all kernels except `name` from PTX. Everything else stays. Inside a kernel, the closing brace of a scope
    may also be in the first column."""
    lines, skips, depth = [], False, 0
    for line in text.split("\n"):
        if match := ENTRY.match(line):
            skips = match.group(1) != name
        if not skips:
            lines.append(line)
        code = line.split("//")[0]
        depth += code.count("{") - code.count("}")
        if depth == 0 and line.startswith("}"):
            skips = False
    return "\n".join(lines)


def count(text):
    """Counts every function of a module: {name: {"entry": bool, family: number}}."""
    return {name: {"entry": entry, **count_body(lines)} for name, entry, lines in functions(text)}


def count_body(lines):
    """Counts one function's body."""
    counts = Counter(dict.fromkeys(COUNTS, 0))
    counts["bytes"] = sum(map(len, lines)) + len(lines)
    definitions = Counter()
    constants, packs = set(), set()  # registers defined by a move of an immediate, by a pack
    copies, unpacks = [], []  # (source, weight)
    for statement, depth, in_asm in statements(lines):
        if statement.startswith("."):
            match = REGISTERS.match(statement)
            counts["registers"] += int(match.group(1)) - 1 if match else 0
            continue
        match = STATEMENT.match(statement)
        if not match:
            continue
        base = match.group(1).partition(".")[0]
        destination, source = split_destination(match.group(2))
        if base not in NO_RESULT:
            definitions.update(REGISTER.findall(destination))
        if in_asm:
            continue
        counts["instructions"] += 1
        if base != "mov":
            continue
        weight = 10 ** min(depth, DEEPEST)
        family = family_of(destination, source)
        counts[family] += 1
        if family == "reg_moves":
            copies.append((source, weight))
            counts["weighted_moves"] += weight
        elif family == "imm_moves":
            constants.add(destination)
            counts["weighted_moves"] += weight
        elif family == "pack":
            packs.add(destination)
        elif family == "unpack":
            unpacks.append(source)
    for source, weight in copies:
        if source in constants and definitions[source] == 1:
            counts["imm_copies"] += 1
        else:
            counts["true_copies"] += 1
            counts["weighted_copies"] += weight
    counts["round_trips"] = sum(1 for source in unpacks if source in packs and definitions[source] == 1)
    counts["moves"] = counts["reg_moves"] + counts["imm_moves"]
    return dict(counts)


def statements(lines):
    """Yields (statement, loop depth from llc's comments, whether the statement is inline assembly)."""
    depth, in_asm = 0, False
    for line in lines:
        if "inline asm" in line:
            in_asm = "begin" in line
            continue
        code, _, comment = line.partition("//")
        if code.startswith("$L") or comment.startswith(" %bb."):
            depth = 0
        if "Depth=" in comment:
            depth = max([depth, *map(int, DEPTH.findall(comment))])
        for statement in code.split(";"):
            if statement := strip_scope(statement):
                yield statement, depth, in_asm


def strip_scope(statement):
    """Removes a label and the braces of a scope from a statement; braces of a register list stay."""
    statement = statement.strip()
    while statement and (statement[0] in "{}" or statement.startswith("$L")):
        is_brace = statement[0] in "{}"
        statement = (statement[1:] if is_brace else statement.partition(":")[2]).lstrip()
    return statement


def split_destination(operands):
    """Splits operands at the first comma outside of braces."""
    operands = operands.strip()
    start = operands.find("}") if operands.startswith("{") else 0
    comma = operands.find(",", start)
    if comma < 0:
        return operands, ""
    return operands[:comma].strip(), operands[comma + 1 :].strip()


def family_of(destination, source):
    """Returns the family, one of COUNTS, of a `mov` with these operands."""
    if destination.startswith("{"):
        return "unpack"
    if source.startswith("{"):
        return "pack"
    if WHOLE_REGISTER.match(source):
        return "reg_moves"
    if IMMEDIATE.match(source):
        return "imm_moves"
    if source.startswith("%") and source not in ("%SP", "%SPL"):
        return "special_moves"
    return "symbol_moves"
