; Addresses of a tile's rows, `tile + 4 * (33 * row + column)`, are computed before the loop that stores to them, in a
; kernel with more live words than a thread may have registers. The pass rematerialises each sum in the loop, with its
; product and the operands that only the sum uses. With spare registers, or with the option off, the sums stay before
; the loop. The checker proves the edits; LLVM's machine verifier and ptxas accept the code.
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.default
; RUN: FileCheck %s --input-file=%t.default
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o - | cmp - %t.default
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.default %}
; RUN: %llc-ra -nvptx-ra-remat=off -mcpu=sm_90 %s -o %t.off
; RUN: FileCheck %s --input-file=%t.off --check-prefix=OFF
; RUN: sed 's/"nvvm.maxnreg"="32"/nounwind/' %s > %t.free.ll
; RUN: %llc-ra -mcpu=sm_90 %t.free.ll -o - | FileCheck %s --check-prefix=OFF
; PTX modules get the same result.
; RUN: %nvptx-ra ptx -passes=nvptx-remat %t.off -o - | FileCheck %s --check-prefix=PTX
; CHECK-LABEL: .entry fill(
; CHECK-NOT:   mad.lo.s32
; CHECK:       // %loop
; CHECK-COUNT-5: mad.lo.s32
; CHECK-NOT:   mad.lo.s32
; OFF-LABEL: .entry fill(
; OFF-COUNT-5: mad.lo.s32
; OFF:         // %loop
; OFF-NOT:     mad.lo.s32
; PTX-LABEL: .entry fill(
; PTX-NOT:     mad.lo.s32
; PTX:         st.volatile.global
; PTX:         mad.lo.s32

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [4096 x i32] undef

define ptx_kernel void @fill(i32 %n, ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {
entry:
  %column = load volatile i32, ptr addrspace(1) %in
  %row0 = load volatile i32, ptr addrspace(1) %in
  %first0 = mul i32 %row0, 33
  %element0 = add i32 %first0, %column
  %wide0 = sext i32 %element0 to i64
  %address0 = getelementptr i32, ptr addrspace(3) @tile, i64 %wide0
  %row1 = load volatile i32, ptr addrspace(1) %in
  %first1 = mul i32 %row1, 33
  %element1 = add i32 %first1, %column
  %wide1 = sext i32 %element1 to i64
  %address1 = getelementptr i32, ptr addrspace(3) @tile, i64 %wide1
  %row2 = load volatile i32, ptr addrspace(1) %in
  %first2 = mul i32 %row2, 33
  %element2 = add i32 %first2, %column
  %wide2 = sext i32 %element2 to i64
  %address2 = getelementptr i32, ptr addrspace(3) @tile, i64 %wide2
  %row3 = load volatile i32, ptr addrspace(1) %in
  %first3 = mul i32 %row3, 33
  %element3 = add i32 %first3, %column
  %wide3 = sext i32 %element3 to i64
  %address3 = getelementptr i32, ptr addrspace(3) @tile, i64 %wide3
  %row4 = load volatile i32, ptr addrspace(1) %in
  %first4 = mul i32 %row4, 33
  %element4 = add i32 %first4, %column
  %wide4 = sext i32 %element4 to i64
  %address4 = getelementptr i32, ptr addrspace(3) @tile, i64 %wide4
  %v0 = load volatile i32, ptr addrspace(1) %in
  %v1 = load volatile i32, ptr addrspace(1) %in
  %v2 = load volatile i32, ptr addrspace(1) %in
  %v3 = load volatile i32, ptr addrspace(1) %in
  %v4 = load volatile i32, ptr addrspace(1) %in
  %v5 = load volatile i32, ptr addrspace(1) %in
  %v6 = load volatile i32, ptr addrspace(1) %in
  %v7 = load volatile i32, ptr addrspace(1) %in
  %v8 = load volatile i32, ptr addrspace(1) %in
  %v9 = load volatile i32, ptr addrspace(1) %in
  %v10 = load volatile i32, ptr addrspace(1) %in
  %v11 = load volatile i32, ptr addrspace(1) %in
  %v12 = load volatile i32, ptr addrspace(1) %in
  %v13 = load volatile i32, ptr addrspace(1) %in
  %v14 = load volatile i32, ptr addrspace(1) %in
  %v15 = load volatile i32, ptr addrspace(1) %in
  %v16 = load volatile i32, ptr addrspace(1) %in
  %v17 = load volatile i32, ptr addrspace(1) %in
  %v18 = load volatile i32, ptr addrspace(1) %in
  %v19 = load volatile i32, ptr addrspace(1) %in
  %v20 = load volatile i32, ptr addrspace(1) %in
  %v21 = load volatile i32, ptr addrspace(1) %in
  %v22 = load volatile i32, ptr addrspace(1) %in
  %v23 = load volatile i32, ptr addrspace(1) %in
  %v24 = load volatile i32, ptr addrspace(1) %in
  %v25 = load volatile i32, ptr addrspace(1) %in
  %v26 = load volatile i32, ptr addrspace(1) %in
  %v27 = load volatile i32, ptr addrspace(1) %in
  %v28 = load volatile i32, ptr addrspace(1) %in
  %v29 = load volatile i32, ptr addrspace(1) %in
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %row0, ptr addrspace(1) %out
  store volatile i32 %row1, ptr addrspace(1) %out
  store volatile i32 %row2, ptr addrspace(1) %out
  store volatile i32 %row3, ptr addrspace(1) %out
  store volatile i32 %row4, ptr addrspace(1) %out
  store volatile i32 %column, ptr addrspace(1) %out
  store volatile i32 %i, ptr addrspace(3) %address0
  store volatile i32 %i, ptr addrspace(3) %address1
  store volatile i32 %i, ptr addrspace(3) %address2
  store volatile i32 %i, ptr addrspace(3) %address3
  store volatile i32 %i, ptr addrspace(3) %address4
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:
  store volatile i32 %v0, ptr addrspace(1) %out
  store volatile i32 %v1, ptr addrspace(1) %out
  store volatile i32 %v2, ptr addrspace(1) %out
  store volatile i32 %v3, ptr addrspace(1) %out
  store volatile i32 %v4, ptr addrspace(1) %out
  store volatile i32 %v5, ptr addrspace(1) %out
  store volatile i32 %v6, ptr addrspace(1) %out
  store volatile i32 %v7, ptr addrspace(1) %out
  store volatile i32 %v8, ptr addrspace(1) %out
  store volatile i32 %v9, ptr addrspace(1) %out
  store volatile i32 %v10, ptr addrspace(1) %out
  store volatile i32 %v11, ptr addrspace(1) %out
  store volatile i32 %v12, ptr addrspace(1) %out
  store volatile i32 %v13, ptr addrspace(1) %out
  store volatile i32 %v14, ptr addrspace(1) %out
  store volatile i32 %v15, ptr addrspace(1) %out
  store volatile i32 %v16, ptr addrspace(1) %out
  store volatile i32 %v17, ptr addrspace(1) %out
  store volatile i32 %v18, ptr addrspace(1) %out
  store volatile i32 %v19, ptr addrspace(1) %out
  store volatile i32 %v20, ptr addrspace(1) %out
  store volatile i32 %v21, ptr addrspace(1) %out
  store volatile i32 %v22, ptr addrspace(1) %out
  store volatile i32 %v23, ptr addrspace(1) %out
  store volatile i32 %v24, ptr addrspace(1) %out
  store volatile i32 %v25, ptr addrspace(1) %out
  store volatile i32 %v26, ptr addrspace(1) %out
  store volatile i32 %v27, ptr addrspace(1) %out
  store volatile i32 %v28, ptr addrspace(1) %out
  store volatile i32 %v29, ptr addrspace(1) %out
  ret void
}

attributes #0 = { "nvvm.maxnreg"="32" }
