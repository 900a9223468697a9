; Inline assembly with tied, early-clobber or several operands compiles to code that the checker, LLVM's machine
; verifier and ptxas accept, with and without optimisation, before and after LLVM's own coalescer.
; DEFINE: %{compile} = %llc-ra -verify-machineinstrs -mcpu=sm_90
; RUN: %{compile} -O0 %s -o %t.O0.ptx
; RUN: %{compile} -O3 %s -o %t.O3.ptx
; RUN: %{compile} -O3 -nvptx-ra-position=before %s -o %t.before.ptx
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.O0.ptx %}
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.O3.ptx %}
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.before.ptx %}
; RUN: FileCheck %s < %t.O0.ptx
; RUN: FileCheck %s < %t.O3.ptx
; RUN: FileCheck %s < %t.before.ptx

target triple = "nvptx64-nvidia-cuda"

; The input stays live after the assembly that overwrites its register.
; CHECK-LABEL: tied(
; CHECK: add.s32 [[R:%r[0-9]+]], [[R]], %r
define i32 @tied(i32 %a, i32 %b) {
  %r = call i32 asm sideeffect "add.s32 $0, $1, $2;", "=r,0,r"(i32 %a, i32 %b)
  %s = add i32 %r, %a
  ret i32 %s
}

; An output that is written before the input is read never shares its register.
; CHECK-LABEL: early_clobber(
; CHECK: mov.b32 [[R:%r[0-9]+]], 0;
; CHECK-NOT: add.s32 [[R]], [[R]], [[R]];
; CHECK: add.s32 [[R]], [[R]], %r
define i32 @early_clobber(i32 %a) {
  %r = call i32 asm sideeffect "mov.b32 $0, 0;\0Aadd.s32 $0, $0, $1;", "=&r,r"(i32 %a)
  ret i32 %r
}

; Outputs of three widths, and clobbered memory.
; CHECK-LABEL: outputs(
; CHECK: mov.b32 %r{{[0-9]+}}, %r
; CHECK: mov.b64 %rd{{[0-9]+}}, %rd
; CHECK: mov.b16 %rs{{[0-9]+}}, %rs
define i64 @outputs(i32 %a, i64 %b, i16 %c) {
  %r = call { i32, i64, i16 } asm sideeffect "mov.b32 $0, $3;\0Amov.b64 $1, $4;\0Amov.b16 $2, $5;", "=r,=l,=&h,r,l,h,~{memory}"(i32 %a, i64 %b, i16 %c)
  %x = extractvalue { i32, i64, i16 } %r, 0
  %y = extractvalue { i32, i64, i16 } %r, 1
  %z = extractvalue { i32, i64, i16 } %r, 2
  %xw = zext i32 %x to i64
  %zw = zext i16 %z to i64
  %s = add i64 %xw, %y
  %t = add i64 %s, %zw
  ret i64 %t
}

; An assembly operand that is both tied and early-clobber; the values are swapped in each iteration.
; CHECK-LABEL: swaps(
; CHECK: xor.b32 [[A:%r[0-9]+]], [[A]], [[I:%r[0-9]+]];
; CHECK-NEXT: xor.b32 [[B:%r[0-9]+]], [[B]], [[I]];
define i32 @swaps(i32 %a, i32 %b, i32 %n) {
entry:
  br label %loop
loop:
  %x = phi i32 [ %a, %entry ], [ %y1, %loop ]
  %y = phi i32 [ %b, %entry ], [ %x1, %loop ]
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %r = call { i32, i32 } asm sideeffect "xor.b32 $0, $0, $4;\0Axor.b32 $1, $1, $4;", "=&r,=&r,0,1,r"(i32 %x, i32 %y, i32 %i)
  %x1 = extractvalue { i32, i32 } %r, 0
  %y1 = extractvalue { i32, i32 } %r, 1
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %done
done:
  %s = sub i32 %x1, %y1
  ret i32 %s
}
