// Rows of tables for Python: features of columns put together, and standardization.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "bind_feature_index.hpp"
#include "standardize.hpp"

namespace rosenblatt {
namespace {

using Places = Input<int32_t, nb::ndim<1>>;
using Moments = Array<double, nb::ndim<1>>;
// a column of a table, which may be one of an array of rows
template <class T>
using Strided = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::device::cpu>;
// float64 numbers or int32 places; no other type is converted to one of them
using Cells = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

// Features of a column: numbers, or places of words, and the columns of these words.
class Part {
  public:
    Part(const Cells& cells, const Places& columns)
        : columns_(columns.data()), n_columns_(static_cast<uint32_t>(columns.size())) {
        step_ = cells.stride(0);
        if (cells.dtype() == nb::dtype<double>()) {
            numbers_ = static_cast<const double*>(cells.data());
            fits_ = columns.size() == 1 && columns_[0] >= 0;
        } else if (cells.dtype() == nb::dtype<int32_t>()) {
            places_ = static_cast<const int32_t*>(cells.data());
            for (size_t i = 0; i < cells.size(); ++i)
                fits_ = fits_ && places_[int64_t(i) * step_] < int64_t(n_columns_);
        } else {
            throw nb::type_error("cells are float64 numbers or int32 places.");
        }
    }
    bool fits() const { return fits_; }
    // The column of the entry of a row, -1 if it has none, and its value.
    int32_t entry(int64_t row, double& value) const {
        if (numbers_ != nullptr) {
            value = numbers_[row * step_];
            return value == value ? columns_[0] : -1;
        }
        value = 1.0;
        const int32_t place = places_[row * step_];
        return place < 0 ? -1 : columns_[place];
    }

  private:
    const double* numbers_ = nullptr;
    const int32_t* places_ = nullptr;
    int64_t step_ = 0;
    const int32_t* columns_;
    uint32_t n_columns_;
    bool fits_ = true;
};

// Sorts the entries of a row and adds up those of the same column, which hashing causes. Returns how
// many are left.
size_t settle_row(int32_t* columns, double* values, size_t n) {
    sort_by_column(columns, values, n);
    size_t last = 0;
    for (size_t k = 1; k < n; ++k) {
        if (columns[k] == columns[last]) {
            values[last] += values[k];
        } else {
            ++last;
            columns[last] = columns[k], values[last] = values[k];
        }
    }
    return last + 1;
}

// A numpy array of the first `size` values of `held`, which has room for more.
template <class T>
nb::ndarray<nb::numpy, T> first_values(std::unique_ptr<T[]> held, size_t size, size_t room) {
    if (size < room / 4 * 3) return copied(std::vector<T>(held.get(), held.get() + size));
    return own(held.release(), {size});
}

// CSR rows from features that are given column by column.
nb::tuple assemble_rows(int64_t n, const std::vector<std::pair<Cells, Places>>& given) {
    std::vector<Part> parts;
    for (const auto& [cells, columns] : given) {
        parts.emplace_back(cells, columns);
        if (int64_t(cells.size()) != n || !parts.back().fits())
            throw nb::value_error(
                "every part needs one cell per row; numbers need exactly one column, and places "
                "must be below the number of words.");
    }
    if (n < 0) throw nb::value_error("n_rows is negative.");
    const size_t room = size_t(n) * parts.size();
    if (room > size_t(FeatureIndex::MOST))
        throw nb::value_error(
            "a block may have at most 2**31 - 2 cells. Give fewer rows at a time.");
    auto ends = std::make_unique_for_overwrite<int32_t[]>(size_t(n) + 1);
    auto columns = std::make_unique_for_overwrite<int32_t[]>(room);
    auto values = std::make_unique_for_overwrite<double[]>(room);
    size_t size = 0;
    {
        nb::gil_scoped_release released;
        ends[0] = 0;
        for (int64_t i = 0; i < n; ++i) {
            const size_t begin = size;
            bool rising = true;
            for (const Part& part : parts) {
                const int32_t column = part.entry(i, values[size]);
                if (column < 0) continue;
                rising = rising && (size == begin || columns[size - 1] < column);
                columns[size++] = column;
            }
            if (!rising) size = begin + settle_row(&columns[begin], &values[begin], size - begin);
            ends[size_t(i) + 1] = int32_t(size);
        }
    }
    return nb::make_tuple(own(ends.release(), {size_t(n) + 1}),
                          first_values(std::move(columns), size, room),
                          first_values(std::move(values), size, room));
}

nb::tuple least_and_greatest(const Strided<double>& values) {
    double least = std::numeric_limits<double>::infinity(), greatest = -least;
    for (size_t i = 0; i < values.size(); ++i) {
        const double value = values.data()[int64_t(i) * values.stride(0)];
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
    }
    return nb::make_tuple(least, greatest);
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
                        Moments squares, Moments entries) {
    check_moments(place, count, mean, squares);
    const size_t n = indptr.size(), size = indices.size();
    bool fits = n > 0 && indptr.data()[0] >= 0 && size == values.size() &&
                indptr.data()[n - 1] <= int64_t(size) && entries.size() >= place.size();
    for (size_t i = 1; i < n; ++i) fits = fits && indptr.data()[i - 1] <= indptr.data()[i];
    for (size_t k = 0; k < size; ++k) fits &= uint32_t(indices.data()[k]) < place.size();
    if (!fits) throw nb::value_error("the rows are not CSR rows with these columns.");
    nb::gil_scoped_release released;
    const auto first = size_t(indptr.data()[std::clamp<int64_t>(first_new, 0, int64_t(n) - 1)]);
    const auto last = size_t(indptr.data()[n - 1]);
    for (size_t k = first; k < last; ++k) entries.data()[indices.data()[k]] += 1.0;
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
                  "Sequence[tuple[numpy.typing.NDArray[numpy.int32] | "
                  "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]]) -> "
                  "tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], "
                  "numpy.typing.NDArray[numpy.float64]]"),
          "CSR rows (indptr, indices, values) from parts that have a cell per row: numbers and "
          "their\n"
          "column, NaN for none, or places of words, -1 for none, and the column of each word, -1\n"
          "for none.");
    m.def("least_and_greatest", least_and_greatest, nb::arg("values"),
          nb::sig("def least_and_greatest(values: numpy.typing.NDArray[numpy.float64]) -> "
                  "tuple[float, float]"),
          "The least and the greatest number, NaN aside; (inf, -inf) if there is none.");
    m.def("standardize_csr", standardize_csr, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("values").noconvert(), nb::arg("place"), nb::arg("first_new"),
          nb::arg("count").noconvert(), nb::arg("mean").noconvert(), nb::arg("squares").noconvert(),
          nb::arg("entries").noconvert(),
          "Standardize the rows in place with running means and deviations. Rows from `first_new` "
          "on\n"
          "are counted, and their entries of each column too, in `entries`. Returns the first row\n"
          "that is not finite then, or -1.");
    m.def("standardize_dense", standardize_dense, nb::arg("values").noconvert(), nb::arg("place"),
          nb::arg("first_new"), nb::arg("count").noconvert(), nb::arg("mean").noconvert(),
          nb::arg("squares").noconvert(), "The same for dense rows, without counts of entries.");
}

}  // namespace rosenblatt
