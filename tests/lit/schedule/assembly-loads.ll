; On request, inline assembly that only loads, masked or not, moves before its first use. It may pass other loads, but
; no store that may write the loaded memory. Other volatile assembly does not move, and neither does assembly that
; clobbers memory.
; RUN: %llc-ra -nvptx-ra-order=late -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=KEPT
; KEPT-LABEL: .entry loads(
; KEPT:       ld.global.b32 [[A:%r[0-9]+]], [
; KEPT:       ld.global.b32 [[B:%r[0-9]+]], [
; KEPT:       st.shared.b32 {{.*}}, [[B]];
; KEPT:       st.shared.b32 {{.*}}, [[A]];
; RUN: %llc-ra -nvptx-ra-order=late -nvptx-ra-assembly-loads -mcpu=sm_90 %s -o %t.moved
; RUN: FileCheck %s --check-prefix=MOVED --input-file=%t.moved
; MOVED-LABEL: .entry loads(
; MOVED:       ld.global.b32 [[B:%r[0-9]+]], [
; MOVED-NOT:   ld.global
; MOVED:       st.shared.b32 {{.*}}, [[B]];
; MOVED:       ld.global.b32 [[A:%r[0-9]+]], [
; MOVED:       st.shared.b32 {{.*}}, [[A]];
; MOVED-LABEL: .entry stores(
; MOVED:       ld.global.b32 [[C:%r[0-9]+]], [
; MOVED:       st.global.b32
; MOVED:       st.shared.b32 {{.*}}, [[C]];
; MOVED-LABEL: .entry clocks(
; MOVED:       mov.u32 [[T:%r[0-9]+]], %clock;
; MOVED:       ld.global.b32 [[D:%r[0-9]+]], [
; MOVED:       st.shared.b32 {{.*}}, [[D]];
; MOVED:       st.shared.b32 {{.*}}, [[T]];
; MOVED-LABEL: .entry clobbers(
; MOVED:       ld.global.b32 [[E:%r[0-9]+]], [
; MOVED:       ld.global.b32 [[F:%r[0-9]+]], [
; MOVED:       st.shared.b32 {{.*}}, [[F]];
; MOVED:       st.shared.b32 {{.*}}, [[E]];
; RUN: %if ptxas %{ %ptxas -arch=sm_90 %t.moved -o %t.cubin %}
; A function's attribute may request it; without an order it has no effect.
; RUN: sed 's/) #0 {/) "nvptx-ra"="order=late;assembly-loads" {/' %s > %t.own.ll
; RUN: %llc-ra -mcpu=sm_90 %t.own.ll -o - | FileCheck %s --check-prefix=MOVED
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.default
; RUN: %llc-ra -nvptx-ra-assembly-loads -mcpu=sm_90 %s -o %t.asked
; RUN: cmp %t.default %t.asked

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x i32] poison

define ptx_kernel void @loads(ptr addrspace(1) %in, i1 %mask) #0 {
  %next = getelementptr i32, ptr addrspace(1) %in, i64 1
  %a = call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 $0, [$2];", "=r,r,l,b"(i32 0, ptr addrspace(1) %in, i1 %mask)
  %b = call i32 asm sideeffect "ld.global.b32 $0, [$1];", "=r,l"(ptr addrspace(1) %next)
  store i32 %b, ptr addrspace(3) @tile
  store i32 %a, ptr addrspace(3) getelementptr (i32, ptr addrspace(3) @tile, i64 1)
  ret void
}

define ptx_kernel void @stores(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {
  %c = call i32 asm sideeffect "ld.global.b32 $0, [$1];", "=r,l"(ptr addrspace(1) %in)
  store i32 7, ptr addrspace(1) %out
  store i32 %c, ptr addrspace(3) @tile
  ret void
}

define ptx_kernel void @clocks(ptr addrspace(1) %in) #0 {
  %t = call i32 asm sideeffect "mov.u32 $0, %clock;", "=r"()
  %d = call i32 asm sideeffect "ld.global.b32 $0, [$1];", "=r,l"(ptr addrspace(1) %in)
  store i32 %d, ptr addrspace(3) @tile
  store i32 %t, ptr addrspace(3) getelementptr (i32, ptr addrspace(3) @tile, i64 1)
  ret void
}

define ptx_kernel void @clobbers(ptr addrspace(1) %in) #0 {
  %next = getelementptr i32, ptr addrspace(1) %in, i64 1
  %e = call i32 asm sideeffect "ld.global.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(1) %in)
  %f = call i32 asm sideeffect "ld.global.b32 $0, [$1];", "=r,l"(ptr addrspace(1) %next)
  store i32 %f, ptr addrspace(3) @tile
  store i32 %e, ptr addrspace(3) getelementptr (i32, ptr addrspace(3) @tile, i64 1)
  ret void
}

attributes #0 = { nounwind }
