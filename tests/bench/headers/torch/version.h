// Stands in for PyTorch's header, of which DeepSpeed's host code asks the version.
#pragma once

#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 9
