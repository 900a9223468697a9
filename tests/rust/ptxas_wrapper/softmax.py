"""The Triton kernel of triton_kernel.py and triton_autotuned.py. Both scripts first install stand-ins for
PyTorch."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, out, width, TILE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, TILE)
    values = tl.load(x + row * width + columns, mask=columns < width, other=float("-inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * width + columns, powers / tl.sum(powers, axis=0), mask=columns < width)
