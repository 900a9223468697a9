// ptxas spills in `spills`: 120 values are live, and 64 registers are allowed. The plugin shortens `subtract`.

__global__ void __launch_bounds__(1024) spills(int *data) {
  int values[120];
#pragma unroll
  for (int i = 0; i < 120; ++i)
    values[i] = data[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 120; ++i)
    data[i * 1024 + threadIdx.x] = values[i] + values[119 - i];
}

__global__ void subtract(unsigned *data, unsigned other) { data[threadIdx.x] = __vsubss4(data[threadIdx.x], other); }
