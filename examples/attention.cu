// Attention without the matrix of scores (Dao et al., "FlashAttention", 2022): keys and values pass through shared
// memory in tiles, and each query's output is rescaled whenever a larger score appears.

constexpr int HEAD = 64;    // length of a query, key and value
constexpr int QUERIES = 64; // per block; four threads share a query, and each has a quarter of its vector
constexpr int KEYS = 32;    // per tile
constexpr int PARTS = 4, PART = HEAD / PARTS;
constexpr int THREADS = QUERIES * PARTS;
constexpr unsigned ALL = 0xffffffff;

// Matrices of one head are `length` rows of HEAD values; heads follow each other, one per block in y.
template <bool CAUSAL>
static __device__ void attend(const float *q, const float *k, const float *v, float *out, int length, float scale) {
  __shared__ float keys[KEYS][HEAD], values[KEYS][HEAD];
  const size_t head = static_cast<size_t>(blockIdx.y) * length * HEAD;
  const int query = blockIdx.x * QUERIES + threadIdx.x / PARTS, part = threadIdx.x % PARTS;
  const bool inside = query < length;
  k += head, v += head;

  float mine[PART], sum[PART] = {};
  const float *from = q + head + static_cast<size_t>(inside ? query : 0) * HEAD + part * PART;
#pragma unroll
  for (int i = 0; i < PART; ++i)
    mine[i] = from[i] * scale;

  float maximum = -INFINITY, weight = 0;
  const int last = CAUSAL ? min(length, static_cast<int>(blockIdx.x + 1) * QUERIES) : length;
  for (int first = 0; first < last; first += KEYS) {
    __syncthreads();
    for (int i = threadIdx.x; i < KEYS * HEAD; i += THREADS) {
      const bool exists = first + i / HEAD < length;
      keys[i / HEAD][i % HEAD] = exists ? k[static_cast<size_t>(first) * HEAD + i] : 0;
      values[i / HEAD][i % HEAD] = exists ? v[static_cast<size_t>(first) * HEAD + i] : 0;
    }
    __syncthreads();

    const int count = min(KEYS, (CAUSAL ? min(length, query + 1) : length) - first);
    for (int key = 0; key < KEYS; ++key) {
      float score = 0;
#pragma unroll
      for (int i = 0; i < PART; ++i)
        score += mine[i] * keys[key][part * PART + i];
      score += __shfl_xor_sync(ALL, score, 1);
      score += __shfl_xor_sync(ALL, score, 2);
      if (key >= count)
        continue; // every thread must take part in the shuffles

      if (score > maximum) {
        const float rescale = __expf(maximum - score);
        maximum = score;
        weight *= rescale;
#pragma unroll
        for (int i = 0; i < PART; ++i)
          sum[i] *= rescale;
      }
      const float p = __expf(score - maximum);
      weight += p;
#pragma unroll
      for (int i = 0; i < PART; ++i)
        sum[i] += p * values[key][part * PART + i];
    }
  }

  if (!inside)
    return;
  float *to = out + head + static_cast<size_t>(query) * HEAD + part * PART;
#pragma unroll
  for (int i = 0; i < PART; ++i)
    to[i] = sum[i] / weight;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    attention(const float *q, const float *k, const float *v, float *out, int length, float scale) {
  attend<false>(q, k, v, out, length, scale);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    causal_attention(const float *q, const float *k, const float *v, float *out, int length, float scale) {
  attend<true>(q, k, v, out, length, scale);
}
