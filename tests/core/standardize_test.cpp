// Running standardization beside moments that are computed from all values so far.
#include "standardize.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

using namespace rosenblatt;

namespace {

std::mt19937_64 engine(1);
size_t below(size_t n) { return engine() % n; }

#define CHECK(condition)                                                        \
    if (!(condition)) {                                                         \
        std::printf("%s:%d: %s is not true\n", __FILE__, __LINE__, #condition); \
        std::exit(1);                                                           \
    }

// Rows in arrays of exactly their size, so that the sanitizers see what lies beyond.
struct Random {
    int64_t n, d;
    std::unique_ptr<double[]> values;
    std::unique_ptr<int32_t[]> indptr, indices;
};

Random random_rows(bool sparse) {
    Random rows{int64_t(below(30)), int64_t(1 + below(4)), nullptr, nullptr, nullptr};
    std::vector<double> values;
    std::vector<int32_t> columns, ends{0};
    for (int64_t i = 0; i < rows.n; ++i) {
        for (int64_t j = 0; j < rows.d; ++j) {
            if (sparse && below(3) == 0) continue;
            values.push_back(double(below(7)) + (below(9) == 0 ? 1e3 : 0.0));
            columns.push_back(int32_t(j));
        }
        ends.push_back(int32_t(values.size()));
    }
    const auto copy = [](const auto& from, auto& to) {
        to.reset(new typename std::decay_t<decltype(from)>::value_type[from.size()]);
        std::copy(from.begin(), from.end(), to.get());
    };
    copy(values, rows.values);
    if (sparse) copy(columns, rows.indices), copy(ends, rows.indptr);
    return rows;
}

void test(bool sparse) {
    const Random rows = random_rows(sparse);
    std::vector<int32_t> place(size_t(rows.d));
    int32_t k = 0;
    for (int32_t& p : place) p = below(4) ? k++ : -1;
    const auto n_places = static_cast<size_t>(k);
    std::vector<double> count(n_places), mean(n_places), squares(n_places);
    std::vector<std::vector<double>> seen(n_places);
    std::vector<double> expected;
    const auto entries = sparse ? rows.indptr[size_t(rows.n)] : rows.n * rows.d;
    for (int64_t e = 0; e < entries; ++e) {
        const int64_t j = sparse ? rows.indices[size_t(e)] : e % rows.d;
        const double x = rows.values[size_t(e)];
        if (place[size_t(j)] < 0) {
            expected.push_back(x);
            continue;
        }
        auto& values = seen[size_t(place[size_t(j)])];
        values.push_back(x);
        double sum = 0.0, square = 0.0;
        for (const double v : values) sum += v;
        const double center = sum / double(values.size());
        for (const double v : values) square += (v - center) * (v - center);
        const double z = (x - center) / std::sqrt(square / double(values.size()));
        expected.push_back(square > 0.0 ? std::clamp(z, -10.0, 10.0) : 0.0);
    }
    const RunningMoments moments{count.data(), mean.data(), squares.data()};
    const int64_t bad = standardize(rows.values.get(), rows.indptr.get(), rows.indices.get(),
                                    rows.n, rows.d, place.data(), 0, moments);
    CHECK(bad == -1);
    for (size_t e = 0; e < expected.size(); ++e)
        CHECK(std::abs(rows.values[e] - expected[e]) <= 1e-9);
}

void test_overflow() {
    double values[] = {1e308, -1e308}, count = 0.0, mean = 0.0, squares = 0.0;
    const int32_t place = 0;
    CHECK(standardize(values, nullptr, nullptr, 2, 1, &place, 0, {&count, &mean, &squares}) == 1);
}

}  // namespace

int main() {
    for (int k = 0; k < 5000; ++k) test(k % 2 == 0);
    test_overflow();
    std::printf("standardization: no fault\n");
}
