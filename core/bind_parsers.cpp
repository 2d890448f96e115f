// Text parsers for Python: a block of lines in, numpy arrays out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "bind_feature_index.hpp"
#include "parse_csv.hpp"
#include "parse_libsvm.hpp"
#include "parse_vw.hpp"

namespace rosenblatt {
namespace {

// The bytes of any Python object that has them. As long as it lives, the object cannot be resized.
class Bytes {
  public:
    explicit Bytes(nb::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;
    ~Bytes() { PyBuffer_Release(&view_); }
    const char* data() const { return static_cast<const char*>(view_.buf); }
    size_t size() const { return static_cast<size_t>(view_.len); }

  private:
    Py_buffer view_;
};

template <class T>
using Vector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// The class ParsedRows of the module.
struct ParsedRowsObject {
    Vector<double> labels;
    std::optional<Vector<double>> weights;
    Vector<int32_t> indptr, indices;
    Vector<double> values;
    int64_t max_index;
    bool has_zero;
    int64_t n_lines, n_bad_lines;
    std::vector<BadLine> bad_lines;
};

// A copy of exactly the right size, which becomes a numpy array.
template <class T>
class Copy {
  public:
    explicit Copy(const Buffer<T>& buffer)
        : size_(buffer.size()), values_(std::make_unique_for_overwrite<T[]>(size_)) {
        std::copy_n(buffer.data(), size_, values_.get());
    }
    size_t size() const { return size_; }
    Vector<T> as_numpy() { return Vector<T>(own(values_.release(), {size_})); }

  private:
    size_t size_;
    std::unique_ptr<T[]> values_;
};

// Memory that a thread parses into, used again for its next block: new memory for each block would
// cost half as much as the parsing. More than this is not kept.
constexpr size_t kKeptBytes = size_t{1} << 25;

// glibc returns freed memory to the kernel, and asks for it again, until the program has freed a
// large piece once (mallopt(3), M_MMAP_THRESHOLD). The arrays of each block would cost hundreds of
// page faults, a fifth of the time of reading a file on two threads. The piece is never touched.
void free_a_large_piece_once() {
#ifdef __GLIBC__
    static const bool done = [] {
        void* volatile piece = std::malloc(size_t{1} << 24);
        std::free(piece);
        return true;
    }();
    static_cast<void>(done);
#endif
}

template <class Parse>
ParsedRowsObject parse_block(nb::handle text, Parse parse) {
    thread_local std::unique_ptr<ParsedRows> kept;
    free_a_large_piece_once();
    const Bytes bytes(text);
    std::optional<nb::gil_scoped_release> released(std::in_place);
    if (!kept) kept = std::make_unique<ParsedRows>();
    ParsedRows& rows = *kept;
    rows.clear();
    const ParseStatus status = parse(bytes.data(), bytes.size(), rows);
    if (status == ParseStatus::out_of_memory) {
        kept.reset();
        throw std::bad_alloc();
    }
    Copy labels(rows.labels), weights(rows.weights), values(rows.values);
    Copy indptr(rows.indptr), indices(rows.indices);
    released.reset();
    if (status == ParseStatus::too_many_entries) {
        throw nb::value_error("A block may hold at most 2**31 - 1 entries; give smaller blocks.");
    }
    ParsedRowsObject found{labels.as_numpy(), std::nullopt,
                           indptr.as_numpy(), indices.as_numpy(),
                           values.as_numpy(), rows.max_index,
                           rows.has_zero,     rows.lines,
                           rows.n_bad,        std::vector(rows.bad, rows.bad + rows.n_bad_kept())};
    if (weights.size() > 0) found.weights = weights.as_numpy();
    if (rows.capacity_bytes() > kKeptBytes) kept.reset();
    return found;
}

// The index that gets the features of a block; parsing fills it while other threads run.
FeatureIndex* block_features(nb::object features) {
    if (features.is_none()) return nullptr;
    auto* const index = nb::cast<FeatureIndex*>(features);
    if (index->size() > 0 || index->hash_bits() > 0)
        throw nb::value_error("features must be an empty index without hash_bits.");
    return index;
}

ParsedRowsObject parse_libsvm_block(nb::handle text, std::optional<bool> zero_based,
                                    std::optional<int64_t> max_index, nb::object features,
                                    int64_t plain_columns) {
    LibsvmOptions options;
    if (zero_based) options.base = *zero_based ? IndexBase::zero : IndexBase::one;
    options.features = block_features(features);
    const int64_t most =
        options.features ? int64_t{1} << 59 : int64_t{std::numeric_limits<int32_t>::max()};
    options.max_index = max_index.value_or(options.features ? most : options.max_index);
    options.plain_columns = plain_columns;
    if (options.max_index < 0 || options.max_index > most)
        throw nb::value_error("max_index is out of range.");
    if (plain_columns < 1 || plain_columns > int64_t{1} << 30)
        throw nb::value_error("plain_columns must be between 1 and 2**30.");
    return parse_block(text, [&](const char* data, size_t size, ParsedRows& rows) {
        return parse_libsvm(data, size, options, rows);
    });
}

ParsedRowsObject parse_vw_block(nb::handle text, int bits, bool hash_all, nb::object features) {
    if (bits < 1 || bits > 30) throw nb::value_error("bits must be between 1 and 30.");
    const VwOptions options{bits, hash_all, block_features(features)};
    return parse_block(text, [&](const char* data, size_t size, ParsedRows& rows) {
        return parse_vw(data, size, options, rows);
    });
}

char one_byte(const std::string& delimiter) {
    if (delimiter.size() != 1 ||
        std::string_view("\"\r\n").find(delimiter) != std::string_view::npos) {
        throw nb::value_error("delimiter must be one byte, and no quote or line end.");
    }
    return delimiter[0];
}

nb::list as_strings(const WordTable& words) {
    nb::list strings;
    for (size_t k = 0; k < words.size(); ++k)
        strings.append(nb::str(words[k].data(), words[k].size()));
    return strings;
}

// The class ParsedTable of the module.
struct ParsedTableObject {
    nb::ndarray<nb::numpy, double, nb::ndim<2>> numbers;
    nb::ndarray<nb::numpy, int32_t, nb::ndim<2>> codes;
    nb::list words;
    nb::dict odd;
    int64_t n_lines, n_bad_lines;
    std::vector<BadLine> bad_lines;
};

ParsedTableObject parse_csv_block(nb::handle text, const std::string& kinds,
                                  const std::string& delimiter, std::vector<std::string> missing,
                                  std::vector<std::string> missing_labels, size_t longest_cell,
                                  size_t max_label_bytes) {
    CsvOptions options;
    for (const char kind : kinds) {
        const size_t place = std::string_view("nmtl-").find(kind);
        if (place == std::string_view::npos) {
            throw nb::value_error("kinds may hold n (number), m (mixed), t (text), l (label), -.");
        }
        options.kinds.push_back(static_cast<CellKind>(place));
    }
    if (kinds.empty()) throw nb::value_error("kinds must name at least one column.");
    options.delimiter = one_byte(delimiter);
    options.missing = std::move(missing);
    options.missing_labels = std::move(missing_labels);
    options.longest_cell = longest_cell;
    options.max_label_bytes = max_label_bytes;
    free_a_large_piece_once();
    const Bytes bytes(text);
    ParsedTable table;
    {
        nb::gil_scoped_release released;
        parse_csv(bytes.data(), bytes.size(), options, table);
    }
    const size_t n_rows = table.n_rows;
    ParsedTableObject found{nb::ndarray<nb::numpy, double, nb::ndim<2>>(
                                own(table.numbers.release(), {n_rows, table.n_numbers})),
                            nb::ndarray<nb::numpy, int32_t, nb::ndim<2>>(
                                own(table.codes.release(), {n_rows, table.n_texts})),
                            nb::list(),
                            nb::dict(),
                            table.lines,
                            table.n_bad,
                            std::move(table.bad)};
    for (const WordTable& words : table.words) found.words.append(as_strings(words));
    for (size_t k = 0; k < table.odd.size(); ++k) {
        const TextCells& odd = table.odd[k];
        if (odd.rows.empty()) continue;
        found.odd[nb::int_(k)] =
            nb::make_tuple(copied(odd.rows), copied(odd.codes), as_strings(odd.words));
    }
    return found;
}

size_t csv_records_end(nb::handle text, const std::string& delimiter, size_t longest_cell) {
    const char byte = one_byte(delimiter);
    const Bytes bytes(text);
    nb::gil_scoped_release released;
    return last_record_end(bytes.data(), bytes.size(), byte, longest_cell);
}

nb::tuple csv_first_record(nb::handle text, const std::string& delimiter, size_t longest_cell) {
    const char byte = one_byte(delimiter);
    const Bytes bytes(text);
    const char *const begin = bytes.data(), *const end = begin + bytes.size();
    const CsvRecord record = scan_record(begin, end, byte, longest_cell);
    const auto next = static_cast<size_t>(record.next - begin);
    if (record.error != LineError::none) {
        return nb::make_tuple(nb::none(), next);
    }
    nb::list cells;
    for (const char* p = begin;; ++p) {
        const CsvCell cell = scan_cell(p, end, byte, longest_cell);
        std::string content(cell.begin, cell.end);
        if (cell.escaped) {
            size_t kept = 0;
            for (size_t k = 0; k < content.size(); ++k) {
                content[kept++] = content[k];
                if (content[k] == '"') ++k;
            }
            content.resize(kept);
        }
        PyObject* const decoded = PyUnicode_DecodeUTF8(
            content.data(), static_cast<Py_ssize_t>(content.size()), "backslashreplace");
        if (decoded == nullptr) throw nb::python_error();
        cells.append(nb::steal(decoded));
        p = cell.after;
        if (p == end || *p != byte) return nb::make_tuple(cells, next);
    }
}

uint32_t murmur3_of(nb::bytes key, uint32_t seed) { return murmur3(key.c_str(), key.size(), seed); }

}  // namespace

void bind_parsers(nb::module_& m) {
    nb::enum_<LineError>(m, "LineError", "Why a line is malformed.")
        .value("OUT_OF_RANGE", LineError::out_of_range)
        .value("NAME_TOO_LONG", LineError::name_too_long)
        .value("TOO_MANY_NAMES", LineError::too_many_names)
        .value("LABEL", LineError::label)
        .value("QUERY", LineError::query)
        .value("INDEX", LineError::index)
        .value("INDEX_ORDER", LineError::index_order)
        .value("INDEX_ZERO", LineError::index_zero)
        .value("INDEX_TOO_LARGE", LineError::index_too_large)
        .value("VALUE", LineError::value)
        .value("AFTER_VALUE", LineError::after_value)
        .value("TAB_BEFORE_BAR", LineError::tab_before_bar)
        .value("MISSING_BAR", LineError::missing_bar)
        .value("LABEL_WORDS", LineError::label_words)
        .value("NEGATIVE_WEIGHT", LineError::negative_weight)
        .value("NAMESPACE_NAME", LineError::namespace_name)
        .value("NAMESPACE_SCALE", LineError::namespace_scale)
        .value("FEATURE_VALUE", LineError::feature_value)
        .value("AFTER_FEATURE", LineError::after_feature)
        .value("QUOTE_OPEN", LineError::quote_open)
        .value("AFTER_QUOTE", LineError::after_quote)
        .value("BARE_QUOTE", LineError::bare_quote)
        .value("LONE_CR", LineError::lone_cr)
        .value("NOT_UTF8", LineError::not_utf8)
        .value("CELL_COUNT", LineError::cell_count)
        .value("NOT_A_NUMBER", LineError::not_a_number)
        .value("INTEGER_TOO_LARGE", LineError::integer_too_large)
        .value("MISSING_LABEL", LineError::missing_label)
        .value("LABEL_TOO_LONG", LineError::label_too_long);
    nb::class_<BadLine>(m, "BadLine", "A malformed line: where it is wrong, and why.")
        .def_ro("line", &BadLine::line, "Number of the line in the block, from 1.")
        .def_ro("column", &BadLine::column, "Byte of the line, from 1.")
        .def_ro("offset", &BadLine::offset, "Byte of the block, from 0.")
        .def_ro("error", &BadLine::error)
        .def_ro("cell", &BadLine::cell,
                "CSV: the cell, from 0; of CELL_COUNT, how many there are. Otherwise -1.");
    constexpr auto shared = nb::rv_policy::reference;  // arrays have their own memory
    nb::class_<ParsedRowsObject>(m, "ParsedRows", "Rows of a block of text, in CSR form.")
        .def_ro("labels", &ParsedRowsObject::labels, shared, "NaN where a row has none.")
        .def_ro("weights", &ParsedRowsObject::weights, shared, "None if no row names its weight.")
        .def_ro("indptr", &ParsedRowsObject::indptr, shared)
        .def_ro("indices", &ParsedRowsObject::indices, shared)
        .def_ro("values", &ParsedRowsObject::values, shared)
        .def_ro("max_index", &ParsedRowsObject::max_index,
                "LIBSVM: the largest index as written; -1 if there is none.")
        .def_ro("has_zero", &ParsedRowsObject::has_zero,
                "LIBSVM: whether an index as written is 0.")
        .def_ro("n_lines", &ParsedRowsObject::n_lines)
        .def_ro("n_bad_lines", &ParsedRowsObject::n_bad_lines)
        .def_ro("bad_lines", &ParsedRowsObject::bad_lines, "The first ten malformed lines.");
    m.def("parse_libsvm", parse_libsvm_block, nb::arg("text"), nb::arg("zero_based") = nb::none(),
          nb::arg("max_index") = nb::none(), nb::arg("features") = nb::none(),
          nb::arg("plain_columns") = LibsvmOptions{}.plain_columns,
          nb::sig("def parse_libsvm(text: bytes | bytearray | memoryview | "
                  "numpy.typing.NDArray[numpy.uint8], zero_based: bool | None = None, "
                  "max_index: int | None = None, features: FeatureIndex | None = None, "
                  "plain_columns: int = 4194304) -> ParsedRows"),
          "Parse lines of LIBSVM text. zero_based=None: indices count from 1, and 0 becomes "
          "column -1.\nmax_index is the largest index allowed, as written. An empty index of "
          "features gets the\nindices from plain_columns on; index k of it becomes column "
          "plain_columns + k\n(less 1 if indices count from 1), and rows are not sorted then.");
    m.def("parse_vw", parse_vw_block, nb::arg("text"), nb::arg("bits") = 18,
          nb::arg("hash_all") = false, nb::arg("features") = nb::none(),
          nb::sig("def parse_vw(text: bytes | bytearray | memoryview | "
                  "numpy.typing.NDArray[numpy.uint8], bits: int = 18, hash_all: bool = False, "
                  "features: FeatureIndex | None = None) -> ParsedRows"),
          "Parse lines of VW text. Columns are those of Vowpal Wabbit with -b BITS, or of an empty "
          "index,\nwhich gets the features of the block by exact name.");
    nb::class_<ParsedTableObject>(m, "ParsedTable", "Records of a block of CSV text.")
        .def_ro("numbers", &ParsedTableObject::numbers, shared,
                "One row per record, one column for each n and m; NaN: missing or text.")
        .def_ro("codes", &ParsedTableObject::codes, shared,
                "One row per record, one column for each t and l: places in words; -1: missing.")
        .def_ro("words", &ParsedTableObject::words, "Distinct texts of each t and l.")
        .def_ro("odd", &ParsedTableObject::odd,
                "Texts in mixed columns: {column of numbers: (rows, codes, words)}.")
        .def_ro("n_lines", &ParsedTableObject::n_lines)
        .def_ro("n_bad_lines", &ParsedTableObject::n_bad_lines)
        .def_ro("bad_lines", &ParsedTableObject::bad_lines, "The first ten malformed lines.");
    m.def(
        "parse_csv", parse_csv_block, nb::arg("text"), nb::arg("kinds"), nb::arg("delimiter") = ",",
        nb::arg("missing") = std::vector<std::string>(),
        nb::arg("missing_labels") = std::vector<std::string>(),
        nb::arg("longest_cell") = size_t{1} << 24, nb::arg("max_label_bytes") = 1000,
        nb::sig("def parse_csv(text: bytes | bytearray | memoryview, kinds: str, delimiter: str = "
                "',', missing: Sequence[str] = ..., missing_labels: Sequence[str] = ..., "
                "longest_cell: int = 16777216, max_label_bytes: int = 1000) -> ParsedTable"),
        "Parse whole records of CSV text. kinds has one letter per column: n (number), m (number "
        "or text), t (text), l (label), - (not kept).");
    m.def("csv_records_end", csv_records_end, nb::arg("text"), nb::arg("delimiter") = ",",
          nb::arg("longest_cell") = size_t{1} << 24,
          nb::sig("def csv_records_end(text: bytes | bytearray | memoryview, delimiter: str = ',', "
                  "longest_cell: int = 16777216) -> int"),
          "Where the last whole record ends in CSV text that goes on; 0 if there is none.");
    m.def(
        "csv_first_record", csv_first_record, nb::arg("text"), nb::arg("delimiter") = ",",
        nb::arg("longest_cell") = size_t{1} << 24,
        nb::sig("def csv_first_record(text: bytes | bytearray | memoryview, delimiter: str = ',', "
                "longest_cell: int = 16777216) -> tuple[list[str] | None, int]"),
        "The cells of the first record (None if it is malformed), and where the next begins.");
    m.def("murmur3", murmur3_of, nb::arg("key"), nb::arg("seed") = 0,
          "MurmurHash3_x86_32 of a key.");
}

}  // namespace rosenblatt
