// LIBSVM text, also known as svmlight:
//
//     line  =  [blanks] [label [qid:number] {index:value}] [# comment]
//
// Words are separated by blanks (space, tab, VT, FF, CR). Indices are whole numbers and rise within
// a row. Lines without a label are no rows. Values are numbers as in parse_number.hpp, within the
// range of double. qid is checked and not kept.
#pragma once

#include <algorithm>

#include "feature_index.hpp"
#include "parsed_rows.hpp"

namespace rosenblatt {

enum class IndexBase {
    zero,    // column = index
    one,     // column = index - 1; index 0 is malformed
    detect,  // column = index - 1; index 0 becomes column -1 and sets has_zero
};

struct LibsvmOptions {
    IndexBase base = IndexBase::detect;
    int64_t max_index = std::numeric_limits<int32_t>::max() - 1;  // as written; it fits int32
    // With an index of features, which gets those of the block, an index from plain_columns on is
    // written as plain_columns plus its number there. Then max_index may be larger.
    FeatureIndex* features = nullptr;
    int64_t plain_columns = int64_t{1} << 22;
};

class LibsvmParser {
  public:
    LibsvmParser(const LibsvmOptions& options, ParsedRows& rows) : options_(options), rows_(rows) {}

    // A row takes at least 2 bytes ("1\n"), an entry 4 (" 1:1").
    bool reserve(size_t bytes) { return rows_.reserve(bytes / 2 + 1, bytes / 4 + 1); }

    LineEnd parse_line(const char* p) {
        const size_t n_features = options_.features ? options_.features->size() : 0;
        const LineEnd found = parse_row(p);
        if (options_.features && found.error != LineError::none)
            options_.features->truncate(n_features);
        return found;
    }

  private:
    LineEnd parse_row(const char* p) {
        p = skip_blanks(p);
        if (ends_row(*p)) return {p, LineError::none};
        const Number label = parse_number(p);
        if (label.status == NumberStatus::out_of_range) return {p, LineError::out_of_range};
        p = label.end;
        if (label.status != NumberStatus::ok || !ends_word(*p)) return {p, LineError::label};
        LineEnd found = parse_query(skip_blanks(p));
        if (found.error != LineError::none) return found;
        return parse_entries(found.at, label.value);
    }

    static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }
    static bool ends_row(char c) { return c == '\n' || c == '#'; }
    static bool ends_word(char c) { return is_blank(c) || ends_row(c); }
    static const char* skip_blanks(const char* p) {
        while (is_blank(*p)) ++p;
        return p;
    }

    static LineEnd parse_query(const char* p) {
        if (std::memcmp(p, "qid:", 4) != 0) return {p, LineError::none};
        p += 4;
        const char* const digits = p;
        while (is_digit(*p)) ++p;
        return {p, p > digits && ends_word(*p) ? LineError::none : LineError::query};
    }

    // The entries of a row, and the row itself if all of them are well-formed.
    LineEnd parse_entries(const char* p, double label) {
        const int64_t shift = options_.base == IndexBase::zero ? 0 : 1;
        const int64_t max_index = options_.max_index;
        const size_t first = rows_.indices.size();
        int32_t* const indices = rows_.indices.data();
        double* const values = rows_.values.data();
        size_t at = first;
        int64_t before = options_.base == IndexBase::one ? 0 : -1;  // the index before
        while (true) {
            p = skip_blanks(p);
            if (ends_row(*p)) break;
            const char* const begin = p;
            uint64_t digits = 0;
            p = skip_digits(p, digits);
            if (p == begin || *p != ':') return {p, LineError::index};
            const int64_t index =
                p - begin <= 18 ? static_cast<int64_t>(digits) : long_index(begin, p);
            if (index <= before || index > max_index) {
                if (index > max_index) return {begin, LineError::index_too_large};
                const bool zero = index == 0 && at == first;
                return {begin, zero ? LineError::index_zero : LineError::index_order};
            }
            const Number value = parse_number(++p);
            if (value.status == NumberStatus::out_of_range) return {p, LineError::out_of_range};
            p = value.end;
            if (value.status != NumberStatus::ok) return {p, LineError::value};
            if (!ends_word(*p)) return {p, LineError::after_value};
            int64_t column = index;
            if (options_.features && index >= options_.plain_columns) {
                column = options_.features->add("", std::to_string(index));
                if (column < 0) return {begin, LineError::too_many_names};
                column += options_.plain_columns;
            }
            indices[at] = static_cast<int32_t>(column - shift);
            values[at] = value.value;
            ++at;
            before = index;
        }
        if (at > first) {
            rows_.has_zero = rows_.has_zero || indices[first] + shift == 0;
            rows_.max_index = std::max(rows_.max_index, before);
        }
        rows_.add_row(label, at);
        return {p, LineError::none};
    }

    // An index of more than 18 digits: leading zeros, or larger than any that is allowed.
    static int64_t long_index(const char* p, const char* end) {
        int64_t index = 0;
        for (; p < end; ++p) index = std::min(index * 10 + (*p - '0'), kLongest);
        return index;
    }

    static constexpr int64_t kLongest = std::numeric_limits<int64_t>::max() / 10 - 9;

    const LibsvmOptions options_;
    ParsedRows& rows_;
};

inline ParseStatus parse_libsvm(const char* text, size_t size, const LibsvmOptions& options,
                                ParsedRows& rows) {
    return parse_lines(text, size, rows, LibsvmParser(options, rows));
}

}  // namespace rosenblatt
