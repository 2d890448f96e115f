// What the fuzz programs share: random inputs, and checks of what a parser made of them.
//
// Built with AddressSanitizer and UBSan. Each input lies in a heap block of exactly its size, so a
// read of one byte beyond it is reported. The same arguments give the same inputs.
#pragma once

#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parsed_rows.hpp"

namespace rosenblatt::fuzz {

using namespace std::string_view_literals;

// splitmix64 [Steele, Lea, Flood 2014]
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t bits() {
        uint64_t z = state_ += 0x9E3779B97F4A7C15;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return z ^ z >> 31;
    }
    size_t below(size_t n) { return static_cast<size_t>(bits() % n); }
    bool one_in(size_t n) { return below(n) == 0; }
    template <class List>
    const auto& choose(const List& list) {
        return list[below(std::size(list))];
    }

  private:
    uint64_t state_;
};

using Seeds = std::vector<std::string_view>;

// A seed with a few random changes.
inline std::string mutate(Random& random, const Seeds& seeds) {
    constexpr auto bytes = " \t\n\r|:#'+-.eE019aqidnif,\0\x7f\xff\xc3"sv;
    constexpr std::string_view words[] = {
        "1e400"sv,
        "4.9e-324"sv,
        "9999999999999999999999999"sv,
        "0.333333333333333333333"sv,
        "qid:3"sv,
        " 1:1"sv,
        "|f"sv,
        ":2.5"sv,
    };
    constexpr size_t changes[] = {1, 1, 2, 3, 8};
    std::string text(random.choose(seeds));
    if (random.one_in(4)) text += random.choose(seeds);
    for (size_t k = random.choose(changes); k > 0; --k) {
        const size_t at = random.below(text.size() + 1);
        switch (random.below(6)) {
            case 0: text.replace(at, 1, 1, random.choose(bytes)); break;
            case 1: text.insert(at, 1, random.choose(bytes)); break;
            case 2: text.erase(at, random.one_in(4) ? 10 : 1); break;
            case 3: text.insert(at, random.choose(words)); break;
            case 4: {
                const std::string_view other = random.choose(seeds);
                text.replace(at, std::string::npos, other.substr(random.below(other.size())));
                break;
            }
            default: text.replace(at, 1, 1, static_cast<char>(random.below(256)));
        }
    }
    return text;
}

// The input that is being tried, to be shown if it fails.
inline std::string_view current_input;

[[noreturn]] inline void fail(const char* condition, int line) {
    std::fprintf(stderr, "line %d: not true: %s\ninput: \"", line, condition);
    for (const char c : current_input) {
        std::fprintf(stderr, c >= ' ' && c < 127 && c != '"' && c != '\\' ? "%c" : "\\%03o",
                     static_cast<unsigned char>(c));
    }
    std::fprintf(stderr, "\"\n");
    std::abort();
}
#define CHECK(condition) ((condition) ? void() : ::rosenblatt::fuzz::fail(#condition, __LINE__))

// parse(text, size, rows) on a copy of exactly the right size.
template <class Parse>
std::unique_ptr<ParsedRows> parse_copy(std::string_view text, Parse parse) {
    const auto copy = std::make_unique_for_overwrite<char[]>(text.size());
    std::copy(text.begin(), text.end(), copy.get());
    auto rows = std::make_unique<ParsedRows>();
    CHECK(parse(copy.get(), text.size(), *rows) == ParseStatus::ok);
    return rows;
}

inline void check_rows(std::string_view text, const ParsedRows& rows, int32_t min_column,
                       int64_t max_column) {
    const size_t n = rows.labels.size();
    CHECK(rows.indptr.size() == n + 1 && rows.indptr[0] == 0);
    CHECK(static_cast<size_t>(rows.indptr[n]) == rows.indices.size());
    CHECK(rows.values.size() == rows.indices.size());
    CHECK(rows.weights.size() == 0 || rows.weights.size() == n);
    for (size_t i = 0; i < n; ++i) {
        CHECK(rows.indptr[i] <= rows.indptr[i + 1]);
        CHECK(!std::isinf(rows.labels[i]));
        CHECK(rows.weights.size() == 0 || (rows.weights[i] >= 0 && std::isfinite(rows.weights[i])));
        int64_t before = int64_t{min_column} - 1;
        for (auto k = static_cast<size_t>(rows.indptr[i]);
             k < static_cast<size_t>(rows.indptr[i + 1]); ++k) {
            CHECK(rows.indices[k] > before && rows.indices[k] <= max_column);
            CHECK(std::isfinite(rows.values[k]));
            before = rows.indices[k];
        }
    }
    const auto newlines = std::count(text.begin(), text.end(), '\n');
    CHECK(rows.lines == newlines + (!text.empty() && text.back() != '\n'));
    CHECK(rows.n_bad + static_cast<int64_t>(n) <= rows.lines);
    int64_t line = 0;
    for (int64_t k = 0; k < rows.n_bad_kept(); ++k) {
        const BadLine& bad = rows.bad[k];
        CHECK(bad.line > line && bad.line <= rows.lines && bad.error != LineError::none);
        line = bad.line;
        const int64_t begin = bad.offset - (bad.column - 1);
        CHECK(begin >= 0 && bad.column >= 1 && bad.offset <= static_cast<int64_t>(text.size()));
        const auto head = text.substr(0, static_cast<size_t>(begin));
        CHECK(std::count(head.begin(), head.end(), '\n') == line - 1);
        CHECK(head.empty() || head.back() == '\n');
        const auto read = text.substr(head.size(), static_cast<size_t>(bad.column - 1));
        CHECK(read.find('\n') == read.npos);
    }
}

// Rows as text, one line each, with all bits of their numbers.
inline std::string spell(const ParsedRows& rows) {
    std::string spelled;
    const auto add = [&](double value) {
        char digits[40];
        std::snprintf(digits, sizeof digits, " %a", value);
        spelled += digits;
    };
    for (size_t i = 0; i < rows.labels.size(); ++i) {
        add(rows.labels[i]);
        add(rows.weights.size() > 0 ? rows.weights[i] : 1.0);
        for (auto k = static_cast<size_t>(rows.indptr[i]);
             k < static_cast<size_t>(rows.indptr[i + 1]); ++k) {
            spelled += ' ' + std::to_string(rows.indices[k]) + ':';
            add(rows.values[k]);
        }
        spelled += '\n';
    }
    return spelled;
}

// A block that is cut after any of its lines gives the same rows.
template <class Parse>
void check_cut(Random& random, std::string_view text, const ParsedRows& whole, Parse parse) {
    const size_t end = text.substr(0, random.below(text.size() + 1)).rfind('\n');
    const size_t cut = end == text.npos ? 0 : end + 1;
    const auto first = parse_copy(text.substr(0, cut), parse);
    const auto second = parse_copy(text.substr(cut), parse);
    CHECK(spell(*first) + spell(*second) == spell(whole));
    CHECK(first->lines + second->lines == whole.lines);
    CHECK(first->n_bad + second->n_bad == whole.n_bad);
    CHECK(std::max(first->max_index, second->max_index) == whole.max_index);
    CHECK((first->has_zero || second->has_zero) == whole.has_zero);
}

// Run `try_one(random)` as often as the command line says: PROGRAM [INPUTS] [SEED].
template <class TryOne>
int run(int argc, char** argv, TryOne try_one) {
    const uint64_t inputs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50000;
    const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    Random random(seed);
    for (uint64_t k = 0; k < inputs; ++k) try_one(random);
    std::printf("%s: %" PRIu64 " inputs from seed %" PRIu64 ", no fault\n", argv[0], inputs, seed);
    return 0;
}

}  // namespace rosenblatt::fuzz
