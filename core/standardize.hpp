// Running standardization of some columns: x becomes (x - mean) / deviation.
//
// Mean and sum of squares are updated row by row [Welford 1962], before the row is replaced:
//
//     n += 1;   d = x - mean;   mean += d / n;   squares += d (x - mean);   deviation^2 = squares / n
//
// so the result does not depend on how rows are cut into blocks. An entry that a CSR row leaves out
// is missing: it counts for nothing, and stays 0, which is the mean. A column without deviation
// becomes 0. Results beyond 10 deviations count as 10: in a column that is nearly always the same, the
// first values that differ would be as far away as the square root of the rows before, and would
// move the weights accordingly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace rosenblatt {

struct RunningMoments {
    static constexpr double FARTHEST = 10.0;  // deviations
    double *count, *mean, *squares;           // one entry for each column that is standardized

    double update(int64_t k, double x, bool count_it) const {
        if (count_it) {
            count[k] += 1.0;
            const double d = x - mean[k];
            mean[k] += d / count[k];
            squares[k] += d * (x - mean[k]);
        }
        if (!std::isfinite(squares[k])) return squares[k];
        const double variance = count[k] > 0.0 ? squares[k] / count[k] : 0.0;
        if (!(variance > 0.0)) return 0.0;
        return std::clamp((x - mean[k]) / std::sqrt(variance), -FARTHEST, FARTHEST);
    }
};

// Standardize rows in place; those from `first_new` on are counted. `place` has the number of each
// column among the standardized ones, or -1. Dense rows have no indptr and d columns. Returns the
// first row with a result that is not finite, or -1.
inline int64_t standardize(double* values, const int32_t* indptr, const int32_t* indices, int64_t n,
                           int64_t d, const int32_t* place, int64_t first_new,
                           const RunningMoments& moments) {
    int64_t bad = -1;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t begin = indptr ? indptr[i] : i * d, end = indptr ? indptr[i + 1] : begin + d;
        for (int64_t e = begin; e < end; ++e) {
            const int32_t k = place[indptr ? indices[e] : e - begin];
            if (k < 0) continue;
            values[e] = moments.update(k, values[e], i >= first_new);
            if (bad < 0 && !std::isfinite(values[e])) bad = i;
        }
    }
    return bad;
}

}  // namespace rosenblatt
