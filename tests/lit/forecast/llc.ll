; llc prints the forecast of each kernel after code generation. The forecast equals that of the report and does not
; change the code.
; RUN: rm -f %t.stats
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-strict -O3 -mcpu=sm_90 %s -o %t.without.ptx 2>&1 | count 0
; RUN: %llc-ra -nvptx-ra-forecast -nvptx-ra-stats=%t.stats -O3 -mcpu=sm_90 %s -o %t.ptx 2> %t.printed
; RUN: cmp %t.without.ptx %t.ptx
; RUN: FileCheck %s --strict-whitespace --match-full-lines --input-file=%t.printed
; RUN: %nvptx-ra report %s --json > %t.json
; RUN: %python %S/Inputs/same.py %t.json %t.printed | FileCheck %s --check-prefix=SAME
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.ptx %}
;      CHECK:Function Name: bounded
; CHECK-NEXT:    Registers: {{[0-9]+}}
; CHECK-NEXT:    Likely [registers]: {{[0-9]+ to [0-9]+}}
; CHECK-NEXT:    Predicates: {{[0-9]+}}
; CHECK-NEXT:    Spill Stores [bytes/thread]: 0
; CHECK-NEXT:    Spill Loads [bytes/thread]: 0
; CHECK-NEXT:    Stack [bytes/thread]: 0
; CHECK-NEXT:    Shared Memory [bytes/block]: 1024
; CHECK-NEXT:    Occupancy [warps/SM]: {{[0-9]+}}
; CHECK-NEXT:    Limited by: {{[a-z, ]+}}
; CHECK-NEXT:    Next Step [registers]: {{[0-9]+|none}}
; CHECK-NEXT:    Peak [words]: {{[0-9]+}}
; CHECK-NEXT:    Peak [line]: [[LINE:[2-9]]]
; A figure is exact only if all callees are known. If a callee is unknown or in another file, the figure is a bound.
; CHECK-NEXT:Function Name: elsewhere
; CHECK-NEXT:    Registers, at least: {{[0-9]+}}
;      CHECK:    Stack, at least [bytes/thread]: 0
;      CHECK:    Occupancy, at most [warps/SM]: {{[0-9]+}}
;      CHECK:Function Name: indirect
; CHECK-NEXT:    Registers, at least: {{[0-9]+}}
;      CHECK:Function Name: calls
; CHECK-NEXT:    Registers: {{[0-9]+}}
;  CHECK-NOT:inner
; SAME: 4 kernels
; The statistics have the result and the time of each part of the forecast.
; RUN: FileCheck %s --check-prefix=STATS --input-file=%t.stats
; STATS-DAG: {"event":"run","function":"bounded","pass":"nvptx-forecast","target":"sm_90",{{.*}}"time_ns":{{{.*}}"forecast":
; STATS-DAG: {"event":"shim","function":"bounded","pass":"nvptx-forecast","time_ns":{{{.*}}"flatten":
; STATS-DAG: {"event":"forecast","target":"sm_90","kernels":[{"function":"bounded","registers":{{[0-9]+}},"likely_registers":[{{[0-9]+,[0-9]+}}],"at_least":false,"spill_store_bytes":0,{{.*}}"time_ns":{"forecast":
; RUN: %nvptx-ra stats %t.stats | FileCheck %s --check-prefix=TOTALS
; TOTALS: kernels forecast {{ *}}4
; There is a forecast at every optimisation level and without the coalescer.
; RUN: %llc-ra -nvptx-ra-forecast -O0 -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=ANY
; RUN: %llc-ra -nvptx-ra-forecast -nvptx-ra-position=off -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=ANY
; RUN: %llc-ra -nvptx-ra-forecast -nvptx-ra-position=before -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=ANY
; ANY: Function Name: bounded
; ANY: Function Name: calls
; For a processor that the model does not know, a warning gives a remedy, and code is still generated. With strict it is
; an error.
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-forecast -mcpu=sm_52 %s -o %t.old.ptx 2>&1 | FileCheck %s --check-prefix=OLD
; RUN: grep "[.]entry bounded" %t.old.ptx
; RUN: not %llc-ra -nvptx-ra-forecast -mcpu=sm_52 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT
; OLD:    warning: nvptx-ra: {{.*}}sm_52{{.*}}sm_90
; STRICT: error: nvptx-ra: {{.*}}sm_52

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [256 x i32] undef, align 4

declare i32 @other(i32)

define i32 @inner(i32 %x) noinline {
  %y = mul i32 %x, %x
  ret i32 %y
}

define ptx_kernel void @bounded(ptr addrspace(1) %p) "nvvm.maxntid"="512" !dbg !4 {
  %a = load volatile i32, ptr addrspace(1) %p, !dbg !7
  %q = getelementptr i32, ptr addrspace(1) %p, i64 1
  %b = load volatile i32, ptr addrspace(1) %q, !dbg !8
  %t = getelementptr i32, ptr addrspace(3) @tile, i32 %a, !dbg !9
  store volatile i32 %b, ptr addrspace(3) %t, !dbg !9
  %s = add i32 %a, %b, !dbg !9
  store volatile i32 %s, ptr addrspace(1) %p, !dbg !9
  ret void, !dbg !9
}

define ptx_kernel void @elsewhere(ptr addrspace(1) %p) {
  %a = load volatile i32, ptr addrspace(1) %p
  %b = call i32 @other(i32 %a)
  store volatile i32 %b, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @indirect(ptr addrspace(1) %p, ptr %f) {
  %a = load volatile i32, ptr addrspace(1) %p
  %b = call i32 %f(i32 %a)
  store volatile i32 %b, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @calls(ptr addrspace(1) %p) {
  %a = load volatile i32, ptr addrspace(1) %p
  %b = call i32 @inner(i32 %a)
  store volatile i32 %b, ptr addrspace(1) %p
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "bounded.cu", directory: "/nowhere")
!2 = !{i32 2, !"Dwarf Version", i32 4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "bounded", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 2, column: 1, scope: !4)
!8 = !DILocation(line: 3, column: 1, scope: !4)
!9 = !DILocation(line: 4, column: 1, scope: !4)
