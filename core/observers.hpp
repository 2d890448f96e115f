// What a run keeps besides its last weights: the pocket, a log of updates, a tally of one round.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "state.hpp"

namespace rosenblatt {

// The first updates of a run, up to a capacity: for record="updates" and for votes.
struct Log {
    int64_t capacity = 0;
    int64_t count = 0;  // all updates, also those beyond the capacity
    std::vector<int64_t> row;
    std::vector<double> amount, visit, w, b;

    // `w_scale` and `b_scale` turn stored weights into w and b; row -1 is a batch step.
    void note(int64_t i, double c, double visits, const Hyperplanes& planes, double w_scale,
              double b_scale) {
        if (count++ >= capacity) return;
        row.push_back(i);
        amount.push_back(c);
        visit.push_back(visits);
        for (int64_t k = 0; k < planes.n; ++k) {
            const double* plane = planes.w + k * planes.w_stride;
            for (int64_t j = 0; j < planes.d; ++j) w.push_back(planes.stored(w_scale * plane[j]));
            b.push_back(planes.stored(b_scale * planes.b[k]));
        }
    }
};

// The pocket with ratchet [Gallant 1990]: weights that were right for a longer run of visits than
// those in the pocket, and the weights at the end of each epoch, replace the pocket's weights if
// they make fewer errors on the training set.
struct Pocket {
    std::vector<double> w, b;
    double errors = std::numeric_limits<double>::infinity();
    double longest_run = 0.0;
    int64_t epoch = 0;  // whose weights these are; 0: the start
    bool checked = false, holds_current = false;

    // The weights changed.
    void changed() { checked = holds_current = false; }
};

}  // namespace rosenblatt
