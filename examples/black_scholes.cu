// Prices of European options with their sensitivities by the Black-Scholes formula, and of American puts by a binomial
// tree (Cox, Ross and Rubinstein). Each thread computes one option.

struct Option {
  float spot, strike, years;
};

struct Greeks {
  float call, put, delta, gamma, vega, theta;
};

// The cumulative normal distribution, by Abramowitz and Stegun's formula 26.2.17.
static __device__ float normal(float x) {
  const float k = 1 / (1 + 0.2316419f * fabsf(x));
  const float tail =
      0.39894228f * __expf(-0.5f * x * x) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return x > 0 ? 1 - tail : tail;
}

extern "C" __global__ void black_scholes(const Option *__restrict__ options, Greeks *__restrict__ prices, int count,
                                         float rate, float volatility) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const Option option = options[i];
    const float root = sqrtf(option.years), deviation = volatility * root;
    const float d1 =
        (logf(option.spot / option.strike) + (rate + 0.5f * volatility * volatility) * option.years) / deviation;
    const float d2 = d1 - deviation;
    const float below1 = normal(d1), below2 = normal(d2);
    const float discounted = option.strike * expf(-rate * option.years);
    const float density = 0.39894228f * expf(-0.5f * d1 * d1);

    Greeks result;
    result.call = option.spot * below1 - discounted * below2;
    result.put = result.call - option.spot + discounted;
    result.delta = below1;
    result.gamma = density / (option.spot * deviation);
    result.vega = option.spot * density * root;
    result.theta = -option.spot * density * volatility / (2 * root) - rate * discounted * below2;
    prices[i] = result;
  }
}

constexpr int STEPS = 64;

extern "C" __global__ void american_put(const Option *__restrict__ options, float *__restrict__ prices, int count,
                                        float rate, float volatility) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count)
    return;
  const Option option = options[index];
  const float step = option.years / STEPS;
  const float up = expf(volatility * sqrtf(step)), down = 1 / up;
  const float growth = expf(rate * step);
  const float rise = (growth - down) / (up - down) / growth, fall = 1 / growth - rise;

  float value[STEPS + 1];
  float price = option.spot * powf(down, STEPS);
  for (int i = 0; i <= STEPS; ++i, price *= up * up)
    value[i] = fmaxf(option.strike - price, 0);
  for (int last = STEPS - 1; last >= 0; --last) {
    price = option.spot * powf(down, last);
    for (int i = 0; i <= last; ++i, price *= up * up)
      value[i] = fmaxf(rise * value[i + 1] + fall * value[i], option.strike - price); // kept, or exercised
  }
  prices[index] = value[0];
}
