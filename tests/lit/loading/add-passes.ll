; An attribute adds LLVM's optimisations to its function only, and the command line adds them to every function.
; Functions that are off or not optimised get none. Bisection counts each added optimisation. At -O0 nothing is added.
; RUN: %llc -mcpu=sm_90 %s -o - | FileCheck %s --check-prefixes=TWICE-A,TWICE-B,TWICE-C,TWICE-D
; RUN: %llc-ra -mcpu=sm_90 %s -o - | FileCheck %s --check-prefixes=ONCE-A,TWICE-B,TWICE-C,TWICE-D
; RUN: %llc-ra -nvptx-ra-add-passes=gvn-hoist -mcpu=sm_90 %s -o - | FileCheck %s --check-prefixes=ONCE-A,ONCE-B,TWICE-C,TWICE-D
; RUN: %nvptx-ra compile --set add-passes=gvn-hoist --cpu sm_90 %s -o - \
; RUN:   | FileCheck %s --check-prefixes=ONCE-A,ONCE-B,TWICE-C,TWICE-D
; RUN: %llc-ra -nvptx-ra-add-passes=slsr+sink -mcpu=sm_90 %s -o - \
; RUN:   | FileCheck %s --check-prefixes=TWICE-A,TWICE-B,TWICE-C,TWICE-D
; RUN: %llc-ra -opt-bisect-limit=0 -mcpu=sm_90 %s -o - 2>/dev/null \
; RUN:   | FileCheck %s --check-prefixes=TWICE-A,TWICE-B,TWICE-C,TWICE-D
; RUN: %llc-ra -O0 -nvptx-ra-add-passes=gvn-hoist -mcpu=sm_90 %s -o - \
; RUN:   | FileCheck %s --check-prefixes=TWICE-A,TWICE-B,TWICE-C,TWICE-D
; RUN: %opt -load-pass-plugin=%plugin '-passes=nvptx-ra<add-passes=gvn-hoist>' %s -o - \
; RUN:   | %llc-ra -mcpu=sm_90 -o - | FileCheck %s --check-prefixes=ONCE-A,ONCE-B,TWICE-C,TWICE-D
; RUN: not %llc-ra -nvptx-ra-add-passes=gvn-hoists -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
; WRONG: add-passes=gvn-hoists: unknown; use {{.*}}did you mean gvn-hoist?

target triple = "nvptx64-nvidia-cuda"

; A product that both sides of a branch compute is computed before it.
; TWICE-A-LABEL: .entry a(
; TWICE-A:       bra
; TWICE-A:       mul.lo.s32
; TWICE-A:       mul.lo.s32
; ONCE-A-LABEL:  .entry a(
; ONCE-A-NOT:    bra
; ONCE-A:        mul.lo.s32
; ONCE-A-NOT:    mul.lo.s32
; ONCE-A:        ret;
define ptx_kernel void @a(ptr %out, i32 %x, i1 %which) "nvptx-ra"="add-passes=gvn-hoist" {
  br i1 %which, label %then, label %else
then:
  %product = mul i32 %x, 12345
  store volatile i32 %product, ptr %out
  ret void
else:
  %same = mul i32 %x, 12345
  %other = xor i32 %same, 1
  store volatile i32 %other, ptr %out
  ret void
}

; TWICE-B-LABEL: .entry b(
; TWICE-B:       bra
; TWICE-B:       mul.lo.s32
; TWICE-B:       mul.lo.s32
; ONCE-B-LABEL:  .entry b(
; ONCE-B-NOT:    bra
; ONCE-B:        mul.lo.s32
; ONCE-B-NOT:    mul.lo.s32
; ONCE-B:        ret;
define ptx_kernel void @b(ptr %out, i32 %x, i1 %which) {
  br i1 %which, label %then, label %else
then:
  %product = mul i32 %x, 12345
  store volatile i32 %product, ptr %out
  ret void
else:
  %same = mul i32 %x, 12345
  %other = xor i32 %same, 1
  store volatile i32 %other, ptr %out
  ret void
}

; TWICE-C-LABEL: .entry c(
; TWICE-C:       bra
; TWICE-C:       mul.lo.s32
; TWICE-C:       mul.lo.s32
define ptx_kernel void @c(ptr %out, i32 %x, i1 %which) "nvptx-ra"="off" {
  br i1 %which, label %then, label %else
then:
  %product = mul i32 %x, 12345
  store volatile i32 %product, ptr %out
  ret void
else:
  %same = mul i32 %x, 12345
  %other = xor i32 %same, 1
  store volatile i32 %other, ptr %out
  ret void
}

; TWICE-D-LABEL: .entry d(
; TWICE-D:       bra
; TWICE-D:       mul.lo.s32
; TWICE-D:       mul.lo.s32
define ptx_kernel void @d(ptr %out, i32 %x, i1 %which) noinline optnone {
  br i1 %which, label %then, label %else
then:
  %product = mul i32 %x, 12345
  store volatile i32 %product, ptr %out
  ret void
else:
  %same = mul i32 %x, 12345
  %other = xor i32 %same, 1
  store volatile i32 %other, ptr %out
  ret void
}

; All optimisations together run on a switch, on a loop with two entries, and on a barrier, which is not duplicated.
; RUN: %llc-ra -nvptx-ra-add-passes=all -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=ALL
; ALL-LABEL: .entry tangled(
; ALL:       bar.sync
; ALL-NOT:   bar.sync
; ALL:       ret;
define ptx_kernel void @tangled(ptr %out, i32 %x, i32 %which) {
  switch i32 %which, label %one [ i32 3, label %other
                                  i32 4, label %end ]
one:
  %i = phi i32 [ 0, %0 ], [ %k, %other ]
  %j = add i32 %i, %x
  store volatile i32 %j, ptr %out
  br label %other
other:
  %k = phi i32 [ 1, %0 ], [ %j, %one ]
  %more = icmp ult i32 %k, 1000
  br i1 %more, label %one, label %end
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
