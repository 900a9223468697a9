// Kernels that lints report; with -DMENDED, the same kernels with the remedies applied. docs/sass.md has the figures.
//   nvcc -ptx -lineinfo -O3 -arch=sm_90a tests/bench/lints.cu -o lints.ptx
//   nvcc -ptx -lineinfo -O3 -arch=sm_90a -DMENDED tests/bench/lints.cu -o mended.ptx
//   nvptx-ra report --sass --lint lints.ptx
//   nvptx-ra report --sass --diff lints.ptx mended.ptx

#ifdef MENDED
#define AS_IS_OR(as_is, mended) mended
#else
#define AS_IS_OR(as_is, mended) as_is
#endif

// Sums of products of N values. All values stay live.
template <int N> __device__ __forceinline__ void outer(float *out, const float *in, int rounds) {
  float sums[N] = {};
  for (int round = 0; round < rounds; ++round) {
    float factor = in[round];
#pragma unroll
    for (int i = 0; i < N; ++i)
      sums[i] = sums[i] * factor + in[round + i + 1];
  }
#pragma unroll
  for (int i = 0; i < N; ++i)
    out[i * blockDim.x + threadIdx.x] = sums[i];
}

// ignored-bounds
extern "C" __global__ void __launch_bounds__(1024, AS_IS_OR(4, 2)) ignored_bounds(float *out, const float *in, int rounds) {
  outer<16>(out, in, rounds);
}

// needless-spills
extern "C" __global__ void __maxnreg__(AS_IS_OR(34, 40)) needless_spills(volatile float *out, volatile const float *in) {
  float values[32];
#pragma unroll
  for (int i = 0; i < 32; ++i)
    values[i] = in[i * 256 + threadIdx.x];
#pragma unroll
  for (int i = 0; i < 32; ++i)
    out[(31 - i) * 256 + threadIdx.x] = values[i];
}

// local-array
extern "C" __global__ void __launch_bounds__(256) local_array(int *counts, const int *in, int n) {
#ifdef MENDED
  __shared__ int bins[32][256];
  auto bin = [&](int i) -> int & { return bins[i][threadIdx.x]; };
#else
  int bins[32];
  auto bin = [&](int i) -> int & { return bins[i]; };
#endif
  for (int i = 0; i < 32; ++i)
    bin(i) = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    ++bin(in[i] & 31);
  for (int i = 0; i < 32; ++i)
    atomicAdd(&counts[i], bin(i));
}

// not-inlined
__device__ AS_IS_OR(__noinline__, __forceinline__) void rotate(float *values) {
  float first = values[0];
  for (int i = 0; i < 7; ++i)
    values[i] = values[i + 1] * first;
  values[7] = first;
}

extern "C" __global__ void __launch_bounds__(256) not_inlined(float *out, const float *in, int rounds) {
  float values[8];
  for (int i = 0; i < 8; ++i)
    values[i] = in[i * blockDim.x + threadIdx.x];
  for (int round = 0; round < rounds; ++round)
    rotate(values);
  for (int i = 0; i < 8; ++i)
    out[i * blockDim.x + threadIdx.x] = values[i];
}

// abi-call
__device__ AS_IS_OR(__noinline__, __forceinline__) float step(float x, float y) { return x * y + 1.0f; }

extern "C" __global__ void __launch_bounds__(256) abi_call(float *out, const float *in, int rounds) {
  float x = in[threadIdx.x];
  for (int round = 0; round < rounds; ++round)
    x = step(x, in[round]);
  out[threadIdx.x] = x;
}

// ignored-setmaxnreg
#ifdef MENDED
#define LAUNCH_384 __launch_bounds__(384, 1)
#else
#define LAUNCH_384 __launch_bounds__(384)
#endif

extern "C" __global__ void LAUNCH_384 ignored_setmaxnreg(float *out, const float *in, int rounds) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  outer<90>(out, in, rounds);
}
