// One flag compiles CUDA with the plugin; host code stays unchanged.
// REQUIRES: cuda
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fpass-plugin=%plugin -S %s -o - | FileCheck %s
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O0 -fpass-plugin=%plugin -S %s -o - | FileCheck %s
// CHECK: {{^}}// nvptx-ra {{[0-9.]+$}}
// CHECK: .entry k(

// The plugin's options are given with -mllvm, before or after the flag; errors have messages.
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -mllvm -nvptx-ra-verify -fpass-plugin=%plugin -mllvm -nvptx-ra-strict -S %s \
// RUN:   -o - | FileCheck %s
// RUN: not %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fpass-plugin=%plugin -mllvm -nvptx-ra-verify=may -S %s -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=VALUE
// VALUE: for the --nvptx-ra-verify option: {{.*}}use on or off

// An error in a kernel is a warning of clang; with strict it ends the compilation.
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fpass-plugin=%plugin -mllvm -nvptx-ra-inject=error -S %s -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WARNING
// RUN: not %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fpass-plugin=%plugin -mllvm -nvptx-ra-inject=error \
// RUN:   -mllvm -nvptx-ra-strict -S %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR
// WARNING: warning: nvptx-ra: kernel 'k': {{.*}}[-Wbackend-plugin]
// ERROR:   error: nvptx-ra: kernel 'k':

// Host code alone compiles to the same bytes.
// RUN: %clang -O2 -c -x c++ -DHOST %s -o %t.stock.o
// RUN: %clang -O2 -c -x c++ -DHOST -fpass-plugin=%plugin %s -o %t.o
// RUN: cmp %t.stock.o %t.o

// Device code for later linking: relocatable, and as bitcode for link-time optimisation.
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fgpu-rdc -fpass-plugin=%plugin -S %s -o - | FileCheck %s
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fgpu-rdc -foffload-lto -fpass-plugin=%plugin -c %s -o %t.bc
// RUN: %if nvlink-wrapper %{ %clang-nvlink-wrapper -arch sm_90 --lto-emit-asm -mllvm -load-pass-plugin=%plugin %t.bc -o %t.lto %}
// RUN: %if nvlink-wrapper %{ FileCheck %s <%t.lto %}

#ifdef HOST
int twice(int x) { return x + x; }
#else
extern "C" __attribute__((global)) void k(int *out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum = sum * 3 + out[i];
  *out = sum;
}
#endif
