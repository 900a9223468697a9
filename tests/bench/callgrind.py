"""Reads the call graph of a callgrind profile.

Debian's libLLVM keeps only its exported symbols. Callgrind identifies other functions by their addresses, so the
graph is complete. A function without a name is recognised by the functions that it calls.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field

NAMED = re.compile(r"^(c?fn|c?ob)=\((\d+)\)(?: (.*))?$")


@dataclass
class Profile:
    """A call graph. A function is a pair (name of the object file, name of the function)."""

    total: int = 0
    calls: dict = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))  # caller → callee → instructions

    def callees(self, name):
        """Returns the callees of all functions with this name, each with the instructions executed in the callee and
        in its own callees."""
        found = defaultdict(int)
        for caller, callees in self.calls.items():
            if caller[1] == name:
                for callee, cost in callees.items():
                    found[callee] += cost
        return found

    def cost_of(self, prefixes):
        """Returns the instructions in functions whose names begin with a prefix, including callees. Only calls from
        other functions count."""
        edges = (
            (caller, callee, cost) for caller, of_caller in self.calls.items() for callee, cost in of_caller.items()
        )
        return sum(
            cost
            for caller, callee, cost in edges
            if callee[1].startswith(prefixes) and not caller[1].startswith(prefixes)
        )

    def reaches(self, start, name):
        """Whether a function calls a function with this name, directly or through functions without a name."""
        todo, seen = [start], {start}
        while todo:
            for callee in self.calls.get(todo.pop(), ()):
                if callee[1] == name:
                    return True
                if callee not in seen and callee[1].startswith("0x"):
                    seen.add(callee)
                    todo.append(callee)
        return False


def read(path):
    """Reads a callgrind.out file."""
    profile, names = Profile(), {"fn": {}, "ob": {}}
    function, binary, callee, callee_binary = None, "", None, None
    after_calls = False
    with open(path, encoding="utf8", errors="replace") as file:
        for line in file:
            line = line.rstrip("\n")
            if match := NAMED.match(line):
                kind, number, name = match.groups()
                table = names[kind[-2:]]
                if name is not None:
                    table[number] = name
                if kind == "fn":
                    function = table[number]
                elif kind == "ob":
                    binary = table[number]
                elif kind == "cfn":
                    callee = table[number]
                else:
                    callee_binary = table[number]
            elif line.startswith("calls="):
                after_calls = True
            elif after_calls:
                cost = int(line.split()[-1])
                callee_key = (base_name(callee_binary or binary), callee)
                profile.calls[base_name(binary), function][callee_key] += cost
                after_calls, callee_binary = False, None
            elif line.startswith(("summary:", "totals:")):
                profile.total = int(line.split()[1])
    return profile


def base_name(path):
    return path.rpartition("/")[2]
