; SIMD video instructions in inline assembly are computed on whole words: saturating differences of bytes, comparisons
; and maxima, alone or among other instructions. An instruction stays if ptxas has a short sequence for it, or if it has
; a mask, a predicate, or operands of several types. The checker accepts the texts; LLVM's machine verifier and ptxas
; accept the code.
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.default
; RUN: FileCheck %s --input-file=%t.default
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.default %}
; CHECK-LABEL: .entry bytes(
; CHECK-NOT:   vsub4.s32
; CHECK:       { .reg .b32 nvptx_ra_part0, {{.*}}, nvptx_ra_part9; or.b32 nvptx_ra_part0, %r{{[0-9]+}}, 0x80808080; {{.*}} mov.b32 %r{{[0-9]+}}, nvptx_ra_part9; }
; CHECK-NOT:   vset4
; CHECK:       { add.u32 [[SUM:%r[0-9]+]], %r{{[0-9]+}}, 1; { .reg .b32 nvptx_ra_part0, nvptx_ra_part1, nvptx_ra_part2, nvptx_ra_part3, nvptx_ra_part4; {{.*}} }
; CHECK-NOT:   vmax4
; CHECK:       lop3.b32 nvptx_ra_part5,
; CHECK:       vsub4.u32.u32.u32 %r
; CHECK:       vmax2.s32.s32.s32 %r
; CHECK:       vmax4.s32.s32.s32 %r{{[0-9]+}}.b3,
; CHECK:       vmax4.s32.u32.s32 %r
; CHECK:       @%on vmax4.s32.s32.s32 %r
;
; RUN: %llc-ra -nvptx-ra-simd-video=off -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=OFF
; OFF-NOT: nvptx_ra_part
; LLVM writes PTX 4.0 for sm_50, which has no lop3.
; RUN: %llc-ra -mcpu=sm_50 %s -o - | FileCheck %s --check-prefix=OFF

; The same on PTX: output of the plugin stays unchanged, and output of llc is changed.
; RUN: %llc-ra -nvptx-ra-simd-video=off -mcpu=sm_90 %s -o %t.off.ptx
; RUN: %nvptx-ra ptx -passes=nvptx-simd-video %t.off.ptx -o %t.ptx
; RUN: FileCheck %s --input-file=%t.ptx
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.ptx %}
; RUN: %nvptx-ra ptx -passes=nvptx-simd-video %t.ptx -o %t.again.ptx
; RUN: cmp %t.ptx %t.again.ptx

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @bytes(ptr addrspace(1) %at) {
  %first = load i32, ptr addrspace(1) %at
  %next = getelementptr inbounds i8, ptr addrspace(1) %at, i64 4
  %second = load i32, ptr addrspace(1) %next
  %a = call i32 asm "vsub4.s32.s32.s32.sat $0,$1,$2,$3;", "=r,r,r,r"(i32 %first, i32 %second, i32 0)
  %b = call i32 asm sideeffect "{ add.u32 $0, $1, 1; vset4.u32.u32.ne $0, $0, $2, $3; }", "=&r,r,r,r"(i32 %a, i32 %second, i32 0)
  %c = call i32 asm "vmax4.u32.u32.u32 $0,$1,$2,$3;", "=r,r,r,r"(i32 %b, i32 %second, i32 0)
  %d = call i32 asm "vsub4.u32.u32.u32 $0,$1,$2,$3;", "=r,r,r,r"(i32 %c, i32 %first, i32 0)
  %e = call i32 asm "vmax2.s32.s32.s32 $0,$1,$2,$3;", "=r,r,r,r"(i32 %d, i32 %first, i32 0)
  %f = call i32 asm "vmax4.s32.s32.s32 $0.b3,$1,$2,$3;", "=r,r,r,r"(i32 %e, i32 %first, i32 %second)
  %g = call i32 asm "vmax4.s32.u32.s32 $0,$1,$2,$3;", "=r,r,r,r"(i32 %f, i32 %first, i32 %second)
  %h = call i32 asm "{ .reg .pred %on; setp.ne.b32 %on, $1, 0; mov.b32 $0, $1; @%on vmax4.s32.s32.s32 $0,$1,$2,$3; }", "=&r,r,r,r"(i32 %g, i32 %first, i32 %second)
  store i32 %h, ptr addrspace(1) %at
  ret void
}
