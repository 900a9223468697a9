; A kernel that requests registers at run time starts with the number that an increase requests, or that its limit
; allows; ptxas reports this number. If the kernel gives no such number, ptxas ignores the requests. Such a kernel gets
; no limit, because ptxas would then follow the requests.
; RUN: %llc-ra -mcpu=sm_90a -mattr=+ptx88 -nvptx-ra-budget=40 -nvptx-ra-forecast %s -o %t.ptx 2> %t.printed
; RUN: FileCheck %s --implicit-check-not=.maxnreg --input-file=%t.ptx
; CHECK: .entry increases(
; CHECK: .entry limited(
; CHECK: .maxnreg 64
; CHECK: .entry ignored(
; CHECK: .entry intrinsic(
; CHECK: setmaxnreg.dec.sync.aligned.u32 40;
; CHECK: setmaxnreg.inc.sync.aligned.u32 104;
; RUN: FileCheck %s --check-prefix=PRINTED --implicit-check-not='Limited to' --input-file=%t.printed
; PRINTED:      Function Name: increases
; PRINTED-NEXT: Registers: 96
; PRINTED:      Function Name: limited
; PRINTED-NEXT: Registers: 64
; PRINTED:      Function Name: ignored
; PRINTED-NOT:  Registers: {{[0-9][0-9][0-9]|[3-9][0-9]}}
; PRINTED:      Spill Stores
; PRINTED:      Function Name: intrinsic
; PRINTED-NEXT: Registers: 104
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90a < %t.ptx %}
; RUN: %if ptxas %{ %ptxas -v -arch sm_90a %t.ptx -o /dev/null 2>&1 | FileCheck %s --check-prefix=PTXAS %}
; PTXAS-DAG: Used 96 registers
; PTXAS-DAG: Used 64 registers
; PTXAS-DAG: Used 104 registers

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @increases() "nvvm.maxntid"="128" "nvvm.minctasm"="1" {
  call void asm sideeffect "setmaxnreg.inc.sync.aligned.u32 $0;", "n"(i32 96)
  ret void
}

define ptx_kernel void @limited() "nvvm.maxntid"="128" "nvvm.maxnreg"="64" {
  call void asm sideeffect "setmaxnreg.dec.sync.aligned.u32 24;", ""()
  ret void
}

define ptx_kernel void @ignored() "nvvm.maxntid"="128" {
  call void asm sideeffect "setmaxnreg.inc.sync.aligned.u32 $0;", "n"(i32 96)
  ret void
}

define ptx_kernel void @intrinsic() "nvvm.maxntid"="128" "nvvm.minctasm"="1" {
  call void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32 40)
  call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 104)
  ret void
}

declare void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32)
declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32)
