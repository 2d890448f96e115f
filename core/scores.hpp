// Scores of many rows with several hyperplanes, on several threads.
#pragma once
#include "rows.hpp"

namespace rosenblatt {

// out[i * planes + p] = W[p].x_i + b[p] for all rows, W given by planes (planes, d). Neither the
// number of threads nor that of planes changes the bits: they are those of RowOps::dot.
void scores(const Rows& rows, const double* W, const double* b, int64_t planes, double* out,
            int n_threads);

}  // namespace rosenblatt
