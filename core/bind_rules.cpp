// Training rules for Python.
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "bind_machine.hpp"

namespace rosenblatt {

void bind_rules(nb::module_& m) {
    nb::class_<Additive>(m, "AdditiveRule", "The perceptron rule, also with a margin tau.")
        .def(
            "__init__",
            [](Additive* out, double eta, double tau, int tie, bool margin, bool fit_intercept) {
                new (out) Additive;
                out->eta = eta, out->tau = tau, out->tie = static_cast<Tie>(tie);
                out->margin = margin, out->intercept = fit_intercept;
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
                if (etas.empty())
                    throw nb::value_error(
                        "etas is empty; give one learning rate per epoch, the last one is used for "
                        "the rest.");
                new (out) Batch;
                out->rule = rule, out->etas = std::move(etas), out->mean = mean;
            },
            nb::arg("rule"), nb::arg("etas"), nb::arg("mean"));
    nb::class_<MinOver>(m, "MinOverRule", "MinOver: every step adds the row of smallest margin.")
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
}

}  // namespace rosenblatt
