; A loop that LLVM ends with two jumps gets a single backward jump at its end, and ptxas unrolls it. The checker proves
; the change; LLVM's machine verifier and ptxas accept the code. A loop with a barrier, and a loop in a kernel with a
; register bound, stay unchanged.
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.default
; RUN: FileCheck %s --check-prefixes=CHECK,LLVM --input-file=%t.default
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.default %}
; CHECK-LABEL: .entry sum(
; CHECK:       [[LOOP:\$L__BB0_[0-9]+]]:
; CHECK:       setp.ne.{{[bs]}}32 [[P:%p[0-9]+]], %r{{[0-9]+}}, 0;
; CHECK-NEXT:  @[[P]] bra [[LOOP]];
; A comparison with a bound in a register gets the counter first and a signed type. LLVM does not print this form by
; itself.
; CHECK-LABEL: .entry up_to(
; LLVM:        [[LOOP:\$L__BB1_[0-9]+]]:
; LLVM:        add.s32 [[TURN:%r[0-9]+]], [[TURN]], 1;
; LLVM:        setp.ne.s32 {{.*}}[[P:%p[0-9]+]], [[TURN]], %r{{[0-9]+}};
; LLVM:        @[[P]] bra [[LOOP]];
; In PTX, such a loop stays unchanged if the bound is the first operand.
; CHECK-LABEL: .entry bounded(
; CHECK:       setp.eq.b32
; CHECK-NEXT:  @%p{{[0-9]+}} bra
; CHECK-NEXT:  bra.uni
; CHECK-LABEL: .entry synchronised(
; CHECK:       setp.eq.b32
; CHECK-NEXT:  @%p{{[0-9]+}} bra
; CHECK-NEXT:  bra.uni
;
; RUN: %llc-ra -nvptx-ra-loop-shape=off -mcpu=sm_90 %s -o %t.off
; RUN: FileCheck %s --check-prefix=OFF --input-file=%t.off
; OFF-LABEL: .entry sum(
; OFF:       setp.eq.b32 [[P:%p[0-9]+]], %r{{[0-9]+}}, 0;
; OFF-NEXT:  @[[P]] bra
; OFF-NEXT:  bra.uni
; The pass has the same effect on PTX, where nothing else changes. A second run changes nothing.
; RUN: %nvptx-ra ptx -passes='nvptx-loop-shape<verify>' %t.off -o %t.ptx --remarks 2>&1 | FileCheck %s --check-prefix=REMARKS
; RUN: FileCheck %s --input-file=%t.ptx
; RUN: %nvptx-ra ptx -passes=nvptx-loop-shape %t.ptx -o %t.again.ptx
; RUN: cmp %t.ptx %t.again.ptx
; REMARKS-DAG: sum: nvptx-loop-shape: the last branch is inverted: ptxas unrolls the loop 4 times
; REMARKS-DAG: bounded: nvptx-loop-shape: the loop keeps its two jumps, which ptxas seldom unrolls: the kernel has a register limit
; REMARKS-DAG: synchronised: nvptx-loop-shape: the loop keeps its two jumps, which ptxas seldom unrolls: it has a barrier

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @sum(ptr addrspace(1) %at, i32 %count) {
entry:
  br label %loop
exit:
  store float %more, ptr addrspace(1) %at
  ret void
loop:
  %left = phi i32 [ %count, %entry ], [ %less, %loop ]
  %from = phi ptr addrspace(1) [ %at, %entry ], [ %next, %loop ]
  %total = phi float [ 0.0, %entry ], [ %more, %loop ]
  %value = load float, ptr addrspace(1) %from
  %more = fadd float %total, %value
  %next = getelementptr inbounds i8, ptr addrspace(1) %from, i64 4
  %less = add i32 %left, -1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %exit, label %loop
}

define ptx_kernel void @up_to(ptr addrspace(1) %at, i32 %count) {
entry:
  br label %loop
exit:
  store float %more, ptr addrspace(1) %at
  ret void
loop:
  %turn = phi i32 [ 0, %entry ], [ %next.turn, %loop ]
  %total = phi float [ 0.0, %entry ], [ %more, %loop ]
  %value = sitofp i32 %turn to float
  %more = fadd float %total, %value
  %next.turn = add i32 %turn, 1
  %done = icmp eq i32 %next.turn, %count
  br i1 %done, label %exit, label %loop
}

define ptx_kernel void @bounded(ptr addrspace(1) %at, i32 %count) #0 {
entry:
  br label %loop
exit:
  store float %more, ptr addrspace(1) %at
  ret void
loop:
  %left = phi i32 [ %count, %entry ], [ %less, %loop ]
  %from = phi ptr addrspace(1) [ %at, %entry ], [ %next, %loop ]
  %total = phi float [ 0.0, %entry ], [ %more, %loop ]
  %value = load float, ptr addrspace(1) %from
  %more = fadd float %total, %value
  %next = getelementptr inbounds i8, ptr addrspace(1) %from, i64 4
  %less = add i32 %left, -1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %exit, label %loop
}

define ptx_kernel void @synchronised(ptr addrspace(1) %at, i32 %count) {
entry:
  br label %loop
exit:
  store float %more, ptr addrspace(1) %at
  ret void
loop:
  %left = phi i32 [ %count, %entry ], [ %less, %loop ]
  %from = phi ptr addrspace(1) [ %at, %entry ], [ %next, %loop ]
  %total = phi float [ 0.0, %entry ], [ %more, %loop ]
  %value = load float, ptr addrspace(1) %from
  %more = fadd float %total, %value
  %next = getelementptr inbounds i8, ptr addrspace(1) %from, i64 4
  %less = add i32 %left, -1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %done = icmp eq i32 %less, 0
  br i1 %done, label %exit, label %loop
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

attributes #0 = { "nvvm.minctasm"="2" "nvvm.maxntid"="256" }
