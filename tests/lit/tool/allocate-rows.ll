; The registers of a row operand are consecutive. If there are enough registers, no copy is needed; with rows turned
; off, the registers need not be consecutive. Sums over functions have a line for each optimisation level. A single
; function has no sum.
; RUN: %nvptx-ra allocate %s --print-problem --set tuples=on | FileCheck %s --check-prefix=ROWS
; ROWS-DAG: range tuple4x4 live
; ROWS-DAG: range tuple2x2 live
; ROWS-DAG: lane {{[0-9]+}} lr{{[0-9]+}} + 3 = lr{{[0-9]+}} * 1
; ROWS-DAG: lane {{[0-9]+}} lr{{[0-9]+}} = lr{{[0-9]+}} + 3 * 1
; RUN: %nvptx-ra allocate %s --print-problem --set tuples=off | FileCheck %s --check-prefix=OFF
; OFF-NOT: tuple
; OFF-NOT: lane
; RUN: %nvptx-ra allocate %s --cpu sm_75 --print-problem --set matrix-tuple=2 | FileCheck %s --check-prefix=NARROW
; NARROW: problem k
; RUN: not %nvptx-ra allocate %s --set matrix-tuple=3 2>&1 | FileCheck %s --check-prefix=ODD
; ODD: nvptx-ra: --set matrix-tuple=3: not allowed; use 1, 2, 4,
;
; RUN: %nvptx-ra allocate %s --json --allocator greedy,briggs,fatpoint | FileCheck %s --check-prefix=JSON
; JSON-COUNT-3: "tuple_copies":0,"tuple_moves":0.0,"tuples":{{[1-9]}}
;
; RUN: %nvptx-ra allocate %s %s -O0,2 --summary --allocator greedy --register-limit 255,none | FileCheck %s --check-prefix=SUMMARY
; SUMMARY: level limit allocator functions spilling ranges
; SUMMARY-NEXT: O0 255 greedy 2 0 0.00 % 0 {{.*}} build {{[0-9]+}} %, assign {{[0-9]+}} %
; SUMMARY-NEXT: O0 none greedy 2 0
; SUMMARY-NEXT: O2 255 greedy 2 0
; SUMMARY-NEXT: O2 none greedy 2 0
; SUMMARY-NOT: instructions
; RUN: %nvptx-ra allocate %s --summary --json --allocator briggs | FileCheck %s --check-prefix=SUMS
; SUMS: {"allocator":"briggs","budget":255,{{.*}}"functions":1,"level":3,{{.*}}"rounds":1,{{.*}}"shares":{"build":
; SUMS-NOT: {
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) align 16 %p, ptr addrspace(1) align 16 %q) {
  %v = load <4 x float>, ptr addrspace(1) %p, align 16
  %a0 = extractelement <4 x float> %v, i32 0
  %a1 = extractelement <4 x float> %v, i32 1
  %a2 = extractelement <4 x float> %v, i32 2
  %a3 = extractelement <4 x float> %v, i32 3
  %i0 = bitcast float %a0 to i32
  %i1 = bitcast float %a1 to i32
  %m = call { float, float } asm sideeffect "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {$0, $1}, {$2}, {$3}, {$0, $1};", "=f,=f,r,r,0,1"(i32 %i0, i32 %i1, float %a2, float %a3)
  %d0 = extractvalue { float, float } %m, 0
  %d1 = extractvalue { float, float } %m, 1
  %s0 = insertelement <4 x float> poison, float %a0, i32 0
  %s1 = insertelement <4 x float> %s0, float %a1, i32 1
  %s2 = insertelement <4 x float> %s1, float %d0, i32 2
  %s3 = insertelement <4 x float> %s2, float %d1, i32 3
  store <4 x float> %s3, ptr addrspace(1) %q, align 16
  ret void
}
