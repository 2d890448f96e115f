// Standard floating-point arithmetic for the time of a call.
//
// A library built with -ffast-math may have told the processor to round tiny numbers to 0, for the
// whole thread. Results would then depend on what else is loaded.
#pragma once
#include <cstdint>

namespace rosenblatt {

// Sets rounding to nearest and tiny numbers kept; restores the mode that it found.
class StandardFloats {
  public:
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    StandardFloats() : found_(__builtin_ia32_stmxcsr()) {
        constexpr unsigned tiny_to_zero = 0x8040, rounding = 0x6000;
        if (found_ & (tiny_to_zero | rounding))
            __builtin_ia32_ldmxcsr(found_ & ~(tiny_to_zero | rounding));
    }
    ~StandardFloats() { __builtin_ia32_ldmxcsr(found_); }

  private:
    unsigned found_;
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
    StandardFloats() {
        constexpr uint64_t tiny_to_zero = 1u << 24, rounding = 3u << 22;
        __asm__ volatile("mrs %0, fpcr" : "=r"(found_));
        __asm__ volatile("msr fpcr, %0" ::"r"(found_ & ~(tiny_to_zero | rounding)));
    }
    ~StandardFloats() { __asm__ volatile("msr fpcr, %0" ::"r"(found_)); }

  private:
    uint64_t found_;
#else
    StandardFloats() {}
#endif

  public:
    StandardFloats(const StandardFloats&) = delete;
    StandardFloats& operator=(const StandardFloats&) = delete;
};

}  // namespace rosenblatt
