; The pass skips a function because of -opt-bisect-limit, because of optnone unless an option requests such functions,
; or because of the function's attribute. An injected error shows on which functions the pass ran.
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-rename=off -nvptx-ra-inject=error -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=DEFAULT --implicit-check-not='kernel '
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-rename=off -nvptx-ra-inject=error -nvptx-ra-optnone -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=OPTNONE --implicit-check-not='kernel '
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-rename=off -nvptx-ra-inject=error -opt-bisect-limit=0 -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=BISECT --implicit-check-not='kernel '
; DEFAULT:      warning: nvptx-ra: kernel 'k':
; OPTNONE:      warning: nvptx-ra: kernel 'k':
; OPTNONE-NEXT: warning: nvptx-ra: kernel 'debugged':
; BISECT:       NOT running pass ({{[0-9]+}}) nvptx-copy-coalescer on function (k)

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k() {
  ret void
}

define ptx_kernel void @debugged() noinline optnone {
  ret void
}

define ptx_kernel void @alone() "nvptx-ra"="off" {
  ret void
}
