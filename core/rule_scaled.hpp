// Penalties and learning rates that change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rules.hpp"

namespace rosenblatt {

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
// towards 0 by the L1 of all visits that it has not paid yet [cumulative L1: Tsuruoka, Tsujii,
// Ananiadou 2009].
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

}  // namespace rosenblatt
