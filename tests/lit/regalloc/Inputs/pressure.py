"""pressure.py [--i64] ATTRIBUTE [LINE]: LLVM IR of a kernel that loads 40 values and then adds them up, the last one first.

ATTRIBUTE is the kernel's, as name=value. LINE stands in the kernel ahead of the loads. `@dynamic` is shared memory whose size the launch says.
"""

import sys

WORDS = 40
TYPE = "i64" if "--i64" in sys.argv else "i32"
arguments = [argument for argument in sys.argv[1:] if argument != "--i64"]
print('target triple = "nvptx64-nvidia-cuda"')
print("@dynamic = external addrspace(3) global [0 x i32]")
print("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()")
print("declare void @callee()")
print("define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {")
print("  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()")
print("  %start = mul i32 %tid, 64")
if len(arguments) > 1:
    print("  " + arguments[1])
for word in range(WORDS):
    print(f"  %i{word} = add i32 %start, {word}")
    print(f"  %p{word} = getelementptr {TYPE}, ptr addrspace(1) %in, i32 %i{word}")
    print(f"  %v{word} = load volatile {TYPE}, ptr addrspace(1) %p{word}")
print(f"  %s{WORDS} = add {TYPE} 0, 0")
for word in reversed(range(WORDS)):
    print(f"  %m{word} = mul {TYPE} %s{word + 1}, 3")
    print(f"  %s{word} = add {TYPE} %m{word}, %v{word}")
print(f"  %q = getelementptr {TYPE}, ptr addrspace(1) %out, i32 %tid")
print(f"  store {TYPE} %s0, ptr addrspace(1) %q")
print("  ret void")
print("}")
name, _, value = arguments[0].partition("=")
print(f'attributes #0 = {{ "{name}"="{value}" }}')
