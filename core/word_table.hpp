// Distinct texts and their numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prefetch.hpp"

namespace rosenblatt {

// A hash that is seeded per process, so that no file can be made to fill one slot.
inline size_t seeded_hash(std::string_view word, uint64_t start = 0) {
    static const std::array<uint64_t, 2> seeds = [] {
        std::random_device device;
        const auto draw = [&] { return uint64_t{device()} << 32 | device(); };
        return std::array<uint64_t, 2>{draw(), draw() | 1};
    }();
    uint64_t h = (seeds[0] ^ word.size()) + start * seeds[1];
    const auto mix = [&](uint64_t part) {
        h = (h ^ part ^ seeds[1]) * 0x9E3779B97F4A7C15;
        h ^= h >> 32;
        h *= seeds[1];
        h ^= h >> 29;
    };
    const char* p = word.data();
    size_t left = word.size();
    uint64_t part;
    for (; left >= 8; left -= 8, p += 8) {
        std::memcpy(&part, p, 8);
        mix(part);
    }
    if (left >= 4) {  // two parts that may overlap
        uint32_t first, last;
        std::memcpy(&first, p, 4);
        std::memcpy(&last, p + left - 4, 4);
        mix(uint64_t{last} << 32 | first);
    } else if (left > 0) {
        const auto byte = [&](size_t k) { return uint64_t{static_cast<unsigned char>(p[k])}; };
        mix(byte(0) | byte(left / 2) << 8 | byte(left - 1) << 16);
    }
    return static_cast<size_t>(h ^ h >> 31);
}

// An open-addressing table from 32-bit hashes of texts to their numbers.
class HashedNumbers {
  public:
    struct Slot {
        int32_t number = -1;
        uint32_t tag = 0;  // which tells most other texts apart without looking at them
    };

    static uint32_t tag_of(std::string_view text, uint64_t start = 0) {
        const uint64_t h = seeded_hash(text, start);
        return static_cast<uint32_t>(h ^ h >> 32);
    }

    // The slot of the number with this tag for which matches(number) holds, or the empty one where
    // it would go.
    template <class Matches>
    Slot& slot(uint32_t tag, Matches matches) {
        return slots_[place(tag, matches)];
    }

    // The number with this tag for which matches(number) holds, -1 if there is none.
    template <class Matches>
    int32_t find(uint32_t tag, Matches matches) const {
        return slots_.empty() ? -1 : slots_[place(tag, matches)].number;
    }

    // Have room for one more than `size` numbers. Rehashing inserts in ascending order, so no number
    // sits before a lower one on that one's path.
    void make_room(size_t size) {
        if (2 * (size + 1) <= slots_.size()) return;
        const std::vector<uint32_t> tags = tags_of(size);
        slots_.assign(std::max<size_t>(16, 2 * slots_.size()), Slot());
        for (size_t k = 0; k < size; ++k)
            slot(tags[k], [](int32_t) { return false; }) = {static_cast<int32_t>(k), tags[k]};
    }

    // The tags of numbers below `size`.
    std::vector<uint32_t> tags_of(size_t size) const {
        std::vector<uint32_t> tags(size);
        for (const Slot& slot : slots_)
            if (slot.number >= 0) tags[static_cast<size_t>(slot.number)] = slot.tag;
        return tags;
    }

    // Ask for the memory of a slot that is needed soon.
    void prefetch_slot(uint32_t tag) const {
        if (!slots_.empty()) prefetch(slots_.data() + (tag & (slots_.size() - 1)));
    }

  private:
    template <class Matches>
    size_t place(uint32_t tag, Matches matches) const {
        const size_t mask = slots_.size() - 1;
        size_t k = tag & mask;
        while (slots_[k].number >= 0 && !(slots_[k].tag == tag && matches(slots_[k].number)))
            k = (k + 1) & mask;
        return k;
    }

    std::vector<Slot> slots_;
};

// Distinct words, numbered in the order in which they came.
class WordTable {
    // Whether a number is that of this word (above its uses, because its type is deduced).
    auto matches(std::string_view word) const {
        return
            [this, word](int32_t number) { return (*this)[static_cast<size_t>(number)] == word; };
    }

  public:
    // The number of a word; a new one gets the next.
    int32_t code(std::string_view word) {
        numbers_.make_room(size());
        const uint32_t tag = HashedNumbers::tag_of(word);
        HashedNumbers::Slot& slot = numbers_.slot(tag, matches(word));
        if (slot.number < 0) {
            slot = {static_cast<int32_t>(size()), tag};
            text_.append(word);
            ends_.push_back(text_.size());
        }
        return slot.number;
    }
    // The number of a word, -1 if it has none.
    int32_t find(std::string_view word) const {
        return numbers_.find(HashedNumbers::tag_of(word), matches(word));
    }
    size_t size() const { return ends_.size(); }
    std::string_view operator[](size_t k) const {
        const size_t begin = k == 0 ? 0 : ends_[k - 1];
        return std::string_view(text_).substr(begin, ends_[k] - begin);
    }

  private:
    HashedNumbers numbers_;
    std::vector<size_t> ends_;
    std::string text_;
};

}  // namespace rosenblatt
