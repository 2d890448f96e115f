// What a text parser makes of a block of lines: rows in CSR form, and the lines it refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "parse_number.hpp"

namespace rosenblatt {

// Numbers in memory that malloc gave. It grows without exceptions: `reserve` says whether it could.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { std::free(data_); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t size() const { return size_; }
    size_t capacity_bytes() const { return capacity_ * sizeof(T); }
    const T& operator[](size_t k) const { return data_[k]; }

    // Make room for `more` elements after those that are there.
    bool reserve(size_t more) {
        return more <= capacity_ - size_ || reallocate(size_ + more + size_ / 2);
    }
    void resize(size_t size) { size_ = size; }  // within what was reserved
    void push_back(T value) { data_[size_++] = value; }

  private:
    bool reallocate(size_t capacity) {
        if (capacity > std::numeric_limits<size_t>::max() / sizeof(T)) return false;
        void* const grown = std::realloc(data_, capacity * sizeof(T));
        if (grown == nullptr) return false;
        data_ = static_cast<T*>(grown);
        capacity_ = capacity;
        return true;
    }

    T* data_ = nullptr;
    size_t size_ = 0, capacity_ = 0;
};

// Why a line is malformed. The words are in Python (rosenblatt/io/bad_lines.py).
enum class LineError : int32_t {
    none,
    // any format
    out_of_range,
    name_too_long,
    too_many_names,
    // LIBSVM
    label,
    query,
    index,
    index_order,
    index_zero,
    index_too_large,
    value,
    after_value,
    // VW
    tab_before_bar,
    missing_bar,
    label_words,
    negative_weight,
    namespace_name,
    namespace_scale,
    feature_value,
    after_feature,
    // CSV
    quote_open,
    after_quote,
    bare_quote,
    lone_cr,
    not_utf8,
    cell_count,
    not_a_number,
    integer_too_large,
    missing_label,
    label_too_long,
};

struct BadLine {
    int64_t line;    // from 1
    int64_t column;  // in bytes, from 1
    int64_t offset;  // of that place in the block
    LineError error;
    int32_t cell = -1;  // CSV: the number of the cell, from 0; of cell_count, how many there are
};

enum class ParseStatus { ok, out_of_memory, too_many_entries };

struct ParsedRows {
    static constexpr int kBadLinesKept = 10;
    static constexpr size_t kMaxEntries = std::numeric_limits<int32_t>::max();

    Buffer<double> labels;   // NaN: none
    Buffer<double> weights;  // as many as labels, or none if every weight is 1
    Buffer<int32_t> indptr;  // one more than labels
    Buffer<int32_t> indices;
    Buffer<double> values;
    int64_t max_index = -1;  // LIBSVM: the largest index, as written
    bool has_zero = false;   // LIBSVM: an index is 0, as written
    int64_t lines = 0;
    int64_t n_bad = 0;
    BadLine bad[kBadLinesKept];  // the first of them

    // Reserve memory for further rows and entries.
    bool reserve(size_t n_rows, size_t n_entries) {
        return labels.reserve(n_rows) && indptr.reserve(n_rows) && indices.reserve(n_entries) &&
               values.reserve(n_entries);
    }

    // Add a row whose entries were written to indices and values, up to `end`.
    void add_row(double label, size_t end) {
        indices.resize(end);
        values.resize(end);
        labels.push_back(label);
        indptr.push_back(static_cast<int32_t>(end));
    }

    int64_t n_bad_kept() const { return n_bad < kBadLinesKept ? n_bad : kBadLinesKept; }

    // Forget everything but the memory.
    void clear() {
        labels.resize(0);
        weights.resize(0);
        indptr.resize(0);
        indices.resize(0);
        values.resize(0);
        max_index = -1;
        has_zero = false;
        lines = n_bad = 0;
    }

    size_t capacity_bytes() const {
        return labels.capacity_bytes() + weights.capacity_bytes() + indptr.capacity_bytes() +
               indices.capacity_bytes() + values.capacity_bytes();
    }
};

// Where a line parser stopped, and why; `none` if the line is a row, or holds nothing.
struct LineEnd {
    const char* at;
    LineError error;
};

// Give each line to a parser, which has
//
//     bool reserve(size_t bytes)              reserve memory for the rows of `bytes` of text;
//                                             false if there is no memory
//     LineEnd parse_line(const char* begin)
//
// A line ends with a newline, and kSlack bytes after it are readable. Lines at the end of the
// block, where they are not, are parsed in a copy. A last line may lack its newline.
template <class Parser>
ParseStatus parse_lines(const char* text, size_t size, ParsedRows& rows, Parser&& parser) {
    const auto next_line = [](const char* p, const char* stop) {
        return static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(stop - p))) + 1;
    };
    const auto parse_part = [&](const char* const part, const char* const stop, int64_t offset) {
        for (const char* begin = part; begin < stop;) {
            constexpr ptrdiff_t stride = 1 << 16;  // bytes for which room is made at once
            const char* const end = stop - begin > stride ? next_line(begin + stride, stop) : stop;
            const size_t bytes = static_cast<size_t>(end - begin);
            if (rows.indices.size() + bytes > ParsedRows::kMaxEntries) {
                return ParseStatus::too_many_entries;
            }
            if (!parser.reserve(bytes)) return ParseStatus::out_of_memory;
            while (begin < end) {
                ++rows.lines;
                const LineEnd found = parser.parse_line(begin);
                if (found.error != LineError::none && rows.n_bad++ < ParsedRows::kBadLinesKept) {
                    rows.bad[rows.n_bad - 1] = {rows.lines, found.at - begin + 1,
                                                offset + (found.at - part), found.error};
                }
                begin = *found.at == '\n' ? found.at + 1 : next_line(found.at, end);
            }
        }
        return ParseStatus::ok;
    };

    if (!rows.indptr.reserve(1)) return ParseStatus::out_of_memory;
    rows.indptr.push_back(0);
    size_t whole = size > kSlack ? size - kSlack : 0;  // where the lines with slack end
    while (whole > 0 && text[whole - 1] != '\n') --whole;
    const ParseStatus status = parse_part(text, text + whole, 0);
    if (status != ParseStatus::ok || whole == size) return status;
    Buffer<char> copy;
    const size_t length = size - whole;
    if (!copy.reserve(length + 1 + kSlack)) return ParseStatus::out_of_memory;
    std::memcpy(copy.data(), text + whole, length);
    std::memset(copy.data() + length, '\n', 1 + kSlack);
    const bool lacks_newline = text[size - 1] != '\n';
    return parse_part(copy.data(), copy.data() + length + lacks_newline,
                      static_cast<int64_t>(whole));
}

}  // namespace rosenblatt
