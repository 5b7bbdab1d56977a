// SPDX-License-Identifier: Apache-2.0
// check.h: checks of the programs in this folder. A failed one says where and goes on; main ends
// with `return check_result();`.
#ifndef INGOT_TESTS_OBJC_CHECK_H
#define INGOT_TESTS_OBJC_CHECK_H
#include <stdio.h>
#include <string.h>

static int check_failures;
#define CHECK(...)                                                                                 \
    do {                                                                                           \
        if (!(__VA_ARGS__)) {                                                                      \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__);              \
            check_failures++;                                                                      \
        }                                                                                          \
    } while (0)
#define CHECK_TEXT(text, expected)                                                                 \
    do {                                                                                           \
        const char *check_text = (text);                                                           \
        if (!check_text || strcmp(check_text, (expected))) {                                       \
            fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #text,        \
                    check_text ? check_text : "(null)", (expected));                               \
            check_failures++;                                                                      \
        }                                                                                          \
    } while (0)
#define CHECK_NUMBER(number, expected)                                                             \
    do {                                                                                           \
        double check_number = (double)(number), check_expected = (double)(expected);               \
        if (check_number != check_expected) {                                                      \
            fprintf(stderr, "%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #number,        \
                    check_number, check_expected);                                                 \
            check_failures++;                                                                      \
        }                                                                                          \
    } while (0)
// A dealloc that counts into `deaths`, with ARC and without.
#if __has_feature(objc_arc)
#define COUNT_DEATHS                                                                               \
    -(void)dealloc {                                                                               \
        deaths++;                                                                                  \
    }
#else
#define COUNT_DEATHS                                                                               \
    -(void)dealloc {                                                                               \
        deaths++;                                                                                  \
        [super dealloc];                                                                           \
    }
#endif
static inline int check_result(void) {
    if (check_failures) fprintf(stderr, "%d checks failed\n", check_failures);
    return check_failures ? 1 : 0;
}
#endif
