; The pass finds assembly that only computes, even if it is volatile in C++. Such assembly accesses no memory, so the
; load after it is merged with the load before it. Assembly with a memory clobber in C++, and assembly that reads a
; clock, stays unchanged.
; RUN: %llc-ra -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=TWICE
; RUN: %llc-ra -nvptx-ra-add-passes=assembly-effects -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=ONCE
; RUN: %opt -load-pass-plugin=%plugin -passes=nvptx-assembly-effects -S %s -o - | FileCheck %s --check-prefix=IR
; TWICE-LABEL: .entry computing(
; TWICE:       ld.global.b32
; TWICE:       dp4a
; TWICE:       ld.global.b32
; TWICE:       dp4a
; ONCE-LABEL:  .entry computing(
; ONCE:        ld.global.b32
; ONCE-NOT:    ld.global.b32
; ONCE:        .entry clobbering(
; ONCE:        ld.global.b32
; ONCE:        dp4a
; ONCE:        ld.global.b32
; ONCE:        %clock
; ONCE:        ld.global.b32
; IR-LABEL:    @computing(
; IR:          asm "dp4a{{.*}} #[[PURE:[0-9]+]]
; IR-LABEL:    @clobbering(
; IR:          asm sideeffect "dp4a
; IR:          asm sideeffect "mov
; IR-LABEL:    @reading(
; IR:          asm sideeffect "ldmatrix{{.*}} #[[READ:[0-9]+]]
; IR:          asm "mma{{.*}} #[[TOGETHER:[0-9]+]]
; IR-DAG:      attributes #[[PURE]] = { nounwind willreturn memory(none) }
; IR-DAG:      attributes #[[READ]] = { convergent nounwind memory(read) }
; IR-DAG:      attributes #[[TOGETHER]] = { convergent nounwind willreturn memory(none) }
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @computing(ptr %p, ptr %out, i32 %x) {
  %a = load i32, ptr %p
  %d = call i32 asm sideeffect "dp4a.s32.s32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %a, i32 %x, i32 0) convergent nounwind
  %b = load i32, ptr %p
  %e = call i32 asm sideeffect "dp4a.s32.s32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %b, i32 %d, i32 7) convergent nounwind
  store i32 %e, ptr %out
  ret void
}

define ptx_kernel void @clobbering(ptr %p, ptr %out, i32 %x) {
  %a = load i32, ptr %p
  %d = call i32 asm sideeffect "dp4a.s32.s32 $0, $1, $2, $3;", "=r,r,r,r,~{memory}"(i32 %a, i32 %x, i32 0) nounwind
  %b = load i32, ptr %p
  %clock = call i32 asm sideeffect "mov.u32 $0, %clock;", "=r"() nounwind
  %c = load i32, ptr %p
  %sum = add i32 %b, %c
  %both = add i32 %sum, %clock
  %all = add i32 %both, %d
  store i32 %all, ptr %out
  ret void
}

define ptx_kernel void @reading(ptr %p, ptr %out, i32 %x) {
  %a = call i32 asm sideeffect "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$1];", "=r,r"(i32 %x)
    convergent nounwind
  %d = call i32 asm sideeffect "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {$0,$0}, {$1}, {$1}, {$1,$1};", "=r,r"
    (i32 %a) convergent nounwind
  store i32 %d, ptr %out
  ret void
}
