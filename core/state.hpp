// The weights of a model and the counts of a run. Python owns the arrays; the core points into
// them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "finite.hpp"
#include "rows.hpp"

namespace rosenblatt {

// Why a call into the core returned; `running`: there is more to do.
enum class Code : int32_t {
    running,
    separated,       // a whole epoch moved nothing
    cycle,           // the weights returned to earlier ones
    no_improvement,  // no gain of tol for `patience` epochs
    max_updates,     // one more update was needed than max_updates allows
    overflow,        // a score, a variance or a weight is not finite
    interrupted,     // a signal arrived, or the run was cancelled
};

// One hyperplane w.x + b, what its average needs, and the variances of second-order rules.
//
// The average is lazy: an update by delta at visit v counts for all visits but the first v, so u
// collects v * delta, and the mean of the weights after each of T visits is (T w - u) / T
// [Daume's trick; Freund and Schapire 1999]. The start is not counted.
struct Hyperplane {
    double* w;
    double* b;
    double* u;   // null: no average
    double* ub;  // null: no average
    double* S;   // variances, offset first: d + 1 numbers, or (d + 1)^2 for a full covariance
    int64_t d;
};

// The hyperplanes of one machine: one for two classes, one per class for the direct rule.
struct Hyperplanes {
    double *w = nullptr, *b = nullptr, *u = nullptr, *ub = nullptr, *S = nullptr;
    int64_t n = 1, d = 0;
    int64_t w_stride = 0, u_stride = 0, S_stride = 0;  // numbers from one hyperplane to the next
    bool round32 = false;  // float32 rows: every stored weight is rounded to float32

    Hyperplane operator[](int64_t k) const {
        return {w + k * w_stride,
                b + k,
                u ? u + k * u_stride : nullptr,
                ub ? ub + k : nullptr,
                S ? S + k * S_stride : nullptr,
                d};
    }
    double stored(double value) const {
        return round32 ? static_cast<double>(static_cast<float>(value)) : value;
    }
};

struct Counters {
    double visits = 0.0;  // visits so far; under weighting="repeat" a weight of k counts k
    double run = 0.0;     // visits since the last update
    int64_t updates = 0;  // including those of earlier calls
};

struct EpochTotals {
    int64_t mistakes = 0;
    int64_t updates = 0;
    double loss = 0.0;
    double norm = 0.0;  // ||w|| at the end of the epoch
};

// The column of entry e of a row.
inline int64_t column(const Entries& x, int64_t e) { return x.columns ? x.columns[e] : e; }

// Room for the entries of one row at a time.
class RowBuffer {
  public:
    Entries load(const Rows& rows, int64_t row) {
        if (static_cast<int64_t>(values_.size()) < rows.d) values_.resize(rows.d);
        if (rows.indptr && static_cast<int64_t>(columns_.size()) < rows.d) columns_.resize(rows.d);
        return rows.ops->load(rows, row, {columns_.data(), values_.data()});
    }

  private:
    std::vector<int64_t> columns_;
    std::vector<double> values_;
};

// Sum of squares in the fixed lanes of the row operations.
inline double sum_of_squares(const double* values, int64_t n) {
    double s[8] = {};
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int l = 0; l < 8; ++l) s[l] += values[j + l] * values[j + l];
    for (int l = 0; j + l < n; ++l) s[l] += values[j + l] * values[j + l];
    for (int h = 4; h; h /= 2)
        for (int l = 0; l < h; ++l) s[l] += s[l + h];
    return s[0];
}

}  // namespace rosenblatt
