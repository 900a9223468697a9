; An attribute skips LLVM's own optimisations on its function only, and the command line skips them on every function
; except those that are off. Bisection continues to work. The IR after the optimiser is the same.
; RUN: %llc -mcpu=sm_90 %s -o - | FileCheck %s --check-prefixes=SUNK-A,SUNK-B,SUNK-C
; RUN: %llc-ra -mcpu=sm_90 %s -o - | FileCheck %s --check-prefixes=AHEAD-A,SUNK-B,SUNK-C
; RUN: %llc-ra -nvptx-ra-skip-passes=machine-sink -mcpu=sm_90 %s -o - | FileCheck %s --check-prefixes=AHEAD-A,AHEAD-B,SUNK-C
; RUN: %nvptx-ra compile --set skip-passes=machine-sink --cpu sm_90 %s -o - | FileCheck %s --check-prefixes=AHEAD-A,AHEAD-B,SUNK-C
; RUN: %llc-ra -nvptx-ra-skip-passes=gvn+slsr -mcpu=sm_90 %s -o - | FileCheck %s --check-prefixes=SUNK-A,SUNK-B,SUNK-C
; RUN: %llc-ra -opt-disable=machine-sink -mcpu=sm_90 %s -o - | FileCheck %s --check-prefixes=AHEAD-A,AHEAD-B,AHEAD-C
; RUN: %opt -load-pass-plugin=%plugin '-passes=nvptx-ra<skip-passes=machine-sink>' %s -o - \
; RUN:   | %llc-ra -mcpu=sm_90 -o - | FileCheck %s --check-prefixes=AHEAD-A,AHEAD-B,SUNK-C
; RUN: not %llc-ra -nvptx-ra-skip-passes=machine-sunk -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
; WRONG: skip-passes=machine-sunk: unknown; use {{.*}}machine-sink
; RUN: not %llc-ra -nvptx-ra-skip-passes=auto -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMOVED
; REMOVED: skip-passes=auto: removed; name the passes to skip, as in skip-passes=loop-reduce; `nvptx-ra tune` finds the best passes for each kernel
; The message for the earlier name of the option gives the new name.
; RUN: not %llc-ra -nvptx-ra-skip=gvn -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RENAMED
; RUN: not %nvptx-ra compile --set skip=gvn --cpu sm_90 %s -o - 2>&1 | FileCheck %s --check-prefix=RENAMED
; RUN: not %opt -load-pass-plugin=%plugin '-passes=nvptx-ra<skip=gvn>' %s -o - 2>&1 | FileCheck %s --check-prefix=RENAMED
; RENAMED: skip=gvn: renamed; use skip-passes

target triple = "nvptx64-nvidia-cuda"

; A product that only one branch needs sinks into it.
; SUNK-A-LABEL:  .entry a(
; SUNK-A:        bra
; SUNK-A:        mul.lo.s32
; AHEAD-A-LABEL: .entry a(
; AHEAD-A-NOT:   bra
; AHEAD-A:       mul.lo.s32
define ptx_kernel void @a(ptr %out, i32 %x, i1 %needs) "nvptx-ra"="skip-passes=machine-sink" {
  %product = mul i32 %x, 12345
  br i1 %needs, label %then, label %end
then:
  store volatile i32 %x, ptr %out
  store volatile i32 %product, ptr %out
  br label %end
end:
  ret void
}

; SUNK-B-LABEL:  .entry b(
; SUNK-B:        bra
; SUNK-B:        mul.lo.s32
; AHEAD-B-LABEL: .entry b(
; AHEAD-B-NOT:   bra
; AHEAD-B:       mul.lo.s32
define ptx_kernel void @b(ptr %out, i32 %x, i1 %needs) {
  %product = mul i32 %x, 12345
  br i1 %needs, label %then, label %end
then:
  store volatile i32 %x, ptr %out
  store volatile i32 %product, ptr %out
  br label %end
end:
  ret void
}

; SUNK-C-LABEL:  .entry c(
; SUNK-C:        bra
; SUNK-C:        mul.lo.s32
; AHEAD-C-LABEL: .entry c(
; AHEAD-C-NOT:   bra
; AHEAD-C:       mul.lo.s32
define ptx_kernel void @c(ptr %out, i32 %x, i1 %needs) "nvptx-ra"="off" {
  %product = mul i32 %x, 12345
  br i1 %needs, label %then, label %end
then:
  store volatile i32 %x, ptr %out
  store volatile i32 %product, ptr %out
  br label %end
end:
  ret void
}

; Two functions have a loop. The function with the option computes its addresses from the counter; the other increments
; addresses.
; RUN: %llc-ra -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=LOOP
; RUN: %nvptx-ra compile --cpu sm_90 %s -o - | FileCheck %s --check-prefix=LOOP
; LOOP-LABEL: .entry counts_up(
; LOOP:       add.s64 {{.*}}, 12;
; LOOP-LABEL: .entry computes(
; LOOP:       mul.wide.u32 {{.*}}, 12;
; LOOP-NOT:   add.s64 {{.*}}, 12;
; LOOP:       ret;
define ptx_kernel void @counts_up(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %wide = zext i32 %i to i64
  %at = getelementptr [3 x i32], ptr addrspace(1) %out, i64 %wide
  store volatile i32 %n, ptr addrspace(1) %at
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

define ptx_kernel void @computes(ptr addrspace(1) %out, i32 %n) "nvptx-ra"="skip-passes=loop-reduce" {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %wide = zext i32 %i to i64
  %at = getelementptr [3 x i32], ptr addrspace(1) %out, i64 %wide
  store volatile i32 %n, ptr addrspace(1) %at
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
