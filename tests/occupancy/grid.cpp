// Prints the figures of NVIDIA's cuda_occupancy.h for every launch on standard input.
//
// Standard input, numbers separated by blanks:
//
//     device MAJOR MINOR THREADS-PER-BLOCK THREADS-PER-SM REGISTERS SHARED-PER-BLOCK SHARED-PER-SM OPT-IN RESERVED
//     launch THREADS STATIC DYNAMIC BARRIERS CARVE-OUT FIRST LAST
//
// A launch uses the last device, with each number of registers from FIRST to LAST. For each of these numbers, standard
// output gets one line: blocks, limiting factors, blocks by warps, blocks, registers, shared memory and barriers alone
// (INT_MAX: no limit), registers and bytes of shared memory of a block.

#include <cuda_occupancy.h>

#include <cstdio>
#include <cstring>

int main() {
  cudaOccDeviceProp Device;
  char Word[8];
  while (std::scanf("%7s", Word) == 1) {
    if (std::strcmp(Word, "device") == 0) {
      int Registers;
      if (std::scanf("%d %d %d %d %d %zu %zu %zu %zu", &Device.computeMajor, &Device.computeMinor,
                     &Device.maxThreadsPerBlock, &Device.maxThreadsPerMultiprocessor, &Registers,
                     &Device.sharedMemPerBlock, &Device.sharedMemPerMultiprocessor, &Device.sharedMemPerBlockOptin,
                     &Device.reservedSharedMemPerBlock) != 9)
        return 1;
      Device.regsPerBlock = Device.regsPerMultiprocessor = Registers;
      Device.warpSize = 32;
      Device.numSms = 1;
      continue;
    }
    int Threads, First, Last;
    size_t Dynamic;
    cudaOccFuncAttributes Kernel;
    cudaOccDeviceState State;
    if (std::scanf("%d %zu %zu %d %d %d %d", &Threads, &Kernel.sharedSizeBytes, &Dynamic, &Kernel.numBlockBarriers,
                   &State.carveoutConfig, &First, &Last) != 7)
      return 1;
    Kernel.maxThreadsPerBlock = Device.maxThreadsPerBlock;
    Kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    Kernel.maxDynamicSharedSizeBytes = Dynamic;
    for (Kernel.numRegs = First; Kernel.numRegs <= Last; ++Kernel.numRegs) {
      cudaOccResult R;
      cudaOccError Error = cudaOccMaxActiveBlocksPerMultiprocessor(&R, &Device, &Kernel, &State, Threads, Dynamic);
      if (Error != CUDA_OCC_SUCCESS)
        std::printf("error %d\n", static_cast<int>(Error));
      else
        std::printf("%d %u %d %d %d %d %d %d %zu\n", R.activeBlocksPerMultiprocessor, R.limitingFactors,
                    R.blockLimitWarps, R.blockLimitBlocks, R.blockLimitRegs, R.blockLimitSharedMem,
                    R.blockLimitBarriers, R.allocatedRegistersPerBlock, R.allocatedSharedMemPerBlock);
    }
  }
  return 0;
}
