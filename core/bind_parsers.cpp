// Text parsers for Python: a block of lines in, numpy arrays out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "bind.hpp"
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

ParsedRowsObject parse_libsvm_block(nb::handle text, std::optional<bool> zero_based,
                                    int64_t max_index) {
    LibsvmOptions options;
    if (zero_based) options.base = *zero_based ? IndexBase::zero : IndexBase::one;
    if (max_index < 0 || max_index > std::numeric_limits<int32_t>::max()) {
        throw nb::value_error("max_index must be between 0 and 2**31 - 1.");
    }
    options.max_index = max_index;
    return parse_block(text, [&](const char* data, size_t size, ParsedRows& rows) {
        return parse_libsvm(data, size, options, rows);
    });
}

ParsedRowsObject parse_vw_block(nb::handle text, int bits, bool hash_all, bool constant) {
    if (bits < 1 || bits > 30) throw nb::value_error("bits must be between 1 and 30.");
    const VwOptions options{bits, hash_all, constant};
    return parse_block(text, [&](const char* data, size_t size, ParsedRows& rows) {
        return parse_vw(data, size, options, rows);
    });
}

uint32_t murmur3_of(nb::bytes key, uint32_t seed) { return murmur3(key.c_str(), key.size(), seed); }

}  // namespace

void bind_parsers(nb::module_& m) {
    nb::enum_<LineError>(m, "LineError", "Why a line is malformed.")
        .value("OUT_OF_RANGE", LineError::out_of_range)
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
        .value("AFTER_FEATURE", LineError::after_feature);
    nb::class_<BadLine>(m, "BadLine", "A malformed line: where it is wrong, and why.")
        .def_ro("line", &BadLine::line, "Number of the line in the block, from 1.")
        .def_ro("column", &BadLine::column, "Byte of the line, from 1.")
        .def_ro("offset", &BadLine::offset, "Byte of the block, from 0.")
        .def_ro("error", &BadLine::error);
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
          nb::arg("max_index") = LibsvmOptions{}.max_index,
          nb::sig("def parse_libsvm(text: bytes | bytearray | memoryview | "
                  "numpy.typing.NDArray[numpy.uint8], zero_based: bool | None = None, "
                  "max_index: int = 2147483646) -> ParsedRows"),
          "Parse lines of LIBSVM text. zero_based=None: indices count from 1, and 0 becomes "
          "column -1. max_index is the largest index allowed, as written.");
    m.def("parse_vw", parse_vw_block, nb::arg("text"), nb::arg("bits") = 18,
          nb::arg("hash_all") = false, nb::arg("constant") = false,
          nb::sig("def parse_vw(text: bytes | bytearray | memoryview | "
                  "numpy.typing.NDArray[numpy.uint8], bits: int = 18, hash_all: bool = False, "
                  "constant: bool = False) -> ParsedRows"),
          "Parse lines of VW text. Columns are those of Vowpal Wabbit with -b BITS.");
    m.def("murmur3", murmur3_of, nb::arg("key"), nb::arg("seed") = 0,
          "MurmurHash3_x86_32 of a key.");
}

}  // namespace rosenblatt
