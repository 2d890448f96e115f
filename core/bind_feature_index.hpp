// What binding files that read names of features share.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "feature_index.hpp"

namespace rosenblatt {

// The bytes of a Python text, which must outlive them.
std::string_view utf8(nb::handle text);

// Sort the entries of a row; most rows are nearly sorted or short.
inline void sort_by_column(int32_t* columns, double* values, size_t n) {
    if (n > 64) {
        std::vector<std::pair<int32_t, double>> entries(n);
        for (size_t i = 0; i < n; ++i) entries[i] = {columns[i], values[i]};
        std::stable_sort(entries.begin(), entries.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (size_t i = 0; i < n; ++i) columns[i] = entries[i].first, values[i] = entries[i].second;
        return;
    }
    for (size_t i = 1; i < n; ++i) {
        const int32_t column = columns[i];
        const double value = values[i];
        size_t m = i;
        for (; m > 0 && columns[m - 1] > column; --m)
            columns[m] = columns[m - 1], values[m] = values[m - 1];
        columns[m] = column, values[m] = value;
    }
}

}  // namespace rosenblatt
