"""Occupancy: the warps that an SM holds. The tool knows the figures of every processor, and runs once for each."""

import functools
import json
import subprocess

from tools import nvptx_ra

MOST_REGISTERS = 255


@functools.cache
def table(cpu):
    """Returns {"max_warps", "max_blocks", "warps"} of a processor. `warps` is indexed by the number of warps of a
    block, then by registers."""
    command = [nvptx_ra(), "occupancy", f"--cpu={cpu}"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError as error:
        raise SystemExit(f"{command[0]}: run cargo build --release, or set NVPTX_RA") from error
    except subprocess.CalledProcessError as error:
        raise ValueError(error.stderr.strip()) from error
    return json.loads(answer.stdout)


def most_warps(cpu):
    """Returns the most warps that an SM holds."""
    return table(cpu)["max_warps"]


def resident_warps(registers, cpu, threads=0):
    """Returns the warps of a kernel that an SM holds, as limited by registers. If the number of threads of a block is
    known, only whole blocks count."""
    return table(cpu)["warps"][str(-(-threads // 32))][max(1, min(registers, MOST_REGISTERS)) - 1]


# For each processor: bytes of shared memory of an SM, bytes that the driver reserves for each block, allocation unit,
# and most bytes of a block.
SHARED = {"sm_90": (228 << 10, 1 << 10, 128, 227 << 10)}


def resident_blocks(shared, cpu):
    """Returns the blocks that an SM holds, as limited by the static and dynamic shared memory of a block."""
    of_sm, reserved, unit, most = SHARED[cpu]
    return 0 if shared > most else of_sm // (-(-(shared + reserved) // unit) * unit)
