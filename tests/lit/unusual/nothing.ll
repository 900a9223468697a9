; Modules without work stay unchanged: a module without functions, one with declarations only, an empty function.
; RUN: split-file %s %t
; RUN: %llc-ra -mcpu=sm_90 %t/none.ll -o %t/none.ptx
; RUN: %llc-ra -mcpu=sm_90 %t/declared.ll -o %t/declared.ptx
; RUN: %llc-ra -mcpu=sm_90 %t/empty.ll -o - | FileCheck %s
; CHECK: .entry k()
; CHECK: ret;

; IR that NVPTX cannot select fails in the same way as without the plugin.
; RUN: not --crash %llc -mcpu=sm_90 %t/indirectbr.ll -o %t/stock.ptx 2>&1 | FileCheck %s --check-prefix=INDIRECT
; RUN: not --crash %llc-ra -mcpu=sm_90 %t/indirectbr.ll -o %t/ra.ptx 2>&1 | FileCheck %s --check-prefix=INDIRECT
; INDIRECT: LLVM ERROR: Cannot select: {{.*}} brind

;--- none.ll
target triple = "nvptx64-nvidia-cuda"

;--- declared.ll
target triple = "nvptx64-nvidia-cuda"
declare i32 @f(i32)
@used = global ptr @f

;--- empty.ll
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k() {
  ret void
}

;--- indirectbr.ll
target triple = "nvptx64-nvidia-cuda"
define i32 @indirect(ptr %where) {
entry:
  indirectbr ptr %where, [label %a, label %b]
a:
  ret i32 1
b:
  ret i32 2
}
