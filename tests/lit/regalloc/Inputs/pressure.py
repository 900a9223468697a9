"""pressure.py [--i16|--i64] [--device] [--derived] ATTRIBUTE [LINE]: prints LLVM IR of a kernel that loads 40 values
and then adds them up, the last one first.

ATTRIBUTE is an attribute of the kernel, as name=value. LINE is inserted before the loads. `@dynamic` is shared
memory whose size the launch sets. With --device, a device function is printed instead of a kernel. With --derived,
all values are sums of one loaded value.
"""

import sys

WORDS = 40
TYPE = next((option[2:] for option in ("--i16", "--i64") if option in sys.argv), "i32")
KIND = "" if "--device" in sys.argv else "ptx_kernel "
arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
print('target triple = "nvptx64-nvidia-cuda"')
print("@dynamic = external addrspace(3) global [0 x i32]")
print("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()")
print("declare void @callee()")
print(f"define {KIND}void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {{")
print("  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()")
print("  %start = mul i32 %tid, 64")
if len(arguments) > 1:
    print("  " + arguments[1])
if "--derived" in sys.argv:
    print(f"  %base = load volatile {TYPE}, ptr addrspace(1) %in")
for word in range(WORDS):
    if "--derived" in sys.argv:
        # Opaque assembly keeps the sums at their position.
        print(f"  %v{word} = xor {TYPE} %base, {3 * word + 1}")
        print(f'  call void asm sideeffect "// keeps $0", "r"({TYPE} %v{word})')
        continue
    print(f"  %i{word} = add i32 %start, {word}")
    print(f"  %p{word} = getelementptr {TYPE}, ptr addrspace(1) %in, i32 %i{word}")
    print(f"  %v{word} = load volatile {TYPE}, ptr addrspace(1) %p{word}")
print(f"  %s{WORDS} = add {TYPE} 0, 0")
for word in reversed(range(WORDS)):
    print(f"  %m{word} = mul {TYPE} %s{word + 1}, 3")
    print(f"  %s{word} = add {TYPE} %m{word}, %v{word}")
if "--derived" in sys.argv:
    print(f"  store volatile {TYPE} %base, ptr addrspace(1) %out")
print(f"  %q = getelementptr {TYPE}, ptr addrspace(1) %out, i32 %tid")
print(f"  store {TYPE} %s0, ptr addrspace(1) %q")
print("  ret void")
print("}")
name, _, value = arguments[0].partition("=")
print(f'attributes #0 = {{ "{name}"="{value}" }}')
