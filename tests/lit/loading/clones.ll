; Nobody hears what LLVM says of clones that the forecast compiles, and an error in one of them does not end the compiler:
; what a call of a marked function is warned of is said once, remarks and traces come once, and the statistics count the
; rest.
; RUN: split-file %s %t
; RUN: rm -f %t/stats
; RUN: %llc-ra -O3 -mcpu=sm_90 -nvptx-ra-skip=auto -nvptx-ra-stats=%t/stats %t/warns.ll -o %t/warns.ptx 2> %t/said
; RUN: FileCheck %t/warns.ll --check-prefix=ONCE < %t/said && grep -c warning: %t/said | FileCheck %s --check-prefix=ONE
; ONE: {{^}}1{{$}}
; RUN: %nvptx-ra stats %t/stats | FileCheck %s --check-prefix=COUNTS
; COUNTS:      clones compiled                              4
; COUNTS-NEXT: clones that do not compile                   0
; COUNTS-NEXT: warnings on clones                           4
; RUN: %llc-ra -O3 -mcpu=sm_90 -pass-remarks-analysis=asm-printer %t/warns.ll -o /dev/null 2> %t/without
; RUN: %llc-ra -O3 -mcpu=sm_90 -pass-remarks-analysis=asm-printer -nvptx-ra-skip=auto %t/warns.ll -o /dev/null 2> %t/with
; RUN: grep -c remark: %t/without && diff %t/without %t/with
; clang itself warns of such calls where it knows their place in the source, which this one has not.
; RUN: %clang -cc1 -triple nvptx64-nvidia-cuda -target-cpu sm_90 -target-feature +ptx78 -O3 -S -x ir %t/warns.ll \
; RUN:   -fpass-plugin=%plugin -mllvm -nvptx-ra-skip=auto -o /dev/null 2>&1 | count 0

; An error that a clone alone has: the options of the command line do not hold in clones, those of a function do.
; RUN: rm -f %t/stats
; RUN: %llc -load-pass-plugin=%plugin -O3 -mcpu=sm_90 -nvptx-ra-inject=none %t/fails.ll -o %t/wanted.ptx
; RUN: %llc -load-pass-plugin=%plugin -O3 -mcpu=sm_90 -nvptx-ra-inject=none -nvptx-ra-skip=auto -nvptx-ra-stats=%t/stats \
; RUN:   %t/fails.ll -o - 2> %t/said | diff %t/wanted.ptx - && count 0 < %t/said
; RUN: grep '"event":"clone"' %t/stats | FileCheck %s --check-prefix=FAILED
; FAILED: "without":"none","errors":{{[1-9][0-9]*}},"warnings":0,"first_error":"nvptx-ra: kernel 'k': an error was asked for
; RUN: %nvptx-ra stats %t/stats | FileCheck %s --check-prefix=NONE
; NONE: clones that do not compile                   1

; What a function's own options have traced is traced once.
; RUN: sed 's/strict;inject=error/trace=edits/' %t/fails.ll > %t/traced.ll
; RUN: %llc-ra -O3 -mcpu=sm_90 %t/traced.ll -o /dev/null 2> %t/without
; RUN: %llc-ra -O3 -mcpu=sm_90 -nvptx-ra-skip=auto %t/traced.ll -o /dev/null 2>&1 | diff %t/without -
; RUN: FileCheck %s --check-prefix=TRACED < %t/without
; TRACED: nvptx-ra: nvptx-rename of 'k'

; In opt the forecast is all that is printed; where there is none that is a warning, or with strict an error.
; RUN: %opt -load-pass-plugin=%plugin '-passes=print<nvptx-forecast>' -mcpu=sm_90 -disable-output %t/warns.ll 2> %t/said
; RUN: FileCheck %s --check-prefix=FORECAST --implicit-check-not=warning < %t/said
; FORECAST: Function Name: k
; RUN: sed 's/dontcall-warn/dontcall-error/' %t/warns.ll > %t/refused.ll
; RUN: not %llc -mcpu=sm_90 %t/refused.ll -o /dev/null
; RUN: %opt -load-pass-plugin=%plugin '-passes=print<nvptx-forecast>' -mcpu=sm_90 -disable-output %t/refused.ll 2> %t/said
; RUN: FileCheck %s --check-prefix=REFUSED < %t/said && count 1 < %t/said
; REFUSED: warning: nvptx-ra: nvptx64-nvidia-cuda: a clone of the module does not compile, so that there is no forecast: {{.*}}do not call
; RUN: not %opt -load-pass-plugin=%plugin '-passes=nvptx-forecast<strict>' -mcpu=sm_90 -disable-output %t/refused.ll 2>&1 \
; RUN:   | FileCheck %s --check-prefix=STRICT
; STRICT: error: nvptx-ra: nvptx64-nvidia-cuda: a clone of the module does not compile

;--- warns.ll
target triple = "nvptx64-nvidia-cuda"

; ONCE: {{(warning|call)}}{{.*}}do not call
define void @marked(ptr addrspace(1) %out) noinline "dontcall-warn"="do not call" {
  store volatile i32 1, ptr addrspace(1) %out
  ret void
}

define ptx_kernel void @k(ptr addrspace(1) %out) {
  call void @marked(ptr addrspace(1) %out)
  ret void
}

;--- fails.ll
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) %out, i32 %n) "nvptx-ra"="strict;inject=error" {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %last = phi i32 [ 1, %entry ], [ %i, %loop ]
  %sum = add i32 %i, %last
  store volatile i32 %sum, ptr addrspace(1) %out
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
