#!/usr/bin/env python3
"""Makes before.ptx and after.ptx: kernels with loops of several entries, before and after LLVM's structurizecfg.

    tests/ptx/irreducible/make.py

LLVM 22's `fix-irreducible`, which structurizecfg needs on such loops, makes wrong code of some of them. The graphs
are those of tests/lit/loading/Inputs/graphs.py. Each block of a kernel passes its number and its values to @choose.
LLVM's verifier refuses two of the first 60 graphs. `lli` ran the IR of the others before and after, with 40
threads' numbers: 26 come out wrong and 32 right. WRONG and RIGHT list the smallest of them.
"""

import itertools
import random
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "lit/loading/Inputs"))

import graphs  # noqa: E402

BIN = "/usr/lib/llvm-22/bin"
PASSES = "function(lower-switch,fix-irreducible,unify-loop-exits,structurizecfg)"
COUNT = 60
REFUSED = ["f33", "f74"]  # the verifier of LLVM IR finds these itself
WRONG = ["f71", "f72", "f113", "f127", "f128"]
RIGHT = ["f76", "f86", "f126"]

# A thread's state, the number of calls and the hash of the blocks' numbers and values. After graphs.CALLS calls, the
# thread ends.
RUNTIME = f"""
target triple = "nvptx64-nvidia-cuda"
declare void @llvm.nvvm.exit()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define internal i32 @choose(ptr %state.at, ptr addrspace(1) %out, i32 %block, i32 %value) noinline {{
  %hash.at = getelementptr i32, ptr %state.at, i32 1
  %calls.at = getelementptr i32, ptr %state.at, i32 2
  %hash = load i32, ptr %hash.at
  %a = mul i32 %hash, 31
  %b = add i32 %a, %block
  %c = mul i32 %b, 37
  %new = add i32 %c, %value
  store i32 %new, ptr %hash.at
  %state = load i32, ptr %state.at
  %d = mul i32 %state, 1103515245
  %next = add i32 %d, 12345
  store i32 %next, ptr %state.at
  %calls = load i32, ptr %calls.at
  %more = add i32 %calls, 1
  store i32 %more, ptr %calls.at
  %enough = icmp sgt i32 %more, {graphs.CALLS}
  br i1 %enough, label %stop, label %go
stop:
  store i32 %new, ptr addrspace(1) %out
  call void @llvm.nvvm.exit()
  unreachable
go:
  %choice = lshr i32 %next, 16
  ret i32 %choice
}}
"""

KERNEL = """
define ptx_kernel void @k{name}(ptr addrspace(1) %to) {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %before = mul i32 %block, %threads
  %tid = add i32 %before, %thread
  %state = alloca [3 x i32]
  %hash = getelementptr i32, ptr %state, i32 1
  %calls = getelementptr i32, ptr %state, i32 2
  store i32 %tid, ptr %state
  store i32 0, ptr %hash
  store i32 0, ptr %calls
  %out = getelementptr i32, ptr addrspace(1) %to, i32 %tid
  %result = call i32 @{name}(ptr %state, ptr addrspace(1) %out, i32 %tid)
  %said = load i32, ptr %hash
  %all = add i32 %said, %result
  store i32 %all, ptr addrspace(1) %out
  ret void
}}
"""


def functions(wanted):
    """Yields the irreducible functions of graphs.py, by name: all of the first COUNT, or only the wanted ones."""
    found = 0
    for seed in itertools.count():
        rng = random.Random(seed)
        graph = graphs.random_graph(rng)
        if len(graphs.reachable(graph)) > 2 and not graphs.is_reducible(graph):
            found += 1
            name = f"f{seed}"
            if name not in REFUSED and (wanted is None or name in wanted):
                yield name, graphs.function(name, graph, rng)
        if found == COUNT:
            return


def device(name, text):
    """Returns a function of graphs.py for a GPU, with the kernel that calls it."""
    text = text.replace("@choose(", "@choose(ptr %state, ptr addrspace(1) %out, ")
    head = f"define internal i32 @{name}(ptr %state, ptr addrspace(1) %out, i32 %seed) alwaysinline"
    text = text.replace(f"define i32 @{name}(i32 %seed)", head)
    return text + KERNEL.format(name=name)


def run(program, text, *arguments):
    command = [f"{BIN}/{program}", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def main():
    wanted = None if sys.argv[1:] == ["all"] else {*WRONG, *RIGHT}
    text = RUNTIME + "\n".join(device(name, function) for name, function in functions(wanted))
    inlined = run("opt", text, "-S", "-passes=always-inline,function(mem2reg)")
    after = run("opt", inlined, "-S", f"-passes={PASSES}")
    for name, module in ("before", inlined), ("after", after):
        ptx = run("llc", module, "-mcpu=sm_90", "-O2")
        (HERE / f"{name}.ptx").write_text(ptx, encoding="utf8")


main()
