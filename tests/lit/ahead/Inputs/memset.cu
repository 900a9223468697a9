// Adjacent stores of zeroes. When clang compiles CUDA, it merges them into one memset, which becomes a loop.
struct Point {
  unsigned x[48];
};

extern "C" __global__ void clear(Point *points, int n) {
  Point point;
#pragma unroll
  for (int i = 0; i < 48; ++i)
    point.x[i] = 0;
  if (n > 0)
    point.x[n % 48] = n;
  points[threadIdx.x] = point;
}
