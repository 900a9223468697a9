// Replaces a header of CUDA that host code includes without need.
#pragma once
