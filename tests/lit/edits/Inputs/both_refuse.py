"""both_refuse.py SHIM CORE: checks that the core refuses all edits that the shim refuses, and that both name the same
edit.

SHIM has a warning for each function whose edits the shim refuses. CORE has the warnings of a run in which the core
checks the edits first: by its own rules for edits, or by a proof that the edited function computes something else.
"""

import re
import sys

# Only LLVM's tables have the class and the kind of constant that an opcode writes. The core does not have these tables.
KNOWN_TO_LLVM_ALONE = {"constant_of_another_class", "float_as_integer", "integer_as_float"}


def refusals(path):
    """{function: (whether the core refused it, the number of the edit or None)}"""
    with open(path) as file:
        lines = re.findall(r"kernel '(\w+)': (.*)", file.read())
    edit = {name: re.search(r"\bedit (\d+)\b", text) for name, text in lines}
    return {name: (text.startswith("the checker finds"), edit[name] and edit[name][1]) for name, text in lines}


shim, core = refusals(sys.argv[1]), refusals(sys.argv[2])
assert shim and shim.keys() == core.keys(), shim.keys() ^ core.keys()
by_shim_alone = {name for name, (by_core, _) in core.items() if not by_core}
assert by_shim_alone == KNOWN_TO_LLVM_ALONE & shim.keys(), by_shim_alone ^ KNOWN_TO_LLVM_ALONE
for name, (_, edit) in core.items():
    assert edit is None or shim[name][1] is None or edit == shim[name][1], f"{name}: {edit}, not {shim[name][1]}"
