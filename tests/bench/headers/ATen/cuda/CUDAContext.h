// Stands in for PyTorch's header: what DeepSpeed's host code names of it. No kernel uses it.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace at {
namespace cuda {
inline cudaStream_t getCurrentCUDAStream() { return 0; }
inline cudaStream_t getStreamFromPool() { return 0; }
}  // namespace cuda
}  // namespace at
