// MinOver: steps, columns of the Gram matrix, and the interval that the run has proven.
#include <algorithm>
#include <cmath>
#include <limits>

#include "minover_steps.hpp"

namespace rosenblatt {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double UNIT = 0x1p-53, UNIT32 = 0x1p-24;  // rounding units of float64 and float32

bool takes_part(const Machine& m, const Block& block, int64_t i) {
    return block.y[i] >= 0 && m.weight_of(block, i) > 0.0;
}

double sign_of(const Machine& m, const Block& block, int64_t i) {
    return block.y[i] == m.positive ? 1.0 : -1.0;
}

// rule.sum = sum_i amounts_i y_i x_i; returns the offset that goes with it.
template <class T>
double weighted_sum(const Machine& m, MinOver& rule, const Block& block, const T& amounts) {
    std::fill(rule.sum.begin(), rule.sum.end(), 0.0);
    double b = 0.0;
    for (int64_t i = 0; i < block.rows.n; ++i) {
        if (amounts[i] == 0) continue;
        const double c = static_cast<double>(amounts[i]) * sign_of(m, block, i);
        block.rows.ops->add(block.rows, i, c, rule.sum.data(), false);
        b += c;
    }
    return rule.intercept ? b : 0.0;
}

// The interval for the largest margin, wide enough for the rounding of d + 1 products and of the
// weights. A margin is off by at most (d + 2) UNIT |z| |w|. A weight, a sum over the rows that were
// chosen, is off by as many UNIT times the sum of counts_i |z_ij|, and rounded to `unit`.
void enclose(MinOver& rule, double low, int64_t d, double unit) {
    const double size = std::sqrt(rule.square);
    double slack = 1.01 * static_cast<double>(d + 8) * UNIT * rule.longest;
    rule.lower = -rule.longest - slack;
    if (rule.square > 1e-280) rule.lower = low / size - slack;  // below, squares lose digits
    rule.upper = INF;
    if (rule.steps > 0.0) {
        slack += 1.01 * (rule.chosen + 8.0) * UNIT * rule.longest;
        rule.upper = (1.0 + 2.0 * unit) * size / rule.steps + slack + 1e-140;
    }
}

// The weights from the counts, the margins from the weights, and what they prove.
void refresh(Machine& m, MinOver& rule, const Block& block) {
    Hyperplane h = m.planes[0];
    if (h.u) {
        *h.ub = weighted_sum(m, rule, block, rule.moments);
        std::copy(rule.sum.begin(), rule.sum.end(), h.u);
    }
    *h.b = m.planes.stored(weighted_sum(m, rule, block, rule.counts));
    for (int64_t j = 0; j < h.d; ++j) h.w[j] = m.planes.stored(rule.sum[j]);
    rule.square = sum_of_squares(h.w, h.d) + *h.b * *h.b;
    double low = INF;
    for (int64_t i = 0; i < block.rows.n; ++i) {
        rule.margins[i] = INF;
        if (!takes_part(m, block, i)) continue;
        const double s = block.rows.ops->dot(block.rows, i, h.w) + *h.b;
        rule.margins[i] = sign_of(m, block, i) * s;
        low = std::min(low, rule.margins[i]);
        if (rule.steps == 0.0) {
            const double square = block.rows.ops->square(block.rows, i);
            rule.longest = std::max(rule.longest, std::sqrt(square + (rule.intercept ? 1.0 : 0.0)));
        }
    }
    enclose(rule, low, h.d, m.planes.round32 ? UNIT32 : UNIT);
}

// z_k.z_i for all rows k, or null if a product is out of range.
std::vector<double>* gram_column(Machine& m, MinOver& rule, const Block& block, int64_t i) {
    if (rule.slot[i] >= 0) return &rule.columns[rule.slot[i]];
    if (rule.counts[i] == 0) rule.chosen += 1.0;
    std::vector<double>* column = &rule.spare;
    const bool keep = static_cast<int64_t>(rule.columns.size()) < rule.kept_columns;
    if (keep) column = &rule.columns.emplace_back();
    column->assign(rule.margins.size(), 0.0);
    const double y = sign_of(m, block, i);
    std::fill(rule.sum.begin(), rule.sum.end(), 0.0);
    block.rows.ops->add(block.rows, i, y, rule.sum.data(), false);
    const double offset = rule.intercept ? y : 0.0;
    for (int64_t k = 0; k < block.rows.n; ++k) {
        if (!takes_part(m, block, k)) continue;
        const double s = block.rows.ops->dot(block.rows, k, rule.sum.data()) + offset;
        (*column)[k] = sign_of(m, block, k) * s;
        if (!(std::abs(s) < LARGEST_PRODUCT)) {
            if (keep) rule.columns.pop_back();
            return nullptr;
        }
    }
    if (keep) rule.slot[i] = static_cast<int32_t>(rule.columns.size()) - 1;
    return column;
}

// Whether the interval is narrow enough when weights and margins are computed again.
bool proven(Machine& m, MinOver& rule, const Block& block) {
    refresh(m, rule, block);
    const Found least = lowest(rule.margins);
    if (rule.lower > 0.0 && least.score * rule.steps >= (1.0 - rule.gap) * rule.square) return true;
    rule.again = 1.0 + 1.001 * rule.steps;  // rounding errors: try again later
    return false;
}

}  // namespace

void begin_minover(Machine& m, MinOver& rule, const Block& block) {
    const int64_t n = block.rows.n;
    if (rule.counts.empty()) {
        rule.counts.resize(n);
        rule.moments.resize(n);
        rule.slot.assign(n, -1);
        rule.sum.resize(m.planes.d);
        rule.margins.assign(minover_padded(size_t(n)), INF);
    }
    if (rule.steps == 0.0) refresh(m, rule, block);
}

Code visit_rows(Machine& m, MinOver& rule, const Block& block, int64_t end) {
    Counters& n = m.counters;
    auto [i, z] = lowest(rule.margins);
    if (z == INF) {  // no row takes part
        m.position = rule.steps_per_epoch;
        return Code::running;
    }
    while (m.position < end) {
        if (z > 0.0 && z * rule.steps >= (1.0 - rule.gap) * rule.square &&
            rule.again <= rule.steps) {
            if (proven(m, rule, block)) {
                m.position = rule.steps_per_epoch;  // the epoch ends here
                return Code::running;
            }
            const Found least = lowest(rule.margins);
            i = least.t, z = least.score;
        }
        if (n.updates >= m.stop.max_updates) return Code::max_updates;
        std::vector<double>* column = gram_column(m, rule, block, i);
        if (!column || !(rule.square < LARGEST_PRODUCT)) return Code::overflow;
        m.now.mistakes += mistake(z, block.y[i] == m.positive, rule.tie) > 0.0;
        ++n.updates;
        ++m.now.updates;
        ++rule.counts[i];
        rule.moments[i] += n.visits;
        rule.square += 2.0 * z + (*column)[i];
        rule.steps += 1.0;
        if (m.use_tally) m.tally[i] += 1.0;
        if (m.log.capacity > 0) {
            // w is summed at the end of the epoch, but the log has every step
            Hyperplane h = m.planes[0];
            const double y = sign_of(m, block, i);
            block.rows.ops->add(block.rows, i, y, h.w, m.planes.round32);
            if (rule.intercept) *h.b = m.planes.stored(*h.b + y);
            m.log.note(i, y, n.visits, m.planes, 1.0, 1.0);
        }
        n.visits += 1.0;
        ++m.position;
        const Found least = add_column(rule.margins, *column);
        i = least.t, z = least.score;
    }
    return Code::running;
}

void end_minover(Machine& m, MinOver& rule, const Block& block) {
    refresh(m, rule, block);
    for (int64_t i = 0; i < block.rows.n; ++i) m.now.loss += std::max(-rule.margins[i], 0.0);
}

}  // namespace rosenblatt
