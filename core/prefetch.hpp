// Ask the processor to load memory into its cache before it is read.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define ROSENBLATT_INLINE inline __attribute__((always_inline))
#else
#define ROSENBLATT_INLINE inline
#endif

namespace rosenblatt {
namespace {

// Any address is allowed. GCC deletes calls of functions that only prefetch, because they change
// nothing: such functions are inlined.
ROSENBLATT_INLINE void prefetch([[maybe_unused]] const void* p) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(p, 0, 3);
#endif
}

}  // namespace
}  // namespace rosenblatt
