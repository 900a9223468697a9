; add-passes=structurizecfg, which add-passes=all includes, nests the branches of a function, but skips functions with a
; loop of several entries. For any graph, a function computes the same with and without it.
; RUN: %llc-ra -mcpu=sm_90 %s -o %t.ptx
; RUN: %llc-ra -mcpu=sm_90 -nvptx-ra-add-passes=structurizecfg %s -o %t.structured.ptx
; RUN: not cmp -s %t.ptx %t.structured.ptx
; RUN: sed -n '/entry two_entries/,/End function/p' %t.ptx > %t.alone && FileCheck %s < %t.alone
; RUN: sed -n '/entry two_entries/,/End function/p' %t.structured.ptx | diff %t.alone -
; RUN: %opt -load-pass-plugin=%plugin -passes=nvptx-structurize-reducible -S %s -o - \
; RUN:   | FileCheck %s --check-prefixes=IR
; CHECK: .entry two_entries(

; Random graphs, as IR that runs on this machine, compute the same. Functions with an irreducible graph stay unchanged.
; RUN: %python %S/Inputs/graphs.py reducible 60 > %t.reducible.ll
; RUN: %python %S/Inputs/graphs.py irreducible 60 > %t.irreducible.ll
; RUN: sed '/^target triple/d' %t.reducible.ll | lli > %t.reducible.wanted
; RUN: sed '/^target triple/d' %t.irreducible.ll | lli > %t.irreducible.wanted
; RUN: grep -c . %t.reducible.wanted | FileCheck %s --check-prefix=RUNS
; RUN: grep -c . %t.irreducible.wanted | FileCheck %s --check-prefix=RUNS
; RUNS: {{^240$}}
; RUN: %opt -load-pass-plugin=%plugin -passes=nvptx-structurize-reducible -S %t.reducible.ll -o %t.out.ll
; RUN: grep -c 'br label %%Flow' %t.out.ll | FileCheck %s --check-prefix=FLOW
; FLOW: {{^[1-9][0-9]}}
; RUN: sed '/^target triple/d' %t.out.ll | lli | diff %t.reducible.wanted -
; RUN: %opt -passes=verify -S %t.irreducible.ll -o %t.same.ll
; RUN: %opt -load-pass-plugin=%plugin -passes=nvptx-structurize-reducible -S %t.irreducible.ll -o - | diff %t.same.ll -

; The same holds for all optimisations of add-passes= together, in its order.
; DEFINE: %{all} = nvptx-assembly-effects,gvn-hoist,reassociate,slsr,slp-vectorizer,separate-const-offset-from-gep,sink,nvptx-structurize-reducible,reg2mem,mem2reg
; RUN: %opt -load-pass-plugin=%plugin -passes=%{all} -S %t.reducible.ll -o - | sed '/^target triple/d' \
; RUN:   | lli | diff %t.reducible.wanted -
; RUN: %opt -load-pass-plugin=%plugin -passes=%{all} -S %t.irreducible.ll -o - | sed '/^target triple/d' \
; RUN:   | lli | diff %t.irreducible.wanted -
; RUN: %llc-ra -nvptx-ra-add-passes=all -mcpu=sm_90 %s -o - %if ptxas %{ | %ptxas-verify -arch=sm_90 %}

target triple = "nvptx64-nvidia-cuda"

; Each of the loop's two entries has its own back edge, and its own PHI that counts iterations.
; IR-LABEL: @two_entries(
; IR-NOT:   Flow
; IR-LABEL: @nested(
; IR:       Flow
define ptx_kernel void @two_entries(ptr addrspace(1) %out, i32 %n, i1 %which) {
entry:
  br i1 %which, label %x, label %y
x:
  %i = phi i32 [ %n, %entry ], [ %less, %x ], [ %fewer, %y ]
  %less = sub i32 %i, 1
  store volatile i32 %less, ptr addrspace(1) %out
  switch i32 %less, label %x [ i32 7, label %y
                               i32 0, label %end ]
y:
  %j = phi i32 [ %n, %entry ], [ %fewer, %y ], [ %less, %x ]
  %fewer = sub i32 %j, 2
  store volatile i32 %fewer, ptr addrspace(1) %out
  switch i32 %fewer, label %y [ i32 5, label %x
                                i32 1, label %end ]
end:
  ret void
}

; A loop with one entry is nested: the exit from the middle of the loop becomes an exit at its end.
define ptx_kernel void @nested(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ %n, %entry ], [ %less, %tail ]
  %less = sub i32 %i, 1
  store volatile i32 %less, ptr addrspace(1) %out
  %odd = trunc i32 %i to i1
  br i1 %odd, label %left, label %tail
left:
  store volatile i32 1, ptr addrspace(1) %out
  %leave = icmp eq i32 %i, 33
  br i1 %leave, label %end, label %tail
tail:
  %more = icmp sgt i32 %less, 0
  br i1 %more, label %head, label %end
end:
  ret void
}
