// Arithmetic of the rules: what counts as a mistake, and how far a visit moves the weights.
//
// The visiting loop (visit.cpp) calls these functions of a rule, for the margin z = y (w.x + b) of
// a row of weight k:
//
//   bar()          rows with z > bar() cannot move the weights; the scan skips them
//   score()        w.x + b, for rules whose stored weights are not w itself (scans == false)
//   variance()     x'Sx, for rules that keep variances S; 0 otherwise
//   loss()         what the row adds to the objective of the epoch
//   decide()       whether the row moves the weights, and by which step
//   tie_rule()     what a score of 0 is, for counting mistakes
//   begin_epoch()  before the first visit of an epoch
//   before_visit() at every visit, before the update
//   apply()        the update
//   after_visit()  at every visit, after the update
//   settle()       turn the stored weights into w itself, at the end of an epoch
//   settled()      the same for one weight, settled_offset() for the offset, without changing it
//   w_scale()      w is w_scale() times the stored weights, b is b_scale() times the stored offset
//   slower()       lower the learning rate instead of stopping; false if it is not adaptive
//
// This file has what all rules share, and the perceptron rule. The other rules: rule_adaptive.hpp,
// rule_scaled.hpp, rule_alma.hpp, minover.hpp; the batch rule is in machine.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rows.hpp"
#include "state.hpp"

namespace rosenblatt {

// What a score of exactly 0 is during training; see docs/explanation/conventions.md.
enum class Tie : int32_t { mistake, positive, correct, half };

// How much of a mistake the margin z is: 0, 1/2 or 1.
inline double mistake(double z, bool positive, Tie tie) {
    if (z < 0.0) return 1.0;
    if (z > 0.0 || tie == Tie::correct) return 0.0;
    if (tie == Tie::positive) return positive ? 0.0 : 1.0;
    return tie == Tie::half ? 0.5 : 1.0;
}

struct Move {
    double step = 0.0;  // w += step y S x  (S = 1 for additive rules)
    double beta = 0.0;  // S -= beta Sx (Sx)'
};

// A row and where it is: what score, variance and apply need.
struct Visit {
    const Rows& rows;
    int64_t row;
    double visits;    // before this one
    int64_t updates;  // before this one
};

// A weight or an offset and its lazy sum, as `settle` leaves them.
struct SettledWeight {
    double w, u;
};

struct BaseRule {
    static constexpr bool scans = true;
    double score(const Visit&, Hyperplane&) { return 0.0; }
    double variance(const Visit&, const Hyperplane&, int) { return 0.0; }
    void begin_epoch(Hyperplane&, double) {}
    void before_visit(Hyperplane&, double) {}
    void after_visit(const Visit&, Hyperplane&) {}
    void settle(Hyperplane&, double) {}
    SettledWeight settled(const Hyperplane& h, int64_t j, double) const {
        return {h.w[j], h.u ? h.u[j] : 0.0};
    }
    SettledWeight settled_offset(const Hyperplane& h, double) const {
        return {*h.b, h.u ? *h.ub : 0.0};
    }
    bool slower() { return false; }
    double w_scale() const { return 1.0; }  // w = w_scale * stored weights
    double b_scale() const { return 1.0; }
};

// The perceptron rule [Rosenblatt 1958] and the perceptron with margin [Krauth, Mezard 1987]:
//
//     perceptron:  if z is a mistake (z < 0, or z = 0 by `tie`):  w += eta y x,  b += eta y
//     margin:      if z <= tau:                                   the same
//
// A half mistake (tie="half") moves by half, a row of weight k by k times as much.
// Invariant: after m updates with eta = 1 from w = 0, |w|^2 <= m R^2  [Novikoff 1962].
struct Additive : BaseRule {
    double eta = 1.0, tau = 0.0;
    Tie tie = Tie::mistake;
    bool margin = false, intercept = true, round32 = false;

    double bar() const { return tau; }
    Tie tie_rule() const { return tie; }
    double loss(double z, double, int64_t) const { return std::max(tau - z, 0.0); }
    // How many times eta y x is added at margin z.
    double amount(double z, bool positive) const {
        return margin ? (z <= tau ? 1.0 : 0.0) : mistake(z, positive, tie);
    }
    bool decide(double z, bool positive, double k, double, int64_t, Move& move) const {
        const double times = amount(z, positive);
        move = {eta * times * k, 0.0};
        return times > 0.0;
    }
    void apply(const Visit& at, double c, const Move&, Hyperplane& h, int) {
        at.rows.ops->add(at.rows, at.row, c, h.w, round32);
        if (h.u) at.rows.ops->add(at.rows, at.row, c * at.visits, h.u, false);
        if (!intercept) return;
        *h.b += c;
        if (round32) *h.b = static_cast<float>(*h.b);
        if (h.u) *h.ub += c * at.visits;
    }
};

}  // namespace rosenblatt
