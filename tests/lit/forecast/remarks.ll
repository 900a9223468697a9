; If remarks of nvptx-forecast are enabled, no other option is needed. Each figure is a remark in the format of AMDGPU's
; kernel-resource-usage. Remarks on the peak are at the peak's line, the others at the kernel. Otherwise nothing is
; printed.
; RUN: %llc-ra -mcpu=sm_90 -pass-remarks-analysis=nvptx-forecast %s -o %t.ptx 2>&1 | FileCheck %s --implicit-check-not=remark
;      CHECK: remark: k.cu:2:0: Function Name: k
; CHECK-NEXT: remark: k.cu:2:0:     Registers: {{[0-9]+}}
; CHECK-NEXT: remark: k.cu:2:0:     Likely [registers]: {{[0-9]+ to [0-9]+}}
; CHECK-NEXT: remark: k.cu:2:0:     Predicates: {{[0-9]+}}
; CHECK-NEXT: remark: k.cu:2:0:     Spill Stores [bytes/thread]: 0
; CHECK-NEXT: remark: k.cu:2:0:     Spill Loads [bytes/thread]: 0
; CHECK-NEXT: remark: k.cu:2:0:     Stack [bytes/thread]: 0
; CHECK-NEXT: remark: k.cu:2:0:     Shared Memory [bytes/block]: 0
; CHECK-NEXT: remark: k.cu:2:0:     Occupancy [warps/SM]: {{[0-9]+}}
; CHECK-NEXT: remark: k.cu:2:0:     Limited by: {{[a-z, ]+}}
; CHECK-NEXT: remark: k.cu:2:0:     Next Step [registers]: {{[0-9]+|none}}
; CHECK-NEXT: remark: k.cu:[[LINE:[3-5]]]:{{[0-9]}}:     Peak [words]: {{[1-9]}}
; CHECK-NEXT: remark: k.cu:[[LINE]]:{{[0-9]}}:     Peak [line]: [[LINE]]
; RUN: %llc-ra -mcpu=sm_90 -pass-remarks=nvptx-forecast -pass-remarks-missed=nvptx-forecast -pass-remarks-analysis=other %s \
; RUN:   -o %t.silent.ptx 2>&1 | count 0
; RUN: cmp %t.ptx %t.silent.ptx
; In a file of remarks, each value has a name. A filter can exclude the pass.
; RUN: %llc-ra -mcpu=sm_90 -pass-remarks-output=%t.yaml %s -o /dev/null
; RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml
;      YAML: Pass: nvptx-forecast
; YAML-NEXT: Name: FunctionName
;      YAML: Pass: nvptx-forecast
; YAML-NEXT: Name: Registers
; YAML-NEXT: DebugLoc: { File: k.cu, Line: 2, Column: 0 }
; YAML-NEXT: Function: k
; YAML-NEXT: Args:
; YAML-NEXT:   - String: ' Registers'
; YAML-NEXT:   - String: ': '
; YAML-NEXT:   - Registers: '{{[0-9]+}}'
; RUN: %llc-ra -mcpu=sm_90 -pass-remarks-output=%t.yaml -pass-remarks-filter=asm-printer %s -o /dev/null
; RUN: not grep nvptx-forecast %t.yaml

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) %p) !dbg !4 {
  %q = getelementptr i32, ptr addrspace(1) %p, i64 1
  %a = load volatile i32, ptr addrspace(1) %p, !dbg !7
  %b = load volatile i32, ptr addrspace(1) %q, !dbg !8
  %s = add i32 %a, %b, !dbg !9
  store volatile i32 %s, ptr addrspace(1) %p, !dbg !9
  ret void, !dbg !9
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/nowhere")
!2 = !{i32 2, !"Dwarf Version", i32 4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "k", file: !1, line: 1, scopeLine: 2, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 3, column: 1, scope: !4)
!8 = !DILocation(line: 4, column: 1, scope: !4)
!9 = !DILocation(line: 5, column: 1, scope: !4)
