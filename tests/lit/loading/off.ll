; With NVPTX_RA=off the plugin does nothing, with any options and pipelines: the output is the same as of llc, opt and
; clang without the plugin.
; RUN: %llc -mcpu=sm_90 %s -o %t.stock
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o %t.on
; RUN: not cmp %t.stock %t.on
; RUN: env NVPTX_RA=off %llc -load-pass-plugin=%plugin -nvptx-ra-order=late -nvptx-ra-inject=error -mcpu=sm_90 %s -o %t.off 2>&1 \
; RUN:   | FileCheck %s --check-prefix=NOTHING --allow-empty
; RUN: cmp %t.stock %t.off
; RUN: %llc -mcpu=sm_90 -O0 %s -o %t.stock0
; RUN: env NVPTX_RA=off %llc -load=%plugin -nvptx-ra-order=late -mcpu=sm_90 -O0 %s -o %t.off0
; RUN: cmp %t.stock0 %t.off0
; NOTHING-NOT: {{.}}

; RUN: %opt -S -passes=no-op-module %s -o %t.stock.ll
; RUN: env NVPTX_RA=off %opt -load-pass-plugin=%plugin -S -passes='nvptx-ra<order=late>,nvptx-forecast,no-op-module' %s -o %t.off.ll
; RUN: cmp %t.stock.ll %t.off.ll
; RUN: %clang -x ir -O3 -Wno-override-module --target=nvptx64-nvidia-cuda -march=sm_90 -Xclang -target-feature -Xclang +ptx88 \
; RUN:   -S %s -o %t.stock.s
; RUN: env NVPTX_RA=off %clang -x ir -O3 -Wno-override-module --target=nvptx64-nvidia-cuda -march=sm_90 -Xclang -target-feature \
; RUN:   -Xclang +ptx88 -fpass-plugin=%plugin -S %s \
; RUN:   -o %t.off.s
; RUN: cmp %t.stock.s %t.off.s

; A machine pass that a pipeline names runs, but leaves the function unchanged.
; RUN: %llc -mcpu=sm_90 -stop-after=phi-node-elimination %s -o %t.mir
; RUN: %llc -mcpu=sm_90 -run-pass=none %t.mir -o %t.stock.mir
; RUN: env NVPTX_RA=off %llc -load-pass-plugin=%plugin -mcpu=sm_90 -run-pass=nvptx-copy-coalescer %t.mir -o %t.off.mir
; RUN: cmp %t.stock.mir %t.off.mir

; Other values are ignored.
; RUN: env NVPTX_RA=target/release/nvptx-ra %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o %t.other
; RUN: cmp %t.on %t.other

; Warnings explain once how to turn the plugin off.
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-inject=error -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARNS
; WARNS: warning: nvptx-ra: kernel 'k': {{.*}}; NVPTX_RA=off turns nvptx-ra off{{$}}
; WARNS-NOT: off turns nvptx-ra off; NVPTX_RA

; NVPTX_RA=off does not affect commands that a user calls by name, and their messages do not mention it.
; RUN: %nvptx-ra compile --cpu sm_90 %s -o %t.compiled
; RUN: env NVPTX_RA=off %nvptx-ra compile --cpu sm_90 %s -o %t.compiled.off
; RUN: cmp %t.compiled %t.compiled.off
; RUN: %nvptx-ra compile --cpu sm_90 --set inject=error %s -o %t.compiled 2>&1 | FileCheck %s --check-prefix=TOOL
; TOOL: nvptx-ra: kernel 'k':
; TOOL-NOT: NVPTX_RA=off

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
