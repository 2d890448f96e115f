#include "cpu.hpp"

#include <cstring>

#ifdef ROSENBLATT_X86_LEVELS
#include <cpuid.h>
#endif

namespace rosenblatt {

#ifdef ROSENBLATT_X86_LEVELS
namespace v2 {
const RowOps* row_ops(Kind);
}
namespace v3 {
const RowOps* row_ops(Kind);
}
namespace v4 {
const RowOps* row_ops(Kind);
}
#else
namespace base {
const RowOps* row_ops(Kind);
}
#endif

namespace {

#ifdef ROSENBLATT_X86_LEVELS

// The levels of the x86-64 psABI. A level counts only if the operating system saves its registers
// (XCR0). cpuid is asked directly: not every compiler's runtime has __builtin_cpu_supports.
struct Features {
    unsigned ecx1, ebx7, ecx_extended, state;

    Features() : ecx1(0), ebx7(0), ecx_extended(0), state(0) {
        unsigned a, b, c, d;
        if (__get_cpuid(1, &a, &b, &c, &d)) ecx1 = c;
        if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) ebx7 = b;
        if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) ecx_extended = c;
        if (ecx1 & bit_OSXSAVE) {
            unsigned high;
            __asm__ volatile("xgetbv" : "=a"(state), "=d"(high) : "c"(0));
        }
    }
    static bool all(unsigned have, unsigned need) { return (have & need) == need; }

    bool v2() const {
        return all(ecx1, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT);
    }
    bool v3() const {
        constexpr unsigned lzcnt = 1u << 5, ymm = 0x6;
        return v2() && all(state, ymm) && all(ecx1, bit_AVX | bit_FMA | bit_MOVBE | bit_F16C) &&
               all(ebx7, bit_AVX2 | bit_BMI | bit_BMI2) && all(ecx_extended, lzcnt);
    }
    bool v4() const {
        constexpr unsigned zmm = 0xe6;
        return v3() && all(state, zmm) &&
               all(ebx7, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
    }
};

const Features& features() {
    static const Features found;
    return found;
}

const Cpu CPUS[] = {
    {"v2", v2::row_ops, [] { return features().v2(); }},
    {"v3", v3::row_ops, [] { return features().v3(); }},
    {"v4", v4::row_ops, [] { return features().v4(); }},
};

#else

const Cpu CPUS[] = {{"base", base::row_ops, [] { return true; }}};

#endif

constexpr int N_CPUS = sizeof(CPUS) / sizeof(CPUS[0]);
const Cpu* in_use = nullptr;

}  // namespace

const Cpu* cpus(int& n) {
    n = N_CPUS;
    return CPUS;
}

const Cpu* find_cpu(const char* name) {
    for (int k = N_CPUS - 1; k >= 0; --k)
        if ((!name || std::strcmp(name, CPUS[k].name) == 0) && CPUS[k].runs_here()) return &CPUS[k];
    return nullptr;
}

const Cpu& cpu() {
    if (!in_use) in_use = find_cpu();
    return in_use ? *in_use : CPUS[0];
}

void use_cpu(const Cpu& wanted) { in_use = &wanted; }

}  // namespace rosenblatt
