; Unusual control flow compiles to code that the checker, LLVM's machine verifier and ptxas accept, with and without
; optimisation, before and after LLVM's own coalescer.
; DEFINE: %{compile} = %llc-ra -verify-machineinstrs -mcpu=sm_90
; RUN: %{compile} -O0 %s -o %t.O0.ptx
; RUN: %{compile} -O3 %s -o %t.O3.ptx
; RUN: %{compile} -O3 -nvptx-ra-position=before %s -o %t.before.ptx
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.O0.ptx %}
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.O3.ptx %}
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.before.ptx %}
; RUN: FileCheck %s < %t.O0.ptx
; RUN: FileCheck %s < %t.O3.ptx

target triple = "nvptx64-nvidia-cuda"

; Unreachable blocks, including a loop with PHIs, and values that are undefined on one path.
; CHECK-LABEL: unreachable_blocks(
; CHECK: ret;
define i32 @unreachable_blocks(i32 %n) {
entry:
  br label %done
lost:
  %a = phi i32 [ 0, %lost ], [ 1, %island ]
  %b = phi i32 [ %a, %lost ], [ 2, %island ]
  br i1 poison, label %lost, label %done
island:
  br label %lost
done:
  %r = phi i32 [ %n, %entry ], [ %b, %lost ]
  ret i32 %r
}

; Values that circulate in a loop and are never defined.
; CHECK-LABEL: undefined_values(
; CHECK: ret;
define i32 @undefined_values(i32 %n, i1 %p) {
entry:
  br label %loop
loop:
  %a = phi i32 [ undef, %entry ], [ %d, %latch ]
  %b = phi i32 [ poison, %entry ], [ %a, %latch ]
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  br i1 %p, label %other, label %latch
other:
  br label %latch
latch:
  %d = phi i32 [ %b, %loop ], [ undef, %other ]
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %done
done:
  %s = add i32 %d, %b
  ret i32 %s
}

; A function that does not return.
; CHECK-LABEL: ends_nowhere(
; CHECK: st.b32
define void @ends_nowhere(ptr %p) noreturn {
  store i32 1, ptr %p
  unreachable
}

; A cycle with two entries, on which values are swapped.
; CHECK-LABEL: irreducible(
; CHECK: mul.lo.s32
define i32 @irreducible(i32 %x, i32 %y, i1 %c) {
entry:
  br i1 %c, label %left, label %right
left:
  %a = phi i32 [ %x, %entry ], [ %d, %right ]
  %b = phi i32 [ %y, %entry ], [ %e, %right ]
  %a1 = add i32 %a, 1
  %leave = icmp ugt i32 %a1, 100
  br i1 %leave, label %done, label %right
right:
  %d = phi i32 [ %y, %entry ], [ %b, %left ]
  %e = phi i32 [ %x, %entry ], [ %a1, %left ]
  %e1 = mul i32 %e, 3
  %again = icmp ult i32 %e1, %d
  br i1 %again, label %left, label %done
done:
  %r = phi i32 [ %b, %left ], [ %e1, %right ]
  ret i32 %r
}

; A jump table in which several cases lead to one block. A PHI of this block lists the predecessor once for each case.
; CHECK-LABEL: table(
; CHECK: brx.idx
define i32 @table(i32 %n, i32 %x) {
entry:
  switch i32 %n, label %other [
    i32 0, label %join
    i32 1, label %one
    i32 2, label %two
    i32 3, label %three
    i32 4, label %one
    i32 5, label %join
    i32 6, label %two
    i32 7, label %four
  ]
one:
  %v1 = phi i32 [ %x, %entry ], [ %x, %entry ]
  %w1 = mul i32 %v1, %n
  br label %join
two:
  %v2 = phi i32 [ %x, %entry ], [ %x, %entry ]
  br label %join
three:
  %w3 = sub i32 %x, %n
  br label %join
four:
  %w4 = xor i32 %x, %n
  br label %join
other:
  ret i32 7
join:
  %r = phi i32 [ %x, %entry ], [ %x, %entry ], [ %w1, %one ], [ %v2, %two ], [ %w3, %three ], [ %w4, %four ]
  ret i32 %r
}

; A branch whose two edges lead to the same block.
; CHECK-LABEL: same_target_twice(
; CHECK: ret;
define i32 @same_target_twice(i1 %c, i32 %x) {
entry:
  br i1 %c, label %join, label %join
join:
  %r = phi i32 [ %x, %entry ], [ %x, %entry ]
  ret i32 %r
}
