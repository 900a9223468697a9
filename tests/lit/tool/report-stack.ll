; A stack variable that ptxas keeps in registers is not counted as stack, but is live at the peak. A stack variable
; whose address escapes stays in memory, and its loads and stores are counted. With -v, the report has the format of
; ptxas -v with statistics.
; RUN: %nvptx-ra report %s -v | FileCheck %s
; CHECK: peak
; CHECK: Function properties for picked
; CHECK-NEXT: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
; CHECK-NEXT: Used [[#REGISTERS:]] registers
; CHECK-NEXT: # [est latency = {{[1-9][0-9]+}}] [LSpillB=0] [LRefillB=0], [SSpillB=0], [SRefillB=0], [LowLmemSpillSize=0] [FrameLmemSpillSize=0]
; CHECK-NEXT: # [LNonSpillB=0] [LNonRefillB=0], [NonSpillSize=0]
; CHECK: Function properties for given
; CHECK-NEXT: 16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
; CHECK: # [LNonSpillB=8] [LNonRefillB=4], [NonSpillSize=16]
; RUN: %nvptx-ra report %s --json --features --kernel picked | FileCheck %s --check-prefix=JSON
; JSON: "stack_words": 8
; JSON: "register": "slot0"
; JSON: "stack_bytes": 0
; The table lists the words of the stack.
; RUN: %nvptx-ra report %s --kernel picked | FileCheck %s --check-prefix=TABLE
; TABLE: picked {{[0-9]+}} 0 0 0
; TABLE: 8 from line 5 (a: stack, in registers)
; RUN: not %nvptx-ra report %s -v --json 2>&1 | FileCheck %s --check-prefix=BOTH
; BOTH: --verbose' cannot be used with '--json
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @picked(ptr addrspace(1) %p, i64 %which) !dbg !4 {
  %a = alloca [8 x i32], align 16
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !6
  %o = zext i32 %t to i64
  %q = getelementptr i32, ptr addrspace(1) %p, i64 %o
  %v0 = load volatile i32, ptr addrspace(1) %q, !dbg !7
  store i32 %v0, ptr %a, !dbg !7
  %a1 = getelementptr i32, ptr %a, i64 1
  %v1 = load volatile i32, ptr addrspace(1) %q, !dbg !7
  store i32 %v1, ptr %a1, !dbg !7
  %a2 = getelementptr i32, ptr %a, i64 2
  %v2 = load volatile i32, ptr addrspace(1) %q, !dbg !7
  store i32 %v2, ptr %a2, !dbg !7
  %a3 = getelementptr i32, ptr %a, i64 3
  %v3 = load volatile i32, ptr addrspace(1) %q, !dbg !7
  store i32 %v3, ptr %a3, !dbg !7
  %a4 = getelementptr i32, ptr %a, i64 4
  %v4 = load volatile i32, ptr addrspace(1) %q, !dbg !7
  store i32 %v4, ptr %a4, !dbg !7
  %a5 = getelementptr i32, ptr %a, i64 5
  %v5 = load volatile i32, ptr addrspace(1) %q, !dbg !7
  store i32 %v5, ptr %a5, !dbg !7
  %a6 = getelementptr i32, ptr %a, i64 6
  %v6 = load volatile i32, ptr addrspace(1) %q, !dbg !7
  store i32 %v6, ptr %a6, !dbg !7
  %a7 = getelementptr i32, ptr %a, i64 7
  %v7 = load volatile i32, ptr addrspace(1) %q, !dbg !7
  store i32 %v7, ptr %a7, !dbg !7
  %last = load volatile i64, ptr addrspace(1) %q, !dbg !8
  %any = add i64 %last, %which
  %e = getelementptr i32, ptr %a, i64 %any
  %v = load i32, ptr %e, !dbg !8
  store i32 %v, ptr addrspace(1) %p, !dbg !8
  ret void, !dbg !8
}

define ptx_kernel void @given(ptr addrspace(1) %p, i64 %which) {
  %a = alloca [4 x i32], align 16
  %first = load i64, ptr addrspace(1) %p
  store i64 %first, ptr %a
  call void @other(ptr %a)
  %e = getelementptr i32, ptr %a, i64 %which
  %v = load i32, ptr %e
  store i32 %v, ptr addrspace(1) %p
  ret void
}

declare void @other(ptr)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "stack.cu", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 2, !"Dwarf Version", i32 2}
!4 = distinct !DISubprogram(name: "picked", scope: !1, file: !1, line: 1, type: !5, unit: !0)
!5 = !DISubroutineType(types: !{null})
!6 = !DILocation(line: 2, scope: !4)
!7 = !DILocation(line: 5, scope: !4)
!8 = !DILocation(line: 9, scope: !4)
