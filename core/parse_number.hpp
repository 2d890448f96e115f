// Decimal text to the nearest double.
//
// Let the digits, without the point, be the integer w, so that the number is w * 10^q.
//
//   1. w <= 2^53 and |q| <= 22: w and 10^|q| are doubles, so their product or quotient, rounded
//      once, is the nearest double [Clinger 1990].
//   2. w < 10^19 and |q| <= 27: 5^|q| < 2^64, so w * 5^q is an exact product of 128 bits, or a
//      quotient of 64 bits with a remainder. Its leading 62 or 63 bits, with the last one set if
//      anything after them is not 0, round to the same double as the number itself.
//   3. Otherwise std::from_chars decides. It is exact too, and takes longer.
//
// A number ends at the first byte that cannot belong to it. Up to 7 bytes after that one are read:
// see kSlack.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>

namespace rosenblatt {

// Bytes that must be readable after the newline that ends a line.
inline constexpr size_t kSlack = 8;

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

struct Digits {
    int count;
    uint64_t value;
};

// The digits at p, at most 8 of them, without a branch for each: a byte b is no digit if b - '0'
// or b + 0x46 has its high bit set. The digits are moved up to the high bytes, then
// neighbours are joined to numbers of 2, 4 and 8 digits.
inline Digits leading_digits(const char* p) {
    if constexpr (std::endian::native != std::endian::little) {
        Digits found{0, 0};
        for (; found.count < 8 && is_digit(p[found.count]); ++found.count) {
            found.value = found.value * 10 + static_cast<uint64_t>(p[found.count] - '0');
        }
        return found;
    }
    uint64_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    const uint64_t minus_zero = bytes - 0x3030303030303030;
    const uint64_t others = ((bytes + 0x4646464646464646) | minus_zero) & 0x8080808080808080;
    const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
    if (count == 0) return {0, 0};
    uint64_t v = minus_zero << (64 - 8 * count);
    v = v * 10 + (v >> 8);
    v = ((v & 0x000000FF000000FF) * 0x000F424000000064 +
         (v >> 16 & 0x000000FF000000FF) * 0x0000271000000001) >>
        32;
    return {count, v};
}

inline constexpr uint64_t kSmallTens[] = {1,      10,      100,      1000,     10000,
                                          100000, 1000000, 10000000, 100000000};

// Skip the digits at p, however many; `w` becomes w * 10^count + digits, modulo 2^64.
inline const char* skip_digits(const char* p, uint64_t& w) {
    while (true) {
        const Digits found = leading_digits(p);
        w = w * kSmallTens[found.count] + found.value;
        p += found.count;
        if (found.count < 8) return p;
    }
}

enum class NumberStatus { ok, not_a_number, out_of_range };

struct Number {
    const char* end;  // where reading ended, also if it is not a number
    NumberStatus status;
    double value;
};

inline constexpr double kExactTens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#ifdef __SIZEOF_INT128__
inline constexpr int kFives = 27;

struct PowersOfFive {
    uint64_t power[kFives + 1] = {1};  // 5^k
    constexpr PowersOfFive() {
        for (int k = 1; k <= kFives; ++k) power[k] = 5 * power[k - 1];
    }
};
inline constexpr PowersOfFive kPowersOfFive;

// Case 2: w * 10^q for w > 0, |q| <= 27.
inline double exact_quotient_or_product(uint64_t w, int q) {
    __extension__ using uint128 = unsigned __int128;
    const uint64_t five = kPowersOfFive.power[q < 0 ? -q : q];
    const int w_zeros = std::countl_zero(w), five_zeros = std::countl_zero(five);
    uint64_t high, rest;
    int power;  // the number is (high + something in [0, 1) that is 0 iff rest is) * 2^power
    if (q < 0) {
        const uint128 dividend = static_cast<uint128>(w << w_zeros) << 62;
        const uint64_t divisor = five << five_zeros;
        high = static_cast<uint64_t>(dividend / divisor);
        rest = static_cast<uint64_t>(dividend % divisor);
        power = q - w_zeros + five_zeros - 62;
    } else {
        const uint128 product = static_cast<uint128>(w << w_zeros) * (five << five_zeros);
        high = static_cast<uint64_t>(product >> 65);
        rest = static_cast<uint64_t>(product) | static_cast<uint64_t>(product >> 64 & 1);
        power = q - w_zeros - five_zeros + 65;
    }
    const double rounded = static_cast<double>(static_cast<int64_t>(high | (rest != 0)));
    return rounded * std::bit_cast<double>(static_cast<uint64_t>(1023 + power) << 52);
}
#endif

// Case 3: the number without sign in [begin, end); infinity if it is too large. `exponent` is what
// follows the e.
inline double any_number(const char* begin, const char* end, int64_t exponent) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double value = infinity;
    const auto result = std::from_chars(begin, end, value);
    if (result.ec == std::errc()) return value;
    // Too large or too small: libraries differ in what they do to `value`. Only a double between 0
    // and infinity (some report subnormals here) is the answer; otherwise the power of ten of the
    // first digit that is not 0 tells which it is.
    if (value > 0 && value < infinity) return value;
    const char* first = begin;
    while (first < end && (*first == '0' || *first == '.')) ++first;
    if (first == end || !is_digit(*first)) return 0.0;
    const char* point = begin;
    while (is_digit(*point)) ++point;
    return exponent + (point - first) > 0 ? infinity : 0.0;
}

// The number at p: [+-] digits [. digits] [(e|E) [+-] digits], at least one digit before the e.
inline Number parse_number(const char* p) {
    const bool negative = *p == '-';
    if (negative || *p == '+') ++p;
    const char* const begin = p;
    uint64_t w = 0;
    for (; is_digit(*p); ++p) w = w * 10 + static_cast<uint64_t>(*p - '0');  // often just one
    int64_t digits = p - begin, q = 0, exponent = 0;
    if (*p == '.') {
        const char* const fraction = p + 1;
        p = skip_digits(fraction, w);
        q = fraction - p;
        digits -= q;
    }
    if (digits == 0) return {p, NumberStatus::not_a_number, 0.0};
    if ((*p | 32) == 'e') {
        ++p;
        const bool down = *p == '-';
        if (down || *p == '+') ++p;
        if (!is_digit(*p)) return {p, NumberStatus::not_a_number, 0.0};
        for (; is_digit(*p); ++p) {
            if (exponent < int64_t{1} << 50) exponent = exponent * 10 + (*p - '0');
        }
        if (down) exponent = -exponent;
        q += exponent;
    }
    double value;
    if (digits <= 19 && w <= uint64_t{1} << 53 && q >= -22 && q <= 22) {
        value = static_cast<double>(static_cast<int64_t>(w));
        value = q < 0 ? value / kExactTens[-q] : value * kExactTens[q];
#ifdef __SIZEOF_INT128__
    } else if (digits <= 19 && w > 0 && q >= -kFives && q <= kFives) {
        value = exact_quotient_or_product(w, static_cast<int>(q));
#endif
    } else {
        value = any_number(begin, p, exponent);
        if (std::isinf(value)) return {p, NumberStatus::out_of_range, 0.0};
    }
    return {p, NumberStatus::ok, negative ? -value : value};
}

}  // namespace rosenblatt
