// Softmax over the rows of a matrix, one row per block. One pass finds the maximum and the sum of exponentials (the
// "online" form), with an optional mask and temperature as in language models.

constexpr int WARP = 32, THREADS = 256;
constexpr unsigned ALL = 0xffffffff;

// The sum of exp(x - maximum) over the elements so far.
struct Running {
  float maximum, sum;
};

static __device__ Running joined(Running a, Running b) {
  const float maximum = fmaxf(a.maximum, b.maximum);
  if (maximum == -INFINITY)
    return a; // no elements on either side: avoids a difference of infinities
  return {maximum, a.sum * __expf(a.maximum - maximum) + b.sum * __expf(b.maximum - maximum)};
}

static __device__ Running joined_warp(Running value) {
#pragma unroll
  for (int distance = WARP / 2; distance > 0; distance /= 2)
    value = joined(value, {__shfl_xor_sync(ALL, value.maximum, distance), __shfl_xor_sync(ALL, value.sum, distance)});
  return value;
}

template <bool MASKED>
static __device__ void softmax_row(const float *in, const unsigned char *mask, float *out, int columns, float scale) {
  __shared__ Running partial[THREADS / WARP];
  Running running = {-INFINITY, 0};
  for (int i = threadIdx.x; i < columns; i += THREADS)
    if (!MASKED || mask[i])
      running = joined(running, {in[i] * scale, 1});

  running = joined_warp(running);
  if (threadIdx.x % WARP == 0)
    partial[threadIdx.x / WARP] = running;
  __syncthreads();
  running = threadIdx.x % WARP < THREADS / WARP ? partial[threadIdx.x % WARP] : Running{-INFINITY, 0};
  running = joined_warp(running);

  const float factor = running.sum > 0 ? 1 / running.sum : 0;
  for (int i = threadIdx.x; i < columns; i += THREADS)
    out[i] = !MASKED || mask[i] ? __expf(in[i] * scale - running.maximum) * factor : 0;
}

extern "C" __global__ void __launch_bounds__(THREADS) softmax(const float *in, float *out, int columns, float scale) {
  const size_t row = static_cast<size_t>(blockIdx.x) * columns;
  softmax_row<false>(in + row, nullptr, out + row, columns, scale);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    masked_softmax(const float *in, const unsigned char *mask, float *out, int columns, float scale) {
  const size_t row = static_cast<size_t>(blockIdx.x) * columns;
  softmax_row<true>(in + row, mask + row, out + row, columns, scale);
}
