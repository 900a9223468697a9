; A wrong option is refused once, with a message, by each program that reads it, and no code is generated.
; RUN: not %llc -load-pass-plugin=%plugin -nvptx-ra-position=befor -mcpu=sm_90 %s -o %t.value 2>&1 \
; RUN:   | FileCheck %s --check-prefix=VALUE --implicit-check-not=nvptx-ra-position
; RUN: not test -e %t.value
; RUN: not %llc -load-pass-plugin=%plugin -nvptx-ra-positin=before %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=NAME
; RUN: not %llc -load-pass-plugin=%plugin %s -o /dev/null -nvptx-ra-copy-limit 2>&1 | FileCheck %s --check-prefix=NONE
; RUN: %llc -load-pass-plugin=%plugin -help | FileCheck %s --check-prefix=HELP

; VALUE: for the --nvptx-ra-position option: {{.*}}position=befor: {{.*}}use before, after, instead or off
; NAME:  Unknown command line argument '-nvptx-ra-positin=before'
; NONE:  for the --nvptx-ra-copy-limit option: requires a value
; HELP:  What nvptx-ra does to the registers of NVPTX machine code
; HELP:  --nvptx-ra-position=<before|after|instead|off>

; A switch needs no value. The last of two assignments counts.
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-verify -nvptx-ra-strict=off -mcpu=sm_90 %s -o /dev/null
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-inject=error -nvptx-ra-inject=none -nvptx-ra-strict -mcpu=sm_90 %s \
; RUN:   -o /dev/null

; An error is a warning. With strict it is an error, and no code is generated.
; RUN: %llc -load-pass-plugin=%plugin -nvptx-ra-inject=error -mcpu=sm_90 %s -o /dev/null 2>&1 \
; RUN:   | FileCheck %s --check-prefix=WARNING
; RUN: not %llc -load-pass-plugin=%plugin -nvptx-ra-inject=error -nvptx-ra-strict -mcpu=sm_90 %s -o %t.strict 2>&1 \
; RUN:   | FileCheck %s --check-prefix=ERROR
; RUN: not test -e %t.strict
; WARNING: warning: nvptx-ra: kernel 'k':
; ERROR:   error: nvptx-ra: kernel 'k':

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k() {
  ret void
}
