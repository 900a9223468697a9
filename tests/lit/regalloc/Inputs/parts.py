"""parts.py: prints LLVM IR of a kernel of 64 threads with two loops. The first loop computes a sum. The second loop
reads 20 values in each iteration, but not the sum. The sum and 3 more values are read after both loops."""

VALUES, LATER = 20, 3
print('target triple = "nvptx64-nvidia-cuda"')
print("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()")
print("define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) #0 {\nentry:")
print("  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()")
for value in range(VALUES + LATER):
    print(f"  %i{value} = add i32 %tid, {37 * value}")
    print(f"  %p{value} = getelementptr i32, ptr addrspace(1) %in, i32 %i{value}")
    print(f"  %v{value} = load volatile i32, ptr addrspace(1) %p{value}")
print("  br label %first\nfirst:")
print("  %i = phi i32 [ 0, %entry ], [ %next, %first ]\n  %sum = phi i32 [ %tid, %entry ], [ %more, %first ]")
print("  %twice = mul i32 %sum, 3\n  %more = xor i32 %twice, %i\n  %next = add i32 %i, 1")
print("  %again = icmp slt i32 %next, %n\n  br i1 %again, label %first, label %between\nbetween:\n  br label %second\nsecond:")
print("  %j = phi i32 [ 0, %between ], [ %nextj, %second ]\n  %mix = phi i32 [ %tid, %between ], [ %a19, %second ]")
last = "%mix"
for value in range(VALUES):
    print(f"  %m{value} = mul i32 {last}, 3\n  %a{value} = xor i32 %m{value}, %v{value}")
    last = f"%a{value}"
print("  %nextj = add i32 %j, 1\n  %againj = icmp slt i32 %nextj, %n\n  br i1 %againj, label %second, label %exit\nexit:")
print(f"  %all = add i32 {last}, %more")
last = "%all"
for value in range(VALUES, VALUES + LATER):
    print(f"  %e{value} = mul i32 {last}, 5\n  %f{value} = add i32 %e{value}, %v{value}")
    last = f"%f{value}"
print("  %q = getelementptr i32, ptr addrspace(1) %out, i32 %tid")
print(f"  store i32 {last}, ptr addrspace(1) %q\n  ret void\n}}")
print('attributes #0 = { "nvvm.maxntid"="64" }')
