; The tool prints the same bytes as llc with the plugin loaded: at every level (3 by default), with every mode of fusing
; floating-point operations, from text without a data layout and from bitcode, from a file and from standard input.
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 -mattr=+ptx80 -O0 %s -o %t.0
; RUN: %nvptx-ra compile --cpu sm_90 --mattr +ptx80 -O0 %s -o - | cmp - %t.0
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 -O3 -fp-contract=fast %s -o %t.fast
; RUN: %nvptx-ra compile --cpu sm_90 -O3 --fp-contract fast %s -o - | cmp - %t.fast
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 -O3 -fp-contract=off %s -o %t.off
; RUN: %nvptx-ra compile --cpu sm_90 -O3 --fp-contract off %s -o %t.file
; RUN: cmp %t.file %t.off
; RUN: llvm-as %s -o %t.bc
; RUN: %llc -load-pass-plugin=%plugin -O3 %t.bc -o %t.default
; RUN: %nvptx-ra compile - < %t.bc | cmp - %t.default
; RUN: rm -f %t.ptx
; RUN: %nvptx-ra compile %t.bc --set position=off -- -nvptx-ra-strict -opt-bisect-limit=-1
; RUN: %llc -load-pass-plugin=%plugin -O3 -nvptx-ra-position=off %t.bc -o - | cmp - %t.ptx

; The modes give different code. Otherwise the comparisons above would prove nothing.
; RUN: FileCheck %s --check-prefix=FAST < %t.fast
; RUN: FileCheck %s --check-prefix=OFF < %t.off
; FAST: fma.rn.f32
; OFF: mul.rn.f32
; OFF: add.rn.f32

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %p, ptr %q, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %at = getelementptr float, ptr %p, i32 %i
  %a = load float, ptr %at
  %square = fmul float %a, %a
  %sum = fadd float %square, %a
  store float %sum, ptr %at
  ; Without the data layout of the triple, the alignment would be 4 bytes, and the value would be loaded in halves.
  %wide = load i64, ptr %q
  store i64 %wide, ptr %at
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
