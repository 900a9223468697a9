; A kernel of another compiler's PTX wins if it is better. The plugin leaves the kernel stock and reports this. nvptx-ra
; ptx links the winner into the plugin's PTX, byte for byte as the search does. If the code is equal, our own kernel
; wins.
; REQUIRES: ptxas
; RUN: rm -rf %t && mkdir %t
; RUN: %nvptx-ra compile %s --cpu sm_90 --set position=off -o %t/stock.ptx
; RUN: sed -e 's/mul.lo.s32 .*, 1103515245;/mov.b32 %%r1, 5;/' -e 's/_param_/_p/g' %t/stock.ptx > %t/less.ptx
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %s --cpu sm_90 --also %t/less.ptx --no-compare --allow-uncompared -o %t/tuned.ptx --runs 4 --profile %t/ra.toml > %t/table 2>&1
; RUN: FileCheck %s --check-prefix=TABLE --input-file=%t/table
; TABLE: products {{.*}} neither {{.*}}also from less.ptx
; TABLE: sums
; TABLE-NOT: also
; TABLE: from less.ptx: 1 of 2 kernels
; RUN: FileCheck %s --check-prefix=PROFILE --input-file=%t/ra.toml
; PROFILE: nvptx-ra ptx --profile FILE --also less.ptx
; PROFILE: [function.linked]
; PROFILE-NEXT: file = "less.ptx"
;
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-profile=%t/ra.toml -mcpu=sm_90 %s -o %t/llc.ptx 2>&1 | FileCheck %s --check-prefix=PLUGIN
; PLUGIN: ra.toml: 'products' comes from another compiler's PTX and stays stock; link it with nvptx-ra ptx --profile FILE --also less.ptx
; RUN: not cmp %t/llc.ptx %t/tuned.ptx
; RUN: %nvptx-ra ptx %t/llc.ptx --profile %t/ra.toml --also %t/less.ptx -o %t/linked.ptx
; RUN: cmp %t/linked.ptx %t/tuned.ptx
; Only a run can show that the kernel computes the same, so the kernel wins only with --allow-uncompared.
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %s --cpu sm_90 --also %t/less.ptx --no-compare -o %t/proved.ptx --runs 4 2>&1 | FileCheck %s --check-prefix=PROVED
; PROVED: nvptx-ra: 'products' with --allow-uncompared: {{.*}} instructions by also
; PROVED: from less.ptx: 0 of 2 kernels
; The kernel computes something else. If both kernels are run, it does not win.
; RUN: env CUDA_PATH=%cuda %nvptx-ra tune %s --cpu sm_90 --also %t/less.ptx -o %t/compared.ptx --runs 4 2>&1 | FileCheck %s --check-prefix=COMPARED
; COMPARED: warning: kernel 'products': 'also' computes other results than stock, and does not win
; COMPARED: from less.ptx: 0 of 2 kernels

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @products(ptr addrspace(1) %out, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = mul i32 %n, 1103515245
  %b = add i32 %a, %tid
  %c = mul i32 %b, %b
  %d = xor i32 %c, %a
  %e = mul i32 %d, %c
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  store i32 %e, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @sums(ptr addrspace(1) %out, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = add i32 %n, %tid
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  store i32 %a, ptr addrspace(1) %p
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
