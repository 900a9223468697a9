// Reductions of a large array: a sum with Kahan's compensation, and the smallest element with its index. Each thread
// strides over the grid. Shuffles combine a warp, shared memory a block, and atomics the grid.

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffff;

struct Compensated {
  float sum, lost;

  __device__ static Compensated neutral() { return {0, 0}; }
  __device__ Compensated shuffled(int distance) const {
    return {__shfl_down_sync(ALL, sum, distance), __shfl_down_sync(ALL, lost, distance)};
  }
  __device__ Compensated with(float term) const {
    const float y = __fsub_rn(term, lost), t = __fadd_rn(sum, y);
    return {t, __fsub_rn(__fsub_rn(t, sum), y)};
  }
  __device__ Compensated combined(Compensated other) const { return with(other.sum).with(-other.lost); }
};

struct Place {
  float value;
  int index;

  __device__ static Place neutral() { return {__int_as_float(0x7f800000), 0x7fffffff}; }
  __device__ Place shuffled(int distance) const {
    return {__shfl_down_sync(ALL, value, distance), __shfl_down_sync(ALL, index, distance)};
  }
  __device__ Place combined(Place other) const { // the first of equal values
    Place first = *this;
    if (other.value < value || (other.value == value && other.index < index))
      first = other;
    return first;
  }
};

template <typename Value> static __device__ Value reduce_warp(Value value) {
#pragma unroll
  for (int distance = WARP / 2; distance > 0; distance /= 2)
    value = value.combined(value.shuffled(distance));
  return value;
}

// Only the block's first thread gets the result.
template <typename Value> static __device__ Value reduce_block(Value value) {
  __shared__ Value partial[WARP];
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  value = reduce_warp(value);
  if (lane == 0)
    partial[warp] = value;
  __syncthreads();
  if (warp != 0)
    return Value::neutral();
  return reduce_warp(lane < blockDim.x / WARP ? partial[lane] : Value::neutral());
}

extern "C" __global__ void sum(const float4 *__restrict__ values, int quads, float *result) {
  Compensated total = Compensated::neutral();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const float4 quad = values[i];
    total = total.with(quad.x).with(quad.y).with(quad.z).with(quad.w);
  }
  total = reduce_block(total);
  if (threadIdx.x == 0)
    atomicAdd(result, total.sum);
}

// One Place per block.
extern "C" __global__ void smallest(const float *__restrict__ values, int count, Place *result) {
  Place best = Place::neutral();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    best = best.combined({values[i], i});
  best = reduce_block(best);
  if (threadIdx.x == 0)
    result[blockIdx.x] = best;
}
