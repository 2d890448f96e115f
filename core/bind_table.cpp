// Rows of tables for Python: features of columns put together, and standardization.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <vector>

#include "bind_feature_index.hpp"
#include "standardize.hpp"

namespace rosenblatt {
namespace {

using Places = Input<int32_t, nb::ndim<1>>;
using Numbers = Input<double, nb::ndim<1>>;
using Moments = Array<double, nb::ndim<1>>;

// CSR rows from features that are given column by column.
nb::tuple assemble_rows(int64_t n, std::vector<std::pair<Places, std::optional<Numbers>>> parts) {
    for (const auto& [columns, values] : parts)
        if (int64_t(columns.size()) != n || (values && int64_t(values->size()) != n))
            throw nb::value_error("columns and values need one entry per row.");
    std::vector<int32_t> ends{0}, columns;
    std::vector<double> values;
    bool too_many = false;
    {
        nb::gil_scoped_release released;
        for (int64_t i = 0; i < n && !too_many; ++i) {
            const size_t begin = columns.size();
            bool rising = true;
            for (const auto& [places, numbers] : parts) {
                const int32_t column = places.data()[i];
                if (column < 0) continue;
                rising = rising && (columns.size() == begin || columns.back() < column);
                columns.push_back(column);
                values.push_back(numbers ? numbers->data()[i] : 1.0);
            }
            if (!rising) {
                sort_by_column(columns.data() + begin, values.data() + begin,
                               columns.size() - begin);
                size_t at = begin;  // add up entries of one column, which hashing makes
                for (size_t k = begin + 1; k < columns.size(); ++k) {
                    if (columns[k] == columns[at]) {
                        values[at] += values[k];
                    } else {
                        ++at;
                        columns[at] = columns[k], values[at] = values[k];
                    }
                }
                columns.resize(at + 1), values.resize(at + 1);
            }
            too_many = columns.size() > size_t(FeatureIndex::MOST);
            ends.push_back(int32_t(columns.size()));
        }
    }
    if (too_many) throw nb::value_error("a block may hold at most 2**31 - 2 entries.");
    return nb::make_tuple(copied(ends), copied(columns), copied(values));
}

void check_moments(const Places& place, const Moments& count, const Moments& mean,
                   const Moments& squares) {
    const auto n = int64_t(count.size());
    bool fits = int64_t(mean.size()) == n && int64_t(squares.size()) == n;
    for (size_t j = 0; j < place.size(); ++j) fits = fits && place.data()[j] < n;
    if (!fits) throw nb::value_error("place, count, mean and squares do not fit.");
}

int64_t standardize_csr(Places indptr, Places indices, Array<double, nb::ndim<1>> values,
                        Places place, int64_t first_new, Moments count, Moments mean,
                        Moments squares) {
    check_moments(place, count, mean, squares);
    const size_t n = indptr.size();
    bool fits = n > 0 && indptr.data()[0] >= 0 && indices.size() == values.size() &&
                indptr.data()[n - 1] <= int64_t(indices.size());
    for (size_t i = 1; i < n; ++i) fits = fits && indptr.data()[i - 1] <= indptr.data()[i];
    for (size_t k = 0; k < indices.size(); ++k)
        fits = fits && indices.data()[k] >= 0 && indices.data()[k] < int64_t(place.size());
    if (!fits) throw nb::value_error("the rows are not CSR rows with these columns.");
    return standardize(values.data(), indptr.data(), indices.data(), int64_t(n) - 1, 0,
                       place.data(), first_new, {count.data(), mean.data(), squares.data()});
}

int64_t standardize_dense(Array<double, nb::ndim<2>> values, Places place, int64_t first_new,
                          Moments count, Moments mean, Moments squares) {
    check_moments(place, count, mean, squares);
    if (values.shape(1) != place.size()) throw nb::value_error("place needs one entry per column.");
    return standardize(values.data(), nullptr, nullptr, int64_t(values.shape(0)),
                       int64_t(values.shape(1)), place.data(), first_new,
                       {count.data(), mean.data(), squares.data()});
}

}  // namespace

void bind_table(nb::module_& m) {
    m.def("assemble_rows", assemble_rows, nb::arg("n_rows"), nb::arg("parts"),
          nb::sig("def assemble_rows(n_rows: int, parts: "
                  "Sequence[tuple[numpy.typing.NDArray[numpy.int32], "
                  "numpy.typing.NDArray[numpy.float64] | None]]) -> "
                  "tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], "
                  "numpy.typing.NDArray[numpy.float64]]"),
          "CSR rows (indptr, indices, values) from features with a column per row, -1 for none,\n"
          "and a value per row, or 1.");
    m.def(
        "standardize_csr", standardize_csr, nb::arg("indptr"), nb::arg("indices"),
        nb::arg("values").noconvert(), nb::arg("place"), nb::arg("first_new"),
        nb::arg("count").noconvert(), nb::arg("mean").noconvert(), nb::arg("squares").noconvert(),
        "Standardize columns of rows in place, with means and deviations that run; a row that is\n"
        "not finite then, or -1.");
    m.def("standardize_dense", standardize_dense, nb::arg("values").noconvert(), nb::arg("place"),
          nb::arg("first_new"), nb::arg("count").noconvert(), nb::arg("mean").noconvert(),
          nb::arg("squares").noconvert(), "The same for dense rows.");
}

}  // namespace rosenblatt
