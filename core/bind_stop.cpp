// Stop tests and the order of visits, for machines written in Python.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bind.hpp"
#include "order.hpp"
#include "stop.hpp"

namespace rosenblatt {
namespace {

using Weights = Array<double, nb::ndim<2>>;
using Offsets = Array<double, nb::ndim<1>>;

struct StopObject {
    Stop stop;
    int64_t updates = 0;  // of all epochs
};

Hyperplanes hyperplanes(const Weights& w, const Offsets& b) {
    if (b.size() != w.shape(0)) throw nb::value_error("b needs one entry per row of w.");
    Hyperplanes planes;
    planes.w = w.data(), planes.b = b.data();
    planes.n = int64_t(w.shape(0)), planes.d = planes.w_stride = int64_t(w.shape(1));
    return planes;
}

void start(StopObject& self, const Weights& w, const Offsets& b) {
    self.stop.save(hyperplanes(w, b), self.updates);
    self.stop.power = 1, self.stop.length = 0;
}

Code end_epoch(StopObject& self, int64_t updates, std::optional<double> objective,
               std::optional<Weights> w, std::optional<Offsets> b) {
    Stop& stop = self.stop;
    Hyperplanes planes;
    if (w.has_value() != b.has_value() || (stop.watch_cycle && !w))
        throw nb::value_error("watch_cycle needs w and b after each epoch.");
    if (w) planes = hyperplanes(*w, *b);
    if (stop.watch_cycle && (int64_t(stop.saved_b.size()) != planes.n ||
                             int64_t(stop.saved_w.size()) != planes.n * planes.d))
        throw nb::value_error("watch_cycle needs start(w, b), with as many weights.");
    self.updates += updates;
    return stop.end_epoch(updates, objective.value_or(NAN), w ? &planes : nullptr, self.updates,
                          [] { return false; });
}

nb::ndarray<nb::numpy, int64_t> arrange(Order& order, int64_t n) {
    if (n < 0) throw nb::value_error("n must be at least 0.");
    order.arrange(n);
    int64_t* index = new int64_t[n + 1];
    if (order.data())
        std::copy_n(order.data(), n, index);
    else
        std::iota(index, index + n, int64_t{0});
    return own(index, {size_t(n)});
}

}  // namespace

void bind_stop(nb::module_& m) {
    nb::class_<StopObject>(m, "Stop", "Tests at the end of an epoch: clean, cycle, no gain.")
        .def(
            "__init__",
            [](StopObject* out, std::optional<double> tol, int64_t patience, bool clean,
               bool watch_cycle) {
                new (out) StopObject;
                if (tol) out->stop.tol = *tol;
                out->stop.patience = patience, out->stop.clean = clean;
                out->stop.watch_cycle = watch_cycle;
            },
            nb::kw_only(), nb::arg("tol").none() = nb::none(), nb::arg("patience") = 5,
            nb::arg("clean") = true, nb::arg("watch_cycle") = false)
        .def("start", start, nb::arg("w").noconvert(), nb::arg("b").noconvert(),
             "The weights before the first epoch, for watch_cycle.")
        .def("end_epoch", end_epoch, nb::arg("updates"), nb::arg("objective").none() = nb::none(),
             nb::arg("w").noconvert().none() = nb::none(),
             nb::arg("b").noconvert().none() = nb::none(),
             "Judge an epoch by its updates, its objective and the weights after it. Returns\n"
             "RUNNING, SEPARATED, CYCLE or NO_IMPROVEMENT.")
        .def_prop_ro(
            "cycle_length", [](const StopObject& s) { return s.stop.length; },
            "After CYCLE: its epochs.")
        .def_prop_ro(
            "cycle_updates", [](const StopObject& s) { return s.updates - s.stop.updates_at_save; },
            "After CYCLE: its updates.");

    nb::class_<Order>(m, "Order", "The order of visits: 0 in order, 1 shuffled, 2 sampled.")
        .def(
            "__init__",
            [](Order* out, int kind, uint32_t seed) {
                if (kind < 0 || kind > 2) throw nb::value_error("kind must be 0, 1 or 2.");
                new (out) Order;
                out->kind = static_cast<OrderKind>(kind), out->seed = seed;
            },
            nb::arg("kind") = 0, nb::arg("seed") = 0)
        .def("arrange", arrange, nb::arg("n"), "Row numbers of the next epoch of n rows.");
}

}  // namespace rosenblatt
