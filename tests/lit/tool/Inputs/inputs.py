"""Passes every kind of input to every command, as a file with a wrong extension and on standard input.

inputs.py NVPTX-RA FOLDER ASSEMBLY: FOLDER has the files that LLVM and the tool created.
"""

import gzip
import pathlib
import subprocess
import sys

TOOL, FOLDER, ASSEMBLY = sys.argv[-3], pathlib.Path(sys.argv[-2]), pathlib.Path(sys.argv[-1])
TOOL = [*sys.argv[1:-3], TOOL]

ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00%s\x00" + bytes(44)
WRAPPER = 0x0B17C0DE.to_bytes(4, "little")


def wrapped(bitcode):
    numbers = [0, 20, len(bitcode), 0]
    return WRAPPER + b"".join(number.to_bytes(4, "little") for number in numbers) + bitcode


# For each kind: its content, and its name in messages.
KINDS = {
    "assembly": (ASSEMBLY.read_bytes(), "LLVM IR as text"),
    "bitcode": ((FOLDER / "bitcode").read_bytes(), "bitcode"),
    "wrapper": (wrapped((FOLDER / "bitcode").read_bytes()), "bitcode"),
    "mir": ((FOLDER / "mir").read_bytes(), "machine code (.mir)"),
    "functions": (b"some warning\n" + (FOLDER / "functions").read_bytes(), "functions in text form (.mfv)"),
    "problem": ((FOLDER / "problem").read_bytes(), "an allocation problem"),
    "ptx": ((FOLDER / "ptx").read_bytes(), "PTX"),
    "source": (b"// A kernel\n#include <cuda.h>\n", "C++ or CUDA"),
    "json": (b'{"kernels": []}\n', "JSON"),
    "cubin": (ELF % b"\xbe", "machine code for a GPU (cubin)"),
    "object": (ELF % b"\x3e", "an object file or program (ELF)"),
    "fatbin": (b"\x50\xed\x55\xba\x01\x00\x10\x00" + bytes(40), "a fat binary"),
    "gzip": (gzip.compress(ASSEMBLY.read_bytes()), "compressed"),
    "empty": (b"", "empty"),
    "binary": (b"\x00\x01\xfe\xff", "binary data of unknown kind"),
}
IR = {"assembly", "bitcode", "wrapper"}
FUNCTIONS = IR | {"mir", "ptx", "functions"}
PASS = "-passes=machine-function(print<nvptx-ra-view>)"

# For each command: its arguments around the input, the kinds it reads, and their description in its message.
SAYS_IR = "reads LLVM IR as text or bitcode"
SAYS_FUNCTIONS = "reads LLVM IR as text, bitcode, machine code (.mir), PTX"
COMMANDS = {
    "compile": (["--cpu", "sm_90", "-o", "/dev/null"], IR, SAYS_IR),
    # Reading the input needs ptxas.
    "tune": (["-o", "/dev/null", "--runs", "1"], None, "reads LLVM IR as text, bitcode or PTX"),
    "report": ([], FUNCTIONS, SAYS_FUNCTIONS + " or functions in text form (.mfv)"),
    "allocate": (
        [],
        FUNCTIONS | {"problem"},
        SAYS_FUNCTIONS + ", functions in text form (.mfv) or an allocation problem",
    ),
    "optimum": ([], {"functions"}, "reads functions in text form (.mfv)"),
    "replay": (["--no-check"], None, "reads functions in text form (.mfv)"),
    "mir": ([PASS, "-mcpu=sm_90", "-o", "/dev/null"], {"mir"}, "reads machine code (.mir)"),
    "stats": ([], None, "reads JSON"),
}
# Kinds that the command accepts but that are not complete inputs here.
TAKEN = {"tune": IR | {"ptx"}, "replay": {"functions"}, "stats": {"json"}}
# `report` measures a file of these kinds, which needs NVIDIA's programs. It does not look into standard input.
MEASURED = {"cubin", "object", "fatbin"}

failures = []
for kind, (content, name) in KINDS.items():
    # The extension belongs to another kind.
    path = FOLDER / f"{kind}.{'ptx' if kind == 'assembly' else 'll'}"
    path.write_bytes(content)
    for command, (arguments, reads, says) in COMMANDS.items():
        for source in (str(path), "-"):
            given = content if source == "-" else b""
            ran = subprocess.run([*TOOL, command, *arguments, source], input=given, capture_output=True)
            said = ran.stderr.decode()
            case = f"{command} {kind} {source}: exit {ran.returncode}: {said[:300]!r}"
            if command == "report" and kind in MEASURED and source != "-":
                if ran.returncode != 1 or "this is" in said or said.count("\n") != 1 or ran.stdout:
                    failures.append(case)
            elif reads is None and kind in TAKEN[command]:
                if "this is" in said:
                    failures.append(case)
            elif kind in (reads or ()):
                if ran.returncode != 0:
                    failures.append(case)
            else:
                where = "standard input" if source == "-" else str(path)
                wanted = f"nvptx-ra: {where}: this is {name}, and {command} {says}; "
                if ran.returncode != 1 or not said.startswith(wanted) or said.count("\n") != 1 or ran.stdout:
                    failures.append(case)
for failure in failures:
    print(failure)
print(f"{len(KINDS) * len(COMMANDS) * 2} cases, {len(failures)} wrong")
sys.exit(1 if failures else 0)
