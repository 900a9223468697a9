"""ptxas's results for a PTX module: registers and spills per kernel, and the instructions of the machine code."""

import os
import re
import subprocess
import tempfile
import threading
from collections import Counter

from tools import run

KERNEL = re.compile(r"Compiling entry function '([^']+)'")
PROPERTIES = re.compile(r"Function properties for (\S+)")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
BARRIERS = re.compile(r"used (\d+) barriers")
SHARED = re.compile(r"(\d+) bytes smem")
BOUNDS = (".maxnreg", ".maxntid", ".minnctapersm", ".reqntid")  # directives that bound registers
SASS_FUNCTION = re.compile(r"\s*Function : (\S+)")
SASS_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")

def with_setting(text, setting):
    """Changes PTX for a setting. `own` leaves the PTX unchanged. `none` removes the kernels' bounds. `one` declares
    one block per SM for every kernel without a minimum of blocks. A number sets `.maxnreg` of every kernel, and
    replaces an existing `.maxnreg`; other directives stay."""
    if setting == "own":
        return text
    unwanted = {"none": BOUNDS, "one": ()}.get(setting, (".maxnreg",))
    lines, head = [], None
    for line in text.split("\n"):
        if ".entry" in line and not line.startswith(("\t", "//")):
            head = []
        if head is not None and line.startswith("{"):
            lines += one_block(head) if setting == "one" else []
            lines += [f".maxnreg {setting}"] if setting.isdigit() else []
            head = None
        if head is not None:
            head.append(line.lstrip())
        if head is None or not line.lstrip().startswith(unwanted):
            lines.append(line)
    return "\n".join(lines)


def one_block(head):
    """Returns the directives that must be added to a kernel's head to tell ptxas that one block per SM is enough."""
    said = {line.split()[0] for line in head if line.startswith(".")}
    if ".minnctapersm" in said:
        return []
    return [".minnctapersm 1"] if said & {".maxntid", ".reqntid"} else [".maxntid 128", ".minnctapersm 1"]


def assemble(text, cpu, tools, timeout, with_sass):
    """Returns {"error", "seconds", "kernels"}. Kernels are by name, with the results of parse_log and count_sass."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "in.ptx"), os.path.join(folder, "out.cubin")
        with open(source, "w", encoding="utf8") as file:
            file.write(text)
        outcome = run([tools.ptxas, "-v", "-O3", f"-arch={cpu}", source, "-o", cubin], timeout)
        result = {"error": outcome.error, "seconds": outcome.seconds, "kernels": {}}
        if not outcome.error:
            result["kernels"] = parse_log(outcome.output)
            if with_sass:
                result["error"] = count_sass(cubin, result["kernels"], tools, timeout)
        return result


def parse_log(log):
    """Reads the output of `ptxas -v`. A function that a kernel calls is compiled for each of its kernels and listed
    after the kernel; its spills count for the kernel. The stack is the kernel's own frame."""
    kernels, name, properties_of = {}, None, None
    for line in log.splitlines():
        if match := KERNEL.search(line):
            name = match.group(1)
            kernels[name] = Counter(registers=0, stack=0, stores=0, loads=0, shared=0, barriers=0)
        elif match := PROPERTIES.search(line):
            properties_of = match.group(1)
        elif (match := SPILLS.search(line)) and name is not None:
            stack, stores, loads = map(int, match.groups())
            kernels[name].update(stack=stack if properties_of == name else 0, stores=stores, loads=loads)
        elif (match := USED.search(line)) and name is not None:
            kernels[name]["registers"] = int(match.group(1))
            for count, pattern in (("barriers", BARRIERS), ("shared", SHARED)):
                found = pattern.search(line)
                kernels[name][count] = int(found.group(1)) if found else 0
    return {name: dict(counts) for name, counts in kernels.items()}


def count_sass(cubin, kernels, tools, timeout):
    """Adds counts to each kernel: SASS instructions without NOPs, instructions that only copy a value, and accesses of
    local memory. Returns an error message."""
    command = [tools.cuobjdump, "-sass", cubin]
    counts = None
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes, text=True, errors="replace") as process:
        watch = threading.Timer(timeout, process.kill)
        watch.start()
        for line in process.stdout:
            if match := SASS_INSTRUCTION.match(line):
                opcode = match.group(1)
                if counts is not None and opcode != "NOP":
                    counts["sass"] += 1
                    counts["sass_moves"] += is_sass_move(opcode)
                    counts["sass_local"] += opcode.startswith(("LDL", "STL"))
            elif match := SASS_FUNCTION.match(line):
                counts = kernels.get(match.group(1))
                if counts is not None:
                    counts.update(sass=0, sass_moves=0, sass_local=0)
        watch.cancel()
    return f"cuobjdump: exit status {process.returncode}" if process.returncode else ""


def is_sass_move(opcode):
    """Whether an opcode is MOV, UMOV, or the multiply-add that replaces a move."""
    return opcode.split(".")[0] in ("MOV", "UMOV") or opcode.startswith("IMAD.MOV")
