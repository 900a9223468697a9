; Code for any other target stays unchanged, byte for byte, at any optimisation level.
; REQUIRES: x86-64-registered-target, aarch64-registered-target
; RUN: %llc -mtriple=x86_64-linux-gnu %s -o %t.stock
; RUN: %llc-ra -mtriple=x86_64-linux-gnu %s -o %t.ours
; RUN: cmp %t.stock %t.ours
; RUN: %llc -O0 -mtriple=x86_64-linux-gnu -filetype=obj %s -o %t.stock
; RUN: %llc-ra -O0 -mtriple=x86_64-linux-gnu -filetype=obj %s -o %t.ours
; RUN: cmp %t.stock %t.ours
; RUN: %llc -mtriple=aarch64-linux-gnu %s -o %t.stock
; RUN: %llc-ra -mtriple=aarch64-linux-gnu %s -o %t.ours
; RUN: cmp %t.stock %t.ours

define i64 @fibonacci(i32 %n) {
entry:
  %none = icmp eq i32 %n, 0
  br i1 %none, label %exit, label %loop

loop:
  %i = phi i32 [ %n, %entry ], [ %less, %loop ]
  %a = phi i64 [ 0, %entry ], [ %b, %loop ]
  %b = phi i64 [ 1, %entry ], [ %sum, %loop ]
  %sum = add i64 %a, %b
  %less = add i32 %i, -1
  %more = icmp ne i32 %less, 0
  br i1 %more, label %loop, label %exit

exit:
  %result = phi i64 [ 0, %entry ], [ %b, %loop ]
  ret i64 %result
}
