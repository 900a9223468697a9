; A choice for a kernel, applied before LLVM's optimisations, decides which loops are unrolled, and leaves no marks.

; RUN: %opt -load-pass-plugin=%plugin -passes='default<O3>' -mcpu=sm_90 -S %s | FileCheck %s
; RUN: %opt -load-pass-plugin=%plugin -passes='default<O3>' -mcpu=sm_90 -nvptx-ra-unroll=llvm -S %s \
; RUN:   | FileCheck %s --check-prefix=LLVM
; RUN: %opt -load-pass-plugin=%plugin -passes='default<O3>' -mcpu=sm_90 -S %s | FileCheck %s --check-prefix=NO-MARKS

target triple = "nvptx64-nvidia-cuda"

; NO-MARKS-NOT: nvptx-ra.unroll
; NO-MARKS-NOT: nvptx-ra-unroll
; NO-MARKS-NOT: !"llvm.loop.unroll.count", i32 1}

; LLVM unrolls the loop; the kernel's choice disables unrolling.
; LLVM-LABEL: define {{.*}}@asked(
; LLVM-COUNT-8: store volatile
; CHECK-LABEL: define {{.*}}@asked(
; CHECK: store volatile
; CHECK-NOT: store volatile
; CHECK: ret void
define ptx_kernel void @asked(ptr %p) "nvptx-ra"="unroll=asked" {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  %next = add i32 %i, 1
  %is = icmp ult i32 %next, 8
  br i1 %is, label %loop, label %end

end:
  ret void
}

; A loop with a pragma is still unrolled.
; CHECK-LABEL: define {{.*}}@pragma(
; CHECK-COUNT-8: store volatile
; CHECK: ret void
define ptx_kernel void @pragma(ptr %p) "nvptx-ra"="unroll=asked" {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  %next = add i32 %i, 1
  %is = icmp ult i32 %next, 8
  br i1 %is, label %loop, label %end, !llvm.loop !0

end:
  ret void
}

; The array of the second kernel is completely in registers, or stays in memory.
; LLVM-LABEL: define {{.*}}@array(
; LLVM: alloca
; CHECK-LABEL: define {{.*}}@array(
; CHECK-NOT: alloca
; CHECK: ret void
define ptx_kernel void @array(ptr %p) "nvptx-ra"="unroll=stack" {
entry:
  %array = alloca [400 x i32]
  br label %fill

fill:
  %i = phi i64 [ 0, %entry ], [ %next, %fill ]
  %to = getelementptr i32, ptr %array, i64 %i
  %v = load volatile i32, ptr %p
  store i32 %v, ptr %to
  %next = add i64 %i, 1
  %is = icmp ult i64 %next, 400
  br i1 %is, label %fill, label %drain

drain:
  %j = phi i64 [ 0, %fill ], [ %after, %drain ]
  %from = getelementptr i32, ptr %array, i64 %j
  %w = load i32, ptr %from
  store volatile i32 %w, ptr %p
  %after = add i64 %j, 1
  %again = icmp ult i64 %after, 400
  br i1 %again, label %drain, label %end

end:
  ret void
}

; An iteration has four instructions, two of which end it; empty assembly does not count. Half of the 16,384 iterations
; fit NVIDIA's limit on the unrolled size. The number must be a power of two that divides the trip count.
; LLVM-LABEL: define {{.*}}@cut(
; LLVM-COUNT-4096: store volatile
; LLVM-NOT: store volatile
; LLVM: ret void
; CHECK-LABEL: define {{.*}}@cut(
; CHECK-COUNT-8192: store volatile
; CHECK-NOT: store volatile
; CHECK: ret void
define ptx_kernel void @cut(ptr %p) "nvptx-ra"="unroll=cut" {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  call void asm sideeffect "// one", ""()
  %next = add i32 %i, 1
  %is = icmp ult i32 %next, 16384
  br i1 %is, label %loop, label %end, !llvm.loop !1

end:
  ret void
}

; A short loop that ends at the lesser of two bounds is unrolled by four, and a remainder loop follows. LLVM does not
; unroll it.
; LLVM-LABEL: define {{.*}}@lesser(
; LLVM-COUNT-1: store volatile
; LLVM-NOT: store volatile
; LLVM: ret void
; CHECK-LABEL: define {{.*}}@lesser(
; CHECK-COUNT-5: store volatile
; CHECK-NOT: store volatile
; CHECK: ret void
define ptx_kernel void @lesser(ptr %p, i32 %y, i32 %height) "nvptx-ra"="unroll=cut" {
entry:
  %first = icmp slt i32 %y, %height
  br i1 %first, label %loop, label %end

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = phi i32 [ %y, %entry ], [ %below, %loop ]
  %place = getelementptr i32, ptr %p, i32 %at
  store volatile i32 %i, ptr %place
  %next = add nuw nsw i32 %i, 1
  %below = add nsw i32 %at, 1
  %few = icmp ult i32 %next, 32
  %inside = icmp slt i32 %below, %height
  %on = select i1 %few, i1 %inside, i1 false
  br i1 %on, label %loop, label %end

end:
  ret void
}

; All 10,000 iterations fit NVIDIA's limit but not LLVM's, so LLVM unrolls by 5,000.
; LLVM-LABEL: define {{.*}}@more(
; LLVM-COUNT-5000: store volatile
; LLVM-NOT: store volatile
; LLVM: ret void
; CHECK-LABEL: define {{.*}}@more(
; CHECK-COUNT-10000: store volatile
; CHECK-NOT: store volatile
; CHECK: ret void
define ptx_kernel void @more(ptr %p) "nvptx-ra"="unroll=cut" {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  call void asm sideeffect "// one", ""()
  %next = add i32 %i, 1
  %is = icmp ult i32 %next, 10000
  br i1 %is, label %loop, label %end, !llvm.loop !5

end:
  ret void
}

; A loop with an odd trip count is unrolled by four. LLVM unrolls it by the largest divisor.
; LLVM-LABEL: define {{.*}}@odd(
; LLVM-COUNT-6667: store volatile
; LLVM-NOT: store volatile
; LLVM: ret void
; CHECK-LABEL: define {{.*}}@odd(
; CHECK-COUNT-4: store volatile
; CHECK-NOT: store volatile
; CHECK: ret void
define ptx_kernel void @odd(ptr %p) "nvptx-ra"="unroll=cut" {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  %next = add i32 %i, 1
  %is = icmp ult i32 %next, 20001
  br i1 %is, label %loop, label %end, !llvm.loop !8

end:
  ret void
}

; If the trip count of an inner loop is unknown, the outer loop is unrolled fully or not at all. LLVM unrolls it by two
; of eight iterations, although twice as many would fit NVIDIA's limit.
; LLVM-LABEL: define {{.*}}@nested(
; LLVM-COUNT-10000: store volatile
; LLVM-NOT: store volatile
; LLVM: ret void
; CHECK-LABEL: define {{.*}}@nested(
; CHECK-COUNT-5000: store volatile
; CHECK-NOT: store volatile
; CHECK: ret void
define ptx_kernel void @nested(ptr %p, i32 %n) "nvptx-ra"="unroll=cut" {
entry:
  br label %outer

outer:
  %j = phi i32 [ 0, %entry ], [ %following, %latch ]
  br label %middle

middle:
  %k = phi i32 [ 0, %outer ], [ %second, %turned ]
  br label %loop

loop:
  %i = phi i32 [ 0, %middle ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  call void asm sideeffect "// one", ""()
  %next = add i32 %i, 1
  %is = icmp ult i32 %next, 5000
  br i1 %is, label %loop, label %turned, !llvm.loop !3

turned:
  %second = add i32 %k, 1
  %again = icmp ult i32 %second, %n
  br i1 %again, label %middle, label %latch, !llvm.loop !6

latch:
  %following = add i32 %j, 1
  %goes = icmp ult i32 %following, 8
  br i1 %goes, label %outer, label %end, !llvm.loop !4

end:
  ret void
}

; Partial unrolling of an inner loop counts: 8,192 iterations of the inner loop fit, and eight times as many do not.
; CHECK-LABEL: define {{.*}}@part(
; CHECK-COUNT-8192: store volatile
; CHECK-NOT: store volatile
; CHECK: ret void
define ptx_kernel void @part(ptr %p) "nvptx-ra"="unroll=cut" {
entry:
  br label %outer

outer:
  %j = phi i32 [ 0, %entry ], [ %following, %latch ]
  br label %loop

loop:
  %i = phi i32 [ 0, %outer ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  %next = add i32 %i, 1
  %is = icmp ult i32 %next, 16384
  br i1 %is, label %loop, label %latch, !llvm.loop !9

latch:
  %following = add i32 %j, 1
  %goes = icmp ult i32 %following, 8
  br i1 %goes, label %outer, label %end, !llvm.loop !10

end:
  ret void
}

; A pragma requests 40,000 of 100,000 iterations, which do not fit. The loop is unrolled by 32, which divides the trip
; count.
; LLVM-LABEL: define {{.*}}@asked_number(
; LLVM-COUNT-40000: store volatile
; CHECK-LABEL: define {{.*}}@asked_number(
; CHECK-COUNT-32: store volatile
; CHECK-NOT: store volatile
; CHECK: ret void
define ptx_kernel void @asked_number(ptr %p) "nvptx-ra"="unroll=cut" {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  %next = add i32 %i, 1
  %is = icmp ult i32 %next, 100000
  br i1 %is, label %loop, label %end, !llvm.loop !11

end:
  ret void
}

; A loop with an early exit has at most 16,384 iterations of five instructions each.
; LLVM-LABEL: define {{.*}}@breaks(
; LLVM-COUNT-2048: store volatile
; LLVM-NOT: store volatile
; CHECK-LABEL: define {{.*}}@breaks(
; CHECK-COUNT-4096: store volatile
; CHECK-NOT: store volatile
define ptx_kernel void @breaks(ptr %p) "nvptx-ra"="unroll=cut" {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %more ]
  store volatile i32 %i, ptr %p
  %v = load volatile i32, ptr %p
  %leaves = icmp eq i32 %v, 77
  br i1 %leaves, label %left, label %more

left:
  call void asm sideeffect "// left", ""()
  ret void

more:
  %next = add i32 %i, 1
  %is = icmp ult i32 %next, 16384
  br i1 %is, label %loop, label %end, !llvm.loop !12

end:
  ret void
}

; LLVM creates no remainder loop if all threads of a warp take part in the loop. With an odd trip count the loop is
; therefore not unrolled, and ptxas gets no pragma for it.
; LLVM-LABEL: define {{.*}}@together(
; CHECK-LABEL: define {{.*}}@together(
; CHECK: store volatile
; CHECK-NOT: store volatile
; CHECK: ret void
define ptx_kernel void @together(ptr %p) "nvptx-ra"="unroll=cut" {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add i32 %i, 1
  %is = icmp ult i32 %next, 20001
  br i1 %is, label %loop, label %end, !llvm.loop !13

end:
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

!0 = distinct !{!0, !2}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.unroll.enable"}
!3 = distinct !{!3, !2}
!4 = distinct !{!4, !2}
!5 = distinct !{!5, !2}
!6 = distinct !{!6, !7}
!7 = !{!"llvm.loop.unroll.disable"}
!8 = distinct !{!8, !2}
!9 = distinct !{!9, !2}
!10 = distinct !{!10, !2}
!11 = distinct !{!11, !14}
!12 = distinct !{!12, !2}
!13 = distinct !{!13, !2}
!14 = !{!"llvm.loop.unroll.count", i32 40000}
