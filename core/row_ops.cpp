// Compiled once per instruction set: see row_ops.hpp and CMakeLists.txt.
#include "row_ops.hpp"
