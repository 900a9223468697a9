// y = A x for a sparse matrix in compressed sparse rows, in three ways: a thread per row, a warp per row, and
// merge-path (Merrill and Garland, 2016), where threads share rows and entries evenly for any row lengths.

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffff;

// Row i has the entries starts[i] up to starts[i + 1].
struct Csr {
  const int *starts;
  const int *columns;
  const double *entries;
  int rows;
};

extern "C" __global__ void spmv_thread(Csr a, const double *__restrict__ x, double *__restrict__ y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= a.rows)
    return;
  double sum = 0;
  for (int i = a.starts[row]; i < a.starts[row + 1]; ++i)
    sum += a.entries[i] * x[a.columns[i]];
  y[row] = sum;
}

extern "C" __global__ void spmv_warp(Csr a, const double *__restrict__ x, double *__restrict__ y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
  if (row >= a.rows)
    return;
  double sum = 0;
  for (int i = a.starts[row] + lane; i < a.starts[row + 1]; i += WARP)
    sum += a.entries[i] * x[a.columns[i]];
  for (int distance = WARP / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(ALL, sum, distance);
  if (lane == 0)
    y[row] = sum;
}

// Returns the number of row ends before a diagonal, in the merge of row ends with entry numbers.
static __device__ int rows_before(const int *ends, int rows, int entries, int diagonal) {
  int low = max(diagonal - entries, 0), high = min(diagonal, rows);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (ends[middle] <= diagonal - middle - 1)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// y is zero at the start. Each thread takes `share` steps of the merge.
extern "C" __global__ void spmv_merge(Csr a, const double *__restrict__ x, double *y, int share) {
  const int *ends = a.starts + 1;
  const int entries = a.starts[a.rows], steps = a.rows + entries;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int diagonal = min(thread * share, steps), end = min(diagonal + share, steps);
  int row = rows_before(ends, a.rows, entries, diagonal), entry = diagonal - row;
  bool shared = true; // whether threads before this one add to the row
  double sum = 0;
  for (int step = diagonal; step < end; ++step) {
    if (row < a.rows && entry >= ends[row]) {
      if (shared)
        atomicAdd(&y[row], sum);
      else
        y[row] = sum;
      shared = false;
      sum = 0;
      ++row;
    } else {
      sum += a.entries[entry] * x[a.columns[entry]];
      ++entry;
    }
  }
  if (row < a.rows && sum != 0)
    atomicAdd(&y[row], sum);
}
