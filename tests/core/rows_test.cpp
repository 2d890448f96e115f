// Row operations on arrays without a byte to spare, so that the sanitizers see reads beyond them.
//
// Every variant that this machine runs must give the bits of a plain sum in lanes.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "cpu.hpp"
#include "csr_form.hpp"
#include "float_mode.hpp"
#include "scores.hpp"

using namespace rosenblatt;

namespace {

std::mt19937_64 engine(1);

double number() {
    const double sign = engine() & 1 ? 1 : -1;
    return sign * std::ldexp(double(engine() >> 40), int(engine() % 60) - 40);
}

#define CHECK(condition)                                                        \
    if (!(condition)) {                                                         \
        std::printf("%s:%d: %s is not true\n", __FILE__, __LINE__, #condition); \
        std::exit(1);                                                           \
    }

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Arrays of exactly the size that they need.
template <class T>
std::unique_ptr<T[]> exact(const std::vector<T>& values) {
    std::unique_ptr<T[]> out(new T[values.size()]);
    for (size_t k = 0; k < values.size(); ++k) out[k] = values[k];
    return out;
}

double lane_sum(const std::vector<double>& terms) {
    double s[LANES] = {};
    for (size_t j = 0; j < terms.size(); ++j) s[j % LANES] += terms[j];
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) s[l] += s[l + half];
    return s[0];
}

template <class T, class I>
void test_matrix(int64_t n, int64_t d, int64_t planes) {
    std::vector<T> x(size_t(n * d)), values;
    std::vector<I> columns, starts{0};
    for (T& value : x) value = engine() % 3 ? T(number()) : T(0);
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < d; ++j)
            if (x[size_t(i * d + j)] != 0) {
                values.push_back(x[size_t(i * d + j)]);
                columns.push_back(I(j));
            }
        starts.push_back(I(columns.size()));
    }
    const auto X = exact(x);
    const auto data = exact(values);
    const auto indices = exact(columns);
    const auto indptr = exact(starts);
    std::vector<double> weights(size_t(planes * d)), offsets(static_cast<size_t>(planes));
    for (double& w : weights) w = number();
    for (double& b : offsets) b = number();
    const auto W = exact(weights);
    const auto b = exact(offsets);
    CHECK(csr_form(indptr.get(), n + 1, indices.get(), int64_t(columns.size()), d) ==
          CsrForm::sorted);

    constexpr bool f64 = sizeof(T) == 8, i64 = sizeof(I) == 8;
    const Kind csr = f64 ? (i64 ? Kind::csr_f64_i64 : Kind::csr_f64_i32)
                         : (i64 ? Kind::csr_f32_i64 : Kind::csr_f32_i32);
    int n_cpus;
    const Cpu* all = cpus(n_cpus);
    for (int c = 0; c < n_cpus; ++c) {
        if (!all[c].runs_here()) continue;
        const Rows kinds[] = {{all[c].row_ops(f64 ? Kind::dense_f64 : Kind::dense_f32), X.get(),
                               nullptr, nullptr, n, d},
                              {all[c].row_ops(csr), data.get(), indices.get(), indptr.get(), n, d}};
        for (const Rows& rows : kinds) {
            const auto out = exact(std::vector<double>(size_t(n * planes)));
            scores(rows, W.get(), b.get(), planes, out.get(), 2);
            for (int64_t i = 0; i < n; ++i)
                for (int64_t p = 0; p < planes; ++p) {
                    std::vector<double> terms;
                    for (int64_t j = 0; j < d; ++j)
                        terms.push_back(double(x[size_t(i * d + j)]) * W[size_t(p * d + j)]);
                    const double dot = lane_sum(terms);
                    CHECK(same_bits(rows.ops->dot(rows, i, W.get() + p * d), dot));
                    CHECK(same_bits(out[size_t(i * planes + p)], dot + b[size_t(p)]));
                }
            if (planes == 0) continue;
            const auto y = exact(std::vector<int32_t>(size_t(n), 1));
            std::vector<int64_t> visits;
            for (int64_t t = 0; t < 3 * n; ++t) visits.push_back(int64_t(engine()) & 0xffff);
            for (int64_t& t : visits) t %= n;
            const auto order = exact(visits);
            const auto seen = exact(std::vector<double>(static_cast<size_t>(n)));
            const Scan scan{y.get(), 1, order.get(), 3 * n, seen.get(), 3 * n};
            for (int64_t t = 0; t < 3 * n; ++t) {
                t = rows.ops->scan(rows, scan, W.get(), b[0], t, 0).t;
                if (t == 3 * n) break;
                CHECK(!(out[size_t(order[size_t(t)] * planes)] > 0));
            }
            std::vector<double> state(static_cast<size_t>(d)), S(size_t(d + 1), 1.0);
            const auto w = exact(state), u = exact(state), room = exact(state);
            const auto variances = exact(S);
            const auto names = exact(std::vector<int64_t>(static_cast<size_t>(d)));
            for (int64_t i = 0; i < n; ++i) {
                rows.ops->add(rows, i, 0.5, w.get(), !f64);
                rows.ops->nudge(rows, i, 0.5, 2, 1e-9, variances.get(), w.get(), u.get(), !f64);
                CHECK(rows.ops->variance(rows, i, variances.get()) >= 1);
                CHECK(rows.ops->square(rows, i) >= 0);
                const Entries e = rows.ops->load(rows, i, {names.get(), room.get()});
                for (int64_t k = 0; k < e.n; ++k) {
                    const int64_t j = e.columns ? e.columns[k] : k;
                    CHECK(e.values[k] == double(x[size_t(i * d + j)]));
                }
            }
        }
    }
}

void test_float_mode() {
#if defined(__x86_64__)
    const unsigned found = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(found | 0x8040);
    volatile double tiny = 1e-310;
    CHECK(tiny * 1.0 == 0);
    {
        StandardFloats standard;
        CHECK(tiny * 1.0 != 0);
    }
    CHECK(tiny * 1.0 == 0);
    __builtin_ia32_ldmxcsr(found);
#endif
}

}  // namespace

int main() {
    for (int round = 0; round < 300; ++round) {
        const int64_t n = 1 + int64_t(engine() % 12), d = int64_t(engine() % 40);
        const int64_t planes = int64_t(engine() % 12);
        test_matrix<float, int32_t>(n, d, planes);
        test_matrix<double, int32_t>(n, d, planes);
        test_matrix<float, int64_t>(n, d, planes);
        test_matrix<double, int64_t>(n, d, planes);
    }
    test_matrix<float, int32_t>(50, 784, 10);
    test_matrix<double, int64_t>(400, 100, 1);
    test_float_mode();
    std::puts("rows: ok");
}
