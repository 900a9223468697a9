// The forecast chooses what a kernel goes without: one whose loop counts addresses up goes without that, and is
// told to take fewer registers; one that is off keeps all; whoever compiles gets the same, and nobody hears of the
// clones that it takes.
// REQUIRES: cuda
// RUN: sed 's/RADIUS = 4/RADIUS = 5/' %S/../../../examples/stencil.cu > %t.cu
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -emit-llvm -c %t.cu -o %t.bc
// RUN: %llc-ra -O3 -mcpu=sm_90 -nvptx-ra-forecast %t.bc -o %t.none.ptx 2> %t.none
// RUN: rm -f %t.stats
// RUN: %llc-ra -O3 -mcpu=sm_90 -nvptx-ra-forecast -nvptx-ra-skip=auto -nvptx-ra-stats=%t.stats %t.bc -o %t.auto.ptx \
// RUN:   2> %t.auto
// RUN: not cmp -s %t.none.ptx %t.auto.ptx
// RUN: grep -h Registers: %t.none %t.auto \
// RUN:   | %python -c "a, b = (int(line.split()[1]) for line in open(0)); assert b < a, (a, b)"
// RUN: grep -c '"event":"run".*"nvptx-copy-coalescer"' %t.stats | FileCheck %s --check-prefix=ONCE
// ONCE: {{^}}1{{$}}
// RUN: %opt -load-pass-plugin=%plugin '-passes=nvptx-ra<skip=auto>' %t.bc -o %t.recorded.bc
// RUN: %llc-ra -O3 -mcpu=sm_90 %t.recorded.bc -o - | cmp - %t.auto.ptx
// RUN: %nvptx-ra compile -O3 --cpu sm_90 --set skip=auto %t.bc -o - | cmp - %t.auto.ptx
// RUN: %opt -S %t.bc -o - | sed 's/attributes #0 = {/& "nvptx-ra"="off"/' > %t.off.ll
// RUN: %llc-ra -O3 -mcpu=sm_90 %t.off.ll -o %t.off.ptx && %llc-ra -O3 -mcpu=sm_90 -nvptx-ra-skip=auto %t.off.ll -o - \
// RUN:   | cmp - %t.off.ptx
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fpass-plugin=%plugin -mllvm -nvptx-ra-skip=auto -S %t.cu -o - \
// RUN:   | FileCheck %s --check-prefix=CLANG
// CLANG: .entry wave_step(
// RUN: not %llc-ra -O3 -mcpu=sm_90 -nvptx-ra-skip=auto+most %t.bc -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: skip=auto+most: unknown
