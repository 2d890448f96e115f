// Training runs of every rule on small random rows, for the sanitizers.
//
// Dense and CSR rows must give the same weights, and so must one visit at a time.
#include "machine.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "cpu.hpp"

using namespace rosenblatt;

namespace {

std::mt19937_64 engine(1);

#define CHECK(condition)                                                        \
    if (!(condition)) {                                                         \
        std::printf("%s:%d: %s is not true\n", __FILE__, __LINE__, #condition); \
        std::exit(1);                                                           \
    }

double uniform() { return double(engine() >> 11) * 0x1p-53; }

struct Data {
    int64_t n, d;
    std::vector<double> dense, values, weight;
    std::vector<int32_t> columns, starts, y;

    Data(int64_t n, int64_t d, int classes) : n(n), d(d) {
        starts.push_back(0);
        for (int64_t i = 0; i < n; ++i) {
            for (int64_t j = 0; j < d; ++j) {
                const double x = uniform() < 0.5 ? 0.0 : 2.0 * uniform() - 1.0;
                dense.push_back(x);
                if (x == 0.0) continue;
                values.push_back(x);
                columns.push_back(int32_t(j));
            }
            starts.push_back(int32_t(values.size()));
            y.push_back(int32_t(engine() % uint64_t(classes + 1)) - 1);  // -1: not visited
            weight.push_back(double(engine() % 4));
        }
    }
    Block block(bool csr, bool weighted) const {
        const RowOps* ops = row_ops(csr ? Kind::csr_f64_i32 : Kind::dense_f64);
        Rows rows{ops, dense.data(), nullptr, nullptr, n, d};
        if (csr) rows = {ops, values.data(), columns.data(), starts.data(), n, d};
        return {rows, y.data(), weighted ? weight.data() : nullptr, nullptr};
    }
};

// The weights, sums and variances of a machine, in arrays of exactly their size.
struct Arrays {
    std::vector<double> w, b, u, ub, S;

    Arrays(int64_t planes, int64_t d, bool full)
        : w(planes * d), b(planes), u(planes * d), ub(planes) {
        const int64_t width = d + 1;
        S.assign(planes * (full ? width * width : width), full ? 0.0 : 1.0);
        if (full)
            for (int64_t k = 0; k < planes; ++k)
                for (int64_t j = 0; j < width; ++j) S[k * width * width + j * width + j] = 1.0;
    }
};

struct Case {
    AnyRule rule;
    bool direct = false, repeat = false, weighted = true, pocket = false;
    OrderKind order = OrderKind::in_order;
};

void prepare(Machine& m, Arrays& a, const Case& c, int64_t planes, int64_t d) {
    const auto* adaptive = std::get_if<Adaptive>(&c.rule);
    m.rule = c.rule;
    m.planes = {a.w.data(), a.b.data(), a.u.data(), a.ub.data(), adaptive ? a.S.data() : nullptr};
    m.planes.n = planes, m.planes.d = d, m.planes.w_stride = m.planes.u_stride = d;
    m.planes.S_stride = int64_t(a.S.size()) / planes;
    m.direct = c.direct, m.repeat = c.repeat, m.use_pocket = c.pocket;
    m.scores.resize(planes);
    m.order.kind = c.order, m.order.seed = 5;
    m.log.capacity = 7;
    m.stop.watch_cycle = true;
    m.stop.tol = 1e-3;
    m.use_tally = true;
}

std::vector<double> trained(const Data& data, const Case& c, bool csr, bool stepwise) {
    const auto* adaptive = std::get_if<Adaptive>(&c.rule);
    const int64_t planes = c.direct ? 3 : 1;
    Arrays arrays(planes, data.d, adaptive && adaptive->full);
    Machine m;
    prepare(m, arrays, c, planes, data.d);
    const Block block = data.block(csr, c.weighted);
    Poll poll(nullptr);
    Code code = Code::running;
    for (int epoch = 0; epoch < 4 && code == Code::running; ++epoch) {
        do {
            code = visit(m, block, stepwise ? 1 : std::numeric_limits<int64_t>::max(), poll);
        } while (code == Code::running && m.position != 0);
        CHECK(close_epoch(m, &block) == Code::running);
        code = judge(m, &block, NAN);
    }
    std::vector<double> all = arrays.w;
    for (const auto* more : {&arrays.b, &arrays.u, &arrays.ub, &arrays.S})
        all.insert(all.end(), more->begin(), more->end());
    return all;
}

std::vector<Case> cases() {
    std::vector<Case> out;
    const auto add = [&](AnyRule rule, bool direct = false) {
        Case c;
        c.rule = std::move(rule), c.direct = direct;
        out.push_back(c);
    };
    add(Additive{});
    add(Additive{}, true);
    out.push_back({Additive{}, false, true});
    out.push_back({Additive{}, true, true});
    out.push_back({Additive{}, false, false, true, true});
    out.push_back({Additive{}, true, false, true, true, OrderKind::shuffled});
    out.push_back({Additive{}, false, false, false, false, OrderKind::sampled});
    for (int kind = 0; kind < 6; ++kind)
        for (const bool full : {false, true})
            for (const bool direct : {false, true}) {
                Adaptive rule;
                rule.kind = static_cast<AdaptiveKind>(kind), rule.phi = 1.3, rule.full = full;
                add(rule, direct);
            }
    Scaled scaled;
    scaled.alpha = 0.01;
    add(scaled);
    scaled.rate.kind = RateKind::invscaling;
    add(scaled);
    Alma alma;
    alma.required = 0.3, alma.step = 1.4;
    add(alma);
    Batch batch;
    batch.etas = {1.0, 0.5};
    add(batch);
    batch.mean = true;
    add(batch);
    MinOver minover;
    minover.steps_per_epoch = 9, minover.kept_columns = 2;
    out.push_back({minover, false, false, false});
    return out;
}

}  // namespace

int main() {
    int runs = 0;
    for (int round = 0; round < 40; ++round) {
        const Data data(1 + int64_t(engine() % 20), int64_t(engine() % 19), 3);
        for (const Case& c : cases()) {
            const auto dense = trained(data, c, false, false);
            CHECK(trained(data, c, true, false) == dense);
            CHECK(trained(data, c, false, true) == dense);
            CHECK(trained(data, c, true, true) == dense);
            runs += 4;
        }
    }
    std::printf("%d runs, no fault\n", runs);
}
