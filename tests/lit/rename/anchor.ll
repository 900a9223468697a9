; Renaming runs after every pass that compares instructions. With shared names, two sides of a branch become equal but
; keep their instructions; branch folding would have moved them before the branch. No option that disables a pass also
; disables renaming. Machine CSE is off because it merges the instructions by their values, with any names.
; RUN: %llc-ra -disable-machine-cse -mcpu=sm_90 %s -o - | FileCheck %s
; RUN: %llc-ra -disable-machine-cse -O1 -mcpu=sm_90 %s -o - | FileCheck %s
; RUN: %llc-ra -disable-machine-cse -disable-branch-fold -mcpu=sm_90 %s -o - | FileCheck %s
; RUN: %llc-ra -disable-machine-cse -disable-block-placement -mcpu=sm_90 %s -o - | FileCheck %s

; CHECK-LABEL: .entry sides(
; Two names: one for the argument, which lives across blocks, and one for all values within blocks.
; CHECK:       .reg .b32 %r<3>;
; CHECK-NOT:   mul
; CHECK:       @%p1 bra
; CHECK:       shr.u32 %r1, %r2, 4;
; CHECK-NEXT:  mul.lo.s32 %r1, %r1, 3;
; CHECK-NEXT:  st.volatile
; CHECK:       shr.u32 %r1, %r2, 4;
; CHECK-NEXT:  mul.lo.s32 %r1, %r1, 3;
; CHECK-NEXT:  xor.b32 %r1, %r1, 5;

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @sides(ptr addrspace(1) %out, i32 %m, i64 %n) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %left, label %right
left:
  %a = lshr i32 %m, 4
  %b = mul i32 %a, 3
  store volatile i32 %b, ptr addrspace(1) %out
  br label %exit
right:
  %c = lshr i32 %m, 4
  %d = mul i32 %c, 3
  %e = xor i32 %d, 5
  store volatile i32 %e, ptr addrspace(1) %out
  br label %exit
exit:
  ret void
}
