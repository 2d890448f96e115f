// What the binding files share. Each bind_*.cpp defines one function that adds its names to the
// module.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <vector>

#include "rows.hpp"

namespace nb = nanobind;

namespace rosenblatt {

// Read-only numpy arrays of any of the types that a function checks for itself.
using AnyArray = nb::ndarray<nb::numpy, nb::ro, nb::c_contig, nb::device::cpu>;
template <class T, class... Shape>
using Input = nb::ndarray<nb::numpy, const T, nb::c_contig, nb::device::cpu, Shape...>;
template <class T, class... Shape>
using Array = nb::ndarray<nb::numpy, T, nb::c_contig, nb::device::cpu, Shape...>;

// The class Rows of the module: the rows, and references to the arrays they are read from.
struct RowsObject {
    Rows rows;
    AnyArray data, indices, indptr;
};

// A new numpy array that owns `values`.
template <class T>
nb::ndarray<nb::numpy, T> own(T* values, std::initializer_list<size_t> shape) {
    nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(values, shape, owner);
}

// A new numpy array with a copy of `values`.
template <class T>
nb::ndarray<nb::numpy, T> copied(const std::vector<T>& values) {
    T* data = new T[values.size() + 1];
    std::copy(values.begin(), values.end(), data);
    return own(data, {values.size()});
}

template <class T>
nb::ndarray<nb::numpy, T> copied(const std::vector<T>& values, size_t rows, size_t columns) {
    T* data = new T[values.size() + 1];
    std::copy(values.begin(), values.end(), data);
    return own(data, {rows, columns});
}

void bind_feature_index(nb::module_&);
void bind_kernel(nb::module_&);
void bind_machine(nb::module_&);
void bind_one_row(nb::module_&);
void bind_rows(nb::module_&);
void bind_rules(nb::module_&);
void bind_parsers(nb::module_&);
void bind_stop(nb::module_&);
void bind_table(nb::module_&);

}  // namespace rosenblatt
