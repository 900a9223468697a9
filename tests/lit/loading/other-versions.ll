; With another LLVM, the plugin or the loader prints one line, and LLVM continues without the plugin.
; RUN: %if llc14 %{ %llc14 -load=%plugin %s -o %t.14 2>&1 | FileCheck %s --check-prefix=REFUSED %}
; RUN: %if llc14 %{ FileCheck %s <%t.14 %}
; RUN: %if llc19 %{ %llc19 -load=%plugin %s -o %t.19 2>&1 | FileCheck %s --check-prefix=REFUSED %}
; RUN: %if llc19 %{ FileCheck %s <%t.19 %}
; REFUSED: {{undefined symbol|nvptx-ra: built for LLVM 22, loaded into LLVM (14|19): nothing is registered}}

; A simulated LLVM that has every symbol but reports version 23. The plugin's constructor itself refuses it.
; RUN: clang -shared -fPIC %S/Inputs/version.c -o %t.version.so
; RUN: env LD_PRELOAD=%t.version.so %llc -load-pass-plugin=%plugin %s -o %t.23 2>&1 \
; RUN:   | FileCheck %s --check-prefix=MAJOR --implicit-check-not=nvptx-ra
; RUN: %llc %s -o %t.stock
; RUN: cmp %t.stock %t.23
; MAJOR: nvptx-ra: built for LLVM 22, loaded into LLVM 23: nothing is registered
; RUN: env LD_PRELOAD=%t.version.so not %opt -load-pass-plugin=%plugin -passes=nvptx-ra -disable-output %s 2>&1 \
; RUN:   | FileCheck %s --check-prefix=UNKNOWN
; UNKNOWN: unknown pass name 'nvptx-ra'

; A second copy of the plugin registers nothing.
; RUN: cp %plugin %t.copy.so
; RUN: %llc -load-pass-plugin=%plugin -load-pass-plugin=%t.copy.so %s -o %t.twice 2>&1 | FileCheck %s --check-prefix=TWICE
; RUN: FileCheck %s <%t.twice
; TWICE: nvptx-ra: loaded twice: the second copy registers nothing

; CHECK: .func f(

target triple = "nvptx64-nvidia-cuda"

define void @f() {
  ret void
}
