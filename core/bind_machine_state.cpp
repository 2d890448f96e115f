// Saving and restoring the state of a machine, for checkpoints and for runs that move to other arrays.
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "bind_machine.hpp"

namespace rosenblatt {
namespace {

// Calls f(name, field) for all that a run needs to continue, besides the arrays that Python owns.
// The log of updates and the tally are not saved.
template <class F>
void fields(Machine& m, F f) {
    f("visits", m.counters.visits), f("run", m.counters.run), f("updates", m.counters.updates);
    f("in_epoch", m.in_epoch), f("position", m.position), f("out_of_updates", m.out_of_updates);
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
    } else if (auto* o = std::get_if<MinOver>(&m.rule)) {  // the Gram matrix is computed again
        f("steps", o->steps), f("square", o->square), f("longest", o->longest);
        f("lower", o->lower), f("upper", o->upper), f("chosen", o->chosen), f("again", o->again);
        f("counts", o->counts), f("moments", o->moments), f("margins", o->margins);
    }
    if (m.use_pocket) {
        Pocket& p = m.pocket;
        f("pocket_w", p.w), f("pocket_b", p.b), f("pocket_errors", p.errors);
        f("pocket_run", p.longest_run), f("pocket_epoch", p.epoch);
        f("pocket_checked", p.checked), f("pocket_current", p.holds_current);
    }
}

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};

nb::dict saved(MachineObject& self, bool order = true) {
    nb::dict out;
    fields(self.machine, [&](const char* name, auto& field) {
        using T = std::decay_t<decltype(field)>;
        if (!order && std::string_view(name) == "order") return;
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
        throw nb::value_error(
            (std::string(name) + " has a size that does not fit the machine.").c_str());
}

}  // namespace

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
    check_size(m.pocket.b.size(), n, "pocket_b");
    if (m.pocket.w.size() != m.pocket.b.size() * d)
        throw nb::value_error("pocket_w and pocket_b go together.");
    if (m.order.kind == OrderKind::in_order && !m.order.index.empty())
        throw nb::value_error("order was given to a machine that visits rows in order.");
}

namespace {

// MinOver computes its Gram matrix again.
void restore(const Machine& m, MinOver& rule) {
    const size_t n = rule.counts.size();
    if (rule.moments.size() != n || rule.margins.size() != minover_padded(n))
        throw nb::value_error("counts, moments and margins do not have one entry per row.");
    if (m.in_epoch && n == 0) throw nb::value_error("counts is missing.");
    rule.slot.assign(n, -1);
    rule.columns.clear();
    rule.sum.resize(size_t(m.planes.d));
}

void assign_state(MachineObject& self, const nb::dict& state) {
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
            throw nb::value_error("order has a row number that is out of range.");
    const auto epochs = nb::cast<Input<double, nb::ndim<2>>>(state["epochs"]);
    if (epochs.shape(1) != 4) throw nb::value_error("epochs does not have four columns.");
    m.epochs.clear();
    for (size_t e = 0; e < epochs.shape(0); ++e) {
        const double* line = epochs.data() + 4 * e;
        for (const double count : {line[0], line[1]})
            if (!(count >= 0.0 && count <= 9007199254740992.0))  // 2^53
                throw nb::value_error("epochs has a count that is out of range.");
        m.epochs.push_back({int64_t(line[0]), int64_t(line[1]), line[2], line[3]});
    }
    check_sizes(m);
    if (auto* minover = std::get_if<MinOver>(&m.rule)) restore(m, *minover);
}

}  // namespace

nb::dict get_state(MachineObject& self, bool order) {
    const Turn turn(self);
    return saved(self, order);
}

// A state that does not fit leaves the machine as it was.
void set_state(MachineObject& self, nb::dict state) {
    const Turn turn(self);
    const nb::dict before = saved(self);
    try {
        assign_state(self, state);
    } catch (...) {
        assign_state(self, before);
        throw;
    }
}

}  // namespace rosenblatt
