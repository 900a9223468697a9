; LLVM writes `debug` after the target of a module with line tables, such as Triton's. ptxas does not optimise such
; code, so the tool removes the word if it optimises.

; RUN: %nvptx-ra compile --cpu sm_90 -O3 %s -o %t.ptx
; RUN: FileCheck %s < %t.ptx
; RUN: %nvptx-ra compile --cpu sm_90 -O0 %s -o - | FileCheck %s --check-prefix=SLOW
; CHECK: .target sm_90{{$}}
; CHECK: .loc {{.*}} 3
; SLOW: .target sm_90, debug{{$}}
; RUN: %ptxas-verify -arch=sm_90 < %t.ptx

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr addrspace(1) %p) !dbg !4 {
  store i32 1, ptr addrspace(1) %p, align 4, !dbg !6
  ret void, !dbg !6
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.py", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 7, !"Dwarf Version", i32 4}
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 2, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !{})
!6 = !DILocation(line: 3, column: 1, scope: !4)
