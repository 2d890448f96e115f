// The feature index beside a std::map, on random features, cuts, merges and damaged arrays.
#include "feature_index.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <utility>

using namespace rosenblatt;

namespace {

std::mt19937_64 engine(1);
size_t below(size_t n) { return engine() % n; }

#define CHECK(condition)                                                        \
    if (!(condition)) {                                                         \
        std::printf("%s:%d: %s is not true\n", __FILE__, __LINE__, #condition); \
        std::exit(1);                                                           \
    }

using Pair = std::pair<std::string, std::string>;

// Short texts of few letters, so that pairs and their joins repeat; some are long or no UTF-8.
std::string text() {
    static const std::string letters[] = {"a", "b", "=", "^", "\xc3\xa9", std::string(1, '\0')};
    std::string out;
    for (size_t k = below(5); k > 0; --k) out += letters[below(6)];
    if (below(20) == 0) out = std::string(below(40), 'x');
    return below(20) == 0 ? out + "\xff" : out;
}

void compare(const FeatureIndex& index, const std::map<Pair, int64_t>& expected) {
    CHECK(index.size() == expected.size());
    for (const auto& [pair, column] : expected) {
        CHECK(index.find(pair.first, pair.second) == column);
        CHECK(index.space(size_t(column)) == pair.first);
        CHECK(index.name(size_t(column)) == pair.second);
    }
}

FeatureIndex reloaded(const FeatureIndex::Arrays& a, size_t max_name_bytes) {
    FeatureIndex out(0, FeatureIndex::MOST, max_name_bytes);
    out.add_arrays(a.names.data(), a.names.size(), a.ends.data(), a.ends.size(), a.spaces.data(),
                   a.spaces.size());
    return out;
}

void test_random_features() {
    const auto limit = int64_t(1 + below(300));
    FeatureIndex index(0, limit, 20);
    std::map<Pair, int64_t> expected;
    for (size_t step = below(600); step > 0; --step) {
        const Pair pair{text(), text()};
        const bool reserved = below(50) == 0, full = int64_t(expected.size()) >= limit;
        const bool fits = pair.first.size() <= 20 && pair.second.size() <= 20;
        const std::string both = pair.first + pair.second;
        const bool good = is_utf8(both.data(), both.data() + both.size());
        const int64_t column = index.add(pair.first, pair.second, reserved);
        if (const auto found = expected.find(pair); found != expected.end()) {
            CHECK(column == found->second);
        } else if (full && !reserved) {
            CHECK(column == FeatureIndex::FULL);
        } else if (!fits) {
            CHECK(column == FeatureIndex::TOO_LONG);
        } else if (!good) {
            CHECK(column == FeatureIndex::NOT_UTF8);
        } else {
            CHECK(column == int64_t(expected.size()));
            expected.emplace(pair, column);
        }
        CHECK(column >= 0 || index.find(pair.first, pair.second) == FeatureIndex::UNKNOWN);
        if (below(40) == 0) {
            const size_t kept = expected.size() - below(expected.size() + 1);
            index.truncate(kept);
            std::erase_if(expected, [&](const auto& e) { return size_t(e.second) >= kept; });
        }
    }
    compare(index, expected);
    compare(FeatureIndex(index), expected);
    compare(reloaded(index.arrays(), 20), expected);
    FeatureIndex merged(0, FeatureIndex::MOST, 20);
    merged.add_all(index);
    compare(merged, expected);
}

// Arrays with a few numbers changed are refused, or make an index that is whole.
void test_damaged_arrays() {
    FeatureIndex index(0, FeatureIndex::MOST);
    for (size_t k = below(20); k > 0; --k) index.add(text(), text());
    FeatureIndex::Arrays a = index.arrays();
    for (size_t k = 1 + below(3); k > 0; --k) {
        const auto number = int64_t(below(8)) - 3;
        switch (below(6)) {
            case 0: a.ends[below(a.ends.size())] += number; break;
            case 1: a.ends[below(a.ends.size())] = int64_t(engine()); break;
            case 2:
                if (!a.spaces.empty()) a.spaces[below(a.spaces.size())] += int32_t(number);
                break;
            case 3:
                if (!a.names.empty()) a.names[below(a.names.size())] = uint8_t(engine());
                break;
            case 4: a.names.resize(below(a.names.size() + 2)); break;
            default: a.spaces.resize(below(a.spaces.size() + 2)); break;
        }
    }
    try {
        const FeatureIndex found = reloaded(a, 1000);
        for (size_t k = 0; k < found.size(); ++k)
            CHECK(found.find(found.space(k), found.name(k)) == int64_t(k));
    } catch (const std::invalid_argument&) {
    }
}

void test_hashed() {
    FeatureIndex index(10);
    CHECK(index.add("", "7") == 7 && index.add("", " 1030 ") == 6);
    const auto seed = murmur3("ns", 2, 0);
    CHECK(index.find("ns", "name") == int64_t(murmur3("name", 4, seed) % 1024));
    CHECK(index.add("ns", "3") == int64_t((uint64_t{seed} + 3) % 1024) && index.size() == 0);
}

}  // namespace

int main() {
    for (int k = 0; k < 3000; ++k) test_random_features();
    for (int k = 0; k < 30000; ++k) test_damaged_arrays();
    test_hashed();
    std::printf("feature index: no fault\n");
}
