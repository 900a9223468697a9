"""Prints the instructions of PTX without register numbers and debug information."""

import re
import sys
from pathlib import Path

body = re.search(r"^\{.*?^\}", Path(sys.argv[1]).read_text(encoding="utf8"), re.MULTILINE | re.DOTALL)
for line in body[0].splitlines():
    if not re.match(r"\s*(\.loc|\.reg|//|\$L__(tmp|func))", line):
        print(re.sub(r"%([a-z]+)\d+", r"%\1", line))
