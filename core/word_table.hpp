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
    size_t k = 0;
    uint64_t part = 0;
    for (; k + 8 <= word.size(); k += 8) {
        std::memcpy(&part, word.data() + k, 8);
        mix(part);
    }
    if (k < word.size()) {
        part = 0;
        for (size_t j = word.size(); j-- > k;)
            part = part << 8 | static_cast<unsigned char>(word[j]);
        mix(part);
    }
    return static_cast<size_t>(h ^ h >> 31);
}

// Distinct words, numbered in the order in which they came.
class WordTable {
  public:
    // The number of a word; a new one gets the next.
    int32_t code(std::string_view word) {
        if (2 * (ends_.size() + 1) > slots_.size()) grow();
        size_t slot = seeded_hash(word) & (slots_.size() - 1);
        for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
            if ((*this)[static_cast<size_t>(slots_[slot])] == word) return slots_[slot];
        }
        slots_[slot] = static_cast<int32_t>(ends_.size());
        text_.append(word);
        ends_.push_back(text_.size());
        return slots_[slot];
    }
    // The number of a word, -1 if it has none.
    int32_t find(std::string_view word) const {
        if (slots_.empty()) return -1;
        size_t slot = seeded_hash(word) & (slots_.size() - 1);
        while (slots_[slot] >= 0 && (*this)[static_cast<size_t>(slots_[slot])] != word)
            slot = (slot + 1) & (slots_.size() - 1);
        return slots_[slot];
    }
    size_t size() const { return ends_.size(); }
    std::string_view operator[](size_t k) const {
        const size_t begin = k == 0 ? 0 : ends_[k - 1];
        return std::string_view(text_).substr(begin, ends_[k] - begin);
    }

  private:
    void grow() {
        std::vector<int32_t> slots(std::max<size_t>(16, 2 * slots_.size()), -1);
        for (size_t k = 0; k < ends_.size(); ++k) {
            size_t slot = seeded_hash((*this)[k]) & (slots.size() - 1);
            while (slots[slot] >= 0) slot = (slot + 1) & (slots.size() - 1);
            slots[slot] = static_cast<int32_t>(k);
        }
        slots_ = std::move(slots);
    }

    std::vector<int32_t> slots_;
    std::vector<size_t> ends_;
    std::string text_;
};

}  // namespace rosenblatt
