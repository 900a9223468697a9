// Prints the figures of NVIDIA's CUDA Core Compute Libraries for each compute capability on standard input.
//
// Standard input: capabilities, ten times the major number plus the minor one. Standard output, one line for each:
// "unknown", or warps, blocks and shared memory of an SM; shared memory of a block: the default, the most on request,
// and the part reserved for the driver; registers of an SM, a block and a thread; threads of a block and of a warp.

#include <cuda/__device/arch_traits.h>

#include <cstdio>

static void print(const cuda::arch_traits_t &T) {
  std::printf("%d %d %zu %zu %zu %zu %d %d %d %d %d\n", T.max_warps_per_multiprocessor, T.max_blocks_per_multiprocessor,
              T.max_shared_memory_per_multiprocessor, T.max_shared_memory_per_block,
              T.max_shared_memory_per_block_optin, T.reserved_shared_memory_per_block,
              T.max_registers_per_multiprocessor, T.max_registers_per_block, T.max_registers_per_thread,
              T.max_threads_per_block, T.warp_size);
}

// By name, because arch_traits_for() throws an error that needs CUDA's runtime at link time.
#define KNOWN(SM)                                                                                                      \
  case SM:                                                                                                             \
    print(cuda::arch_traits<cuda::arch_id::sm_##SM>());                                                                \
    break;

int main() {
  int Capability;
  while (std::scanf("%d", &Capability) == 1) {
    switch (Capability) {
      KNOWN(70)
      KNOWN(75)
      KNOWN(80)
      KNOWN(86)
      KNOWN(87)
      KNOWN(88)
      KNOWN(89)
      KNOWN(90)
      KNOWN(100)
      KNOWN(103)
      KNOWN(110)
      KNOWN(120)
      KNOWN(121)
    default:
      std::puts("unknown");
    }
  }
  return 0;
}
