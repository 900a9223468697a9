// A kernel built with -g keeps its debug variables. At -O3 each variable is known in as many places as with stock LLVM,
// for every position of the pass. At -O0 every variable is known somewhere, and ptxas accepts the result.
// REQUIRES: cuda, ptxas
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O2 -g -Xclang -debug-info-kind=limited -S -emit-llvm %s -o %t.ll
// RUN: %llc -O3 -mcpu=sm_90 %t.ll -o - | grep -o 'DEBUG_VALUE: .* <- [^u]' | sort | uniq -c > %t.stock
// RUN: %llc-ra -O3 -mcpu=sm_90 %t.ll -o %t.ptx && grep -o 'DEBUG_VALUE: .* <- [^u]' %t.ptx | sort | uniq -c | diff %t.stock -
// RUN: %ptxas -arch=sm_90 -g %t.ptx -o /dev/null
// RUN: %llc-ra -nvptx-ra-position=before -O3 -mcpu=sm_90 %t.ll -o - | grep -o 'DEBUG_VALUE: .* <- [^u]' | sort | uniq -c | diff %t.stock -
// RUN: %llc -O0 -mcpu=sm_90 %t.ll -o - | grep -o 'DEBUG_VALUE: .* <- [^u]' | sort -u > %t.stock
// RUN: %llc-ra -O0 -mcpu=sm_90 %t.ll -o - | grep -o 'DEBUG_VALUE: .* <- [^u]' | sort -u | diff %t.stock -
// RUN: FileCheck %s --input-file %t.ptx
// CHECK: DEBUG_VALUE: running:in <- %
// CHECK: DEBUG_VALUE: running:total <- %
// CHECK: DEBUG_VALUE: i <- %

__global__ void running(float *out, const float *in, int n, float a) {
  float total = 0.0f;
  float before = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float scaled = in[i] * a;
    before = total;
    total += scaled;
    out[i] = total - before * a;
  }
  out[n] = before;
}
