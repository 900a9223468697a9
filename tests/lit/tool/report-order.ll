; The report can forecast another order of the code. If the code is ordered from its end, the pressure is lower than in
; its own order. For an unknown order, the message lists the known orders.
; RUN: %nvptx-ra report %s --json --features | FileCheck %s --check-prefix=SOURCE
; RUN: %nvptx-ra report %s --json --features --order source | FileCheck %s --check-prefix=SOURCE
; SOURCE: "words": 12.0
; RUN: %nvptx-ra report %s --json --features --order bottom-up | FileCheck %s --check-prefix=BETTER
; BETTER: "words": 2.0
; RUN: not %nvptx-ra report %s --order sideways 2>&1 | FileCheck %s --check-prefix=UNKNOWN
; UNKNOWN: order=sideways: unknown; use source, sethi-ullman, bottom-up
; RUN: not %nvptx-ra report %s --order auto 2>&1 | FileCheck %s --check-prefix=REMOVED
; REMOVED: order=auto: removed; name an order, as in order=eager; `nvptx-ra tune` finds the best order for each kernel

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @sums(ptr addrspace(1) noalias readonly %in, ptr addrspace(1) noalias %out) {
  %p0 = getelementptr i32, ptr addrspace(1) %in, i64 1
  %v0 = load i32, ptr addrspace(1) %p0
  %p1 = getelementptr i32, ptr addrspace(1) %in, i64 2
  %v1 = load i32, ptr addrspace(1) %p1
  %p2 = getelementptr i32, ptr addrspace(1) %in, i64 3
  %v2 = load i32, ptr addrspace(1) %p2
  %p3 = getelementptr i32, ptr addrspace(1) %in, i64 4
  %v3 = load i32, ptr addrspace(1) %p3
  %p4 = getelementptr i32, ptr addrspace(1) %in, i64 5
  %v4 = load i32, ptr addrspace(1) %p4
  %p5 = getelementptr i32, ptr addrspace(1) %in, i64 6
  %v5 = load i32, ptr addrspace(1) %p5
  %p6 = getelementptr i32, ptr addrspace(1) %in, i64 7
  %v6 = load i32, ptr addrspace(1) %p6
  %p7 = getelementptr i32, ptr addrspace(1) %in, i64 8
  %v7 = load i32, ptr addrspace(1) %p7
  %p8 = getelementptr i32, ptr addrspace(1) %in, i64 9
  %v8 = load i32, ptr addrspace(1) %p8
  %p9 = getelementptr i32, ptr addrspace(1) %in, i64 10
  %v9 = load i32, ptr addrspace(1) %p9
  %p10 = getelementptr i32, ptr addrspace(1) %in, i64 11
  %v10 = load i32, ptr addrspace(1) %p10
  %p11 = getelementptr i32, ptr addrspace(1) %in, i64 12
  %v11 = load i32, ptr addrspace(1) %p11
  %s1 = mul i32 %v0, %v1
  %s2 = mul i32 %s1, %v2
  %s3 = mul i32 %s2, %v3
  %s4 = mul i32 %s3, %v4
  %s5 = mul i32 %s4, %v5
  %s6 = mul i32 %s5, %v6
  %s7 = mul i32 %s6, %v7
  %s8 = mul i32 %s7, %v8
  %s9 = mul i32 %s8, %v9
  %s10 = mul i32 %s9, %v10
  %s11 = mul i32 %s10, %v11
  store i32 %s11, ptr addrspace(1) %out
  ret void
}
