// SPDX-License-Identifier: Apache-2.0
// test_steps.c: the tensor library on the driver that is none: the steps of a training are the same
// commands again, in the same memory, so that each becomes one graph; numbers mean nothing here.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "fake.h"
#include "ingot/tensor_nn.h"

enum { BATCH = 256, IN = 784, WIDTH = 512, OUT = 10, SETTLING = 40, STEPS = 10 };

static IgTensor *matrix(IgDevice *d, int64_t rows, int64_t columns, bool learns) {
    float *values = calloc((size_t)(rows * columns), sizeof *values);
    IgTensor *t = ig_from_data(d, IgFloat32, 2, (int64_t[]){rows, columns}, values, NULL);
    free(values);
    assert_true(ig_set_requires_grad(t, learns, NULL));
    return t;
}

static void step(IgOptimizer *o, IgTensor *x, IgTensor *const *w) {
    IgScope *scope = ig_scope_begin();
    ig_optimizer_zero_grad(o);
    IgTensor *h = ig_relu(ig_matmul(x, w[0], NULL), NULL);
    h = ig_relu(ig_matmul(h, w[1], NULL), NULL);
    IgTensor *loss = ig_mean(ig_square(ig_matmul(h, w[2], NULL), NULL), IG_ALL, false, NULL);
    assert_true(loss && ig_backward(loss, NULL, NULL, NULL));
    assert_true(ig_optimizer_step(o, NULL));
    ig_scope_end(scope);
}

static void steps_become_graphs(void **state) {
    (void)state;
    MTLDevice *metal = mtl_create_device_named("cuda:0", NULL);
    assert_non_null(metal);
    IgDevice *d = ig_device_new(metal, NULL);
    IgTensor *x = matrix(d, BATCH, IN, false);
    IgTensor *w[3] = {matrix(d, IN, WIDTH, true), matrix(d, WIDTH, WIDTH, true),
                      matrix(d, WIDTH, OUT, true)};
    IgOptimizerOptions options = ig_optimizer_defaults(IgSGD);
    options.momentum = 0.9;
    IgOptimizer *o = ig_optimizer_new(IgSGD, 3, w, &options, NULL);
    assert_non_null(o);
    for (int i = 0; i < SETTLING; i++) step(o, x, w);
    assert_true(ig_device_synchronize(d, NULL));
    uint64_t launches = fake_calls(FAKE_LAUNCH), graphs = fake_calls(FAKE_GRAPH_LAUNCH),
             up = fake_calls(FAKE_COPY_UP), down = fake_calls(FAKE_COPY_DOWN);
    for (int i = 0; i < STEPS; i++) step(o, x, w);
    assert_true(ig_device_synchronize(d, NULL));
    assert_int_equal(fake_calls(FAKE_LAUNCH), launches);
    assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), graphs + STEPS);
    assert_int_equal(fake_calls(FAKE_COPY_UP), up); // constants are the same each time
    assert_int_equal(fake_calls(FAKE_COPY_DOWN), down);
    ig_optimizer_release(o);
    for (int i = 0; i < 3; i++) ig_release(w[i]);
    ig_release(x);
    ig_device_release(d);
    mtl_release(metal);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_become_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
