; Registers that live within a block share names, at any optimisation level, unless renaming is off. Registers that live
; across blocks share names if an option requests it. A kernel with a stack frame keeps its instructions. An assembly's
; output gets no register that the assembly reads. A register of a debug value shares its name with no other register.
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.ptx && FileCheck %s --input-file %t.ptx
; RUN: %ptxas-verify -arch=sm_90 < %t.ptx
; RUN: %llc-ra -O0 -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90
; RUN: %llc-ra -nvptx-ra-rename=off -mcpu=sm_90 %s -o - > %t.off
; RUN: grep -c '^	[a-z@]' %t.off > %t.count && grep -c '^	[a-z@]' %t.ptx | diff %t.count -
; RUN: FileCheck %s --check-prefix=MANY < %t.off
; RUN: %llc-ra -nvptx-ra-rename-all -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=FEWEST
; RUN: %llc-ra -nvptx-ra-trace=rename -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAYS
; RUN: %nvptx-ra mir -print-pipeline-passes -passes='nvptx-rename<strict>' %S/../loading/mir.mir | FileCheck %s --check-prefix=PRINT
; REQUIRES: ptxas

; CHECK-LABEL: .entry chain(
; CHECK:       .reg .b32 %r<2>;
; MANY-LABEL:  .entry chain(
; MANY:        .reg .b32 %r<{{[4-9]}}>;
; CHECK-LABEL: .entry assembly(
; CHECK:       {{^}}	add.s32 %r1, %r2, 1; mul.lo.s32 %r1, %r1, %r2;
; CHECK-LABEL: .entry frame(
; Some registers live across blocks. The other registers share a name with each other. They share a name with a
; register that lives across blocks only on request.
; CHECK-LABEL:  .entry blocks(
; CHECK:        .reg .b32 %r<4>;
; FEWEST-LABEL: .entry blocks(
; FEWEST:       .reg .b32 %r<3>;
; MANY-LABEL:   .entry blocks(
; MANY:         .reg .b32 %r<7>;
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

define ptx_kernel void @blocks(ptr addrspace(1) %out, i32 %a, i32 %n) {
entry:
  %x = xor i32 %a, 5
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %left, label %exit
left:
  %y = mul i32 %x, %n
  %z = add i32 %y, 3
  store volatile i32 %z, ptr addrspace(1) %out
  %more = icmp sgt i32 %z, 0
  br i1 %more, label %right, label %exit
right:
  %w = mul i32 %y, %y
  store volatile i32 %w, ptr addrspace(1) %out
  br label %exit
exit:
  ret void
}
