; If a callee holds more than its kernel, the report and the remarks point to the callee's lines instead of the kernel's
; lines. If the kernel holds more, they do not mention its callees.
; RUN: %nvptx-ra report %s | FileCheck %s --check-prefix=TABLE
; TABLE: outer<float>
; TABLE:      {{^}}outer<float>
; TABLE:      peak at k.cu:7 in its callee work: {{[0-9]+}} words
; TABLE:      {{^}}alone
; TABLE:      peak: 1 word{{$}}
; RUN: %nvptx-ra report %s --json --kernel 'outer<' > %t.json
; RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
; JSON: "function": "_Z4workPi"
; JSON: "line": 7
; RUN: %nvptx-ra report %s --html %t.html > /dev/null
; RUN: FileCheck %s --check-prefix=PAGE --input-file=%t.html
; PAGE-COUNT-1: a callee that needs more registers
; PAGE-NOT: a callee that needs
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 -nvptx-ra-forecast %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=PRINTED
; PRINTED: Function Name: _Z5outerIfEvPi
; PRINTED: Peak [line]: 7
; PRINTED: Peak [function]: _Z4workPi
; PRINTED: Function Name: alone
; PRINTED-NOT: Peak [function]
; The line of the peak is in the callee, but the remark is at the kernel's line.
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 -pass-remarks-analysis=nvptx-forecast %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=REMARK
; REMARK: remark: k.cu:2:0: {{ *}}Peak [function]: _Z4workPi

target triple = "nvptx64-nvidia-cuda"

define void @_Z4workPi(ptr %p) noinline !dbg !4 {
  %p1 = getelementptr i32, ptr %p, i64 1
  %p2 = getelementptr i32, ptr %p, i64 2
  %a = load volatile i32, ptr %p, !dbg !7
  %b = load volatile i32, ptr %p1, !dbg !7
  %c = load volatile i32, ptr %p2, !dbg !7
  store volatile i32 %a, ptr %p, !dbg !7
  store volatile i32 %b, ptr %p, !dbg !7
  store volatile i32 %c, ptr %p, !dbg !7
  ret void, !dbg !7
}

define ptx_kernel void @_Z5outerIfEvPi(ptr %p) !dbg !5 {
  call void @_Z4workPi(ptr %p), !dbg !8
  ret void, !dbg !8
}

define ptx_kernel void @alone(ptr %p) {
  %p1 = getelementptr i32, ptr %p, i64 1
  %a = load volatile i32, ptr %p
  store volatile i32 %a, ptr %p1
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 7, !"Dwarf Version", i32 2}
!4 = distinct !DISubprogram(name: "work", scope: !1, file: !1, line: 6, type: !6, scopeLine: 6, unit: !0, spFlags: DISPFlagDefinition)
!5 = distinct !DISubprogram(name: "outer", scope: !1, file: !1, line: 2, type: !6, scopeLine: 2, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DISubroutineType(types: !{})
!7 = !DILocation(line: 7, column: 3, scope: !4)
!8 = !DILocation(line: 3, column: 3, scope: !5)
