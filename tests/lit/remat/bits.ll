; More predicates are live across a barrier than a thread has. Assembly sets them, so they cannot be rematerialised. The
; predicates that do not fit become bits of general registers: 32 bits per register, each set at its predicate's
; definition and tested at its uses. By default, predicates with one definition do not become bits. Nor do predicates
; with several definitions if bits take more instructions than ptxas's own code, as here, where each constant is alone.
; If an arm sets all predicates to false at once, they become bits, and each constant is an immediate operand. Thirteen
; predicates are left unchanged, and so are all predicates with the option off. By default a kernel also stays unchanged
; if so many words are live that ptxas may give up registers for warps: ptxas does so with 400 words and not with 320.
; The checker proves the edits; LLVM's machine verifier and ptxas accept the code, and PTX modules get the same result.
; Debug information between a constant and its store changes only register numbers.
; RUN: %python %S/Inputs/flags.py 48 > %t.ll
; RUN: %llc-ra -nvptx-ra-bit-spill=on -mcpu=sm_90 %t.ll -o %t.on
; RUN: FileCheck %s --input-file=%t.on
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.on %}
; RUN: %llc-ra -mcpu=sm_90 %t.ll -o %t.off
; RUN: FileCheck %s --check-prefix=OFF --input-file=%t.off
; RUN: %nvptx-ra ptx %t.off -passes='nvptx-remat<bit-spill=on>' -o %t.text
; RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.text
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.text %}
; RUN: %python %S/Inputs/flags.py 48 several > %t.several.ll
; RUN: %llc-ra -mcpu=sm_90 %t.several.ll -o %t.several
; RUN: %llc-ra -nvptx-ra-bit-spill=off -mcpu=sm_90 %t.several.ll -o - | cmp - %t.several
; RUN: %llc-ra -nvptx-ra-bit-spill=on -mcpu=sm_90 %t.several.ll -o %t.alone
; RUN: FileCheck %s --check-prefix=SEVERAL --input-file=%t.alone
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.alone %}
; RUN: %python %S/Inputs/flags.py 48 together > %t.together.ll
; RUN: %llc-ra -mcpu=sm_90 %t.together.ll -o %t.together
; RUN: FileCheck %s --check-prefix=TOGETHER --input-file=%t.together
; RUN: %if ptxas %{ %ptxas-verify -arch=sm_90 < %t.together %}
; RUN: %llc-ra -nvptx-ra-bit-spill=off -mcpu=sm_90 %t.together.ll -o - | FileCheck %s --check-prefix=OFF
; RUN: %python %S/Inputs/flags.py 13 together > %t.few.ll
; RUN: %llc-ra -mcpu=sm_90 %t.few.ll -o %t.few
; RUN: %llc-ra -nvptx-ra-bit-spill=off -mcpu=sm_90 %t.few.ll -o - | cmp - %t.few
; RUN: %python %S/Inputs/flags.py 48 together 320 > %t.words.ll
; RUN: %llc-ra -mcpu=sm_90 %t.words.ll -o - | FileCheck %s --check-prefix=TOGETHER
; RUN: %python %S/Inputs/flags.py 48 together 400 > %t.more.ll
; RUN: %llc-ra -mcpu=sm_90 %t.more.ll -o %t.more
; RUN: %llc-ra -nvptx-ra-bit-spill=off -mcpu=sm_90 %t.more.ll -o - | cmp - %t.more
; RUN: %llc-ra -nvptx-ra-bit-spill=on -mcpu=sm_90 %t.more.ll -o - | FileCheck %s --check-prefix=TOGETHER
; RUN: %opt -passes=debugify -S %t.together.ll -o %t.debug.ll
; RUN: %llc-ra -mcpu=sm_90 %t.debug.ll -o %t.debug
; RUN: %python %S/Inputs/unnumbered.py %t.debug > %t.debug.text
; RUN: %python %S/Inputs/unnumbered.py %t.together | cmp - %t.debug.text
; CHECK-LABEL:    .entry flags(
; CHECK:          mov.b32 {{%r[0-9]+}}, 0;
; CHECK-NEXT:     mov.b32 {{%r[0-9]+}}, 0;
; CHECK:          selp.b32 [[BIT:%r[0-9]+]], 1, 0, %p{{[0-9]+}};
; CHECK-NEXT:     and.b32 [[REST:%r[0-9]+]], {{%r[0-9]+}}, -2;
; CHECK-NEXT:     or.b32 {{%r[0-9]+}}, [[REST]], [[BIT]];
; CHECK-COUNT-39: selp.b32
; CHECK-NOT:      selp.b32
; CHECK:          bar.sync
; CHECK-COUNT-40: and.b32
; CHECK-NOT:      and.b32
; OFF-LABEL:      .entry flags(
; OFF-NOT:        selp
; TEXT-LABEL:     .entry flags(
; TEXT:           mov.b32 %vr0, 0;
; TEXT-NEXT:      mov.b32 %vr1, 0;
; TEXT-COUNT-40:  selp.b32
; TEXT-NOT:       selp.b32
; TEXT:           bar.sync
; TEXT-COUNT-40:  and.b32
; TEXT-NOT:       and.b32
; SEVERAL-LABEL:  .entry flags(
; SEVERAL:        mov.pred [[FALSE:%p[0-9]+]], 0;
; SEVERAL-NEXT:   and.b32 [[WORD:%r[0-9]+]], [[WORD]], -2;
; SEVERAL:        selp.b32 {{%r[0-9]+}}, 1, 0, [[FALSE]];
; SEVERAL:        bar.sync
; SEVERAL-COUNT-42: and.b32
; SEVERAL-NOT:    and.b32
; TOGETHER-LABEL: .entry flags(
; TOGETHER:       and.b32 [[WORD:%r[0-9]+]], [[WORD]], -2;
; TOGETHER:       selp.b32 {{%r[0-9]+}}, 1, 0, {{%p[0-9]+}};
; TOGETHER:       bar.sync
