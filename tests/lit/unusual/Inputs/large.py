"""large.py SHAPE SIZE: prints a kernel that is large in one respect.

registers     SIZE values that are all live at once      (LLVM IR)
block         one block of SIZE instructions             (LLVM IR)
phis          a loop of SIZE PHIs that rotate their values (LLVM IR)
switch        SIZE cases that lead to half as many blocks, all of which meet in one PHI  (LLVM IR)
dispatch      a loop around a switch of SIZE cases, each of which sets 8 variables to outside values  (LLVM IR)
accumulators  a loop around assembly that adds to SIZE tied operands, as tensor core instructions do  (LLVM IR)
copies        one block of SIZE instructions, of which half are copies                   (machine code)
"""

import sys

KERNEL = """target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p, i32 %n) {
entry:"""
LOAD = "load volatile float, ptr addrspace(1) %p"


def registers(size):
    yield KERNEL
    for i in range(size):
        yield f"  %a{i} = {LOAD}"
    for i in range(size):
        yield f"  store volatile float %a{i}, ptr addrspace(1) %p"
    yield "  ret void\n}"


def block(size):
    yield KERNEL
    yield "  %x0 = load i32, ptr addrspace(1) %p"
    for i in range(1, size // 2):
        yield f"  %y{i} = mul i32 %x{i - 1}, %n\n  %x{i} = xor i32 %y{i}, {i}"
    yield f"  store i32 %x{size // 2 - 1}, ptr addrspace(1) %p\n  ret void\n}}"


def phis(size):
    yield KERNEL
    for i in range(size):
        yield f"  %s{i} = {LOAD}"
    yield "  br label %loop\nloop:\n  %i = phi i32 [ 0, %entry ], [ %j, %loop ]"
    # The values are floats, because LLVM would follow a cycle of integers by recursion and run out of stack.
    for i in range(size):
        yield f"  %v{i} = phi float [ %s{i}, %entry ], [ %v{(i + 1) % size}, %loop ]"
    yield "  %j = add i32 %i, 1\n  %c = icmp slt i32 %j, %n\n  br i1 %c, label %loop, label %done\ndone:"
    for i in range(size):
        yield f"  store volatile float %v{i}, ptr addrspace(1) %p"
    yield "  ret void\n}"


def switch(size):
    yield KERNEL
    yield "  switch i32 %n, label %join ["
    for i in range(size):
        yield f"    i32 {i}, label %b{i // 2}"
    yield "  ]"
    for i in range(size // 2):
        yield f"b{i}:\n  %v{i} = mul i32 %n, {2 * i + 3}\n  br label %join"
    yield "join:\n  %r = phi i32 [ 7, %entry ]"
    for i in range(size // 2):
        yield f"    , [ %v{i}, %b{i} ]"
    yield "  store i32 %r, ptr addrspace(1) %p\n  ret void\n}"


def dispatch(size):
    yield KERNEL
    for i in range(8):
        yield f"  %s{i} = load volatile i32, ptr addrspace(1) %p"
    yield "  br label %loop\nloop:"
    for i in range(8):
        cases = "".join(f", [ %s{(i + case) % 8}, %b{case} ]" for case in range(size))
        yield f"  %v{i} = phi i32 [ %s{i}, %entry ]{cases}"
    yield "  %x = load volatile i32, ptr addrspace(1) %p\n  switch i32 %x, label %done ["
    for case in range(size):
        yield f"    i32 {case}, label %b{case}"
    yield "  ]"
    for case in range(size):
        yield f"b{case}:\n  store volatile i32 {case}, ptr addrspace(1) %p\n  br label %loop"
    yield "done:"
    for i in range(8):
        yield f"  store volatile i32 %v{i}, ptr addrspace(1) %p"
    yield "  ret void\n}"


def accumulators(size):
    yield KERNEL
    yield f"  %x = {LOAD}\n  br label %loop\nloop:\n  %i = phi i32 [ 0, %entry ], [ %j, %loop ]"
    for i in range(size):
        yield f"  %a{i} = phi float [ 0.0, %entry ], [ %b{i}, %loop ]"
    kinds, numbers = ", ".join(["float"] * size), range(size)
    code = " ".join(f"add.f32 ${i}, ${i}, ${2 * size};" for i in numbers)
    constraints = ",".join([*["=f"] * size, *map(str, numbers), "f"])
    given = ", ".join([*(f"float %a{i}" for i in numbers), "float %x"])
    yield f'  %r = call {{ {kinds} }} asm sideeffect "{code}", "{constraints}"({given})'
    for i in numbers:
        yield f"  %b{i} = extractvalue {{ {kinds} }} %r, {i}"
    yield "  %j = add i32 %i, 1\n  %c = icmp slt i32 %j, %n\n  br i1 %c, label %loop, label %done\ndone:"
    for i in numbers:
        yield f"  store volatile float %b{i}, ptr addrspace(1) %p"
    yield "  ret void\n}"


def copies(size):
    """Each copy reads the previous instruction's result. Every other copy is read again much later."""
    yield "---\nname: k\ntracksRegLiveness: true\nisSSA: false\nnoPhis: true\nregisters:"
    count = size // 2
    for i in range(2 * count):
        yield f"  - {{ id: {i}, class: b32 }}"
    yield "body: |\n  bb.0:"
    yield "    %1:b32 = LD_i32 0, 0, 101, 3, 32, -1, &k_param_0, 0 :: (load (s32), addrspace 101)"
    for i in range(1, count):
        other = 2 * (i // 2) + 1 if i % 2 else 1
        yield f"    %{2 * i}:b32 = ADD32rr %{2 * i - 1}, %{other}\n    %{2 * i + 1}:b32 = COPY %{2 * i}"
    yield f"    ST_i32 %{2 * count - 1}, 0, 0, 1, 32, 0, 0 :: (store (s32), addrspace 1)\n    Return\n..."


if __name__ == "__main__":
    shape, size = sys.argv[1:]
    for line in globals()[shape](int(size)):
        print(line)
