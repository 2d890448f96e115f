// Random CSV text. Run: fuzz_csv [INPUTS] [SEED]
#include <algorithm>

#include "fuzz.hpp"
#include "parse_csv.hpp"

using namespace rosenblatt;
using namespace rosenblatt::fuzz;

static const Seeds seeds = {
    "1,2.5,red,a\n-3e2, 4 ,\"blue, dark\",b\r\n\n5,6,\"say \"\"hi\"\"\",a\n",
    "1,2,\"two\nlines\",b\n\"3\",\"4.5\",,a\n?,NA,x,b\n",
    "1,2,\"open,a\n3,4,green,b\n5,6,\"closed\",a\n",
    "1,2,5\" disc,a\n3,4,\"a\"b,b\n5,6,c\rd,a\n7,8,e,a\r",
    "1,2,\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82,\xff\n9007199254740993,1e999,\xed\xa0\x80,b\n",
    "\"\"\"\"\n\"\"\n\"\"\"\n\"\"\"\"\"\n,,,\n\"\",\"\",\"\",\"\"\n",
    "1,2,3\n1,2,3,4,5\n1,2,,a\n0.1,00000000000000000000000.5,x,a",
};

static std::unique_ptr<ParsedTable> parse_table(std::string_view text, const CsvOptions& options) {
    const auto copy = std::make_unique_for_overwrite<char[]>(text.size());
    std::copy(text.begin(), text.end(), copy.get());
    auto table = std::make_unique<ParsedTable>();
    parse_csv(copy.get(), text.size(), options, *table);
    return table;
}

// Rows as text, with all bits of their numbers.
static std::string spell_table(const ParsedTable& table) {
    std::string spelled;
    std::vector<size_t> next_odd(table.n_numbers, 0);
    for (size_t i = 0; i < table.n_rows; ++i) {
        for (size_t k = 0; k < table.n_numbers; ++k) {
            char digits[40];
            std::snprintf(digits, sizeof digits, " %a", table.numbers[i * table.n_numbers + k]);
            spelled += digits;
            const TextCells& odd = table.odd[k];
            size_t& at = next_odd[k];
            if (at < odd.rows.size() && static_cast<size_t>(odd.rows[at]) == i) {
                spelled += '=';
                spelled += odd.words[static_cast<size_t>(odd.codes[at++])];
            }
        }
        for (size_t k = 0; k < table.n_texts; ++k) {
            const int32_t code = table.codes[i * table.n_texts + k];
            CHECK(code >= -1 && code < static_cast<int32_t>(table.words[k].size()));
            spelled += '|';
            if (code >= 0) spelled += table.words[k][static_cast<size_t>(code)];
        }
        spelled += '\n';
    }
    for (size_t k = 0; k < table.n_numbers; ++k) CHECK(next_odd[k] == table.odd[k].rows.size());
    return spelled;
}

int main(int argc, char** argv) {
    return run(argc, argv, [](Random& random) {
        std::string text = mutate(random, seeds);
        for (size_t k = random.below(4); k > 0; --k) {
            text.insert(random.below(text.size() + 1), 1, random.choose("\"\"\",\n\r;"sv));
        }
        current_input = text;
        CsvOptions options;
        for (size_t k = random.one_in(8) ? random.below(6) + 1 : 4; k > 0; --k) {
            options.kinds.push_back(static_cast<CellKind>(random.below(5)));
        }
        if (random.one_in(4)) options.delimiter = random.choose(";\t "sv);
        if (random.one_in(3)) options.longest_cell = random.below(24) + 1;
        if (random.one_in(3)) options.max_label_bytes = 2;
        options.missing = {"?", "NA"};
        const auto whole = parse_table(text, options);
        const std::string spelled = spell_table(*whole);

        CHECK(whole->lines ==
              std::count(text.begin(), text.end(), '\n') + (!text.empty() && text.back() != '\n'));
        CHECK(static_cast<int64_t>(whole->n_rows) + whole->n_bad <= whole->lines);
        int64_t line = 0;
        for (const BadLine& bad : whole->bad) {
            CHECK(bad.line >= line && bad.line <= whole->lines && bad.error != LineError::none);
            line = bad.line;
            const int64_t begin = bad.offset - (bad.column - 1);
            CHECK(begin >= 0 && bad.column >= 1 && bad.offset <= static_cast<int64_t>(text.size()));
            const auto head = std::string_view(text).substr(0, static_cast<size_t>(begin));
            CHECK(std::count(head.begin(), head.end(), '\n') == line - 1);
        }

        // any cut that the cutter makes gives the same rows
        const size_t shown = random.below(text.size() + 1);
        const auto copy = std::make_unique_for_overwrite<char[]>(shown);
        std::copy_n(text.begin(), shown, copy.get());
        const size_t cut =
            last_record_end(copy.get(), shown, options.delimiter, options.longest_cell);
        CHECK(cut <= shown && (cut == 0 || text[cut - 1] == '\n'));
        const auto first = parse_table(std::string_view(text).substr(0, cut), options);
        const auto second = parse_table(std::string_view(text).substr(cut), options);
        CHECK(spell_table(*first) + spell_table(*second) == spelled);
        CHECK(first->lines + second->lines == whole->lines);
        CHECK(first->n_bad + second->n_bad == whole->n_bad);
    });
}
