// Passive-aggressive and second-order rules.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rules.hpp"

namespace rosenblatt {

enum class AdaptiveKind : int32_t { pa, pa1, pa2, arow, scw, sop };

// Rules whose step follows from the margin z and the variance v = x'Sx of a row; the offset counts
// as a feature that is always 1:
//
//     w += step y S x,    S -= beta Sx (Sx)'
//
//     pa    z < 1:            step = (1 - z) / v
//     pa1   z < 1:            step = min(C k, (1 - z) / v)
//     pa2   z < 1:            step = (1 - z) / (v + 1 / (2 C k))
//     arow  z < 1:            beta = 1 / (v + r / k),  step = (1 - z) beta
//     sop   z is a mistake:   beta = 1 / (v + 1 / k),  step = (1 - z) beta
//     scw   z < phi sqrt(v):  the smallest step after which z >= phi sqrt(v), at most C k
//
// [pa, pa1, pa2: Crammer et al. 2006; arow: Crammer, Kulesza, Dredze 2009; sop: Cesa-Bianchi,
// Conconi, Gentile 2005; scw: Wang, Zhao, Hoi 2012]
//
// S is all of the matrix, or only the diagonal of every update (d + 1 numbers). No variance grows.
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

}  // namespace rosenblatt
