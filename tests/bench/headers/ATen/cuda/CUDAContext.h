// Replaces PyTorch's header, with the declarations that DeepSpeed's host code uses. No kernel uses them.
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
