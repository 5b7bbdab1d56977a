// SPDX-License-Identifier: Apache-2.0
// ingot_available.h: what @available and __builtin_available(macOS 15, *) answer. clang answers for
// Apple's targets only and says yes to every version elsewhere, so that programs would take ways
// which a later macOS has and this one has not. `ingot cc` and the toolchain file include this
// first; it includes nothing. In Objective-C `available(` is a macro: a C++ function of that name
// in a .mm file needs #undef available.
#if !defined(INGOT_MAC_AVAILABLE_H) && !defined(__ASSEMBLER__)
#define INGOT_MAC_AVAILABLE_H

// The list as written: "macOS 14.4, iOS 17, *". Is its macOS 26.0 or older? Without one, * says
// yes.
static inline __attribute__((unused)) int ingot_available(const char *list) {
    for (const char *p = list; *p; p++) {
        if (p[0] != 'm' || p[1] != 'a' || p[2] != 'c' || (p[3] | 32) != 'o' || (p[4] | 32) != 's')
            continue;
        int number[2] = {0, 0}, at = 0;
        for (p += 5; *p == ' ' || (*p >= 'A' && *p <= 'z'); p++) { // macOSApplicationExtension
        }
        for (; (*p >= '0' && *p <= '9') || (*p == '.' && at == 0); p++) {
            if (*p == '.')
                at = 1;
            else
                number[at] = number[at] * 10 + (*p - '0');
        }
        return number[0] < 26 || (number[0] == 26 && number[1] == 0);
    }
    return 1;
}
#define __builtin_available(...) ingot_available(#__VA_ARGS__)
#ifdef __OBJC__
// @available(...) is an @ and what follows: a letter of the string @encode(int), or the zero behind
// it.
#define available(...) encode(int)[!ingot_available(#__VA_ARGS__)]
#endif
#endif
