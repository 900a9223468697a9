; The pass reports its effects. Remarks list each removed copy, and each remaining copy with its reason. Statistics
; count copies by kind and reason, and list the time of each phase. A trace prints the decisions.
; RUN: rm -f %t.stats
; RUN: %llc-ra -nvptx-ra-rename=off -O0 -mcpu=sm_90 -pass-remarks=nvptx-copy-coalescer -pass-remarks-missed=nvptx-copy-coalescer \
; RUN:   -nvptx-ra-stats=%t.stats -nvptx-ra-trace=candidates+liveness+coalesce+edits+classify %s -o /dev/null 2> %t.err
; RUN: FileCheck %s --check-prefix=REMARK < %t.err
; RUN: FileCheck %s --check-prefix=TRACE < %t.err
; RUN: %nvptx-ra stats %t.stats | FileCheck %s --check-prefix=STATS

; REMARK-DAG: remark: {{.*}}removed COPY (copy) of
; REMARK-DAG: remark: {{.*}}kept COPY (copy) of {{.*}}: interference
; TRACE: nvptx-ra: trace of 'fibonacci'
; TRACE: round 1: candidate i{{[0-9]+}} in bb
; TRACE: round 1: %{{[0-9]+}} is live in [
; TRACE: COPY: Some(Copy), effects Effects(0x0)
; TRACE: kept i{{[0-9]+}}: interference
; TRACE: {{[0-9]+}} merges, {{[0-9]+}} constants, {{[0-9]+}} rounds
; TRACE: merge %{{[0-9]+}} into %
; STATS: functions 1
; STATS: copies {{ *}}before {{ *}}after {{ *}}run before {{ *}}run after
; STATS: copy 9 2 9.0 2.0
; STATS: copies that stay, by reason
; STATS: interference 2
; STATS: edits
; STATS: merge
; STATS: time, ns
; STATS: apply
; STATS: check
; STATS: flatten

target triple = "nvptx64-nvidia-cuda"

; Each iteration reads the second-last value after computing the next one, so copies must stay.
define ptx_kernel void @fibonacci(ptr addrspace(1) %out, i32 %n, i32 %first, i32 %second) {
entry:
  br label %loop

loop:
  %i = phi i32 [ %n, %entry ], [ %i.next, %loop ]
  %a = phi i32 [ %first, %entry ], [ %b, %loop ]
  %b = phi i32 [ %second, %entry ], [ %c, %loop ]
  %c = add i32 %a, %b
  %i.next = sub i32 %i, 1
  %more = icmp sgt i32 %i.next, 0
  br i1 %more, label %loop, label %done

done:
  store i32 %b, ptr addrspace(1) %out
  ret void
}
