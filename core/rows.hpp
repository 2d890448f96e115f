// Rows of a matrix and the few operations on them that depend on their type and on the processor.
//
// A row x is dense, or sparse (CSR): pairs of a column j and a value x_j. Every sum over the
// columns of a row is made in eight lanes: column j is added to lane j & 7, in the order of the
// columns, in float64, without fused multiply-add. Then the lanes are folded by halves:
//
//     s[l] += s[l + 4], l < 4;    s[l] += s[l + 2], l < 2;    sum = s[0] + s[1]
//
// So a dense row, a CSR row with sorted columns and a row whose columns are all shifted by a
// constant give the same bits, on every processor, compiler and number of threads. A CSR row with
// unsorted columns is added in the given order. A row must not name a column twice.
//
// Weights are float64. For float32 rows a stored weight is rounded to float32 (`round32`).
//
// This header is included by the files that are compiled once per instruction set, so it includes
// nothing that defines a function (see row_ops.hpp).
#pragma once
#include <cstddef>
#include <cstdint>

namespace rosenblatt {

// Type of a row: dense or CSR, type of the values, type of the column numbers.
enum class Kind : int { dense_f32, dense_f64, csr_f32_i32, csr_f64_i32, csr_f32_i64, csr_f64_i64 };
constexpr int N_KINDS = 6;

constexpr int LANES = 8;

// d rounded up to whole groups of lanes
constexpr int64_t padded(int64_t d) { return (d + LANES - 1) & ~int64_t(LANES - 1); }

constexpr bool is_dense(Kind kind) { return kind == Kind::dense_f32 || kind == Kind::dense_f64; }

struct RowOps;

// n rows with d columns, in arrays owned by the caller.
// dense: x_ij = data[i * d + j]
// CSR:   x_ij = data[k] with indices[k] = j and indptr[i] <= k < indptr[i + 1]
struct Rows {
    const RowOps* ops;
    const void* data;
    const void* indices;  // null for dense rows
    const void* indptr;   // null for dense rows
    int64_t n, d;
};

// The visits of a scan: visit t is row order[t], or row t if there is no order.
struct Scan {
    const int32_t* y;      // class of each row; below 0: no label
    int32_t positive;      // the class whose rows should score above 0
    const int64_t* order;  // null: the order of the rows
    int64_t n;             // the scan ends before visit n
    double* seen;          // seen[i] = score of row i when it was visited; may be null
    int64_t n_order = 0;   // length of `order`: rows after the end of the scan may be fetched ahead
};

// Where a scan stopped, and w.x + b of that row (0 if the row has no label, or at the end).
struct Found {
    int64_t t;
    double score;
};

// The entries of a row as (column, value) pairs; without `columns`: columns 0, 1, ..., n - 1.
struct Entries {
    const int64_t* columns;
    const double* values;
    int64_t n;
};

// Room for the entries of a row, d of each. Unused where the row can be read in place.
struct Scratch {
    int64_t* columns;
    double* values;
};

// One table per kind of rows and instruction set.
struct RowOps {
    Kind kind;

    // The first visit from t on that needs attention, n if there is none: the row has no label
    // (y < 0), or its margin z is not within bar < z < inf, where
    //     z = s if y == positive, else -s,    s = w.x + b.
    // NaN needs attention too.
    Found (*scan)(const Rows&, const Scan&, const double* w, double b, int64_t t, double bar);

    // w.x
    double (*dot)(const Rows&, int64_t i, const double* w);

    // x.x
    double (*square)(const Rows&, int64_t i);

    // x'Sx with a diagonal S, for x with a leading 1: S[0] + sum_j (S[j + 1] x_j) x_j
    double (*variance)(const Rows&, int64_t i, const double* S);

    // w += c x
    void (*add)(const Rows&, int64_t i, double c, double* w, bool round32);

    // A step along Sx, and S contracted along it (diagonal S, S[0] is left to the caller):
    //     step_j = c (S[j + 1] x_j)
    //     w_j   += step_j
    //     u_j   += visits step_j                                (unless u is null)
    //     S[j + 1] = max(S[j + 1] - beta (S[j + 1] x_j)^2, 0)   (unless beta is 0)
    void (*nudge)(const Rows&, int64_t i, double c, double visits, double beta, double* S,
                  double* w, double* u, bool round32);

    // The entries of row i, in place where the arrays allow it, else copied to `scratch`.
    Entries (*load)(const Rows&, int64_t i, const Scratch& scratch);

    // out[i * planes + p] = w_p.x_i + b[p] for first <= i < last; the bits of `dot`.
    // Dense rows take W by planes (planes, padded(d)), with zeros after d; CSR rows by columns
    // (d, planes). scores.hpp prepares them.
    void (*scores)(const Rows&, const double* W, const double* b, int64_t planes, double* out,
                   int64_t first, int64_t last);
};

}  // namespace rosenblatt
