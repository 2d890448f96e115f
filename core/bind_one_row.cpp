// One row at a time: names and values of a Python row become columns and numbers, the row is
// answered, then every machine visits it.
//
// The answer is that of `predict`: the weights that are kept are the last ones, or their average
// (T w - u) / T after T visits. Two classes: a score >= 0 is the second one; more: the first of
// those with the highest score. The visits are those of the common loop (visit.cpp) on a block of
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

#include "bind_machine.hpp"
#include "cpu.hpp"

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

constexpr int64_t MOST_COLUMNS = std::numeric_limits<int32_t>::max();

// The column of a key that is a whole number, -1 for any other key.
int64_t numbered_column(PyObject* key) {
    if (!PyLong_CheckExact(key)) return -1;
    int overflow = 0;
    const long long column = PyLong_AsLongLongAndOverflow(key, &overflow);
    return overflow || column < 0 || column >= MOST_COLUMNS ? -1 : column;
}

// The column of a name, -1 if it has none.
int64_t named_column(const nb::dict& names, PyObject* name) {
    PyObject* found = PyDict_GetItemWithError(names.ptr(), name);
    if (found) return PyLong_AsLong(found);
    if (PyErr_Occurred()) throw nb::python_error();
    return -1;
}

// A dict whose entries are what iteration gives.
bool is_plain_dict(PyObject* x) {
    return PyDict_Check(x) && Py_TYPE(x)->tp_iter == PyDict_Type.tp_iter;
}

// Sort the entries of a row; most rows are nearly sorted or short.
void sort_by_column(int32_t* columns, double* values, size_t n) {
    if (n > 64) {
        std::vector<std::pair<int32_t, double>> entries(n);
        for (size_t i = 0; i < n; ++i) entries[i] = {columns[i], values[i]};
        std::sort(entries.begin(), entries.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        for (size_t i = 0; i < n; ++i) std::tie(columns[i], values[i]) = entries[i];
        return;
    }
    for (size_t i = 1; i < n; ++i) {
        const int32_t column = columns[i];
        const double value = values[i];
        size_t m = i;
        for (; m > 0 && columns[m - 1] > column; --m)
            columns[m] = columns[m - 1], values[m] = values[m - 1];
        columns[m] = column, values[m] = value;
    }
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
    OnlineModel(nb::list machines, nb::list labels, nb::dict names, int kind, int64_t n_features,
                bool open, bool average, bool cannot_overflow, std::vector<int64_t> counts,
                int64_t n_rows, int64_t n_mistakes)
        : names(std::move(names)),
          n_features(n_features),
          counts(std::move(counts)),
          n_rows(n_rows),
          n_mistakes(n_mistakes),
          objects_(std::move(machines)),
          labels_(std::move(labels)),
          kind_(static_cast<RowKind>(kind)),
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
    ~OnlineModel() { forget(keys_); }
    OnlineModel(const OnlineModel&) = delete;
    OnlineModel& operator=(const OnlineModel&) = delete;

    // Learn from a row; false if Python must handle it. Careful: extreme numbers are tried, on a
    // copy that is discarded if they were too large.
    bool learn(nb::handle x, nb::handle y, bool careful) {
        const int64_t label = number_of(y.ptr());
        if (label < 0 || !(cannot_overflow_ || careful)) return false;
        if (kind_ == RowKind::arrays) {
            const ArrayView view(x.ptr());
            if (!view.data || view.size != room_ || !fine(view.data, view.size, careful))
                return false;
            return learn_row({dense_, view.data, nullptr, nullptr, 1, room_}, label) &&
                   (!careful || finite());
        }
        Row row(*this);
        if (!row.read(x.ptr(), true, careful)) return false;
        for (PyObject* name : row.fresh) {
            nb::int_ column(n_features);
            if (PyDict_SetItem(names.ptr(), name, column.ptr()) != 0) throw nb::python_error();
            ++n_features;
        }
        n_features = row.width;
        return learn_row(row.rows(), label) && (!careful || finite());
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
            if (!row.read(x.ptr(), false, true)) return other;
            answer = answer_from_kept(row.rows());
        }
        return answer < 0 ? other : nb::borrow(labels_[size_t(answer)]);
    }

    // Learn from many rows of class numbers y in order; `width` is the number of features
    // with theirs, `new_names` has the columns of new ones. Returns the
    // number of rows that were learned from: fewer than all if one overflows, and -1 if nothing was
    // done, because the rows are not moderate and the call is not careful. Ctrl-C ends it after
    // some of the rows.
    int64_t learn_rows(const RowsObject& object, Input<int32_t, nb::ndim<1>> y, int64_t width,
                       nb::dict new_names, bool careful) {
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
        if (PyDict_Update(names.ptr(), new_names.ptr()) != 0) throw nb::python_error();
        n_features = width;
        for (int64_t i = 0; i < all.n; ++i) {
            if (!learn_row(one_of(all, i), y.data()[i])) return i;
            if (i % ROWS_BETWEEN_PAUSES == ROWS_BETWEEN_PAUSES - 1) let_others_run();
        }
        return careful && !finite() ? all.n - 1 : all.n;
    }

    nb::dict names;
    int64_t n_features;
    std::vector<int64_t> counts;  // rows of each class
    int64_t n_rows, n_mistakes;

  private:
    using Keys = std::vector<PyObject*>;  // owned; null where a name is not known

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

        // Unknown features are counted in `width`, their names collected in `fresh`; or, unless the
        // model grows, left out. Nothing of the model changes.
        bool read(PyObject* x, bool grow, bool careful) {
            if (!is_plain_dict(x) || model_.kind_ == RowKind::none) return false;
            const bool named = model_.kind_ == RowKind::names;
            width = model_.n_features;
            Keys& keys = model_.keys_;
            std::vector<int32_t>& known = model_.known_;
            Py_ssize_t next = 0;
            PyObject *key, *value;
            double most = 0.0;
            bool sorted = true;
            for (size_t p = 0; PyDict_Next(x, &next, &key, &value); ++p) {
                int64_t column;
                if (named && p < keys.size() && keys[p] == key) {
                    column = known[p];
                } else if (named) {
                    if (!PyUnicode_CheckExact(key)) return false;
                    column = named_column(model_.names, key);
                    if (column >= 0) model_.remember(p, key, int32_t(column));
                } else {
                    column = numbered_column(key);
                    if (column < 0) return false;
                }
                if (column < 0 || column >= width) {  // the model does not have it yet
                    if (!grow) continue;
                    if (named) column = width, fresh.push_back(key);
                    width = column + 1;
                    if (width > model_.room_) return false;
                }
                double v;
                if (!number(value, v) || !std::isfinite(v)) return false;
                most = std::max(most, std::abs(v));
                sorted = sorted && (columns_.empty() || columns_.back() < column);
                columns_.push_back(int32_t(column));
                values_.push_back(v);
            }
            if (!sorted) sort_by_column(columns_.data(), values_.data(), columns_.size());
            return careful || moderate(most);
        }
        Rows rows() {
            ends_[1] = int32_t(columns_.size());
            return {model_.sparse_, values_.data(), columns_.data(), ends_, 1, model_.room_};
        }

        std::vector<PyObject*> fresh;  // borrowed from the row
        int64_t width = 0;             // columns with this row

      private:
        OnlineModel& model_;
        std::vector<int32_t> columns_;
        std::vector<double> values_;
        int32_t ends_[2] = {0, 0};
    };

    // The column of the name at a position of a row; rows often have the same names in a row.
    void remember(size_t position, PyObject* key, int32_t column) {
        while (keys_.size() <= position) keys_.push_back(nullptr), known_.push_back(0);
        Py_INCREF(key);
        Py_XDECREF(std::exchange(keys_[position], key));
        known_[position] = column;
    }
    static void forget(Keys& keys) {
        for (PyObject* key : keys) Py_XDECREF(key);
        keys.clear();
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
        if (scores_.size() == 1) return scores_[0] >= 0.0 ? 1 : 0;
        return std::max_element(scores_.begin(), scores_.end()) - scores_.begin();
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
    RowKind kind_;
    bool open_, average_, cannot_overflow_;
    bool direct_ = false, plain_ = true;
    int64_t room_ = 0;
    Poll poll_;
    const RowOps *dense_, *sparse_;
    std::vector<double> scores_;
    std::vector<int32_t> columns_;
    std::vector<double> values_;
    std::vector<PyObject*> fresh_;
    Keys keys_;                   // names of the last row, by position,
    std::vector<int32_t> known_;  // and their columns
};

// The entries of dicts in CSR form: (values, columns, row starts, number of features, new names),
// or None if a row is not a dict of finite numbers by name or, if not `named`, by column. A name
// that `names` does not have gets the next column; `names` stays as it is.
nb::object index_rows(nb::list rows, nb::dict names, int64_t n_features, bool named) {
    nb::dict fresh;
    std::vector<double> values;
    std::vector<int32_t> columns;
    std::vector<int64_t> ends{0};
    std::vector<std::pair<PyObject*, int64_t>> last;  // names and columns of the last row
    for (size_t i = 0; i < rows.size(); ++i) {
        const nb::object row = nb::borrow(rows[i]);
        if (!is_plain_dict(row.ptr())) return nb::none();
        Py_ssize_t next = 0;
        PyObject *key, *value;
        bool sorted = true;
        for (size_t p = 0; PyDict_Next(row.ptr(), &next, &key, &value); ++p) {
            int64_t column;
            if (!named) {
                column = numbered_column(key);
                n_features = std::max(n_features, column + 1);
            } else if (p < last.size() && last[p].first == key) {
                column = last[p].second;
            } else {
                if (!PyUnicode_CheckExact(key)) return nb::none();
                column = named_column(names, key);
                if (column < 0) column = named_column(fresh, key);
                if (column < 0) fresh[nb::handle(key)] = column = n_features++;
                last.resize(std::max(last.size(), p + 1));
                last[p] = {key, column};
            }
            double v;
            if (column < 0 || column >= MOST_COLUMNS) return nb::none();
            if (!number(value, v) || !std::isfinite(v)) return nb::none();
            sorted = sorted && (int64_t(columns.size()) == ends.back() || columns.back() < column);
            columns.push_back(int32_t(column));
            values.push_back(v);
        }
        const auto first = size_t(ends.back());
        if (!sorted)
            sort_by_column(columns.data() + first, values.data() + first, columns.size() - first);
        ends.push_back(int64_t(columns.size()));
    }
    const std::vector<int64_t> wide(columns.begin(), columns.end());  // both of one type
    return nb::make_tuple(copied(values), copied(wide), copied(ends), n_features, fresh);
}

}  // namespace

void bind_one_row(nb::module_& m) {
    nb::class_<OnlineModel>(m, "OnlineModel", "Machines that learn from one Python row at a time.")
        .def(nb::init<nb::list, nb::list, nb::dict, int, int64_t, bool, bool, bool,
                      std::vector<int64_t>, int64_t, int64_t>(),
             nb::arg("machines"), nb::arg("labels"), nb::arg("names"), nb::arg("kind"),
             nb::arg("n_features"), nb::arg("open"), nb::arg("average"), nb::arg("cannot_overflow"),
             nb::arg("counts"), nb::arg("n_rows"), nb::arg("n_mistakes"))
        .def(
            "learn",
            [](OnlineModel& self, nb::handle x, nb::handle y) { return self.learn(x, y, false); },
            nb::arg("x").none(), nb::arg("y").none(),
            "Learn from a row; False if nothing was done: Python says why, or makes room.")
        .def(
            "learn_carefully",
            [](OnlineModel& self, nb::handle x, nb::handle y) { return self.learn(x, y, true); },
            nb::arg("x").none(), nb::arg("y").none(),
            "Learn from a row of any numbers; False if it overflows; then discard the model.")
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
    m.def("index_rows", index_rows, nb::arg("rows"), nb::arg("names"), nb::arg("n_features"),
          nb::arg("named"),
          nb::sig("def index_rows(rows: list, names: dict, n_features: int, named: bool) -> "
                  "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], "
                  "numpy.typing.NDArray[numpy.int64], int, dict[str, int]] | None"),
          "Dict rows in CSR form: values, columns, row starts, number of features, new names.");
}

}  // namespace rosenblatt
