// Instruction sets: which variants of the row operations this build has, and which one is used.
#pragma once
#include "rows.hpp"

namespace rosenblatt {

struct Cpu {
    const char* name;  // "v2", "v3", "v4" (x86-64 levels), or "base"
    const RowOps* (*row_ops)(Kind);
    bool (*runs_here)();
};

// The variants of this build, slowest first; `n` is set to their number.
const Cpu* cpus(int& n);

// The variant of that name if this processor runs it, else null. Without a name: the fastest.
const Cpu* find_cpu(const char* name = nullptr);

// The variant in use: the fastest one, or the one set by `use_cpu`.
const Cpu& cpu();
void use_cpu(const Cpu&);

inline const RowOps* row_ops(Kind kind) { return cpu().row_ops(kind); }

}  // namespace rosenblatt
