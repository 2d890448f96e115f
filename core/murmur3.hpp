// MurmurHash3_x86_32 [Appleby, public domain], the hash of feature names in Vowpal Wabbit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace rosenblatt {

inline uint32_t murmur3(const char* key, size_t size, uint32_t seed) {
    const auto byte = [key](size_t k) { return uint32_t{static_cast<unsigned char>(key[k])}; };
    const auto scramble = [](uint32_t k) { return std::rotl(k * 0xCC9E2D51, 15) * 0x1B873593; };
    uint32_t h = seed;
    size_t at = 0;
    for (; at + 4 <= size; at += 4) {
        h ^= scramble(byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24);
        h = std::rotl(h, 13) * 5 + 0xE6546B64;
    }
    uint32_t rest = 0;
    for (size_t k = size; k > at; --k) rest = rest << 8 | byte(k - 1);
    h ^= scramble(rest);
    h ^= static_cast<uint32_t>(size);
    h = (h ^ h >> 16) * 0x85EBCA6B;
    h = (h ^ h >> 13) * 0xC2B2AE35;
    return h ^ h >> 16;
}

// The hash of a name in a namespace of this hash, as in Vowpal Wabbit: unless `all` is set, a name
// of digits (blanks around it are cut off) is number + seed.
inline uint64_t vw_hash(const char* begin, const char* end, uint64_t seed, bool all = false) {
    if (!all) {
        const auto is_cut = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
        while (begin < end && is_cut(*begin)) ++begin;
        while (begin < end && is_cut(end[-1])) --end;
        uint64_t number = 0;
        const char* p = begin;
        for (; p < end && *p >= '0' && *p <= '9'; ++p)
            number = number * 10 + static_cast<uint64_t>(*p - '0');
        if (p == end) return number + seed;
    }
    return murmur3(begin, static_cast<size_t>(end - begin), static_cast<uint32_t>(seed));
}

}  // namespace rosenblatt
