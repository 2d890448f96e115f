// A machine for Python, and references to the arrays it points into.
#pragma once
#include <atomic>

#include "bind.hpp"
#include "machine.hpp"

namespace rosenblatt {

struct MachineObject {
    MachineObject() = default;
    explicit MachineObject(const Machine& m) : machine(m) {}
    Machine machine;
    nb::object w, b, u, ub, variance;
    mutable std::atomic<bool> in_use{false};
};

// One call at a time uses a machine, because calls release the GIL. Only `cancel` needs no turn.
class Turn {
  public:
    explicit Turn(const MachineObject& self) : in_use_(self.in_use) {
        if (in_use_.exchange(true))
            throw nb::value_error(
                "the machine is in use by another thread; it can only be cancelled.");
    }
    ~Turn() { in_use_ = false; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    std::atomic<bool>& in_use_;
};

// Arrays that are indexed later must have the sizes of this machine.
void check_sizes(const Machine& m);
nb::dict get_state(MachineObject& self, bool order);
void set_state(MachineObject& self, nb::dict state);

}  // namespace rosenblatt
