// A machine for Python, and references to the arrays it points into.
#pragma once
#include <atomic>

#include "bind.hpp"
#include "machine.hpp"

namespace rosenblatt {

struct MachineObject {
    Machine machine;
    nb::object w, b, u, ub, variance;
    std::atomic<bool> in_use{false};  // by a call that released the GIL
};

nb::dict get_state(MachineObject& self);
void set_state(MachineObject& self, nb::dict state);

}  // namespace rosenblatt
