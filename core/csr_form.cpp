#include "csr_form.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace rosenblatt {

template <class P, class I>
CsrForm csr_form(const P* indptr, int64_t n_indptr, const I* indices, int64_t n_indices,
                 int64_t d) {
    const int64_t n = n_indptr - 1;
    if (n < 0 || indptr[0] != 0 || indptr[n] < 0 || int64_t(indptr[n]) > n_indices)
        return CsrForm::broken;
    for (int64_t i = 0; i < n; ++i)
        if (indptr[i] > indptr[i + 1]) return CsrForm::broken;

    // Count over all entries, piece by piece in the type of the indices, which vectorises; then
    // leave out the starts of rows, where the column before belongs to another row.
    const int64_t size = indptr[n], piece = 1 << 14;
    if (size > 0 && d == 0) return CsrForm::broken;
    const I last = I(std::min<int64_t>(d - 1, std::numeric_limits<I>::max()));
    int64_t falls = 0, row = 1;
    for (int64_t start = 0; start < size; start += piece) {
        const int64_t end = std::min(size, start + piece);
        I outside = 0, falls_here = 0;
        for (int64_t k = start; k < end; ++k) outside |= I(indices[k] < 0) | I(indices[k] > last);
        for (int64_t k = std::max<int64_t>(start, 1); k < end; ++k)
            falls_here += I(indices[k] <= indices[k - 1]);
        if (outside) return CsrForm::broken;
        falls += falls_here;
        for (; row < n && indptr[row] < end; ++row) {
            const int64_t k = indptr[row];
            if (k > indptr[row - 1]) falls -= indices[k] <= indices[k - 1];
        }
    }
    if (falls == 0) return CsrForm::sorted;

    std::vector<int64_t> last_row(size_t(d), -1);  // the last row that named a column
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = indptr[i]; k < indptr[i + 1]; ++k) {
            if (last_row[size_t(indices[k])] == i) return CsrForm::repeated;
            last_row[size_t(indices[k])] = i;
        }
    return CsrForm::unique;
}

template CsrForm csr_form(const int32_t*, int64_t, const int32_t*, int64_t, int64_t);
template CsrForm csr_form(const int32_t*, int64_t, const int64_t*, int64_t, int64_t);
template CsrForm csr_form(const int64_t*, int64_t, const int32_t*, int64_t, int64_t);
template CsrForm csr_form(const int64_t*, int64_t, const int64_t*, int64_t, int64_t);

}  // namespace rosenblatt
