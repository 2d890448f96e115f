// VW text, the input format of Vowpal Wabbit:
//
//     line     =  [label [weight [base]]] [tag] {|[namespace[:scale]] {feature}}
//     feature  =  name | name:number | name:text | :number
//
// Words are separated by spaces, after the first bar also by tabs. A tag touches the first bar or
// begins with a quote. base and tag are checked and not kept. Lines of blanks are no rows.
//
// With an index of features, which gets those of the block, a feature is the pair of its namespace and
//
//     name, or name:text as it is written, or :k for the k-th :number of the namespace, from 0
//
// Without one, columns are those of VW: the namespace seeds the hash of the name, and the low bits count.
//
//     name           hash(name, n)                where n = hash(namespace, 0), or 0 without one
//     name:text      hash(text, hash(name, n))
//     :number        n + k                        for the k-th of its kind in the namespace, from 0
//
// hash is murmur3; unless hash_all is set, a name of digits (blanks around it are cut off) is
// number + seed. The value is number * scale, where a missing one is 1; for text it is 1. Zeros
// are dropped. The entries of a row are sorted by column, and those of one column are added up
// in the order of the text.
//
// Values that VW would read in another way than they look ("3x", "-", "nan") are malformed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "feature_index.hpp"
#include "murmur3.hpp"
#include "parsed_rows.hpp"

namespace rosenblatt {

struct VwOptions {
    int bits = 18;                     // 1 to 30: columns are 0 to 2^bits - 1
    bool hash_all = false;             // `vw --hash all`
    FeatureIndex* features = nullptr;  // columns by exact name; then the fields above do not count
};

class VwParser {
  public:
    VwParser(const VwOptions& options, ParsedRows& rows)
        : mask_((uint64_t{1} << options.bits) - 1), options_(options), rows_(rows) {}

    // A row takes at least 2 bytes ("|\n"), and so does an entry (" a").
    bool reserve(size_t bytes) {
        const size_t n = bytes / 2 + 1;
        return rows_.reserve(n, n) && keys_.reserve(n) && unsorted_.reserve(n) &&
               rows_.weights.reserve(rows_.labels.size() - rows_.weights.size() + n);
    }

    LineEnd parse_line(const char* begin) {
        const char* p = begin;
        while (*p == ' ' || *p == '\t' || *p == '\r') ++p;
        if (*p == '\n') return {p, LineError::none};
        const size_t n_features = options_.features ? options_.features->size() : 0;
        const LineEnd found = parse_row(begin);
        if (options_.features && found.error != LineError::none)
            options_.features->truncate(n_features);
        return found;
    }

  private:
    LineEnd parse_row(const char* const begin) {
        Header header;
        LineEnd found = parse_header(begin, header);
        if (found.error != LineError::none) return found;
        end_ = rows_.indices.size();
        while (*found.at == '|') {
            found = parse_namespace(found.at + 1);
            if (found.error != LineError::none) return found;
        }
        const char* const p = found.at;
        if (*p != '\n' && !(*p == '\r' && p[1] == '\n')) return {p, LineError::after_feature};
        if (!sort_entries()) return {p, LineError::out_of_range};
        add_row(header);
        return found;
    }

    struct Header {
        double label = std::numeric_limits<double>::quiet_NaN();
        double weight = 1.0;
        bool has_weight = false;
    };

    struct Space {
        std::string_view name;
        uint64_t hash = 0;
    };

    // Bytes that end a word, or the name in a word.
    static constexpr std::array<bool, 256> kEndsWord = [] {
        std::array<bool, 256> ends{};
        for (const unsigned char c : {' ', '\t', '|', '\r', '\n'}) ends[c] = true;
        return ends;
    }();
    static constexpr std::array<bool, 256> kEndsName = [] {
        std::array<bool, 256> ends = kEndsWord;
        ends[':'] = true;
        return ends;
    }();

    static bool ends_word(char c) { return kEndsWord[static_cast<unsigned char>(c)]; }

    static const char* skip_word(const char* p) {
        while (!ends_word(*p)) ++p;
        return p;
    }

    static const char* skip_name(const char* p) {
        while (!kEndsName[static_cast<unsigned char>(*p)]) ++p;
        return p;
    }

    // What stands before the first bar. It ends at the bar.
    static LineEnd parse_header(const char* p, Header& header) {
        for (int words = 0;; ++words) {
            while (*p == ' ') ++p;
            if (*p == '|') return {p, LineError::none};
            const char* const begin = p;
            p = skip_word(p);
            if (*p == '|') return {p, LineError::none};  // a tag
            if (*p == '\t') return {p, LineError::tab_before_bar};
            if (*p != ' ') return {p, LineError::missing_bar};
            if (*begin == '\'') {
                while (*p == ' ') ++p;
                return {p, *p == '|' ? LineError::none : LineError::missing_bar};
            }
            const Number number = parse_number(begin);
            if (number.status == NumberStatus::out_of_range) {
                return {begin, LineError::out_of_range};
            }
            if (number.status != NumberStatus::ok || number.end != p || words == 3) {
                return {begin, LineError::label_words};
            }
            if (words == 0) header.label = number.value;
            if (words == 1) {
                if (number.value < 0) return {begin, LineError::negative_weight};
                header.weight = number.value;
                header.has_weight = true;
            }
        }
    }

    // A namespace and its features, after its bar.
    LineEnd parse_namespace(const char* p) {
        if (*p == ':') return {p, LineError::namespace_name};
        Space space;
        uint64_t unnamed = 0;
        double scale = 1.0;
        if (!ends_word(*p)) {
            const char* const begin = p;
            p = skip_name(p);
            space.name = {begin, static_cast<size_t>(p - begin)};
            if (!options_.features) space.hash = hash(begin, p, 0);
            if (*p == ':') {
                const Number number = parse_number(++p);
                if (number.status == NumberStatus::out_of_range) {
                    return {p, LineError::out_of_range};
                }
                p = number.end;
                if (number.status != NumberStatus::ok || !ends_word(*p)) {
                    return {p, LineError::namespace_scale};
                }
                scale = number.value;
            }
        }
        while (*p == ' ' || *p == '\t') {
            ++p;
            if (ends_word(*p)) continue;
            const char* const begin = p;
            const char* const name_end = p = skip_name(p);
            const char* text = nullptr;
            bool numbered = false;  // one of the features that have a value only
            double value = scale;
            if (*p == ':') {
                const Number number = parse_number(++p);
                if (number.status != NumberStatus::not_a_number && ends_word(*number.end)) {
                    if (number.status == NumberStatus::out_of_range) {
                        return {p, LineError::out_of_range};
                    }
                    p = number.end;
                    value = number.value * scale;
                    numbered = begin == name_end;
                } else {
                    if (number.status != NumberStatus::not_a_number || is_number_for_vw(p)) {
                        return {number.end, LineError::feature_value};
                    }
                    text = p;
                    p = skip_word(p);
                    if (*p == '|') return {p, LineError::feature_value};  // VW reads over this bar
                    value = 1.0;
                }
            }
            const uint64_t place = numbered ? unnamed++ : 0;
            if (!std::isfinite(value)) return {p, LineError::out_of_range};
            if (value == 0.0) continue;
            if (!options_.features) {
                uint64_t column = space.hash + place;
                if (!numbered) column = hash(begin, name_end, space.hash);
                if (text) column = hash(text, p, column);
                append(column & mask_, value);
                continue;
            }
            std::string_view name(begin, static_cast<size_t>((text ? p : name_end) - begin));
            if (numbered) name = name_ = ':' + std::to_string(place);
            const int64_t column = options_.features->add(space.name, name);
            if (column < 0) return {begin, error_of(column)};
            append(static_cast<uint64_t>(column), value);
        }
        return {p, LineError::none};
    }

    static LineError error_of(int64_t column) {
        return column == FeatureIndex::TOO_LONG   ? LineError::name_too_long
               : column == FeatureIndex::NOT_UTF8 ? LineError::not_utf8
                                                  : LineError::too_many_names;
    }

    // Whether VW takes this value, which is not a number, for one: "3x", "-", ".e5", "info".
    static bool is_number_for_vw(const char* p) {
        const bool plus = *p == '+';
        if (plus || *p == '-') ++p;
        if (is_digit(*p) || (*p == '.' && is_digit(p[1]))) return true;
        const char* const end = skip_word(p);
        if (end - p >= 3) {
            const char a = p[0] | 32, b = p[1] | 32, c = p[2] | 32;
            if ((a == 'n' && b == 'a' && c == 'n') || (a == 'i' && b == 'n' && c == 'f'))
                return true;
        }
        if (plus) return false;
        if (*p == '.') ++p;
        if ((*p | 32) == 'e') {
            ++p;
            if (*p == '-') ++p;
            while (is_digit(*p)) ++p;
        }
        return p == end;
    }

    uint64_t hash(const char* begin, const char* end, uint64_t seed) const {
        return vw_hash(begin, end, seed, options_.hash_all);
    }

    void append(uint64_t column, double value) {
        rows_.indices.data()[end_] = static_cast<int32_t>(column);
        rows_.values.data()[end_] = value;
        ++end_;
    }

    // Sort the entries of the row by column and add up those of one column; false if a sum is not
    // finite. A key is the column and, below it, the place in the row, so that the order within a
    // column stays.
    bool sort_entries() {
        const size_t first = rows_.indices.size(), size = end_ - first;
        int32_t* const indices = rows_.indices.data() + first;
        double* const values = rows_.values.data() + first;
        if (std::adjacent_find(indices, indices + size, std::greater_equal<>()) == indices + size) {
            return true;
        }
        uint64_t* const keys = keys_.data();
        double* const unsorted = unsorted_.data();
        for (size_t k = 0; k < size; ++k) {
            keys[k] = static_cast<uint64_t>(indices[k]) << 32 | k;
            unsorted[k] = values[k];
        }
        std::sort(keys, keys + size);
        size_t at = 0;
        for (size_t k = 0; k < size; ++k) {
            const int32_t column = static_cast<int32_t>(keys[k] >> 32);
            const double value = unsorted[static_cast<uint32_t>(keys[k])];
            if (at > 0 && indices[at - 1] == column) {
                values[at - 1] += value;
                if (!std::isfinite(values[at - 1])) return false;
            } else {
                indices[at] = column;
                values[at] = value;
                ++at;
            }
        }
        end_ = first + at;
        return true;
    }

    void add_row(const Header& header) {
        if (header.has_weight) {
            while (rows_.weights.size() < rows_.labels.size()) rows_.weights.push_back(1.0);
        }
        if (header.has_weight || rows_.weights.size() > 0) rows_.weights.push_back(header.weight);
        rows_.add_row(header.label, end_);
    }

    const uint64_t mask_;
    const VwOptions options_;
    ParsedRows& rows_;
    size_t end_ = 0;  // of the entries of the row that is being read
    Buffer<uint64_t> keys_;
    Buffer<double> unsorted_;
    std::string name_;
};

inline ParseStatus parse_vw(const char* text, size_t size, const VwOptions& options,
                            ParsedRows& rows) {
    return parse_lines(text, size, rows, VwParser(options, rows));
}

}  // namespace rosenblatt
