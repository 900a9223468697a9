// An acoustic wave's time step: the 8th-order Laplacian on a 3-D grid. A block marches along z. Each thread keeps the
// nine values of its column in registers and shifts them from plane to plane.

constexpr int RADIUS = 4;
constexpr int WIDTH = 32, HEIGHT = 16;

static __constant__ float WEIGHT[RADIUS + 1] = {-2.847222f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};

// The grid has `nz` planes of `ny` rows of `nx` points, each with a halo of RADIUS points on every side.
extern "C" __global__ void __launch_bounds__(WIDTH *HEIGHT)
    wave_step(const float *__restrict__ now, const float *__restrict__ speed, float *__restrict__ next, int nx, int ny,
              int nz) {
  __shared__ float plane[HEIGHT + 2 * RADIUS][WIDTH + 2 * RADIUS];
  const int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
  const int row = nx + 2 * RADIUS;
  const size_t layer = static_cast<size_t>(row) * (ny + 2 * RADIUS);
  const bool inside = x < nx && y < ny;
  size_t at = static_cast<size_t>(min(y, ny - 1) + RADIUS) * row + min(x, nx - 1) + RADIUS; // in the first halo plane

  float column[2 * RADIUS + 1];
#pragma unroll
  for (int i = 0; i < 2 * RADIUS; ++i)
    column[i + 1] = now[at + i * layer];
  at += RADIUS * layer;

  const int sx = threadIdx.x + RADIUS, sy = threadIdx.y + RADIUS;
  for (int z = 0; z < nz; ++z, at += layer) {
#pragma unroll
    for (int i = 0; i < 2 * RADIUS; ++i)
      column[i] = column[i + 1];
    column[2 * RADIUS] = now[at + RADIUS * layer];

    __syncthreads();
    plane[sy][sx] = column[RADIUS];
    if (threadIdx.x < RADIUS) {
      plane[sy][threadIdx.x] = now[at - RADIUS];
      plane[sy][sx + WIDTH] = now[at + min(WIDTH, nx - 1 - min(x, nx - 1) + RADIUS)];
    }
    if (threadIdx.y < RADIUS) {
      plane[threadIdx.y][sx] = now[at - static_cast<size_t>(RADIUS) * row];
      plane[sy + HEIGHT][sx] = now[at + static_cast<size_t>(min(HEIGHT, ny - 1 - min(y, ny - 1) + RADIUS)) * row];
    }
    __syncthreads();

    float laplacian = 3 * WEIGHT[0] * column[RADIUS];
#pragma unroll
    for (int i = 1; i <= RADIUS; ++i)
      laplacian += WEIGHT[i] * (plane[sy][sx - i] + plane[sy][sx + i] + plane[sy - i][sx] + plane[sy + i][sx] +
                                column[RADIUS - i] + column[RADIUS + i]);
    if (inside)
      next[at] = 2 * column[RADIUS] - next[at] + speed[at] * laplacian;
  }
}
