; opt makes the forecast of a module by compiling a clone, for the processor of the module's functions. The module
; itself stays unchanged. The forecast equals the report's.
; RUN: %opt -load-pass-plugin=%plugin -passes='print<nvptx-forecast>' -mcpu=sm_90 -S %s -o %t.ll 2> %t.printed
; RUN: %nvptx-ra report %s --json > %t.json
; RUN: %python %S/Inputs/same.py %t.json %t.printed | FileCheck %s --check-prefix=SAME
; RUN: %opt -passes= -mcpu=sm_90 -S %s -o %t.same.ll
; RUN: diff %t.same.ll %t.ll
; SAME: 1 kernels
; The pass without print emits only remarks. Both names of the pass print back unchanged.
; RUN: %opt -load-pass-plugin=%plugin -passes=nvptx-forecast -mcpu=sm_90 -pass-remarks-analysis=nvptx-forecast -disable-output %s \
; RUN:   2>&1 | FileCheck %s --check-prefix=REMARK
; REMARK: remark: <unknown>:0:0: Function Name: k
; REMARK: remark: <unknown>:0:0:     Registers: {{[0-9]+}}
; RUN: %opt -load-pass-plugin=%plugin -passes=nvptx-forecast -mcpu=sm_90 -disable-output %s 2>&1 | count 0
; RUN: %opt -load-pass-plugin=%plugin -passes='nvptx-forecast<strict>,print<nvptx-forecast>,nvptx-forecast' -disable-output \
; RUN:   -print-pipeline-passes %s | FileCheck %s --check-prefix=PIPELINE
; PIPELINE: {{^}}nvptx-forecast<strict>,print<nvptx-forecast>,nvptx-forecast{{$|,}}
; RUN: not %opt -load-pass-plugin=%plugin -passes='nvptx-forecast<strct>' -disable-output %s 2>&1 \
; RUN:   | FileCheck %s --check-prefix=WRONG
; WRONG: nvptx-ra: pass parameters: strct: unknown option
; For a processor that the model does not know, a warning gives a remedy. A module for another target has no forecast,
; and for a module without kernels a message is printed.
; RUN: %opt -load-pass-plugin=%plugin -passes='print<nvptx-forecast>' -mcpu=sm_52 -disable-output %s 2>&1 \
; RUN:   | FileCheck %s --check-prefix=OLD
; OLD: warning: nvptx-ra: {{.*}}sm_52{{.*}}sm_90
; RUN: %opt -load-pass-plugin=%plugin -passes='print<nvptx-forecast>' -mtriple=x86_64-linux-gnu -disable-output %s 2>&1 | count 0
; RUN: echo 'target triple = "nvptx64-nvidia-cuda"' > %t.empty.ll
; RUN: %opt -load-pass-plugin=%plugin -passes='print<nvptx-forecast>' -disable-output %t.empty.ll 2>&1 \
; RUN:   | FileCheck %s --check-prefix=EMPTY
; EMPTY: {{^}}no kernel{{$}}

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) %p) {
  %q = getelementptr i32, ptr addrspace(1) %p, i64 1
  %a = load volatile i32, ptr addrspace(1) %p
  %b = load volatile i32, ptr addrspace(1) %q
  %s = add i32 %a, %b
  store volatile i32 %s, ptr addrspace(1) %p
  ret void
}
