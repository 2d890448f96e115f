// The stop tests at the end of an epoch.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "state.hpp"

namespace rosenblatt {

// The tests, in this order:
//
//   clean        no update in the whole epoch: later epochs would not make any either
//   cycle        the weights equal those after an earlier epoch, bit for bit. Brent's method:
//                compare with saved weights, save again after 1, 2, 4, ... epochs; O(d) memory
//   no gain      objective > best - tol for `patience` epochs in a row [scikit-learn's test]
//
// The objective is the mean loss of the epoch, or what the caller passes, for example minus the
// accuracy on held-out rows.
struct Stop {
    int64_t max_updates = std::numeric_limits<int64_t>::max();
    double tol = -std::numeric_limits<double>::infinity();  // -inf: no test for a gain
    int64_t patience = 5;
    bool clean = true;
    bool watch_cycle = false;
    bool ignore_zero_loss = false;  // batch: a step from w = 0 has loss 0 whatever the data
    double size = 0.0;              // total weight of the rows of an epoch; 0: rows are counted

    double best = std::numeric_limits<double>::infinity();
    int64_t stalled = 0;
    int64_t power = 1, length = 0, updates_at_save = 0;
    std::vector<double> saved_w, saved_b;

    void save(const Hyperplanes& planes, int64_t updates) {
        saved_w.resize(planes.n * planes.d);
        saved_b.assign(planes.b, planes.b + planes.n);
        for (int64_t k = 0; k < planes.n; ++k)
            for (int64_t j = 0; j < planes.d; ++j)
                saved_w[k * planes.d + j] = planes.w[k * planes.w_stride + j];
        updates_at_save = updates;
    }

    bool came_back(const Hyperplanes& planes, int64_t updates) {
        ++length;
        bool same = true;
        for (int64_t k = 0; k < planes.n && same; ++k) {
            same = planes.b[k] == saved_b[k];
            for (int64_t j = 0; j < planes.d && same; ++j)
                same = planes.w[k * planes.w_stride + j] == saved_w[k * planes.d + j];
        }
        if (!same && length == power) {
            save(planes, updates);
            power *= 2;
            length = 0;
        }
        return same;
    }

    // True after `patience` epochs in a row without a gain of tol.
    bool no_gain(double objective) {
        stalled = tol > -std::numeric_limits<double>::infinity() && objective > best - tol
                      ? stalled + 1
                      : 0;
        if (objective < best) best = objective;
        return stalled >= patience;
    }

    // All tests after an epoch that made `updates` of the `total_updates` so far.
    //
    //   objective    NaN: there is none, and no_gain does not count this epoch
    //   planes       null: there are no weights to compare
    //   would_move   called after an epoch without updates; true if a row that was not visited
    //                would still move the weights
    template <class WouldMove>
    Code end_epoch(int64_t updates, double objective, const Hyperplanes* planes,
                   int64_t total_updates, WouldMove would_move) {
        if (clean && updates == 0 && !would_move()) return Code::separated;
        if (watch_cycle && planes && came_back(*planes, total_updates)) return Code::cycle;
        if (std::isnan(objective) || !no_gain(objective)) return Code::running;
        return Code::no_improvement;
    }
};

}  // namespace rosenblatt
