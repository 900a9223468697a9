"""Known launches of the corpus kernels: threads and bytes of dynamic shared memory.

For Triton, the metadata next to each module has both numbers. For CUDA, RULES has the launches from the packages'
host code, with their source. If no rule matches a kernel, its launch is unknown.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

WARP = 32


@dataclass(frozen=True)
class Launch:
    """Threads of a block and bytes of dynamic shared memory, `None` if unknown."""

    threads: int | None = None
    dynamic: int | None = None


# candle-kernels 0.11.1, src/mmq_gguf/mmq_gguf.cuh: `mmq_get_nbytes_shared` with mmq_y = 128 and eight warps. A row of
# the weights' tile has MMQ_MMA_TILE_X_K words: 76 for Q8_0, Q8_1 and Q6_K, 100 for Q2_K, 84 for Q3_K. The keys are the
# types' numbers in `ggml_type`.
WORDS_OF_A_ROW = {2: 76, 3: 76, 6: 76, 7: 76, 8: 76, 10: 100, 11: 84, 12: 76, 13: 76, 14: 76}
ROWS, THREADS, INTEGER, BLOCK_OF_Y = 128, 256, 4, 144


def candle_mul_mat_q(match):
    kind, columns = int(match["type"]), int(match["columns"])
    padded = -(-columns * BLOCK_OF_Y // (THREADS * INTEGER)) * THREADS * INTEGER
    return Launch(THREADS, columns * INTEGER + ROWS * WORDS_OF_A_ROW[kind] * INTEGER + padded)


def nothing_dynamic(_):
    return Launch(None, 0)


def marlin(match):
    return Launch(int(match["threads"]), 96 * 1024)


# (pattern of the module, pattern of the kernel's mangled name, function from the match to the launch)
RULES = [
    (r"candle__mmq_gguf", r"mul_mat_qIL9ggml_type(?P<type>\d+)ELi(?P<columns>\d+)E", candle_mul_mat_q),
    # candle-kernels, src/mmq_gguf/mmq_instance_*.cu: launched with 0 bytes
    (r"candle__mmq_gguf", r"mul_mat_q_stream_k_fixup", nothing_dynamic),
    # candle-core 0.10.2, src/quantized/cuda.rs: `block_dim: (WARP_SIZE as u32, 4, 1), shared_mem_bytes: 0`.
    (r"candle__quantized$", r"^mul_mat_q\d_[01K]$", lambda _: Launch(4 * WARP, 0)),
    # llama.cpp, ggml-cuda/fattn-tile.cuh: `nbytes_shared = 0`; the threads are the kernel's launch bounds.
    (r"ggml__template-instances_fattn-tile", r"flash_attn_tile", nothing_dynamic),
    # mistralrs-quant 0.8.1, kernels/marlin/marlin_kernel.cuh: `<<<blocks, NUM_THREADS, SHARED_MEM, stream>>>`. The
    # number of threads is the first number of the template; the shared memory has 96 KB.
    (r"mrs-quant__marlin_marlin_matmul", r"MarlinI\d+[a-z_]\w*?Li(?P<threads>\d+)E", marlin),
]


def launch_of(path, kernel):
    """Returns the launch of a kernel of the module at `path`."""
    metadata = Path(path).with_suffix(".json")
    if metadata.exists():
        said = json.loads(metadata.read_text(encoding="utf8"))
        return Launch(said["num_warps"] * WARP, said["shared"])
    for module, name, launch in RULES:
        if re.match(module, Path(path).stem) and (match := re.search(name, kernel)):
            return launch(match)
    return Launch()
