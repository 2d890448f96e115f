// Rules, machines and blocks of rows for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bind_machine.hpp"

namespace rosenblatt {
namespace {

using Numbers = Array<double, nb::ndim<1>>;
using Table = nb::ndarray<nb::numpy, double, nb::device::cpu, nb::ndim<2>>;  // rows may be apart

// A block of rows for Python, and references to its arrays.
struct BlockObject {
    Block block;
    nb::object rows, y, weight, seen;
};

void make_block(BlockObject* out, nb::object rows, Input<int32_t, nb::ndim<1>> y,
                std::optional<Input<double, nb::ndim<1>>> weight, std::optional<Table> seen) {
    const Rows& r = nb::cast<const RowsObject&>(rows).rows;
    if (int64_t(y.size()) != r.n || (weight && int64_t(weight->size()) != r.n) ||
        (seen && int64_t(seen->shape(0)) != r.n))
        throw nb::value_error("y, sample_weight and seen need one entry per row.");
    if (seen && seen->shape(0) > 1 && seen->stride(0) != int64_t(seen->shape(1)))
        throw nb::value_error("seen must be C-contiguous.");
    new (out)
        BlockObject{{r, y.data(), weight ? weight->data() : nullptr, seen ? seen->data() : nullptr},
                    rows,
                    nb::cast(y),
                    weight ? nb::cast(*weight) : nb::none(),
                    seen ? nb::cast(*seen) : nb::none()};
}

Additive additive(double eta, double tau, int tie, bool margin, bool fit_intercept) {
    Additive rule;
    rule.eta = eta, rule.tau = tau, rule.tie = static_cast<Tie>(tie);
    rule.margin = margin, rule.intercept = fit_intercept;
    return rule;
}

void check_stride(const Table& table, const char* name) {
    if (table.shape(1) > 1 && table.stride(1) != 1)
        throw nb::value_error((std::string(name) + " must have contiguous rows.").c_str());
}

void make_machine(MachineObject* out, AnyRule rule, Table w, Numbers b, std::optional<Table> u,
                  std::optional<Numbers> ub, std::optional<Table> variance, bool direct,
                  int32_t positive, bool repeat, bool round32, int order, uint32_t seed,
                  bool pocket, int64_t log_capacity, bool tally, std::vector<double> class_weight,
                  double visits, int64_t updates, int64_t max_updates, double tol, int64_t patience,
                  bool clean, bool watch_cycle, double size) {
    const int64_t n = int64_t(w.shape(0)), d = int64_t(w.shape(1));
    check_stride(w, "w");
    if (int64_t(b.size()) != n || (!direct && n != 1))
        throw nb::value_error("b needs one entry per row of w, and w one row unless direct.");
    if (u.has_value() != ub.has_value()) throw nb::value_error("u and ub go together.");
    if (u) check_stride(*u, "u");
    if (u && (int64_t(u->shape(0)) != n || int64_t(u->shape(1)) < d || int64_t(ub->size()) != n))
        throw nb::value_error("u and ub need the shapes of w and b.");
    const bool full = std::holds_alternative<Adaptive>(rule) && std::get<Adaptive>(rule).full;
    const int64_t width = full ? (d + 1) * (d + 1) : d + 1;
    if (std::holds_alternative<Adaptive>(rule) != variance.has_value())
        throw nb::value_error("adaptive rules, and only they, need variances.");
    if (variance) check_stride(*variance, "variance");
    if (variance && (int64_t(variance->shape(0)) != n || int64_t(variance->shape(1)) < width))
        throw nb::value_error("variance needs d + 1 or (d + 1)^2 numbers per hyperplane.");
    if (direct && !std::holds_alternative<Additive>(rule) &&
        !std::holds_alternative<Adaptive>(rule))
        throw nb::value_error("this rule has no direct multiclass form.");
    if (repeat && !std::holds_alternative<Additive>(rule))
        throw nb::value_error("only the additive rule repeats visits.");

    new (out) MachineObject;
    Machine& m = out->machine;
    out->w = nb::cast(w), out->b = nb::cast(b);
    if (u) out->u = nb::cast(*u), out->ub = nb::cast(*ub);
    if (variance) out->variance = nb::cast(*variance);
    m.rule = std::move(rule);
    std::visit(
        [&](auto& r) {
            using Rule = std::decay_t<decltype(r)>;
            if constexpr (std::is_same_v<Rule, Scaled> || std::is_same_v<Rule, Batch>)
                r.rule.round32 = round32;
            else if constexpr (!std::is_same_v<Rule, MinOver>)
                r.round32 = round32;
            if constexpr (std::is_same_v<Rule, Batch>) m.stop.ignore_zero_loss = true;
        },
        m.rule);
    m.planes.w = w.data(), m.planes.b = b.data();
    m.planes.u = u ? u->data() : nullptr, m.planes.ub = ub ? ub->data() : nullptr;
    m.planes.S = variance ? variance->data() : nullptr;
    m.planes.n = n, m.planes.d = d;
    m.planes.w_stride = w.stride(0), m.planes.u_stride = u ? u->stride(0) : 0;
    m.planes.S_stride = variance ? variance->stride(0) : 0;
    m.planes.round32 = round32;
    m.direct = direct, m.positive = positive, m.repeat = repeat;
    if (direct) m.scores.resize(size_t(n));
    m.order.kind = static_cast<OrderKind>(order), m.order.seed = seed;
    m.use_pocket = pocket, m.use_tally = tally;
    m.log.capacity = log_capacity;
    m.class_weight = std::move(class_weight);
    m.counters.visits = visits, m.counters.updates = updates;
    m.stop.max_updates = max_updates, m.stop.tol = tol, m.stop.patience = patience;
    m.stop.clean = clean, m.stop.watch_cycle = watch_cycle, m.stop.size = size;
}

// Handles signals (Ctrl-C) from time to time, in the main thread.
bool signal_arrived() {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

// The block, if the machine can visit it: the loops trust sizes and class numbers.
const Block& checked(const Machine& m, const BlockObject& object) {
    const Block& block = object.block;
    const int64_t n = block.rows.n;
    if (block.rows.d != m.planes.d)
        throw nb::value_error("the rows and the weights differ in their number of features.");
    if (m.in_epoch && !m.order.index.empty() && int64_t(m.order.index.size()) != n)
        throw nb::value_error("an epoch in a drawn order needs the same rows throughout.");
    const auto* minover = std::get_if<MinOver>(&m.rule);
    if (minover && !minover->counts.empty() && int64_t(minover->counts.size()) != n)
        throw nb::value_error("MinOver needs the same rows throughout.");
    if (m.use_tally && !m.tally.empty() && int64_t(m.tally.size()) < n)
        throw nb::value_error("a tally needs the same rows throughout.");
    if (m.position > (minover ? minover->steps_per_epoch : n))
        throw nb::value_error("the position is beyond the end of the block.");
    if (m.direct)
        for (int64_t i = 0; i < n; ++i)
            if (block.y[i] >= m.planes.n)
                throw nb::value_error("a class number has no hyperplane.");
    return block;
}

template <class F>
Code without_gil(F f) {
    Code code;
    {
        nb::gil_scoped_release release;
        Poll poll(signal_arrived);
        code = f(poll);
    }
    if (PyErr_Occurred()) throw nb::python_error();
    return code;
}

Code visit_block(MachineObject& self, const BlockObject& object, int64_t most) {
    const Block& block = checked(self.machine, object);
    return without_gil([&](Poll& poll) { return visit(self.machine, block, most, poll); });
}

Code epochs_of(MachineObject& self, const BlockObject& object, int64_t n) {
    const Block& block = checked(self.machine, object);
    return without_gil([&](Poll& poll) { return run_epochs(self.machine, block, n, poll); });
}

Code close(MachineObject& self, const BlockObject* object) {
    const Block* block = object ? &checked(self.machine, *object) : nullptr;
    return without_gil([&](Poll&) { return close_epoch(self.machine, block); });
}

Code judge_epoch(MachineObject& self, const BlockObject* object, std::optional<double> objective) {
    if (self.machine.epochs.empty()) throw nb::value_error("no epoch was closed yet.");
    const Block* block = object ? &checked(self.machine, *object) : nullptr;
    return without_gil([&](Poll&) { return judge(self.machine, block, objective.value_or(NAN)); });
}

nb::dict log_of(const MachineObject& self) {
    const Machine& m = self.machine;
    const Log& log = m.log;
    nb::dict out;
    const size_t n = log.row.size(), planes = size_t(m.planes.n);
    out["row"] = copied(log.row);
    out["amount"] = copied(log.amount);
    out["visit"] = copied(log.visit);
    out["w"] = copied(log.w, n, planes * size_t(m.planes.d));
    out["b"] = copied(log.b, n, planes);
    out["count"] = log.count;
    return out;
}

nb::dict totals_of(const MachineObject& self) {
    std::vector<int64_t> mistakes, updates;
    std::vector<double> loss, norm;
    for (const EpochTotals& e : self.machine.epochs) {
        mistakes.push_back(e.mistakes);
        updates.push_back(e.updates);
        loss.push_back(e.loss);
        norm.push_back(e.norm);
    }
    nb::dict out;
    out["mistakes"] = copied(mistakes);
    out["updates"] = copied(updates);
    out["loss"] = copied(loss);
    out["norm"] = copied(norm);
    return out;
}

// ---------------------------------------------------------------------------- saving a run

// Calls f(name, field) for everything a run needs to go on, besides the arrays that Python owns.
template <class F>
void fields(Machine& m, F f) {
    f("visits", m.counters.visits), f("run", m.counters.run), f("updates", m.counters.updates);
    f("in_epoch", m.in_epoch), f("position", m.position), f("full", m.full);
    f("epoch_mistakes", m.now.mistakes), f("epoch_updates", m.now.updates);
    f("epoch_loss", m.now.loss), f("rows_visited", m.rows_visited);
    f("best", m.stop.best), f("stalled", m.stop.stalled), f("power", m.stop.power);
    f("length", m.stop.length), f("updates_at_save", m.stop.updates_at_save);
    f("saved_w", m.stop.saved_w), f("saved_b", m.stop.saved_b);
    f("seed", m.order.seed), f("order", m.order.index);
    if (auto* s = std::get_if<Scaled>(&m.rule)) {
        f("scale", s->scale), f("sigma", s->sigma), f("owed", s->owed);
        f("square_norm", s->square_norm), f("one_norm", s->one_norm);
        f("seen_square", s->seen_square), f("seen_one", s->seen_one);
        f("caught_up", s->caught_up), f("paid", s->paid), f("t", s->rate.t), f("eta", s->rate.eta);
    } else if (auto* a = std::get_if<Alma>(&m.rule)) {
        f("scale", a->scale), f("sigma", a->sigma), f("square", a->square);
    } else if (auto* b = std::get_if<Batch>(&m.rule)) {
        f("sum", b->sum), f("sum_b", b->sum_b), f("total", b->total);
    }
}

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};

nb::dict get_state(MachineObject& self) {
    nb::dict out;
    fields(self.machine, [&](const char* name, auto& field) {
        using T = std::decay_t<decltype(field)>;
        if constexpr (is_vector<T>::value)
            out[name] = copied(field);
        else
            out[name] = nb::cast(field);
    });
    std::vector<double> epochs;
    for (const EpochTotals& e : self.machine.epochs)
        epochs.insert(epochs.end(), {double(e.mistakes), double(e.updates), e.loss, e.norm});
    out["epochs"] = copied(epochs, epochs.size() / 4, 4);
    return out;
}

void check_size(size_t size, size_t wanted, const char* name) {
    if (size != 0 && size != wanted)
        throw nb::value_error((std::string(name) + " does not fit the machine.").c_str());
}

// Whatever is indexed later must have the size of this machine.
void check_sizes(const Machine& m) {
    const size_t n = size_t(m.planes.n), d = size_t(m.planes.d);
    check_size(m.stop.saved_w.size(), n * d, "saved_w");
    check_size(m.stop.saved_b.size(), n, "saved_b");
    if (m.stop.watch_cycle && m.in_epoch && m.stop.saved_b.empty())
        throw nb::value_error("saved_b is missing.");
    if (m.stop.saved_w.empty() != (m.stop.saved_b.empty() || d == 0))
        throw nb::value_error("saved_w and saved_b go together.");
    if (m.position < 0) throw nb::value_error("position is negative.");
    if (auto* scaled = std::get_if<Scaled>(&m.rule)) {
        check_size(scaled->paid.size(), d, "paid");
        if (scaled->l1_ratio > 0.0 && m.in_epoch && scaled->paid.size() != d)
            throw nb::value_error("paid is missing.");
    }
    if (auto* batch = std::get_if<Batch>(&m.rule)) {
        check_size(batch->sum.size(), d, "sum");
        if (m.in_epoch && batch->sum.size() != d) throw nb::value_error("sum is missing.");
    }
}

void set_state(MachineObject& self, nb::dict state) {
    fields(self.machine, [&](const char* name, auto& field) {
        using T = std::decay_t<decltype(field)>;
        if constexpr (is_vector<T>::value) {
            const auto values = nb::cast<Input<typename T::value_type, nb::ndim<1>>>(state[name]);
            field.assign(values.data(), values.data() + values.size());
        } else {
            field = nb::cast<T>(state[name]);
        }
    });
    Machine& m = self.machine;
    for (const int64_t row : m.order.index)
        if (row < 0 || row >= int64_t(m.order.index.size()))
            throw nb::value_error("the order of visits has a row that is not there.");
    const auto epochs = nb::cast<Input<double, nb::ndim<2>>>(state["epochs"]);
    if (epochs.shape(1) != 4) throw nb::value_error("epochs needs four columns.");
    self.machine.epochs.clear();
    for (size_t e = 0; e < epochs.shape(0); ++e) {
        const double* line = epochs.data() + 4 * e;
        self.machine.epochs.push_back({int64_t(line[0]), int64_t(line[1]), line[2], line[3]});
    }
    check_sizes(self.machine);
}

// Class numbers of rows from their scores, the one convention of predict: with one hyperplane a
// score >= 0 is class 1, else class 0; with one hyperplane per class the first of the best scores.
auto decide(Input<double, nb::ndim<2>> scores) {
    const size_t n = scores.shape(0), k = scores.shape(1);
    if (k == 0) throw nb::value_error("scores needs one column per hyperplane.");
    std::unique_ptr<int32_t[]> out(new int32_t[n + 1]);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < n; ++i) {
            const double* row = scores.data() + i * k;
            out[i] = k == 1 ? row[0] >= 0.0 : int32_t(std::max_element(row, row + k) - row);
        }
    }
    return own(out.release(), {n});
}

}  // namespace

void bind_learn(nb::module_& m) {
    nb::enum_<Code>(m, "Code", "Why a call into the core returned.")
        .value("RUNNING", Code::running)
        .value("SEPARATED", Code::separated)
        .value("CYCLE", Code::cycle)
        .value("NO_IMPROVEMENT", Code::no_improvement)
        .value("FULL", Code::full)
        .value("OVERFLOW", Code::overflow)
        .value("INTERRUPTED", Code::interrupted);

    nb::class_<BlockObject>(m, "Block", "Rows with class numbers (-1: not visited) and weights.")
        .def("__init__", make_block, nb::arg("rows"), nb::arg("y"),
             nb::arg("sample_weight").none() = nb::none(), nb::arg("seen").none() = nb::none());

    nb::class_<Additive>(m, "AdditiveRule", "The perceptron rule, also with a margin tau.")
        .def(
            "__init__",
            [](Additive* out, double eta, double tau, int tie, bool margin, bool fit_intercept) {
                new (out) Additive(additive(eta, tau, tie, margin, fit_intercept));
            },
            nb::arg("eta"), nb::arg("tau"), nb::arg("tie"), nb::arg("margin"),
            nb::arg("fit_intercept"));
    nb::class_<Adaptive>(m, "AdaptiveRule", "Passive-aggressive and second-order rules.")
        .def(
            "__init__",
            [](Adaptive* out, int kind, double c, double phi, int tie, bool full) {
                new (out) Adaptive;
                out->kind = static_cast<AdaptiveKind>(kind), out->c = c, out->phi = phi;
                out->tie = static_cast<Tie>(tie), out->full = full;
            },
            nb::arg("kind"), nb::arg("c"), nb::arg("phi"), nb::arg("tie"), nb::arg("full"));
    nb::class_<Scaled>(m, "ScaledRule", "An additive rule with a penalty or a changing rate.")
        .def(
            "__init__",
            [](Scaled* out, const Additive& rule, double alpha, double l1_ratio, int rate,
               bool adaptive, double power, double rate_alpha, double t0, double t) {
                new (out) Scaled;
                out->rule = rule, out->alpha = alpha, out->l1_ratio = l1_ratio;
                out->rate.kind = static_cast<RateKind>(rate), out->rate.adaptive = adaptive;
                out->rate.eta = rule.eta, out->rate.power = power, out->rate.alpha = rate_alpha;
                out->rate.t0 = t0, out->rate.t = t;
            },
            nb::arg("rule"), nb::arg("alpha"), nb::arg("l1_ratio"), nb::arg("rate"),
            nb::arg("adaptive"), nb::arg("power"), nb::arg("rate_alpha"), nb::arg("t0"),
            nb::arg("t"));
    nb::class_<Alma>(m, "AlmaRule", "ALMA for the Euclidean norm.")
        .def(
            "__init__",
            [](Alma* out, double required, double step, int tie, bool fit_intercept) {
                new (out) Alma;
                out->required = required, out->step = step;
                out->tie = static_cast<Tie>(tie), out->intercept = fit_intercept;
            },
            nb::arg("required"), nb::arg("step"), nb::arg("tie"), nb::arg("fit_intercept"));
    nb::class_<Batch>(m, "BatchRule", "All misclassified rows at once: their sum or their mean.")
        .def(
            "__init__",
            [](Batch* out, const Additive& rule, std::vector<double> etas, bool mean) {
                if (etas.empty()) throw nb::value_error("etas must not be empty.");
                new (out) Batch;
                out->rule = rule, out->etas = std::move(etas), out->mean = mean;
            },
            nb::arg("rule"), nb::arg("etas"), nb::arg("mean"));
    nb::class_<MinOver>(m, "MinOverRule", "The row of smallest margin is added at every step.")
        .def(
            "__init__",
            [](MinOver* out, double gap, int64_t steps_per_epoch, int64_t kept_columns, int tie,
               bool fit_intercept) {
                new (out) MinOver;
                out->gap = gap, out->steps_per_epoch = steps_per_epoch;
                out->kept_columns = kept_columns, out->tie = static_cast<Tie>(tie);
                out->intercept = fit_intercept;
            },
            nb::arg("gap"), nb::arg("steps_per_epoch"), nb::arg("kept_columns"), nb::arg("tie"),
            nb::arg("fit_intercept"));

    const double inf = std::numeric_limits<double>::infinity();
    nb::class_<MachineObject>(m, "Machine", "Hyperplanes, the rule that moves them and stop tests.")
        .def("__init__", make_machine, nb::arg("rule"), nb::arg("w").noconvert(),
             nb::arg("b").noconvert(), nb::kw_only(), nb::arg("u").noconvert().none() = nb::none(),
             nb::arg("ub").noconvert().none() = nb::none(),
             nb::arg("variance").noconvert().none() = nb::none(), nb::arg("direct") = false,
             nb::arg("positive") = 1, nb::arg("repeat") = false, nb::arg("round32") = false,
             nb::arg("order") = 0, nb::arg("seed") = 0, nb::arg("pocket") = false,
             nb::arg("log_capacity") = 0, nb::arg("tally") = false,
             nb::arg("class_weight") = std::vector<double>(), nb::arg("visits") = 0.0,
             nb::arg("updates") = 0, nb::arg("max_updates") = std::numeric_limits<int64_t>::max(),
             nb::arg("tol") = -inf, nb::arg("patience") = 5, nb::arg("clean") = true,
             nb::arg("watch_cycle") = false, nb::arg("size") = 0.0)
        .def("visit", visit_block, nb::arg("block"),
             nb::arg("most") = std::numeric_limits<int64_t>::max(),
             "Visit the rows of a block, at most `most` of them; `position` is 0 when it is done.")
        .def("close_epoch", close, nb::arg("block").none() = nb::none(),
             "End the epoch: the batch step, the weights in their own units, the totals.")
        .def("judge", judge_epoch, nb::arg("block").none() = nb::none(),
             nb::arg("objective").none() = nb::none(),
             "Whether to stop after the epoch that was closed.")
        .def("epochs", epochs_of, nb::arg("block"), nb::arg("n"), "Up to n epochs over one block.")
        .def(
            "cancel", [](MachineObject& self) { self.machine.cancelled = true; },
            "Make a call in another thread return soon.")
        .def(
            "set_etas",
            [](MachineObject& self, std::vector<double> etas) {
                auto* batch = std::get_if<Batch>(&self.machine.rule);
                if (!batch || etas.empty()) throw nb::value_error("only a batch rule has etas.");
                batch->etas = std::move(etas);
            },
            nb::arg("etas"))
        .def("log", log_of, "The updates that were noted: row, amount, visit, w, b, count.")
        .def("totals", totals_of, "Mistakes, updates, loss and norm of every epoch.")
        .def("get_state", get_state, "What a run needs to go on, besides the arrays of weights.")
        .def("set_state", set_state, nb::arg("state"))
        .def_prop_ro("position", [](const MachineObject& s) { return s.machine.position; })
        .def_prop_ro("n_epochs", [](const MachineObject& s) { return s.machine.epochs.size(); })
        .def_prop_ro("visits", [](const MachineObject& s) { return s.machine.counters.visits; })
        .def_prop_ro("updates", [](const MachineObject& s) { return s.machine.counters.updates; })
        .def_prop_ro("cycle_length", [](const MachineObject& s) { return s.machine.stop.length; })
        .def_prop_ro("cycle_updates",
                     [](const MachineObject& s) {
                         const Machine& m = s.machine;
                         return m.counters.updates - m.stop.updates_at_save;
                     })
        .def_prop_ro(
            "tally", [](const MachineObject& s) { return copied(s.machine.tally); },
            nb::rv_policy::move)
        .def_prop_ro(
            "pocket",
            [](const MachineObject& s) {
                const Machine& m = s.machine;
                const size_t n = size_t(m.planes.n), d = size_t(m.planes.d);
                if (m.pocket.w.size() != n * d) throw nb::value_error("no pocket.");
                return nb::make_tuple(copied(m.pocket.w, n, d), copied(m.pocket.b), m.pocket.epoch);
            },
            "The weights in the pocket, the offsets, and their epoch.")
        .def_prop_ro("margin", [](const MachineObject& s) {
            const auto* rule = std::get_if<MinOver>(&s.machine.rule);
            if (!rule) throw nb::value_error("only MinOver has a margin.");
            return nb::make_tuple(rule->lower, rule->upper);
        });

    m.def("decide", decide, nb::arg("scores"),
          "Class numbers from scores (n, planes): score >= 0, or the first of the best.");
    m.def(
        "shuffled_order",
        [](int64_t n, uint32_t seed, int kind, int64_t epochs) {
            Order order;
            order.kind = static_cast<OrderKind>(kind), order.seed = seed;
            for (int64_t e = 0; e < epochs; ++e) order.arrange(n);
            return copied(order.index);
        },
        nb::arg("n"), nb::arg("seed"), nb::arg("kind") = 1, nb::arg("epochs") = 1,
        "The order of visits in the last of some epochs.");
}

}  // namespace rosenblatt
