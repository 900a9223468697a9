; A sum that is live across a high-pressure block is rematerialised after the block if its operand is live there anyway.
; A parameter is loaded again. In a block with spare registers, at -O0, and without the option, everything stays
; unchanged. The checker proves the edits; LLVM's machine verifier and ptxas accept the code, and the same options give
; the same bytes.
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o %t.default
; RUN: FileCheck %s --check-prefix=OFF --input-file=%t.default
; RUN: %llc-ra -nvptx-ra-remat=off -mcpu=sm_90 %s -o %t.off
; RUN: cmp %t.default %t.off
; OFF-LABEL: .entry full(
; OFF:         add.s32 [[SUM:%r[0-9]+]], {{%r[0-9]+}}, 5;
; OFF-NOT:     , 5;
; OFF:         st.global.b32 [{{.*}}], [[SUM]];
; OFF-NOT:     , 5;
; OFF-LABEL: .entry spare(
;
; RUN: %llc-ra -nvptx-ra-remat=peaks -mcpu=sm_90 %s -o %t.peaks
; RUN: FileCheck %s --input-file=%t.peaks
; CHECK-LABEL: .entry full(
; CHECK:         add.s32 {{%r[0-9]+}}, [[X:%r[0-9]+]], 5;
; CHECK-COUNT-34: ld.volatile.global
; CHECK-COUNT-34: st.volatile.global
; CHECK:         add.s32 [[AGAIN:%r[0-9]+]], [[X]], 5;
; CHECK:         ld.param.b64 {{.*}}, [full_param_0];
; CHECK-NEXT:    st.global.b32 [{{.*}}], [[AGAIN]];
; CHECK-LABEL: .entry spare(
; CHECK:         , 5;
; CHECK-NOT:     , 5;
; RUN: %llc-ra -nvptx-ra-remat=peaks -mcpu=sm_90 %s -o %t.again
; RUN: cmp %t.peaks %t.again
;
; RUN: %llc-ra -nvptx-ra-remat=high -mcpu=sm_90 %s -o %t.high
; RUN: FileCheck %s --input-file=%t.high
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.peaks %}
; RUN: %if ptxas %{ %llc-ra -nvptx-ra-remat=high -nvptx-ra-order=late -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90 %}
; The function's own attribute enables it, and the trace reports it.
; RUN: sed 's/) #0 {/) "nvptx-ra"="remat=peaks" {/' %s > %t.own.ll
; RUN: %llc-ra -mcpu=sm_90 %t.own.ll -o %t.own
; RUN: cmp %t.peaks %t.own
; RUN: %llc-ra -nvptx-ra-remat=peaks -nvptx-ra-trace=remat -mcpu=sm_90 %s -o - 2>&1 | FileCheck %s --check-prefix=TRACE
; TRACE: nvptx-remat of 'full'
; TRACE: {{[2-9]}} values rematerialised, 0 registers extended for them, 0 predicates kept as bits, +{{[1-9]}} instructions
; RUN: %llc-ra -O0 -nvptx-ra-remat=peaks -mcpu=sm_90 %s -o %t.O0
; RUN: %llc-ra -O0 -mcpu=sm_90 %s -o %t.O0off
; RUN: cmp %t.O0 %t.O0off
;
; RUN: not %llc-ra -nvptx-ra-remat=peak -mcpu=sm_90 %s -o - 2>&1 | FileCheck %s --check-prefix=WRONG
; WRONG: remat=peak: unknown; use off, widened, peaks or high{{.*}}

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @full(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) #0 {
  %sum = add i32 %x, 5
  store i32 %sum, ptr addrspace(1) %out
  %is_set = icmp slt i32 %x, 100
  br i1 %is_set, label %body, label %end
body:
  %p0 = getelementptr i32, ptr addrspace(1) %in, i64 0
  %v0 = load volatile i32, ptr addrspace(1) %p0
  %p1 = getelementptr i32, ptr addrspace(1) %in, i64 1
  %v1 = load volatile i32, ptr addrspace(1) %p1
  %p2 = getelementptr i32, ptr addrspace(1) %in, i64 2
  %v2 = load volatile i32, ptr addrspace(1) %p2
  %p3 = getelementptr i32, ptr addrspace(1) %in, i64 3
  %v3 = load volatile i32, ptr addrspace(1) %p3
  %p4 = getelementptr i32, ptr addrspace(1) %in, i64 4
  %v4 = load volatile i32, ptr addrspace(1) %p4
  %p5 = getelementptr i32, ptr addrspace(1) %in, i64 5
  %v5 = load volatile i32, ptr addrspace(1) %p5
  %p6 = getelementptr i32, ptr addrspace(1) %in, i64 6
  %v6 = load volatile i32, ptr addrspace(1) %p6
  %p7 = getelementptr i32, ptr addrspace(1) %in, i64 7
  %v7 = load volatile i32, ptr addrspace(1) %p7
  %p8 = getelementptr i32, ptr addrspace(1) %in, i64 8
  %v8 = load volatile i32, ptr addrspace(1) %p8
  %p9 = getelementptr i32, ptr addrspace(1) %in, i64 9
  %v9 = load volatile i32, ptr addrspace(1) %p9
  %p10 = getelementptr i32, ptr addrspace(1) %in, i64 10
  %v10 = load volatile i32, ptr addrspace(1) %p10
  %p11 = getelementptr i32, ptr addrspace(1) %in, i64 11
  %v11 = load volatile i32, ptr addrspace(1) %p11
  %p12 = getelementptr i32, ptr addrspace(1) %in, i64 12
  %v12 = load volatile i32, ptr addrspace(1) %p12
  %p13 = getelementptr i32, ptr addrspace(1) %in, i64 13
  %v13 = load volatile i32, ptr addrspace(1) %p13
  %p14 = getelementptr i32, ptr addrspace(1) %in, i64 14
  %v14 = load volatile i32, ptr addrspace(1) %p14
  %p15 = getelementptr i32, ptr addrspace(1) %in, i64 15
  %v15 = load volatile i32, ptr addrspace(1) %p15
  %p16 = getelementptr i32, ptr addrspace(1) %in, i64 16
  %v16 = load volatile i32, ptr addrspace(1) %p16
  %p17 = getelementptr i32, ptr addrspace(1) %in, i64 17
  %v17 = load volatile i32, ptr addrspace(1) %p17
  %p18 = getelementptr i32, ptr addrspace(1) %in, i64 18
  %v18 = load volatile i32, ptr addrspace(1) %p18
  %p19 = getelementptr i32, ptr addrspace(1) %in, i64 19
  %v19 = load volatile i32, ptr addrspace(1) %p19
  %p20 = getelementptr i32, ptr addrspace(1) %in, i64 20
  %v20 = load volatile i32, ptr addrspace(1) %p20
  %p21 = getelementptr i32, ptr addrspace(1) %in, i64 21
  %v21 = load volatile i32, ptr addrspace(1) %p21
  %p22 = getelementptr i32, ptr addrspace(1) %in, i64 22
  %v22 = load volatile i32, ptr addrspace(1) %p22
  %p23 = getelementptr i32, ptr addrspace(1) %in, i64 23
  %v23 = load volatile i32, ptr addrspace(1) %p23
  %p24 = getelementptr i32, ptr addrspace(1) %in, i64 24
  %v24 = load volatile i32, ptr addrspace(1) %p24
  %p25 = getelementptr i32, ptr addrspace(1) %in, i64 25
  %v25 = load volatile i32, ptr addrspace(1) %p25
  %p26 = getelementptr i32, ptr addrspace(1) %in, i64 26
  %v26 = load volatile i32, ptr addrspace(1) %p26
  %p27 = getelementptr i32, ptr addrspace(1) %in, i64 27
  %v27 = load volatile i32, ptr addrspace(1) %p27
  %p28 = getelementptr i32, ptr addrspace(1) %in, i64 28
  %v28 = load volatile i32, ptr addrspace(1) %p28
  %p29 = getelementptr i32, ptr addrspace(1) %in, i64 29
  %v29 = load volatile i32, ptr addrspace(1) %p29
  %p30 = getelementptr i32, ptr addrspace(1) %in, i64 30
  %v30 = load volatile i32, ptr addrspace(1) %p30
  %p31 = getelementptr i32, ptr addrspace(1) %in, i64 31
  %v31 = load volatile i32, ptr addrspace(1) %p31
  %p32 = getelementptr i32, ptr addrspace(1) %in, i64 32
  %v32 = load volatile i32, ptr addrspace(1) %p32
  %p33 = getelementptr i32, ptr addrspace(1) %in, i64 33
  %v33 = load volatile i32, ptr addrspace(1) %p33
  store volatile i32 %v33, ptr addrspace(1) %out
  store volatile i32 %v32, ptr addrspace(1) %out
  store volatile i32 %v31, ptr addrspace(1) %out
  store volatile i32 %v30, ptr addrspace(1) %out
  store volatile i32 %v29, ptr addrspace(1) %out
  store volatile i32 %v28, ptr addrspace(1) %out
  store volatile i32 %v27, ptr addrspace(1) %out
  store volatile i32 %v26, ptr addrspace(1) %out
  store volatile i32 %v25, ptr addrspace(1) %out
  store volatile i32 %v24, ptr addrspace(1) %out
  store volatile i32 %v23, ptr addrspace(1) %out
  store volatile i32 %v22, ptr addrspace(1) %out
  store volatile i32 %v21, ptr addrspace(1) %out
  store volatile i32 %v20, ptr addrspace(1) %out
  store volatile i32 %v19, ptr addrspace(1) %out
  store volatile i32 %v18, ptr addrspace(1) %out
  store volatile i32 %v17, ptr addrspace(1) %out
  store volatile i32 %v16, ptr addrspace(1) %out
  store volatile i32 %v15, ptr addrspace(1) %out
  store volatile i32 %v14, ptr addrspace(1) %out
  store volatile i32 %v13, ptr addrspace(1) %out
  store volatile i32 %v12, ptr addrspace(1) %out
  store volatile i32 %v11, ptr addrspace(1) %out
  store volatile i32 %v10, ptr addrspace(1) %out
  store volatile i32 %v9, ptr addrspace(1) %out
  store volatile i32 %v8, ptr addrspace(1) %out
  store volatile i32 %v7, ptr addrspace(1) %out
  store volatile i32 %v6, ptr addrspace(1) %out
  store volatile i32 %v5, ptr addrspace(1) %out
  store volatile i32 %v4, ptr addrspace(1) %out
  store volatile i32 %v3, ptr addrspace(1) %out
  store volatile i32 %v2, ptr addrspace(1) %out
  store volatile i32 %v1, ptr addrspace(1) %out
  store volatile i32 %v0, ptr addrspace(1) %out
  br label %end
end:
  %twice = phi i32 [ %x, %0 ], [ %x, %body ]
  store i32 %sum, ptr addrspace(1) %in
  store i32 %twice, ptr addrspace(1) %out
  ret void
}

define ptx_kernel void @spare(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
  %sum = add i32 %x, 5
  store i32 %sum, ptr addrspace(1) %out
  %is_set = icmp slt i32 %x, 100
  br i1 %is_set, label %body, label %end
body:
  %p0 = getelementptr i32, ptr addrspace(1) %in, i64 0
  %v0 = load volatile i32, ptr addrspace(1) %p0
  store volatile i32 %v0, ptr addrspace(1) %out
  %p1 = getelementptr i32, ptr addrspace(1) %in, i64 1
  %v1 = load volatile i32, ptr addrspace(1) %p1
  store volatile i32 %v1, ptr addrspace(1) %out
  %p2 = getelementptr i32, ptr addrspace(1) %in, i64 2
  %v2 = load volatile i32, ptr addrspace(1) %p2
  store volatile i32 %v2, ptr addrspace(1) %out
  br label %end
end:
  store i32 %sum, ptr addrspace(1) %in
  store i32 %x, ptr addrspace(1) %out
  ret void
}

attributes #0 = { nounwind }
