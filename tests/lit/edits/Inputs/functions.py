"""functions.py BODY EDITS [FIRST]: prints a .mir file with one function for each function in EDITS. If EDITS is a
number, prints as many functions, numbered from FIRST.

BODY is machine code after IR, in which NAME is replaced by the function's name. A line of the IR with NAME is
repeated for each function. A test therefore contains its function only once, and each list of edits gets a copy of
it.
"""

import re
import sys

with open(sys.argv[1]) as body:
    ir, _, function = body.read().partition("...\n")
if sys.argv[2].isdigit():
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    names = [f"k{number}" for number in range(first, first + int(sys.argv[2]))]
else:
    with open(sys.argv[2]) as edits:
        names = re.findall(r'^function "(\w+)"', edits.read(), re.MULTILINE)
for line in ir.splitlines(keepends=True):
    copies = [line.replace("NAME", name) for name in names] if "NAME" in line else [line]
    print(*copies, sep="", end="")
print("...")
for name in names:
    print(function.replace("NAME", name), end="")
