// A machine for Python, and references to the arrays it points into.
#pragma once
#include "bind.hpp"
#include "machine.hpp"

namespace rosenblatt {

struct MachineObject {
    Machine machine;
    nb::object w, b, u, ub, variance;
};

}  // namespace rosenblatt
