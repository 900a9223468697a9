// Included ahead of every source of the corpus: what these sources expect of nvcc and clang's CUDA mode does not give.
#pragma once

#include <assert.h>
#include <cmath>
#include <stdio.h>
#include <time.h>

using std::isfinite;

// nvcc declares these for the host too, though they run on the device alone.
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

// Stores with a cache hint. The hint changes neither registers nor copies, except that a vector must stay one store.
template <typename T> static inline __device__ void __stcg(T *to, T value) { *to = value; }
template <typename T> static inline __device__ void __stcs(T *to, T value) { __builtin_nontemporal_store(value, to); }
static inline __device__ void __stcs(float4 *to, float4 value) { *to = value; }
static inline __device__ void __stcs(int4 *to, int4 value) { *to = value; }
