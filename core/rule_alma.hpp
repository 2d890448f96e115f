// ALMA.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rules.hpp"

namespace rosenblatt {

// ALMA for the Euclidean norm [Gentile 2001]: steps and the required margin shrink with the number
// k = 1, 2, ... of the step. With rows scaled to length 1 (the offset counts as a feature that is
// always 1):
//
//     if y w.x <= required / sqrt(k):   w += step / sqrt(k) y x;   w /= max(1, |w|)
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
