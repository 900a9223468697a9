"""refused_part.py COUNT MESSAGES: checks that the edits of some of COUNT functions with random edits are refused, for
many reasons, and that others are accepted. Otherwise the test would check little.

MESSAGES has a warning for each function whose edits are refused.
"""

import re
import sys

with open(sys.argv[2]) as file:
    reasons = re.findall(r"kernel '\w+': (?:edit \d+ )?(.*?)(?:: %\d+)?$", file.read(), re.MULTILINE)
count = int(sys.argv[1])
print(len(reasons), "of", count, "are refused, for", len(set(reasons)), "reasons")
assert count / 2 < len(reasons) < count * 19 / 20, len(reasons)
assert len(set(reasons)) > 60, sorted(set(reasons))
# Reasons for which an inserted instruction of the core's table, or inserted inline assembly, is refused.
inserted = {
    "no such instruction, or this LLVM lacks its opcode",
    "no such register, or none of a known class",
    "the instruction takes another operand",
    "the opcode accesses memory in another way",
    "no such address space, size or alignment",
    "the text names an operand that the instruction's own does not",
}
missing = {reason for reason in inserted if not any(text.endswith(f"): {reason}") for text in reasons)}
assert not missing, missing
