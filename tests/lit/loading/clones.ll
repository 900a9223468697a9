; opt has no machine code, so the forecast compiles a clone of the module. LLVM's diagnostics for the clone are
; discarded, and an error in the clone does not end the compiler. The statistics count warnings on clones, and clones
; with errors.
; RUN: split-file %s %t

; Only the forecast is printed. If there is no forecast, a warning is printed, or with strict an error.
; RUN: %opt -load-pass-plugin=%plugin '-passes=print<nvptx-forecast>' -mcpu=sm_90 -disable-output %t/warns.ll 2> %t/said
; RUN: FileCheck %s --check-prefix=FORECAST --implicit-check-not=warning < %t/said
; FORECAST: Function Name: k
; RUN: rm -f %t/stats
; RUN: %opt -load-pass-plugin=%plugin '-passes=nvptx-forecast<stats=%t/stats>' -mcpu=sm_90 -disable-output %t/warns.ll 2>&1 \
; RUN:   | count 0
; RUN: %nvptx-ra stats %t/stats | FileCheck %s --check-prefix=COUNTS
; COUNTS:      clones compiled                              1
; COUNTS-NEXT: clones that do not compile                   0
; COUNTS-NEXT: warnings on clones                           1
; RUN: sed 's/dontcall-warn/dontcall-error/' %t/warns.ll > %t/refused.ll
; RUN: not %llc -mcpu=sm_90 %t/refused.ll -o /dev/null
; RUN: %opt -load-pass-plugin=%plugin '-passes=print<nvptx-forecast>' -mcpu=sm_90 -disable-output %t/refused.ll 2> %t/said
; RUN: FileCheck %s --check-prefix=REFUSED < %t/said && count 1 < %t/said
; REFUSED: warning: nvptx-ra: nvptx64-nvidia-cuda: a clone of the module does not compile, so that there is no forecast: {{.*}}do not call
; RUN: rm -f %t/stats
; RUN: not %opt -load-pass-plugin=%plugin '-passes=nvptx-forecast<strict;stats=%t/stats>' -mcpu=sm_90 -disable-output \
; RUN:   %t/refused.ll 2>&1 | FileCheck %s --check-prefix=STRICT
; RUN: grep '"event":"clone"' %t/stats | FileCheck %s --check-prefix=FAILED
; FAILED: "errors":1,"warnings":0,"first_error":"{{.*}}do not call
; RUN: %nvptx-ra stats %t/stats | FileCheck %s --check-prefix=NONE
; NONE: clones that do not compile                   1
; STRICT: error: nvptx-ra: nvptx64-nvidia-cuda: a clone of the module does not compile

;--- warns.ll
target triple = "nvptx64-nvidia-cuda"

define void @marked(ptr addrspace(1) %out) noinline "dontcall-warn"="do not call" {
  store volatile i32 1, ptr addrspace(1) %out
  ret void
}

define ptx_kernel void @k(ptr addrspace(1) %out) {
  call void @marked(ptr addrspace(1) %out)
  ret void
}
