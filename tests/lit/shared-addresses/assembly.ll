; If inline assembly has a single access to shared memory, the constant offset of the address moves into the assembly's
; text. Examples are matrices loaded by generic addresses, and asynchronous copies. Assembly under a predicate, or with
; more instructions, keeps its register. The checker proves the texts; LLVM's machine verifier and ptxas accept the
; code.
; RUN: %llc-ra -mcpu=sm_90 -mattr=+ptx80 %s -o %t.default
; RUN: FileCheck %s --input-file=%t.default
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.default %}
; CHECK-LABEL: .entry matrices(
; CHECK:       ldmatrix.sync.aligned.m8n8.x1.b16 { {{%r[0-9]+}} }, {{\[}}[[GENERIC:%rd[0-9]+]]];
; CHECK:       ldmatrix.sync.aligned.m8n8.x1.b16 { {{%r[0-9]+}} }, {{\[}}[[GENERIC]]+144];
; CHECK:       cp.async.ca.shared.global {{\[}}[[BASE:%rd[0-9]+]]], [{{%rd[0-9]+}}], 16;
; CHECK:       cp.async.ca.shared.global {{\[}}[[BASE]]+128], [{{%rd[0-9]+}}], 16;
; CHECK:       cp.async.cg.shared.global {{\[}}[[BASE]]+128], [{{%rd[0-9]+}}], 16;
; CHECK:       @%p ld.shared.b32 {{%r[0-9]+}}, [[OTHER:\[%rd[0-9]+\]]];
; CHECK:       add.u64 {{%rd[0-9]+}}, {{%rd[0-9]+}}, 1;
;
; RUN: %llc-ra -nvptx-ra-shared-addresses=off -mcpu=sm_90 -mattr=+ptx80 %s -o - | FileCheck %s --check-prefix=OFF
; OFF-LABEL: .entry matrices(
; OFF-NOT:   +144]
; OFF-NOT:   +128]

target triple = "nvptx64-nvidia-cuda"

@shared = internal addrspace(3) global [8192 x i32] undef, align 16

define ptx_kernel void @matrices(i32 %i, i32 %on, ptr addrspace(1) %out) #0 {
  %wide = zext i32 %i to i64
  %first = getelementptr inbounds i32, ptr addrspace(3) @shared, i64 %wide
  %next = add i32 %i, 32
  %wide.next = zext i32 %next to i64
  %second = getelementptr inbounds i32, ptr addrspace(3) @shared, i64 %wide.next
  %generic.first = addrspacecast ptr addrspace(3) %first to ptr
  %generic.second = addrspacecast ptr addrspace(3) %second to ptr
  %a = call i32 asm sideeffect "ldmatrix.sync.aligned.m8n8.x1.b16 { $0 }, [$1];", "=r,l"(ptr %generic.first)
  %b = call i32 asm sideeffect "{\0A\09ldmatrix.sync.aligned.m8n8.x1.b16 { $0 }, [ $1 + 16 ];\0A}\0A", "=r,l"(ptr %generic.second)
  call void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3) %first, ptr addrspace(1) %out)
  call void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3) %second, ptr addrspace(1) %out)
  call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16;", "l,l"(ptr addrspace(3) %second, ptr addrspace(1) %out)
  %c = call i32 asm sideeffect "{ .reg .pred %p; setp.ne.b32 %p, $2, 0; @%p ld.shared.b32 $0, [$1]; }", "=r,l,r"(ptr addrspace(3) %second, i32 %on)
  %d = call i64 asm sideeffect "add.u64 $0, $1, 1;", "=l,l"(ptr addrspace(3) %second)
  %ab = add i32 %a, %b
  %abc = add i32 %ab, %c
  %low = trunc i64 %d to i32
  %sum = add i32 %abc, %low
  store i32 %sum, ptr addrspace(1) %out
  ret void
}

declare void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3), ptr addrspace(1))

attributes #0 = { nounwind }
