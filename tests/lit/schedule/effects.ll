; No order moves a load across a store that may write the loaded memory. No order moves an instruction with effects
; across a barrier or a volatile access, or any instruction into a call's sequence.
; RUN: %llc-ra -nvptx-ra-order=late -mcpu=sm_90 %s -o - | FileCheck %s
; RUN: %llc-ra -nvptx-ra-order=bottom-up -nvptx-ra-order-seed=5 -mcpu=sm_90 %s -o - | FileCheck %s
; RUN: %llc-ra -nvptx-ra-order=loads-clustered -mcpu=sm_90 %s -o - | FileCheck %s
; RUN: %llc-ra -nvptx-ra-order=latency -nvptx-ra-order-seed=6 -mcpu=sm_90 %s -o - | FileCheck %s

; CHECK-LABEL: .entry ordered(
; CHECK:       ld.global.b32 [[FIRST:%r[0-9]+]]
; CHECK:       st.global
; CHECK:       bar.sync 0
; CHECK:       ld.volatile.global
; CHECK:       { // callseq
; CHECK-NOT:   add
; CHECK-NOT:   ld.global
; CHECK:       } // callseq
; CHECK:       st.global
; CHECK:       ret

target triple = "nvptx64-nvidia-cuda"

declare i32 @callee(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @ordered(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %a = load i32, ptr addrspace(1) %p
  store i32 1, ptr addrspace(1) %q
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load volatile i32, ptr addrspace(1) %p
  %sum = add i32 %a, %v
  %r = call i32 @callee(i32 %sum)
  %twice = add i32 %r, %a
  store i32 %twice, ptr addrspace(1) %q
  ret void
}
