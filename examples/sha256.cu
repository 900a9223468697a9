// SHA-256 of many messages, one for each thread, and a proof-of-work search over a block header's nonce.

static __constant__ unsigned K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static __device__ unsigned rotate(unsigned x, int by) { return __funnelshift_r(x, x, by); }

struct State {
  unsigned h[8];
};

static __device__ State initial() {
  return {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

// Compresses one block of 16 words. The message schedule is a ring of 16 words, extended in place.
static __device__ __forceinline__ State compress(State state, unsigned (&w)[16]) {
  unsigned a = state.h[0], b = state.h[1], c = state.h[2], d = state.h[3];
  unsigned e = state.h[4], f = state.h[5], g = state.h[6], h = state.h[7];
#pragma unroll 1
  for (int round = 0; round < 64; round += 16) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      if (round > 0) {
        const unsigned x = w[(i + 1) % 16], y = w[(i + 14) % 16];
        w[i] += w[(i + 9) % 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
      }
      const unsigned choose = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
      const unsigned first = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choose + K[round + i] + w[i];
      const unsigned second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
  }
  const unsigned sum[8] = {a, b, c, d, e, f, g, h};
#pragma unroll
  for (int i = 0; i < 8; ++i)
    state.h[i] += sum[i];
  return state;
}

// The padded messages have `blocks` blocks each, with words in big-endian order. A digest has 8 words.
extern "C" __global__ void sha256(const unsigned *messages, int count, int blocks, unsigned *digests) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count)
    return;
  State state = initial();
  for (int block = 0; block < blocks; ++block) {
    unsigned w[16];
#pragma unroll
    for (int i = 0; i < 16; ++i)
      w[i] = messages[(index * blocks + block) * 16 + i];
    state = compress(state, w);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
    digests[index * 8 + i] = state.h[i];
}

// SHA-256 twice over an 80-byte header. `middle` is the state after the first 64 bytes, and `tail` the rest without the
// nonce. Writes a nonce if the leading word of its hash is at most `target`.
extern "C" __global__ void search_nonce(State middle, uint3 tail, unsigned first, unsigned target, unsigned *found) {
  const unsigned nonce = first + blockIdx.x * blockDim.x + threadIdx.x;
  unsigned w[16] = {tail.x, tail.y, tail.z, nonce, 0x80000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 640};
  const State inner = compress(middle, w);
  unsigned second[16] = {inner.h[0], inner.h[1], inner.h[2], inner.h[3], inner.h[4], inner.h[5], inner.h[6], inner.h[7],
                         0x80000000, 0,          0,          0,          0,          0,          0,          256};
  if (__byte_perm(compress(initial(), second).h[7], 0, 0x0123) <= target)
    *found = nonce;
}
