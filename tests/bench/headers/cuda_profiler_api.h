// Replaces a header of CUDA that host code includes and does not need.
#pragma once
