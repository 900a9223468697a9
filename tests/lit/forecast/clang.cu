// clang prints the forecast with -Rpass-analysis and in its optimization record, the peak at its source line. The code is
// unchanged.
// REQUIRES: cuda
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -gline-tables-only -fpass-plugin=%plugin -S %s -o %t.without.ptx
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -gline-tables-only -fpass-plugin=%plugin -Rpass-analysis=nvptx-forecast -S %s \
// RUN:   -o %t.ptx 2>&1 | FileCheck %s
// RUN: cmp %t.without.ptx %t.ptx
// CHECK: clang.cu:[[#KERNEL:]]:1: remark: Function Name: sum [-Rpass-analysis=nvptx-forecast]
// CHECK: clang.cu:[[#KERNEL]]:1: remark: {{ *}}Registers: {{[0-9]+}} [-Rpass-analysis=nvptx-forecast]
// CHECK: clang.cu:[[#%d,PEAK:]]:{{[0-9]+}}: remark: {{ *}}Peak [words]: {{[0-9]+}} [-Rpass-analysis=nvptx-forecast]
// CHECK: clang.cu:[[#PEAK]]:{{[0-9]+}}: remark: {{ *}}Peak [line]: [[#PEAK]] [-Rpass-analysis=nvptx-forecast]
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fpass-plugin=%plugin -fsave-optimization-record \
// RUN:   -foptimization-record-file=%t.yaml -S %s -o /dev/null
// RUN: grep -A8 nvptx-forecast %t.yaml | FileCheck %s --check-prefix=YAML
// YAML: - FunctionName: sum

extern "C" __attribute__((global)) void sum(float *out, const float *in, int n) {
  float total = 0;
  for (int i = 0; i < n; ++i)
    total += in[i] * in[n - i];
  *out = total;
}
