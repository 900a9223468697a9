; llc runs the passes with either flag, and the PTX has one comment about the plugin. If the plugin is off, the PTX
; equals stock byte for byte.
; RUN: %llc -mcpu=sm_90 %s -o %t.stock
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=NOTE
; RUN: %llc -load=%plugin -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=NOTE
; RUN: %llc -load=%plugin -load-pass-plugin=%plugin -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=NOTE
; RUN: %llc -load-pass-plugin=%plugin -mtriple=nvptx-nvidia-cuda %s -o - | FileCheck %s --check-prefix=NOTE
; RUN: %llc -load-pass-plugin=%plugin -O0 -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=NOTE
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-position=off -nvptx-ra-rename=off -mcpu=sm_90 %s -o %t.off
; RUN: cmp %t.stock %t.off
; RUN: %if ptxas %{ %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90 -o %t.cubin %}

; NOTE: .version
; NOTE: {{^}}// nvptx-ra {{[0-9]+\.[0-9]+\.[0-9]+$}}
; NOTE-NOT: nvptx-ra
; NOTE: .visible .entry k(

; Machine code that is printed in the middle of the pipeline already has the comment, and gets no second one.
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 -stop-after=twoaddressinstruction %s -o %t.mir
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 -start-after=twoaddressinstruction %t.mir -o - \
; RUN:   | FileCheck %s --check-prefix=NOTE

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 1, %entry ], [ %more, %loop ]
  %more = mul i32 %sum, %n
  %next = add i32 %i, 1
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %exit

exit:
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
