// Whether bytes are UTF-8.
#pragma once

namespace rosenblatt {

inline bool is_utf8(const char* p, const char* end) {
    while (p < end) {
        const auto byte = [&](int k) { return static_cast<unsigned char>(p[k]); };
        const unsigned char first = byte(0);
        if (first < 0x80) {
            ++p;
            continue;
        }
        const int length = first >= 0xC2 && first < 0xE0   ? 2
                           : first >= 0xE0 && first < 0xF0 ? 3
                           : first >= 0xF0 && first < 0xF5 ? 4
                                                           : 0;
        if (length == 0 || end - p < length) return false;
        for (int k = 1; k < length; ++k) {
            if ((byte(k) & 0xC0) != 0x80) return false;
        }
        if (first == 0xE0 && byte(1) < 0xA0) return false;  // could be shorter
        if (first == 0xED && byte(1) > 0x9F) return false;  // surrogates
        if (first == 0xF0 && byte(1) < 0x90) return false;
        if (first == 0xF4 && byte(1) > 0x8F) return false;  // beyond U+10FFFF
        p += length;
    }
    return true;
}

}  // namespace rosenblatt
