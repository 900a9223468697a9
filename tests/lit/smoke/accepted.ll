; ptxas accepts stock llc's code for a loop that rotates and swaps its values, and the plugin's code for it.
; RUN: %llc-ra -mcpu=sm_90 -mattr=+ptx88 %s -o %t.ptx
; RUN: %llc-ra -O0 -mcpu=sm_90 -mattr=+ptx88 %s -o %t.O0.ptx
; RUN: %if ptxas %{ %llc -mcpu=sm_90 -mattr=+ptx88 %s -o - | %ptxas-verify -arch=sm_90 -o %t.cubin %}
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.ptx %}
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 -o %t.cubin < %t.O0.ptx %}

target triple = "nvptx64-nvidia-cuda"

; A rotation of three values around a loop, with a swap on one of its paths.
define ptx_kernel void @rotate(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %a = phi i32 [ 1, %entry ], [ %left, %latch ]
  %b = phi i32 [ 2, %entry ], [ %right, %latch ]
  %c = phi i32 [ 2, %entry ], [ %sum, %latch ]
  %sum = add i32 %a, %c
  %odd = trunc i32 %sum to i1
  br i1 %odd, label %swap, label %latch

swap:
  br label %latch

latch:
  %left = phi i32 [ %b, %loop ], [ %c, %swap ]
  %right = phi i32 [ %c, %loop ], [ %b, %swap ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %exit

exit:
  store i32 %left, ptr addrspace(1) %out
  ret void
}
