; ptxas removes accesses with a constant false mask, so the forecast does not count the values that they would load. If
; the mask is known only at run time, the forecast counts all values.
; RUN: %nvptx-ra report %s --json --features --kernel off | FileCheck %s --check-prefix=OFF
; OFF: "loads": 0
; OFF: "words": 2
; RUN: %nvptx-ra report %s --json --features --kernel unknown | FileCheck %s --check-prefix=UNKNOWN
; UNKNOWN: "words": {{1[6-9]}}
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @off(ptr addrspace(1) %p, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = zext i32 %t to i64
  %q = getelementptr i32, ptr addrspace(1) %p, i64 %o
  %x0 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09@$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l,b"(ptr addrspace(1) %q, i1 false)
  %x1 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09@$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 16 ];", "=r,=r,=r,=r,l,b"(ptr addrspace(1) %q, i1 false)
  %x2 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09@$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 32 ];", "=r,=r,=r,=r,l,b"(ptr addrspace(1) %q, i1 false)
  %x3 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09@$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 48 ];", "=r,=r,=r,=r,l,b"(ptr addrspace(1) %q, i1 false)
  %e00 = extractvalue { i32, i32, i32, i32 } %x0, 0
  %e01 = extractvalue { i32, i32, i32, i32 } %x0, 1
  %e02 = extractvalue { i32, i32, i32, i32 } %x0, 2
  %e03 = extractvalue { i32, i32, i32, i32 } %x0, 3
  %e10 = extractvalue { i32, i32, i32, i32 } %x1, 0
  %e11 = extractvalue { i32, i32, i32, i32 } %x1, 1
  %e12 = extractvalue { i32, i32, i32, i32 } %x1, 2
  %e13 = extractvalue { i32, i32, i32, i32 } %x1, 3
  %e20 = extractvalue { i32, i32, i32, i32 } %x2, 0
  %e21 = extractvalue { i32, i32, i32, i32 } %x2, 1
  %e22 = extractvalue { i32, i32, i32, i32 } %x2, 2
  %e23 = extractvalue { i32, i32, i32, i32 } %x2, 3
  %e30 = extractvalue { i32, i32, i32, i32 } %x3, 0
  %e31 = extractvalue { i32, i32, i32, i32 } %x3, 1
  %e32 = extractvalue { i32, i32, i32, i32 } %x3, 2
  %e33 = extractvalue { i32, i32, i32, i32 } %x3, 3
  %s10 = mul i32 %e00, %e10
  %s20 = mul i32 %s10, %e20
  %s30 = mul i32 %s20, %e30
  %s01 = mul i32 %s30, %e01
  %s11 = mul i32 %s01, %e11
  %s21 = mul i32 %s11, %e21
  %s31 = mul i32 %s21, %e31
  %s02 = mul i32 %s31, %e02
  %s12 = mul i32 %s02, %e12
  %s22 = mul i32 %s12, %e22
  %s32 = mul i32 %s22, %e32
  %s03 = mul i32 %s32, %e03
  %s13 = mul i32 %s03, %e13
  %s23 = mul i32 %s13, %e23
  %s33 = mul i32 %s23, %e33
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %s33, ptr addrspace(1) %q)
  ret void
}

define ptx_kernel void @unknown(ptr addrspace(1) %p, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = zext i32 %t to i64
  %q = getelementptr i32, ptr addrspace(1) %p, i64 %o
  %m = icmp slt i32 %t, %n
  %x0 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09@$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l,b"(ptr addrspace(1) %q, i1 %m)
  %x1 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09@$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 16 ];", "=r,=r,=r,=r,l,b"(ptr addrspace(1) %q, i1 %m)
  %x2 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09@$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 32 ];", "=r,=r,=r,=r,l,b"(ptr addrspace(1) %q, i1 %m)
  %x3 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09@$5 ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 48 ];", "=r,=r,=r,=r,l,b"(ptr addrspace(1) %q, i1 %m)
  %e00 = extractvalue { i32, i32, i32, i32 } %x0, 0
  %e01 = extractvalue { i32, i32, i32, i32 } %x0, 1
  %e02 = extractvalue { i32, i32, i32, i32 } %x0, 2
  %e03 = extractvalue { i32, i32, i32, i32 } %x0, 3
  %e10 = extractvalue { i32, i32, i32, i32 } %x1, 0
  %e11 = extractvalue { i32, i32, i32, i32 } %x1, 1
  %e12 = extractvalue { i32, i32, i32, i32 } %x1, 2
  %e13 = extractvalue { i32, i32, i32, i32 } %x1, 3
  %e20 = extractvalue { i32, i32, i32, i32 } %x2, 0
  %e21 = extractvalue { i32, i32, i32, i32 } %x2, 1
  %e22 = extractvalue { i32, i32, i32, i32 } %x2, 2
  %e23 = extractvalue { i32, i32, i32, i32 } %x2, 3
  %e30 = extractvalue { i32, i32, i32, i32 } %x3, 0
  %e31 = extractvalue { i32, i32, i32, i32 } %x3, 1
  %e32 = extractvalue { i32, i32, i32, i32 } %x3, 2
  %e33 = extractvalue { i32, i32, i32, i32 } %x3, 3
  %s10 = mul i32 %e00, %e10
  %s20 = mul i32 %s10, %e20
  %s30 = mul i32 %s20, %e30
  %s01 = mul i32 %s30, %e01
  %s11 = mul i32 %s01, %e11
  %s21 = mul i32 %s11, %e21
  %s31 = mul i32 %s21, %e31
  %s02 = mul i32 %s31, %e02
  %s12 = mul i32 %s02, %e12
  %s22 = mul i32 %s12, %e22
  %s32 = mul i32 %s22, %e32
  %s03 = mul i32 %s32, %e03
  %s13 = mul i32 %s03, %e13
  %s23 = mul i32 %s13, %e23
  %s33 = mul i32 %s23, %e33
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %s33, ptr addrspace(1) %q)
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
