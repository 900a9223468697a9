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


# Bytes of an SM, those that the driver takes of each block, the unit, and the most that a block may ask for.
SHARED = {"sm_90": (228 << 10, 1 << 10, 128, 227 << 10)}


def resident_blocks(shared, cpu):
    """How many blocks with so many bytes of shared memory, static and dynamic, an SM holds, as far as these decide."""
    of_sm, reserved, unit, most = SHARED[cpu]
    return 0 if shared > most else of_sm // (-(-(shared + reserved) // unit) * unit)
