; If LLVM aborts in the second kernel, commands that need functions report the reason in one line, without the heading
; of the first kernel's trace and without a stack. A warning from LLVM may precede this line, but does not replace it.
; RUN: not %nvptx-ra report %s --cpu sm_75 2> %t.report
; RUN: FileCheck %s --input-file=%t.report --match-full-lines
; RUN: not %nvptx-ra report %s --cpu sm_75 --mattr=+nonsense 2> %t.warned
; RUN: FileCheck %s --input-file=%t.warned --match-full-lines --check-prefix=WARNED
; WARNED: nvptx-ra: Cannot select: {{.*}}llvm-aborts.ll does not compile for sm_75; check --cpu, e.g. sm_90a, and --mattr, e.g. +ptx88
; WARNED-NOT: {{.}}
; CHECK-NOT: {{.}}
; CHECK: nvptx-ra: Cannot select: intrinsic %llvm.nvvm.redux.sync.umin; {{.*}}llvm-aborts.ll does not compile for sm_75; check --cpu, e.g. sm_90a, and --mattr, e.g. +ptx88
; CHECK-NOT: {{.}}
; Commands that compile or search do not print LLVM's stack either.
; RUN: not %nvptx-ra compile %s --cpu sm_75 -o %t.ptx 2> %t.compiled
; RUN: FileCheck %s --input-file=%t.compiled --match-full-lines
; Temporary folders are removed.
; RUN: rm -rf %t && mkdir %t
; RUN: %if ptxas %{ not env TMPDIR=%t CUDA_PATH=%cuda %nvptx-ra tune %s --cpu sm_75 -o %t.ptx 2> %t.tuned %}
; RUN: %if ptxas %{ FileCheck %s --input-file=%t.tuned --match-full-lines %}
; RUN: ls %t | count 0
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.redux.sync.umin(i32, i32)

define ptx_kernel void @sound(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}

; The instruction needs sm_80 or later.
define ptx_kernel void @too_new(ptr addrspace(1) %p) {
  %x = call i32 @llvm.nvvm.redux.sync.umin(i32 1, i32 2)
  store i32 %x, ptr addrspace(1) %p
  ret void
}
