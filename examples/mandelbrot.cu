// The Mandelbrot set with smooth colours, in double precision, with the usual checks of renderers: the main cardioid
// and bulb are known, and an orbit that repeats never escapes (Brent's cycle detection).

struct View {
  double left, top, step;
  int width, height, limit;
};

static __device__ bool known_inside(double x, double y) {
  const double q = (x - 0.25) * (x - 0.25) + y * y;
  return q * (q + (x - 0.25)) <= 0.25 * y * y || (x + 1) * (x + 1) + y * y <= 0.0625;
}

// Returns the number of steps to escape, with a fraction. Negative if the point never escapes.
static __device__ float escape(double cx, double cy, int limit) {
  if (known_inside(cx, cy))
    return -1;
  double x = 0, y = 0, seen_x = 0, seen_y = 0;
  int period = 0, window = 8;
  for (int n = 0; n < limit; ++n) {
    const double xx = x * x, yy = y * y;
    if (xx + yy > 256)
      return n + 1 - log2f(0.5f * log2f(static_cast<float>(xx + yy)));
    y = 2 * x * y + cy;
    x = xx - yy + cx;
    if (x == seen_x && y == seen_y)
      return -1;
    if (++period == window) {
      period = 0;
      window *= 2;
      seen_x = x;
      seen_y = y;
    }
  }
  return -1;
}

extern "C" __global__ void mandelbrot(View view, uchar4 *pixels) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= view.width || py >= view.height)
    return;
  const float steps = escape(view.left + px * view.step, view.top - py * view.step, view.limit);
  uchar4 colour = make_uchar4(0, 0, 0, 255);
  if (steps >= 0) {
    const float hue = 0.05f * steps;
    colour.x = static_cast<unsigned char>(127.5f + 127.5f * __cosf(hue));
    colour.y = static_cast<unsigned char>(127.5f + 127.5f * __cosf(hue + 2.1f));
    colour.z = static_cast<unsigned char>(127.5f + 127.5f * __cosf(hue + 4.2f));
  }
  pixels[py * view.width + px] = colour;
}
