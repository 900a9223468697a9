"""Compiles Triton kernels ahead of time with nvptx-ra in ptxas's place: triton_options.py BENCH PACKAGE, where BENCH
is tests/bench and PACKAGE contains nvptx_ra. Tries each setting of Triton that changes the options of ptxas. Prints
the number of compiled kernels."""

import sys

sys.path[:0] = sys.argv[1:3]
import standins  # noqa: E402

standins.install()

import nvptx_ra.triton  # noqa: E402
import triton  # noqa: E402
from softmax import softmax  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

nvptx_ra.triton.enable()
SIGNATURE = {"x": "*fp32", "out": "*fp32", "width": "i32"}
SPILLS = {"num_warps": 1, "maxnreg": 32}  # and 64 values of each thread are live at once
compiled = 0
for capability, has_lines, options in (
    (80, True, {}),
    (90, True, SPILLS),
    (90, True, {"enable_fp_fusion": False}),
    (90, False, {}),
    (100, True, SPILLS),
    (120, True, {}),
):
    target = GPUTarget("cuda", capability, 32)
    triton.runtime.driver.set_active(standins.Driver(target))
    triton.knobs.compilation.disable_line_info = not has_lines
    source = ASTSource(softmax, signature=SIGNATURE, constexprs={(3,): 2048 if options == SPILLS else 512})
    triton.compile(source, target=target, options=options)
    compiled += 1
print(compiled)
