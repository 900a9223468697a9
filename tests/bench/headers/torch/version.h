// Replaces PyTorch's header, from which DeepSpeed's host code reads the version.
#pragma once

#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 9
