// A profile matches code with more or less debug information than its own: before and after LLVM's optimisations, in the
// tool and in the plugin. It does not match other code.
// REQUIRES: cuda, ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -gline-tables-only -emit-llvm -c %s -o %t/lines.bc
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -emit-llvm -c %s -o %t/plain.bc
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -g -emit-llvm -c %s -o %t/all.bc
// RUN: env CUDA_PATH=%cuda %nvptx-ra tune %t/lines.bc -o %t/lines.ptx --runs 1 --profile %t/stock.toml > %t/table 2>&1
// RUN: sed 's/^hash.*/&\nmaxnreg = 77/' %t/stock.toml > %t/chosen.toml
// RUN: %nvptx-ra compile %t/lines.bc --cpu sm_90 --set profile=%t/chosen.toml -o - | FileCheck %s
// RUN: %nvptx-ra compile %t/plain.bc --cpu sm_90 --set profile=%t/chosen.toml -o - | FileCheck %s
// RUN: %nvptx-ra compile %t/all.bc --cpu sm_90 --set profile=%t/chosen.toml -o - | FileCheck %s
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fpass-plugin=%plugin -mllvm -nvptx-ra-profile=%t/chosen.toml -S %s -o - \
// RUN:   | FileCheck %s
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -DOTHER -emit-llvm -c %s -o %t/other.bc
// RUN: %nvptx-ra compile %t/other.bc --cpu sm_90 --set profile=%t/chosen.toml -o %t/other.ptx 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OTHER
// CHECK: .maxnreg 77
// OTHER: 'k' has changed and gets the defaults

// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -gline-tables-only -Xclang -disable-llvm-passes -emit-llvm -c %s -o %t/early.bc
// RUN: env CUDA_PATH=%cuda %nvptx-ra tune %t/early.bc -O3 -o %t/early.ptx --runs 1 --profile %t/stock.toml > %t/table 2>&1
// RUN: sed 's/^hash.*/&\nmaxnreg = 77/' %t/stock.toml > %t/chosen.toml
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -fpass-plugin=%plugin -mllvm -nvptx-ra-profile=%t/chosen.toml -S %s -o - \
// RUN:   | FileCheck %s
// RUN: %clang-cuda --cuda-gpu-arch=sm_90 -O3 -g -fpass-plugin=%plugin -mllvm -nvptx-ra-profile=%t/chosen.toml -S %s -o - \
// RUN:   | FileCheck %s

#ifdef OTHER
#define START 2
#else
#define START 1
#endif

extern "C" __attribute__((global)) void k(int *p, int n) {
  int sum = START;
  for (int i = 0; i < n; ++i) {
    int value = p[i] * sum;
    sum += value ^ i;
  }
  for (;;) {
    sum = p[sum & 1023];
    if (sum < n)
      break;
  }
  *p = sum;
}
