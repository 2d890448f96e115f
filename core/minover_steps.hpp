// The steps of MinOver on the rows of a machine (the mathematics is in minover.hpp).
#pragma once

#include "machine.hpp"

namespace rosenblatt {

void begin_minover(Machine& m, MinOver& rule, const Block& block);
Code visit_rows(Machine& m, MinOver& rule, const Block& block, int64_t end);
void end_minover(Machine& m, MinOver& rule, const Block& block);

}  // namespace rosenblatt
