"""loop.py: prints LLVM IR of a kernel of 128 threads. The kernel loads 30 values and executes a loop that reads 10 of
them. It then reads the other 20 values, the last one first, and the 10 values again."""

VALUES = 30
print('target triple = "nvptx64-nvidia-cuda"')
print("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()")
print("define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) #0 {\nentry:")
print("  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()")
for value in range(VALUES):
    print(f"  %i{value} = add i32 %tid, {37 * value}")
    print(f"  %p{value} = getelementptr i32, ptr addrspace(1) %in, i32 %i{value}")
    print(f"  %v{value} = load volatile i32, ptr addrspace(1) %p{value}")
print("  br label %loop\nloop:")
print("  %i = phi i32 [ 0, %entry ], [ %next, %loop ]\n  %sum = phi i32 [ %tid, %entry ], [ %a9, %loop ]")
last = "%sum"
for value in range(10):
    print(f"  %m{value} = mul i32 {last}, 3\n  %a{value} = xor i32 %m{value}, %v{value}")
    last = f"%a{value}"
print("  %next = add i32 %i, 1\n  %again = icmp slt i32 %next, %n\n  br i1 %again, label %loop, label %exit\nexit:")
for value in [*reversed(range(10, VALUES)), *range(10)]:
    print(f"  %e{value} = mul i32 {last}, 5\n  %f{value} = add i32 %e{value}, %v{value}")
    last = f"%f{value}"
print("  %q = getelementptr i32, ptr addrspace(1) %out, i32 %tid")
print(f"  store i32 {last}, ptr addrspace(1) %q\n  ret void\n}}")
print('attributes #0 = { "nvvm.maxntid"="128" }')
