// C = alpha A B + beta C in single precision. A block computes a tile of 128 by 128, and a thread 8 by 8 of it in
// registers. The next slices of A and B are loaded while the current ones are multiplied.

constexpr int TILE = 128; // rows and columns of C per block
constexpr int DEPTH = 8;  // columns of A per slice
constexpr int PER_THREAD = 8;
constexpr int THREADS = (TILE / PER_THREAD) * (TILE / PER_THREAD);

// Row-major matrices; m, n and k are multiples of the tile's sides.
extern "C" __global__ void __launch_bounds__(THREADS)
    gemm(int m, int n, int k, float alpha, const float *__restrict__ a, const float *__restrict__ b, float beta,
         float *c) {
  __shared__ float a_slice[2][DEPTH][TILE];
  __shared__ float b_slice[2][DEPTH][TILE];

  const int thread = threadIdx.x;
  const int row = (thread / (TILE / PER_THREAD)) * PER_THREAD;
  const int column = (thread % (TILE / PER_THREAD)) * PER_THREAD;

  // Each thread loads four neighbours of A (transposed on the way) and four of B.
  const int a_row = thread / 2, a_column = (thread % 2) * 4;
  const int b_row = thread / 32, b_column = (thread % 32) * 4;
  a += (blockIdx.y * TILE + a_row) * k + a_column;
  b += b_row * n + blockIdx.x * TILE + b_column;

  auto store = [&](int buffer, float4 from_a, float4 from_b) {
    a_slice[buffer][a_column + 0][a_row] = from_a.x;
    a_slice[buffer][a_column + 1][a_row] = from_a.y;
    a_slice[buffer][a_column + 2][a_row] = from_a.z;
    a_slice[buffer][a_column + 3][a_row] = from_a.w;
    b_slice[buffer][b_row][b_column + 0] = from_b.x;
    b_slice[buffer][b_row][b_column + 1] = from_b.y;
    b_slice[buffer][b_row][b_column + 2] = from_b.z;
    b_slice[buffer][b_row][b_column + 3] = from_b.w;
  };

  float sum[PER_THREAD][PER_THREAD] = {};
  store(0, *reinterpret_cast<const float4 *>(a), *reinterpret_cast<const float4 *>(b));
  __syncthreads();

  int buffer = 0;
  for (int slice = 0; slice < k; slice += DEPTH) {
    const bool more = slice + DEPTH < k;
    float4 next_a = {}, next_b = {};
    if (more) {
      a += DEPTH;
      b += DEPTH * n;
      next_a = *reinterpret_cast<const float4 *>(a);
      next_b = *reinterpret_cast<const float4 *>(b);
    }
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
      float left[PER_THREAD], right[PER_THREAD];
#pragma unroll
      for (int i = 0; i < PER_THREAD; ++i) {
        left[i] = a_slice[buffer][d][row + i];
        right[i] = b_slice[buffer][d][column + i];
      }
#pragma unroll
      for (int i = 0; i < PER_THREAD; ++i)
#pragma unroll
        for (int j = 0; j < PER_THREAD; ++j)
          sum[i][j] += left[i] * right[j];
    }
    if (more) {
      buffer ^= 1;
      store(buffer, next_a, next_b);
      __syncthreads();
    }
  }

  c += (blockIdx.y * TILE + row) * n + blockIdx.x * TILE + column;
#pragma unroll
  for (int i = 0; i < PER_THREAD; ++i)
#pragma unroll
    for (int j = 0; j < PER_THREAD; ++j)
      c[i * n + j] = alpha * sum[i][j] + beta * c[i * n + j];
}
