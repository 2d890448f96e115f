// The Python module rosenblatt._core.
#include "bind.hpp"

NB_MODULE(_core, m) {
    // a thread that waits for a pipe may still hold rows when the interpreter ends
    nb::set_leak_warnings(false);
    m.doc() = "Compiled core: rows, scores, training loops and parsers.";
    rosenblatt::bind_rows(m);
    rosenblatt::bind_rules(m);
    rosenblatt::bind_machine(m);
    rosenblatt::bind_feature_index(m);
    rosenblatt::bind_one_row(m);
    rosenblatt::bind_parsers(m);
    rosenblatt::bind_stop(m);
    rosenblatt::bind_table(m);
    rosenblatt::bind_kernel(m);
}
