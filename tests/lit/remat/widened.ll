; 64-bit products of 32-bit factors are computed before a block, in a kernel with more live words than a thread may have
; registers. Each product is rematerialised before its use, and its 32-bit factor stays live. With spare registers, with
; the option off, and at -O0, everything stays unchanged. The checker proves the edits; LLVM's machine verifier and
; ptxas accept the code.
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.default
; RUN: FileCheck %s --input-file=%t.default
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o - | cmp - %t.default
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.default %}
; RUN: %llc-ra -nvptx-ra-remat=off -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=OFF
; RUN: %llc-ra -O0 -mcpu=sm_90 %s -o %t.O0
; RUN: %llc-ra -O0 -nvptx-ra-remat=off -mcpu=sm_90 %s -o - | cmp - %t.O0
; RUN: sed 's/"nvvm.maxnreg"="32"//' %s > %t.free.ll
; RUN: %llc-ra -mcpu=sm_90 %t.free.ll -o - | FileCheck %s --check-prefix=OFF
; RUN: %llc-ra -nvptx-ra-trace=remat -mcpu=sm_90 %s -o - 2>&1 | FileCheck %s --check-prefix=TRACE
; CHECK-LABEL: .entry rows(
; CHECK-NOT:   mul.wide
; CHECK:       st.volatile.global.b32
; CHECK-COUNT-6: mul.wide.s32
; OFF-LABEL: .entry rows(
; OFF-COUNT-6: mul.wide.s32
; OFF:         st.volatile.global.b32
; OFF-NOT:     mul.wide
; TRACE: nvptx-remat of 'rows'
; TRACE: 6 values rematerialised, 6 registers extended for them, 0 predicates kept as bits, +0 instructions

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @rows(i32 %stride, ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {
  %row0 = load volatile i32, ptr addrspace(1) %in
  %wide0 = sext i32 %row0 to i64
  %product0 = mul nsw i64 %wide0, 1001
  %row1 = load volatile i32, ptr addrspace(1) %in
  %wide1 = sext i32 %row1 to i64
  %product1 = mul nsw i64 %wide1, 1001
  %row2 = load volatile i32, ptr addrspace(1) %in
  %wide2 = sext i32 %row2 to i64
  %product2 = mul nsw i64 %wide2, 1001
  %row3 = load volatile i32, ptr addrspace(1) %in
  %wide3 = sext i32 %row3 to i64
  %product3 = mul nsw i64 %wide3, 1001
  %row4 = load volatile i32, ptr addrspace(1) %in
  %wide4 = sext i32 %row4 to i64
  %product4 = mul nsw i64 %wide4, 1001
  %row5 = load volatile i32, ptr addrspace(1) %in
  %wide5 = sext i32 %row5 to i64
  %product5 = mul nsw i64 %wide5, 1001
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
  %v30 = load volatile i32, ptr addrspace(1) %in
  %v31 = load volatile i32, ptr addrspace(1) %in
  %v32 = load volatile i32, ptr addrspace(1) %in
  %v33 = load volatile i32, ptr addrspace(1) %in
  %v34 = load volatile i32, ptr addrspace(1) %in
  %v35 = load volatile i32, ptr addrspace(1) %in
  %v36 = load volatile i32, ptr addrspace(1) %in
  %v37 = load volatile i32, ptr addrspace(1) %in
  %v38 = load volatile i32, ptr addrspace(1) %in
  %v39 = load volatile i32, ptr addrspace(1) %in
  br label %end

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
  store volatile i32 %v30, ptr addrspace(1) %out
  store volatile i32 %v31, ptr addrspace(1) %out
  store volatile i32 %v32, ptr addrspace(1) %out
  store volatile i32 %v33, ptr addrspace(1) %out
  store volatile i32 %v34, ptr addrspace(1) %out
  store volatile i32 %v35, ptr addrspace(1) %out
  store volatile i32 %v36, ptr addrspace(1) %out
  store volatile i32 %v37, ptr addrspace(1) %out
  store volatile i32 %v38, ptr addrspace(1) %out
  store volatile i32 %v39, ptr addrspace(1) %out
  store volatile i64 %product0, ptr addrspace(1) %out
  store volatile i64 %product1, ptr addrspace(1) %out
  store volatile i64 %product2, ptr addrspace(1) %out
  store volatile i64 %product3, ptr addrspace(1) %out
  store volatile i64 %product4, ptr addrspace(1) %out
  store volatile i64 %product5, ptr addrspace(1) %out
  ret void
}

attributes #0 = { nounwind "nvvm.maxnreg"="32" }
