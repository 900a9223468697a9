; Findings of lints are remarks of nvptx-lint among the missed optimisations, and are printed only on request. They do
; not change the code. Here one kernel spills because of a limit within an occupancy step, and another because of a
; limit at the end of a step.
; RUN: %llc-ra -mcpu=sm_90 -pass-remarks-missed=nvptx-lint %s -o %t.ptx 2> %t.log
; RUN: FileCheck %s --input-file=%t.log --implicit-check-not=remark:
;      CHECK: remark: k.cu:3:0: kernel 'limited': it is expected to spill {{[0-9]+}} bytes; keep fewer values live at once, or allow more than 36 registers; nvptx-ra tune searches for code that spills less [spills]
;      CHECK: remark: k.cu:3:0: kernel 'limited': it is expected to spill {{[0-9]+}} bytes because its register limit is 36; an SM also holds 48 warps with up to 40 registers; allow it 40 registers: __maxnreg__(40), or fewer blocks in __launch_bounds__ [needless-spills]
;      CHECK: remark: k.cu:{{[0-9]+}}:0: kernel 'limited_at_step': it is expected to spill {{[0-9]+}} bytes; keep fewer values live at once, or allow more than 40 registers; nvptx-ra tune searches for code that spills less [spills]
; RUN: %llc-ra -mcpu=sm_90 -pass-remarks=nvptx-lint -pass-remarks-analysis=nvptx-lint -pass-remarks-missed=nvptx-forecast %s \
; RUN:   -o %t.silent.ptx 2>&1 | count 0
; RUN: cmp %t.ptx %t.silent.ptx
; If the forecast's remarks are also requested, both are printed, and the forecast is the same. At -O0, and without the
; coalescer, the forecast reads the functions itself.
; RUN: %llc-ra -mcpu=sm_90 -pass-remarks-missed=nvptx-lint -pass-remarks-analysis=nvptx-forecast %s -o /dev/null 2> %t.both
; RUN: %llc-ra -mcpu=sm_90 -pass-remarks-analysis=nvptx-forecast %s -o /dev/null 2> %t.forecast
; RUN: cat %t.forecast %t.log > %t.expected
; RUN: sort %t.expected > %t.expected.sorted
; RUN: sort %t.both | cmp %t.expected.sorted -
; RUN: %llc-ra -mcpu=sm_90 -O0 -pass-remarks-missed=nvptx-lint %s -o /dev/null 2>&1 | FileCheck %s
; RUN: %llc-ra -mcpu=sm_90 -nvptx-ra-position=off -pass-remarks-missed=nvptx-lint %s -o /dev/null 2>&1 | FileCheck %s
; opt compiles a clone of the module for the lints.
; RUN: %opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes=nvptx-forecast -pass-remarks-missed=nvptx-lint %s -disable-output 2>&1 \
; RUN:   | FileCheck %s
; In a file of remarks, the lint is the name of the remark. A filter can exclude the lints.
; RUN: %llc-ra -mcpu=sm_90 -pass-remarks-output=%t.yaml %s -o /dev/null
; RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml
;      YAML: --- !Missed
; YAML-NEXT: Pass: nvptx-lint
; YAML-NEXT: Name: spills
; YAML-NEXT: DebugLoc: { File: k.cu, Line: 3, Column: 0 }
; YAML-NEXT: Function: limited
; RUN: %llc-ra -mcpu=sm_90 -pass-remarks-output=%t.yaml -pass-remarks-filter=nvptx-forecast %s -o /dev/null
; RUN: not grep nvptx-lint %t.yaml

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @limited(ptr addrspace(1) %p) "nvvm.maxntid"="256" "nvvm.maxnreg"="36" !dbg !4 {
  %v0 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v1 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v2 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v3 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v4 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v5 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v6 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v7 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v8 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v9 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v10 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v11 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v12 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v13 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  %v14 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !6
  store volatile <4 x i32> %v0, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v1, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v2, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v3, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v4, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v5, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v6, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v7, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v8, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v9, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v10, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v11, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v12, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v13, ptr addrspace(1) %p, !dbg !7
  store volatile <4 x i32> %v14, ptr addrspace(1) %p, !dbg !7
  ret void, !dbg !7
}

define ptx_kernel void @limited_at_step(ptr addrspace(1) %p) "nvvm.maxntid"="256" "nvvm.maxnreg"="40" !dbg !8 {
  %v0 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v1 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v2 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v3 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v4 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v5 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v6 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v7 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v8 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v9 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v10 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v11 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v12 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v13 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  %v14 = load volatile <4 x i32>, ptr addrspace(1) %p, !dbg !9
  store volatile <4 x i32> %v0, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v1, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v2, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v3, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v4, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v5, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v6, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v7, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v8, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v9, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v10, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v11, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v12, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v13, ptr addrspace(1) %p, !dbg !10
  store volatile <4 x i32> %v14, ptr addrspace(1) %p, !dbg !10
  ret void, !dbg !10
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/nowhere")
!2 = !{i32 2, !"Dwarf Version", i32 4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "limited", file: !1, line: 1, scopeLine: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !11)
!6 = !DILocation(line: 3, column: 1, scope: !4)
!7 = !DILocation(line: 4, column: 1, scope: !4)
!8 = distinct !DISubprogram(name: "limited_at_step", file: !1, line: 7, scopeLine: 7, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!9 = !DILocation(line: 8, column: 1, scope: !8)
!10 = !DILocation(line: 9, column: 1, scope: !8)
!11 = !{}
