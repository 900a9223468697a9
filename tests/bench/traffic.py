"""Figures of one kernel from ptxas and the machine code: spills, shared memory, instructions, words moved to and from
memory."""

import os
import re
import tempfile
from pathlib import Path

import cache
import machine_code
import measure
import ptxas
import tools

MEMORY = {"LDL": "local_words", "STL": "local_words", "LDS": "shared_words", "STS": "shared_words"}
MATRIX = re.compile(r"^[A-Z]*MMA$|^WARPGROUP")
READER = [cache.file_hash(module) for module in (__file__, ptxas.__file__, machine_code.__file__)]


def words_of(opcode):
    """Returns the 32-bit words that an access of one thread moves, from the width in its opcode."""
    return next((words for width, words in ((".128", 4), (".64", 2)) if width in opcode), 1)


def read_machine_code(text):
    """Parses the output of `cuobjdump -sass`. Returns for each function the instructions without NOPs, and the words
    moved to and from local and shared memory."""
    functions, counts = {}, None
    for line in text.splitlines():
        if match := ptxas.SASS_INSTRUCTION.match(line):
            opcode = match.group(1)
            if counts is not None and opcode != "NOP":
                counts["instructions"] += 1
                if memory := MEMORY.get(opcode.partition(".")[0]):
                    counts[memory] += words_of(opcode)
        elif match := ptxas.SASS_FUNCTION.match(line):
            counts = functions[match.group(1)] = {"instructions": 0, "local_words": 0, "shared_words": 0}
    return functions


def is_of_matrices(blocks):
    """Whether at least half of the registers that are live at the high-pressure point belong to matrix instructions:
    such an instruction wrote the register, or is the next to read it."""
    instructions = [instruction for block in blocks for instruction in block.instructions]
    general = [{register for register in i.live if register[0] == "GPR"} for i in instructions]
    if not any(general):
        return False
    peak = max(range(len(general)), key=lambda place: len(general[place]))
    touched = set()
    for side, of in ((reversed(instructions[: peak + 1]), "writes"), (instructions[peak:], "reads")):
        open_ = set(general[peak])
        for instruction in side:
            found = open_ & getattr(instruction, of)
            open_ -= found
            if MATRIX.match(instruction.opcode.partition(".")[0]):
                touched |= found
            if not open_:
                break
    return 2 * len(touched) >= len(general[peak])


def threads_of(text):
    """Returns the threads of a block from the kernel's bounds in PTX, `None` if the kernel has no such bound."""
    for line in text.split("\n"):
        if match := re.match(r"\s*\.(?:req|max)ntid\s+([\d, ]+)", line):
            x, y, z = [*map(int, match.group(1).split(",")), 1, 1][:3]
            return x * y * z
    return None


def measured(text, name, cpu, plan, wants_peak=False):
    """Returns {"error", and the figures of a kernel from ptxas and the machine code}. Results are cached. Errors of
    ptxas are also cached, except time-outs."""
    store, parts = (
        cache.Cache(plan.cache),
        [measure.text_hash(text), name, cpu, cache.file_hash(plan.tools.ptxas), READER],
    )
    key, with_peak = (cache.key_of("traffic", *parts, peak) for peak in (wants_peak, True))
    if (known := store.get(key) or store.get(with_peak)) is not None:
        return known
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "in.ptx"), os.path.join(folder, "out.cubin")
        Path(source).write_text(text, encoding="utf8")
        outcome = tools.run([plan.tools.ptxas, "-v", "-O3", f"-arch={cpu}", source, "-o", cubin], plan.timeout)
        if outcome.error:
            result = {"error": outcome.error}
            if "more than" not in outcome.error:
                store.put(key, result)
            return result
        said = ptxas.parse_log(outcome.output).get(name)
        listing = tools.run([plan.tools.cuobjdump, "-sass", cubin], plan.timeout)
        counts = read_machine_code(listing.output).get(name)
        if listing.error or said is None or counts is None:
            return {"error": listing.error or f"ptxas: no figures of {name}"}
        result = {
            "error": "",
            "registers": said["registers"],
            "local_bytes": said["stores"] + said["loads"],
            "static": said["shared"],
            "threads": threads_of(text),
            **counts,
        }
        if wants_peak:
            functions, error = machine_code.disassembled(cubin, tools.find_cuda("nvdisasm"), plan.timeout)
            if error or name not in functions:
                return {"error": error or f"nvdisasm: no code of {name}"}
            result["is_of_matrices"] = is_of_matrices(functions[name])
    store.put(key, result)
    return result
