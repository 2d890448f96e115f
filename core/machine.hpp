// A machine: hyperplanes, the rule that moves them, the order of visits and the stop tests.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <variant>
#include <vector>

#include "minover.hpp"
#include "observers.hpp"
#include "order.hpp"
#include "rule_adaptive.hpp"
#include "rule_alma.hpp"
#include "rule_scaled.hpp"
#include "rules.hpp"
#include "state.hpp"
#include "stop.hpp"

namespace rosenblatt {

// Rows with labels, in arrays owned by the caller.
struct Block {
    Rows rows;
    const int32_t* y;      // class numbers; below 0: not visited
    const double* weight;  // null: all 1
    double* seen;          // null, or where the score of each visited row is written
};

// The batch rule: all misclassified rows at once  [chan, cisc271]
//
//     M = {i : z_i is a mistake};   w += eta_e sum_M y_i x_i, or eta_e times the mean over M
//
// A visit only adds to the sum; the step is taken at the end of the epoch.
struct Batch {
    Additive rule;
    bool mean = false;
    std::vector<double> etas;  // one per epoch; the last one stays
    std::vector<double> sum;
    double sum_b = 0.0, total = 0.0;
};

using AnyRule = std::variant<Additive, Adaptive, Scaled, Alma, Batch, MinOver>;

// A flag that another thread may set. A copy starts unset.
struct Flag : std::atomic<bool> {
    Flag() : std::atomic<bool>(false) {}
    Flag(const Flag&) : Flag() {}
    using std::atomic<bool>::operator=;
};

// A machine is used by one thread at a time; another thread may only set `cancelled`.
struct Machine {
    AnyRule rule;
    Hyperplanes planes;
    bool direct = false;   // one hyperplane per class [Kesler]; else one, for `positive`
    int32_t positive = 1;  // the class whose rows should score above 0
    bool repeat = false;   // a weight of k means k visits in a row
    Counters counters;
    Stop stop;
    Order order;
    bool use_pocket = false;
    Pocket pocket;
    Log log;
    bool use_tally = false;
    std::vector<double> tally;         // how often each row moved the weights (times weight);
                                       // direct: one number per row and rival
    std::vector<double> class_weight;  // one number per class; empty: all 1

    // Where the current epoch is.
    bool in_epoch = false;
    int64_t position = 0;         // visits made in the current block
    bool out_of_updates = false;  // max_updates was reached in this epoch
    EpochTotals now;
    std::vector<EpochTotals> epochs;
    double rows_visited = 0.0;  // weight of the rows of this epoch, for the mean loss
    Flag cancelled;
    std::vector<double> scores;  // direct: the score of each class

    double weight_of(const Block& block, int64_t row) const {
        double k = block.weight ? block.weight[row] : 1.0;
        const size_t label = static_cast<size_t>(block.y[row]);
        if (label < class_weight.size()) k *= class_weight[label];
        return k;
    }
    int64_t next_row(int64_t t) const { return order.index.empty() ? t : order.index[t]; }
};

// Whether to stop: the machine was cancelled, or `ask` says so. `ask` is called every 50 ms at most.
class Poll {
  public:
    using Ask = bool (*)();
    explicit Poll(Ask ask) : ask_(ask), last_(Clock::now()) {}
    bool stop(const Machine& m) {
        if (m.cancelled.load(std::memory_order_relaxed)) return true;
        const auto now = Clock::now();
        if (!ask_ || now - last_ < std::chrono::milliseconds(50)) return false;
        last_ = now;
        return ask_();
    }

  private:
    using Clock = std::chrono::steady_clock;
    Ask ask_;
    Clock::time_point last_;
};

// Visit the rows of a block from m.position on, at most `most` of them. The block is done when
// m.position is 0 again. Returns running, max_updates, overflow or interrupted.
Code visit(Machine& m, const Block& block, int64_t most, Poll& poll);

// After the last block of an epoch: take the batch step, settle scaled weights, note the totals.
// `block`: all rows, which the pocket and MinOver need; null if they are not in memory.
Code close_epoch(Machine& m, const Block* block);

// The stop tests, after close_epoch. objective: NaN stands for the mean loss of the epoch.
Code judge(Machine& m, const Block* block, double objective);

// Up to n epochs over one block.
Code run_epochs(Machine& m, const Block& block, int64_t n, Poll& poll);

// Whether some row of the block would move the weights.
bool would_move(Machine& m, const Block& block);

}  // namespace rosenblatt
