// Random LIBSVM text. Run: fuzz_libsvm [INPUTS] [SEED]
#include <algorithm>

#include "fuzz.hpp"
#include "parse_libsvm.hpp"

using namespace rosenblatt;
using namespace rosenblatt::fuzz;

static const Seeds seeds = {
    "+1 1:0.5 3:2 # comment\n-1 qid:7 2:9.8E-02\n",
    "0 0:1 5:-3.25e10 2147483646:1\r\n\n# only this\n1\n",
    "1 1:0.1234567890123456789 2:4.9e-324 3:1.7976931348623157e308 4:1e-5 5:1.\n",
    "-1.5 1:123456789012345678901234567890 7:.5\n2 3:1 3:2\n1,2 1:1\n",
    " 3 1:1\t2:2 \n\n\n4 000000000000000000000000001:1 2:00000000000000000000000000.5\n",
    "1 1:9007199254740993 2:9007199254740992.5 3:0.3 4:5e-324 5:1e309\n",
    "1 18446744073709551617:1 3:1\n-1 1:1 18446744073709551619:1\n",
    "1\n2\n3\n-1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1\n1",
};

int main(int argc, char** argv) {
    return run(argc, argv, [](Random& random) {
        const std::string text = mutate(random, seeds);
        current_input = text;
        constexpr int64_t limits[] = {2147483646, 2147483646, 0, 1, 3, 5};
        constexpr IndexBase bases[] = {IndexBase::zero, IndexBase::one, IndexBase::detect};
        const LibsvmOptions options{random.choose(bases), random.choose(limits)};
        const auto parse = [&](const char* data, size_t size, ParsedRows& rows) {
            return parse_libsvm(data, size, options, rows);
        };
        const auto rows = parse_copy(text, parse);
        const int shift = options.base == IndexBase::zero ? 0 : 1;
        check_rows(text, *rows, options.base == IndexBase::detect ? -1 : 0,
                   options.max_index - shift);
        check_cut(random, text, *rows, parse);
    });
}
