#include "scores.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "float_mode.hpp"

namespace rosenblatt {
namespace {

// Below this many products a thread costs more than it saves.
constexpr int64_t PRODUCTS_PER_THREAD = 1 << 18;

int64_t n_entries(const Rows& rows) {
    switch (rows.ops->kind) {
        case Kind::csr_f32_i32:
        case Kind::csr_f64_i32: {
            const auto* p = static_cast<const int32_t*>(rows.indptr);
            return int64_t(p[rows.n]) - p[0];
        }
        case Kind::csr_f32_i64:
        case Kind::csr_f64_i64: {
            const auto* p = static_cast<const int64_t*>(rows.indptr);
            return p[rows.n] - p[0];
        }
        default: return rows.n * rows.d;
    }
}

// W in the layout that the rows take: by columns for CSR rows, in blocks that stay in the cache; by
// planes for dense rows, each padded with zeros.
std::vector<double> arranged(const double* W, int64_t planes, int64_t d, bool dense) {
    if (dense) {
        std::vector<double> out(size_t(planes * padded(d)));
        for (int64_t p = 0; p < planes; ++p)
            std::copy(W + p * d, W + (p + 1) * d, out.begin() + p * padded(d));
        return out;
    }
    constexpr int64_t BLOCK = 64;
    std::vector<double> out(size_t(planes * d));
    for (int64_t from = 0; from < d; from += BLOCK)
        for (int64_t p = 0; p < planes; ++p)
            for (int64_t j = from; j < std::min(d, from + BLOCK); ++j)
                out[size_t(j * planes + p)] = W[p * d + j];
    return out;
}

}  // namespace

void scores(const Rows& rows, const double* W, const double* b, int64_t planes, double* out,
            int n_threads) {
    if (rows.n == 0 || planes == 0) return;
    const StandardFloats standard;
    const int64_t entries = n_entries(rows);
    const bool dense = is_dense(rows.ops->kind);
    if (entries < 4 * rows.d) {  // arranging the weights would take longer than the scores
        for (int64_t i = 0; i < rows.n; ++i)
            for (int64_t p = 0; p < planes; ++p)
                out[i * planes + p] = rows.ops->dot(rows, i, W + p * rows.d) + b[p];
        return;
    }
    std::vector<double> copy;
    if (dense ? padded(rows.d) != rows.d : planes > 1) {
        copy = arranged(W, planes, rows.d, dense);
        W = copy.data();
    }
    const int64_t useful = 1 + entries * planes / PRODUCTS_PER_THREAD;
    const int64_t n = std::clamp<int64_t>(std::min<int64_t>(n_threads, useful), 1, rows.n);
    auto part = [&](int64_t k) {
        const StandardFloats in_this_thread;
        rows.ops->scores(rows, W, b, planes, out, rows.n * k / n, rows.n * (k + 1) / n);
    };
    std::vector<std::thread> threads;
    threads.reserve(size_t(n - 1));
    int64_t started = 1;
    try {
        for (; started < n; ++started) threads.emplace_back(part, started);
    } catch (...) {  // no further thread can be started: this one does the rest
    }
    part(0);
    for (int64_t k = started; k < n; ++k) part(k);
    for (std::thread& thread : threads) thread.join();
}

}  // namespace rosenblatt
