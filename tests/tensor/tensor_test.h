// SPDX-License-Identifier: Apache-2.0
// tensor_test.h: what the C tests of the tensor library share: tensors from numbers written down,
// comparisons that print both sides, errors by code and text, and counts of kernels.
#ifndef TENSOR_TEST_H
#define TENSOR_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ingot/tensor_nn.h"

static IgDevice *device;
static MTLError *error;

__attribute__((unused)) static int set_up(void **state) {
    (void)state;
    device = ig_device_default(&error);
    return device ? 0 : -1;
}

// Setup and teardown of one test: what it makes is dropped behind it.
__attribute__((unused)) static int begin_scope(void **state) {
    *state = ig_scope_begin();
    return *state ? 0 : -1;
}
__attribute__((unused)) static int end_scope(void **state) {
    ig_scope_end(*state);
    return 0;
}

// The call went well: the error, if there is one, is printed.
__attribute__((unused)) static void check_at(bool ok, const char *what, const char *file,
                                             int line) {
    if (!ok)
        print_error("%s: %s\n", what,
                    error ? mtl_error_localized_description(error) : "no error was given");
    _assert_true(ok, what, file, line);
    if (error) print_error("%s: %s\n", what, mtl_error_localized_description(error));
    _assert_true(!error, "an error beside a result", file, line);
}
#define CHECK(CALL) check_at((CALL) != 0, #CALL, __FILE__, __LINE__)

// The call failed with this code, and its message has this text in it.
__attribute__((unused)) static void fails_at(bool failed, IgErrorCode code, const char *text,
                                             const char *what, const char *file, int line) {
    _assert_true(failed, what, file, line);
    if (!error) print_error("%s failed without an error\n", what);
    _assert_true(error != NULL, what, file, line);
    const char *message = mtl_error_localized_description(error);
    bool as_said = mtl_error_code(error) == (long)code && strstr(message, text);
    if (!as_said)
        print_error("%s: code %ld (wanted %d): %s (wanted: %s)\n", what, mtl_error_code(error),
                    (int)code, message, text);
    mtl_release(error);
    error = NULL;
    _assert_true(as_said, what, file, line);
}
#define FAILS(CALL, CODE, TEXT) fails_at(!(CALL), CODE, TEXT, #CALL, __FILE__, __LINE__)

#define SHAPE(...)                                                                                 \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }
#define FLOATS(...)                                                                                \
    (float[]) { __VA_ARGS__ }

__attribute__((unused)) static IgTensor *tensor(int rank, const int64_t *shape,
                                                const float *values) {
    IgTensor *t = ig_from_data(device, IgFloat32, rank, shape, values, &error);
    CHECK(t);
    return t;
}

__attribute__((unused)) static IgTensor *random_tensor(IgType type, int rank, const int64_t *shape,
                                                       uint64_t seed) {
    IgTensor *t = ig_randn(device, type, rank, shape, seed, &error);
    CHECK(t);
    return t;
}

__attribute__((unused)) static void leaf(IgTensor *t) {
    CHECK(ig_set_requires_grad(t, true, &error));
}

// As float, malloc'd.
__attribute__((unused)) static float *floats_of(IgTensor *t) {
    assert_non_null(t);
    IgScope *scope = ig_scope_begin();
    IgTensor *single = ig_cast(t, IgFloat32, &error);
    CHECK(single);
    size_t n = (size_t)ig_numel(t);
    float *out = malloc((n + 1) * sizeof *out);
    assert_non_null(out);
    CHECK(ig_read(single, out, n * sizeof *out, &error));
    ig_scope_end(scope);
    return out;
}

__attribute__((unused)) static void close_at(IgTensor *t, size_t n, const float *expected,
                                             double tolerance, const char *file, int line) {
    _assert_true(t != NULL && ig_numel(t) == (int64_t)n, "as many elements", file, line);
    float *got = floats_of(t);
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - (double)expected[i]);
        if (d <= tolerance * (1 + fabs((double)expected[i])) || got[i] == expected[i]) continue;
        print_error("element %zu: %.9g, expected %.9g\n", i, (double)got[i], (double)expected[i]);
        free(got);
        _fail(file, line);
    }
    free(got);
}
#define CLOSE(TENSOR, TOLERANCE, ...)                                                              \
    close_at(TENSOR, sizeof((float[]){__VA_ARGS__}) / sizeof(float), (float[]){__VA_ARGS__},       \
             TOLERANCE, __FILE__, __LINE__)

__attribute__((unused)) static void same_at(IgTensor *a, IgTensor *b, double tolerance,
                                            const char *file, int line) {
    _assert_true(a && b, "both are there", file, line);
    _assert_true(ig_rank(a) == ig_rank(b), "same rank", file, line);
    for (int i = 0; i < ig_rank(a); i++)
        _assert_true(ig_shape(a)[i] == ig_shape(b)[i], "same shape", file, line);
    float *expected = floats_of(b);
    close_at(a, (size_t)ig_numel(b), expected, tolerance, file, line);
    free(expected);
}
#define SAME(A, B, TOLERANCE) same_at(A, B, TOLERANCE, __FILE__, __LINE__)

// Kernels it takes to make the tensor, and everything it needs.
__attribute__((unused)) static int kernels_for(IgTensor *t) {
    uint64_t before = ig_device_statistics(device).kernels;
    CHECK(ig_eval(t, &error));
    return (int)(ig_device_statistics(device).kernels - before);
}
#endif
