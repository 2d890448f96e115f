// The feature index for Python.
#include "bind_feature_index.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <string>
#include <tuple>

#include "parse_libsvm.hpp"

namespace rosenblatt {

std::string_view utf8(nb::handle text) {
    Py_ssize_t size;
    const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return {data, static_cast<size_t>(size)};
}

namespace {

nb::str as_text(std::string_view text) { return nb::str(text.data(), text.size()); }

FeatureIndex make_index(std::optional<int> hash_bits, int64_t max_features,
                        int64_t max_name_bytes) {
    if (hash_bits && (*hash_bits < 1 || *hash_bits > 30))
        throw nb::value_error("hash_bits must be between 1 and 30.");
    if (max_features < 0 || max_name_bytes < 0) throw nb::value_error("a limit is negative.");
    return FeatureIndex(hash_bits.value_or(0), max_features, static_cast<size_t>(max_name_bytes));
}

size_t checked(const FeatureIndex& self, int64_t column) {
    if (column < 0 || column >= static_cast<int64_t>(self.size()))
        throw nb::index_error("no feature has this column.");
    return static_cast<size_t>(column);
}

nb::tuple as_arrays(const FeatureIndex& self) {
    const FeatureIndex::Arrays arrays = self.arrays();
    return nb::make_tuple(copied(arrays.names), copied(arrays.ends), copied(arrays.spaces));
}

using Names = Input<uint8_t, nb::ndim<1>>;
using Offsets = Input<int64_t, nb::ndim<1>>;
using Spaces = Input<int32_t, nb::ndim<1>>;

FeatureIndex from_arrays(Names names, Offsets offsets, Spaces spaces, int64_t max_features,
                         int64_t max_name_bytes) {
    FeatureIndex index = make_index(std::nullopt, max_features, max_name_bytes);
    index.add_arrays(names.data(), names.size(), offsets.data(), offsets.size(), spaces.data(),
                     spaces.size());
    return index;
}

nb::list names_of(const FeatureIndex& self, const std::string& joint) {
    nb::list names;
    for (size_t k = 0; k < self.size(); ++k) {
        std::string name(self.space(k));
        if (!name.empty()) name += joint;
        names.append(as_text(name.append(self.name(k))));
    }
    return names;
}

nb::ndarray<nb::numpy, int32_t> add_all(FeatureIndex& self, const FeatureIndex& other) {
    if (&self == &other || other.hash_bits() > 0)
        throw nb::value_error("features are added from another index that has names.");
    return copied(self.add_all(other));
}

// Give entries of rows, whose columns from `first` on are numbers of `columns`, those columns plus
// `first`, and sort each row.
void renumber_columns(Input<int32_t, nb::ndim<1>> indptr, Array<int32_t, nb::ndim<1>> indices,
                      Array<double, nb::ndim<1>> values, Spaces columns, int64_t first) {
    const size_t n = indptr.size();
    const auto n_columns = static_cast<int64_t>(columns.size());
    const auto fits = [&](bool is_true) {
        if (!is_true) throw nb::value_error("rows or columns do not fit.");
    };
    fits(n > 0 && indptr.data()[0] == 0 && values.size() == indices.size() && first >= -1 &&
         indptr.data()[n - 1] == static_cast<int64_t>(indices.size()));
    for (size_t i = 1; i < n; ++i) fits(indptr.data()[i - 1] <= indptr.data()[i]);
    for (int64_t k = 0; k < n_columns; ++k)
        fits(columns.data()[k] >= 0 && columns.data()[k] + first <= FeatureIndex::MOST);
    for (size_t k = 0; k < indices.size(); ++k)
        fits(indices.data()[k] < first || indices.data()[k] - first < n_columns);
    for (size_t i = 1; i < n; ++i) {
        const auto begin = static_cast<size_t>(indptr.data()[i - 1]);
        const auto end = static_cast<size_t>(indptr.data()[i]);
        bool sorted = true;
        for (size_t k = begin; k < end; ++k) {
            int32_t& column = indices.data()[k];
            if (column >= first)
                column = static_cast<int32_t>(columns.data()[column - first] + first);
            sorted = sorted && (k == begin || indices.data()[k - 1] < column);
        }
        if (!sorted) sort_by_column(indices.data() + begin, values.data() + begin, end - begin);
    }
}

}  // namespace

void bind_feature_index(nb::module_& m) {
    nb::class_<FeatureIndex>(m, "FeatureIndex", "Columns of features, which are pairs of texts.")
        .def(
            "__init__",
            [](FeatureIndex* out, std::optional<int> hash_bits, int64_t max_features,
               int64_t max_name_bytes) {
                new (out) FeatureIndex(make_index(hash_bits, max_features, max_name_bytes));
            },
            nb::arg("hash_bits") = nb::none(), nb::arg("max_features") = 1'000'000,
            nb::arg("max_name_bytes") = 1000)
        .def(
            "add",
            [](FeatureIndex& self, nb::str name, nb::str space, bool reserved) {
                return self.add(utf8(space), utf8(name), reserved);
            },
            nb::arg("name"), nb::arg("namespace") = "", nb::arg("reserved") = false,
            "The column of a feature, a new one if it has none; FULL or TOO_LONG if it gets none.")
        .def(
            "find",
            [](const FeatureIndex& self, nb::str name, nb::str space) {
                return self.find(utf8(space), utf8(name));
            },
            nb::arg("name"), nb::arg("namespace") = "",
            "The column of a feature, -1 if it has none.")
        .def(
            "find_all",
            [](const FeatureIndex& self, nb::list names, nb::str space) {
                std::vector<int32_t> columns;
                for (nb::handle name : names)
                    columns.push_back(static_cast<int32_t>(self.find(utf8(space), utf8(name))));
                return copied(columns);
            },
            nb::arg("names"), nb::arg("namespace") = "",
            nb::sig("def find_all(self, names: list[str], namespace: str = '') -> "
                    "numpy.typing.NDArray[numpy.int32]"),
            "`find` for a list of names.")
        .def(
            "pair",
            [](const FeatureIndex& self, int64_t column) {
                const size_t k = checked(self, column);
                return nb::make_tuple(as_text(self.space(k)), as_text(self.name(k)));
            },
            nb::arg("column"), nb::sig("def pair(self, column: int) -> tuple[str, str]"),
            "Namespace and name of a column.")
        .def("names", names_of, nb::arg("joint") = "=",
             nb::sig("def names(self, joint: str = '=') -> list[str]"),
             "Name of each column, after its namespace, if it is in one, and `joint`.")
        .def("add_all", add_all, nb::arg("other"),
             nb::sig("def add_all(self, other: FeatureIndex) -> "
                     "numpy.typing.NDArray[numpy.int32]"),
             "Add the features of another index in order; their columns here, negative for none.")
        .def("arrays", as_arrays,
             nb::sig("def arrays(self) -> tuple[numpy.typing.NDArray[numpy.uint8], "
                     "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32]]"),
             "Bytes of all texts, their offsets and namespaces. Namespaces come first, with -1.")
        .def_static("from_arrays", from_arrays, nb::arg("names"), nb::arg("offsets"),
                    nb::arg("spaces"), nb::arg("max_features") = 1'000'000,
                    nb::arg("max_name_bytes") = 1000,
                    "An index from `arrays`. Raises ValueError if they are damaged.")
        .def(
            "copy", [](const FeatureIndex& self) { return FeatureIndex(self); },
            "A copy that grows alone.")
        .def("__len__", &FeatureIndex::size)
        .def("__getstate__",
             [](const FeatureIndex& self) {
                 return nb::make_tuple(self.hash_bits(), self.max_features(), self.max_name_bytes(),
                                       as_arrays(self));
             })
        .def("__setstate__",
             [](FeatureIndex& self,
                std::tuple<int, int64_t, size_t, std::tuple<Names, Offsets, Spaces>> state) {
                 const auto& [bits, max_features, max_name_bytes, arrays] = state;
                 new (&self) FeatureIndex(bits, max_features, max_name_bytes);
                 const auto& [names, offsets, spaces] = arrays;
                 if (bits == 0)
                     self.add_arrays(names.data(), names.size(), offsets.data(), offsets.size(),
                                     spaces.data(), spaces.size());
             })
        .def_prop_ro("hash_bits",
                     [](const FeatureIndex& self) -> std::optional<int> {
                         if (self.hash_bits() == 0) return std::nullopt;
                         return self.hash_bits();
                     })
        .def_prop_ro(
            "n_features",
            [](const FeatureIndex& self) {
                return self.hash_bits() ? int64_t{1} << self.hash_bits() : int64_t(self.size());
            },
            "Columns: as many as features, or 2**hash_bits.")
        .def_prop_ro("max_features", &FeatureIndex::max_features)
        .def_prop_ro("max_name_bytes", &FeatureIndex::max_name_bytes)
        .def_prop_ro_static("FULL", [](nb::handle) { return int64_t(FeatureIndex::FULL); })
        .def_prop_ro_static("TOO_LONG", [](nb::handle) { return int64_t(FeatureIndex::TOO_LONG); });
    m.attr("PLAIN_COLUMNS") = LibsvmOptions{}.plain_columns;
    m.def(
        "renumber_columns", renumber_columns, nb::arg("indptr"), nb::arg("indices").noconvert(),
        nb::arg("values").noconvert(), nb::arg("columns"), nb::arg("first") = 0,
        "Replace columns from `first` on by those that `columns` gives, in place, and sort rows.");
}

}  // namespace rosenblatt
