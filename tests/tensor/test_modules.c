// SPDX-License-Identifier: Apache-2.0
// test_modules.c: modules: first values, what they compute, parameters and their names, training
// and not, states saved and loaded, and training that goes on as if it had not stopped.
#include <unistd.h>
#include "tensor_test.h"

static uint64_t live;
static int begin(void **state) {
    (void)state;
    live = ig_pool_statistics(ig_device_pool(device)).live_memory;
    return 0;
}
static int end(void **state) { // nothing is left
    (void)state;
    return ig_pool_statistics(ig_device_pool(device)).live_memory == live ? 0 : -1;
}

static IgModule *mlp(uint64_t seed) {
    IgModule *m = ig_sequential_new(
        5,
        (IgModule *[]){ig_linear_new(device, IgFloat32, 2, 16, true, seed, &error),
                       ig_activation_new(IgActivationTanh, &error),
                       ig_linear_new(device, IgFloat32, 16, 16, true, seed + 1, &error),
                       ig_activation_new(IgActivationReLU, &error),
                       ig_linear_new(device, IgFloat32, 16, 2, true, seed + 2, &error)},
        &error);
    CHECK(m);
    return m;
}

static void names_and_shapes_are_pytorchs(void **state) {
    (void)state;
    IgModule *m = mlp(1);
    static const char *const names[6] = {"0.weight", "0.bias",   "2.weight",
                                         "2.bias",   "4.weight", "4.bias"};
    assert_int_equal(ig_module_parameter_count(m), 6);
    for (int i = 0; i < 6; i++) {
        char name[32];
        assert_int_equal(ig_module_parameter_name(m, i, name, sizeof name), strlen(names[i]));
        assert_string_equal(name, names[i]);
        assert_ptr_equal(ig_module_parameter(m, i), ig_module_tensor(m, name));
        assert_true(ig_requires_grad(ig_module_parameter(m, i)));
    }
    assert_int_equal(ig_dim(ig_module_tensor(m, "0.weight"), 0), 16);
    assert_int_equal(ig_dim(ig_module_tensor(m, "0.weight"), 1), 2);
    assert_null(ig_module_parameter(m, 6));
    assert_null(ig_module_tensor(m, "1.weight"));
    char cut[4];
    assert_int_equal(ig_module_parameter_name(m, 0, cut, sizeof cut), 8);
    assert_string_equal(cut, "0.w");
    assert_int_equal(ig_module_parameter_name(m, 9, cut, sizeof cut), 0);
    assert_string_equal(ig_module_kind(ig_module_child(m, 1)), "activation");
    assert_string_equal(ig_module_child_name(m, 4), "4");
    assert_null(ig_module_child(m, 5));
    ig_module_release(m);
}

// Mean and deviation of many values, and their bound.
static void spread(IgTensor *t, double bound, double deviation) {
    float *v = floats_of(t);
    int64_t n = ig_numel(t);
    double sum = 0, square = 0, most = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += (double)v[i], square += (double)v[i] * (double)v[i];
        if (fabs((double)v[i]) > most) most = fabs((double)v[i]);
    }
    free(v);
    double found = sqrt(square / (double)n);
    assert_true(fabs(sum / (double)n) < 5 * deviation / sqrt((double)n)); // five standard errors
    assert_true(fabs(found - deviation) < 0.03 * deviation);
    if (bound > 0) assert_true(most <= bound * (1 + 1e-6) && most > 0.98 * bound);
}

static void first_values(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgModule *m = ig_linear_new(device, IgFloat32, 100, 300, true, 3, &error);
    spread(ig_module_tensor(m, "weight"), 0.1, 0.1 / sqrt(3));
    IgModule *again = ig_linear_new(device, IgFloat32, 100, 300, true, 3, &error);
    SAME(ig_module_tensor(m, "weight"), ig_module_tensor(again, "weight"), 0);
    ig_module_release(again);
    IgTensor *w = ig_module_tensor(m, "weight"); // (300, 100)
    CHECK(ig_init_kaiming_uniform(w, sqrt(2), 5, &error));
    spread(w, sqrt(6.0 / 100), sqrt(2.0 / 100));
    CHECK(ig_init_kaiming_normal(w, sqrt(2), 5, &error));
    spread(w, 0, sqrt(2.0 / 100));
    CHECK(ig_init_xavier_uniform(w, 1, 5, &error));
    spread(w, sqrt(6.0 / 400), sqrt(2.0 / 400));
    CHECK(ig_init_xavier_normal(w, 1, 5, &error));
    spread(w, 0, sqrt(2.0 / 400));
    CHECK(ig_init_normal(w, 0, 3, 6, &error));
    spread(w, 0, 3);
    assert_true(ig_requires_grad(w) && ig_is_leaf(w));
    FAILS(ig_init_xavier_normal(ig_module_tensor(m, "bias"), 1, 1, &error), IgErrorShape, "(300,)");
    ig_module_release(m);
    m = ig_conv2d_new(device, IgFloat32, 16, 64, (int64_t[]){3, 5}, NULL, true, 3, &error);
    spread(ig_module_tensor(m, "weight"), 1 / sqrt(240), 1 / sqrt(720));
    ig_module_release(m);
    m = ig_embedding_new(device, IgFloat32, 100, 100, 3, &error);
    spread(ig_module_tensor(m, "weight"), 0, 1);
    ig_module_release(m);
    ig_scope_end(scope);
}

static void what_layers_compute(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgModule *m = ig_linear_new(device, IgFloat32, 2, 3, true, 1, &error);
    CHECK(ig_write(ig_module_tensor(m, "weight"), FLOATS(1, 2, 3, 4, 5, 6), 24, &error));
    CHECK(ig_write(ig_module_tensor(m, "bias"), FLOATS(10, 20, 30), 12, &error));
    IgTensor *x = tensor(SHAPE(1, 2), FLOATS(1, -1));
    CLOSE(ig_module_forward(m, x, &error), 0, 9, 19, 29);
    ig_module_release(m);

    m = ig_layer_norm_new(device, IgFloat32, SHAPE(4), 0, true, &error);
    x = tensor(SHAPE(1, 4), FLOATS(1, 2, 3, 4)); // mean 2.5, variance 1.25
    CLOSE(ig_module_forward(m, x, &error), 1e-5, -1.3416354f, -0.4472118f, 0.4472118f, 1.3416354f);
    ig_module_release(m);
    m = ig_rms_norm_new(device, IgFloat32, SHAPE(4), 1e-12, true, &error); // mean square 7.5
    CLOSE(ig_module_forward(m, x, &error), 1e-5, 0.3651484f, 0.7302967f, 1.0954451f, 1.4605935f);
    assert_int_equal(ig_module_parameter_count(m), 1);
    ig_module_release(m);

    m = ig_embedding_new(device, IgFloat32, 3, 2, 1, &error);
    CHECK(ig_write(ig_module_tensor(m, "weight"), FLOATS(1, 2, 3, 4, 5, 6), 24, &error));
    IgTensor *ids = ig_from_data(device, IgInt32, SHAPE(2), (int32_t[]){2, 0}, &error);
    CLOSE(ig_module_forward(m, ids, &error), 0, 5, 6, 1, 2);
    ig_module_release(m);

    m = ig_sequential_new(
        2, (IgModule *[]){ig_flatten_new(1, -1, &error), ig_softmax_new(-1, &error)}, &error);
    x = tensor(SHAPE(1, 2, 1), FLOATS(0, 0));
    IgTensor *y = ig_module_forward(m, x, &error);
    CLOSE(y, 0, 0.5f, 0.5f);
    assert_int_equal(ig_rank(y), 2);
    ig_module_release(m);
    ig_scope_end(scope);
}

static void convolution_module(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgModule *m = ig_conv2d_new(device, IgFloat32, 1, 1, (int64_t[]){2, 2},
                                &(IgConvolution){.stride = {1, 1}}, true, 1, &error);
    CHECK(m);
    CHECK(ig_write(ig_module_tensor(m, "weight"), FLOATS(1, 2, 3, 4), 16, &error));
    CHECK(ig_write(ig_module_tensor(m, "bias"), FLOATS(0.5f), 4, &error));
    IgTensor *x = tensor(SHAPE(1, 1, 3, 3), FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9));
    IgTensor *y = ig_module_forward(m, x, &error);
    CHECK(y);
    CLOSE(y, 1e-6, 37.5f, 47.5f, 67.5f, 77.5f); // 1 + 4 + 12 + 20 and so on
    CHECK(ig_backward(ig_sum(y, IG_ALL, false, &error), NULL, NULL, &error));
    CLOSE(ig_grad(ig_module_tensor(m, "weight"), &error), 1e-6, 12, 16, 24, 28);
    CLOSE(ig_grad(ig_module_tensor(m, "bias"), &error), 0, 4);
    ig_module_release(m);
    ig_scope_end(scope);
}

static void batch_norm_module(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgModule *m = ig_batch_norm_new(device, IgFloat32, 2, 0, 0, true, &error);
    CHECK(m);
    // Channel 0: 1, 3 (mean 2, variance 1, with n - 1: 2); channel 1: 10, 10.
    IgTensor *x = tensor(SHAPE(2, 2), FLOATS(1, 10, 3, 10));
    CLOSE(ig_module_forward(m, x, &error), 1e-4, -1, 0, 1, 0);
    CLOSE(ig_module_tensor(m, "running_mean"), 1e-6, 0.2f, 1);
    CLOSE(ig_module_tensor(m, "running_var"), 1e-6, 1.1f, 0.9f);
    CLOSE(ig_module_tensor(m, "num_batches_tracked"), 0, 1);
    ig_module_set_training(m, false);
    CLOSE(ig_module_forward(m, x, &error), 1e-4, 0.7627701f, 9.4867804f, 2.6696951f, 9.4867804f);
    CLOSE(ig_module_tensor(m, "num_batches_tracked"), 0, 1);
    assert_int_equal(ig_module_parameter_count(m), 2);
    IgDict *dict = ig_module_state_dict(m, &error);
    assert_int_equal(ig_dict_count(dict), 5);
    ig_dict_release(dict);
    ig_module_release(m);
    ig_scope_end(scope);
}

static void dropout_module(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgModule *m = ig_dropout_new(0.25, 7, &error), *other = ig_dropout_new(0.25, 7, &error);
    IgTensor *x = ig_ones(device, IgFloat32, SHAPE(4000), &error);
    IgTensor *first = ig_module_forward(m, x, &error), *second = ig_module_forward(m, x, &error);
    CHECK(first && second);
    float *a = floats_of(first), *b = floats_of(second);
    int zeros = 0, differ = 0;
    for (int i = 0; i < 4000; i++) {
        zeros += a[i] == 0;
        differ += a[i] != b[i];
        assert_true(a[i] == 0 || fabsf(a[i] - 1 / 0.75f) < 1e-6f);
    }
    free(a);
    free(b);
    assert_true(zeros > 850 && zeros < 1150 && differ > 1000); // 1000 within five deviations of 27
    SAME(ig_module_forward(other, x, &error), first, 0);       // a run can be repeated
    ig_module_set_training(m, false);
    SAME(ig_module_forward(m, x, &error), x, 0);
    ig_module_release(m);
    ig_module_release(other);
    FAILS(ig_dropout_new(1.5, 1, &error), IgErrorArgument, "1.5");
    ig_scope_end(scope);
}

static void linear_and_activation_are_one_kernel(void **state) {
    (void)state;
    IgModule *m = mlp(1);
    for (int rank = 2; rank <= 4; rank++) {
        IgScope *scope = ig_scope_begin();
        IgTensor *x = random_tensor(IgFloat32, rank, (int64_t[]){2, 2, 2, 2}, 1);
        ig_no_grad_begin();
        IgTensor *y = ig_module_forward(m, x, &error);
        ig_no_grad_end();
        CHECK(y);
        assert_int_equal(kernels_for(y), 3);
        ig_scope_end(scope);
    }
    ig_module_release(m);
}

// ---- A module of one's own ----

static int released;
static void release_context(void *context) {
    (void)context;
    released++;
}
static IgTensor *residual(void *context, IgModule *m, IgTensor *x, MTLError **e) {
    (void)context;
    IgTensor *y = ig_module_forward(ig_module_child(m, 0), x, e);
    return ig_add(ig_mul(x, ig_module_tensor(m, "scale"), e), y, e);
}
static IgTensor *hand_through(void *context, IgModule *m, IgTensor *x, MTLError **e) {
    (void)x, (void)e;
    return context ? x : ig_module_tensor(m, "scale");
}

static void a_module_of_ones_own(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgModule *m = ig_module_new("residual", residual, NULL, release_context, &error);
    CHECK(m);
    CHECK(ig_module_add_parameter(m, "scale", tensor(SHAPE(1), FLOATS(3)), &error));
    CHECK(ig_module_add_module(m, "inner", ig_linear_new(device, IgFloat32, 2, 2, false, 1, &error),
                               &error));
    CHECK(ig_write(ig_module_tensor(m, "inner.weight"), FLOATS(1, 0, 0, 2), 16, &error));
    IgTensor *x = tensor(SHAPE(1, 2), FLOATS(10, 20));
    CLOSE(ig_module_forward(m, x, &error), 0, 40, 100);
    assert_int_equal(ig_module_parameter_count(m), 2);
    FAILS(ig_module_add_parameter(m, "scale", x, &error), IgErrorArgument, "has a 'scale' already");
    FAILS(ig_module_add_parameter(m, "a.b", x, &error), IgErrorArgument, "no name");
    FAILS(ig_module_add_module(m, "itself", ig_module_retain(m), &error), IgErrorArgument, "twice");
    FAILS(ig_module_add_module(m, "again", ig_module_retain(ig_module_child(m, 0)), &error),
          IgErrorArgument, "twice");
    IgTensor *result = ig_relu(ig_module_tensor(m, "scale"), &error);
    FAILS(ig_module_add_parameter(m, "result", result, &error), IgErrorGradient, "is a result");
    ig_module_release(m);
    assert_int_equal(released, 1);
    // What it hands through belongs to nobody twice.
    for (int i = 0; i < 2; i++) {
        m = ig_module_new("through", hand_through, i ? &released : NULL, NULL, &error);
        IgTensor *scale = ig_keep(tensor(SHAPE(1), FLOATS(3)));
        CHECK(ig_module_add_parameter(m, "scale", scale, &error));
        ig_release(scale);
        IgScope *inner = ig_scope_begin();
        CHECK(ig_module_forward(m, x, &error));
        ig_scope_end(inner);
        CLOSE(ig_module_tensor(m, "scale"), 0, 3);
        CLOSE(x, 0, 10, 20);
        ig_module_release(m);
    }
    ig_scope_end(scope);
}

// ---- Training, and states ----

static double train(IgModule *m, IgOptimizer *o, int steps) {
    double value = 0;
    for (int i = 0; i < steps; i++) {
        IgScope *scope = ig_scope_begin();
        IgTensor *x = random_tensor(IgFloat32, SHAPE(64, 2), 99);
        IgTensor *product = ig_mul(ig_select(x, 1, 0, &error), ig_select(x, 1, 1, &error), &error);
        IgTensor *k = ig_cast(ig_gt_scalar(product, 0, &error), IgInt32, &error); // xor
        IgTensor *loss =
            ig_cross_entropy_loss(ig_module_forward(m, x, &error), k, IgReduceMean, &error);
        ig_module_zero_grad(m);
        CHECK(ig_backward(loss, NULL, NULL, &error));
        CHECK(ig_optimizer_step(o, &error));
        if (i == steps - 1) CHECK(ig_item(loss, &value, &error));
        ig_scope_end(scope);
    }
    return value;
}

static char path[] = "/tmp/ingot_module_XXXXXX";

static void training_goes_on_after_loading(void **state) {
    (void)state;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    static const IgOptimizerKind kinds[4] = {IgSGD, IgAdam, IgAdamW, IgRMSprop};
    for (int k = 0; k < 4; k++) {
        IgOptimizerOptions options = ig_optimizer_defaults(kinds[k]);
        options.rate = kinds[k] == IgSGD ? 0.1 : 0.02;
        if (kinds[k] == IgSGD) options.momentum = 0.9;
        IgModule *m = mlp(1), *other = mlp(50);
        IgOptimizer *o = ig_module_optimizer(m, kinds[k], &options, &error);
        double rate = options.rate;
        options.rate = 0.5; // the file has the right one
        IgOptimizer *o2 = ig_module_optimizer(other, kinds[k], &options, &error);
        CHECK(o && o2);
        double start = train(m, o, 1);
        train(m, o, 20);
        CHECK(ig_module_save(m, o, path, &error));
        CHECK(ig_module_load(other, o2, path, &error));
        assert_int_equal(ig_optimizer_steps(o2), 21);
        assert_true(ig_optimizer_rate(o2, 0) == rate);
        double a = train(m, o, 100), b = train(other, o2, 100);
        assert_true(a == b);
        if (!(a < 0.5 * start)) fail_msg("kind %d: the loss went from %g to %g", k, start, a);
        SAME(ig_module_tensor(m, "2.weight"), ig_module_tensor(other, "2.weight"), 0);
        ig_optimizer_release(o);
        ig_optimizer_release(o2);
        ig_module_release(m);
        ig_module_release(other);
    }
    unlink(path);
}

static void states_that_do_not_fit(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgModule *m = mlp(1), *other = mlp(9);
    IgDict *dict = ig_module_state_dict(other, &error);
    IgTensor *before = ig_mul_scalar(ig_module_tensor(m, "0.weight"), 1, &error);
    CHECK(ig_eval(before, &error));
    CHECK(ig_dict_set(dict, "4.bias", tensor(SHAPE(3), FLOATS(1, 2, 3)), &error));
    FAILS(ig_module_load_state_dict(m, dict, true, &error), IgErrorShape,
          "'4.bias' has shape (3,), the module expects (2,)");
    SAME(ig_module_tensor(m, "0.weight"), before, 0); // nothing has changed
    assert_true(ig_dict_remove(dict, "4.bias"));
    FAILS(ig_module_load_state_dict(m, dict, true, &error), IgErrorArgument, "no '4.bias'");
    CHECK(ig_module_load_state_dict(m, dict, false, &error));
    SAME(ig_module_tensor(m, "0.weight"), ig_module_tensor(other, "0.weight"), 0);
    // float16 values, as a view of a larger tensor, for a float32 parameter
    IgTensor *row = ig_from_data(device, IgFloat32, SHAPE(2, 2), FLOATS(1, 2, 3, 4), &error);
    row = ig_select(ig_cast(row, IgFloat16, &error), 0, 1, &error);
    CHECK(ig_dict_set(dict, "4.bias", row, &error));
    CHECK(ig_module_load_state_dict(m, dict, true, &error));
    CLOSE(ig_module_tensor(m, "4.bias"), 0, 3, 4);
    assert_int_equal(ig_type(ig_module_tensor(m, "4.bias")), IgFloat32);
    CHECK(ig_dict_set(dict, "extra", row, &error));
    FAILS(ig_module_load_state_dict(m, dict, true, &error), IgErrorArgument, "has no 'extra'");

    IgOptimizer *adam = ig_module_optimizer(m, IgAdam, NULL, &error);
    IgOptimizer *sgd = ig_module_optimizer(m, IgSGD, NULL, &error);
    IgDict *saved = ig_optimizer_state_dict(adam, &error);
    CHECK(adam && sgd && saved);
    assert_int_equal(ig_dict_count(saved), 12);
    FAILS(ig_optimizer_load_state_dict(sgd, saved, &error), IgErrorArgument, "of Adam for SGD");
    CHECK(ig_dict_set(saved, "3.second", row, &error));
    FAILS(ig_optimizer_load_state_dict(adam, saved, &error), IgErrorShape, "'3.second'");
    CHECK(ig_dict_set_metadata(saved, "optimizer.steps", "-3", &error));
    FAILS(ig_optimizer_load_state_dict(adam, saved, &error), IgErrorArgument, "steps");
    FAILS(ig_optimizer_load_state_dict(adam, dict, &error), IgErrorArgument, "of nothing for Adam");
    ig_dict_release(saved);
    saved = ig_optimizer_state_dict(adam, &error);
    CHECK(ig_dict_set_metadata(saved, "optimizer.group.0", "1 2 3", &error));
    FAILS(ig_optimizer_load_state_dict(adam, saved, &error), IgErrorArgument, "group 0");
    CHECK(ig_dict_set_metadata(saved, "optimizer.group.0", "-1 0 0 0 0 0.9 0.9 0.9 1", &error));
    FAILS(ig_optimizer_load_state_dict(adam, saved, &error), IgErrorArgument, "rate");
    ig_dict_release(saved);
    ig_optimizer_release(adam);
    ig_optimizer_release(sgd);
    ig_dict_release(dict);
    ig_module_release(m);
    ig_module_release(other);
    ig_scope_end(scope);
}

static void groups_have_rates_of_their_own(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgTensor *a = tensor(SHAPE(1), FLOATS(1)), *b = tensor(SHAPE(1), FLOATS(1));
    leaf(a);
    leaf(b);
    IgOptimizerOptions slow = ig_optimizer_defaults(IgSGD);
    slow.rate = 0.25;
    IgOptimizer *o = ig_optimizer_new(IgSGD, 1, &a, &(IgOptimizerOptions){.rate = 0.5}, &error);
    CHECK(ig_optimizer_add_group(o, 1, &b, &slow, &error));
    CHECK(ig_backward(ig_add(a, b, &error), NULL, NULL, &error));
    CHECK(ig_optimizer_step(o, &error));
    CLOSE(a, 0, 0.5f);
    CLOSE(b, 0, 0.75f);
    IgDict *dict = ig_optimizer_state_dict(o, &error);
    assert_non_null(ig_dict_metadata(dict, "optimizer.group.1"));
    ig_optimizer_set_rate(o, -1, 9);
    CHECK(ig_optimizer_load_state_dict(o, dict, &error));
    assert_true(ig_optimizer_rate(o, 0) == 0.5 && ig_optimizer_rate(o, 1) == 0.25);
    IgOptimizerOptions options;
    FAILS(ig_optimizer_options(o, 2, &options, &error), IgErrorIndex, "group 2 of 2");
    slow.momentum = 0.5;
    FAILS(ig_optimizer_set_options(o, 1, &slow, &error), IgErrorArgument, "other state");
    ig_dict_release(dict);
    ig_optimizer_release(o);
    ig_scope_end(scope);
}

// Deeper than names can say, built from the outside in.
static void too_many_inside_each_other(void) {
    IgModule *outer = ig_sequential_new(0, NULL, &error), *at = outer;
    for (int i = 0; i < 100; i++) {
        IgModule *inner = ig_sequential_new(0, NULL, &error);
        CHECK(ig_module_add_module(at, "0", inner, &error));
        at = inner;
    }
    FAILS(ig_module_state_dict(outer, &error), IgErrorArgument, "inside each other");
    FAILS(ig_module_optimizer(outer, IgSGD, NULL, &error), IgErrorArgument, "inside each other");
    ig_module_release(outer);
}

static void bad_arguments(void **state) {
    (void)state;
    too_many_inside_each_other();
    FAILS(ig_linear_new(NULL, IgFloat32, 1, 1, true, 1, &error), IgErrorDevice, "no device");
    FAILS(ig_linear_new(device, IgInt32, 1, 1, true, 1, &error), IgErrorType, "floating");
    FAILS(ig_linear_new(device, IgFloat32, 0, 1, true, 1, &error), IgErrorArgument, "size of 0");
    FAILS(ig_conv2d_new(device, IgFloat32, 3, 4, (int64_t[]){1, 1}, &(IgConvolution){.groups = 2},
                        true, 1, &error),
          IgErrorArgument, "2 groups do not divide 3 and 4");
    FAILS(ig_layer_norm_new(device, IgFloat32, 0, NULL, 0, true, &error), IgErrorArgument,
          "0 axes");
    FAILS(ig_batch_norm_new(device, IgFloat32, 4, 0, 2, true, &error), IgErrorArgument, "momentum");
    FAILS(ig_activation_new((IgActivation)77, &error), IgErrorArgument, "77");
    FAILS(ig_module_new("x", NULL, NULL, NULL, &error), IgErrorArgument, "no function");
    FAILS(ig_sequential_new(2,
                            (IgModule *[]){ig_activation_new(IgActivationReLU, &error),
                                           ig_linear_new(device, IgInt8, 1, 1, true, 1, &error)},
                            &error),
          IgErrorType, "floating"); // the error of the part; the other part is released
    assert_null(ig_module_forward(NULL, NULL, &error));
    ig_module_release(NULL);
    ig_module_set_training(NULL, true);
    assert_int_equal(ig_module_parameter_count(NULL), 0);
    assert_null(ig_module_state_dict(NULL, &error));
    assert_null(error);
    IgModule *m = mlp(1);
    IgTensor *x = random_tensor(IgFloat32, SHAPE(1, 3), 1);
    FAILS(ig_module_forward(m, x, &error), IgErrorShape, "(1, 3)");
    ig_release(x);
    ig_module_release(m);
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(names_and_shapes_are_pytorchs),
        TEST(first_values),
        TEST(what_layers_compute),
        TEST(convolution_module),
        TEST(batch_norm_module),
        TEST(dropout_module),
        TEST(linear_and_activation_are_one_kernel),
        TEST(a_module_of_ones_own),
        TEST(training_goes_on_after_loading),
        TEST(states_that_do_not_fit),
        TEST(groups_have_rates_of_their_own),
        TEST(bad_arguments),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
