// The loops of the kernel perceptron for Python.
#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

#include "bind.hpp"
#include "kernel_machine.hpp"

namespace rosenblatt {
namespace {

using Matrix = Array<double, nb::ndim<2>>;
using Counts = Array<int64_t, nb::ndim<1>>;
using Numbers = Array<double, nb::ndim<1>>;

// A block for Python, and references to its arrays.
struct GramBlockObject {
    std::variant<GramBlock<float>, GramBlock<double>> block;
    int64_t n, least_index, greatest_index;
    nb::object gram, label, weight, index;
};

// Support rows for Python, and references to their arrays.
struct SupportRowsObject {
    SupportRows support;
    int64_t capacity;
    nb::object coef, lag, row, place;
};

void make_block(GramBlockObject* out, AnyArray gram, Input<int32_t, nb::ndim<1>> label,
                Input<double, nb::ndim<1>> weight, Input<int64_t, nb::ndim<1>> index,
                int64_t visits) {
    const size_t n = label.size();
    if (gram.ndim() != 2 || gram.shape(0) != n || gram.shape(1) != n || weight.size() != n ||
        index.size() != n)
        throw nb::value_error(
            "gram does not have one row and column, or weight or index not one entry, per row.");
    const auto [least, greatest] = std::minmax_element(index.data(), index.data() + n);
    auto block = [&]<class T>(T) -> GramBlock<T> {
        return {static_cast<const T*>(gram.data()),
                label.data(),
                weight.data(),
                index.data(),
                int64_t(n),
                visits};
    };
    decltype(out->block) either;
    if (gram.dtype() == nb::dtype<float>())
        either = block(float{});
    else if (gram.dtype() == nb::dtype<double>())
        either = block(double{});
    else
        throw nb::type_error("gram must be float32 or float64.");
    new (out) GramBlockObject{either,         int64_t(n),      n ? *least : 0,   n ? *greatest : -1,
                              nb::cast(gram), nb::cast(label), nb::cast(weight), nb::cast(index)};
}

void make_support(SupportRowsObject* out, Matrix coef, Matrix lag, Counts row, Counts place,
                  int64_t first_row, int64_t size) {
    const size_t capacity = coef.shape(0), planes = coef.shape(1);
    if (lag.shape(0) != capacity || lag.shape(1) != planes || row.size() != capacity)
        throw nb::value_error("coef, lag and row differ in length.");
    if (size < 0 || size > int64_t(capacity))
        throw nb::value_error("size is not within the length of coef.");
    for (size_t i = 0; i < place.size(); ++i)
        if (place.data()[i] < -1 || place.data()[i] >= size)
            throw nb::value_error("place has a number that is neither -1 nor a support row.");
    new (out) SupportRowsObject{{coef.data(), lag.data(), row.data(), place.data(), first_row,
                                 int64_t(place.size()), int64_t(planes), size},
                                int64_t(capacity),
                                nb::cast(coef),
                                nb::cast(lag),
                                nb::cast(row),
                                nb::cast(place)};
}

KernelTotals check(const GramBlockObject& block, const SupportRowsObject& object, int64_t more,
                   const Counts& mistakes, const Numbers* square_norm) {
    const SupportRows& support = object.support;
    if (block.least_index < 0 || block.greatest_index >= support.n_rows)
        throw nb::value_error("index has a number beyond the length of place.");
    if (support.size + more > object.capacity)
        throw nb::value_error("coef, lag and row have no room for more support rows.");
    if (int64_t(mistakes.size()) != support.planes ||
        (square_norm && int64_t(square_norm->size()) != support.planes))
        throw nb::value_error("mistakes or square_norm does not have one entry per hyperplane.");
    return {mistakes.data(), square_norm ? square_norm->data() : nullptr};
}

// Places for the rows that this block may add, and an array that says which row took which.
struct Places {
    std::unique_ptr<int64_t[]> new_row;
    LimitedSupport limited;

    Places(const GramBlockObject& block, const SupportRows& support, const Matrix& values,
           int64_t limit) {
        const int64_t places = std::min(limit, support.size + block.n);
        if (limit < 1 || support.size > limit || int64_t(values.shape(0)) != block.n ||
            int64_t(values.shape(1)) != places)
            throw nb::value_error(
                "values does not have one row per row of the block and one column per place.");
        new_row.reset(new int64_t[places + 1]);
        std::fill_n(new_row.get(), places, int64_t{-1});
        limited = {values.data(), new_row.get(), places, limit};
    }
    nb::ndarray<nb::numpy, int64_t> release() {
        return own(new_row.release(), {size_t(limited.places)});
    }
};

template <class F>
Code without_gil(const GramBlockObject& object, F f) {
    nb::gil_scoped_release release;
    return std::visit(f, object.block);
}

nb::tuple unlimited(const GramBlockObject& block, SupportRowsObject& object, Matrix scores,
                    Counts mistakes, Numbers square_norm) {
    const KernelTotals totals = check(block, object, block.n, mistakes, &square_norm);
    SupportRows& support = object.support;
    if (int64_t(scores.shape(0)) != support.planes || int64_t(scores.shape(1)) != block.n)
        throw nb::value_error(
            "scores does not have one row per hyperplane and one column per row.");
    CoefficientSteps steps;
    std::vector<int64_t> new_rows;
    const Code code = without_gil(block, [&](const auto& rows) {
        return visit_unlimited(rows, scores.data(), support, totals, steps, new_rows);
    });
    return nb::make_tuple(code, copied(new_rows), copied(steps.visit), copied(steps.support),
                          copied(steps.plane), copied(steps.amount));
}

nb::tuple dropping(const GramBlockObject& block, SupportRowsObject& object, Matrix values,
                   int64_t limit, uint32_t seed, Counts mistakes) {
    SupportRows& support = object.support;
    Places places(block, support, values, limit);
    const KernelTotals totals =
        check(block, object, places.limited.places - support.size, mistakes, nullptr);
    const Code code = without_gil(block, [&](const auto& rows) {
        return visit_dropping(rows, support, places.limited, seed, totals);
    });
    return nb::make_tuple(code, places.release(), seed);
}

nb::tuple projecting(const GramBlockObject& block, SupportRowsObject& object, Matrix values,
                     int64_t limit, double eta, Matrix inverse, Counts mistakes,
                     Numbers square_norm) {
    SupportRows& support = object.support;
    Places places(block, support, values, limit);
    const KernelTotals totals =
        check(block, object, places.limited.places - support.size, mistakes, &square_norm);
    if (int64_t(inverse.shape(0)) != limit || int64_t(inverse.shape(1)) != limit)
        throw nb::value_error("inverse does not have `limit` rows and columns.");
    const Projection projection{eta, inverse.data()};
    const Code code = without_gil(block, [&](const auto& rows) {
        return visit_projecting(rows, support, places.limited, projection, totals);
    });
    return nb::make_tuple(code, places.release());
}

template <class T>
nb::ndarray<nb::numpy, double> replayed(Input<T, nb::ndim<2>> values,
                                        Input<int64_t, nb::ndim<1>> visit,
                                        Input<int64_t, nb::ndim<1>> support,
                                        Input<double, nb::ndim<1>> amount,
                                        Input<int64_t, nb::ndim<1>> ends) {
    const size_t steps = visit.size(), n = values.shape(1), part = ends.size() * n;
    if (support.size() != steps || amount.size() != steps)
        throw nb::value_error("visit, support and amount differ in length.");
    for (size_t c = 0; c < steps; ++c)
        if (support.data()[c] < 0 || support.data()[c] >= int64_t(values.shape(0)))
            throw nb::value_error("support has a number that is not a row of values.");
    double* scores = new double[3 * part + 1];
    {
        nb::gil_scoped_release release;
        replay(Replay<T>{values.data(), int64_t(n), visit.data(), support.data(), amount.data(),
                         int64_t(steps), ends.data(), int64_t(ends.size())},
               scores, scores + part, scores + 2 * part);
    }
    return own(scores, {3, ends.size(), n});
}

}  // namespace

void bind_kernel(nb::module_& m) {
    nb::class_<GramBlockObject>(m, "GramBlock", "Rows of a kernel perceptron in visiting order.")
        .def("__init__", make_block, nb::arg("gram"), nb::arg("label"), nb::arg("weight"),
             nb::arg("index"), nb::arg("visits"));

    nb::class_<SupportRowsObject>(m, "SupportRows", "Coefficients of support rows, in place.")
        .def("__init__", make_support, nb::arg("coef").noconvert(), nb::arg("lag").noconvert(),
             nb::arg("row").noconvert(), nb::arg("place").noconvert(), nb::arg("first_row"),
             nb::arg("size"))
        .def_prop_ro("size", [](const SupportRowsObject& s) { return s.support.size; });

    m.def("kernel_visit", unlimited, nb::arg("block"), nb::arg("support"),
          nb::arg("scores").noconvert(), nb::arg("mistakes").noconvert(),
          nb::arg("square_norm").noconvert(),
          "Visit a block; every mistake adds its row. Returns the code, the rows of the block\n"
          "that were added, and the visit, support row, hyperplane and amount of each step.");
    m.def("kernel_visit_dropping", dropping, nb::arg("block"), nb::arg("support"),
          nb::arg("values").noconvert(), nb::arg("limit"), nb::arg("seed"),
          nb::arg("mistakes").noconvert(),
          "Visit a block; a row beyond the limit takes the place of a random one. Returns the\n"
          "code, the row of the block that took each place (or -1) and the next seed.");
    m.def("kernel_visit_projecting", projecting, nb::arg("block"), nb::arg("support"),
          nb::arg("values").noconvert(), nb::arg("limit"), nb::arg("eta"),
          nb::arg("inverse").noconvert(), nb::arg("mistakes").noconvert(),
          nb::arg("square_norm").noconvert(),
          "Visit a block; rows near the span of the support rows are projected onto it. Returns\n"
          "the code and the row of the block that took each place (or -1).");
    const char* doc = "Last, mean and voted scores (3, ends, rows) of one hyperplane after visits.";
    m.def("kernel_replay", replayed<float>, nb::arg("values").noconvert(), nb::arg("visit"),
          nb::arg("support"), nb::arg("amount"), nb::arg("ends"), doc);
    m.def("kernel_replay", replayed<double>, nb::arg("values").noconvert(), nb::arg("visit"),
          nb::arg("support"), nb::arg("amount"), nb::arg("ends"), doc);
}

}  // namespace rosenblatt
