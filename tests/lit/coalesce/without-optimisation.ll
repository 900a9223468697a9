; At -O0 LLVM coalesces nothing, but the copies from PHI elimination are removed. A function marked optnone keeps them
; unless an option requests it.
; RUN: %llc-ra -O0 -mcpu=sm_90 %s -o - | FileCheck %s
; RUN: %llc-ra -O0 -nvptx-ra-optnone -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=ASKED

; CHECK-LABEL: .entry sum(
; CHECK-NOT: mov.b32 %r{{[0-9]+}}, %r
; CHECK: ret;
; CHECK-LABEL: .entry debugged(
; CHECK: mov.b32 %r{{[0-9]+}}, %r
; CHECK: ret;
; ASKED-LABEL: .entry debugged(
; ASKED-NOT: mov.b32 %r{{[0-9]+}}, %r
; ASKED: ret;

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @sum(ptr addrspace(1) %out, i32 %n, i32 %start) {
entry:
  br label %loop

loop:
  %i = phi i32 [ %n, %entry ], [ %i.next, %loop ]
  %total = phi i32 [ %start, %entry ], [ %total.next, %loop ]
  %total.next = add i32 %total, %i
  %i.next = sub i32 %i, 1
  %more = icmp sgt i32 %i.next, 0
  br i1 %more, label %loop, label %done

done:
  store i32 %total.next, ptr addrspace(1) %out
  ret void
}

define ptx_kernel void @debugged(ptr addrspace(1) %out, i32 %n, i32 %start) noinline optnone {
entry:
  br label %loop

loop:
  %i = phi i32 [ %n, %entry ], [ %i.next, %loop ]
  %total = phi i32 [ %start, %entry ], [ %total.next, %loop ]
  %total.next = add i32 %total, %i
  %i.next = sub i32 %i, 1
  %more = icmp sgt i32 %i.next, 0
  br i1 %more, label %loop, label %done

done:
  store i32 %total.next, ptr addrspace(1) %out
  ret void
}
