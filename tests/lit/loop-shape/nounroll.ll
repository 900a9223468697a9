; A loop that the source marks as not unrolled stays as LLVM compiles it. The mark is metadata, for which LLVM prints a
; pragma, or the pragma in PTX. ptxas ignores a pragma before the loop's label, so such a pragma moves after the label.
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.ptx -pass-remarks-missed=nvptx-loop-shape 2> %t.remarks
; RUN: FileCheck %s --input-file=%t.ptx
; RUN: FileCheck %s --check-prefix=REMARKS --input-file=%t.remarks
; RUN: %nvptx-ra ptx -passes='nvptx-loop-shape<verify>' %t.ptx -o %t.same.ptx --remarks 2>&1 | FileCheck %s --check-prefix=TOOL
; RUN: cmp %t.ptx %t.same.ptx
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.ptx %}
; CHECK-LABEL: .entry disabled(
; CHECK:       .pragma "nounroll";
; CHECK:       setp.eq.b32
; CHECK-NEXT:  @%p{{[0-9]+}} bra
; CHECK-NEXT:  bra.uni
; CHECK-LABEL: .entry once(
; CHECK:       .pragma "nounroll";
; CHECK:       setp.eq.b32
; CHECK-NEXT:  @%p{{[0-9]+}} bra
; CHECK-NEXT:  bra.uni
; REMARKS-COUNT-2: the loop keeps its two jumps, which ptxas seldom unrolls: a pragma forbids unrolling
; TOOL-DAG: disabled: nvptx-loop-shape: the loop keeps its two jumps, which ptxas seldom unrolls: a pragma forbids unrolling
; TOOL-DAG: once: nvptx-loop-shape: the loop keeps its two jumps, which ptxas seldom unrolls: a pragma forbids unrolling
;
; RUN: sed -e '/^$L__BB/{N;N;s/\(.*\)\n\(.*\)\n\(.*pragma.*\)/\3\n\1\n\2/}' %t.ptx > %t.ahead.ptx
; RUN: FileCheck %s --check-prefix=AHEAD --input-file=%t.ahead.ptx
; RUN: %nvptx-ra ptx -passes='nvptx-loop-shape<verify>' %t.ahead.ptx -o %t.moved.ptx --remarks 2>&1 | FileCheck %s --check-prefix=MOVED
; RUN: FileCheck %s --check-prefix=BEHIND --input-file=%t.moved.ptx
; RUN: %nvptx-ra ptx -passes=nvptx-loop-shape %t.moved.ptx -o %t.again.ptx
; RUN: cmp %t.moved.ptx %t.again.ptx
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.moved.ptx %}
; AHEAD:       .pragma "nounroll";
; AHEAD-NEXT:  $L__BB0_1:
; AHEAD-NOT:   .pragma
; AHEAD-LABEL: .entry once(
; MOVED-COUNT-2: is before the loop's label, where ptxas ignores it: it is inserted after the label, too
; BEHIND:      .pragma "nounroll";
; BEHIND-NEXT: $L__BB0_1:
; BEHIND-NEXT: .pragma "nounroll";
; BEHIND:      setp.eq.b32
; BEHIND-NEXT: @%p{{[0-9]+}} bra
; BEHIND-NEXT: bra.uni

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @disabled(ptr addrspace(1) %at, i32 %count) {
entry:
  br label %loop
exit:
  store float %more, ptr addrspace(1) %at
  ret void
loop:
  %left = phi i32 [ %count, %entry ], [ %less, %loop ]
  %from = phi ptr addrspace(1) [ %at, %entry ], [ %next, %loop ]
  %total = phi float [ 0.0, %entry ], [ %more, %loop ]
  %value = load float, ptr addrspace(1) %from
  %more = fadd float %total, %value
  %next = getelementptr inbounds i8, ptr addrspace(1) %from, i64 4
  %less = add i32 %left, -1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %exit, label %loop, !llvm.loop !0
}

define ptx_kernel void @once(ptr addrspace(1) %at, i32 %count) {
entry:
  br label %loop
exit:
  store float %more, ptr addrspace(1) %at
  ret void
loop:
  %left = phi i32 [ %count, %entry ], [ %less, %loop ]
  %from = phi ptr addrspace(1) [ %at, %entry ], [ %next, %loop ]
  %total = phi float [ 0.0, %entry ], [ %more, %loop ]
  %value = load float, ptr addrspace(1) %from
  %more = fadd float %total, %value
  %next = getelementptr inbounds i8, ptr addrspace(1) %from, i64 4
  %less = add i32 %left, -1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %exit, label %loop, !llvm.loop !2
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.count", i32 1}
