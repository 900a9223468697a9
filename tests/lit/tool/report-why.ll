; The report explains three properties of a kernel: its lower bound of registers, its stack with the stack variable, and
; why it does not link if functions are compiled separately. For a kernel without any of them it prints nothing.
; RUN: %nvptx-ra report %s > %t.table
; RUN: FileCheck %s --input-file=%t.table
; CHECK: kernel registers spills (bytes) stack shared warps limited by
; CHECK-NEXT: indexed {{[0-9]+}} 0 192 0
; CHECK-NEXT: passed ≥{{[0-9]+}} ≥0 ≥16 0
; CHECK-NEXT: through_callee {{[0-9]+}} 0 192 0
; CHECK-NEXT: table ≥{{[0-9]+}} ≥0 ≥0 0
; CHECK-NEXT: pointer ≥{{[0-9]+}} ≥0 ≥0 0
; CHECK-NEXT: recurses ≥{{[0-9]+}} ≥0 ≥0 0
; CHECK-NEXT: bounded {{[0-9]+}} 0 0 0
; CHECK-NEXT: free {{[0-9]+}} 0 0 0
; CHECK: {{^}}indexed
; CHECK-NOT: at least
; CHECK: 192 bytes of stack: 'buffer' (line 3) is indexed by a variable at line 5: a selection from 48 values costs more than the memory accesses
; CHECK: {{^}}passed
; CHECK: at least: it calls elsewhere, which is not in this file
; CHECK-NEXT: 16 bytes of stack: 'pair': its address is passed to elsewhere
; CHECK: {{^}}through_callee
; CHECK: 192 bytes of stack in its callees
; CHECK: {{^}}table
; CHECK: at least: it calls through operations, which holds addresses of functions
; CHECK: {{^}}pointer
; CHECK: at least: it calls through a pointer
; CHECK: {{^}}recurses
; CHECK: at least: it calls factorial, which calls itself
; CHECK: {{^}}bounded
; CHECK-NOT: at least
; CHECK: the kernel does not link after ptxas -c: 40 words are live in heavy, for which ptxas takes 90 registers or more, and the kernel may have 64; pass --device-function-maxrregcount 64 to ptxas, or inline heavy
; CHECK: {{^}}free
; CHECK-NOT: at least
; CHECK-NOT: link
; CHECK-NOT: bytes of stack
;
; RUN: %nvptx-ra report %s --json > %t.json
; RUN: %python -c "import json, sys; kernels = {k['name']: k for k in json.load(open(sys.argv[1]))['kernels']}; \
; RUN:   print(kernels['passed']['at_least_because'], kernels['free']['at_least_because'], kernels['bounded']['compiled_apart']); \
; RUN:   print(kernels['indexed']['stack_because'], kernels['through_callee']['callee_stack_bytes'])" %t.json | FileCheck %s --check-prefix=JSON
; JSON: ['calls elsewhere, which is not in this file'] [] {'function': 'heavy', 'limit': 64, 'registers': 90, 'words': 40}
; JSON-NEXT: {'declared': 3, 'line': 5, 'text': "'buffer' (line 3) is indexed {{.*}}", 'variable': 'buffer'} 192
; ptxas refuses the case that the report names, and accepts it with the option that the report names. (If the file has
; calls through pointers, ptxas leaves the error to the linker.)
; RUN: llvm-extract -func=bounded -func=heavy %s -o %t.bc
; RUN: %nvptx-ra compile %t.bc --cpu sm_90 -o %t.ptx
; RUN: %if ptxas %{ not %ptxas -c -arch sm_90 %t.ptx -o %t.o 2>&1 | FileCheck %s --check-prefix=PTXAS %}
; PTXAS: 'bounded' with max regcount of 64 calls function 'heavy' with regcount of {{[0-9]+}}
; RUN: %if ptxas %{ %ptxas -c -arch sm_90 --device-function-maxrregcount 64 %t.ptx -o %t.o %}
; The compiler's remarks have the same content.
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 -pass-remarks-analysis=nvptx-forecast %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
; REMARK: Function Name: passed
; REMARK: At Least Because It: calls elsewhere, which is not in this file
; REMARK: Function Name: bounded
; REMARK: Separate Compilation: the kernel does not link after ptxas -c: 40 words are live in heavy
; REMARK: Function Name: free
; REMARK-NOT: Because
; REMARK-NOT: Apart
target triple = "nvptx64-nvidia-cuda"

@operations = internal addrspace(4) constant [2 x ptr] [ptr @square, ptr @leaf]

declare void @elsewhere(ptr)
declare void @llvm.dbg.declare(metadata, metadata, metadata)

define internal i32 @square(i32 %x) noinline {
  %y = mul i32 %x, %x
  ret i32 %y
}

define internal i32 @leaf(i32 %x) noinline {
  %y = add i32 %x, 7
  ret i32 %y
}

define i32 @factorial(i32 %n) noinline {
  %more = icmp sgt i32 %n, 2
  br i1 %more, label %again, label %done
again:
  %m = sub i32 %n, 1
  %r = call i32 @factorial(i32 %m)
  %product = mul i32 %r, %n
  ret i32 %product
done:
  ret i32 1
}

define void @with_array(ptr addrspace(1) %p, i64 %i) noinline {
  %buffer = alloca [48 x i32]
  %e = getelementptr i32, ptr %buffer, i64 %i
  store i32 9, ptr %e
  %f = getelementptr i32, ptr %buffer, i64 2
  %v = load i32, ptr %f
  store i32 %v, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @indexed(ptr addrspace(1) %p, i64 %i) !dbg !4 {
  %array = alloca [48 x i32], !dbg !9
    #dbg_declare(ptr %array, !7, !DIExpression(), !9)
  %e = getelementptr i32, ptr %array, i64 %i, !dbg !10
  store i32 9, ptr %e, !dbg !10
  %f = getelementptr i32, ptr %array, i64 2, !dbg !11
  %v = load i32, ptr %f, !dbg !11
  store i32 %v, ptr addrspace(1) %p, !dbg !11
  ret void, !dbg !11
}

define ptx_kernel void @passed(ptr addrspace(1) %p) {
  %pair = alloca [4 x i32]
  call void @elsewhere(ptr %pair)
  %v = load i32, ptr %pair
  store i32 %v, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @through_callee(ptr addrspace(1) %p, i64 %i) {
  call void @with_array(ptr addrspace(1) %p, i64 %i)
  ret void
}

define ptx_kernel void @table(ptr addrspace(1) %p, i64 %i) {
  %a = getelementptr [2 x ptr], ptr addrspace(4) @operations, i64 0, i64 %i
  %fn = load ptr, ptr addrspace(4) %a
  %v = load i32, ptr addrspace(1) %p
  %b = call i32 %fn(i32 %v)
  store i32 %b, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @pointer(ptr addrspace(1) %p, ptr %fn) {
  %v = load i32, ptr addrspace(1) %p
  %b = call i32 %fn(i32 %v)
  store i32 %b, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @recurses(ptr addrspace(1) %p) {
  %v = load i32, ptr addrspace(1) %p
  %b = call i32 @factorial(i32 %v)
  store i32 %b, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @bounded(ptr addrspace(1) %p) "nvvm.maxntid"="1024" {
  call void @heavy(ptr addrspace(1) %p)
  ret void
}

define ptx_kernel void @free(ptr addrspace(1) %p) {
  call void @heavy(ptr addrspace(1) %p)
  ret void
}

define void @heavy(ptr addrspace(1) %p) noinline {
  %q0 = getelementptr i32, ptr addrspace(1) %p, i64 0
  %v0 = load volatile i32, ptr addrspace(1) %q0
  %q1 = getelementptr i32, ptr addrspace(1) %p, i64 1
  %v1 = load volatile i32, ptr addrspace(1) %q1
  %q2 = getelementptr i32, ptr addrspace(1) %p, i64 2
  %v2 = load volatile i32, ptr addrspace(1) %q2
  %q3 = getelementptr i32, ptr addrspace(1) %p, i64 3
  %v3 = load volatile i32, ptr addrspace(1) %q3
  %q4 = getelementptr i32, ptr addrspace(1) %p, i64 4
  %v4 = load volatile i32, ptr addrspace(1) %q4
  %q5 = getelementptr i32, ptr addrspace(1) %p, i64 5
  %v5 = load volatile i32, ptr addrspace(1) %q5
  %q6 = getelementptr i32, ptr addrspace(1) %p, i64 6
  %v6 = load volatile i32, ptr addrspace(1) %q6
  %q7 = getelementptr i32, ptr addrspace(1) %p, i64 7
  %v7 = load volatile i32, ptr addrspace(1) %q7
  %q8 = getelementptr i32, ptr addrspace(1) %p, i64 8
  %v8 = load volatile i32, ptr addrspace(1) %q8
  %q9 = getelementptr i32, ptr addrspace(1) %p, i64 9
  %v9 = load volatile i32, ptr addrspace(1) %q9
  %q10 = getelementptr i32, ptr addrspace(1) %p, i64 10
  %v10 = load volatile i32, ptr addrspace(1) %q10
  %q11 = getelementptr i32, ptr addrspace(1) %p, i64 11
  %v11 = load volatile i32, ptr addrspace(1) %q11
  %q12 = getelementptr i32, ptr addrspace(1) %p, i64 12
  %v12 = load volatile i32, ptr addrspace(1) %q12
  %q13 = getelementptr i32, ptr addrspace(1) %p, i64 13
  %v13 = load volatile i32, ptr addrspace(1) %q13
  %q14 = getelementptr i32, ptr addrspace(1) %p, i64 14
  %v14 = load volatile i32, ptr addrspace(1) %q14
  %q15 = getelementptr i32, ptr addrspace(1) %p, i64 15
  %v15 = load volatile i32, ptr addrspace(1) %q15
  %q16 = getelementptr i32, ptr addrspace(1) %p, i64 16
  %v16 = load volatile i32, ptr addrspace(1) %q16
  %q17 = getelementptr i32, ptr addrspace(1) %p, i64 17
  %v17 = load volatile i32, ptr addrspace(1) %q17
  %q18 = getelementptr i32, ptr addrspace(1) %p, i64 18
  %v18 = load volatile i32, ptr addrspace(1) %q18
  %q19 = getelementptr i32, ptr addrspace(1) %p, i64 19
  %v19 = load volatile i32, ptr addrspace(1) %q19
  %q20 = getelementptr i32, ptr addrspace(1) %p, i64 20
  %v20 = load volatile i32, ptr addrspace(1) %q20
  %q21 = getelementptr i32, ptr addrspace(1) %p, i64 21
  %v21 = load volatile i32, ptr addrspace(1) %q21
  %q22 = getelementptr i32, ptr addrspace(1) %p, i64 22
  %v22 = load volatile i32, ptr addrspace(1) %q22
  %q23 = getelementptr i32, ptr addrspace(1) %p, i64 23
  %v23 = load volatile i32, ptr addrspace(1) %q23
  %q24 = getelementptr i32, ptr addrspace(1) %p, i64 24
  %v24 = load volatile i32, ptr addrspace(1) %q24
  %q25 = getelementptr i32, ptr addrspace(1) %p, i64 25
  %v25 = load volatile i32, ptr addrspace(1) %q25
  %q26 = getelementptr i32, ptr addrspace(1) %p, i64 26
  %v26 = load volatile i32, ptr addrspace(1) %q26
  %q27 = getelementptr i32, ptr addrspace(1) %p, i64 27
  %v27 = load volatile i32, ptr addrspace(1) %q27
  %q28 = getelementptr i32, ptr addrspace(1) %p, i64 28
  %v28 = load volatile i32, ptr addrspace(1) %q28
  %q29 = getelementptr i32, ptr addrspace(1) %p, i64 29
  %v29 = load volatile i32, ptr addrspace(1) %q29
  %q30 = getelementptr i32, ptr addrspace(1) %p, i64 30
  %v30 = load volatile i32, ptr addrspace(1) %q30
  %q31 = getelementptr i32, ptr addrspace(1) %p, i64 31
  %v31 = load volatile i32, ptr addrspace(1) %q31
  %q32 = getelementptr i32, ptr addrspace(1) %p, i64 32
  %v32 = load volatile i32, ptr addrspace(1) %q32
  %q33 = getelementptr i32, ptr addrspace(1) %p, i64 33
  %v33 = load volatile i32, ptr addrspace(1) %q33
  %q34 = getelementptr i32, ptr addrspace(1) %p, i64 34
  %v34 = load volatile i32, ptr addrspace(1) %q34
  %q35 = getelementptr i32, ptr addrspace(1) %p, i64 35
  %v35 = load volatile i32, ptr addrspace(1) %q35
  %q36 = getelementptr i32, ptr addrspace(1) %p, i64 36
  %v36 = load volatile i32, ptr addrspace(1) %q36
  %q37 = getelementptr i32, ptr addrspace(1) %p, i64 37
  %v37 = load volatile i32, ptr addrspace(1) %q37
  %q38 = getelementptr i32, ptr addrspace(1) %p, i64 38
  %v38 = load volatile i32, ptr addrspace(1) %q38
  %q39 = getelementptr i32, ptr addrspace(1) %p, i64 39
  %v39 = load volatile i32, ptr addrspace(1) %q39
  store volatile i32 %v0, ptr addrspace(1) %q39
  store volatile i32 %v1, ptr addrspace(1) %q38
  store volatile i32 %v2, ptr addrspace(1) %q37
  store volatile i32 %v3, ptr addrspace(1) %q36
  store volatile i32 %v4, ptr addrspace(1) %q35
  store volatile i32 %v5, ptr addrspace(1) %q34
  store volatile i32 %v6, ptr addrspace(1) %q33
  store volatile i32 %v7, ptr addrspace(1) %q32
  store volatile i32 %v8, ptr addrspace(1) %q31
  store volatile i32 %v9, ptr addrspace(1) %q30
  store volatile i32 %v10, ptr addrspace(1) %q29
  store volatile i32 %v11, ptr addrspace(1) %q28
  store volatile i32 %v12, ptr addrspace(1) %q27
  store volatile i32 %v13, ptr addrspace(1) %q26
  store volatile i32 %v14, ptr addrspace(1) %q25
  store volatile i32 %v15, ptr addrspace(1) %q24
  store volatile i32 %v16, ptr addrspace(1) %q23
  store volatile i32 %v17, ptr addrspace(1) %q22
  store volatile i32 %v18, ptr addrspace(1) %q21
  store volatile i32 %v19, ptr addrspace(1) %q20
  store volatile i32 %v20, ptr addrspace(1) %q19
  store volatile i32 %v21, ptr addrspace(1) %q18
  store volatile i32 %v22, ptr addrspace(1) %q17
  store volatile i32 %v23, ptr addrspace(1) %q16
  store volatile i32 %v24, ptr addrspace(1) %q15
  store volatile i32 %v25, ptr addrspace(1) %q14
  store volatile i32 %v26, ptr addrspace(1) %q13
  store volatile i32 %v27, ptr addrspace(1) %q12
  store volatile i32 %v28, ptr addrspace(1) %q11
  store volatile i32 %v29, ptr addrspace(1) %q10
  store volatile i32 %v30, ptr addrspace(1) %q9
  store volatile i32 %v31, ptr addrspace(1) %q8
  store volatile i32 %v32, ptr addrspace(1) %q7
  store volatile i32 %v33, ptr addrspace(1) %q6
  store volatile i32 %v34, ptr addrspace(1) %q5
  store volatile i32 %v35, ptr addrspace(1) %q4
  store volatile i32 %v36, ptr addrspace(1) %q3
  store volatile i32 %v37, ptr addrspace(1) %q2
  store volatile i32 %v38, ptr addrspace(1) %q1
  store volatile i32 %v39, ptr addrspace(1) %q0
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "why.cu", directory: "/nowhere")
!2 = !{i32 2, !"Dwarf Version", i32 4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "indexed", file: !1, line: 2, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocalVariable(name: "buffer", scope: !4, file: !1, line: 3, type: !8)
!8 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!9 = !DILocation(line: 3, column: 1, scope: !4)
!10 = !DILocation(line: 5, column: 1, scope: !4)
!11 = !DILocation(line: 6, column: 1, scope: !4)
