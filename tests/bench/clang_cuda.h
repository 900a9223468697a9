// Included before every source of the corpus. It declares names that these sources expect from nvcc and that clang's
// CUDA mode lacks.
#pragma once

#include <assert.h>
#include <cmath>
#include <stdio.h>
#include <time.h>

using std::isfinite;

// nvcc also declares these functions for the host, although they run only on the device.
__host__ inline void __trap() {}

#define HOST_MIN_MAX(A, B, RESULT) \
  __host__ inline RESULT min(A a, B b) { return (RESULT)a < (RESULT)b ? (RESULT)a : (RESULT)b; } \
  __host__ inline RESULT max(A a, B b) { return (RESULT)a < (RESULT)b ? (RESULT)b : (RESULT)a; }
HOST_MIN_MAX(int, int, int)
HOST_MIN_MAX(int, unsigned, unsigned)
HOST_MIN_MAX(unsigned, int, unsigned)
HOST_MIN_MAX(unsigned, unsigned, unsigned)
HOST_MIN_MAX(long, long, long)
HOST_MIN_MAX(unsigned long, unsigned long, unsigned long)
HOST_MIN_MAX(long long, long long, long long)
HOST_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
HOST_MIN_MAX(float, float, float)
HOST_MIN_MAX(double, double, double)
#undef HOST_MIN_MAX

// Stores with a cache hint. The hint changes neither registers nor copies, but a vector must stay a single store.
template <typename T> static inline __device__ void __stcg(T *to, T value) { *to = value; }
template <typename T> static inline __device__ void __stcs(T *to, T value) { __builtin_nontemporal_store(value, to); }
static inline __device__ void __stcs(float4 *to, float4 value) { *to = value; }
static inline __device__ void __stcs(int4 *to, int4 value) { *to = value; }
