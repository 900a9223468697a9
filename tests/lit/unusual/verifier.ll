; LLVM's own machine verifier rejects some of LLVM's code, such as by-value parameters of device functions and divisions
; by constants. For each such function, -nvptx-ra-verify prints one line, without the verifier's output. It prints the
; line once per function and module, for any number of our passes, and nothing for other functions. The output is the
; same as without the option.
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-strict -mcpu=sm_90 %s -o %t.ptx 2>&1 | count 0
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.verified.ptx 2> %t.said
; RUN: FileCheck %s < %t.said && count 2 < %t.said && cmp %t.ptx %t.verified.ptx
; RUN: %llc-ra -nvptx-ra-order=late -nvptx-ra-remat=high -nvptx-ra-cssa -mcpu=sm_90 %s -o /dev/null 2> %t.said
; RUN: FileCheck %s < %t.said && count 2 < %t.said
; RUN: %llc-ra -nvptx-ra-register-limit=40 -mcpu=sm_90 %s -o /dev/null 2> %t.said
; RUN: FileCheck %s < %t.said && count 2 < %t.said
; RUN: not --crash %llc -verify-machineinstrs -mcpu=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=LLVM
; LLVM: Bad machine code
; CHECK-DAG: {{^}}nvptx-ra: kernel 'by_value': LLVM's own code fails its machine verifier ahead of nvptx-{{[a-z-]*}}; it is not compared
; CHECK-DAG: {{^}}nvptx-ra: kernel 'divides': LLVM's own code fails its machine verifier ahead of nvptx-{{[a-z-]*}}; it is not compared

target triple = "nvptx64-nvidia-cuda"

%record = type { i32, [3 x i32] }

declare float @llvm.nvvm.div.full(float, float)

define void @by_value(ptr byval(%record) align 4 %record, ptr addrspace(1) %out, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %last = phi i32 [ 1, %entry ], [ %i, %loop ]
  %at = getelementptr %record, ptr %record, i32 0, i32 1, i32 %i
  %value = load i32, ptr %at
  %sum = add i32 %value, %last
  store volatile i32 %sum, ptr addrspace(1) %out
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

define ptx_kernel void @divides(ptr addrspace(1) %out, float %x, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %last = phi i32 [ 1, %entry ], [ %i, %loop ]
  %float = sitofp i32 %last to float
  %sum = fadd float %float, %x
  %third = call float @llvm.nvvm.div.full(float %sum, float 3.0)
  store volatile float %third, ptr addrspace(1) %out
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

define ptx_kernel void @clean(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %last = phi i32 [ 1, %entry ], [ %i, %loop ]
  %sum = add i32 %i, %last
  store volatile i32 %sum, ptr addrspace(1) %out
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
