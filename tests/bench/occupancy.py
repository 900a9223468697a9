"""How many warps an SM holds. The tool has the figures of every processor, and is asked once for each of them."""

import functools
import json
import subprocess

from tools import nvptx_ra

MOST_REGISTERS = 255


@functools.cache
def table(cpu):
    """{"max_warps", "max_blocks", "warps"} of a processor; the last by the warps of a block, then by registers."""
    command = [nvptx_ra(), "occupancy", f"--cpu={cpu}"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError as error:
        raise SystemExit(f"{command[0]}: cargo build --release, or NVPTX_RA=…") from error
    except subprocess.CalledProcessError as error:
        raise ValueError(error.stderr.strip()) from error
    return json.loads(answer.stdout)


def most_warps(cpu):
    """How many warps an SM holds at most."""
    return table(cpu)["max_warps"]


def resident_warps(registers, cpu, threads=0):
    """How many warps of a kernel an SM holds, as far as registers decide it; of whole blocks, where it is known how many
    threads one has."""
    return table(cpu)["warps"][str(-(-threads // 32))][max(1, min(registers, MOST_REGISTERS)) - 1]
