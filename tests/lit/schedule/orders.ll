; The checker proves every order and every random change of an order. LLVM's machine verifier finds no errors, ptxas
; accepts the code, and the same options give the same bytes.
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 %s -o %t.default
; RUN: FileCheck %s --check-prefix=SOURCE --input-file=%t.default
; The order of the code, if requested by name, equals the default.
; RUN: %llc-ra -nvptx-ra-order=source -mcpu=sm_90 %s -o %t.source
; RUN: cmp %t.default %t.source
; SOURCE-LABEL: .entry loads(
; SOURCE:       ld.global
; SOURCE-NEXT:  ld.global
; SOURCE-NEXT:  ld.global
; Each load moves to its use, after the arithmetic on the previously loaded value.
; RUN: %llc-ra -nvptx-ra-order=loads-late -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=LATE
; LATE-LABEL: .entry loads(
; LATE:       ld.global
; LATE-NEXT:  ld.global
; LATE-NEXT:  add
; LATE-NEXT:  ld.global
; LATE-NEXT:  mad
; Loads that may not change places are adjacent if sums are delayed until a store needs them. The order `eager` adds
; each loaded value before the next load.
; RUN: %llc-ra -nvptx-ra-order=late -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=HELD
; HELD-LABEL: .entry sums(
; HELD:       ld.volatile
; HELD-NEXT:  ld.volatile
; RUN: %llc-ra -nvptx-ra-order=eager -mcpu=sm_90 %s -o - | FileCheck %s --check-prefix=EAGER
; EAGER-LABEL: .entry sums(
; EAGER:       ld.volatile
; EAGER-NEXT:  xor
; EAGER-NEXT:  ld.volatile
; EAGER-NEXT:  xor
; EAGER-NOT:   xor
; EAGER:       st.global
; A function's own attribute selects an order for it alone; the command line overrides it.
; RUN: sed 's/) #0 {/) "nvptx-ra"="order=loads-late" {/' %s > %t.own.ll
; RUN: %llc-ra -mcpu=sm_90 %t.own.ll -o - | FileCheck %s --check-prefixes=LATE,OTHER
; OTHER-LABEL: .entry others(
; OTHER:       ld.global
; OTHER-NEXT:  ld.global
; RUN: %llc-ra -nvptx-ra-order=source -mcpu=sm_90 %t.own.ll -o %t.stronger
; RUN: cmp %t.default %t.stronger
; A seed changes the order reproducibly.
; RUN: %llc-ra -nvptx-ra-order=late -nvptx-ra-order-seed=3 -mcpu=sm_90 %s -o %t.3
; RUN: %llc-ra -nvptx-ra-order=late -nvptx-ra-order-seed=3 -mcpu=sm_90 %s -o %t.3again
; RUN: cmp %t.3 %t.3again
; Without optimisation there is no order, and no error.
; RUN: %llc-ra -O0 -nvptx-ra-order=late -mcpu=sm_90 %s -o %t.O0
; RUN: %llc-ra -O0 -mcpu=sm_90 %s -o %t.O0source
; RUN: cmp %t.O0 %t.O0source
;
; RUN: %if ptxas %{ %llc-ra -nvptx-ra-order=bottom-up -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90 %}
; RUN: %if ptxas %{ %llc-ra -nvptx-ra-order=sethi-ullman -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90 %}
; RUN: %if ptxas %{ %llc-ra -nvptx-ra-order=eager -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90 %}
; RUN: %if ptxas %{ %llc-ra -nvptx-ra-order=latency -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90 %}
; RUN: %if ptxas %{ %llc-ra -nvptx-ra-order=loads-clustered -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90 %}
; RUN: %if ptxas %{ %llc-ra -nvptx-ra-order=late -nvptx-ra-order-seed=9 -mcpu=sm_90 %s -o - | %ptxas-verify -arch=sm_90 %}
; An error lists the allowed values.
; RUN: not %llc-ra -nvptx-ra-order=lat -mcpu=sm_90 %s -o - 2>&1 | FileCheck %s --check-prefix=WRONG
; WRONG: order=lat: unknown; use source, {{.*}}did you mean late?

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @loads(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {
  %p1 = getelementptr i32, ptr addrspace(1) %in, i64 1
  %p2 = getelementptr i32, ptr addrspace(1) %in, i64 2
  %a = load i32, ptr addrspace(1) %in
  %b = load i32, ptr addrspace(1) %p1
  %c = load i32, ptr addrspace(1) %p2
  %a1 = add i32 %a, 11
  %ab = add i32 %a1, %b
  %ab1 = mul i32 %ab, 7
  %abc = add i32 %ab1, %c
  store i32 %abc, ptr addrspace(1) %out
  ret void
}

define ptx_kernel void @others(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %p1 = getelementptr i32, ptr addrspace(1) %in, i64 1
  %a = load i32, ptr addrspace(1) %in
  %b = load i32, ptr addrspace(1) %p1
  %a1 = mul i32 %a, 11
  %ab = add i32 %a1, %b
  store i32 %ab, ptr addrspace(1) %out
  ret void
}

define ptx_kernel void @sums(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %p1 = getelementptr i32, ptr addrspace(1) %in, i64 1
  %a = load volatile i32, ptr addrspace(1) %in
  %b = load volatile i32, ptr addrspace(1) %p1
  %a1 = xor i32 %a, 11
  %b1 = xor i32 %b, 13
  %o1 = getelementptr i32, ptr addrspace(1) %out, i64 1
  store i32 %a1, ptr addrspace(1) %out
  store i32 %b1, ptr addrspace(1) %o1
  ret void
}

attributes #0 = { nounwind }
