// CSV text (RFC 4180, and LF as a line end): its cells, and line and column of what is malformed.
//
//     record  =  cell {delimiter cell} (LF | CR LF | end of the text)
//     cell    =  {any byte but " delimiter CR LF}  |  '"' {any byte but " | '""'} '"'
//
// So a quote opens a cell only as its first byte, only a delimiter or a line end follows the closing
// quote, and neither a quote nor a lone CR occurs in a cell without quotes. Empty lines are no
// records. Text must be UTF-8.
//
// After a malformed place, reading goes on at the next line. A quoted cell that does not close within
// `longest_cell` bytes is malformed in the line where it opens. What follows a place thus depends on
// at most longest_cell bytes after it, never on how the text was cut into blocks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parsed_rows.hpp"
#include "utf8.hpp"
#include "word_table.hpp"

namespace rosenblatt {

enum class CellKind : uint8_t {
    number,  // a finite number; integers up to 2^53
    mixed,   // a number, missing, or any text, which is kept apart
    text,
    label,  // text that is neither missing nor longer than max_label_bytes
    skip,   // checked, and not kept
};

struct CsvOptions {
    std::vector<CellKind> kinds;       // one for each cell of a record
    std::vector<std::string> missing;  // marks of missing values, besides nothing
    std::vector<std::string> missing_labels;
    char delimiter = ',';
    size_t longest_cell = size_t{1} << 24;
    size_t max_label_bytes = 1000;
};

// Whether a text is a missing value: nothing but blanks, or a mark.
class MissingValues {
  public:
    explicit MissingValues(const std::vector<std::string>& marks) : marks_(marks) {
        begins_[' '] = begins_['\t'] = true;
        for (const std::string& mark : marks)
            if (!mark.empty()) begins_[static_cast<unsigned char>(mark[0])] = true;
    }
    bool contains(std::string_view text) const {
        if (text.empty()) return true;
        // most cells end here
        if (!begins_[static_cast<unsigned char>(text.front())]) return false;
        text = without_blanks(text);
        return text.empty() || std::find(marks_.begin(), marks_.end(), text) != marks_.end();
    }
    static std::string_view without_blanks(std::string_view text) {
        const auto blank = [](char c) { return c == ' ' || c == '\t'; };
        while (!text.empty() && blank(text.front())) text.remove_prefix(1);
        while (!text.empty() && blank(text.back())) text.remove_suffix(1);
        return text;
    }

  private:
    const std::vector<std::string>& marks_;
    std::array<bool, 256> begins_{};
};

// A cell, or why there is none.
struct CsvCell {
    const char* begin;  // of its text, without quotes
    const char* end;
    const char* after;  // at the delimiter or line end, or the end of the text
    bool quoted = false;
    bool escaped = false;      // holds two quotes for one
    bool ascii = false;        // known to be ASCII; false: not known
    bool reached_end = false;  // the text ended first: more of it might change this
    LineError error = LineError::none;
    const char* at = nullptr;  // of the error

    std::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
};

inline bool at_line_end(const char* p, const char* end) {
    return p == end || *p == '\n' || (*p == '\r' && p + 1 < end && p[1] == '\n');
}

// Sets the high bit of every zero byte; only the lowest set bit is reliable.
inline uint64_t zero_bytes(uint64_t word) {
    return (word - 0x0101010101010101) & ~word & 0x8080808080808080;
}

// The first delimiter, line end or quote in [p, end), or a place shortly before it. `high` becomes
// nonzero unless all bytes before the result are known to be ASCII.
inline const char* skip_plain_bytes(const char* p, const char* end, char delimiter,
                                    uint64_t& high) {
    constexpr uint64_t ones = 0x0101010101010101;
    if constexpr (std::endian::native != std::endian::little) {
        high = ones;
        return p;
    }
    const uint64_t delimiters = ones * static_cast<unsigned char>(delimiter);
    for (; end - p >= 8; p += 8) {
        uint64_t word;
        std::memcpy(&word, p, sizeof word);
        high |= word & 0x8080808080808080;
        const uint64_t found = zero_bytes(word ^ delimiters) | zero_bytes(word ^ (ones * '\n')) |
                               zero_bytes(word ^ (ones * '\r')) | zero_bytes(word ^ (ones * '"'));
        if (found != 0) return p + std::countr_zero(found) / 8;
    }
    high |= end != p;  // the rest is not looked at
    return p;
}

inline CsvCell scan_cell(const char* p, const char* end, char delimiter, size_t longest) {
    CsvCell cell{p, p, p};
    const auto fail = [&](LineError error, const char* at) {
        cell.error = error;
        cell.at = at;
        return cell;
    };
    if (p < end && *p == '"') {
        cell.quoted = true;
        cell.begin = p + 1;
        const bool cut = static_cast<size_t>(end - p) > longest;
        const char* const stop = cut ? p + longest : end;
        for (const char* q = p + 1;; q += 2) {
            if (q < stop)
                q = static_cast<const char*>(std::memchr(q, '"', static_cast<size_t>(stop - q)));
            if (q == nullptr || q >= stop) {
                cell.reached_end = !cut;
                return fail(LineError::quote_open, p);
            }
            if (q + 1 < end && q[1] == '"') {
                cell.escaped = true;
                continue;
            }
            cell.end = q;
            cell.after = q + 1;
            break;
        }
        if (cell.after < end && *cell.after == delimiter) return cell;
        cell.reached_end = cell.after == end || (*cell.after == '\r' && cell.after + 1 == end);
        return at_line_end(cell.after, end) ? cell : fail(LineError::after_quote, cell.after);
    }
    uint64_t high = 0;
    for (p = skip_plain_bytes(p, end, delimiter, high);; ++p) {
        cell.end = cell.after = p;
        cell.ascii = high == 0;
        if (p == end) {
            cell.reached_end = true;
            return cell;
        }
        const char c = *p;
        if (c == delimiter || c == '\n') return cell;
        if (c == '"') return fail(LineError::bare_quote, p);
        if (c == '\r') {
            cell.reached_end = p + 1 == end;
            return at_line_end(p, end) ? cell : fail(LineError::lone_cr, p);
        }
    }
}

// Where the line after p begins; nullptr if the text ends first.
inline const char* after_newline(const char* p, const char* end) {
    if (p >= end) return nullptr;
    const void* found = std::memchr(p, '\n', static_cast<size_t>(end - p));
    return found == nullptr ? nullptr : static_cast<const char*>(found) + 1;
}

struct CsvRecord {
    const char* next;  // where the next record begins
    bool reached_end = false;
    int64_t n_cells = 0;
    LineError error = LineError::none;
    const char* at = nullptr;
};

// The record, or malformed line, that begins at p.
inline CsvRecord scan_record(const char* p, const char* end, char delimiter, size_t longest) {
    CsvRecord record{end};
    while (true) {
        const CsvCell cell = scan_cell(p, end, delimiter, longest);
        record.reached_end |= cell.reached_end;
        if (cell.error != LineError::none) {
            record.error = cell.error;
            record.at = cell.at;
            const char* const next = after_newline(cell.at, end);
            record.reached_end |= next == nullptr;
            record.next = next == nullptr ? end : next;
            return record;
        }
        ++record.n_cells;
        p = cell.after;
        if (p == end) return record;
        if (*p != delimiter) {
            record.next = p + (*p == '\r' ? 2 : 1);
            return record;
        }
        ++p;
    }
}

// Where the last whole record ends of text that goes on; 0 if there is none.
inline size_t last_record_end(const char* text, size_t size, char delimiter, size_t longest) {
    const char* const end = text + size;
    const char* p = text;
    const char* quote = text;  // the next quote at or after p
    while (p < end) {
        if (quote < p) quote = p;
        if (quote < end && *quote != '"') {
            const void* found = std::memchr(quote, '"', static_cast<size_t>(end - quote));
            quote = found == nullptr ? end : static_cast<const char*>(found);
        }
        // lines without a quote are records, or malformed as they are
        const char* line = quote;
        while (line > p && line[-1] != '\n') --line;
        p = line;
        if (quote == end) break;
        const CsvRecord record = scan_record(p, end, delimiter, longest);
        if (record.reached_end) break;
        p = record.next;
    }
    return static_cast<size_t>(p - text);
}

// Cells of mixed columns that are text.
struct TextCells {
    std::vector<int32_t> rows, codes;
    WordTable words;
};

struct ParsedTable {
    size_t n_rows = 0, n_numbers = 0, n_texts = 0;
    std::unique_ptr<double[]> numbers;  // n_rows x n_numbers (number, mixed); NaN: missing or text
    std::unique_ptr<int32_t[]> codes;   // n_rows x n_texts (text, label); -1: missing
    std::vector<WordTable> words;       // of each text or label column
    std::vector<TextCells> odd;         // of each number or mixed column
    int64_t lines = 0, n_bad = 0;
    std::vector<BadLine> bad;  // the first ten
};

class CsvParser {
  public:
    CsvParser(const char* text, size_t size, const CsvOptions& options, ParsedTable& table)
        : text_(text),
          end_(text + size),
          options_(options),
          missing_(options.missing),
          missing_labels_(options.missing_labels),
          table_(table) {
        size_t safe = size > kSlack ? size - kSlack : 0;
        while (safe > 0 && text[safe - 1] != '\n') --safe;
        safe_ = text + safe;
        for (const CellKind kind : options.kinds) {
            table.n_numbers += kind == CellKind::number || kind == CellKind::mixed;
            table.n_texts += kind == CellKind::text || kind == CellKind::label;
        }
        table.words.resize(table.n_texts);
        table.odd.resize(table.n_numbers);
        // A record takes a byte per cell at least.
        const auto lines = static_cast<size_t>(std::count(text, end_, '\n')) + 1;
        const size_t rows = std::min(lines, size / std::max<size_t>(1, options.kinds.size()) + 1);
        table.numbers = std::make_unique_for_overwrite<double[]>(rows * table.n_numbers);
        table.codes = std::make_unique_for_overwrite<int32_t[]>(rows * table.n_texts);
    }

    void parse() {
        for (const char* p = text_; p < end_;) {
            if (*p != '\n' && !(*p == '\r' && p + 1 < end_ && p[1] == '\n')) {
                p = parse_record(p);
            } else {
                p += *p == '\r' ? 2 : 1;
                ++table_.lines;
            }
        }
    }

  private:
    struct Wrong {
        LineError error;
        const char* at;
        int32_t cell;
    };

    struct Text {
        std::string_view text;
        int64_t odd_column;  // of a mixed column; -1: a text or label column
        bool escaped, missing;
    };

    const char* parse_record(const char* const record) {
        double* const numbers = table_.numbers.get() + table_.n_rows * table_.n_numbers;
        const size_t n_cells = options_.kinds.size();
        const char delimiter = options_.delimiter;
        size_t number = 0, k = 0;
        bool plain = true;  // no quoted cell so far, so no line break in the record
        texts_.clear();
        for (const char* p = record;; ++p, ++k) {
            if (k == n_cells) return refuse(record, {LineError::cell_count, p, 0});
            const CellKind kind = options_.kinds[k];
            const auto cell_number = static_cast<int32_t>(k);
            if ((kind == CellKind::number || kind == CellKind::mixed) && p < safe_) {
                if (const char* const after = plain_number(p, kind, numbers[number])) {
                    ++number;
                    p = after;
                    if (*p == delimiter) continue;
                    if (k + 1 < n_cells)
                        return refuse(record, {LineError::cell_count, p, cell_number + 1});
                    return accept(record, p, plain);
                }
            }
            const CsvCell cell = scan_cell(p, end_, delimiter, options_.longest_cell);
            if (cell.error != LineError::none)
                return refuse(record, {cell.error, cell.at, cell_number});
            plain &= !cell.quoted;
            if (!cell.ascii && !is_utf8(cell.begin, cell.end))
                return refuse(record, {LineError::not_utf8, p, cell_number});
            if (kind == CellKind::number || kind == CellKind::mixed) {
                const LineError error = cell_number_of(cell, kind, numbers[number], number);
                if (error != LineError::none) return refuse(record, {error, p, cell_number});
                ++number;
            } else if (kind != CellKind::skip) {
                if (kind == CellKind::label) {
                    if (cell.text().size() > options_.max_label_bytes)
                        return refuse(record, {LineError::label_too_long, p, cell_number});
                    if (missing_labels_.contains(cell.text()))
                        return refuse(record, {LineError::missing_label, p, cell_number});
                }
                const bool missing = kind == CellKind::text && missing_.contains(cell.text());
                texts_.push_back({cell.text(), -1, cell.escaped, missing});
            }
            p = cell.after;
            if (p < end_ && *p == delimiter) continue;
            if (k + 1 < n_cells) return refuse(record, {LineError::cell_count, p, cell_number + 1});
            return accept(record, p, plain);
        }
    }

    // A number without quotes that fills its cell, as most do; nullptr for anything else.
    const char* plain_number(const char* p, CellKind kind, double& value) const {
        const char delimiter = options_.delimiter;
        const auto blank = [&](char c) { return (c == ' ' || c == '\t') && c != delimiter; };
        while (blank(*p)) ++p;
        const Number number = parse_number(p);
        if (number.status != NumberStatus::ok) return nullptr;
        if (kind == CellKind::number && beyond_2_53(p, number)) return nullptr;
        const char* after = number.end;
        while (blank(*after)) ++after;
        if (*after != delimiter && *after != '\n' && !(*after == '\r' && after[1] == '\n'))
            return nullptr;
        value = number.value;
        return after;
    }

    // Whether it is written as an integer beyond 2^53, which float64 may not hold.
    static bool beyond_2_53(const char* p, const Number& number) {
        constexpr double two_53 = 9007199254740992.0;
        if (number.value < two_53 && number.value > -two_53) return false;
        if (*p == '+' || *p == '-') ++p;
        while (p < number.end && *p == '0') ++p;
        const std::string_view digits(p, static_cast<size_t>(number.end - p));
        if (digits.find_first_not_of("0123456789") != digits.npos) return false;
        return digits.size() > 16 || (digits.size() == 16 && digits > "9007199254740992");
    }

    // The number of a cell of a number or mixed column; missing and odd cells give NaN.
    LineError cell_number_of(const CsvCell& cell, CellKind kind, double& value, size_t column) {
        const std::string_view text = MissingValues::without_blanks(cell.text());
        scratch_.assign(text);
        scratch_.append(1 + kSlack, '\n');
        const Number number = parse_number(scratch_.data());
        const bool whole = number.end == scratch_.data() + text.size();
        if (whole && number.status == NumberStatus::ok) {
            value = number.value;
            if (kind == CellKind::mixed || !beyond_2_53(scratch_.data(), number))
                return LineError::none;
            return LineError::integer_too_large;
        }
        if (kind == CellKind::number) {
            const bool large = whole && number.status == NumberStatus::out_of_range;
            return large ? LineError::out_of_range : LineError::not_a_number;
        }
        value = std::numeric_limits<double>::quiet_NaN();
        if (!missing_.contains(cell.text()))
            texts_.push_back({cell.text(), static_cast<int64_t>(column), cell.escaped, false});
        return LineError::none;
    }

    std::string_view content(const Text& cell) {
        const std::string_view text = cell.text;
        if (!cell.escaped) return text;
        scratch_.clear();
        for (size_t k = 0; k < text.size(); ++k) {
            scratch_ += text[k];
            if (text[k] == '"') ++k;
        }
        return scratch_;
    }

    const char* accept(const char* record, const char* p, bool plain) {
        int32_t* codes = table_.codes.get() + table_.n_rows * table_.n_texts;
        size_t column = 0;
        for (const Text& text : texts_) {
            if (text.odd_column >= 0) {
                TextCells& odd = table_.odd[static_cast<size_t>(text.odd_column)];
                odd.rows.push_back(static_cast<int32_t>(table_.n_rows));
                odd.codes.push_back(odd.words.code(content(text)));
            } else {
                codes[column] = text.missing ? -1 : table_.words[column].code(content(text));
                ++column;
            }
        }
        ++table_.n_rows;
        const char* const next = p == end_ ? p : p + (*p == '\r' ? 2 : 1);
        ++table_.lines;
        if (!plain) table_.lines += std::count(record, p, '\n');
        return next;
    }

    // Note a malformed line; where reading goes on.
    const char* refuse(const char* record, Wrong wrong) {
        const CsvRecord found =
            scan_record(record, end_, options_.delimiter, options_.longest_cell);
        if (wrong.error == LineError::cell_count) {
            if (found.error != LineError::none) {
                wrong = {found.error, found.at, static_cast<int32_t>(found.n_cells)};
            } else {
                wrong.cell = static_cast<int32_t>(std::min<int64_t>(found.n_cells, 2147483647));
            }
        }
        const char* line = wrong.at;
        while (line > record && line[-1] != '\n') --line;
        if (table_.n_bad++ < ParsedRows::kBadLinesKept) {
            table_.bad.push_back({table_.lines + 1 + std::count(record, line, '\n'),
                                  wrong.at - line + 1, wrong.at - text_, wrong.error, wrong.cell});
        }
        table_.lines +=
            std::count(record, found.next, '\n') + (found.next == end_ && end_[-1] != '\n');
        return found.next;
    }

    const char *text_, *end_, *safe_;
    const CsvOptions& options_;
    const MissingValues missing_, missing_labels_;
    ParsedTable& table_;
    std::vector<Text> texts_;
    std::string scratch_;
};

// Parse a block of whole records, or one at the end of a file.
inline void parse_csv(const char* text, size_t size, const CsvOptions& options,
                      ParsedTable& table) {
    CsvParser(text, size, options, table).parse();
}

}  // namespace rosenblatt
