// Form of a CSR matrix: whether its indices are valid, sorted and unique.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rosenblatt {

enum class CsrForm : int {
    broken,    // not a CSR matrix: indptr falls or leads outside, or a column is outside 0..d-1
    sorted,    // the columns of every row rise
    unique,    // some row is not sorted; no row names a column twice
    repeated,  // some row names a column twice
};

// indptr has n_indptr entries, indices n_indices; entries after the last row do not matter.
template <class P, class I>
CsrForm csr_form(const P* indptr, int64_t n_indptr, const I* indices, int64_t n_indices, int64_t d);

}  // namespace rosenblatt
