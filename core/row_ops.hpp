// The operations of rows.hpp, written once for all kinds of rows and compiled once per instruction set.
//
// ROSENBLATT_ISA names the instruction set (v2, v3, v4, or base), ROSENBLATT_WIDTH is the width of its
// vectors in bytes. Everything here has internal linkage: a weak symbol, as an inline function of the
// standard library makes one, could be taken from the object for AVX-512 and run on a processor
// without it. So nothing but <cstdint> and <cstddef> is included (.ci/check_symbols.py tests this).
#pragma once
#include "rows.hpp"

#if !defined(ROSENBLATT_ISA) || !defined(ROSENBLATT_WIDTH)
#error "compile this file with ROSENBLATT_ISA and ROSENBLATT_WIDTH, see CMakeLists.txt"
#endif

namespace rosenblatt::ROSENBLATT_ISA {
namespace {

constexpr int LANES = 8;
constexpr double LARGEST = 1.7976931348623157e308;  // z <= LARGEST: z < inf

// Eight lanes to one sum, by halves (see rows.hpp).
inline double fold(double* s) {
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) s[l] += s[l + half];
    return s[0];
}

// Eight lanes in registers: l += x * w, eight columns at once. Compilers without vector extensions
// have plain arrays; the bits are the same.
#if defined(__GNUC__) || defined(__clang__)
constexpr int PER = ROSENBLATT_WIDTH / 8;  // float64 per vector
constexpr int PARTS = LANES / PER;         // vectors per eight lanes
using Vector = double __attribute__((vector_size(ROSENBLATT_WIDTH)));
using Vector64 = double __attribute__((vector_size(ROSENBLATT_WIDTH), aligned(8), may_alias));
using Vector32 = float __attribute__((vector_size(ROSENBLATT_WIDTH / 2), aligned(4), may_alias));

inline Vector load_vector(const double* p) { return *reinterpret_cast<const Vector64*>(p); }
inline Vector load_vector(const float* p) {
    return __builtin_convertvector(*reinterpret_cast<const Vector32*>(p), Vector);
}
inline void prefetch(const void* p) { __builtin_prefetch(p, 0, 3); }
#else
constexpr int PER = 1;
constexpr int PARTS = LANES;
using Vector = double;
inline Vector load_vector(const double* p) { return *p; }
inline Vector load_vector(const float* p) { return double(*p); }
inline void prefetch(const void*) {}
#endif

struct Lanes {
    Vector part[PARTS];

    // lane l += x[l] * w[l]
    template <class T>
    void add_product(const T* x, const double* w) {
        for (int k = 0; k < PARTS; ++k)
            part[k] += load_vector(x + k * PER) * load_vector(w + k * PER);
    }

    // The sum of the lanes, after lane l += x[l] * w[l] for the l < tail that remain.
    template <class T>
    double sum(const T* x, const double* w, int64_t tail) const {
        double s[LANES];
        for (int k = 0; k < PARTS; ++k)
            for (int l = 0; l < PER; ++l)
#if defined(__GNUC__) || defined(__clang__)
                s[k * PER + l] = part[k][l];
#else
                s[k * PER + l] = part[k];
#endif
        for (int64_t l = 0; l < tail; ++l) s[l] += double(x[l]) * w[l];
        return fold(s);
    }
};

// Rows that a scan will visit soon are fetched ahead, when it does not visit them in order: NEAR
// visits before their turn, at most LINES cache lines of each; of CSR rows indptr FAR visits before.
constexpr int64_t NEAR = 6, FAR = 12, LINES = 16, LINE = 64;

inline void prefetch_range(const void* from, int64_t bytes) {
    const char* p = static_cast<const char*>(from);
    for (int64_t k = 0; k < bytes && k < LINES * LINE; k += LINE) prefetch(p + k);
}

template <class T>
struct Dense {
    const Rows& rows;

    const T* at(int64_t i) const { return static_cast<const T*>(rows.data) + i * rows.d; }

    // f(j, x_j) for each entry
    template <class F>
    void each(int64_t i, F f) const {
        const T* x = at(i);
        for (int64_t j = 0; j < rows.d; ++j) f(j, double(x[j]));
    }

    // sum of f(j, x_j), in lanes
    template <class F>
    double sum(int64_t i, F f) const {
        const T* x = at(i);
        double s[LANES] = {};
        int64_t j = 0;
        for (; j + LANES <= rows.d; j += LANES)
            for (int l = 0; l < LANES; ++l) s[l] += f(j + l, double(x[j + l]));
        for (int l = 0; j + l < rows.d; ++l) s[l] += f(j + l, double(x[j + l]));
        return fold(s);
    }

    double dot(int64_t i, const double* w) const {
        const T* x = at(i);
        Lanes s = {};
        int64_t j = 0;
        for (; j + LANES <= rows.d; j += LANES) s.add_product(x + j, w + j);
        return s.sum(x + j, w + j, rows.d - j);
    }

    Entries load(int64_t i, const Scratch& scratch) const {
        const T* x = at(i);
        if constexpr (sizeof(T) == sizeof(double)) {
            return {nullptr, reinterpret_cast<const double*>(x), rows.d};
        } else {
            for (int64_t j = 0; j < rows.d; ++j) scratch.values[j] = double(x[j]);
            return {nullptr, scratch.values, rows.d};
        }
    }

    void prefetch_ahead(const Scan& scan, int64_t t) const {
        if (t + NEAR < scan.n)
            prefetch_range(at(scan.order[t + NEAR]), rows.d * int64_t(sizeof(T)));
    }

    // Scores of R rows with P planes: each value and each weight is loaded once for R * P products.
    template <int R, int P>
    void tile(const double* W, const double* b, int64_t planes, double* out, int64_t i) const {
        const int64_t d = rows.d;
        const T* x = at(i);
        Lanes s[R][P] = {};
        int64_t j = 0;
        for (; j + LANES <= d; j += LANES)
            for (int k = 0; k < PARTS; ++k) {
                Vector v[R];
                for (int r = 0; r < R; ++r) v[r] = load_vector(x + r * d + j + k * PER);
                for (int p = 0; p < P; ++p) {
                    const Vector w = load_vector(W + p * d + j + k * PER);
                    for (int r = 0; r < R; ++r) s[r][p].part[k] += v[r] * w;
                }
            }
        for (int r = 0; r < R; ++r)
            for (int p = 0; p < P; ++p)
                out[r * planes + p] = s[r][p].sum(x + r * d + j, W + p * d + j, d - j) + b[p];
    }

    template <int R>
    void row_scores(const double* W, const double* b, int64_t planes, double* out,
                    int64_t i) const {
        const int64_t d = rows.d;
        int64_t p = 0;
        for (; p + PLANES <= planes; p += PLANES)
            tile<R, PLANES>(W + p * d, b + p, planes, out + p, i);
        if (PLANES > 2 && p + 2 <= planes) {
            tile<R, 2>(W + p * d, b + p, planes, out + p, i);
            p += 2;
        }
        if (PLANES > 4 && p + 2 <= planes) {
            tile<R, 2>(W + p * d, b + p, planes, out + p, i);
            p += 2;
        }
        if (p < planes) tile<R, 1>(W + p * d, b + p, planes, out + p, i);
    }

    // Tiles fill the registers: R * P * PARTS sums and R values.
    static constexpr int ROWS = ROSENBLATT_WIDTH == 64 ? 4 : ROSENBLATT_WIDTH == 32 ? 2 : 1;
    static constexpr int PLANES = ROSENBLATT_WIDTH == 64 ? 5 : ROSENBLATT_WIDTH == 32 ? 3 : 3;

    void scores(const double* W, const double* b, int64_t planes, double* out, int64_t first,
                int64_t last) const {
        int64_t i = first;
        for (; i + ROWS <= last; i += ROWS)
            row_scores<ROWS>(W, b, planes, out + i * planes, i);
        for (; i < last; ++i) row_scores<1>(W, b, planes, out + i * planes, i);
    }
};

template <class T, class I>
struct Csr {
    const Rows& rows;

    const T* values() const { return static_cast<const T*>(rows.data); }
    const I* columns() const { return static_cast<const I*>(rows.indices); }
    const I* starts() const { return static_cast<const I*>(rows.indptr); }

    template <class F>
    void each(int64_t i, F f) const {
        const T* x = values();
        const I* c = columns();
        const int64_t end = starts()[i + 1];
        for (int64_t k = starts()[i]; k < end; ++k) f(int64_t(c[k]), double(x[k]));
    }

    template <class F>
    double sum(int64_t i, F f) const {
        double s[LANES] = {};
        each(i, [&](int64_t j, double x) { s[j & (LANES - 1)] += f(j, x); });
        return fold(s);
    }

    double dot(int64_t i, const double* w) const {
        return sum(i, [=](int64_t j, double x) { return x * w[j]; });
    }

    Entries load(int64_t i, const Scratch& scratch) const {
        const int64_t begin = starts()[i], n = starts()[i + 1] - begin;
        Entries entries = {scratch.columns, scratch.values, n};
        if constexpr (sizeof(I) == sizeof(int64_t)) {
            entries.columns = reinterpret_cast<const int64_t*>(columns() + begin);
        } else {
            for (int64_t k = 0; k < n; ++k) scratch.columns[k] = columns()[begin + k];
        }
        if constexpr (sizeof(T) == sizeof(double)) {
            entries.values = reinterpret_cast<const double*>(values() + begin);
        } else {
            for (int64_t k = 0; k < n; ++k) scratch.values[k] = double(values()[begin + k]);
        }
        return entries;
    }

    void prefetch_ahead(const Scan& scan, int64_t t) const {
        if (t + FAR < scan.n) prefetch(starts() + scan.order[t + FAR]);
        if (t + NEAR < scan.n) {
            const I* p = starts() + scan.order[t + NEAR];
            const int64_t size = p[1] - p[0];
            prefetch_range(values() + p[0], size * int64_t(sizeof(T)));
            prefetch_range(columns() + p[0], size * int64_t(sizeof(I)));
        }
    }

    // Scores of one row with P planes whose weights for a column lie side by side.
    template <int P>
    void row_scores(const double* W, const double* b, int64_t planes, double* out,
                    int64_t i) const {
        double s[LANES][P] = {};
        each(i, [&](int64_t j, double x) {
            const double* w = W + j * planes;
            double* lane = s[j & (LANES - 1)];
            for (int p = 0; p < P; ++p) lane[p] += x * w[p];
        });
        for (int half = LANES / 2; half > 0; half /= 2)
            for (int l = 0; l < half; ++l)
                for (int p = 0; p < P; ++p) s[l][p] += s[l + half][p];
        for (int p = 0; p < P; ++p) out[p] = s[0][p] + b[p];
    }

    void scores(const double* W, const double* b, int64_t planes, double* out, int64_t first,
                int64_t last) const {
        for (int64_t i = first; i < last; ++i) {
            double* o = out + i * planes;
            int64_t p = 0;
            for (; p + 8 <= planes; p += 8) row_scores<8>(W + p, b + p, planes, o + p, i);
            if (p + 4 <= planes) {
                row_scores<4>(W + p, b + p, planes, o + p, i);
                p += 4;
            }
            if (p + 2 <= planes) {
                row_scores<2>(W + p, b + p, planes, o + p, i);
                p += 2;
            }
            if (p < planes) row_scores<1>(W + p, b + p, planes, o + p, i);
        }
    }
};

template <Kind kind, class R>
struct Ops {
    static double dot(const Rows& rows, int64_t i, const double* w) { return R{rows}.dot(i, w); }

    static double square(const Rows& rows, int64_t i) {
        return R{rows}.sum(i, [](int64_t, double x) { return x * x; });
    }

    static double variance(const Rows& rows, int64_t i, const double* S) {
        return S[0] + R{rows}.sum(i, [=](int64_t j, double x) { return S[j + 1] * x * x; });
    }

    static void add(const Rows& rows, int64_t i, double c, double* w, bool round32) {
        if (round32)
            R{rows}.each(i, [=](int64_t j, double x) { w[j] = double(float(w[j] + c * x)); });
        else
            R{rows}.each(i, [=](int64_t j, double x) { w[j] = w[j] + c * x; });
    }

    static void nudge(const Rows& rows, int64_t i, double c, double visits, double beta, double* S,
                      double* w, double* u, bool round32) {
        R{rows}.each(i, [=](int64_t j, double x) {
            const double s = S[j + 1], sx = s * x, step = c * sx, moved = w[j] + step;
            w[j] = round32 ? double(float(moved)) : moved;
            if (u) u[j] = u[j] + visits * step;
            if (beta != 0) {
                const double left = s - beta * (sx * sx);
                S[j + 1] = left > 0 ? left : 0;
            }
        });
    }

    static Found scan(const Rows& rows, const Scan& scan, const double* w, double b, int64_t t,
                      double bar) {
        const R r{rows};
        for (; t < scan.n; ++t) {
            int64_t i = t;
            if (scan.order) {
                r.prefetch_ahead(scan, t);
                i = scan.order[t];
            }
            if (scan.y[i] < 0) return {t, 0};
            const double score = r.dot(i, w) + b;
            if (scan.seen) scan.seen[i] = score;
            const double z = scan.y[i] == scan.positive ? score : -score;
            if (!(bar < z && z <= LARGEST)) return {t, score};
        }
        return {t, 0};
    }

    static Entries load(const Rows& rows, int64_t i, const Scratch& scratch) {
        return R{rows}.load(i, scratch);
    }

    static void scores(const Rows& rows, const double* W, const double* b, int64_t planes,
                       double* out, int64_t first, int64_t last) {
        R{rows}.scores(W, b, planes, out, first, last);
    }

    static constexpr RowOps table{kind, scan, dot, square, variance, add, nudge, load, scores};
};

// In the order of Kind.
constexpr const RowOps* TABLES[N_KINDS] = {
    &Ops<Kind::dense_f32, Dense<float>>::table,
    &Ops<Kind::dense_f64, Dense<double>>::table,
    &Ops<Kind::csr_f32_i32, Csr<float, int32_t>>::table,
    &Ops<Kind::csr_f64_i32, Csr<double, int32_t>>::table,
    &Ops<Kind::csr_f32_i64, Csr<float, int64_t>>::table,
    &Ops<Kind::csr_f64_i64, Csr<double, int64_t>>::table,
};

}  // namespace

const RowOps* row_ops(Kind kind) { return TABLES[int(kind)]; }

}  // namespace rosenblatt::ROSENBLATT_ISA
