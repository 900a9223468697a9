; The view has a kernel's launch attributes, its source file and the sizes of its static shared variables. A function
; that is no kernel has no bounds, whatever its attributes are, and a function without debug information has no file.
; RUN: %llc -mcpu=sm_90 -stop-after=finalize-isel %s -o %t.mir
; RUN: %nvptx-ra mir -mcpu=sm_90 -passes='print<nvptx-ra-view>' %t.mir -o /dev/null 2> %t.view
; RUN: FileCheck %s --input-file %t.view

; CHECK:      function "bounded"
; CHECK-NEXT: kernel maxntid 256 reqntid 128 minctasm 2 maxnreg 64
; CHECK-NEXT: file "/kernels/tile.cu"
; CHECK-NEXT: opcode
; CHECK-DAG:  = "@tile" shared 4096
; CHECK-DAG:  = "@dynamic" shared dynamic{{$}}
; CHECK-DAG:  = "@elsewhere"{{$}}
; CHECK:      bb0:
; Code that is inlined from the header has the line of the call in the kernel's file, also if the header calls itself in
; between. Code of the file itself keeps its line, inlined or not.
; CHECK:      ST_i32 {{.*}} shared line 12{{$}}
; CHECK:      ST_i32 {{.*}} shared line 13{{$}}
; CHECK:      ST_i32 {{.*}} global line 21{{$}}
; CHECK:      ST_i32 {{.*}} global line 22{{$}}
; CHECK:      {{^}}end

; Malformed values and 0 have no effect.
; CHECK:      function "malformed"
; CHECK-NEXT: kernel maxnreg 32{{$}}
; CHECK-NEXT: opcode

; CHECK:      function "device"
; CHECK-NEXT: opcode

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [1024 x float] undef, align 4
@dynamic = external addrspace(3) global [0 x float], align 4
@elsewhere = internal addrspace(1) global [8 x float] zeroinitializer, align 4

define ptx_kernel void @bounded(i32 %i) "nvvm.maxntid"="64,2,2" "nvvm.reqntid"="128" "nvvm.minctasm"="2" "nvvm.maxnreg"="64" !dbg !4 {
  %a = getelementptr float, ptr addrspace(3) @tile, i32 %i
  store volatile float 1.0, ptr addrspace(3) %a, !dbg !10
  %b = getelementptr float, ptr addrspace(3) @dynamic, i32 %i
  store volatile float 2.0, ptr addrspace(3) %b, !dbg !11
  %c = getelementptr float, ptr addrspace(1) @elsewhere, i32 %i
  store volatile float 3.0, ptr addrspace(1) %c, !dbg !12
  store volatile float 4.0, ptr addrspace(1) %c, !dbg !13
  ret void
}

define ptx_kernel void @malformed(ptr addrspace(1) %p) "nvvm.maxntid"="64,x" "nvvm.reqntid"="0" "nvvm.minctasm"="two" "nvvm.maxnreg"="32" {
  store i32 1, ptr addrspace(1) %p
  ret void
}

define void @device(ptr addrspace(1) %p) "nvvm.maxntid"="64" {
  store i32 1, ptr addrspace(1) %p
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!14}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "tile.cu", directory: "/kernels")
!2 = !DIFile(filename: "/include/header.h", directory: "/kernels")
!3 = !DISubroutineType(types: !{})
!4 = distinct !DISubprogram(name: "bounded", file: !1, line: 10, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = distinct !DISubprogram(name: "outer", file: !2, line: 100, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!6 = distinct !DISubprogram(name: "inner", file: !2, line: 200, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!7 = distinct !DISubprogram(name: "local", file: !1, line: 20, type: !3, unit: !0, spFlags: DISPFlagDefinition)
; In the kernel itself.
!10 = !DILocation(line: 12, scope: !4)
; In a function of the header, called by another function of the header, which the kernel calls.
!11 = !DILocation(line: 201, scope: !6, inlinedAt: !15)
!15 = distinct !DILocation(line: 101, scope: !5, inlinedAt: !16)
!16 = distinct !DILocation(line: 13, scope: !4)
; In another function of the same file.
!12 = !DILocation(line: 21, scope: !7, inlinedAt: !17)
!17 = distinct !DILocation(line: 14, scope: !4)
; In a function of the header, called by the function above.
!13 = !DILocation(line: 202, scope: !6, inlinedAt: !18)
!18 = distinct !DILocation(line: 22, scope: !7, inlinedAt: !17)
!14 = !{i32 2, !"Debug Info Version", i32 3}
