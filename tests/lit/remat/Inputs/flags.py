"""Prints a kernel with the given number of predicates. Assembly sets the predicates before a barrier, and stores after
the barrier depend on them. With "several", a branch around each predicate sets it to false. With "together", one
branch around all predicates sets all of them to false. A further number N loads N words before all this and stores
them after it."""

import sys

count, has_several, are_together = int(sys.argv[1]), sys.argv[2:3] == ["several"], sys.argv[2:3] == ["together"]
words = range(int(sys.argv[3]) if sys.argv[3:] else 0)
print('target triple = "nvptx64-nvidia-cuda"')
print("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndeclare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)")
print("define ptx_kernel void @flags(i32 %n, ptr addrspace(1) %in, ptr addrspace(1) %out) {\nentry:")
print("  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()")
for word in words:
    print(f"  %from{word} = getelementptr i32, ptr addrspace(1) %in, i32 {-32 - word}")
    print(f"  %word{word} = load volatile i32, ptr addrspace(1) %from{word}")
if are_together:
    print("  %skips = icmp eq i32 %n, 0\n  br i1 %skips, label %barrier, label %check0")
else:
    print("  br label %check0")
for number in range(count):
    print(f"check{number}:\n  %at{number} = getelementptr i32, ptr addrspace(1) %in, i32 {32 * number}")
    print(f"  %new{number} = load volatile i32, ptr addrspace(1) %at{number}")
    flag = f'call i1 asm sideeffect "setp.lt.s32 $0, $1, $2;", "=b,r,r"(i32 %new{number}, i32 %n)'
    if has_several:
        print(f"  %skips{number} = icmp eq i32 %new{number}, 0\n  br i1 %skips{number}, label %set{number}, label %do{number}")
        print(f"do{number}:\n  %done{number} = {flag}\n  br label %set{number}")
        print(f"set{number}:\n  %is{number} = phi i1 [ %done{number}, %do{number} ], [ false, %check{number} ]")
    elif are_together:
        print(f"  %done{number} = {flag}")
    else:
        print(f"  %is{number} = {flag}")
    print(f"  br label %{'barrier' if number + 1 == count else f'check{number + 1}'}")
print("barrier:")
for number in range(count if are_together else 0):
    print(f"  %is{number} = phi i1 [ %done{number}, %check{count - 1} ], [ false, %entry ]")
print("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  br label %again0")
for number in range(count):
    print(f"again{number}:\n  br i1 %is{number}, label %store{number}, label %stored{number}")
    print(f"store{number}:\n  %to{number} = getelementptr i32, ptr addrspace(1) %out, i32 {32 * number}")
    print(f"  store volatile i32 %thread, ptr addrspace(1) %to{number}\n  br label %stored{number}")
    print(f"stored{number}:\n  br label %{'end' if number + 1 == count else f'again{number + 1}'}")
print("end:")
for word in words:
    print(f"  store volatile i32 %word{word}, ptr addrspace(1) %out")
print("  ret void\n}")
