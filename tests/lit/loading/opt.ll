; opt records choices as a function attribute, which the machine passes read.
; RUN: %opt -load-pass-plugin=%plugin -passes='nvptx-ra<verify;copy-limit=7>' -S %s -o - | FileCheck %s
; CHECK:     define ptx_kernel void @k() #[[K:[0-9]+]]
; CHECK:     define ptx_kernel void @alone() #[[OFF:[0-9]+]]
; CHECK:     declare void @elsewhere(){{$}}
; CHECK-DAG: attributes #[[K]] = { "nvptx-ra"="verify;copy-limit=7" }
; CHECK-DAG: attributes #[[OFF]] = { "nvptx-ra"="off" }

; The choices are printed, and later choices are added to earlier ones. The pipeline prints back unchanged.
; RUN: %opt -load-pass-plugin=%plugin -passes='print<nvptx-ra>,nvptx-ra<verify>,nvptx-ra,nvptx-ra<no-verify>,print<nvptx-ra>' \
; RUN:   -disable-output %s 2>&1 | FileCheck %s --check-prefix=PRINT
; PRINT:      k: defaults
; PRINT-NEXT: alone: off
; PRINT-NEXT: k: verify;no-verify
; PRINT-NEXT: alone: off
; RUN: %opt -load-pass-plugin=%plugin -passes='nvptx-ra<verify;copy-limit=7>,print<nvptx-ra>,nvptx-ra' -disable-output \
; RUN:   -print-pipeline-passes %s | FileCheck %s --check-prefix=PIPELINE
; PIPELINE: nvptx-ra<verify;copy-limit=7>,print<nvptx-ra>,nvptx-ra

; Wrong choices are refused with a message. So are options that a module must not choose.
; RUN: not %opt -load-pass-plugin=%plugin -passes='nvptx-ra<verfy>' -disable-output %s 2>&1 \
; RUN:   | FileCheck %s --check-prefix=WRONG
; RUN: not %opt -load-pass-plugin=%plugin -passes='nvptx-ra<stats=f>' -disable-output %s 2>&1 \
; RUN:   | FileCheck %s --check-prefix=TRUST
; WRONG: nvptx-ra: function attribute: verfy: unknown option
; TRUST: nvptx-ra: function attribute: stats=f: not allowed here

; The machine passes read the attribute: here it injects an error into one of two functions.
; RUN: %opt -load-pass-plugin=%plugin -passes='nvptx-ra<inject=error>' -S %s -o %t.ll
; RUN: %llc -load-pass-plugin=%plugin -mcpu=sm_90 %t.ll -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=HONOUR --implicit-check-not=alone
; HONOUR: warning: nvptx-ra: kernel 'k':

; A module for another target stays unchanged.
; RUN: %opt -load-pass-plugin=%plugin -mtriple=x86_64-linux-gnu -passes='nvptx-ra<verify>' -S %s -o - \
; RUN:   | FileCheck %s --check-prefix=HOST --implicit-check-not=verify
; HOST: define ptx_kernel void @k()

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k() {
  ret void
}

define ptx_kernel void @alone() "nvptx-ra"="off" {
  ret void
}

declare void @elsewhere()
