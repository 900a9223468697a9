; Renaming declares as few registers as are alive at once, at any level of optimisation, where it is asked for. The kernel
; with a stack frame keeps its instructions, and an assembly's output is no register that the assembly reads.
; RUN: %llc-ra -nvptx-ra-rename -mcpu=sm_90 %s -o %t.ptx && FileCheck %s --input-file %t.ptx
; RUN: %ptxas-verify -arch=sm_90 < %t.ptx
; RUN: %llc-ra -nvptx-ra-rename -O0 -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90
; RUN: %llc-ra -mcpu=sm_90 %s -o - | grep -c '^	[a-z@]' > %t.stock && grep -c '^	[a-z@]' %t.ptx | diff %t.stock -
; RUN: %llc-ra -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=MANY
; RUN: %llc-ra -nvptx-ra-rename -nvptx-ra-trace=rename -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAYS
; RUN: %nvptx-ra mir -print-pipeline-passes -passes='nvptx-rename<strict>' %S/../loading/mir.mir | FileCheck %s --check-prefix=PRINT
; REQUIRES: ptxas

; CHECK-LABEL: .entry chain(
; CHECK:       .reg .b32 %r<2>;
; MANY-LABEL:  .entry chain(
; MANY:        .reg .b32 %r<{{[4-9]}}>;
; CHECK-LABEL: .entry assembly(
; CHECK:       {{^}}	add.s32 %r1, %r2, 1; mul.lo.s32 %r1, %r1, %r2;
; CHECK-LABEL: .entry frame(
; SAYS:        nvptx-ra: nvptx-rename of 'chain'
; SAYS-NEXT:   {{[0-9]+}} registers have {{[0-9]+}} names
; PRINT:       machine-function(nvptx-rename<strict>)

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @chain(ptr addrspace(1) %out, i32 %a) {
  %b = mul i32 %a, 3
  %c = xor i32 %b, 5
  %d = mul i32 %c, 7
  store i32 %d, ptr addrspace(1) %out
  ret void
}

define ptx_kernel void @assembly(ptr addrspace(1) %out, i32 %a) {
  %b = call i32 asm "add.s32 $0, $1, 1; mul.lo.s32 $0, $0, $1;", "=r,r"(i32 %a)
  store i32 %b, ptr addrspace(1) %out
  ret void
}

define ptx_kernel void @frame(ptr addrspace(1) %out, i32 %a) {
  %slot = alloca [8 x i32]
  %place = getelementptr [8 x i32], ptr %slot, i32 0, i32 %a
  store volatile i32 %a, ptr %place
  %first = load volatile i32, ptr %slot
  store i32 %first, ptr addrspace(1) %out
  ret void
}
