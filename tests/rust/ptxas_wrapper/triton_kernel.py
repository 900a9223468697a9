"""Compiles a Triton kernel ahead of time, without a GPU: triton_kernel.py BENCH FOLDER, where BENCH is tests/bench.
Writes the kernel's cubin, its key in Triton's cache, and the ptxas release that Triton reads."""

import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import standins  # noqa: E402

standins.install()

import triton  # noqa: E402
from softmax import softmax  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

target = GPUTarget("cuda", 90, 32)
triton.runtime.driver.set_active(standins.Driver(target))
source = ASTSource(softmax, signature={"x": "*fp32", "out": "*fp32", "width": "i32"}, constexprs={(3,): 1024})
compiled = triton.compile(source, target=target)
folder = Path(sys.argv[2])
(folder / "kernel.cubin").write_bytes(compiled.asm["cubin"])
(folder / "key").write_text(compiled.hash, encoding="utf8")
tools = [getattr(triton.knobs.nvidia, name, None) for name in ("ptxas", "ptxas_blackwell")]
(folder / "release").write_text(" ".join(tool.version for tool in tools if tool), encoding="utf8")
