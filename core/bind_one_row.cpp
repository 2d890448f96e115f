// One row at a time: names and values of a Python row become columns and numbers, the row is
// answered, then every machine visits it.
//
// The answer is that of `predict`: the weights that are kept are the last ones, or their average
// (T w - u) / T after T visits. The visits are those of the common loop (visit.cpp) on a block of
// one row in an epoch that never ends, so a loop over rows gives the bits of `fit` in order.
//
// Everything else is left to Python, which raises our errors or makes room; the model is unchanged
// then: a row that is not a dict of floats or a float64 array, an unknown label, a column
// beyond the room there is, and numbers so large or small that a score or a weight might overflow.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "bind_feature_index.hpp"
#include "bind_machine.hpp"
#include "cpu.hpp"
#include "parse_libsvm.hpp"
#include "scores.hpp"

namespace rosenblatt {
namespace {

// How a model writes its rows.
enum class RowKind : int32_t { none, names, columns, arrays };

// Rows with values up to LARGE, and with one of at least SMALL, cannot overflow a model whose
// parameters and weights are as moderate: steps are below 1e90, and there are fewer than 1e60.
constexpr double LARGE = 1e30, SMALL = 1e-30;

bool moderate(double largest) { return largest <= LARGE && (largest >= SMALL || largest == 0.0); }

bool is_numpy_number(PyObject* value) {
    const char* name = Py_TYPE(value)->tp_name;
    if (std::strncmp(name, "numpy.", 6) != 0) return false;
    for (const char* kind : {"float", "int", "uint", "bool"})
        if (std::strncmp(name + 6, kind, std::strlen(kind)) == 0) return true;
    return false;
}

// A number as Python has it; false for anything else, and for large numbers that may be integers
// which double rounds. Runs no Python code.
bool number(PyObject* value, double& out) {
    if (PyFloat_Check(value)) {
        out = PyFloat_AS_DOUBLE(value);
        return true;
    }
    if (PyLong_Check(value))
        out = PyLong_AsDouble(value);
    else if (is_numpy_number(value))
        out = PyFloat_AsDouble(value);
    else
        return false;
    if (out == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return false;
    }
    return std::abs(out) < 0x1p53;
}

// A key that is a whole number, -1 for any other key.
int64_t key_number(PyObject* key) {
    if (!PyLong_CheckExact(key)) return -1;
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(key, &overflow);
    return overflow || number < 0 ? -1 : number;
}

// The bytes of a text; false for other objects, and for texts that UTF-8 cannot spell.
bool read_text(PyObject* object, std::string_view& out) {
    if (!PyUnicode_CheckExact(object)) return false;
    Py_ssize_t size;
    const char* const data = PyUnicode_AsUTF8AndSize(object, &size);
    if (data == nullptr) {
        PyErr_Clear();
        return false;
    }
    out = {data, static_cast<size_t>(size)};
    return true;
}

constexpr int64_t PLAIN_COLUMNS = LibsvmOptions{}.plain_columns;

// The least number of a column that is indexed; `plain` is negative if none is so far.
int64_t plain_limit(int64_t plain, int64_t n_features) {
    return plain < 0 ? std::max(PLAIN_COLUMNS, n_features) : plain;
}

// What a key and a value of a dict row name: {"age": 30} the feature ("", "age"), {"city": "Rome"}
// the feature ("city", "Rome") with value 1, {7: 0.5} column 7, and a number from `plain` on the
// feature ("", number). The texts are those of the row.
//
// Numbered columns are plain until a number beyond PLAIN_COLUMNS, or beyond those of a matrix before,
// appears. From that row on, those that the model does not have yet are indexed: their columns
// follow the plain ones in the order in which they appear.
struct Feature {
    std::string_view space, name;
    std::string digits;   // instead of `name`
    int64_t column = -1;  // if it is not named
    double value = 1.0;

    std::string_view spelled() const { return digits.empty() ? name : digits; }

    // False if this is left to Python. Runs no Python code.
    bool read(PyObject* key, PyObject* value_, bool named, int64_t plain) {
        if (named) {
            if (!read_text(key, name)) return false;
            if (PyUnicode_CheckExact(value_)) {
                space = name;
                return read_text(value_, name);
            }
        } else {
            const int64_t number_ = key_number(key);
            if (number_ < 0) return false;
            if (number_ < plain)
                column = number_;
            else
                digits = std::to_string(number_);
        }
        return number(value_, value) && std::isfinite(value);
    }
};

// A dict whose entries are what iteration gives.
bool is_plain_dict(PyObject* x) {
    return PyDict_Check(x) && Py_TYPE(x)->tp_iter == PyDict_Type.tp_iter;
}

// Between two rows: other threads may predict, and Ctrl-C is seen.
constexpr int64_t ROWS_BETWEEN_PAUSES = 1024;

void let_others_run() {
    {
        nb::gil_scoped_release release;
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// The buffer of a float64 array; data is null for anything else.
class ArrayView {
  public:
    explicit ArrayView(PyObject* object) {
        if (!PyObject_CheckBuffer(object)) return;
        if (PyObject_GetBuffer(object, &view_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
            PyErr_Clear();
            return;
        }
        held_ = true;
        const bool f64 = view_.format && std::strcmp(view_.format, "d") == 0;
        if (view_.ndim == 1 && view_.itemsize == 8 && f64)
            data = static_cast<const double*>(view_.buf), size = view_.shape[0];
    }
    ArrayView(const ArrayView&) = delete;
    ArrayView& operator=(const ArrayView&) = delete;
    ~ArrayView() {
        if (held_) PyBuffer_Release(&view_);
    }
    const double* data = nullptr;
    int64_t size = 0;

  private:
    Py_buffer view_;
    bool held_ = false;
};

class OnlineModel {
  public:
    OnlineModel(nb::list machines, nb::list labels, nb::object names, int kind,
                int64_t plain_columns, int64_t n_features, bool open, bool average,
                bool cannot_overflow, std::vector<int64_t> counts, int64_t n_rows,
                int64_t n_mistakes)
        : names(std::move(names)),
          n_features(n_features),
          counts(std::move(counts)),
          n_rows(n_rows),
          n_mistakes(n_mistakes),
          objects_(std::move(machines)),
          labels_(std::move(labels)),
          index_(nb::cast<FeatureIndex&>(this->names)),
          kind_(static_cast<RowKind>(kind)),
          plain_columns_(plain_columns),
          open_(open),
          average_(average),
          cannot_overflow_(cannot_overflow),
          poll_(nullptr),
          dense_(row_ops(Kind::dense_f64)),
          sparse_(row_ops(Kind::csr_f64_i32)) {
        for (nb::handle object : objects_)
            machines_.push_back(&nb::cast<MachineObject&>(object).machine);
        const size_t n = labels_.size();
        if (machines_.empty() || n == 0 || this->counts.size() != n)
            throw nb::value_error("a model has machines, labels and one count per label.");
        room_ = machines_[0]->planes.d;
        for (const Machine* m : machines_)
            if (m->planes.d != room_)
                throw nb::value_error("the machines differ in their number of features.");
        if (n_features > room_ || (kind_ == RowKind::arrays && n_features != room_))
            throw nb::value_error("there is no room for that many features.");
        const int64_t planes = n == 1 ? 0 : n == 2 ? 1 : int64_t(n);
        direct_ = machines_[0]->direct;
        if (direct_ ? machines_[0]->planes.n != planes : int64_t(machines_.size()) < planes)
            throw nb::value_error("there is no hyperplane for each class.");
        scores_.resize(size_t(planes));
        plain_ = !average;
        for (const Machine* m : machines_)
            plain_ = plain_ && (std::holds_alternative<Additive>(m->rule) ||
                                std::holds_alternative<Adaptive>(m->rule));
        for (size_t k = 0; k < n; ++k) numbers_[labels_[k]] = k;
    }
    ~OnlineModel() {
        for (const Known& known : known_) Py_XDECREF(known.key), Py_XDECREF(known.text);
    }
    OnlineModel(const OnlineModel&) = delete;
    OnlineModel& operator=(const OnlineModel&) = delete;

    // Learn from a row; false if Python must handle it.
    bool learn(nb::handle x, nb::handle y) {
        const int64_t label = number_of(y.ptr());
        if (label < 0 || !cannot_overflow_) return false;
        if (kind_ == RowKind::arrays) {
            const ArrayView view(x.ptr());
            if (!view.data || view.size != room_ || !fine(view.data, view.size, false))
                return false;
            return learn_row({dense_, view.data, nullptr, nullptr, 1, room_}, label);
        }
        Row row(*this);
        if (!row.read(x.ptr(), true)) return false;
        for (const Feature& feature : row.fresh) index_.add(feature.space, feature.spelled());
        n_features = row.width;
        return learn_row(row.rows(), label);
    }

    // The label of a row; NotImplemented if that is Python's to find or to refuse.
    nb::object predict(nb::handle x) {
        const nb::object other = nb::borrow(Py_NotImplemented);
        int64_t answer = -1;
        if (kind_ == RowKind::arrays) {
            const ArrayView view(x.ptr());
            if (!view.data || view.size != room_ || !fine(view.data, view.size, true)) return other;
            answer = answer_from_kept({dense_, view.data, nullptr, nullptr, 1, room_});
        } else {
            Row row(*this);
            if (!row.read(x.ptr(), false)) return other;
            answer = answer_from_kept(row.rows());
        }
        return answer < 0 ? other : nb::borrow(labels_[size_t(answer)]);
    }

    // Learn from many rows of class numbers y in order; `width` is the number of features
    // with theirs, `new_names` has the names of new ones. Returns the
    // number of rows that were learned from: fewer than all if one overflows, and -1 if nothing was
    // done, because the rows are not moderate and the call is not careful. Ctrl-C ends it after
    // some of the rows.
    int64_t learn_rows(const RowsObject& object, Input<int32_t, nb::ndim<1>> y, int64_t width,
                       const FeatureIndex& new_names, bool careful) {
        const Rows& all = object.rows;
        const Kind kind = all.ops->kind;
        if (width < n_features || width > room_)
            throw nb::value_error("there is no room for that many features.");
        if (all.d != room_ || int64_t(y.size()) != all.n)
            throw nb::value_error("rows need the features of the model, and one label each.");
        if (kind != Kind::dense_f64 && kind != Kind::csr_f64_i32 && kind != Kind::csr_f64_i64)
            throw nb::type_error("rows must be float64.");
        for (int64_t i = 0; i < all.n; ++i) {
            if (y.data()[i] < 0 || y.data()[i] >= int64_t(counts.size()))
                throw nb::value_error("a class number is not among the classes.");
            if (!careful && !(cannot_overflow_ && moderate(largest(one_of(all, i))))) return -1;
        }
        for (size_t k = 0; k < new_names.size(); ++k)
            index_.add(new_names.space(k), new_names.name(k));
        n_features = width;
        for (int64_t i = 0; i < all.n; ++i) {
            if (!learn_row(one_of(all, i), y.data()[i])) return i;
            if (i % ROWS_BETWEEN_PAUSES == ROWS_BETWEEN_PAUSES - 1) let_others_run();
        }
        return careful && !finite() ? all.n - 1 : all.n;
    }

    nb::object names;
    int64_t n_features;
    std::vector<int64_t> counts;  // rows of each class
    int64_t n_rows, n_mistakes;

  private:
    // A key, the value if it is a text, and their column; owned. Null where nothing is known.
    struct Known {
        PyObject *key = nullptr, *text = nullptr;
        int32_t column = 0;
    };

    // The entries of one row, in arrays that the model keeps. The arrays are taken out while a row
    // is read, so that another call cannot meet them half filled.
    class Row {
      public:
        explicit Row(OnlineModel& model) : model_(model) {
            columns_.swap(model.columns_), values_.swap(model.values_);
            fresh.swap(model.fresh_);
            columns_.clear(), values_.clear(), fresh.clear();
        }
        Row(const Row&) = delete;
        Row& operator=(const Row&) = delete;
        ~Row() {
            columns_.swap(model_.columns_), values_.swap(model_.values_);
            fresh.swap(model_.fresh_);
        }

        // Unknown features are counted in `width`, their names collected in `fresh`, and extreme
        // numbers refused; or, unless the model grows, left out. Nothing of the model changes.
        bool read(PyObject* x, bool grow) {
            if (!is_plain_dict(x) || model_.kind_ == RowKind::none) return false;
            const bool named = model_.kind_ == RowKind::names;
            const int64_t plain = model_.plain_columns_;
            const int64_t limit = plain_limit(plain, model_.n_features);
            const FeatureIndex& index = model_.index_;
            width = model_.n_features;
            const std::vector<Known>& known = model_.known_;
            Py_ssize_t next = 0;
            PyObject *key, *value;
            double most = 0.0;
            bool sorted = true;
            for (size_t p = 0; PyDict_Next(x, &next, &key, &value); ++p) {
                int64_t column;
                double v = 1.0;
                PyObject* const text = PyUnicode_CheckExact(value) ? value : nullptr;
                if (named && p < known.size() && known[p].key == key && known[p].text == text) {
                    column = known[p].column;
                    if (!text && !(number(value, v) && std::isfinite(v))) return false;
                } else {
                    Feature feature;
                    if (!feature.read(key, value, named, limit)) return false;
                    v = feature.value;
                    column = feature.column;
                    if (column < 0) {
                        if (!named && plain < 0) {  // Python begins to index the columns
                            if (grow) return false;
                            continue;
                        }
                        column = index.find(feature.space, feature.spelled());
                        if (column >= 0 && named) model_.remember(p, key, text, int32_t(column));
                        if (column >= 0 && !named) column += plain;
                    }
                    if (column < 0 || column >= width) {  // the model does not have it yet
                        if (!grow) continue;
                        if (column < 0) {
                            const auto n = int64_t(index.size() + fresh.size());
                            if (n >= index.max_features() || index.is_too_long(feature.space) ||
                                index.is_too_long(feature.spelled()))
                                return false;
                            column = named ? n : plain + n;
                            fresh.push_back(std::move(feature));
                        }
                        width = std::max(width, column + 1);
                        if (width > model_.room_) return false;
                    }
                }
                most = std::max(most, std::abs(v));
                sorted = sorted && (columns_.empty() || columns_.back() < column);
                columns_.push_back(int32_t(column));
                values_.push_back(v);
            }
            if (!sorted) sort_by_column(columns_.data(), values_.data(), columns_.size());
            return !grow || moderate(most);
        }
        Rows rows() {
            ends_[1] = int32_t(columns_.size());
            return {model_.sparse_, values_.data(), columns_.data(), ends_, 1, model_.room_};
        }

        std::vector<Feature> fresh;  // texts are those of the row
        int64_t width = 0;           // columns with this row

      private:
        OnlineModel& model_;
        std::vector<int32_t> columns_;
        std::vector<double> values_;
        int32_t ends_[2] = {0, 0};
    };

    // The feature at a position of a row; rows often have the same ones in the same order.
    void remember(size_t position, PyObject* key, PyObject* text, int32_t column) {
        if (known_.size() <= position) known_.resize(position + 1);
        Known& known = known_[position];
        Py_INCREF(key);
        Py_XINCREF(text);
        Py_XDECREF(std::exchange(known.key, key));
        Py_XDECREF(std::exchange(known.text, text));
        known.column = column;
    }

    // The number of a class, -1 if the label is not known.
    int64_t number_of(PyObject* label) {
        PyObject* found = PyDict_GetItemWithError(numbers_.ptr(), label);
        if (found) return PyLong_AsLong(found);
        if (PyErr_Occurred()) {
            if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
            PyErr_Clear();  // a label that has no hash
        }
        return -1;
    }

    static bool fine(const double* values, int64_t n, bool careful) {
        double most = 0.0;
        bool finite = true;
        for (int64_t j = 0; j < n; ++j) {
            finite &= std::abs(values[j]) <= std::numeric_limits<double>::max();
            most = std::max(most, std::abs(values[j]));
        }
        return finite && (careful || moderate(most));
    }
    static double largest(const Rows& row) {
        double most = 0.0;
        each(row, [&](int64_t, double v) { most = std::max(most, std::abs(v)); });
        return most;
    }

    // Calls f(column, value) for the entries of a row.
    template <class F>
    static void each(const Rows& row, F f) {
        const auto* values = static_cast<const double*>(row.data);
        if (!row.indptr) {
            for (int64_t j = 0; j < row.d; ++j) f(j, values[j]);
        } else if (row.ops->kind == Kind::csr_f64_i32) {
            const auto* ends = static_cast<const int32_t*>(row.indptr);
            const auto* columns = static_cast<const int32_t*>(row.indices);
            for (int32_t e = ends[0]; e < ends[1]; ++e) f(int64_t(columns[e]), values[e]);
        } else {
            const auto* ends = static_cast<const int64_t*>(row.indptr);
            const auto* columns = static_cast<const int64_t*>(row.indices);
            for (int64_t e = ends[0]; e < ends[1]; ++e) f(columns[e], values[e]);
        }
    }
    static Rows one_of(const Rows& all, int64_t i) {
        Rows one = all;
        one.n = 1;
        if (!all.indptr)
            one.data = static_cast<const double*>(all.data) + i * all.d;
        else if (all.ops->kind == Kind::csr_f64_i32)
            one.indptr = static_cast<const int32_t*>(all.indptr) + i;
        else
            one.indptr = static_cast<const int64_t*>(all.indptr) + i;
        return one;
    }

    // w.x + b of the weights that are kept, in the lanes of the row operations.
    double kept_score(const Machine& m, int64_t plane, const Rows& row) const {
        const Hyperplane h = m.planes[plane];
        if (plain_) return row.ops->dot(row, 0, h.w) + *h.b;
        const double T = m.counters.visits;
        const bool begun = m.in_epoch;  // before the first visit, weights are stored as they are
        const auto kept = [&](SettledWeight s) {
            return average_ && T != 0.0 ? (T * s.w - s.u) / T : s.w;
        };
        return std::visit(
            [&](const auto& rule) {
                if constexpr (std::is_base_of_v<BaseRule, std::decay_t<decltype(rule)>>) {
                    double s[LANES] = {};
                    const BaseRule& base = rule;
                    each(row, [&](int64_t j, double v) {
                        const SettledWeight w =
                            begun ? rule.settled(h, j, T) : base.settled(h, j, T);
                        s[j % LANES] += v * kept(w);
                    });
                    for (int half = LANES / 2; half; half /= 2)
                        for (int l = 0; l < half; ++l) s[l] += s[l + half];
                    return s[0] +
                           kept(begun ? rule.settled_offset(h, T) : base.settled_offset(h, T));
                }
                return 0.0;
            },
            m.rule);
    }

    // The class that `predict` gives, -1 if a score is not finite.
    int64_t answer_from_kept(const Rows& row) {
        for (size_t k = 0; k < scores_.size(); ++k)
            scores_[k] = direct_ ? kept_score(*machines_[0], int64_t(k), row)
                                 : kept_score(*machines_[k], 0, row);
        return answer();
    }
    int64_t answer() const {
        for (const double s : scores_)
            if (!std::isfinite(s)) return -1;
        if (scores_.empty()) return 0;
        return decided_class(scores_.data(), static_cast<int64_t>(scores_.size()));
    }

    // Answer a row, then let all machines visit it.
    bool learn_row(const Rows& row, int64_t label) {
        int64_t found = 0;
        if (!plain_ && (found = answer_from_kept(row)) < 0) return false;
        const auto y = static_cast<int32_t>(label);
        for (size_t k = 0; k < machines_.size(); ++k) {
            double* seen = !plain_ || k >= scores_.size() ? nullptr : &scores_[k];
            if (direct_ && k > 0) seen = nullptr;
            const Block block{row, &y, nullptr, seen};
            const Code code =
                visit(*machines_[k], block, std::numeric_limits<int64_t>::max(), poll_);
            if (code != Code::running) return false;
        }
        if (plain_ && (found = answer()) < 0) return false;
        ++n_rows;
        n_mistakes += found != label || (open_ && counts[size_t(label)] == 0);
        ++counts[size_t(label)];
        return true;
    }

    bool finite() const {
        for (const Machine* m : machines_)
            for (int64_t k = 0; k < m->planes.n; ++k) {
                const Hyperplane h = m->planes[k];
                if (!all_finite(h.w, h.d) || !all_finite(h.b, 1)) return false;
                if (h.u && !(all_finite(h.u, h.d) && all_finite(h.ub, 1))) return false;
            }
        return true;
    }

    nb::list objects_;
    std::vector<Machine*> machines_;
    nb::list labels_;
    nb::dict numbers_;
    FeatureIndex& index_;
    RowKind kind_;
    int64_t plain_columns_;
    bool open_, average_, cannot_overflow_;
    bool direct_ = false, plain_ = true;
    int64_t room_ = 0;
    Poll poll_;
    const RowOps *dense_, *sparse_;
    std::vector<double> scores_;
    std::vector<int32_t> columns_;
    std::vector<double> values_;
    std::vector<Feature> fresh_;
    std::vector<Known> known_;  // the features of the last rows, by position
};

// The entries of dicts in CSR form: (values, columns, row starts, number of features, new names,
// plain_columns), or None if a row is not a dict of finite numbers by name or, if not `named`, by column, or if a
// name is beyond the limits of the index. New names get the next columns; `names` stays as it is.
nb::object index_rows(nb::list rows, const FeatureIndex& names, int64_t plain_columns,
                      int64_t n_features, bool named) {
    const auto n_known = int64_t(names.size());
    FeatureIndex fresh(0, std::max<int64_t>(0, names.max_features() - n_known),
                       names.max_name_bytes());
    std::vector<double> values;
    std::vector<int32_t> columns;
    std::vector<int64_t> ends{0};
    struct Known {
        PyObject *key, *text;
        int64_t column;
    };
    std::vector<Known> last;  // features of the last row
    for (size_t i = 0; i < rows.size(); ++i) {
        const nb::object row = nb::borrow(rows[i]);
        if (!is_plain_dict(row.ptr())) return nb::none();
        Py_ssize_t next = 0;
        PyObject *key, *value;
        bool sorted = true;
        bool begins_again = false;
        const auto begin = size_t(ends.back());
        const int64_t before = n_features, limit = plain_limit(plain_columns, before);
        for (size_t p = 0; PyDict_Next(row.ptr(), &next, &key, &value); ++p) {
            int64_t column;
            double v = 1.0;
            PyObject* const text = PyUnicode_CheckExact(value) ? value : nullptr;
            if (named && p < last.size() && last[p].key == key && last[p].text == text) {
                column = last[p].column;
                if (!text && !(number(value, v) && std::isfinite(v))) return nb::none();
            } else {
                Feature feature;
                if (!feature.read(key, value, named, limit)) return nb::none();
                v = feature.value;
                column = feature.column;
                if (column < 0 && !named && plain_columns < 0) {  // begin the row again
                    plain_columns = n_features = before;
                    columns.resize(begin), values.resize(begin), last.clear();
                    --i;
                    begins_again = true;
                    break;
                }
                if (column < 0) {
                    column = names.find(feature.space, feature.spelled());
                    if (column < 0) {
                        column = fresh.add(feature.space, feature.spelled());
                        if (column < 0) return nb::none();
                        column += n_known;
                    }
                    if (!named) column += plain_columns;
                }
                if (column > FeatureIndex::MOST) return nb::none();
                n_features = std::max(n_features, column + 1);
                last.resize(std::max(last.size(), p + 1));
                last[p] = {key, text, column};
            }
            sorted = sorted && (int64_t(columns.size()) == ends.back() || columns.back() < column);
            columns.push_back(int32_t(column));
            values.push_back(v);
        }
        if (begins_again) continue;
        if (!sorted)
            sort_by_column(columns.data() + begin, values.data() + begin, columns.size() - begin);
        ends.push_back(int64_t(columns.size()));
    }
    const std::vector<int64_t> wide(columns.begin(), columns.end());  // both of one type
    return nb::make_tuple(copied(values), copied(wide), copied(ends), n_features, fresh,
                          plain_columns);
}

}  // namespace

void bind_one_row(nb::module_& m) {
    nb::class_<OnlineModel>(m, "OnlineModel", "Machines that learn from one Python row at a time.")
        .def(nb::init<nb::list, nb::list, nb::object, int, int64_t, int64_t, bool, bool, bool,
                      std::vector<int64_t>, int64_t, int64_t>(),
             nb::arg("machines"), nb::arg("labels"), nb::arg("names"), nb::arg("kind"),
             nb::arg("plain_columns"), nb::arg("n_features"), nb::arg("open"), nb::arg("average"),
             nb::arg("cannot_overflow"), nb::arg("counts"), nb::arg("n_rows"),
             nb::arg("n_mistakes"))
        .def("learn", &OnlineModel::learn, nb::arg("x").none(), nb::arg("y").none(),
             "Learn from a row; False if nothing was done: Python says why, or makes room.")
        .def("learn_rows", &OnlineModel::learn_rows, nb::arg("rows"), nb::arg("y"),
             nb::arg("n_features"), nb::arg("new_names"), nb::arg("careful"),
             "Learn from rows in order; how many were learned from, -1 if care is needed first.")
        .def("predict", &OnlineModel::predict, nb::arg("x").none(),
             "The label of a row, or NotImplemented.")
        .def_ro("names", &OnlineModel::names)
        .def_ro("n_features", &OnlineModel::n_features)
        .def_ro("counts", &OnlineModel::counts)
        .def_ro("n_rows", &OnlineModel::n_rows)
        .def_ro("n_mistakes", &OnlineModel::n_mistakes);
    m.def("index_rows", index_rows, nb::arg("rows"), nb::arg("names"), nb::arg("plain_columns"),
          nb::arg("n_features"), nb::arg("named"),
          nb::sig("def index_rows(rows: list, names: FeatureIndex, plain_columns: int, "
                  "n_features: int, named: bool) -> "
                  "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], "
                  "numpy.typing.NDArray[numpy.int64], int, FeatureIndex, int] | None"),
          "Dict rows in CSR form: values, columns, row starts, number of features, new names, and\n"
          "plain_columns.");
}

}  // namespace rosenblatt
