// Sorts blocks of 2048 keys with their values by a bitonic network in shared memory. Each thread has two elements.

constexpr int SIZE = 2048, THREADS = SIZE / 2;

static __device__ void order(unsigned &key, unsigned &value, unsigned &other_key, unsigned &other_value,
                             bool ascending) {
  if ((key > other_key) != ascending)
    return;
  const unsigned k = key, v = value;
  key = other_key;
  value = other_value;
  other_key = k;
  other_value = v;
}

extern "C" __global__ void __launch_bounds__(THREADS) bitonic_sort(unsigned *keys, unsigned *values, bool ascending) {
  __shared__ unsigned k[SIZE], v[SIZE];
  const unsigned thread = threadIdx.x;
  keys += static_cast<size_t>(blockIdx.x) * SIZE;
  values += static_cast<size_t>(blockIdx.x) * SIZE;
  for (int half = 0; half < 2; ++half) {
    k[thread + half * THREADS] = keys[thread + half * THREADS];
    v[thread + half * THREADS] = values[thread + half * THREADS];
  }

  for (unsigned size = 2; size <= SIZE; size *= 2) {
    const bool direction = size == SIZE ? ascending : ascending ^ ((thread & size / 2) != 0);
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const unsigned at = 2 * thread - (thread & stride - 1);
      order(k[at], v[at], k[at + stride], v[at + stride], direction);
    }
  }

  __syncthreads();
  for (int half = 0; half < 2; ++half) {
    keys[thread + half * THREADS] = k[thread + half * THREADS];
    values[thread + half * THREADS] = v[thread + half * THREADS];
  }
}
