; Registers that the PHIs of a loop connect are merged into one register if possible. A value that is read after the
; loop is copied once, and nothing else changes. The pass runs in SSA form, and only if it is enabled. Unless an option
; prints or checks the whole function, the pass gets only PHIs and the registers they use, with the same result.
; RUN: %llc-ra -nvptx-ra-cssa -mcpu=sm_90 -stop-after=nvptx-cssa %s -o - | FileCheck %s --check-prefix=SSA
; RUN: %llc-ra -nvptx-ra-cssa -mcpu=sm_90 -stop-after=nvptx-cssa %s -o %t.whole
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-cssa -mcpu=sm_90 -stop-after=nvptx-cssa %s -o %t.phis
; RUN: diff %t.whole %t.phis
; RUN: %llc-ra -nvptx-ra-cssa -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90
; RUN: %llc-ra -nvptx-ra-cssa -O0 -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90
; RUN: %llc-ra -nvptx-ra-cssa -nvptx-ra-cssa-verbosity=2 -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAYS
; RUN: %llc-ra -nvptx-ra-cssa -nvptx-ra-dump-before-cssa -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=DUMP
; RUN: %llc-ra -nvptx-ra-cssa -pass-remarks-missed=nvptx-cssa -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
; RUN: not %llc-ra -nvptx-ra-cssa-interference=3 -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
; RUN: %llc -load-pass-plugin=%plugin -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=ABSENT
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-cssa -nvptx-ra-position=off -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=PRESENT
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-cssa -nvptx-ra-cssa-interference=1 -O0 -debug-pass=Structure -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=PRESENT
; REQUIRES: ptxas

; SSA-LABEL: name: last
; SSA:       PHI %{{[0-9]+}}, %bb.{{[0-9]+}}, %[[COPY:[0-9]+]], %bb.[[LATCH:[0-9]+]]
; SSA:       bb.[[LATCH]]
; SSA:       %[[COPY]]:b32 = COPY
; SSA-NOT:   COPY
; SAYS:      nvptx-ra: nvptx-cssa of 'last'
; SAYS-NEXT: {{[0-9]+}} PHIs, 0 dead, 0 replaced, {{[0-9]+}} constants, 1 copies
; SAYS-NEXT: copied i{{[0-9]+}}, the PHI of {{.*}}: interference
; REMARK:    remark: {{.*}}a copy stays for the PHI of %{{[0-9]+}}: interference
; DUMP:      nvptx-ra: nvptx-cssa of 'last'
; DUMP:      = PHI %
; WRONG:     nvptx-ra: command line: cssa-interference=3: unknown; use 0, 1 or 2
; ABSENT-NOT: conventional SSA
; PRESENT:      {{Proxy Register}}
; PRESENT:      NVPTX conventional SSA
; PRESENT:      Eliminate PHI nodes for register allocation

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @last(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %value = load volatile i32, ptr addrspace(1) %in
  %next = add i32 %i, %value
  %more = icmp slt i32 %next, %n
  br i1 %more, label %latch, label %done

latch:
  store volatile i32 %next, ptr addrspace(1) %out
  br label %loop

done:
  store volatile i32 %i, ptr addrspace(1) %out
  store volatile i32 %next, ptr addrspace(1) %out
  ret void
}
