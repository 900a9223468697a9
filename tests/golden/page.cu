// The source that the kernel of page.html is taken to come from.
__global__ void sum(const int *in, int *out, int n) {
  const int start = threadIdx.x;
  int total = in[start];
  for (int i = start; i < n && total >= 0; i++)
    total += in[i] * start;
  *out = total;
}
