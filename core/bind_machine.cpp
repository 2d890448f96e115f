// Machines and blocks of rows for Python.
#include "bind_machine.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "scores.hpp"

namespace rosenblatt {
namespace {

using Numbers = Array<double, nb::ndim<1>>;
using Table = nb::ndarray<nb::numpy, double, nb::device::cpu, nb::ndim<2>>;  // rows may be apart

// A block of rows for Python, and references to its arrays.
struct BlockObject {
    Block block;
    int64_t seen_columns;  // 0 without seen
    nb::object rows, y, weight, seen;
};

void make_block(BlockObject* out, nb::object rows, Input<int32_t, nb::ndim<1>> y,
                std::optional<Input<double, nb::ndim<1>>> weight, std::optional<Table> seen) {
    const Rows& r = nb::cast<const RowsObject&>(rows).rows;
    if (int64_t(y.size()) != r.n || (weight && int64_t(weight->size()) != r.n) ||
        (seen && int64_t(seen->shape(0)) != r.n))
        throw nb::value_error("y, sample_weight or seen does not have one entry per row.");
    if (seen && ((seen->shape(0) > 1 && seen->stride(0) != int64_t(seen->shape(1))) ||
                 (seen->shape(1) > 1 && seen->stride(1) != 1)))
        throw nb::value_error("seen is not C-contiguous.");
    new (out)
        BlockObject{{r, y.data(), weight ? weight->data() : nullptr, seen ? seen->data() : nullptr},
                    seen ? int64_t(seen->shape(1)) : 0,
                    rows,
                    nb::cast(y),
                    weight ? nb::cast(*weight) : nb::none(),
                    seen ? nb::cast(*seen) : nb::none()};
}

void check(bool fits, const char* message) {
    if (!fits) throw nb::value_error(message);
}

bool rows_are_contiguous(const Table& table) { return table.shape(1) <= 1 || table.stride(1) == 1; }

// Arrays that the loops index without looking at their sizes.
void check_arrays(const AnyRule& rule, const Table& w, const Numbers& b,
                  const std::optional<Table>& u, const std::optional<Numbers>& ub,
                  const std::optional<Table>& variance, bool direct) {
    const size_t n = w.shape(0), d = w.shape(1);
    check(
        !direct || std::holds_alternative<Additive>(rule) || std::holds_alternative<Adaptive>(rule),
        "this rule has no direct multiclass form.");
    check(n == 1 || direct, "w has more than one row, which only the direct rule uses.");
    check(n > 1 || !direct, "w has one row; the direct rule needs one per class.");
    check(rows_are_contiguous(w), "w does not have contiguous rows.");
    check(b.size() == n, "b does not have one entry per row of w.");
    check(u.has_value() == ub.has_value(), "u was given without ub, or ub without u.");
    if (u) {
        check(rows_are_contiguous(*u), "u does not have contiguous rows.");
        check(u->shape(0) == n && u->shape(1) >= d && ub->size() == n,
              "u and ub do not have the shapes of w and b.");
    }
    const auto* adaptive = std::get_if<Adaptive>(&rule);
    check((adaptive != nullptr) == variance.has_value(),
          "variance is missing for an adaptive rule, or was given for another one.");
    if (variance) {
        const size_t width = adaptive->full ? (d + 1) * (d + 1) : d + 1;
        check(rows_are_contiguous(*variance), "variance does not have contiguous rows.");
        check(variance->shape(0) == n && variance->shape(1) >= width,
              "variance does not have d + 1 or (d + 1)^2 numbers per hyperplane.");
    }
}

void set_round32(Machine& m, bool round32) {
    m.planes.round32 = round32;
    std::visit(
        [&](auto& rule) {
            using Rule = std::decay_t<decltype(rule)>;
            if constexpr (std::is_same_v<Rule, Scaled> || std::is_same_v<Rule, Batch>)
                rule.rule.round32 = round32;
            else if constexpr (!std::is_same_v<Rule, MinOver>)
                rule.round32 = round32;
        },
        m.rule);
}

void set_arrays(MachineObject& self, const Table& w, const Numbers& b,
                const std::optional<Table>& u, const std::optional<Numbers>& ub,
                const std::optional<Table>& variance, bool direct) {
    self.w = nb::cast(w), self.b = nb::cast(b);
    self.u = u ? nb::cast(*u) : nb::none(), self.ub = ub ? nb::cast(*ub) : nb::none();
    self.variance = variance ? nb::cast(*variance) : nb::none();
    Machine& m = self.machine;
    m.planes.w = w.data(), m.planes.b = b.data();
    m.planes.u = u ? u->data() : nullptr, m.planes.ub = ub ? ub->data() : nullptr;
    m.planes.S = variance ? variance->data() : nullptr;
    m.planes.n = int64_t(w.shape(0)), m.planes.d = int64_t(w.shape(1));
    m.planes.w_stride = w.stride(0), m.planes.u_stride = u ? u->stride(0) : 0;
    m.planes.S_stride = variance ? variance->stride(0) : 0;
    m.direct = direct;
    m.scores.assign(direct ? w.shape(0) : 0, 0.0);
}

void make_machine(MachineObject* out, AnyRule rule, Table w, Numbers b, std::optional<Table> u,
                  std::optional<Numbers> ub, std::optional<Table> variance, bool direct,
                  int32_t positive, bool repeat, bool round32, int order, uint32_t seed,
                  bool pocket, int64_t log_capacity, bool tally, std::vector<double> class_weight,
                  double visits, int64_t updates, int64_t max_updates, double tol, int64_t patience,
                  bool clean, bool watch_cycle, double size) {
    check(!repeat || std::holds_alternative<Additive>(rule),
          "only the additive rule repeats visits.");
    check_arrays(rule, w, b, u, ub, variance, direct);
    new (out) MachineObject;
    Machine& m = out->machine;
    m.rule = std::move(rule);
    set_arrays(*out, w, b, u, ub, variance, direct);
    set_round32(m, round32);
    m.positive = positive, m.repeat = repeat;
    m.order.kind = static_cast<OrderKind>(order), m.order.seed = seed;
    m.use_pocket = pocket, m.use_tally = tally;
    m.log.capacity = log_capacity;
    m.class_weight = std::move(class_weight);
    m.counters.visits = visits, m.counters.updates = updates;
    m.stop.max_updates = max_updates, m.stop.tol = tol, m.stop.patience = patience;
    m.stop.clean = clean, m.stop.watch_cycle = watch_cycle, m.stop.size = size;
    m.stop.ignore_zero_loss = std::holds_alternative<Batch>(m.rule);
}

// Lines of `before` numbers each become lines of `after`, with zeros at their ends.
void widen(std::vector<double>& values, int64_t before, int64_t after) {
    const int64_t lines = before ? int64_t(values.size()) / before : 0;
    std::vector<double> wide(size_t(lines * after), 0.0);
    for (int64_t k = 0; k < lines; ++k)
        std::copy_n(values.data() + k * before, before, wide.data() + k * after);
    values.swap(wide);
}

// A copy of a machine that goes on in other arrays, which hold its weights and have as many features
// or more. A sign of -1: the two classes have changed sides, so what the run remembers is negated.
// The log of updates and the tally start empty; a pending cancel is not copied.
MachineObject* moved(const MachineObject& self, Table w, Numbers b, std::optional<Table> u,
                     std::optional<Numbers> ub, std::optional<Table> variance, bool direct,
                     int32_t positive, double sign, std::vector<double> class_weight) {
    const Turn turn(self);
    check_arrays(self.machine.rule, w, b, u, ub, variance, direct);
    const int64_t before = self.machine.planes.d, d = int64_t(w.shape(1));
    check(d >= before, "the new arrays have fewer features.");
    check(!self.machine.use_pocket && !std::holds_alternative<MinOver>(self.machine.rule),
          "a machine with a pocket or with MinOver cannot go on in other arrays.");
    check(!self.machine.use_tally || !self.machine.in_epoch,
          "a machine that tallies rows cannot go on in other arrays within an epoch.");
    std::unique_ptr<MachineObject> out(new MachineObject(self.machine));
    Machine& m = out->machine;
    set_arrays(*out, w, b, u, ub, variance, direct);
    m.positive = positive, m.class_weight = std::move(class_weight);
    m.log = {}, m.log.capacity = self.machine.log.capacity;
    m.tally.clear();
    const auto flip = [&](std::vector<double>& values) {
        if (sign < 0.0)
            for (double& v : values) v = -v;
    };
    flip(m.stop.saved_w), flip(m.stop.saved_b);
    if (before)
        widen(m.stop.saved_w, before, d);
    else
        m.stop.saved_w.assign(m.stop.saved_b.size() * size_t(d), 0.0);
    const auto per_feature = [&](std::vector<double>& values) {
        flip(values);
        if (m.in_epoch || !values.empty()) values.resize(size_t(d));
    };
    if (auto* scaled = std::get_if<Scaled>(&m.rule)) per_feature(scaled->paid);
    if (auto* batch = std::get_if<Batch>(&m.rule)) {
        per_feature(batch->sum);
        if (sign < 0.0) batch->sum_b = -batch->sum_b;
    }
    check_sizes(m);
    return out.release();
}

// True if a signal handler raised (Ctrl-C); signals are handled in the main thread only.
bool signal_arrived() {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

// The block, if the machine can visit it: the loops do not check sizes and class numbers.
const Block& checked(const Machine& m, const BlockObject& object) {
    const Block& block = object.block;
    const int64_t n = block.rows.n, classes = m.direct ? m.planes.n : 1;
    const auto* minover = std::get_if<MinOver>(&m.rule);
    check(block.rows.d == m.planes.d,
          "the rows and the weights differ in their number of features.");
    check(!block.seen || object.seen_columns == classes,
          "seen does not have one column per hyperplane of the machine.");
    check(!m.in_epoch || m.order.index.empty() || int64_t(m.order.index.size()) == n,
          "the number of rows changed within an epoch; a shuffled or sampled order needs the same "
          "rows throughout.");
    check(!minover || minover->counts.empty() || int64_t(minover->counts.size()) == n,
          "the number of rows changed; MinOver needs the same rows throughout.");
    check(!m.use_tally || m.tally.empty() || int64_t(m.tally.size()) == n * classes,
          "the number of rows changed; a tally needs the same rows throughout.");
    check(m.position <= (minover ? minover->steps_per_epoch : n),
          "the position is beyond the end of the block.");
    if (m.direct)
        for (int64_t i = 0; i < n; ++i)
            check(block.y[i] < m.planes.n, "y has a class number without a hyperplane.");
    return block;
}

// Runs f(poll) without the GIL.
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
    const Turn turn(self);
    const Block& block = checked(self.machine, object);
    return without_gil([&](Poll& poll) { return visit(self.machine, block, most, poll); });
}

Code epochs_of(MachineObject& self, const BlockObject& object, int64_t n) {
    const Turn turn(self);
    const Block& block = checked(self.machine, object);
    return without_gil([&](Poll& poll) { return run_epochs(self.machine, block, n, poll); });
}

Code close(MachineObject& self, const BlockObject* object) {
    const Turn turn(self);
    const Block* block = object ? &checked(self.machine, *object) : nullptr;
    return without_gil([&](Poll&) { return close_epoch(self.machine, block); });
}

Code judge_epoch(MachineObject& self, const BlockObject* object, std::optional<double> objective) {
    const Turn turn(self);
    if (self.machine.epochs.empty())
        throw nb::value_error("no epoch was closed; call close_epoch first.");
    const Block* block = object ? &checked(self.machine, *object) : nullptr;
    return without_gil([&](Poll&) { return judge(self.machine, block, objective.value_or(NAN)); });
}

nb::dict log_of(const MachineObject& self) {
    const Turn turn(self);
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
    const Turn turn(self);
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

// Class numbers of rows from their scores.
auto decide(Input<double, nb::ndim<2>> scores) {
    const size_t n = scores.shape(0), k = scores.shape(1);
    if (k == 0) throw nb::value_error("scores has no columns; it needs one per hyperplane.");
    std::unique_ptr<int32_t[]> out(new int32_t[n + 1]);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < n; ++i)
            out[i] = decided_class(scores.data() + i * k, static_cast<int64_t>(k));
    }
    return own(out.release(), {n});
}

}  // namespace

void bind_machine(nb::module_& m) {
    nb::enum_<Code>(m, "Code", "Why a call into the core returned.")
        .value("RUNNING", Code::running)
        .value("SEPARATED", Code::separated)
        .value("CYCLE", Code::cycle)
        .value("NO_IMPROVEMENT", Code::no_improvement)
        .value("MAX_UPDATES", Code::max_updates)
        .value("OVERFLOW", Code::overflow)
        .value("INTERRUPTED", Code::interrupted);

    nb::class_<BlockObject>(m, "Block", "Rows with class numbers (-1: not visited) and weights.")
        .def("__init__", make_block, nb::arg("rows"), nb::arg("y"),
             nb::arg("sample_weight").none() = nb::none(), nb::arg("seen").none() = nb::none());

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
                const Turn turn(self);
                auto* batch = std::get_if<Batch>(&self.machine.rule);
                if (!batch || etas.empty())
                    throw nb::value_error("etas is empty, or the rule is not a batch rule.");
                batch->etas = std::move(etas);
            },
            nb::arg("etas"))
        .def("moved", moved, nb::rv_policy::take_ownership, nb::arg("w").noconvert(),
             nb::arg("b").noconvert(), nb::kw_only(), nb::arg("u").noconvert().none() = nb::none(),
             nb::arg("ub").noconvert().none() = nb::none(),
             nb::arg("variance").noconvert().none() = nb::none(), nb::arg("direct"),
             nb::arg("positive"), nb::arg("sign"), nb::arg("class_weight"),
             "A copy of this machine that goes on in other arrays, which hold its weights and have "
             "as\n"
             "many features or more. A sign of -1: the two classes have changed sides.")
        .def("log", log_of, "The updates that were noted: row, amount, visit, w, b, count.")
        .def("totals", totals_of, "Mistakes, updates, loss and norm of every epoch.")
        .def("get_state", get_state, nb::arg("order") = true,
             "What a run needs to continue, besides the arrays of weights. order=False leaves out "
             "the\n"
             "order of visits, one entry per row; set_state does not accept such a state.")
        .def("set_state", set_state, nb::arg("state"), "Continue from what get_state returned.")
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
            "tally",
            [](const MachineObject& s) {
                const Turn turn(s);
                return copied(s.machine.tally);
            },
            nb::rv_policy::move)
        .def_prop_ro(
            "pocket",
            [](const MachineObject& s) {
                const Turn turn(s);
                const Machine& m = s.machine;
                const size_t n = size_t(m.planes.n), d = size_t(m.planes.d);
                if (m.pocket.b.size() != n)
                    throw nb::value_error("the machine has no pocket; make it with pocket=True.");
                return nb::make_tuple(copied(m.pocket.w, n, d), copied(m.pocket.b), m.pocket.epoch);
            },
            "The weights in the pocket, the offsets, and their epoch.")
        .def_prop_ro("margin", [](const MachineObject& s) {
            const auto* rule = std::get_if<MinOver>(&s.machine.rule);
            if (!rule) throw nb::value_error("the rule is not MinOver; only MinOver has a margin.");
            return nb::make_tuple(rule->lower, rule->upper);
        });

    m.def("decide", decide, nb::arg("scores"),
          "Class numbers from scores (n, planes): score >= 0, or the first of the best.");
}

}  // namespace rosenblatt
