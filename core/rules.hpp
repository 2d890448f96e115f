// Training rules: which visits move the weights, and how far.
//
// A rule answers the questions of the visiting loop (visit.hpp), for the margin z = y (w.x + b) of
// a row of weight k:
//
//   bar()          rows with z > bar() cannot move the weights; the scan passes over them
//   score()        w.x + b, for rules whose stored weights are not w itself (scans == false)
//   variance()     x'Sx, for rules that keep variances S; 0 otherwise
//   loss()         what the row adds to the objective of the epoch
//   decide()       whether the row moves the weights, and by which step
//   before_visit() what happens at every visit, before the update
//   apply()        the update
//   after_visit()  what happens at every visit, after the update
//   settle()       make the stored weights w itself again
//   settled()      what settle() would make of one weight, or of the offset
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rows.hpp"
#include "state.hpp"

namespace rosenblatt {

// What a score of exactly 0 is during training; see docs/conventions.md.
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

enum class AdaptiveKind : int32_t { pa, pa1, pa2, arow, scw, sop };

// Rules whose step follows from the margin z and the variance v = x'Sx of a row; the offset counts
// as a feature that is always 1:
//
//     w += step y S x,    S -= beta Sx (Sx)'
//
//     pa    z < 1:            step = (1 - z) / v                                  [Crammer et al.
//     2006] pa1   z < 1:            step = min(C k, (1 - z) / v) pa2   z < 1:            step = (1
//     - z) / (v + 1 / (2 C k)) arow  z < 1:            beta = 1 / (v + r / k),  step = (1 - z) beta
//     [Crammer et al. 2009] sop   z a mistake:      beta = 1 / (v + 1 / k),  step = (1 - z) beta
//     [Cesa-Bianchi et al. 2005] scw   z < phi sqrt(v):  the smallest step after which z >= phi
//     sqrt(v), at most C k
//                                                                              [Wang, Zhao, Hoi
//                                                                              2012]
//
// S is the diagonal of the whole update (d + 1 numbers), or all of it. No variance grows.
struct Adaptive : BaseRule {
    AdaptiveKind kind = AdaptiveKind::pa;
    double c = 1.0;  // C of pa1, pa2 and scw; r of arow
    double phi = 0.0;
    Tie tie = Tie::mistake;
    bool full = false, round32 = false;
    std::vector<double> Sx[2];  // full: S x of the true class and of its rival

    double required(double v) const {
        if (kind == AdaptiveKind::scw) return phi * std::sqrt(v);
        return kind == AdaptiveKind::sop ? 0.0 : 1.0;
    }
    double bar() const {
        return kind == AdaptiveKind::scw ? std::numeric_limits<double>::infinity() : required(0.0);
    }
    Tie tie_rule() const { return tie; }
    double loss(double z, double v, int64_t) const { return std::max(required(v) - z, 0.0); }
    double variance(const Visit& at, const Hyperplane& h, int side) {
        if (!full) return at.rows.ops->variance(at.rows, at.row, h.S);
        const int64_t width = h.d + 1;
        auto& product = Sx[side];
        product.assign(h.S, h.S + width);
        const Entries x = buffer.load(at.rows, at.row);
        for (int64_t e = 0; e < x.n; ++e) {
            if (x.values[e] == 0.0) continue;
            const double* line = h.S + (column(x, e) + 1) * width;
            for (int64_t m = 0; m < width; ++m) product[m] += x.values[e] * line[m];
        }
        double v = product[0];
        for (int64_t e = 0; e < x.n; ++e) v += x.values[e] * product[column(x, e) + 1];
        return v < 0.0 ? 0.0 : v;
    }
    bool moves(double z, double v, bool positive) const {
        if (kind == AdaptiveKind::sop) return mistake(z, positive, tie) > 0.0;
        // a row that nothing can move is never right with z <= 0
        return z < required(v) || (z <= 0.0 && v == 0.0);
    }
    bool decide(double z, bool positive, double k, double v, int64_t, Move& move) const {
        if (!moves(z, v, positive)) return false;
        move = {};
        if (v == 0.0) return true;
        switch (kind) {
            case AdaptiveKind::pa: move.step = (1.0 - z) / v; break;
            case AdaptiveKind::pa1: move.step = std::min(c * k, (1.0 - z) / v); break;
            case AdaptiveKind::pa2: move.step = (1.0 - z) / (v + 0.5 / (c * k)); break;
            case AdaptiveKind::arow:
                move.beta = 1.0 / (v + c / k);
                move.step = (1.0 - z) * move.beta;
                break;
            case AdaptiveKind::sop:
                move.beta = 1.0 / (v + 1.0 / k);
                move.step = (1.0 - z) * move.beta;
                break;
            case AdaptiveKind::scw: {
                const double phi2 = phi * phi;
                const double root = std::sqrt(z * z * phi2 * phi2 / 4.0 + v * phi2 * (1.0 + phi2));
                const double step = (root - z * (1.0 + phi2 / 2.0)) / (v * (1.0 + phi2));
                move.step = std::min(std::max(step, 0.0), c * k);
                const double gone = move.step * v * phi;
                const double left = (std::sqrt(gone * gone + 4.0 * v) - gone) / 2.0;  // deviation
                move.beta = move.step * phi / (left + gone);
            }
        }
        return true;
    }
    void apply(const Visit& at, double c, const Move& move, Hyperplane& h, int side) {
        if (full) return apply_full(at, c, move.beta, h, Sx[side]);
        const double s = h.S[0], moved = c * s;
        at.rows.ops->nudge(at.rows, at.row, c, at.visits, move.beta, h.S, h.w, h.u, round32);
        h.S[0] = std::max(s - move.beta * (s * s), 0.0);
        move_offset(moved, at.visits, h);
    }

  private:
    RowBuffer buffer;

    void move_offset(double moved, double visits, Hyperplane& h) const {
        *h.b += moved;
        if (round32) *h.b = static_cast<float>(*h.b);
        if (h.u) *h.ub += visits * moved;
    }
    void apply_full(const Visit& at, double c, double beta, Hyperplane& h,
                    const std::vector<double>& product) const {
        const int64_t width = h.d + 1;
        for (int64_t j = 0; j < h.d; ++j) {
            const double step = c * product[j + 1];
            h.w[j] += step;
            if (round32) h.w[j] = static_cast<float>(h.w[j]);
            if (h.u) h.u[j] += at.visits * step;
        }
        move_offset(c * product[0], at.visits, h);
        if (beta == 0.0) return;
        for (int64_t a = 0; a < width; ++a) {
            if (product[a] == 0.0) continue;
            double* line = h.S + a * width;
            for (int64_t m = 0; m < width; ++m)
                line[m] -= (product[a] * product[m]) * beta;  // symmetric to the bit
        }
    }
};

enum class RateKind : int32_t { constant, optimal, invscaling };

// The learning rate at visit t = 1, 2, ... over all epochs, as SGDClassifier has it:
//
//     optimal     1 / (alpha (t0 + t - 1))   [Bottou]
//     invscaling  eta / t^power
//     constant    eta; if adaptive, a fifth of it instead of stopping, down to 1e-6
struct Rate {
    RateKind kind = RateKind::constant;
    double eta = 1.0, power = 0.5, alpha = 0.0, t0 = 0.0;
    double t = 1.0;
    bool adaptive = false;

    double now() const {
        if (kind == RateKind::optimal) return 1.0 / (alpha * (t0 + t - 1.0));
        if (kind == RateKind::invscaling)
            return power == 0.5 ? eta / std::sqrt(t) : eta / std::pow(t, power);
        return eta;
    }
    bool slower() {
        if (!adaptive || eta <= 1e-6) return false;
        eta /= 5.0;
        return true;
    }
};

// The additive rule with a penalty and a learning rate that changes, in SGDClassifier's arithmetic.
// It minimises
//
//     mean max(0, tau - y (w.x + b)) + alpha ((1 - r) |w|^2 / 2 + r |w|_1)
//
// one row at a time: w *= 1 - (1 - r) eta alpha; then the update; then each weight of the row moves
// towards 0 by what it owes [cumulative L1: Tsuruoka, Tsujii, Ananiadou 2009].
//
// w = scale v, so the decay costs one multiplication. The average is lazy with sigma, the sum of
// the scales so far, in the place of the number of visits. On CSR rows, pure L1 catches up on the
// weights of a row before its score (the truncations add up); elastic net shrinks the weights of
// the row only, as SGDClassifier does.
struct Scaled : BaseRule {
    static constexpr bool scans = false;
    Additive rule;
    Rate rate;
    double alpha = 0.0, l1_ratio = 0.0;

    double scale = 1.0, sigma = 0.0;
    double owed = 0.0;                         // L1 that every weight owes so far
    double square_norm = 0.0, one_norm = 0.0;  // of w
    double seen_square = NAN, seen_one = NAN;  // the same as the objective sees them:
                                               // of the last update, decayed since
    double shrink = 0.0;                       // L1 of this visit
    bool caught_up = true;                     // no weight owes L1 of earlier visits
    std::vector<double> paid;                  // L1 that each weight paid, with its sign

    double bar() const { return rule.bar(); }
    Tie tie_rule() const { return rule.tie; }
    double w_scale() const { return scale; }
    bool slower() { return rate.slower(); }

    void begin_epoch(Hyperplane& h, double visits) {
        scale = 1.0;
        sigma = visits;
        square_norm = one_norm = 0.0;
        for (int64_t j = 0; j < h.d; ++j) {
            square_norm += h.w[j] * h.w[j];
            one_norm += std::abs(h.w[j]);
        }
        if (std::isnan(seen_square)) {
            seen_square = square_norm;
            seen_one = one_norm;
        }
        if (l1_ratio > 0.0) paid.resize(h.d);
    }
    double score(const Visit& at, Hyperplane& h) {
        if (l1_ratio == 1.0 && at.rows.indptr) {
            const Entries x = buffer.load(at.rows, at.row);
            for (int64_t e = 0; e < x.n; ++e) truncate(column(x, e), h);
        }
        return scale * at.rows.ops->dot(at.rows, at.row, h.w) + *h.b;
    }
    double loss(double z, double, int64_t) const {
        const double penalty = (1.0 - l1_ratio) * 0.5 * seen_square + l1_ratio * seen_one;
        return std::max(rule.tau - z, 0.0) + alpha * penalty;
    }
    bool decide(double z, bool positive, double k, double, int64_t, Move& move) const {
        const double times = rule.amount(z, positive);
        move = {rate.now() * times * k, 0.0};
        return times > 0.0;
    }
    void before_visit(Hyperplane& h, double visits) {
        const double eta = rate.now();
        rate.t += 1.0;
        double decay = std::max(0.0, 1.0 - (1.0 - l1_ratio) * eta * alpha);
        if (rule.round32) decay = static_cast<float>(decay);  // as scikit-learn rounds it
        scale *= decay;
        if (rule.round32) scale = static_cast<float>(scale);
        shrink = l1_ratio * eta * alpha;
        square_norm *= decay * decay;
        one_norm *= decay;
        seen_square *= decay * decay;
        seen_one *= decay;
        // sums of v for the average cancel in u: keep more digits
        if (scale < (h.u ? 1e-3 : 1e-9)) {
            settle(h, visits);
            sigma = visits;
        }
    }
    void apply(const Visit& at, double c, const Move&, Hyperplane& h, int) {
        const Entries x = buffer.load(at.rows, at.row);
        for (int64_t e = 0; e < x.n; ++e)
            set(column(x, e), h.w[column(x, e)] + x.values[e] * (c / scale), h);
        seen_square = square_norm;
        seen_one = one_norm;
        if (!rule.intercept) return;
        *h.b += c;
        if (rule.round32) *h.b = static_cast<float>(*h.b);
        if (h.u) *h.ub += at.visits * c;
    }
    void after_visit(const Visit& at, Hyperplane& h) {
        if (shrink > 0.0) {
            owed += shrink;
            caught_up = !at.rows.indptr;
            const Entries x = buffer.load(at.rows, at.row);
            for (int64_t e = 0; e < x.n; ++e) truncate(column(x, e), h);
        }
        sigma += scale;
    }
    // v = scale v, keeping the lazy sum (sigma v - u) what it was.
    void settle(Hyperplane& h, double visits) {
        if (!caught_up && l1_ratio == 1.0)
            for (int64_t j = 0; j < h.d; ++j) truncate(j, h);
        caught_up = true;
        for (int64_t j = 0; j < h.d; ++j) {
            if (h.u) h.u[j] += (visits * scale - sigma) * h.w[j];
            h.w[j] *= scale;
            if (rule.round32) h.w[j] = static_cast<float>(h.w[j]);
        }
        scale = 1.0;
        sigma = visits;
    }
    SettledWeight settled(const Hyperplane& h, int64_t j, double visits) const {
        double v = h.w[j], u = h.u ? h.u[j] : 0.0;
        if (!caught_up && l1_ratio == 1.0) {
            const double now = truncated(v, j);
            u += sigma * (now - v);
            v = now;
        }
        u += (visits * scale - sigma) * v;
        v *= scale;
        return {rule.round32 ? static_cast<float>(v) : v, u};
    }

  private:
    RowBuffer buffer;

    void set(int64_t j, double value, Hyperplane& h) {
        const double old = h.w[j];
        if (rule.round32) value = static_cast<float>(value);
        h.w[j] = value;
        square_norm += (value * value - old * old) * scale * scale;
        one_norm += (std::abs(value) - std::abs(old)) * scale;
        if (h.u) h.u[j] += sigma * (value - old);
    }
    // v after weight j has paid the L1 that it owes.
    double truncated(double v, int64_t j) const {
        double value = v;
        if (v > 0.0)
            value = std::max(0.0, v - (owed + paid[j]) / scale);
        else if (v < 0.0)
            value = std::min(0.0, v + (owed - paid[j]) / scale);
        return rule.round32 ? static_cast<float>(value) : value;
    }
    void truncate(int64_t j, Hyperplane& h) {
        const double old = h.w[j];
        if (old != 0.0) set(j, truncated(old, j), h);
        paid[j] += scale * (h.w[j] - old);
    }
};

// ALMA for the Euclidean norm [Gentile 2001]: steps and the required margin shrink with the number
// k = 1, 2, ... of the step. With rows scaled to length 1 (the offset counts as a feature that is
// always 1):
//
//     while y w.x <= bar / sqrt(k):   w += step / sqrt(k) y x;   w /= max(1, |w|)
//
// w = scale v, so that a step costs no more than its row; the average is lazy as in Scaled.
struct Alma : BaseRule {
    static constexpr bool scans = false;
    double required = 0.0, step = 0.0;  // (1 - alpha) B and C of the paper
    Tie tie = Tie::mistake;
    bool intercept = true, round32 = false;

    double scale = 1.0, sigma = 0.0;
    double square = 0.0;  // |v|^2, offset included
    double length = 0.0;  // of the row of this visit

    double bar() const { return std::numeric_limits<double>::infinity(); }
    Tie tie_rule() const { return tie; }
    double w_scale() const { return scale; }
    double b_scale() const { return scale; }
    double threshold(int64_t updates) const {
        return required / std::sqrt(static_cast<double>(updates) + 1.0);
    }
    void begin_epoch(Hyperplane& h, double visits) {
        square = sum_of_squares(h.w, h.d) + *h.b * *h.b;
        scale = 1.0;
        into_ball();
        sigma = visits * scale;
    }
    double row_length(const Visit& at) const {
        return std::sqrt(at.rows.ops->square(at.rows, at.row) + (intercept ? 1.0 : 0.0));
    }
    double score(const Visit& at, Hyperplane& h) {
        length = row_length(at);
        if (!std::isfinite(length)) return length;
        const double s = scale * (at.rows.ops->dot(at.rows, at.row, h.w) + *h.b);
        return length > 0.0 ? s / length : 0.0;
    }
    double loss(double z, double, int64_t updates) const {
        return std::max(threshold(updates) - z, 0.0);
    }
    bool decide(double z, bool, double k, double, int64_t updates, Move& move) const {
        if (z > threshold(updates)) return false;
        const double steps = std::sqrt(static_cast<double>(updates) + 1.0);
        move = {length > 0.0 ? k * step / steps / length : 0.0, 0.0};
        return true;
    }
    void apply(const Visit& at, double c, const Move&, Hyperplane& h, int) {
        c /= scale;
        const Entries x = buffer.load(at.rows, at.row);
        for (int64_t e = 0; e < x.n; ++e) {
            const int64_t j = column(x, e);
            add(h.w[j], c * x.values[e], h.u ? h.u + j : nullptr);
        }
        if (intercept) add(*h.b, c, h.ub);
        square = std::max(square, 0.0);
        into_ball();
        if (scale < 1e-9) {
            settle(h, at.visits);
            begin_epoch(h, at.visits);
        }
    }
    void after_visit(const Visit&, Hyperplane&) { sigma += scale; }
    void settle(Hyperplane& h, double visits) {
        const double share = visits * scale - sigma;
        for (int64_t j = 0; j < h.d; ++j) {
            if (h.u) h.u[j] += share * h.w[j];
            h.w[j] *= scale;
            if (round32) h.w[j] = static_cast<float>(h.w[j]);
        }
        if (h.u) *h.ub += share * *h.b;
        *h.b *= scale;
        if (round32) *h.b = static_cast<float>(*h.b);
        scale = 1.0;
        sigma = visits;
    }
    SettledWeight settled(const Hyperplane& h, int64_t j, double visits) const {
        return settled(h.w[j], h.u ? h.u[j] : 0.0, visits);
    }
    SettledWeight settled_offset(const Hyperplane& h, double visits) const {
        return settled(*h.b, h.u ? *h.ub : 0.0, visits);
    }

  private:
    RowBuffer buffer;

    SettledWeight settled(double v, double u, double visits) const {
        u += (visits * scale - sigma) * v;
        v *= scale;
        return {round32 ? static_cast<float>(v) : v, u};
    }
    void add(double& v, double change, double* u) {
        const double old = v;
        v = old + change;
        if (round32) v = static_cast<float>(v);
        square += v * v - old * old;
        if (u) *u += sigma * (v - old);
    }
    void into_ball() {
        const double size = std::sqrt(square);
        if (scale * size > 1.0) scale = 1.0 / size;
    }
};

}  // namespace rosenblatt
