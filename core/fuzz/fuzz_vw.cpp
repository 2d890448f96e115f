// Random VW text. Run: fuzz_vw [INPUTS] [SEED]
#include <algorithm>

#include "fuzz.hpp"
#include "parse_vw.hpp"

using namespace rosenblatt;
using namespace rosenblatt::fuzz;

static const Seeds seeds = {
    "1 |f a b:2 c:abc 12 :0.5 |g:2 a:3 7\n-1 0.5 tag| 1:2 3:4\n",
    "1 2 0.5 'tag|x_1 a:1e-2 a\r\n\n| a:0 b:-0.0 z\n",
    "'tag |12 5 a |99999999999 5\n1|f a\n+1 |f:0.5 x:red y:e5 z:nan\n",
    "-1 'x |a b |a c |a:2 b:1e400\n1 1 |f :1 :2 :abc\n",
    "|f 1e:2 \x01"
    "a\x02 \xc3\xa9:2e2 b:4.9e-324\n2 3 |:2 a\n",
    "1 |a b:1e308 b:1e308 c:-1e308\n0 3|a:1e200 b:1e200\n| a b c d e f g h i j k l m n o p q r s\n",
    "|\n|\n|a a a\n| |b |c",
};

using Named = std::vector<std::string>;

// Rows with the names of their features, which are added to `all`.
static Named named_rows(std::string_view text, FeatureIndex& all) {
    FeatureIndex features(0, 1 << 20, 30);
    VwOptions options;
    options.features = &features;
    const auto rows = parse_copy(text, [&](const char* data, size_t size, ParsedRows& out) {
        return parse_vw(data, size, options, out);
    });
    check_rows(text, *rows, 0, static_cast<int64_t>(features.size()) - 1);
    Named spelled;
    for (size_t i = 0; i < rows->labels.size(); ++i) {
        Named entries;
        for (int32_t k = rows->indptr[i]; k < rows->indptr[i + 1]; ++k) {
            const auto column = static_cast<size_t>(rows->indices[static_cast<size_t>(k)]);
            char value[40];
            std::snprintf(value, sizeof value, "^%a", rows->values[static_cast<size_t>(k)]);
            entries.push_back(std::string(features.space(column)) + "|" +
                              std::string(features.name(column)) + value);
        }
        std::sort(entries.begin(), entries.end());
        spelled.emplace_back();
        for (const std::string& entry : entries) spelled.back() += entry + " ";
    }
    for (size_t k = 0; k < features.size(); ++k) all.add(features.space(k), features.name(k));
    return spelled;
}

// Names and their order do not depend on cuts; a malformed line leaves no name behind.
static void check_names(Random& random, std::string_view text) {
    FeatureIndex whole, merged;
    const Named rows = named_rows(text, whole);
    const size_t end = text.substr(0, random.below(text.size() + 1)).rfind('\n');
    const size_t cut = end == text.npos ? 0 : end + 1;
    Named parts = named_rows(text.substr(0, cut), merged);
    for (std::string& row : named_rows(text.substr(cut), merged)) parts.push_back(std::move(row));
    CHECK(parts == rows && merged.size() == whole.size());
    for (size_t k = 0; k < whole.size(); ++k)
        CHECK(merged.name(k) == whole.name(k) && merged.space(k) == whole.space(k));
}

int main(int argc, char** argv) {
    return run(argc, argv, [](Random& random) {
        const std::string text = mutate(random, seeds);
        current_input = text;
        constexpr int bits[] = {1, 4, 18, 30};
        const VwOptions options{random.choose(bits), random.one_in(2), nullptr};
        const auto parse = [&](const char* data, size_t size, ParsedRows& rows) {
            return parse_vw(data, size, options, rows);
        };
        const auto rows = parse_copy(text, parse);
        check_rows(text, *rows, 0, (int64_t{1} << options.bits) - 1);
        check_cut(random, text, *rows, parse);
        check_names(random, text);
    });
}
