// Whether all numbers of an array are finite.
#pragma once

#include <cstdint>

namespace rosenblatt {

// x - x is 0 for a finite x and NaN otherwise, and a sum with a NaN is NaN. The lanes let the
// compiler use vectors, so that reading memory is all it costs.
template <class T>
inline bool all_finite(const T* values, int64_t n) {
    constexpr int64_t LANES = 128 / sizeof(T);
    T sum[LANES] = {};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int64_t l = 0; l < LANES; ++l) sum[l] += values[j + l] - values[j + l];
    for (; j < n; ++j) sum[0] += values[j] - values[j];
    T total = 0;
    for (int64_t l = 0; l < LANES; ++l) total += sum[l];
    return total == 0;
}

}  // namespace rosenblatt
