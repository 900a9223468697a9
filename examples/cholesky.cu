// Cholesky factors of many small matrices, one for each thread. The lower triangle of a matrix takes 253 registers, so
// intermediate results do not fit into registers.

constexpr int N = 22;
constexpr int WORDS = N * (N + 1) / 2;

// Interleaved: entry e of matrix m is at e * count + m, so that the threads of a warp read neighbours.
extern "C" __global__ void __launch_bounds__(128) cholesky(float *matrices, int count, float ridge) {
  const int matrix = blockIdx.x * blockDim.x + threadIdx.x;
  if (matrix >= count)
    return;
  float l[WORDS];
#pragma unroll
  for (int e = 0; e < WORDS; ++e)
    l[e] = matrices[static_cast<size_t>(e) * count + matrix];
#pragma unroll
  for (int column = 0; column < N; ++column) {
    l[column * (column + 1) / 2 + column] += ridge;
    const float inverse = rsqrtf(l[column * (column + 1) / 2 + column]);
#pragma unroll
    for (int row = column; row < N; ++row)
      l[row * (row + 1) / 2 + column] *= inverse;
#pragma unroll
    for (int right = column + 1; right < N; ++right)
#pragma unroll
      for (int row = right; row < N; ++row)
        l[row * (row + 1) / 2 + right] -= l[row * (row + 1) / 2 + column] * l[right * (right + 1) / 2 + column];
  }
#pragma unroll
  for (int e = 0; e < WORDS; ++e)
    matrices[static_cast<size_t>(e) * count + matrix] = l[e];
}
