// Scores of many rows with several hyperplanes, and the class that `predict` gives for scores.
#pragma once
#include <algorithm>

#include "rows.hpp"

namespace rosenblatt {

// out[i * planes + p] = W[p].x_i + b[p] for all rows, on several threads. W is given by planes (planes, d). Neither the
// number of threads nor that of planes changes the bits: they are those of RowOps::dot.
void scores(const Rows& rows, const double* W, const double* b, int64_t planes, double* out,
            int n_threads);

// The class for the scores of a row. One hyperplane: a score >= 0 is class 1, a lower one class 0.
// One hyperplane per class: the first of the best scores.
inline int32_t decided_class(const double* scores, int64_t planes) {
    if (planes == 1) return scores[0] >= 0.0;
    return static_cast<int32_t>(std::max_element(scores, scores + planes) - scores);
}

}  // namespace rosenblatt
