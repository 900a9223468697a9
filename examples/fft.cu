// A batch of complex Fourier transforms of 512 points: three passes of radix 8. A block of 64 threads computes a
// transform, with eight points per thread in registers, and transposes through shared memory between passes.

constexpr int POINTS = 512, RADIX = 8, THREADS = POINTS / RADIX;

static __device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
static __device__ float2 operator*(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Multiplies by -i (forwards) or by i (backwards).
template <int DIRECTION> static __device__ float2 quarter(float2 a) {
  return make_float2(-DIRECTION * a.y, DIRECTION * a.x);
}

static __device__ void butterfly(float2 &a, float2 &b) {
  const float2 difference = a - b;
  a = a + b;
  b = difference;
}

template <int DIRECTION> static __device__ void radix4(float2 &a, float2 &b, float2 &c, float2 &d) {
  butterfly(a, c);
  butterfly(b, d);
  d = quarter<DIRECTION>(d);
  butterfly(a, b);
  butterfly(c, d);
}

// Transforms eight points in place. The results are in bit-reversed order.
template <int DIRECTION> static __device__ void radix8(float2 (&v)[RADIX]) {
  const float half = 0.70710678f;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    butterfly(v[i], v[i + 4]);
  v[5] = v[5] * make_float2(half, DIRECTION * half);
  v[6] = quarter<DIRECTION>(v[6]);
  v[7] = v[7] * make_float2(-half, DIRECTION * half);
  radix4<DIRECTION>(v[0], v[1], v[2], v[3]);
  radix4<DIRECTION>(v[4], v[5], v[6], v[7]);
}

static __device__ constexpr int reversed(int i) { return (i & 1) << 2 | (i & 2) | i >> 2; }

template <int DIRECTION> static __device__ void twiddle(float2 (&v)[RADIX], float angle) {
#pragma unroll
  for (int i = 1; i < RADIX; ++i) {
    float2 factor;
    __sincosf(DIRECTION * angle * reversed(i), &factor.y, &factor.x);
    v[i] = v[i] * factor;
  }
}

// Stores point reversed(i) of each thread from index `to` on and loads point i from index `from` on. Exchanges one
// component at a time, which halves the shared memory.
static __device__ void exchange(float2 (&v)[RADIX], float *shared, int to, int to_stride, int from, int from_stride) {
#pragma unroll
  for (int component = 0; component < 2; ++component) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < RADIX; ++i)
      shared[to + reversed(i) * to_stride] = component ? v[i].y : v[i].x;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < RADIX; ++i)
      (component ? v[i].y : v[i].x) = shared[from + i * from_stride];
  }
}

template <int DIRECTION> static __device__ void transform(float2 *data) {
  __shared__ float shared[RADIX * (THREADS + RADIX)]; // padded: neighbours are in different banks
  const float turn = 6.2831853f;
  const int thread = threadIdx.x, high = thread / RADIX, low = thread % RADIX;
  data += static_cast<size_t>(blockIdx.x) * POINTS;

  float2 v[RADIX];
#pragma unroll
  for (int i = 0; i < RADIX; ++i)
    v[i] = data[thread + i * THREADS];

  radix8<DIRECTION>(v);
  twiddle<DIRECTION>(v, turn / POINTS * thread);
  exchange(v, shared, high * RADIX + low, THREADS + RADIX, high * (THREADS + RADIX) + low, RADIX);

  radix8<DIRECTION>(v);
  twiddle<DIRECTION>(v, turn / THREADS * low);
  exchange(v, shared, high * (THREADS + RADIX) + low, RADIX, high * (THREADS + RADIX) + low * RADIX, 1);

  radix8<DIRECTION>(v);
#pragma unroll
  for (int i = 0; i < RADIX; ++i)
    data[thread + reversed(i) * THREADS] = v[i];
}

extern "C" __global__ void __launch_bounds__(THREADS) fft(float2 *data) { transform<-1>(data); }

extern "C" __global__ void __launch_bounds__(THREADS) inverse_fft(float2 *data) { transform<1>(data); }
