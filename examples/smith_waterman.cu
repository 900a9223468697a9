// Local alignment of many pairs of sequences with affine gaps (Smith and Waterman, Gotoh), one pair per warp. Lanes
// hold neighbouring columns, proceed along anti-diagonals, and pass their right-hand values on by shuffles.

constexpr int WARP = 32, PER_LANE = 4, STRIPE = WARP * PER_LANE;
constexpr unsigned ALL = 0xffffffff;

struct Scoring {
  int match, mismatch, open, extend; // open and extend are the costs of a gap
};

// Sequence i is letters[starts[i]] up to letters[starts[i + 1]]. Queries are at most STRIPE letters long.
extern "C" __global__ void smith_waterman(const char *__restrict__ queries, const int *__restrict__ query_starts,
                                          const char *__restrict__ subjects, const int *__restrict__ subject_starts,
                                          int pairs, Scoring scoring, int *__restrict__ scores) {
  const int pair = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
  if (pair >= pairs)
    return;
  const char *query = queries + query_starts[pair], *subject = subjects + subject_starts[pair];
  const int columns = min(query_starts[pair + 1] - query_starts[pair], STRIPE);
  const int rows = subject_starts[pair + 1] - subject_starts[pair];

  char letter[PER_LANE];
  int above[PER_LANE], gap_above[PER_LANE]; // in the row before: the best score, and the best score ending in a gap
#pragma unroll
  for (int i = 0; i < PER_LANE; ++i) {
    const int column = lane * PER_LANE + i;
    letter[i] = column < columns ? query[column] : '\0';
    above[i] = gap_above[i] = 0;
  }

  int best = 0, corner = 0, right = 0, gap_right = 0;
  for (int step = 0; step < rows + WARP - 1; ++step) {
    int left = __shfl_up_sync(ALL, right, 1), gap_left = __shfl_up_sync(ALL, gap_right, 1);
    if (lane == 0)
      left = gap_left = 0;
    const int row = step - lane, next_corner = left;
    const bool active = row >= 0 && row < rows;
    if (active) {
      const char other = subject[row];
#pragma unroll
      for (int i = 0; i < PER_LANE; ++i) {
        const int diagonal = corner + (letter[i] == other ? scoring.match : scoring.mismatch);
        gap_left = max(gap_left - scoring.extend, left - scoring.open);
        gap_above[i] = max(gap_above[i] - scoring.extend, above[i] - scoring.open);
        corner = above[i];
        above[i] = left = max(max(diagonal, 0), max(gap_left, gap_above[i]));
        best = max(best, left);
      }
      right = left;
      gap_right = gap_left;
      corner = next_corner;
    }
  }
  for (int distance = WARP / 2; distance > 0; distance /= 2)
    best = max(best, __shfl_xor_sync(ALL, best, distance));
  if (lane == 0)
    scores[pair] = best;
}
