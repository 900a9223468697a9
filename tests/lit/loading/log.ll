; With NVPTX_RA_LOG the passes log their work: a line for each pass and function at debug, each decision at trace. The
; plugin and the tool log the same lines, and the code is the same as without a log. A filter selects a part of the
; sources.
; RUN: env NVPTX_RA_LOG=debug %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o %t.logged 2>&1 | FileCheck %s --implicit-check-not=TRACE
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o %t.silent 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty
; RUN: cmp %t.logged %t.silent
; CHECK: [DEBUG nvptx_ra::passes::copy_coalescer] nvptx-copy-coalescer of 'k': {{[0-9]+}} merges, {{[0-9]+}} copies removed
; CHECK: [DEBUG nvptx_ra::passes::rename] nvptx-rename of 'k': {{[0-9]+}} registers have {{[0-9]+}} names{{$}}
; NOTHING-NOT: {{.}}

; RUN: env NVPTX_RA_LOG=nvptx_ra::passes=trace %llc -load-pass-plugin=%plugin -nvptx-ra-position=before -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=TRACE --implicit-check-not=nvptx_ra::coalesce
; RUN: env NVPTX_RA_LOG=nvptx_ra::passes=trace %nvptx-ra compile --set position=before --cpu sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=TRACE
; TRACE: [TRACE nvptx_ra::passes] nvptx-copy-coalescer of 'k': delete
; RUN: env NVPTX_RA_LOG=nvptx_ra::coalesce=trace %llc -load-pass-plugin=%plugin -nvptx-ra-position=before -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=COALESCE --implicit-check-not=nvptx_ra::passes
; COALESCE: [TRACE nvptx_ra::coalesce::worklist] {{.*}} are merged{{$}}

; An unknown value is refused in one line, and only the ptxas wrapper accepts a path.
; RUN: env NVPTX_RA_LOG=debgu %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o %t.refused 2> %t.said && cmp %t.refused %t.silent
; RUN: FileCheck %s --check-prefix=REFUSED < %t.said && count 1 < %t.said
; REFUSED: nvptx-ra: NVPTX_RA_LOG is 'debgu', and nothing is logged; set it to off, error, warn, info, debug or trace
; RUN: env NVPTX_RA_LOG=%t.file %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o /dev/null 2>&1 | count 0
; RUN: not test -e %t.file

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 1, %entry ], [ %more, %loop ]
  %more = mul i32 %sum, %n
  %next = add i32 %i, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %exit

exit:
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
