// Rows, scores and the form of CSR matrices for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "cpu.hpp"
#include "csr_form.hpp"
#include "finite.hpp"
#include "scores.hpp"

namespace rosenblatt {
namespace {

std::vector<std::string> cpu_names() {
    int n;
    const Cpu* all = cpus(n);
    std::vector<std::string> names;
    for (int k = 0; k < n; ++k)
        if (all[k].runs_here()) names.emplace_back(all[k].name);
    return names;
}

const Cpu& cpu_named(const std::string& name, const char* where) {
    if (const Cpu* found = find_cpu(name.c_str())) return *found;
    std::string here;
    for (const std::string& each : cpu_names()) here += (here.empty() ? "" : ", ") + each;
    throw nb::value_error(
        (std::string(where) + "='" + name + "' does not run here; choose one of: " + here + ".")
            .c_str());
}

template <class T>
bool has_type(const AnyArray& array) {
    return array.dtype() == nb::dtype<T>();
}

bool has_float_type(const AnyArray& array) {
    return has_type<float>(array) || has_type<double>(array);
}

int64_t integer_at(const AnyArray& array, size_t k) {
    return has_type<int32_t>(array) ? static_cast<const int32_t*>(array.data())[k]
                                    : static_cast<const int64_t*>(array.data())[k];
}

// Checks what is cheap. The caller checks with csr_form that columns and row starts are
// within bounds.
void make_rows(RowsObject* out, AnyArray data, std::optional<AnyArray> indices,
               std::optional<AnyArray> indptr, std::optional<int64_t> n_features,
               std::optional<std::string> cpu_name) {
    const Cpu& used = cpu_name ? cpu_named(*cpu_name, "cpu") : cpu();
    if (!has_float_type(data)) throw nb::type_error("data must be float32 or float64.");
    const bool f64 = has_type<double>(data);
    if (!indices && !indptr) {
        if (data.ndim() != 2) throw nb::value_error("Dense rows are a two-dimensional array.");
        const Kind kind = f64 ? Kind::dense_f64 : Kind::dense_f32;
        const int64_t n = int64_t(data.shape(0)), d = int64_t(data.shape(1));
        if (n_features && *n_features != d)
            throw nb::value_error("n_features differs from the number of columns.");
        new (out)
            RowsObject{{used.row_ops(kind), data.data(), nullptr, nullptr, n, d}, data, {}, {}};
        return;
    }
    if (!indices || !indptr || !n_features)
        throw nb::value_error("CSR rows need data, indices, indptr and n_features.");
    if (data.ndim() != 1 || indices->ndim() != 1 || indptr->ndim() != 1 || indptr->size() == 0)
        throw nb::value_error("data, indices and indptr are one-dimensional arrays.");
    const bool i64 = has_type<int64_t>(*indices);
    if (!i64 && !has_type<int32_t>(*indices))
        throw nb::type_error("indices must be int32 or int64.");
    if (indices->dtype() != indptr->dtype())
        throw nb::type_error("indices and indptr must have one type.");
    const size_t n = indptr->size() - 1;
    const int64_t first = integer_at(*indptr, 0), last = integer_at(*indptr, n);
    if (first < 0 || last < first || size_t(last) > indices->size() || size_t(last) > data.size() ||
        *n_features < 0)
        throw nb::value_error("indptr leads outside of indices or data.");
    const Kind kind = f64 ? (i64 ? Kind::csr_f64_i64 : Kind::csr_f64_i32)
                          : (i64 ? Kind::csr_f32_i64 : Kind::csr_f32_i32);
    new (out) RowsObject{
        {used.row_ops(kind), data.data(), indices->data(), indptr->data(), int64_t(n), *n_features},
        data,
        *indices,
        *indptr};
}

auto scores_of(const RowsObject& object, Input<double, nb::ndim<2>> W, Input<double, nb::ndim<1>> b,
               int n_threads) {
    const Rows& rows = object.rows;
    const size_t planes = W.shape(0);
    if (int64_t(W.shape(1)) != rows.d)
        throw nb::value_error("W needs one column per feature of the rows.");
    if (b.shape(0) != planes) throw nb::value_error("b needs one entry per row of W.");
    if (n_threads < 1) throw nb::value_error("n_threads must be at least 1.");
    std::unique_ptr<double[]> out(new double[size_t(rows.n) * planes]);
    {
        nb::gil_scoped_release release;
        scores(rows, W.data(), b.data(), int64_t(planes), out.get(), n_threads);
    }
    return nb::ndarray<nb::numpy, double, nb::ndim<2>>(
        own(out.release(), {size_t(rows.n), planes}));
}

bool finite(AnyArray values) {
    if (!has_float_type(values)) throw nb::type_error("values must be float32 or float64.");
    const int64_t n = int64_t(values.size());
    nb::gil_scoped_release release;
    return has_type<double>(values) ? all_finite(static_cast<const double*>(values.data()), n)
                                    : all_finite(static_cast<const float*>(values.data()), n);
}

template <class P, class I>
CsrForm form_of(const AnyArray& indptr, const AnyArray& indices, int64_t n_features) {
    nb::gil_scoped_release release;
    return csr_form(static_cast<const P*>(indptr.data()), int64_t(indptr.size()),
                    static_cast<const I*>(indices.data()), int64_t(indices.size()), n_features);
}

CsrForm form(AnyArray indptr, AnyArray indices, int64_t n_features) {
    const bool p32 = has_type<int32_t>(indptr), p64 = has_type<int64_t>(indptr);
    const bool i32 = has_type<int32_t>(indices), i64 = has_type<int64_t>(indices);
    if (!(p32 || p64) || !(i32 || i64))
        throw nb::type_error("indptr and indices must be int32 or int64.");
    if (indptr.ndim() != 1 || indices.ndim() != 1 || n_features < 0)
        throw nb::value_error(
            "indptr and indices are one-dimensional, n_features is not negative.");
    if (p32) {
        return i32 ? form_of<int32_t, int32_t>(indptr, indices, n_features)
                   : form_of<int32_t, int64_t>(indptr, indices, n_features);
    }
    return i32 ? form_of<int64_t, int32_t>(indptr, indices, n_features)
               : form_of<int64_t, int64_t>(indptr, indices, n_features);
}

// The operations of one row, so that tests can compare them with a model of the lanes in Python.
using Weights = Input<double, nb::ndim<1>>;
using State = Array<double, nb::ndim<1>>;

const Rows& checked(const RowsObject& object, int64_t i) {
    if (i < 0 || i >= object.rows.n) throw nb::index_error("There is no such row.");
    return object.rows;
}

template <class A>
void check_size(const A& array, int64_t size, const char* what) {
    if (int64_t(array.shape(0)) != size) throw nb::value_error(what);
}

double row_dot(const RowsObject& object, int64_t i, Weights w) {
    const Rows& rows = checked(object, i);
    check_size(w, rows.d, "w needs one entry per feature.");
    return rows.ops->dot(rows, i, w.data());
}

double row_square(const RowsObject& object, int64_t i) {
    const Rows& rows = checked(object, i);
    return rows.ops->square(rows, i);
}

double row_variance(const RowsObject& object, int64_t i, Weights S) {
    const Rows& rows = checked(object, i);
    check_size(S, rows.d + 1, "S needs one entry per feature and one for the offset.");
    return rows.ops->variance(rows, i, S.data());
}

void row_add(const RowsObject& object, int64_t i, double c, State w, bool round32) {
    const Rows& rows = checked(object, i);
    check_size(w, rows.d, "w needs one entry per feature.");
    rows.ops->add(rows, i, c, w.data(), round32);
}

void row_nudge(const RowsObject& object, int64_t i, double c, double visits, double beta, State S,
               State w, std::optional<State> u, bool round32) {
    const Rows& rows = checked(object, i);
    check_size(S, rows.d + 1, "S needs one entry per feature and one for the offset.");
    check_size(w, rows.d, "w needs one entry per feature.");
    if (u) check_size(*u, rows.d, "u needs one entry per feature.");
    rows.ops->nudge(rows, i, c, visits, beta, S.data(), w.data(), u ? u->data() : nullptr, round32);
}

std::pair<std::vector<int64_t>, std::vector<double>> row_entries(const RowsObject& object,
                                                                 int64_t i) {
    const Rows& rows = checked(object, i);
    std::vector<int64_t> columns(static_cast<size_t>(rows.d));
    std::vector<double> values(static_cast<size_t>(rows.d));
    const Entries entries = rows.ops->load(rows, i, {columns.data(), values.data()});
    std::vector<int64_t> names(static_cast<size_t>(entries.n));
    for (int64_t k = 0; k < entries.n; ++k)
        names[size_t(k)] = entries.columns ? entries.columns[k] : k;
    return {names, {entries.values, entries.values + entries.n}};
}

std::pair<int64_t, double> scan_rows(const RowsObject& object, Input<int32_t, nb::ndim<1>> y,
                                     int32_t positive, Weights w, double b, int64_t t, double bar,
                                     std::optional<Input<int64_t, nb::ndim<1>>> order,
                                     std::optional<State> seen) {
    const Rows& rows = object.rows;
    check_size(y, rows.n, "y needs one entry per row.");
    check_size(w, rows.d, "w needs one entry per feature.");
    if (seen) check_size(*seen, rows.n, "seen needs one entry per row.");
    const int64_t n = order ? int64_t(order->shape(0)) : rows.n;
    for (int64_t k = 0; order && k < n; ++k) checked(object, order->data()[k]);
    if (t < 0 || t > n) throw nb::index_error("t is not a visit of this scan.");
    const Scan scan{
        y.data(),     positive, order ? order->data() : nullptr, n, seen ? seen->data() : nullptr,
        order ? n : 0};
    const Found found = rows.ops->scan(rows, scan, w.data(), b, t, bar);
    return {found.t, found.score};
}

}  // namespace

void bind_rows(nb::module_& m) {
    if (const char* wanted = std::getenv("ROSENBLATT_CPU"); wanted && *wanted) {
        use_cpu(cpu_named(wanted, "ROSENBLATT_CPU"));
    } else if (!find_cpu()) {
        throw nb::import_error("rosenblatt needs a processor with SSE4.2 and POPCNT (x86-64-v2).");
    }

    m.def(
        "cpu", [] { return std::string(cpu().name); },
        "Name of the instruction set in use: v2, v3, v4, or base.");
    m.def("cpus", cpu_names,
          "Names of the instruction sets that this machine runs, slowest first.");

    nb::class_<RowsObject>(m, "Rows",
                           "Rows of a C-contiguous matrix, or of a CSR matrix, read in place.")
        .def("__init__", make_rows, nb::arg("data"), nb::arg("indices").none() = nb::none(),
             nb::arg("indptr").none() = nb::none(), nb::arg("n_features").none() = nb::none(),
             nb::kw_only(), nb::arg("cpu").none() = nb::none())
        .def_prop_ro("n_rows", [](const RowsObject& r) { return r.rows.n; })
        .def_prop_ro("n_features", [](const RowsObject& r) { return r.rows.d; })
        .def("dot", row_dot, nb::arg("i"), nb::arg("w"), "w.x of row i.")
        .def("square", row_square, nb::arg("i"), "x.x of row i.")
        .def("variance", row_variance, nb::arg("i"), nb::arg("S"),
             "x'Sx of row i with a leading 1, S diagonal.")
        .def("add", row_add, nb::arg("i"), nb::arg("c"), nb::arg("w").noconvert(),
             nb::arg("round32") = false, "w += c x of row i.")
        .def("nudge", row_nudge, nb::arg("i"), nb::arg("c"), nb::arg("visits"), nb::arg("beta"),
             nb::arg("S").noconvert(), nb::arg("w").noconvert(),
             nb::arg("u").noconvert().none() = nb::none(), nb::arg("round32") = false,
             "w += c S x of row i, u += visits times that, and S contracted along it.")
        .def("entries", row_entries, nb::arg("i"), "Columns and values of row i.")
        .def("scan", scan_rows, nb::arg("y"), nb::arg("positive"), nb::arg("w"), nb::arg("b"),
             nb::arg("t") = 0, nb::arg("bar") = 0.0, nb::arg("order").none() = nb::none(),
             nb::arg("seen").noconvert().none() = nb::none(),
             "First visit from t on whose row has no label or a margin not above bar; its score.");

    m.def("scores", scores_of, nb::arg("rows"), nb::arg("W"), nb::arg("b"),
          nb::arg("n_threads") = 1,
          "W[p].x + b[p] of every row (n_rows, planes); threads do not change the bits.");

    m.def("all_finite", finite, nb::arg("values"),
          "Whether no number of a C-contiguous array is NaN or infinite.");

    nb::enum_<CsrForm>(m, "CsrForm", "Form of the indices of a CSR matrix.")
        .value("BROKEN", CsrForm::broken, "Not a CSR matrix.")
        .value("SORTED", CsrForm::sorted, "The columns of every row rise.")
        .value("UNIQUE", CsrForm::unique, "Some row is unsorted; none names a column twice.")
        .value("REPEATED", CsrForm::repeated, "Some row names a column twice.");
    m.def("csr_form", form, nb::arg("indptr"), nb::arg("indices"), nb::arg("n_features"),
          "Form of a CSR matrix: whether its indices are valid, sorted and unique.");
}

}  // namespace rosenblatt
