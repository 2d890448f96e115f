// The operations of rows.hpp, written once for all kinds of rows and compiled once per instruction
// set.
//
// ROSENBLATT_ISA names the instruction set (v2, v3, v4, or base), ROSENBLATT_WIDTH is the width of
// its vectors in bytes. Everything here has internal linkage: a weak symbol, as an inline function
// of the standard library makes one, could be taken from the object for AVX-512 and run on a
// processor without it. So nothing but <cstdint> and <cstddef> is included (.ci/check_symbols.py
// tests this).
#pragma once
#include "prefetch.hpp"
#include "rows.hpp"

#if !defined(ROSENBLATT_ISA) || !defined(ROSENBLATT_WIDTH)
#error "compile this file with ROSENBLATT_ISA and ROSENBLATT_WIDTH, see CMakeLists.txt"
#endif

namespace rosenblatt::ROSENBLATT_ISA {
namespace {

constexpr double LARGEST = 1.7976931348623157e308;  // z <= LARGEST: z < inf

// Vectors of BYTES / 8 numbers, and eight lanes made of them. A compiler without vector extensions
// has vectors of one number; the bits are the same. (The types are spelled out because GCC 12
// ignores a vector size that depends on a template argument.)
#if defined(__GNUC__) || defined(__clang__)
template <int BYTES>
struct Types;
template <>
struct Types<16> {
    using F64 = double __attribute__((vector_size(16)));
    using F32 = float __attribute__((vector_size(8)));
    using I64 = int64_t __attribute__((vector_size(16)));
};
template <>
struct Types<32> {
    using F64 = double __attribute__((vector_size(32)));
    using F32 = float __attribute__((vector_size(16)));
    using I64 = int64_t __attribute__((vector_size(32)));
};
template <>
struct Types<64> {
    using F64 = double __attribute__((vector_size(64)));
    using F32 = float __attribute__((vector_size(32)));
    using I64 = int64_t __attribute__((vector_size(64)));
};

template <int BYTES>
struct Vectors {
    static constexpr int PER = BYTES / 8;
    using Vector = typename Types<BYTES>::F64;
    using Vector32 = typename Types<BYTES>::F32;
    using Bits = typename Types<BYTES>::I64;

    template <class V>
    static V unaligned(const void* p) {
        V v;
        __builtin_memcpy(&v, p, sizeof(V));
        return v;
    }
    static Vector load(const double* p) { return unaligned<Vector>(p); }
    static Vector load(const float* p) {
#if defined(__AVX512F__) && !defined(__clang__)
        // GCC 12 converts eight numbers in two halves unless it is told otherwise
        if constexpr (BYTES == 64)
            return __builtin_ia32_cvtps2pd512_mask(unaligned<Vector32>(p), Vector{}, 255, 4);
#endif
        return __builtin_convertvector(unaligned<Vector32>(p), Vector);
    }
    // v where all bits of `keep` are set, 0 where none is
    static Vector masked(Vector v, const int64_t* keep) {
        return reinterpret_cast<Vector>(reinterpret_cast<Bits>(v) & unaligned<Bits>(keep));
    }
    static void store(double* p, Vector v) { __builtin_memcpy(p, &v, sizeof(Vector)); }
};
#else
template <int BYTES>
struct Vectors {
    static constexpr int PER = 1;
    using Vector = double;
    static Vector load(const double* p) { return *p; }
    static Vector load(const float* p) { return double(*p); }
    static Vector masked(Vector v, const int64_t* keep) { return *keep ? v : 0; }
    static void store(double* p, Vector v) { *p = v; }
};
#endif

// Sum of N lanes, by halves: s[l] += s[l + N / 2], and so on (see rows.hpp).
template <int N>
inline double fold(const double* s) {
    if constexpr (N == 1) {
        return s[0];
    } else {
        double half[N / 2];
        for (int l = 0; l < N / 2; ++l) half[l] = s[l] + s[l + N / 2];
        return fold<N / 2>(half);
    }
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define ROSENBLATT_SHUFFLE
#endif
#endif

// Eight lanes in registers.
template <int BYTES>
struct Lanes {
    using V = Vectors<BYTES>;
    static constexpr int PARTS = LANES / V::PER;
    typename V::Vector part[PARTS];

    double sum() const {
        typename V::Vector v[PARTS];
        for (int k = 0; k < PARTS; ++k) v[k] = part[k];
        for (int half = PARTS / 2; half > 0; half /= 2)
            for (int k = 0; k < half; ++k) v[k] += v[k + half];
        return fold_vector(v[0]);
    }

    // Halves of a vector are taken by shuffles; by way of memory they would take longer.
    static double fold_vector(typename V::Vector v) {
#ifdef ROSENBLATT_SHUFFLE
        if constexpr (V::PER == 2) {
            return v[0] + v[1];
        } else if constexpr (V::PER == 4) {
            return Lanes<16>::fold_vector(__builtin_shufflevector(v, v, 0, 1) +
                                          __builtin_shufflevector(v, v, 2, 3));
        } else if constexpr (V::PER == 8) {
            return Lanes<32>::fold_vector(__builtin_shufflevector(v, v, 0, 1, 2, 3) +
                                          __builtin_shufflevector(v, v, 4, 5, 6, 7));
        }
#endif
        double s[V::PER];
        V::store(s, v);
        return fold<V::PER>(s);
    }
};

// Vectors of 64 bytes pay where a value is used for several planes. Rows are rarely aligned to 64
// bytes, so that each such load takes two cache lines.
constexpr int WIDE = ROSENBLATT_WIDTH;
constexpr int NARROW = ROSENBLATT_WIDTH < 32 ? ROSENBLATT_WIDTH : 32;

// The score of a row of the positive class, minus the score of another row. The sign bit is set
// without a branch, which labels in random order would make the processor mispredict.
ROSENBLATT_INLINE double with_sign(double score, bool positive) {
    uint64_t bits;
    __builtin_memcpy(&bits, &score, sizeof bits);
    bits ^= uint64_t(!positive) << 63;
    __builtin_memcpy(&score, &bits, sizeof bits);
    return score;
}

// A scan asks for rows before it reaches them: one cache line per group of eight columns that it
// reads. Requests for a whole row at once would occupy all miss buffers of the processor and hold up
// the reads.
constexpr int64_t LINE = 64;

// The cache lines of an array of `bytes` bytes, to be prefetched one after the other.
struct Lines {
    uintptr_t next, end;

    ROSENBLATT_INLINE Lines(const void* from, int64_t bytes)
        : next(reinterpret_cast<uintptr_t>(from) & ~uintptr_t(LINE - 1)),
          end(reinterpret_cast<uintptr_t>(from) + uintptr_t(bytes)) {}

    ROSENBLATT_INLINE void prefetch_one() {
        prefetch(reinterpret_cast<const void*>(next));
        next += LINE;
    }
    ROSENBLATT_INLINE void prefetch_rest() {
        while (next < end) prefetch_one();
    }
};

struct NothingAhead {
    ROSENBLATT_INLINE void group(int64_t) {}
    ROSENBLATT_INLINE void rest() {}
};

// Which row to prefetch at visit t of a scan with an order: about LINES_AHEAD cache lines ahead. Rows
// in order are prefetched BYTES_AHEAD bytes ahead, CSR rows ENTRIES_AHEAD entries. (Processors
// recognize dense rows in order by themselves, but stop at each page of memory.)
constexpr int64_t LINES_AHEAD = 160, BYTES_AHEAD = 12288, ENTRIES_AHEAD = 512;

struct RowsToCome {
    const int64_t* order;
    int64_t last, distance;

    RowsToCome(const Scan& scan, int64_t bytes_per_row)
        : order(scan.order),
          last(scan.n_order - 1),
          distance(1 + LINES_AHEAD * LINE / (bytes_per_row + LINE)) {}
    ROSENBLATT_INLINE int64_t row(int64_t t) const {
        return order[t + distance < last ? t + distance : last];
    }
};

template <class T>
struct Dense {
    const Rows& rows;
    const int64_t d, full;  // full: the columns in whole groups of eight
    int64_t below[LANES];   // all bits set where lane l has a column after those, l < d - full

    explicit Dense(const Rows& r) : rows(r), d(r.d), full(r.d & ~int64_t(LANES - 1)) {
        for (int l = 0; l < LANES; ++l) below[l] = -int64_t(l < d - full);
    }

    const T* at(int64_t i) const { return static_cast<const T*>(rows.data) + i * d; }

    // f(j, x_j) for each entry
    template <class F>
    void each(int64_t i, F f) const {
        const T* x = at(i);
        for (int64_t j = 0; j < d; ++j) f(j, double(x[j]));
    }

    // sum of f(j, x_j), in lanes
    template <class F>
    double sum(int64_t i, F f) const {
        const T* x = at(i);
        double s[LANES] = {};
        for (int64_t j = 0; j < full; j += LANES)
            for (int l = 0; l < LANES; ++l) s[l] += f(j + l, double(x[j + l]));
        for (int l = 0; l < d - full; ++l) s[l] += f(full + l, double(x[full + l]));
        return fold<LANES>(s);
    }

    // The last columns of a row are read as a whole group of eight, which leads into the next row;
    // what is not of this row is cleared. At the end of the matrix they are copied to `room` first.
    const T* last_columns(const T* x, T* room) const {
        if (at(rows.n) - (x + full) >= LANES) return x + full;
        for (int l = 0; l < LANES; ++l) room[l] = l < d - full ? x[full + l] : T(0);
        return room;
    }

    // The weights of the last columns, then zeros.
    struct Tail {
        double w[LANES];
        Tail(const double* from, int64_t n) {
            for (int l = 0; l < LANES; ++l) w[l] = l < n ? from[l] : 0;
        }
    };

    // A row to come, prefetched while another one is read.
    struct Ahead {
        Lines lines;
        // once per group of eight columns, j being the first
        ROSENBLATT_INLINE void group(int64_t j) {
            if (sizeof(T) * LANES == LINE || (j & LANES) == 0) lines.prefetch_one();
        }
        ROSENBLATT_INLINE void rest() { lines.prefetch_rest(); }
    };

    // s[r][p] = the products of row r with plane p, in lanes: each value and each weight is loaded
    // once for R * P products. Weights of the last columns are at W_tail, with zeros after them.
    template <int R, int P, int BYTES, class A>
    ROSENBLATT_INLINE void products(const T* x, const double* W, int64_t stride,
                                    const double* W_tail, int64_t tail_stride,
                                    Lanes<BYTES> (&s)[R][P], A ahead) const {
        using V = Vectors<BYTES>;
        constexpr int PER = V::PER, PARTS = Lanes<BYTES>::PARTS;
        for (int r = 0; r < R; ++r)
            for (int p = 0; p < P; ++p) s[r][p] = {};
        for (int64_t j = 0; j < full; j += LANES) {
            ahead.group(j);
            for (int k = 0; k < PARTS; ++k) {
                typename V::Vector v[R];
                for (int r = 0; r < R; ++r) v[r] = V::load(x + r * d + j + k * PER);
                for (int p = 0; p < P; ++p) {
                    const typename V::Vector w = V::load(W + p * stride + j + k * PER);
                    for (int r = 0; r < R; ++r) s[r][p].part[k] += v[r] * w;
                }
            }
        }
        ahead.rest();
        if (full == d) return;
        T room[R][LANES];
        const T* last[R];
        for (int r = 0; r < R; ++r) last[r] = last_columns(x + r * d, room[r]);
        for (int k = 0; k < PARTS; ++k) {
            typename V::Vector v[R];
            for (int r = 0; r < R; ++r)
                v[r] = V::masked(V::load(last[r] + k * PER), below + k * PER);
            for (int p = 0; p < P; ++p) {
                const typename V::Vector w = V::load(W_tail + p * tail_stride + k * PER);
                for (int r = 0; r < R; ++r) s[r][p].part[k] += v[r] * w;
            }
        }
    }

    template <class A = NothingAhead>
    ROSENBLATT_INLINE double dot(int64_t i, const double* w, const Tail& tail, A ahead = {}) const {
        Lanes<sizeof(T) == 4 ? WIDE : NARROW> s[1][1];
        products(at(i), w, 0, tail.w, 0, s, ahead);
        return s[0][0].sum();
    }

    Tail tail(const double* w) const { return Tail(w + full, d - full); }
    double dot(int64_t i, const double* w) const { return dot(i, w, tail(w)); }

    Entries load(int64_t i, const Scratch& scratch) const {
        const T* x = at(i);
        if constexpr (sizeof(T) == sizeof(double)) {
            return {nullptr, reinterpret_cast<const double*>(x), d};
        } else {
            for (int64_t j = 0; j < d; ++j) scratch.values[j] = double(x[j]);
            return {nullptr, scratch.values, d};
        }
    }

    int64_t bytes_per_row() const { return d * int64_t(sizeof(T)); }

    ROSENBLATT_INLINE Ahead ahead(const RowsToCome& to_come, int64_t t) const {
        return {Lines(at(to_come.row(t)), bytes_per_row())};
    }
    // The cache lines that begin in a row's bytes BYTES_AHEAD later: rows in order ask for each line
    // once.
    ROSENBLATT_INLINE Ahead ahead_in_order(int64_t i) const {
        const char* later = reinterpret_cast<const char*>(at(i)) + BYTES_AHEAD;
        return {Lines(later + LINE - 1, bytes_per_row() - (LINE - 1))};
    }

    // Tiles of R rows and up to PLANES planes fill the registers. Rows are taken one by one where
    // vectors are short, or for a single plane: the memory delivers one row after the other faster.
    static constexpr int ROWS = WIDE == 64 ? 4 : 1;
    static constexpr int PLANES = WIDE == 16 ? 4 : 5;

    template <int R, int P>
    void tile(const double* W, const double* b, int64_t planes, double* out, int64_t i) const {
        const int64_t stride = padded(d);
        Lanes<P == 1 ? NARROW : WIDE> s[R][P];
        products(at(i), W, stride, W + full, stride, s, NothingAhead{});
        for (int r = 0; r < R; ++r)
            for (int p = 0; p < P; ++p) out[r * planes + p] = s[r][p].sum() + b[p];
    }

    // R rows with all planes, `group` planes at once.
    template <int R>
    void tiles(const double* W, const double* b, int64_t planes, int64_t group, double* out,
               int64_t i) const {
        for (int64_t p = 0; p < planes; p += group) {
            const double* w = W + p * padded(d);
            double* o = out + p;
            switch (planes - p < group ? planes - p : group) {
                case 1: tile<R, 1>(w, b + p, planes, o, i); break;
                case 2: tile<R, 2>(w, b + p, planes, o, i); break;
                case 3: tile<R, 3>(w, b + p, planes, o, i); break;
                case 4: tile<R, 4>(w, b + p, planes, o, i); break;
                default: tile<R, PLANES>(w, b + p, planes, o, i);
            }
        }
    }

    void scores(const double* W, const double* b, int64_t planes, double* out, int64_t first,
                int64_t last) const {
        int64_t i = first;
        if (planes == 1) {
            const Tail t = tail(W);
            for (; i < last; ++i) out[i] = dot(i, W, t) + b[0];
            return;
        }
        const int64_t groups = (planes + PLANES - 1) / PLANES;
        const int64_t group = (planes + groups - 1) / groups;
        for (; i + ROWS <= last; i += ROWS) tiles<ROWS>(W, b, planes, group, out + i * planes, i);
        for (; i < last; ++i) tiles<1>(W, b, planes, group, out + i * planes, i);
    }
};

template <class T, class I>
struct Csr {
    const Rows& rows;

    explicit Csr(const Rows& r) : rows(r) {}

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
        return fold<LANES>(s);
    }

    // A row to come, prefetched while another one is read.
    struct Ahead {
        Lines values, columns;
        // once per group of eight entries, k being the first
        ROSENBLATT_INLINE void group(int64_t k) {
            if (sizeof(T) * LANES == LINE || (k & LANES) == 0) values.prefetch_one();
            if (sizeof(I) * LANES == LINE || (k & LANES) == 0) columns.prefetch_one();
        }
        ROSENBLATT_INLINE void rest() {
            values.prefetch_rest();
            columns.prefetch_rest();
        }
    };

    struct Tail {};
    Tail tail(const double*) const { return {}; }

    template <class A = NothingAhead>
    ROSENBLATT_INLINE double dot(int64_t i, const double* w, Tail = {}, A ahead = {}) const {
        const int64_t begin = starts()[i], n = starts()[i + 1] - begin;
        const T* x = values() + begin;
        const I* c = columns() + begin;
        double s[LANES] = {};
        int64_t k = 0;
        for (; k + LANES <= n; k += LANES) {
            ahead.group(k);
            for (int e = 0; e < LANES; ++e)
                s[c[k + e] & (LANES - 1)] += double(x[k + e]) * w[c[k + e]];
        }
        for (; k < n; ++k) s[c[k] & (LANES - 1)] += double(x[k]) * w[c[k]];
        ahead.rest();
        return fold<LANES>(s);
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

    int64_t bytes_per_row() const {
        const int64_t entries = rows.n > 0 ? (starts()[rows.n] - starts()[0]) / rows.n : 0;
        return entries * int64_t(sizeof(T) + sizeof(I));
    }

    ROSENBLATT_INLINE Ahead ahead_from(int64_t begin, int64_t n) const {
        return {Lines(values() + begin, n * int64_t(sizeof(T))),
                Lines(columns() + begin, n * int64_t(sizeof(I)))};
    }
    ROSENBLATT_INLINE Ahead ahead(const RowsToCome& to_come, int64_t t) const {
        prefetch(starts() + to_come.row(t + to_come.distance));
        const I* p = starts() + to_come.row(t);
        return ahead_from(p[0], p[1] - p[0]);
    }
    // In order: as many entries as row i has, further on.
    ROSENBLATT_INLINE Ahead ahead_in_order(int64_t i) const {
        const I* p = starts() + i;
        return ahead_from(p[0] + ENTRIES_AHEAD, p[1] - p[0]);
    }

    // Scores of one row with P planes, whose weights for a column lie side by side.
    template <int P>
    void row_scores(const double* W, const double* b, int64_t planes, double* out,
                    int64_t i) const {
        using V = Vectors<(P * 8 < WIDE ? P * 8 : WIDE)>;
        constexpr int PARTS = P / V::PER;
        typename V::Vector s[LANES][PARTS] = {};
        each(i, [&](int64_t j, double x) {
            const double* w = W + j * planes;
            typename V::Vector* lane = s[j & (LANES - 1)];
            for (int k = 0; k < PARTS; ++k) lane[k] += x * V::load(w + k * V::PER);
        });
        for (int half = LANES / 2; half > 0; half /= 2)
            for (int l = 0; l < half; ++l)
                for (int k = 0; k < PARTS; ++k) s[l][k] += s[l + half][k];
        for (int k = 0; k < PARTS; ++k)
            V::store(out + k * V::PER, s[0][k] + V::load(b + k * V::PER));
    }

    void scores(const double* W, const double* b, int64_t planes, double* out, int64_t first,
                int64_t last) const {
        if (planes == 1) {
            for (int64_t i = first; i < last; ++i) out[i] = dot(i, W, {}, ahead_in_order(i)) + b[0];
            return;
        }
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
            if (p < planes)
                o[p] = sum(i, [=](int64_t j, double x) { return x * W[j * planes + p]; }) + b[p];
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
        return scan.order ? scan_rows<true>(rows, scan, w, b, t, bar)
                          : scan_rows<false>(rows, scan, w, b, t, bar);
    }

    template <bool ordered>
    static Found scan_rows(const Rows& rows, const Scan& scan, const double* w, double b, int64_t t,
                           double bar) {
        const R r{rows};
        const auto tail = r.tail(w);
        const RowsToCome to_come(scan, r.bytes_per_row());
        for (; t < scan.n; ++t) {
            const int64_t i = ordered ? scan.order[t] : t;
            if (scan.y[i] < 0) return {t, 0};
            double score;
            if constexpr (ordered) {
                prefetch(scan.y + to_come.row(t));
                score = r.dot(i, w, tail, r.ahead(to_come, t)) + b;
            } else {
                score = r.dot(i, w, tail, r.ahead_in_order(i)) + b;
            }
            if (scan.seen) scan.seen[i] = score;
            const double z = with_sign(score, scan.y[i] == scan.positive);
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
