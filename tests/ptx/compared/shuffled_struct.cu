#include <cuda/warp>
struct Item { short key; float value; char tag; };
extern "C" __global__ void __launch_bounds__(64) shuf(const short *k, const float *v, Item *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  Item x; x.key = k[i]; x.value = v[i]; x.tag = (char)(i + 1);
  Item r = cuda::device::warp_shuffle_down(x, 1).data;
  Item q = cuda::device::warp_shuffle_xor(r, 2).data;
  q.value += r.value; q.key ^= 5;
  out[i] = q;
}
