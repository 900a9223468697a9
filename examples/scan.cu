// An inclusive prefix sum in one pass over memory, by decoupled look-back (Merrill and Garland, 2016). A tile publishes
// its sum at once. It then walks back over its predecessors until it finds a tile with a complete prefix.

constexpr int THREADS = 256, PER_THREAD = 8, TILE = THREADS * PER_THREAD;
constexpr int WARP = 32, WARPS = THREADS / WARP;
constexpr unsigned ALL = 0xffffffff;

enum Status : unsigned { NOTHING, TILE_SUM, PREFIX };

static __device__ unsigned long long packed(Status status, int value) {
  return static_cast<unsigned long long>(status) << 32 | static_cast<unsigned>(value);
}

static __device__ int scan_warp(int value, int lane) {
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    const int left = __shfl_up_sync(ALL, value, distance);
    if (lane >= distance)
      value += left;
  }
  return value;
}

// Returns the sum of all tiles before `tile`. One warp runs it, on 32 tiles at a time.
static __device__ int look_back(volatile unsigned long long *tiles, int tile, int lane) {
  int before = 0;
  for (int last = tile - 1;; last -= WARP) {
    const int at = last - lane;
    unsigned long long state;
    do
      state = at < 0 ? packed(PREFIX, 0) : tiles[at];
    while (__any_sync(ALL, state >> 32 == NOTHING));
    const unsigned whole = __ballot_sync(ALL, state >> 32 == PREFIX);
    const int nearest = __ffs(whole) - 1; // -1 if there is none
    int part = nearest < 0 || lane <= nearest ? static_cast<int>(state) : 0;
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2)
      part += __shfl_xor_sync(ALL, part, distance);
    before += part;
    if (whole)
      return before;
  }
}

// `tiles` and `ticket` are zero at the start. Tiles are numbered in the order in which blocks begin.
extern "C" __global__ void __launch_bounds__(THREADS)
    prefix_sum(const int *__restrict__ in, int *__restrict__ out, int count, unsigned long long *tiles, int *ticket) {
  __shared__ int shared_tile, shared_before, warp_sums[WARPS];
  if (threadIdx.x == 0)
    shared_tile = atomicAdd(ticket, 1);
  __syncthreads();
  const int tile = shared_tile, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int first = tile * TILE + threadIdx.x * PER_THREAD;

  int values[PER_THREAD], sum = 0;
#pragma unroll
  for (int i = 0; i < PER_THREAD; ++i) {
    sum += first + i < count ? in[first + i] : 0;
    values[i] = sum;
  }
  const int through = scan_warp(sum, lane);
  if (lane == WARP - 1)
    warp_sums[warp] = through;
  __syncthreads();

  if (warp == 0) {
    const int sums = scan_warp(lane < WARPS ? warp_sums[lane] : 0, lane);
    if (lane < WARPS)
      warp_sums[lane] = sums;
    const int whole = __shfl_sync(ALL, sums, WARPS - 1);
    if (lane == 0 && tile > 0)
      atomicExch(&tiles[tile], packed(TILE_SUM, whole));
    const int before = tile > 0 ? look_back(tiles, tile, lane) : 0;
    if (lane == 0) {
      atomicExch(&tiles[tile], packed(PREFIX, before + whole));
      shared_before = before;
    }
  }
  __syncthreads();

  const int offset = shared_before + (warp > 0 ? warp_sums[warp - 1] : 0) + through - sum;
#pragma unroll
  for (int i = 0; i < PER_THREAD; ++i)
    if (first + i < count)
      out[first + i] = offset + values[i];
}
