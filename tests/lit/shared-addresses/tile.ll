; Accesses to a tile whose indices differ by constants share one register, in the blocks that the register dominates.
; The constants become offsets. LLVM uses a register for each access, and so does the code with the option off or at
; -O0. The index of another thread keeps its own register. The checker proves the edits; LLVM's machine verifier and
; ptxas accept the code, and the same options give the same bytes.
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.default
; RUN: FileCheck %s --input-file=%t.default
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.default %}
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.again
; RUN: cmp %t.default %t.again
; CHECK-LABEL: .entry tile(
; CHECK:       st.volatile.shared.b32 {{\[}}[[BASE:%rd[0-9]+]]],
; CHECK:       st.volatile.shared.b32 {{\[}}[[BASE]]+128],
; CHECK-DAG:   ld.volatile.shared.b32 {{.*}}, {{\[}}[[BASE]]+-24960];
; CHECK-DAG:   ld.volatile.shared.b32 {{.*}}, {{\[}}[[OTHER:%rd[0-9]+]]];
;
; RUN: %llc-ra -nvptx-ra-shared-addresses=off -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=OFF
; RUN: %llc -O0 -load-pass-plugin=%plugin -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=OFF
; OFF-LABEL: .entry tile(
; OFF-NOT:   +128]
; A function's own attribute turns the pass off, and the trace reports this.
; RUN: sed 's/) #0 {/) "nvptx-ra"="no-shared-addresses" {/' %s > %t.own.ll
; RUN: %llc-ra -mcpu=sm_90 %t.own.ll -o - | FileCheck %s --check-prefix=OFF
; RUN: %llc-ra -nvptx-ra-trace=shared-addresses -mcpu=sm_90 %s -o - 2>&1 | FileCheck %s --check-prefix=TRACE
; TRACE: nvptx-shared-addresses of 'tile'
; TRACE: 2 accesses read another register, {{[0-9]+}} instructions removed

target triple = "nvptx64-nvidia-cuda"

@shared = internal addrspace(3) global [8192 x i32] undef, align 4

define ptx_kernel void @tile(i32 %i, i32 %j, i1 %both, ptr addrspace(1) %out) #0 {
  %wide = zext i32 %i to i64
  %first = getelementptr inbounds i32, ptr addrspace(3) @shared, i64 %wide
  store volatile i32 1, ptr addrspace(3) %first
  %next = add i32 %i, 32
  %wide.next = zext i32 %next to i64
  %second = getelementptr inbounds i32, ptr addrspace(3) @shared, i64 %wide.next
  store volatile i32 2, ptr addrspace(3) %second
  br i1 %both, label %more, label %done

more:
  %far = add i32 %i, -6240
  %wide.far = zext i32 %far to i64
  %third = getelementptr inbounds i32, ptr addrspace(3) @shared, i64 %wide.far
  %value = load volatile i32, ptr addrspace(3) %third
  %wide.other = zext i32 %j to i64
  %fourth = getelementptr inbounds i32, ptr addrspace(3) @shared, i64 %wide.other
  %other = load volatile i32, ptr addrspace(3) %fourth
  %sum = add i32 %value, %other
  store i32 %sum, ptr addrspace(1) %out
  br label %done

done:
  ret void
}

attributes #0 = { nounwind }
