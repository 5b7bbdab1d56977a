// SPDX-License-Identifier: Apache-2.0
// test_available.m: @available and __builtin_available under `ingot cc`: macOS 26 and nothing
// later. It is compiled as C++ and as C too (run_cc.sh).
#include <stdio.h>
#ifdef __OBJC__
#import <Foundation/Foundation.h>
#endif

static int failures;
#define CHECK(condition)                                                                           \
    ((condition) ? (void)0                                                                         \
                 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))

int main(void) {
    CHECK(__builtin_available(macOS 10.15, *));
    CHECK(__builtin_available(macOS 26, *));
    CHECK(__builtin_available(macOS 26.0, iOS 99.0, *));
    CHECK(!__builtin_available(macOS 26.1, *));
    CHECK(!__builtin_available(iOS 17.0, macOS 27, *));
    CHECK(!__builtin_available(macOS 100.0, *));
    CHECK(__builtin_available(iOS 17.0, *));
    CHECK(__builtin_available(macOSApplicationExtension 14.0, *));
#ifdef __OBJC__
    if (@available(macOS 15.0, iOS 18.0, *))
        CHECK(!@available(macOS 27.0, *));
    else
        CHECK(!"macOS 15 is there");
    CHECK(@available(macOS 26, *) && !@available(macOS 26.2, *));
#endif
    return failures != 0;
}
