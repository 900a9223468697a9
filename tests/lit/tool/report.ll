; The report forecasts each kernel, includes its callees' needs and its shared memory, and lists the source lines whose
; values occupy the registers. The table, the JSON and the comparison with a baseline agree.
; RUN: %nvptx-ra report %s | FileCheck %s
; CHECK: kernel registers spills (bytes) stack shared warps limited by
; CHECK-NEXT: bounded [[REGISTERS:[0-9]+]] 0 0 1024 {{[0-9]+}}/64
; CHECK-NEXT: calls ≥{{[0-9]+}} ≥0 ≥0 0 ≤{{[0-9]+}}/64
; CHECK-NOT: inner
; CHECK: bounded
; CHECK-NEXT: [[REGISTERS]] registers (likely {{[0-9]+}} to {{[0-9]+}}); {{[0-9]+}} warps on an SM
; CHECK-NEXT: peak at report.cu:{{[0-9]+}}: {{[0-9]+}} words
; CHECK-NEXT: {{[0-9]+}} from line {{[0-9]+}}
; CHECK: calls
; CHECK: at least: it calls elsewhere, which is not in this file
; CHECK: compile with -gline-tables-only
;
; RUN: %nvptx-ra report %s --json > %t.json
; RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
; JSON: "budget": 128
; JSON: "likely_registers": [
; JSON: "limited_by": "{{[a-z, ]+}}"
; JSON: "name": "bounded"
; JSON: "next_step_registers":
; JSON: "occupancy_warps": {{[1-9]}}
; JSON: "live":
; JSON: "line": {{[1-9]}}
; JSON: "registers": {{[1-9]}}
; JSON: "shared_bytes": 1024
; JSON: "spill_load_bytes": 0
; JSON: "spill_store_bytes": 0
; JSON: "threads": 512
; JSON: "processor": "sm_90"
; RUN: %nvptx-ra report %s --json --features --kernel bounded | FileCheck %s --check-prefix=FEATURES
; FEATURES: "words": {{[1-9]}}
; Shared memory that the launch adds is added to the kernel's declared memory. Then one block of 16 warps fits, and more
; registers, up to the kernel's limit, would not reduce occupancy.
; RUN: %nvptx-ra report %s --dynamic-shared 4096 --dynamic-shared bounded=150000 --html %t.launch.html | FileCheck %s --check-prefix=LAUNCH
; LAUNCH: bounded [[REGISTERS:[0-9]+]] 0 0 151024 16/64 shared memory
; LAUNCH-NEXT: calls ≥{{[0-9]+}} ≥0 ≥0 4096 ≤{{[0-9]+}}/64
; RUN: FileCheck %s --check-prefix=LAUNCHED --input-file=%t.launch.html --implicit-check-not='is not known here'
; LAUNCHED: bytes of a block, 150,000 of the launch
; RUN: %nvptx-ra report %s --dynamic-shared bounded=150000 --json | FileCheck %s --check-prefix=LAUNCHJSON
; LAUNCHJSON: "dynamic_shared_bytes": 150000
; LAUNCHJSON: "dynamic_shared_bytes": 0
; RUN: not %nvptx-ra report %s --dynamic-shared nobody=8 2>&1 | FileCheck %s --check-prefix=NOLAUNCH
; NOLAUNCH: nvptx-ra: --dynamic-shared nobody=8: {{.*}}report.ll has no kernel whose name contains 'nobody'
; The page has every kernel with its occupancy, peak and source. It loads nothing from the network.
; RUN: %nvptx-ra report %s --html %t.html | FileCheck %s --check-prefix=STILL
; STILL: kernel registers
; RUN: FileCheck %s --check-prefix=PAGE --input-file=%t.html --implicit-check-not='<script' --implicit-check-not='://'
; PAGE: <title>report.ll on sm_90</title>
; PAGE: bounded</a>
; PAGE: calls</a>
; PAGE: <h2>Occupancy</h2>
; PAGE: peak: {{[0-9]+}} words at line {{[0-9]+}}
; PAGE: report.cu</p>
; RUN: not %nvptx-ra report %s --html %t.none/k.html 2>&1 | FileCheck %s --check-prefix=NOWHERE
; NOWHERE: nvptx-ra: {{.*}}.none/k.html: No such file or directory
; A first report creates the baseline, and a second report meets it. A kernel that grew is named.
; RUN: rm -f %t.base
; RUN: %nvptx-ra report %s --baseline %t.base 2>&1 | FileCheck %s --check-prefix=MADE
; MADE: nvptx-ra: {{.*}}.base: written
; RUN: %nvptx-ra report %s --baseline %t.base
; RUN: sed 's/"registers": [0-9]*,/"registers": 1,/' %t.base > %t.small
; RUN: not %nvptx-ra report %s --baseline %t.small 2>&1 | FileCheck %s --check-prefix=GREW
; GREW: nvptx-ra: kernel 'bounded' grew: 1 → {{[0-9]+}} registers
; RUN: sed 's/"registers": [0-9]*,/"registers": 250,/' %t.base > %t.large
; RUN: %nvptx-ra report %s --baseline %t.large 2>&1 | FileCheck %s --check-prefix=SHRANK
; SHRANK: nvptx-ra: kernel 'bounded' shrank: 250 →
; RUN: echo '{}' > %t.broken
; RUN: not %nvptx-ra report %s --baseline %t.broken 2>&1 | FileCheck %s --check-prefix=BROKEN
; BROKEN: nvptx-ra: {{.*}}.broken: no report; make it with nvptx-ra report --json, or remove it
; Errors take one line.
; RUN: not %nvptx-ra report %s --cpu sm_42 2>&1 | FileCheck %s --check-prefix=CPU
; CPU: nvptx-ra: {{.*}}sm_42{{.*}}sm_90
; RUN: not %nvptx-ra report %s --kernel nobody 2>&1 | FileCheck %s --check-prefix=NOBODY
; NOBODY: nvptx-ra: --kernel nobody: {{.*}}report.ll has no kernel whose name contains 'nobody'
; RUN: not %nvptx-ra report %s --max-regs 256 2>&1 | FileCheck %s --check-prefix=LIMIT
; LIMIT: 256 is not in 24..=255
; RUN: not %nvptx-ra report %s --max-regs 23 2>&1 | FileCheck %s --check-prefix=LEAST
; LEAST: 23 is not in 24..=255
; RUN: echo nonsense > %t.mfv
; RUN: not %nvptx-ra report %t.mfv 2>&1 | FileCheck %s --check-prefix=NONE
; NONE: nvptx-ra: {{.*}}: no kernel; mark kernels with the calling convention ptx_kernel
; RUN: cp %t.mfv %t.cu
; RUN: not %nvptx-ra report %t.cu 2>&1 | FileCheck %s --check-prefix=SOURCE
; SOURCE: nvptx-ra: {{.*}}.cu: this is C++ or CUDA, and report reads {{.*}}; compile it first: clang++ -x cuda
; RUN: not %nvptx-ra report %t.mfv --compare-ptxas 2>&1 | FileCheck %s --check-prefix=NOIR
; NOIR: nvptx-ra: --compare-ptxas: {{.*}}.mfv is neither LLVM IR nor PTX; give the .ll, .bc or .ptx file
@tile = internal addrspace(3) global [256 x i32] undef, align 4

declare i32 @elsewhere(i32)

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

define ptx_kernel void @calls(ptr addrspace(1) %p) {
  %a = load volatile i32, ptr addrspace(1) %p
  %b = call i32 @inner(i32 %a)
  %c = call i32 @elsewhere(i32 %b)
  store volatile i32 %c, ptr addrspace(1) %p
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "report.cu", directory: "/nowhere")
!2 = !{i32 2, !"Dwarf Version", i32 4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "bounded", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 2, column: 1, scope: !4)
!8 = !DILocation(line: 3, column: 1, scope: !4)
!9 = !DILocation(line: 4, column: 1, scope: !4)
