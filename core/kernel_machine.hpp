// The kernel perceptron: visits of one block of rows, given their kernel values.
#pragma once

#include <cstdint>
#include <vector>

#include "state.hpp"

namespace rosenblatt {

// Support rows x_j have one coefficient per hyperplane; K(x, z) stands for the inner product of two
// rows in a feature space that is never computed. The score of hyperplane k is
//
//     f_k(x) = sum_j coef[j, k] K(x_j, x)
//
// and rows are visited one at a time  [Aizerman et al. 1964; Freund and Schapire 1999]:
//
//     mistake:  y_k f_k(x) <= 0              (a score of 0 is a mistake, see docs/explanation/conventions.md)
//     update:   coef[x, k] += weight y_k     (x becomes a support row)
//
// A single hyperplane has y = +1 for class 1; of several, hyperplane k has y_k = +1 for class k.
// All hyperplanes share the support rows. Rows of weight 0 are visited without effect.
//
// The kernel values of a block are computed before its first visit. The loops correct them, or the
// scores, for the updates inside the block, so the result is that of one row at a time.
//
// The average is lazy, as in state.hpp: an amount added at visit v is missing from the first v
// visits, so lag collects v * amount, and the mean over T visits is coef - lag / T.

// The rows of a block in the order of visits. T: float or double.
template <class T>
struct GramBlock {
    const T* gram;         // n x n: K of each row with each
    const int32_t* label;  // class numbers
    const double* weight;
    const int64_t* index;  // of each row: its entry in SupportRows::place
    int64_t n;
    int64_t visits;  // made before this block
};

// Coefficients of the support rows, in arrays owned by the caller.
struct SupportRows {
    double* coef;    // capacity x planes
    double* lag;     // capacity x planes
    int64_t* row;    // capacity: row number of each support row, over all rows ever given
    int64_t* place;  // of rows first_row, first_row + 1, ...: the number of the support row, or -1
    int64_t first_row, n_rows;
    int64_t planes, size;

    void set(int64_t j, int64_t i) { place[i] = j, row[j] = first_row + i; }
    void forget(int64_t j) {
        const int64_t i = row[j] - first_row;
        if (i >= 0 && i < n_rows) place[i] = -1;
    }
};

// Counts of each hyperplane. square_norm is ||w_k||^2 in the feature space: an update by c moves it
// by 2 c f_k(x) + c^2 K(x, x).
struct KernelTotals {
    int64_t* mistakes;
    double* square_norm;
};

// Every change of a coefficient: the visit (from 1), support row, hyperplane, and what was added.
struct CoefficientSteps {
    std::vector<int64_t> visit, support, plane;
    std::vector<double> amount;
};

// Every mistake adds its row to the support rows; new_rows collects which rows of the block these
// are. scores: planes x n, before the first visit; they are updated along the way. Returns running
// or overflow, as do the functions below.
template <class T>
Code visit_unlimited(const GramBlock<T>& block, double* scores, SupportRows& support,
                     const KernelTotals& totals, CoefficientSteps& steps,
                     std::vector<int64_t>& new_rows);

// What the two visits with a limit share.
struct LimitedSupport {
    double* values;    // n x places: K of the rows of the block with each support row; updated
    int64_t* new_row;  // places: which row of the block took the place, or -1
    int64_t places;    // support rows there may be after this block, at most limit
    int64_t limit;
};

// Randomized budget perceptron [Cavallanti, Cesa-Bianchi and Gentile 2007]: once there are `limit`
// support rows, a new one takes the place of a random one, in all hyperplanes. seed: the state of
// the generator of order.hpp. No average and no norm.
template <class T>
Code visit_dropping(const GramBlock<T>& block, SupportRows& support, const LimitedSupport& limited,
                    uint32_t& seed, const KernelTotals& totals);

// Projectron [Orabona, Keshet and Caputo 2008]. With G the Gram matrix of the support rows and k
// their kernel values with x, the projection of phi(x) onto their span has the coefficients
//
//     d = G^-1 k,   at the squared distance  delta = K(x, x) - k.d
//
// If delta <= eta^2, or there are `limit` support rows, the update goes to their coefficients:
// coef[., k] += y_k d. Else x becomes a support row, and the inverse grows:
//
//     G^-1  <-  [G^-1 0; 0 0] + [d; -1] [d; -1]^T / delta
//
// A delta up to sqrt(epsilon of T) K(x, x) counts as 0: it is within rounding errors.
struct Projection {
    double eta;
    double* inverse;  // G^-1 in the first `size` rows and columns of a limit x limit matrix; rest 0
};

template <class T>
Code visit_projecting(const GramBlock<T>& block, SupportRows& support,
                      const LimitedSupport& limited, const Projection& projection,
                      const KernelTotals& totals);

// The scores of n other rows after the visits `ends` (rising) of a run of one hyperplane, computed
// from its steps. A hyperplane has one vote per visit that it survived, the visit that made it
// included; a score of 0 votes +1  [Freund and Schapire 1999].
//
//     last = s_T,   average = (1/T) sum_t s_t,   vote = (1/T) sum_t sign(s_t)
//
// values: K of each support row (down) with the n rows. Results: n_ends x n each.
template <class T>
struct Replay {
    const T* values;
    int64_t n;
    const int64_t *visit, *support;
    const double* amount;
    int64_t n_steps;
    const int64_t* ends;
    int64_t n_ends;
};
template <class T>
void replay(const Replay<T>& run, double* last, double* average, double* vote);

}  // namespace rosenblatt
