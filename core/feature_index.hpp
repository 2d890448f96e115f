// Columns of named features.
//
// A feature is a pair (namespace, name). Exact: pairs get columns in the order in which they are
// added. With hash_bits: the column is that of Vowpal Wabbit, the low bits of
// hash(name, hash(namespace, 0)), where the empty namespace has hash 0; names are not kept.
//
// The exact index is an open-addressing table over (number of the namespace, name). The columns do
// not depend on its hash, which is seeded per process. Names are UTF-8.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "murmur3.hpp"
#include "utf8.hpp"
#include "word_table.hpp"

namespace rosenblatt {

class FeatureIndex {
    // Whether a column is that of this feature (above its uses, because its type is deduced).
    auto matches(int32_t space, std::string_view word) const {
        return [this, space, word](int32_t number) {
            const auto column = static_cast<size_t>(number);
            return space_of_[column] == space && name(column) == word;
        };
    }

  public:
    // Instead of a column: why there is none.
    enum : int64_t { UNKNOWN = -1, FULL = -2, TOO_LONG = -3, NOT_UTF8 = -4 };

    // What a saved index consists of. Texts are namespaces, each once and with space -1, then
    // features; text k is names[ends[k], ends[k + 1]).
    struct Arrays {
        std::vector<uint8_t> names;
        std::vector<int64_t> ends;
        std::vector<int32_t> spaces;
    };

    static constexpr int64_t MOST = std::numeric_limits<int32_t>::max() - 1;

    explicit FeatureIndex(int hash_bits = 0, int64_t max_features = 1'000'000,
                          size_t max_name_bytes = 1000)
        : hash_bits_(hash_bits), max_features_(max_features), max_name_bytes_(max_name_bytes) {}

    // The column of a feature; UNKNOWN if it has none.
    int64_t find(std::string_view space, std::string_view name) const {
        if (hash_bits_ > 0) return hashed(space, name);
        const int32_t number = spaces_.find(space);
        if (number < 0) return UNKNOWN;
        return columns_.find(tag_of(space, name), matches(number, name));
    }

    // The column of a feature, a new one if it has none yet. Beyond the limit on their number there
    // is none, unless it is `reserved`.
    int64_t add(std::string_view space, std::string_view name, bool reserved = false) {
        if (hash_bits_ > 0) return hashed(space, name);
        return add(tag_of(space, name), known_space(space), space, name, reserved);
    }

    // Add the features of another index in their order; their columns here.
    std::vector<int32_t> add_all(const FeatureIndex& other) {
        constexpr size_t AHEAD = 16;
        std::vector<int32_t> columns(other.size()), spaces(other.spaces_.size(), -1);
        const std::vector<uint32_t> tags = other.columns_.tags_of(other.size());
        for (size_t k = 0; k < columns.size(); ++k) {
            const std::string_view space = other.space(k);
            if (hash_bits_ > 0) {
                columns[k] = static_cast<int32_t>(hashed(space, other.name(k)));
                continue;
            }
            if (k + AHEAD < columns.size()) columns_.prefetch_slot(tags[k + AHEAD]);
            int32_t& number = spaces[static_cast<size_t>(other.space_of_[k])];
            if (number < 0) number = spaces_.find(space);
            columns[k] = static_cast<int32_t>(add(tags[k], number, space, other.name(k), false));
        }
        return columns;
    }

    // Remove the features that were added last.
    void truncate(size_t size) {
        while (ends_.size() > size) {
            const size_t last = ends_.size() - 1;
            // What was added later than a feature never lies before it on its path: an empty slot
            // in its place breaks no path.
            const uint32_t tag = tag_of(space(last), name(last));
            columns_.slot(tag, matches(space_of_[last], name(last))).number = -1;
            ends_.pop_back();
            space_of_.pop_back();
            names_.resize(last == 0 ? 0 : ends_[last - 1]);
        }
    }

    bool is_too_long(std::string_view text) const { return text.size() > max_name_bytes_; }
    size_t size() const { return ends_.size(); }
    int hash_bits() const { return hash_bits_; }
    int64_t max_features() const { return max_features_; }
    size_t max_name_bytes() const { return max_name_bytes_; }
    std::string_view name(size_t column) const {
        const size_t begin = column == 0 ? 0 : ends_[column - 1];
        return std::string_view(names_).substr(begin, ends_[column] - begin);
    }
    std::string_view space(size_t column) const {
        return spaces_[static_cast<size_t>(space_of_[column])];
    }

    Arrays arrays() const {
        // Only namespaces of features, in the order of these: truncated ones leave no trace.
        std::vector<int32_t> numbers(spaces_.size(), -1);
        Arrays out;
        out.ends.push_back(0);
        const auto append = [&](std::string_view text, int32_t space) {
            out.names.insert(out.names.end(), text.begin(), text.end());
            out.ends.push_back(static_cast<int64_t>(out.names.size()));
            out.spaces.push_back(space);
        };
        int32_t n_spaces = 0;
        for (const int32_t space : space_of_) {
            if (numbers[static_cast<size_t>(space)] >= 0) continue;
            numbers[static_cast<size_t>(space)] = n_spaces++;
            append(spaces_[static_cast<size_t>(space)], -1);
        }
        for (size_t k = 0; k < size(); ++k)
            append(name(k), numbers[static_cast<size_t>(space_of_[k])]);
        return out;
    }

    // Add the features of unchecked arrays; throws if they are damaged.
    void add_arrays(const uint8_t* names, size_t n_bytes, const int64_t* ends, size_t n_ends,
                    const int32_t* spaces, size_t n_texts) {
        const auto check = [](bool is_true, const char* message) {
            if (!is_true) throw std::invalid_argument(message);
        };
        check(hash_bits_ == 0 && size() == 0, "an index with names is filled once.");
        check(n_ends == n_texts + 1 && ends[0] == 0 && ends[n_texts] == int64_t(n_bytes),
              "the offsets of names do not fit the names.");
        for (size_t k = 0; k < n_texts; ++k)
            check(0 <= ends[k] && ends[k] <= ends[k + 1] && ends[k + 1] <= int64_t(n_bytes),
                  "the offsets of names do not rise.");
        const auto text = [&](size_t k) {
            return std::string_view(reinterpret_cast<const char*>(names) + ends[k],
                                    size_t(ends[k + 1] - ends[k]));
        };
        size_t n_spaces = 0;
        while (n_spaces < n_texts && spaces[n_spaces] == -1) ++n_spaces;
        for (size_t k = n_spaces; k < n_texts; ++k) {
            check(spaces[k] >= 0 && size_t(spaces[k]) < n_spaces, "a namespace is not there.");
            const size_t before = size();
            const int64_t column = add(text(size_t(spaces[k])), text(k), true);
            check(column != TOO_LONG, "a name of a feature is too long.");
            check(column >= 0 && size_t(column) == before,
                  "a name of a feature occurs twice, or is not UTF-8.");
        }
        check(spaces_.size() == n_spaces, "a namespace occurs twice, or has no feature.");
    }

  private:
    int64_t hashed(std::string_view space, std::string_view name) const {
        const auto hash = [](std::string_view text, uint64_t seed) {
            return vw_hash(text.data(), text.data() + text.size(), seed);
        };
        const uint64_t seed = space.empty() ? 0 : hash(space, 0);
        return static_cast<int64_t>(hash(name, seed) & ((uint64_t{1} << hash_bits_) - 1));
    }

    static bool valid(std::string_view text) {
        return is_utf8(text.data(), text.data() + text.size());
    }

    // The number of a namespace, -1 if it has none; mostly that of the feature before.
    int32_t known_space(std::string_view space) {
        if (!space_of_.empty() && spaces_[static_cast<size_t>(last_space_)] == space)
            return last_space_;
        const int32_t number = spaces_.find(space);
        if (number >= 0) last_space_ = number;
        return number;
    }

    // The tag does not depend on the index, so `add_all` can reuse it.
    static uint32_t tag_of(std::string_view space, std::string_view name) {
        return HashedNumbers::tag_of(name, space.empty() ? 0 : seeded_hash(space));
    }

    // As above, for a namespace whose number, -1 for a new one, is known.
    int64_t add(uint32_t tag, int32_t number, std::string_view space, std::string_view name,
                bool reserved) {
        if (number >= 0) {
            const int32_t column = columns_.find(tag, matches(number, name));
            if (column >= 0) return column;
        }
        const auto size = static_cast<int64_t>(ends_.size());
        if (size >= MOST || (size >= max_features_ && !reserved)) return FULL;
        if (is_too_long(name) || is_too_long(space)) return TOO_LONG;
        if (!valid(name) || (number < 0 && !valid(space))) return NOT_UTF8;
        columns_.make_room(ends_.size());
        if (number < 0) number = spaces_.code(space);
        columns_.slot(tag, matches(number, name)) = {static_cast<int32_t>(size), tag};
        names_.append(name);
        ends_.push_back(names_.size());
        space_of_.push_back(number);
        return size;
    }

    int hash_bits_;
    int64_t max_features_;
    size_t max_name_bytes_;
    WordTable spaces_;
    int32_t last_space_ = 0;
    HashedNumbers columns_;
    std::string names_;
    std::vector<size_t> ends_;
    std::vector<int32_t> space_of_;
};

}  // namespace rosenblatt
