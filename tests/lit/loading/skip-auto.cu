// The forecast chooses what a kernel goes without: of stencils whose loops count addresses up some go without that,
// and are told to take fewer registers; none is told to take more; one that is off keeps all; whoever compiles gets
// the same, and nobody hears of the clones that it takes.
// REQUIRES: cuda
// RUN: %python -c "kernel = open('%S/../../../examples/stencil.cu').read(); \
// RUN:   [print('namespace radius_%%d {' %% n, kernel.replace('RADIUS = 4', 'RADIUS = %%d' %% n), '}', sep='\n') \
// RUN:   for n in range(4, 12)]" | sed 's/extern "C"//' > %t.cu
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -emit-llvm -c %t.cu -o %t.bc
// RUN: %llc-ra -O3 -mcpu=sm_90 -nvptx-ra-forecast %t.bc -o %t.none.ptx 2> %t.none
// RUN: rm -f %t.stats
// RUN: %llc-ra -O3 -mcpu=sm_90 -nvptx-ra-forecast -nvptx-ra-skip=auto -nvptx-ra-stats=%t.stats %t.bc -o %t.auto.ptx \
// RUN:   2> %t.auto
// RUN: not cmp -s %t.none.ptx %t.auto.ptx
// RUN: grep -h Registers: %t.none %t.auto \
// RUN:   | %python -c "told = [int(line.split()[1]) for line in open(0)]; none, auto = told[:8], told[8:]; \
// RUN:     assert none != auto and all(a <= n for a, n in zip(auto, none, strict=True)), told"
// RUN: grep -c '"event":"run".*"nvptx-copy-coalescer"' %t.stats | FileCheck %s --check-prefix=ONCE
// ONCE: {{^}}8{{$}}
// RUN: %opt -load-pass-plugin=%plugin '-passes=nvptx-ra<skip=auto>' %t.bc -o %t.recorded.bc
// RUN: %llc-ra -O3 -mcpu=sm_90 %t.recorded.bc -o - | cmp - %t.auto.ptx
// RUN: %nvptx-ra compile -O3 --cpu sm_90 --set skip=auto %t.bc -o - | cmp - %t.auto.ptx
// RUN: %opt -S %t.bc -o - | sed 's/attributes #0 = {/& "nvptx-ra"="off"/' > %t.off.ll
// RUN: %llc-ra -O3 -mcpu=sm_90 %t.off.ll -o %t.off.ptx && %llc-ra -O3 -mcpu=sm_90 -nvptx-ra-skip=auto %t.off.ll -o - \
// RUN:   | cmp - %t.off.ptx
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fpass-plugin=%plugin -mllvm -nvptx-ra-skip=auto -S %t.cu -o - \
// RUN:   | FileCheck %s --check-prefix=CLANG
// CLANG-COUNT-8: .entry _ZN{{.*}}wave_step
// RUN: not %llc-ra -O3 -mcpu=sm_90 -nvptx-ra-skip=auto+most %t.bc -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: skip=auto+most: unknown
