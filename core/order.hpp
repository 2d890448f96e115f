// The order of visits within an epoch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "prefetch.hpp"

namespace rosenblatt {

enum class OrderKind : int32_t { in_order, shuffled, sampled };

// shuffled: Fisher-Yates on the last permutation, restarted from the same seed in every epoch, with
// the xorshift generator and the modulo that scikit-learn uses: equal seeds give equal orders.
// sampled: n draws with replacement; the generator goes on from epoch to epoch.
struct Order {
    OrderKind kind = OrderKind::in_order;
    uint32_t seed = 0;
    std::vector<int64_t> index;  // empty when in order

    // Marsaglia's 32-bit xorshift; a seed of 0 would stay 0.
    static uint32_t next(uint32_t seed) {
        if (seed == 0) seed = 1;
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        return seed;
    }

    Order() = default;
    Order(const Order&) = default;
    Order& operator=(const Order&) = default;
    ~Order() {
        if (index.capacity() > spare().capacity() && index.capacity() <= MOST_SPARE)
            index.swap(spare());
    }

    // Memory of an order that was destroyed on this thread, for the next one. A cluster makes new
    // machines in every epoch; memory fresh from the system took up to a third of an epoch.
    static std::vector<int64_t>& spare() {
        thread_local std::vector<int64_t> memory;
        return memory;
    }
    static constexpr size_t MOST_SPARE = size_t{1} << 22;  // 32 MiB, kept until the thread ends

    void arrange(int64_t n) {
        if (kind == OrderKind::in_order) return;
        if (index.empty()) {
            index.swap(spare());
            index.clear();
        }
        if (static_cast<int64_t>(index.size()) != n) {
            index.resize(n);
            std::iota(index.begin(), index.end(), int64_t{0});
        }
        uint32_t state = seed;
        if (kind == OrderKind::shuffled) {
            // partners are drawn, and prefetched, a group ahead of the swaps
            constexpr int64_t GROUP = 64;
            int64_t partner[GROUP];
            for (int64_t first = 0; first + 1 < n; first += GROUP) {
                const int64_t end = std::min(first + GROUP, n - 1);
                for (int64_t i = first; i < end; ++i) {
                    state = next(state);
                    partner[i - first] = i + (state & 0x7FFFFFFF) % (n - i);
                    prefetch(&index[partner[i - first]]);
                }
                for (int64_t i = first; i < end; ++i)
                    std::swap(index[i], index[partner[i - first]]);
            }
        } else {
            for (int64_t i = 0; i < n; ++i) {
                state = next(state);
                index[i] = (state & 0x7FFFFFFF) % n;
            }
            seed = state;
        }
    }
    const int64_t* data() const { return index.empty() ? nullptr : index.data(); }
};

}  // namespace rosenblatt
