// MinOver: the row of smallest margin is added, to optimal stability  [Krauth, Mezard 1987].
//
// With z_i = y_i (x_i, 1), or y_i x_i without an offset, and w including the offset:
//
//     w += z_i,   i = argmin_i z_i.w   (the first on a tie)
//
// M steps from w = 0 give w = sum_i counts_i z_i and, for the best direction u with |u| = 1,
// |w| >= w.u >= M gamma. So min_i z_i.w / |w| <= gamma <= |w| / M, and the run ends when
// M min_i z_i.w >= (1 - gap) |w|^2.
//
// A step does not touch w: margins follow by z_k.w += z_k.z_i, a column of the Gram matrix. It is
// computed when row i is first chosen (few rows ever are) and kept while there is room; beyond that
// it is computed again. At the end of an epoch, and before anything is claimed, w is summed from
// the counts and all margins from w, so that rounding errors do not accumulate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rules.hpp"
#include "state.hpp"

namespace rosenblatt {

struct MinOver {
    double gap = 0.01;
    int64_t steps_per_epoch = 10000;
    int64_t kept_columns = 0;  // how many columns of the Gram matrix may be kept
    Tie tie = Tie::mistake;
    bool intercept = true;

    double steps = 0.0;               // M
    double square = 0.0;              // |w|^2
    double longest = 0.0;             // max |z_i|
    double lower = 0.0, upper = 0.0;  // the largest margin lies between
    double chosen = 0.0;              // rows that were chosen so far
    double again = 0.0;               // step from which the interval is tested again
    std::vector<int64_t> counts;      // how often each row was added
    std::vector<double> moments;      // sum of the visits at which it was added, for the average
    std::vector<double> margins;      // inf for a row that takes no part; padded to whole blocks
    std::vector<std::vector<double>> columns;
    std::vector<double> spare;  // a column that is not kept
    std::vector<int32_t> slot;  // where the column of a row is, or -1
    std::vector<double> sum;    // room for d numbers
};

constexpr int64_t MARGIN_BLOCK = 16;

// n rounded up to whole blocks of margins
constexpr size_t minover_padded(size_t n) {
    return (n + MARGIN_BLOCK - 1) / MARGIN_BLOCK * MARGIN_BLOCK;
}
constexpr double LARGEST_PRODUCT = 1e280;  // sums of smaller products do not overflow

// margins += column; the smallest margin and its first row.
inline Found add_column(std::vector<double>& margins, const std::vector<double>& column) {
    double z = std::numeric_limits<double>::infinity();
    int64_t best = 0;
    const int64_t n = static_cast<int64_t>(margins.size());
    double* m = margins.data();
    const double* c = column.data();
    for (int64_t first = 0; first < n; first += MARGIN_BLOCK) {
        double low[8];
        for (int l = 0; l < 8; ++l) low[l] = m[first + l] += c[first + l];
        for (int l = 0; l < 8; ++l) {
            const double now = m[first + 8 + l] += c[first + 8 + l];
            low[l] = now < low[l] ? now : low[l];
        }
        for (int h = 4; h; h /= 2)
            for (int l = 0; l < h; ++l) low[l] = low[l + h] < low[l] ? low[l + h] : low[l];
        if (!(low[0] < z)) continue;  // few blocks hold a new lowest margin
        for (int64_t k = first; k < first + MARGIN_BLOCK; ++k)
            if (m[k] < z) {
                z = m[k];
                best = k;
            }
    }
    return {best, z};
}

// The smallest margin and its first row; inf if there are no rows.
inline Found lowest(const std::vector<double>& margins) {
    const auto it = std::min_element(margins.begin(), margins.end());
    if (it == margins.end()) return {0, std::numeric_limits<double>::infinity()};
    return {it - margins.begin(), *it};
}

}  // namespace rosenblatt
