; Many loads and many stores depend on bounds per thread, so more predicates than a thread has would be live between
; them. The comparisons are rematerialised before the stores. Thirteen predicates are left unchanged, and so are all
; predicates with the option off. The checker proves the edits; LLVM's machine verifier and ptxas accept the code.
; RUN: %python %S/Inputs/bounds.py 24 > %t.ll
; RUN: %llc-ra -mcpu=sm_90 %t.ll -o %t.default
; RUN: FileCheck %s --input-file=%t.default
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.default %}
; RUN: %llc-ra -nvptx-ra-remat=off -mcpu=sm_90 %t.ll -o - | FileCheck %s --check-prefix=OFF
; RUN: %python %S/Inputs/bounds.py 13 > %t.few.ll
; RUN: %llc-ra -mcpu=sm_90 %t.few.ll -o %t.few
; RUN: %llc-ra -nvptx-ra-remat=off -mcpu=sm_90 %t.few.ll -o - | cmp - %t.few
; CHECK-LABEL:    .entry bounds(
; CHECK-COUNT-24: ld.volatile.global
; CHECK:          bar.sync
; CHECK-COUNT-12: setp
; OFF-LABEL:      .entry bounds(
; OFF-COUNT-24:   setp
; OFF:            bar.sync
; OFF:            setp
; OFF-NOT:        setp
