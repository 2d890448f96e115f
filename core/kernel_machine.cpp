// The loops of the kernel perceptron; kernel_machine.hpp has the mathematics.
#include "kernel_machine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "order.hpp"

namespace rosenblatt {
namespace {

// y_k of a row: +1 or -1.
double sign(int32_t label, int64_t plane, int64_t planes) {
    return label == (planes == 1 ? 1 : plane) ? 1.0 : -1.0;
}

// out = G x, four rows at a time. G is symmetric, n x n; its rows are `stride` numbers apart.
void multiply(const double* G, int64_t stride, const double* x, int64_t n, double* out) {
    std::fill_n(out, n, 0.0);
    int64_t m = 0;
    for (; m + 4 <= n; m += 4) {
        const double *g = G + m * stride, *h = g + stride, *p = h + stride, *q = p + stride;
        for (int64_t j = 0; j < n; ++j)
            out[j] += (x[m] * g[j] + x[m + 1] * h[j]) + (x[m + 2] * p[j] + x[m + 3] * q[j]);
    }
    for (; m < n; ++m)
        for (int64_t j = 0; j < n; ++j) out[j] += x[m] * G[m * stride + j];
}

// f_k(x) of all hyperplanes, from the kernel values of x with the support rows.
bool finite_scores(const SupportRows& support, const double* values, std::vector<double>& scores) {
    std::fill(scores.begin(), scores.end(), 0.0);
    for (int64_t j = 0; j < support.size; ++j)
        for (int64_t k = 0; k < support.planes; ++k)
            scores[k] += support.coef[j * support.planes + k] * values[j];
    return all_finite(scores.data(), support.planes);
}

// Row r of the block takes place j: later rows of the block see its kernel values there.
template <class T>
void take_place(const GramBlock<T>& block, int64_t r, int64_t j, SupportRows& support,
                const LimitedSupport& limited) {
    support.set(j, block.index[r]);
    limited.new_row[j] = r;
    for (int64_t q = r + 1; q < block.n; ++q)
        limited.values[q * limited.places + j] = block.gram[r * block.n + q];
}

}  // namespace

template <class T>
Code visit_unlimited(const GramBlock<T>& block, double* scores, SupportRows& support,
                     const KernelTotals& totals, CoefficientSteps& steps,
                     std::vector<int64_t>& new_rows) {
    const int64_t n = block.n, planes = support.planes;
    for (int64_t r = 0; r < n; ++r) {
        if (block.weight[r] == 0.0) continue;
        const T* gram = block.gram + r * n;
        const int64_t i = block.index[r];
        for (int64_t k = 0; k < planes; ++k) {
            const double y = sign(block.label[r], k, planes), s = scores[k * n + r];
            if (!std::isfinite(s)) return Code::overflow;
            if (y * s > 0.0) continue;
            if (support.place[i] < 0) {
                support.set(support.size++, i);
                new_rows.push_back(r);
            }
            const int64_t j = support.place[i];
            const double amount = y * block.weight[r];
            support.coef[j * planes + k] += amount;
            support.lag[j * planes + k] += amount * static_cast<double>(block.visits + r);
            ++totals.mistakes[k];
            totals.square_norm[k] += 2.0 * amount * s + amount * amount * gram[r];
            steps.visit.push_back(block.visits + r + 1);
            steps.support.push_back(j);
            steps.plane.push_back(k);
            steps.amount.push_back(amount);
            for (int64_t q = r + 1; q < n; ++q) scores[k * n + q] += amount * gram[q];
        }
    }
    return Code::running;
}

template <class T>
Code visit_dropping(const GramBlock<T>& block, SupportRows& support, const LimitedSupport& limited,
                    uint32_t& seed, const KernelTotals& totals) {
    const int64_t planes = support.planes;
    std::vector<double> scores(planes);
    for (int64_t r = 0; r < block.n; ++r) {
        if (block.weight[r] == 0.0) continue;
        if (!finite_scores(support, limited.values + r * limited.places, scores))
            return Code::overflow;
        const int64_t i = block.index[r];
        for (int64_t k = 0; k < planes; ++k) {
            const double y = sign(block.label[r], k, planes);
            if (y * scores[k] > 0.0) continue;
            ++totals.mistakes[k];
            if (support.place[i] < 0) {
                int64_t j = support.size;
                if (j < limited.limit) {
                    ++support.size;
                } else {
                    seed = Order::next(seed);
                    j = (seed & 0x7FFFFFFF) % limited.limit;
                    support.forget(j);
                    std::fill_n(support.coef + j * planes, planes, 0.0);
                }
                take_place(block, r, j, support, limited);
            }
            support.coef[support.place[i] * planes + k] += y * block.weight[r];
        }
    }
    return Code::running;
}

template <class T>
Code visit_projecting(const GramBlock<T>& block, SupportRows& support,
                      const LimitedSupport& limited, const Projection& projection,
                      const KernelTotals& totals) {
    const int64_t planes = support.planes, limit = limited.limit;
    const double near = projection.eta * projection.eta;
    const double rounding = std::sqrt(std::numeric_limits<T>::epsilon());
    std::vector<double> scores(planes), amounts(planes), d(limited.places + 1);
    for (int64_t r = 0; r < block.n; ++r) {
        if (block.weight[r] == 0.0) continue;
        const double* values = limited.values + r * limited.places;
        if (!finite_scores(support, values, scores)) return Code::overflow;
        bool mistake = false;
        for (int64_t k = 0; k < planes; ++k) {
            const double y = sign(block.label[r], k, planes);
            const bool wrong = !(y * scores[k] > 0.0);
            amounts[k] = wrong ? y * block.weight[r] : 0.0;
            totals.mistakes[k] += wrong;
            mistake = mistake || wrong;
        }
        if (!mistake) continue;

        const int64_t i = block.index[r], size = support.size;
        const double visits = static_cast<double>(block.visits + r);
        double square = block.gram[r * block.n + r];  // of what is added: K(x, x), or less
        bool project = false;
        if (support.place[i] < 0) {
            multiply(projection.inverse, limit, values, size, d.data());
            double distance = square;
            for (int64_t j = 0; j < size; ++j) distance -= d[j] * values[j];
            project = size == limit || distance <= std::max(near, rounding * square);
            if (project) {
                square -= distance;
            } else {
                d[size] = -1.0;
                for (int64_t j = 0; j <= size; ++j)
                    for (int64_t m = 0; m <= size; ++m)
                        projection.inverse[j * limit + m] += d[j] * d[m] / distance;
                ++support.size;
                take_place(block, r, size, support, limited);
            }
        }
        for (int64_t k = 0; k < planes; ++k)
            totals.square_norm[k] += amounts[k] * (2.0 * scores[k] + amounts[k] * square);
        const int64_t first = project ? 0 : support.place[i], last = project ? size : first + 1;
        for (int64_t j = first; j < last; ++j) {
            for (int64_t k = 0; k < planes; ++k) {
                const double change = project ? amounts[k] * d[j] : amounts[k];
                support.coef[j * planes + k] += change;
                support.lag[j * planes + k] += change * visits;
            }
        }
    }
    return Code::running;
}

template <class T>
void replay(const Replay<T>& run, double* last, double* average, double* vote) {
    const int64_t n = run.n;
    std::vector<double> score(n), sum(n), votes(n);
    int64_t now = 0, step = 0;
    for (int64_t e = 0; e < run.n_ends; ++e) {
        for (;;) {
            const bool more = step < run.n_steps && run.visit[step] <= run.ends[e];
            const int64_t until = more ? run.visit[step] - 1 : run.ends[e];
            const double survived = static_cast<double>(until - now);
            now = until;
            if (survived > 0.0) {
                for (int64_t q = 0; q < n; ++q) {
                    sum[q] += survived * score[q];
                    votes[q] += score[q] >= 0.0 ? survived : -survived;
                }
            }
            if (!more) break;
            const T* values = run.values + run.support[step] * n;
            const double amount = run.amount[step++];
            for (int64_t q = 0; q < n; ++q) score[q] += amount * values[q];
        }
        const double total = std::max(1.0, static_cast<double>(run.ends[e]));
        for (int64_t q = 0; q < n; ++q) {
            last[e * n + q] = score[q];
            average[e * n + q] = sum[q] / total;
            vote[e * n + q] = votes[q] / total;
        }
    }
}

template Code visit_unlimited(const GramBlock<float>&, double*, SupportRows&, const KernelTotals&,
                              CoefficientSteps&, std::vector<int64_t>&);
template Code visit_unlimited(const GramBlock<double>&, double*, SupportRows&, const KernelTotals&,
                              CoefficientSteps&, std::vector<int64_t>&);
template Code visit_dropping(const GramBlock<float>&, SupportRows&, const LimitedSupport&,
                             uint32_t&, const KernelTotals&);
template Code visit_dropping(const GramBlock<double>&, SupportRows&, const LimitedSupport&,
                             uint32_t&, const KernelTotals&);
template Code visit_projecting(const GramBlock<float>&, SupportRows&, const LimitedSupport&,
                               const Projection&, const KernelTotals&);
template Code visit_projecting(const GramBlock<double>&, SupportRows&, const LimitedSupport&,
                               const Projection&, const KernelTotals&);
template void replay(const Replay<float>&, double*, double*, double*);
template void replay(const Replay<double>&, double*, double*, double*);

}  // namespace rosenblatt
