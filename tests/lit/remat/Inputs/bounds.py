"""Prints a kernel that loads the given number of values, each under its own bound, and stores the values under the
same bounds after a barrier."""

import sys

count = int(sys.argv[1])
print('target triple = "nvptx64-nvidia-cuda"')
print("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndeclare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)")
print("define ptx_kernel void @bounds(i32 %n, ptr addrspace(1) %in, ptr addrspace(1) %out) {\nentry:")
print("  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  br label %check0")
for number in range(count):
    print(f"check{number}:\n  %sum{number} = add i32 %thread, {32 * number}\n  %is{number} = icmp slt i32 %sum{number}, %n")
    print(f"  br i1 %is{number}, label %load{number}, label %loaded{number}")
    print(f"load{number}:\n  %at{number} = getelementptr i32, ptr addrspace(1) %in, i32 %sum{number}")
    print(f"  %new{number} = load volatile i32, ptr addrspace(1) %at{number}\n  br label %loaded{number}")
    print(f"loaded{number}:\n  %value{number} = phi i32 [ %new{number}, %load{number} ], [ 0, %check{number} ]")
    print(f"  br label %{'barrier' if number + 1 == count else f'check{number + 1}'}")
print("barrier:\n  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  br label %again0")
for number in range(count):
    print(f"again{number}:\n  br i1 %is{number}, label %store{number}, label %stored{number}")
    print(f"store{number}:\n  %to{number} = getelementptr i32, ptr addrspace(1) %out, i32 %sum{number}")
    print(f"  store volatile i32 %value{number}, ptr addrspace(1) %to{number}\n  br label %stored{number}")
    print(f"stored{number}:\n  br label %{'end' if number + 1 == count else f'again{number + 1}'}")
print("end:\n  ret void\n}")
