// Findings of lints are remarks, at the line that the tool's report names. Each lint has a kernel here with a finding,
// and one without. (The lint of needless spills is in lints.ll: clang has no attribute for a register limit.)
// REQUIRES: cuda
// RUN: %clang-cuda --cuda-gpu-arch=sm_90a -O3 -gline-tables-only -fpass-plugin=%plugin -S %s -o %t.without.ptx
// RUN: %clang-cuda --cuda-gpu-arch=sm_90a -O3 -gline-tables-only -fpass-plugin=%plugin -Rpass-missed=nvptx-lint -S %s \
// RUN:   -o %t.ptx 2> %t.log
// RUN: FileCheck %s --input-file=%t.log --implicit-check-not=remark:
// RUN: cmp %t.without.ptx %t.ptx
// RUN: %clang-cuda --cuda-gpu-arch=sm_90a -O3 -fpass-plugin=%plugin -fsave-optimization-record \
// RUN:   -foptimization-record-file=%t.yaml -S %s -o /dev/null
// RUN: grep -A5 'Pass: *nvptx-lint' %t.yaml | FileCheck %s --check-prefix=YAML
// YAML: Name: no-launch-bounds
// YAML-NEXT: DebugLoc: { File: {{.*}}lints.cu
// YAML-NEXT: Function: unbounded

#define KERNEL extern "C" __attribute__((global)) void
#define BOUNDS(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define DEVICE __attribute__((device))

// Values for more registers than a thread of the largest block may have, without bounds and with bounds. The number is
// also close to an occupancy step, which is farther away with these bounds.
template <int N> DEVICE inline void copy(volatile int *p) {
  int values[N];
#pragma unroll
  for (int i = 0; i < N; ++i)
    values[i] = p[i];
#pragma unroll
  for (int i = 0; i < N; ++i)
    p[N - i] = values[i];
}

// CHECK: lints.cu:[[@LINE+2]]:{{[0-9]+}}: remark: kernel 'unbounded': it is expected to take {{[0-9]+}} registers without launch bounds: {{.*}}; declare the size of its blocks: __launch_bounds__(THREADS) [no-launch-bounds] [-Rpass-missed=nvptx-lint]
// CHECK: lints.cu:[[#%d,VALUES:]]:{{[0-9]+}}: remark: kernel 'unbounded': it is expected to take {{.*}} registers, so that an SM holds {{.*}}; or try __maxnreg__({{.*}}) [occupancy-step] [-Rpass-missed=nvptx-lint]
KERNEL unbounded(volatile int *p) {
  copy<96>(p);
}

KERNEL BOUNDS(256) bounded(volatile int *p) {
  copy<96>(p);
}

// A minimum of blocks per SM without a block size, and blocks that no SM can hold.
// CHECK: lints.cu:[[@LINE+1]]:{{[0-9]+}}: remark: kernel 'blocks': ptxas ignores its bounds: {{.*}} [ignored-bounds] [-Rpass-missed=nvptx-lint]
KERNEL BOUNDS(1024, 4) blocks(volatile int *p) {
  *p = 0;
}

KERNEL BOUNDS(256, 4) sized_blocks(volatile int *p) {
  *p = 0;
}

// A line with more values than a block has registers for, and a line with fewer.
// CHECK: lints.cu:{{[0-9]+}}:{{[0-9]+}}: remark: kernel 'unrolled': it is expected to spill {{[0-9]+}} bytes; keep fewer values live at once, {{.*}} [spills] [-Rpass-missed=nvptx-lint]
// CHECK: lints.cu:[[#VALUES]]:{{[0-9]+}}: remark: kernel 'unrolled': it is expected to spill {{.*}} the line occurs {{[0-9]+}} times in one block, {{.*}} [unrolled-too-far] [-Rpass-missed=nvptx-lint]
KERNEL BOUNDS(1024) unrolled(volatile int *p) {
  copy<128>(p);
}

KERNEL BOUNDS(1024) rolled(volatile int *p) {
  for (int i = 0; i < 128; ++i)
    p[128 + i] = p[i];
}

// An array that is indexed by a variable, and one that is indexed by constants.
KERNEL indexed(volatile int *p, int n) {
  int array[48];
  for (int i = 0; i < 48; ++i)
    array[i] = p[i];
  for (int i = 0; i < n; ++i)
    // CHECK: lints.cu:[[@LINE+1]]:{{[0-9]+}}: remark: kernel 'indexed': 192 bytes of stack: {{.*}} is indexed by a variable {{.*}} [local-array] [-Rpass-missed=nvptx-lint]
    array[p[i]] += array[p[n + i]];
  p[0] = array[n];
}

KERNEL constant(volatile int *p) {
  int array[4];
  for (int i = 0; i < 4; ++i)
    array[i] = p[i];
  p[0] = array[2];
}

// A function that gets the address of a variable and is not inlined, and one that is inlined.
DEVICE __attribute__((noinline)) void fill(int *values) {
  for (int i = 0; i < 4; ++i)
    values[i] += i;
}

KERNEL passes(volatile int *p) {
  int values[4] = {p[0], p[1], p[2], p[3]};
  // CHECK: lints.cu:[[@LINE+1]]:{{[0-9]+}}: remark: kernel 'passes': 16 bytes of stack: {{.*}}: its address is passed to _Z4fillPi {{.*}}; inline it: {{.*}} [not-inlined] [-Rpass-missed=nvptx-lint]
  fill(values);
  p[0] = values[0];
}

DEVICE inline void fill_inline(int *values) {
  for (int i = 0; i < 4; ++i)
    values[i] += i;
}

KERNEL inlines(volatile int *p) {
  int values[4] = {p[0], p[1], p[2], p[3]};
  fill_inline(values);
  p[0] = values[0];
}

// Functions that ptxas cannot inline, and one that it can inline.
extern "C" DEVICE int elsewhere(int);

DEVICE __attribute__((noinline)) int factorial(int n) {
  return n < 2 ? 1 : n + factorial(n - 1) * factorial(n - 2);
}

DEVICE __attribute__((noinline)) int leaf(int n) {
  return n + 7;
}

KERNEL calls(volatile int *p, int (*pointer)(int)) {
  // CHECK: lints.cu:[[@LINE+1]]:{{[0-9]+}}: remark: kernel 'calls': it calls elsewhere, which is not in this file, by {{.*}}; define it in this file, {{.*}} [abi-call] [-Rpass-missed=nvptx-lint]
  p[0] = elsewhere(p[0]);
  // CHECK: lints.cu:[[@LINE+1]]:{{[0-9]+}}: remark: kernel 'calls': it calls a function through a pointer by {{.*}} [abi-call] [-Rpass-missed=nvptx-lint]
  p[0] = pointer(p[0]);
  // CHECK: lints.cu:[[@LINE-12]]:{{[0-9]+}}: remark: kernel 'calls': it calls _Z9factoriali, which calls itself, by {{.*}} [abi-call] [-Rpass-missed=nvptx-lint]
  p[0] = factorial(p[0]);
}

KERNEL calls_leaf(volatile int *p) {
  p[0] = leaf(p[0]);
}

// A request for registers that ptxas ignores, and one that it follows.
// CHECK: lints.cu:[[@LINE+1]]:{{[0-9]+}}: remark: kernel 'asks': setmaxnreg has no effect: {{.*}} [ignored-setmaxnreg] [-Rpass-missed=nvptx-lint]
KERNEL BOUNDS(128) asks(volatile int *p) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
}

KERNEL BOUNDS(128, 1) asks_bounded(volatile int *p) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
}
