// Several processors, and host and device code in one command: the plugin runs in each device compilation.
// REQUIRES: cuda, ptxas
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang-cuda --offload-host-device -O3 --offload-arch=sm_80 --offload-arch=sm_90 -fpass-plugin=%plugin --save-temps \
// RUN:   -c %s -o both.o
// RUN: FileCheck %s <offload-cuda-nvptx64-nvidia-cuda-sm_80.s --check-prefixes=PTX,SM80
// RUN: FileCheck %s <offload-cuda-nvptx64-nvidia-cuda-sm_90.s --check-prefixes=PTX,SM90
// RUN: not grep nvptx-ra offload-host-x86_64-pc-linux-gnu.s
// SM80: .target sm_80
// SM90: .target sm_90
// PTX: {{^}}// nvptx-ra {{[0-9.]+$}}
// PTX: .entry _Z1kPi(

#include <cuda_runtime.h>

__global__ void k(int *out) { *out = threadIdx.x; }

void launch(int *out) { k<<<1, 32>>>(out); }
