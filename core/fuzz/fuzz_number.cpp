// Random decimals, compared with strtod to the bit. Run: fuzz_number [INPUTS] [SEED]
#include <algorithm>
#include <bit>

#include "fuzz.hpp"
#include "parse_number.hpp"

using namespace rosenblatt;
using namespace rosenblatt::fuzz;

static std::string random_decimal(Random& random) {
    char text[64];
    switch (random.below(4)) {
        case 0: {  // any double, in as many digits as it takes, or in fewer, or in more
            const double value = std::bit_cast<double>(random.bits());
            if (!std::isfinite(value)) return "0";
            std::snprintf(text, sizeof text, "%.*e", static_cast<int>(random.below(25)), value);
            return text;
        }
        case 1: {  // in [0, 1), as most files have them
            const double value = static_cast<double>(random.bits() >> 11) * 0x1p-53;
            std::snprintf(text, sizeof text, "%.*f", static_cast<int>(random.below(25)), value);
            return text;
        }
        case 2: {  // halfway between two doubles, or one unit of the last digit beside it
            const uint64_t halves = (uint64_t{1} << 54) + 2 * random.below(100000) + 1;
            const int zeros = static_cast<int>(random.below(4));
            std::snprintf(text, sizeof text, "%" PRIu64 "%s", halves + random.below(3) - 1,
                          &"000"[3 - zeros]);
            return text;
        }
        default: {
            std::string digits;
            if (random.one_in(3)) digits += random.one_in(2) ? '-' : '+';
            for (size_t k = random.below(24) + 1; k > 0; --k) {
                digits += static_cast<char>('0' + random.below(10));
            }
            if (random.one_in(2)) digits.insert(1 + random.below(digits.size()), 1, '.');
            if (random.one_in(2)) {
                const int power = static_cast<int>(random.below(700)) - 350;
                digits += 'e' + std::to_string(random.one_in(2) ? power / 12 : power);
            }
            return digits;
        }
    }
}

int main(int argc, char** argv) {
    return run(argc, argv, [](Random& random) {
        const std::string text = random_decimal(random) + std::string(1 + kSlack, '\n');
        current_input = text;
        const Number number = parse_number(text.c_str());
        CHECK(number.end == text.c_str() + text.find('\n'));
        const double nearest = std::strtod(text.c_str(), nullptr);
        if (std::isinf(nearest)) {
            CHECK(number.status == NumberStatus::out_of_range);
        } else {
            CHECK(number.status == NumberStatus::ok);
            CHECK(std::bit_cast<uint64_t>(number.value) == std::bit_cast<uint64_t>(nearest));
        }
    });
}
