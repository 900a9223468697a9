"""Prints a module with kernels that hold COUNT values round a loop, under bounds that leave them fewer registers.

wide.py COUNT
"""

import sys

count = int(sys.argv[1])


def kernel(name, attributes, extra=""):
    print(f"define ptx_kernel void @{name}(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {attributes} {{")
    print("entry:\n  br label %loop\nloop:")
    print("  %i = phi i32 [ 0, %entry ], [ %next, %loop ]")
    for k in range(count):
        print(f"  %a{k} = phi float [ 0.0, %entry ], [ %b{k}, %loop ]")
    for k in range(count):
        print(f"  %j{k} = add i32 %i, {k * 33}")
        print(f"  %p{k} = getelementptr float, ptr addrspace(1) %in, i32 %j{k}")
        print(f"  %v{k} = load float, ptr addrspace(1) %p{k}")
    for k in range(count):
        print(f"  %m{k} = fmul float %v{k}, %v{(k * 7 + 1) % count}")
        print(f"  %b{k} = fadd float %a{k}, %m{k}")
    print(extra)
    print("  %next = add i32 %i, 1\n  %more = icmp slt i32 %next, %n\n  br i1 %more, label %loop, label %done\ndone:")
    for k in range(count):
        print(f"  %q{k} = getelementptr float, ptr addrspace(1) %out, i32 {k}")
        print(f"  store float %b{k}, ptr addrspace(1) %q{k}")
    print("  ret void\n}")


print('target triple = "nvptx64-nvidia-cuda"\ndeclare void @other()')
kernel("bounded", '"nvvm.maxntid"="512"')
kernel("limited", '"nvvm.maxntid"="512" "nvvm.maxnreg"="100"')
kernel("unbounded", "")
kernel("calls", '"nvvm.maxntid"="512"', "  call void @other()")
print("define ptx_kernel void @small() {\n  ret void\n}")
