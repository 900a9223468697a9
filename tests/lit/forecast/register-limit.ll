; A number as `register-limit` limits every kernel that has no limit of its own and whose callees are all in the module, in any
; order. The forecast uses the limit. Nothing else changes.
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.off.ptx
; RUN: %llc-ra -mcpu=sm_90 -nvptx-ra-register-limit=40 -nvptx-ra-forecast %s -o %t.ptx 2> %t.printed
; RUN: FileCheck %s --implicit-check-not=maxnreg --input-file=%t.ptx
; CHECK: .entry bounded(
; CHECK: .maxnreg 40
; CHECK: .entry limited(
; CHECK: .maxnreg 100
; CHECK: .entry elsewhere(
; CHECK: .entry calls(
; CHECK: .maxnreg 40
; RUN: FileCheck %s --check-prefix=PRINTED --implicit-check-not='Limited to' --input-file=%t.printed
; PRINTED:      Function Name: bounded
; PRINTED:      Limited to [registers]: 40
; PRINTED-NEXT: Function Name: limited
; PRINTED:      Function Name: elsewhere
; PRINTED:      Function Name: calls
; PRINTED:      Limited to [registers]: 40
; RUN: sed 's, *// @.*,,' %t.off.ptx > %t.expected
; RUN: sed -e 's, *// @.*,,' -e '/^.maxnreg 40$/d' %t.ptx | diff %t.expected -
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.ptx %}
; RUN: sed 's/"nvvm.maxntid"="512" {/"nvvm.maxnreg"="40" &/' %s > %t.40.ll
; RUN: %llc-ra -mcpu=sm_90 -nvptx-ra-forecast %t.40.ll -o /dev/null 2>&1 | head -12 > %t.40
; RUN: head -12 %t.printed | diff %t.40 -
; Kernels stay unchanged without the option. With regalloc=auto, kernels without an expected spill stay unchanged.
; RUN: %llc-ra -mcpu=sm_90 -nvptx-ra-regalloc=auto %s -o - | diff %t.off.ptx -
; RUN: %llc-ra -mcpu=sm_90 -nvptx-ra-register-limit=off %s -o - | diff %t.off.ptx -
; RUN: %llc-ra -O0 -mcpu=sm_90 -nvptx-ra-register-limit=40 %s -o /dev/null
; Only the code generator sets limits. A forecast in opt or of machine code leaves the module unchanged.
; RUN: %opt -load-pass-plugin=%plugin -nvptx-ra-register-limit=40 -passes='print<nvptx-forecast>' -mcpu=sm_90 -S %s -o - 2>/dev/null \
; RUN:   | FileCheck %s --check-prefix=OPT --implicit-check-not='maxnreg"="40"'
; OPT: define ptx_kernel void @bounded
; The option accepts a word and numbers. Other values are refused; the message for auto names its replacement.
; RUN: not %llc-ra -mcpu=sm_90 -nvptx-ra-register-limit=256 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RANGE
; RUN: not %llc-ra -mcpu=sm_90 -nvptx-ra-register-limit=most %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=WORD
; RANGE: for the --nvptx-ra-register-limit option: {{.*}}register-limit=256: out of range; use off, or a whole number from 16 to 255
; RUN: not %llc-ra -mcpu=sm_90 -nvptx-ra-register-limit=auto %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=AUTO
; AUTO: register-limit=auto: {{.*}}; use regalloc=auto, which also sets register limits
; WORD:  for the --nvptx-ra-register-limit option: {{.*}}register-limit=most: unknown; use off, or a whole number from 16 to 255

target triple = "nvptx64-nvidia-cuda"

declare i32 @other(i32)

define ptx_kernel void @bounded(ptr addrspace(1) %p) "nvvm.maxntid"="512" {
  %a = load volatile i32, ptr addrspace(1) %p
  store volatile i32 %a, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @limited(ptr addrspace(1) %p) "nvvm.maxntid"="512" "nvvm.maxnreg"="100" {
  %a = load volatile i32, ptr addrspace(1) %p
  store volatile i32 %a, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @elsewhere(ptr addrspace(1) %p) "nvvm.maxntid"="512" {
  %a = load volatile i32, ptr addrspace(1) %p
  %b = call i32 @other(i32 %a)
  store volatile i32 %b, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @calls(ptr addrspace(1) %p) {
  %a = load volatile i32, ptr addrspace(1) %p
  %b = call i32 @inner(i32 %a)
  store volatile i32 %b, ptr addrspace(1) %p
  ret void
}

; A callee that is defined after its caller is also known.
define i32 @inner(i32 %x) noinline {
  %y = mul i32 %x, %x
  ret i32 %y
}
