// SPDX-License-Identifier: Apache-2.0
// check_foundation.h: checks of strings and of exceptions.
#ifndef INGOT_TESTS_OBJC_CHECK_FOUNDATION_H
#define INGOT_TESTS_OBJC_CHECK_FOUNDATION_H
#define CHECK_STRING(string, expected) CHECK_TEXT([(string) UTF8String], [(expected) UTF8String])
#define CHECK_RAISES(statement, wanted)                                                            \
    do {                                                                                           \
        NSString *raised = nil;                                                                    \
        @try {                                                                                     \
            (void)(statement);                                                                     \
        } @catch (NSException * e) {                                                               \
            raised = e.name;                                                                       \
        }                                                                                          \
        if (![raised isEqualToString:(wanted)]) {                                                  \
            fprintf(stderr, "%s:%d: %s raises %s, not %s\n", __FILE__, __LINE__, #statement,       \
                    raised ? raised.UTF8String : "nothing", [(wanted) UTF8String]);                \
            check_failures++;                                                                      \
        }                                                                                          \
    } while (0)
#endif
