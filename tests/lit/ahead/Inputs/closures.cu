// The first loop of `gather` is too long for LLVM to unroll, so its array stays in local memory.
#ifdef CHANGED
#define TURNS 6
#else
#define TURNS 5
#endif

template <typename F> __device__ float visit(float *sums, const float *from, F step) {
  float all = 0;
#pragma unroll
  for (int i = 0; i < 48; ++i) {
    sums[i] = step(sums[i], from[i * 7]) * sums[(i + 3) % 48];
    all += sums[i];
  }
  return all;
}

extern "C" __global__ void __launch_bounds__(128) gather(const float *from, float *to) {
  float sums[48];
  for (int i = 0; i < 48; ++i)
    sums[i] = from[threadIdx.x + i];
  float scale = to[threadIdx.x];
  auto step = [&](float sum, float value) { return sum * scale + value / (scale + sum); };
  for (int turn = 0; turn < TURNS; ++turn)
    scale += visit(sums, from + turn, step) + visit(sums, from + 2 * turn, step) + visit(sums, from + 3 * turn, step);
  to[threadIdx.x] = scale;
}

extern "C" __global__ void __launch_bounds__(128) scatter(const float *from, float *to) {
  to[threadIdx.x] = from[threadIdx.x] * 2;
}
