// SPDX-License-Identifier: Apache-2.0
// test_fused.c: fused operations by name: their values are those of the parts, bit for bit, each is
// one kernel, and gradients are those of the parts or of central differences.
#include "tensor_test.h"

static IgScope *scope;
static int begin(void **state) {
    (void)state;
    scope = ig_scope_begin();
    return scope ? 0 : -1;
}
static int end(void **state) {
    (void)state;
    ig_scope_end(scope);
    return 0;
}

static const IgType floating[3] = {IgFloat16, IgFloat32, IgBFloat16};

static void matmul_with_activation_is_one_kernel(void **state) {
    (void)state;
    for (int t = 0; t < 3; t++)
        for (int act = IgActivationNone; act <= IgActivationTanh; act++) {
            IgTensor *a = random_tensor(floating[t], SHAPE(70, 33), 1);
            IgTensor *b = random_tensor(floating[t], SHAPE(33, 65), 2);
            IgTensor *fused = ig_matmul_with_activation(a, b, (IgActivation)act, &error);
            CHECK(fused);
            assert_int_equal(kernels_for(fused), 1);
            IgTensor *product = ig_matmul(a, b, &error);
            CHECK(ig_eval(product, &error));
            SAME(fused, ig_activation(product, (IgActivation)act, &error), 0);
        }
}

static void small_known_values(void **state) {
    (void)state;
    IgTensor *a = tensor(SHAPE(2, 2), FLOATS(1, 2, 3, 4));
    IgTensor *b = tensor(SHAPE(2, 2), FLOATS(5, -6, 7, -8));
    CLOSE(ig_matmul_with_activation(a, b, IgActivationNone, &error), 0, 19, -22, 43, -50);
    CLOSE(ig_matmul_with_activation(a, b, IgActivationReLU, &error), 0, 19, 0, 43, 0);
    CLOSE(ig_fused_add_relu(a, b, &error), 0, 6, 0, 10, 0);
    CLOSE(ig_fused_mul_relu(a, b, &error), 0, 5, 0, 21, 0);
    CLOSE(ig_fused_affine(a, b, a, &error), 0, 6, -10, 24, -28);
    IgTensor *row = tensor(SHAPE(2), FLOATS(10, 100)), *one = tensor(1, (int64_t[]){1}, FLOATS(1));
    CLOSE(ig_fused_affine(a, row, one, &error), 0, 11, 201, 31, 401);
    // 0.5 x (1 + tanh(0.79788456 (x + 0.044715 x^3))) by hand
    IgTensor *unit = tensor(SHAPE(1, 1), FLOATS(1)), *x = tensor(SHAPE(1, 3), FLOATS(-1, 0, 2));
    CLOSE(ig_matmul_with_activation(unit, x, IgActivationGELU, &error), 2e-6, -0.15880801f, 0,
          1.9545977f);
}

static void elementwise_ones_are_one_kernel(void **state) {
    (void)state;
    for (int t = 0; t < 3; t++) {
        IgTensor *a = random_tensor(floating[t], SHAPE(37, 19), 3);
        IgTensor *b = random_tensor(floating[t], SHAPE(19), 4);
        IgTensor *c = random_tensor(floating[t], SHAPE(37, 1), 5);
        IgTensor *sum = ig_add(a, b, &error), *product = ig_mul(a, b, &error);
        CHECK(ig_eval(sum, &error) && ig_eval(product, &error));
        IgTensor *fused[3] = {ig_fused_add_relu(a, b, &error), ig_fused_mul_relu(a, b, &error),
                              ig_fused_affine(a, b, c, &error)};
        IgTensor *parts[3] = {ig_relu(sum, &error), ig_relu(product, &error),
                              ig_add(product, c, &error)};
        for (int i = 0; i < 3; i++) {
            assert_int_equal(kernels_for(fused[i]), 1);
            SAME(fused[i], parts[i], 0);
        }
    }
}

static void a_linear_layer_is_one_kernel_at_any_rank(void **state) {
    (void)state;
    static const int64_t shapes[4][4] = {{9}, {5, 9}, {3, 4, 9}, {2, 3, 4, 9}};
    for (int rank = 1; rank <= 4; rank++) {
        int64_t to[4];
        memcpy(to, shapes[rank - 1], sizeof to);
        to[rank - 1] = 7;
        IgTensor *x = random_tensor(IgFloat32, rank, shapes[rank - 1], 6);
        IgTensor *w = random_tensor(IgFloat32, SHAPE(9, 7), 7);
        IgTensor *bias = random_tensor(IgFloat32, SHAPE(7), 8);
        IgTensor *residual = random_tensor(IgFloat32, rank, to, 9);
        IgTensor *y = ig_fused_linear(x, w, bias, residual, IgActivationGELU, &error);
        CHECK(y);
        assert_int_equal(kernels_for(y), 1);
        IgTensor *parts = ig_matmul(x, w, &error);
        CHECK(ig_eval(parts, &error));
        parts = ig_gelu(ig_add(ig_add(parts, bias, &error), residual, &error), &error);
        SAME(y, parts, 1e-6);
        y = ig_fused_linear_residual_relu(x, w, bias, residual, &error);
        assert_int_equal(kernels_for(y), 1);
        y = ig_fused_gelu_linear(x, w, bias, &error);
        SAME(y, ig_add(ig_matmul(ig_gelu(x, &error), w, &error), bias, &error), 1e-6);
    }
}

static IgTensor *call_linear(void *context, int n, IgTensor *const *in, MTLError **e) {
    (void)n;
    return ig_fused_linear(in[0], in[1], in[2], in[3], *(IgActivation *)context, e);
}
static IgTensor *call_affine(void *context, int n, IgTensor *const *in, MTLError **e) {
    (void)context, (void)n;
    return ig_fused_affine(in[0], in[1], in[2], e);
}
static IgTensor *call_entropy(void *context, int n, IgTensor *const *in, MTLError **e) {
    (void)n;
    return ig_fused_softmax_cross_entropy(in[0], context, IgReduceMean, e);
}

static void gradients_are_right(void **state) {
    (void)state;
    IgGradientCheck check;
    for (int act = IgActivationNone; act <= IgActivationTanh; act++) {
        IgTensor *in[4] = {
            random_tensor(IgFloat32, SHAPE(2, 3, 4), 10), random_tensor(IgFloat32, SHAPE(4, 5), 11),
            random_tensor(IgFloat32, SHAPE(5), 12), random_tensor(IgFloat32, SHAPE(2, 3, 5), 13)};
        for (int i = 0; i < 4; i++) leaf(in[i]);
        IgActivation activation = (IgActivation)act;
        CHECK(ig_gradient_check(call_linear, &activation, 4, in, NULL, &check, &error));
        assert_true(check.passed);
    }
    IgTensor *in[3] = {random_tensor(IgFloat32, SHAPE(3, 4), 14),
                       random_tensor(IgFloat32, SHAPE(4), 15),
                       random_tensor(IgFloat32, SHAPE(3, 1), 16)};
    for (int i = 0; i < 3; i++) leaf(in[i]);
    CHECK(ig_gradient_check(call_affine, NULL, 3, in, NULL, &check, &error));
    assert_true(check.passed);
    IgTensor *classes = ig_from_data(device, IgInt64, SHAPE(3), (int64_t[]){2, 0, 3}, &error);
    CHECK(ig_gradient_check(call_entropy, classes, 1, in, NULL, &check, &error));
    assert_true(check.passed);
}

// ---- Softmax and cross-entropy ----

static void entropy_of_known_logits(void **state) {
    (void)state;
    // log(1 + e + e^2) - x[k], and for equal logits log(3)
    IgTensor *x = tensor(SHAPE(2, 3), FLOATS(0, 1, 2, 5, 5, 5));
    IgTensor *k = ig_from_data(device, IgInt32, SHAPE(2), (int32_t[]){2, 1}, &error);
    leaf(x);
    CLOSE(ig_fused_softmax_cross_entropy(x, k, IgReduceNone, &error), 1e-6, 0.40760596f,
          1.0986123f);
    CLOSE(ig_fused_softmax_cross_entropy(x, k, IgReduceSum, &error), 1e-6, 1.5062183f);
    IgTensor *mean = ig_fused_softmax_cross_entropy(x, k, IgReduceMean, &error);
    CLOSE(mean, 1e-6, 0.75310913f);
    CHECK(ig_backward(mean, NULL, NULL, &error));
    CLOSE(ig_grad(x, &error), 1e-6, 0.04501529f, 0.12236424f, -0.16737953f, 0.16666667f,
          -0.33333333f, 0.16666667f);
}

// Against the composition with log_softmax, for all types, both forms of the kernel, and large
// logits, where a sum of exponentials without their largest would overflow.
static void entropy_is_one_kernel_and_so_is_its_gradient(void **state) {
    (void)state;
    static const IgType integers[6] = {IgInt8, IgInt32, IgInt64, IgUInt8, IgInt16, IgBool};
    static const double tolerance[3] = {2e-3, 1e-5, 2e-2}; // a unit of half and bfloat, and float
    for (int t = 0; t < 3; t++)
        for (int c = 0; c < 6; c++)
            for (int reduce = IgReduceMean; reduce <= IgReduceNone; reduce++) {
                int64_t classes = c == 5 ? 2 : 67, rows = 21;
                IgTensor *x =
                    ig_mul_scalar(random_tensor(floating[t], SHAPE(rows, classes), 20), 50, &error);
                x = ig_detach(x, &error);
                CHECK(ig_eval(x, &error));
                leaf(x);
                IgTensor *k =
                    ig_uniform(device, IgFloat32, SHAPE(rows), 0, (double)classes, 21, &error);
                k = ig_cast(ig_floor(k, &error), integers[c], &error);
                CHECK(ig_eval(k, &error));
                uint64_t before = ig_device_statistics(device).kernels;
                IgTensor *loss = ig_fused_softmax_cross_entropy(x, k, (IgReduce)reduce, &error);
                CHECK(loss && ig_eval(loss, &error));
                assert_int_equal(ig_device_statistics(device).kernels - before, 1);
                assert_int_equal(ig_type(loss), floating[t]);
                IgTensor *seed =
                    reduce == IgReduceNone ? random_tensor(floating[t], SHAPE(rows), 22) : NULL;
                before = ig_device_statistics(device).kernels;
                CHECK(ig_backward(loss, seed, NULL, &error));
                IgTensor *g = ig_grad(x, &error);
                CHECK(g && ig_eval(g, &error));
                assert_int_equal(ig_device_statistics(device).kernels - before, 1);

                IgTensor *y = ig_cast(ig_detach(x, &error), IgFloat32, &error);
                y = ig_detach(y, &error);
                leaf(y);
                IgTensor *index = ig_unsqueeze(ig_cast(k, IgInt64, &error), -1, &error);
                IgTensor *picked = ig_gather(ig_log_softmax(y, -1, &error), 1, index, &error);
                IgTensor *each = ig_neg(ig_squeeze(picked, -1, &error), &error);
                IgTensor *expected = reduce == IgReduceNone  ? each
                                     : reduce == IgReduceSum ? ig_sum(each, IG_ALL, false, &error)
                                                             : ig_mean(each, IG_ALL, false, &error);
                SAME(loss, expected, tolerance[t]);
                CHECK(ig_backward(expected, seed ? ig_cast(seed, IgFloat32, &error) : NULL, NULL,
                                  &error));
                SAME(g, ig_grad(y, &error), tolerance[t]);
            }
}

static void entropy_of_many_rows(void **state) {
    (void)state;
    IgTensor *x = random_tensor(IgFloat32, SHAPE(300, 20, 17), 30);
    IgTensor *k = ig_full(device, IgInt32, SHAPE(300, 20), 3, &error);
    IgTensor *loss = ig_fused_softmax_cross_entropy(x, k, IgReduceMean, &error);
    CHECK(loss);
    IgTensor *logp = ig_select(ig_log_softmax(x, -1, &error), 2, 3, &error);
    SAME(loss, ig_neg(ig_mean(logp, IG_ALL, false, &error), &error), 1e-5);
}

static void second_derivative_of_entropy(void **state) {
    (void)state;
    // d/dx of sum(grad^2) for one row, against differences of the gradient.
    float base[3] = {0.3f, -0.2f, 0.5f}, step = 1e-2f;
    IgTensor *k = ig_from_data(device, IgInt32, SHAPE(1), (int32_t[]){1}, &error);
    IgBackwardOptions create = {.create_graph = true};
    double value[3][2];
    for (int i = 0; i < 3; i++)
        for (int s = 0; s < 2; s++) {
            float moved[3] = {base[0], base[1], base[2]};
            moved[i] += s ? step : -step;
            IgTensor *x = tensor(SHAPE(1, 3), moved), *g;
            leaf(x);
            IgTensor *loss = ig_fused_softmax_cross_entropy(x, k, IgReduceMean, &error);
            CHECK(ig_grad_of(1, &loss, NULL, 1, &x, NULL, &g, &error));
            CHECK(
                ig_item(ig_sum(ig_square(g, &error), IG_ALL, false, &error), &value[i][s], &error));
        }
    IgTensor *x = tensor(SHAPE(1, 3), base), *g, *second;
    leaf(x);
    IgTensor *loss = ig_fused_softmax_cross_entropy(x, k, IgReduceMean, &error);
    CHECK(ig_grad_of(1, &loss, NULL, 1, &x, &create, &g, &error));
    IgTensor *sum = ig_sum(ig_square(g, &error), IG_ALL, false, &error);
    CHECK(ig_grad_of(1, &sum, NULL, 1, &x, NULL, &second, &error));
    float expected[3];
    for (int i = 0; i < 3; i++)
        expected[i] = (float)((value[i][1] - value[i][0]) / (2 * (double)step));
    close_at(second, 3, expected, 1e-3, __FILE__, __LINE__);
}

// ---- Errors ----

static void errors_have_both_shapes(void **state) {
    (void)state;
    IgTensor *a = random_tensor(IgFloat32, SHAPE(2, 3), 1);
    IgTensor *b = random_tensor(IgFloat32, SHAPE(4, 5), 2);
    FAILS(ig_matmul_with_activation(a, b, IgActivationReLU, &error), IgErrorShape,
          "(2, 3) and (4, 5)");
    FAILS(ig_matmul_with_activation(a, a, (IgActivation)9, &error), IgErrorArgument,
          "no such activation: 9");
    FAILS(ig_fused_add_relu(a, b, &error), IgErrorShape, "(2, 3) and (4, 5)");
    FAILS(ig_fused_mul_relu(a, b, &error), IgErrorShape, "(2, 3) and (4, 5)");
    FAILS(ig_fused_affine(a, a, b, &error), IgErrorShape, "(4, 5)");
    FAILS(ig_fused_linear(a, b, NULL, NULL, IgActivationNone, &error), IgErrorShape, "(2, 3)");
    IgTensor *w = random_tensor(IgFloat32, SHAPE(3, 5), 2);
    FAILS(ig_fused_linear(a, w, a, NULL, IgActivationNone, &error), IgErrorShape, "bias of shape");
    FAILS(ig_fused_linear(a, w, NULL, a, IgActivationNone, &error), IgErrorShape,
          "residual of shape (2, 3)");
    IgTensor *k = ig_from_data(device, IgInt32, SHAPE(2), (int32_t[]){0, 3}, &error);
    FAILS(ig_fused_softmax_cross_entropy(a, k, IgReduceMean, &error), IgErrorIndex,
          "class 3 at position 1, there are 3");
    FAILS(ig_fused_softmax_cross_entropy(b, k, IgReduceMean, &error), IgErrorShape, "(4, 5)");
    FAILS(ig_fused_softmax_cross_entropy(a, a, IgReduceMean, &error), IgErrorType, "float32");
    assert_null(ig_fused_linear(NULL, w, NULL, NULL, IgActivationNone, &error));
    assert_null(ig_fused_affine(a, NULL, a, &error));
    assert_null(ig_matmul_with_activation(a, NULL, IgActivationReLU, &error));
    assert_null(error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(matmul_with_activation_is_one_kernel, begin, end),
        cmocka_unit_test_setup_teardown(small_known_values, begin, end),
        cmocka_unit_test_setup_teardown(elementwise_ones_are_one_kernel, begin, end),
        cmocka_unit_test_setup_teardown(a_linear_layer_is_one_kernel_at_any_rank, begin, end),
        cmocka_unit_test_setup_teardown(gradients_are_right, begin, end),
        cmocka_unit_test_setup_teardown(entropy_of_known_logits, begin, end),
        cmocka_unit_test_setup_teardown(entropy_is_one_kernel_and_so_is_its_gradient, begin, end),
        cmocka_unit_test_setup_teardown(entropy_of_many_rows, begin, end),
        cmocka_unit_test_setup_teardown(second_derivative_of_entropy, begin, end),
        cmocka_unit_test_setup_teardown(errors_have_both_shapes, begin, end),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
