// One step of a gravitational n-body simulation: all pairs, bodies staged through shared memory, leapfrog integration.

constexpr int TILE = 256;

static __device__ float3 attract(float3 acceleration, float4 body, float4 other, float softening) {
  const float x = other.x - body.x, y = other.y - body.y, z = other.z - body.z;
  const float inverse = rsqrtf(x * x + y * y + z * z + softening);
  const float pull = other.w * inverse * inverse * inverse;
  acceleration.x += x * pull;
  acceleration.y += y * pull;
  acceleration.z += z * pull;
  return acceleration;
}

// A position's fourth component is the mass. `bodies` need not be a multiple of the tile.
extern "C" __global__ void __launch_bounds__(TILE)
    nbody_step(const float4 *__restrict__ position, float4 *__restrict__ next, float4 *velocity, int bodies, float dt,
               float softening) {
  __shared__ float4 tile[TILE];
  const int index = blockIdx.x * TILE + threadIdx.x;
  const float4 body = index < bodies ? position[index] : make_float4(0, 0, 0, 0);
  float3 acceleration = make_float3(0, 0, 0);

  for (int first = 0; first < bodies; first += TILE) {
    const int other = first + threadIdx.x;
    tile[threadIdx.x] = other < bodies ? position[other] : make_float4(0, 0, 0, 0); // zero mass: no force
    __syncthreads();
#pragma unroll 16
    for (int i = 0; i < TILE; ++i)
      acceleration = attract(acceleration, body, tile[i], softening);
    __syncthreads();
  }
  if (index >= bodies)
    return;

  float4 v = velocity[index];
  v.x += acceleration.x * dt;
  v.y += acceleration.y * dt;
  v.z += acceleration.z * dt;
  velocity[index] = v;
  next[index] = make_float4(body.x + v.x * dt, body.y + v.y * dt, body.z + v.z * dt, body.w);
}
