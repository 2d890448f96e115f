// The visiting loop: a rule decides at each row, and an epoch ends with the stop tests.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "float_mode.hpp"
#include "machine.hpp"
#include "minover_steps.hpp"

namespace rosenblatt {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr int64_t ENTRIES_PER_SLICE = int64_t{1} << 21;  // between two checks for Ctrl-C

// The mean number of entries of a row.
int64_t entries_per_row(const Rows& rows) {
    if (!rows.indptr || rows.n == 0) return rows.d;
    const bool wide = rows.ops->kind == Kind::csr_f32_i64 || rows.ops->kind == Kind::csr_f64_i64;
    const auto start = [&](int64_t i) {
        return wide ? static_cast<const int64_t*>(rows.indptr)[i]
                    : int64_t{static_cast<const int32_t*>(rows.indptr)[i]};
    };
    return (start(rows.n) - start(0)) / rows.n;
}

// ------------------------------------------------------------------------------ scores of a row

// Fills m.scores; returns the best-scoring class other than `own`, the first on a tie.
int32_t best_rival(Machine& m, const Block& block, int64_t row, int32_t own) {
    int32_t rival = -1;
    for (int64_t k = 0; k < m.planes.n; ++k) {
        const Hyperplane h = m.planes[k];
        const double s = block.rows.ops->dot(block.rows, row, h.w) + *h.b;
        m.scores[k] = s;
        if (k != own && (rival < 0 || s > m.scores[rival])) rival = static_cast<int32_t>(k);
    }
    return rival;
}

// ----------------------------------------------------------------------------------- the pocket

// The weight of the rows that prediction gets wrong; counting stops at `limit`. Two classes: a
// score of at least 0 is the positive class, see docs/explanation/conventions.md. Scaled weights have the same
// signs.
double training_errors(Machine& m, const Block& block, double limit) {
    double wrong = 0.0;
    for (int64_t i = 0; i < block.rows.n && wrong < limit; ++i) {
        const int32_t label = block.y[i];
        if (label < 0) continue;
        bool error;
        if (m.direct) {
            best_rival(m, block, i, -1);
            error = std::max_element(m.scores.begin(), m.scores.end()) - m.scores.begin() != label;
        } else {
            const Hyperplane h = m.planes[0];
            const double s = block.rows.ops->dot(block.rows, i, h.w) + *h.b;
            error = (s >= 0.0) != (label == m.positive);
        }
        if (error) wrong += m.weight_of(block, i);
    }
    return wrong;
}

// Keep the current weights if they make fewer errors than those in the pocket.
void fill_pocket(Machine& m, const Block& block, double w_scale, double b_scale) {
    Pocket& p = m.pocket;
    if (!p.checked) {
        p.checked = true;
        const double wrong = training_errors(m, block, p.errors);
        if (wrong < p.errors || p.b.empty()) {
            p.errors = wrong;
            p.epoch = static_cast<int64_t>(m.epochs.size()) + (m.in_epoch ? 1 : 0);
            p.holds_current = true;
            p.w.resize(m.planes.n * m.planes.d);
            p.b.resize(m.planes.n);
            for (int64_t k = 0; k < m.planes.n; ++k) {
                const Hyperplane h = m.planes[k];
                for (int64_t j = 0; j < h.d; ++j)
                    p.w[k * h.d + j] = m.planes.stored(w_scale * h.w[j]);
                p.b[k] = m.planes.stored(b_scale * *h.b);
            }
        }
    }
    if (p.holds_current) p.longest_run = std::max(p.longest_run, m.counters.run);
}

// -------------------------------------------------------------------------------- one visit

// Visit one row once, with weight k: the only update of rules that look at one row at a time.
template <class Rule, bool direct>
Code visit_once(Machine& m, Rule& rule, const Block& block, int64_t row, double score, double k,
                bool& moved) {
    Counters& n = m.counters;
    const int32_t label = block.y[row];
    const bool positive = direct || label == m.positive;
    Hyperplane own = m.planes[direct ? label : 0];
    Hyperplane other = own;
    int32_t rival = -1;
    double z = positive ? score : -score;
    if constexpr (direct) {
        rival = best_rival(m, block, row, label);
        other = m.planes[rival];
        z = m.scores[label] - m.scores[rival];
        if (block.seen) std::copy(m.scores.begin(), m.scores.end(), block.seen + row * m.planes.n);
    }
    if (!std::isfinite(z)) return Code::overflow;
    const Visit at{block.rows, row, n.visits, n.updates};
    double v = 0.0;
    if (!(z > rule.bar())) {
        v = rule.variance(at, own, 0);
        if constexpr (direct) v += rule.variance(at, other, 1);
        if (!std::isfinite(v)) return Code::overflow;
    }
    Move move;
    m.now.loss += (m.repeat ? k : 1.0) * rule.loss(z, v, n.updates);
    moved = k > 0.0 && rule.decide(z, positive, k, v, n.updates, move);
    if (moved && n.updates >= m.stop.max_updates) return Code::max_updates;
    rule.before_visit(own, n.visits);
    if (moved) {
        if (m.use_pocket && n.run > m.pocket.longest_run)
            fill_pocket(m, block, rule.w_scale(), rule.b_scale());
        m.now.mistakes += mistake(z, positive, rule.tie_rule()) > 0.0;
        ++m.now.updates;
        const double c = positive ? move.step : -move.step;
        rule.apply(at, c, move, own, 0);
        if constexpr (direct) rule.apply(at, -c, move, other, 1);
        if constexpr (std::is_same_v<Rule, Additive>)
            if (m.use_tally)
                m.tally[direct ? row * m.planes.n + rival : row] += rule.amount(z, positive) * k;
        ++n.updates;
        n.run = 0.0;
        m.pocket.changed();
        if (m.log.capacity > 0)
            m.log.note(row, c, n.visits, m.planes, rule.w_scale(), rule.b_scale());
    } else if (k > 0.0) {
        n.run += 1.0;
    }
    rule.after_visit(at, own);
    n.visits += m.repeat ? k : 1.0;
    return Code::running;
}

// w.x + b before a visit. The scan has it for rules whose stored weights are w; the direct rule
// scores all classes itself.
template <class Rule>
double score_of(Machine& m, Rule& rule, const Block& block, int64_t row) {
    Hyperplane h = m.planes[0];
    if constexpr (Rule::scans) return block.rows.ops->dot(block.rows, row, h.w) + *h.b;
    return rule.score({block.rows, row, m.counters.visits, m.counters.updates}, h);
}

// Visits m.position, ..., end - 1 of the block.
template <class Rule, bool direct>
Code visit_rows(Machine& m, Rule& rule, const Block& block, int64_t end) {
    constexpr bool scans = Rule::scans && !direct;
    const Hyperplane h = m.planes[0];
    const int64_t n_order = static_cast<int64_t>(m.order.index.size());
    const Scan scan{block.y, m.positive, m.order.data(), end, block.seen, n_order};
    const bool repeat = m.repeat && (block.weight || !m.class_weight.empty());
    const double bar = repeat ? INF : rule.bar();  // a row of any margin may count several visits
    bool moved = false;
    while (m.position < end) {
        double score = 0.0;
        if constexpr (scans) {
            const Found found = block.rows.ops->scan(block.rows, scan, h.w, *h.b, m.position, bar);
            const double passed = static_cast<double>(found.t - m.position);
            m.counters.visits += passed;
            m.counters.run += passed;
            m.rows_visited += passed;
            m.position = found.t;
            if (found.t == end) break;
            score = found.score;
        }
        const int64_t row = m.next_row(m.position);
        if (block.y[row] < 0) {
            ++m.position;
            continue;
        }
        if constexpr (!scans && !direct) {
            score = score_of(m, rule, block, row);
            if (block.seen) block.seen[row] = score;
        }
        const double weight = m.weight_of(block, row);
        m.rows_visited += repeat ? weight : 1.0;
        Code code = Code::running;
        if (!repeat) {
            code = visit_once<Rule, direct>(m, rule, block, row, score, weight, moved);
        } else {
            // a weight of k is floor(k) visits in a row, and one of the weight that remains
            for (double left = weight; left > 0.0 && code == Code::running; left -= 1.0) {
                code = visit_once<Rule, direct>(m, rule, block, row, score, std::min(left, 1.0),
                                                moved);
                if (!moved && left > 1.0) {  // the remaining visits would not move anything either
                    m.counters.visits += left - 1.0;
                    m.counters.run += std::ceil(left - 1.0);
                    break;
                }
                if (left > 1.0 && !direct) score = score_of(m, rule, block, row);
            }
        }
        if (code != Code::running) return code;
        ++m.position;
    }
    return Code::running;
}

template <class Rule>
Code visit_rows(Machine& m, Rule& rule, const Block& block, int64_t end) {
    if constexpr (Rule::scans)
        if (m.direct) return visit_rows<Rule, true>(m, rule, block, end);
    return visit_rows<Rule, false>(m, rule, block, end);
}

// ------------------------------------------------------------------------------------- batch

Code visit_rows(Machine& m, Batch& batch, const Block& block, int64_t end) {
    const Hyperplane h = m.planes[0];
    const Additive& rule = batch.rule;
    const Scan scan{block.y, m.positive, nullptr, end, block.seen};
    while (m.position < end) {
        const Found found = block.rows.ops->scan(block.rows, scan, h.w, *h.b, m.position, rule.tau);
        m.rows_visited += static_cast<double>(found.t - m.position);
        m.position = found.t;
        if (found.t == end) break;
        const int64_t row = m.position++;
        if (block.y[row] < 0) continue;
        const bool positive = block.y[row] == m.positive;
        const double z = positive ? found.score : -found.score;
        if (!std::isfinite(z)) return Code::overflow;
        m.rows_visited += 1.0;
        m.now.loss += std::max(rule.tau - z, 0.0);
        const double k = m.weight_of(block, row), amount = rule.amount(z, positive) * k;
        if (!(amount > 0.0)) continue;
        m.now.mistakes += mistake(z, positive, rule.tie) > 0.0;
        const double c = positive ? amount : -amount;
        block.rows.ops->add(block.rows, row, c, batch.sum.data(), false);
        batch.sum_b += c;
        batch.total += amount;
        if (m.use_tally) m.tally[row] += amount;
    }
    return Code::running;
}

void take_batch_step(Machine& m, Batch& batch) {
    if (batch.total > 0.0) {
        if (m.counters.updates >= m.stop.max_updates) {
            m.out_of_updates = true;
            return;
        }
        Hyperplane h = m.planes[0];
        const double eta = batch.etas[std::min(m.epochs.size(), batch.etas.size() - 1)];
        const double share = batch.mean ? batch.total : 1.0, visits = m.counters.visits;
        for (int64_t j = 0; j < h.d; ++j) {
            const double change = eta * batch.sum[j] / share;
            h.w[j] = m.planes.stored(h.w[j] + change);
            if (h.u) h.u[j] += visits * change;
        }
        if (batch.rule.intercept) {
            const double change = eta * batch.sum_b / share;
            *h.b = m.planes.stored(*h.b + change);
            if (h.u) *h.ub += visits * change;
        }
        ++m.now.updates;
        ++m.counters.updates;
        m.counters.run = 0.0;
        m.pocket.changed();
        if (m.log.capacity > 0) m.log.note(-1, eta / share, visits, m.planes, 1.0, 1.0);
    }
    m.counters.visits += 1.0;
}

// ------------------------------------------------------------------------------------ epochs

void begin_epoch(Machine& m, const Block& block) {
    if (m.stop.watch_cycle && m.stop.saved_b.empty()) m.stop.save(m.planes, m.counters.updates);
    if (m.use_tally && m.tally.empty()) m.tally.resize(block.rows.n * (m.direct ? m.planes.n : 1));
    if (m.use_pocket && !m.pocket.checked) fill_pocket(m, block, 1.0, 1.0);
    m.now = {};
    m.rows_visited = 0.0;
    m.position = 0;
    m.out_of_updates = false;
    m.in_epoch = true;
    std::visit(
        [&](auto& rule) {
            using Rule = std::decay_t<decltype(rule)>;
            if constexpr (std::is_same_v<Rule, Batch>) {
                rule.sum.assign(m.planes.d, 0.0);
                rule.sum_b = rule.total = 0.0;
            } else if constexpr (std::is_same_v<Rule, MinOver>) {
                begin_minover(m, rule, block);
            } else {
                m.order.arrange(block.rows.n);
                if (!m.direct) {
                    Hyperplane h = m.planes[0];
                    rule.begin_epoch(h, m.counters.visits);
                }
            }
        },
        m.rule);
}

}  // namespace

Code visit(Machine& m, const Block& block, int64_t most, Poll& poll) {
    const StandardFloats standard;
    if (!m.in_epoch) begin_epoch(m, block);
    if (m.out_of_updates) return Code::max_updates;
    const auto* minover = std::get_if<MinOver>(&m.rule);
    const int64_t n = minover ? minover->steps_per_epoch : block.rows.n;
    const int64_t last = most < n - m.position ? m.position + most : n;
    const int64_t per_visit = minover ? block.rows.n : entries_per_row(block.rows) * m.planes.n;
    const int64_t slice =
        std::max<int64_t>(64, ENTRIES_PER_SLICE / std::max<int64_t>(1, per_visit));
    Code code = Code::running;
    while (m.position < last && code == Code::running) {
        const int64_t end = std::min(last, m.position + slice);
        code = std::visit([&](auto& rule) { return visit_rows(m, rule, block, end); }, m.rule);
        if (code == Code::running && m.position < last && poll.stop(m)) return Code::interrupted;
    }
    m.out_of_updates = code == Code::max_updates;
    if (code != Code::running || m.position >= n) m.position = 0;
    return code;
}

Code close_epoch(Machine& m, const Block* block) {
    const StandardFloats standard;
    std::visit(
        [&](auto& rule) {
            using Rule = std::decay_t<decltype(rule)>;
            if constexpr (std::is_same_v<Rule, Batch>) {
                take_batch_step(m, rule);
            } else if constexpr (std::is_same_v<Rule, MinOver>) {
                if (block) end_minover(m, rule, *block);
            } else if (!m.direct) {
                Hyperplane h = m.planes[0];
                rule.settle(h, m.counters.visits);
            }
        },
        m.rule);
    double squares = 0.0;
    bool finite = all_finite(m.planes.b, m.planes.n);
    for (int64_t k = 0; k < m.planes.n; ++k) {
        const Hyperplane h = m.planes[k];
        const double square = sum_of_squares(h.w, h.d);
        finite = finite && (std::isfinite(square) || all_finite(h.w, h.d));
        squares += square;
    }
    m.now.norm = std::sqrt(squares);
    if (m.use_pocket && block && finite) fill_pocket(m, *block, 1.0, 1.0);
    m.epochs.push_back(m.now);
    m.in_epoch = false;
    m.position = 0;
    return finite ? Code::running : Code::overflow;
}

Code judge(Machine& m, const Block* block, double objective) {
    const EpochTotals& epoch = m.epochs.back();
    if (m.out_of_updates) return Code::max_updates;
    if (std::isnan(objective) && !(m.stop.ignore_zero_loss && epoch.loss == 0.0))
        objective = epoch.loss / (m.stop.size > 0.0 ? m.stop.size : m.rows_visited);
    const Code code = m.stop.end_epoch(
        epoch.updates, objective, &m.planes, m.counters.updates,
        [&] { return m.order.kind == OrderKind::sampled && block && would_move(m, *block); });
    if (code != Code::no_improvement) return code;
    const bool slower = std::visit(
        [](auto& rule) {
            using Rule = std::decay_t<decltype(rule)>;
            if constexpr (std::is_same_v<Rule, Scaled>) return rule.slower();
            return false;
        },
        m.rule);
    if (!slower) return code;
    m.stop.stalled = 0;
    return Code::running;
}

Code run_epochs(Machine& m, const Block& block, int64_t n, Poll& poll) {
    for (int64_t epoch = 0; epoch < n; ++epoch) {
        Code code = visit(m, block, std::numeric_limits<int64_t>::max(), poll);
        if (code == Code::interrupted) return code;
        const Code closed = close_epoch(m, &block);
        if (code == Code::overflow || closed == Code::overflow) return Code::overflow;
        code = judge(m, &block, NAN);
        if (code != Code::running) return code;
        if (poll.stop(m)) return Code::interrupted;
    }
    return Code::running;
}

bool would_move(Machine& m, const Block& block) {
    return std::visit(
        [&](auto& rule) {
            using Rule = std::decay_t<decltype(rule)>;
            if constexpr (std::is_same_v<Rule, Batch> || std::is_same_v<Rule, MinOver>) {
                return false;
            } else {
                for (int64_t i = 0; i < block.rows.n; ++i) {
                    const int32_t label = block.y[i];
                    if (label < 0 || !(m.weight_of(block, i) > 0.0)) continue;
                    const Visit at{block.rows, i, m.counters.visits, m.counters.updates};
                    const bool positive = m.direct || label == m.positive;
                    const int32_t rival = m.direct ? best_rival(m, block, i, label) : -1;
                    double z;
                    if (m.direct) {
                        z = m.scores[label] - m.scores[rival];
                    } else {
                        const double s = score_of(m, rule, block, i);
                        z = positive ? s : -s;
                    }
                    double v = rule.variance(at, m.planes[m.direct ? label : 0], 0);
                    if (m.direct) v += rule.variance(at, m.planes[rival], 1);
                    Move move;
                    if (rule.decide(z, positive, 1.0, v, m.counters.updates, move)) return true;
                }
                return false;
            }
        },
        m.rule);
}

}  // namespace rosenblatt
