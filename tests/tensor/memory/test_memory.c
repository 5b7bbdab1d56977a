// SPDX-License-Identifier: Apache-2.0
// test_memory.c: the tensor library without memory. The library's sources are part of this program,
// its calls of malloc come here, and the 1st, 2nd, ... one fails: every time there is an error or
// the right result, no scope stays open, no buffer is left, and afterwards everything works.
#include "../tensor_test.h"
#include "ingot/backend.h"
#include "ingot/tensor_kernel.h"
#include "tensor/tensor_int.h"

// ---- malloc and its like, as the library's files call them ----

static _Thread_local long countdown = -1; // calls until the one that fails; negative: none
static _Thread_local bool failed;

static bool fails(void) {
    if (countdown < 0 || countdown-- > 0) return false;
    failed = true;
    return true;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t n) { return fails() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t n) { return fails() ? NULL : __real_realloc(p, n); }
char *__wrap_strdup(const char *s) { return fails() ? NULL : __real_strdup(s); }
char *__wrap_strndup(const char *s, size_t n) { return fails() ? NULL : __real_strndup(s, n); }

// ---- What is repeated: true if everything went well ----

static MTLError *why;

static bool operations(void) {
    IgScope *scope = ig_scope_begin();
    if (!scope) return false;
    bool ok = false;
    float out[4] = {0};
    IgTensor *x = ig_from_data(device, IgFloat32, SHAPE(2, 2), FLOATS(1, 2, 3, 4), &why);
    IgTensor *w = ig_from_data(device, IgFloat32, SHAPE(2, 2), FLOATS(1, 0, 0, 1), &why);
    IgTensor *k = ig_from_data(device, IgInt32, SHAPE(2), (int32_t[]){0, 1}, &why);
    if (x && w && k && ig_set_requires_grad(w, true, &why)) {
        IgTensor *y = ig_fused_linear(x, w, NULL, x, IgActivationReLU, &why); // 2x
        IgTensor *both[2] = {y, x};
        IgTensor *joined = ig_concat(2, both, 0, &why);
        IgTensor *sums = ig_sum(ig_softmax(joined, -1, &why), -1, false, &why); // ones
        IgTensor *loss = ig_fused_softmax_cross_entropy(y, k, IgReduceMean, &why);
        IgTensor *turned = ig_contiguous(ig_transpose(y, 0, 1, &why), &why);
        ok = loss && sums && ig_backward(loss, NULL, NULL, &why) && ig_has_grad(w) &&
             ig_read(turned, out, sizeof out, &why) && out[1] == 6 &&
             ig_read(sums, out, sizeof out, &why) && fabsf(out[3] - 1) < 1e-6f;
    }
    ig_scope_end(scope);
    return ok;
}

static bool training(void) {
    IgModule *net =
        ig_sequential_new(3,
                          (IgModule *[]){ig_linear_new(device, IgFloat32, 2, 3, true, 1, &why),
                                         ig_activation_new(IgActivationTanh, &why),
                                         ig_linear_new(device, IgFloat32, 3, 1, true, 2, &why)},
                          &why);
    IgOptimizer *adam = net ? ig_module_optimizer(net, IgAdam, NULL, &why) : NULL;
    IgScope *scope = adam ? ig_scope_begin() : NULL;
    bool ok = scope != NULL;
    if (ok) {
        IgTensor *x = ig_from_data(device, IgFloat32, SHAPE(2, 2), FLOATS(1, 2, 3, 4), &why);
        IgTensor *y = ig_module_forward(net, x, &why);
        IgTensor *loss = ig_mean(ig_square(y, &why), IG_ALL, false, &why);
        ok = loss && ig_backward(loss, NULL, NULL, &why) && ig_optimizer_step(adam, &why);
    }
    IgDict *state = ok ? ig_module_state_dict(net, &why) : NULL;
    IgDict *moments = state ? ig_optimizer_state_dict(adam, &why) : NULL;
    ok = moments && ig_module_load_state_dict(net, state, true, &why) &&
         ig_optimizer_load_state_dict(adam, moments, &why);
    ig_scope_end(scope);
    ig_dict_release(state);
    ig_dict_release(moments);
    ig_optimizer_release(adam);
    ig_module_release(net);
    return ok;
}

static const char file_header[] = "{\"__metadata__\":{\"a\":\"b\"},\"x\":{\"dtype\":\"F32\","
                                  "\"shape\":[1],\"data_offsets\":[0,4]},"
                                  "\"y\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,8]}}";

static bool files(void) {
    unsigned char bytes[256] = {sizeof file_header - 1};
    memcpy(bytes + 8, file_header, sizeof file_header - 1);
    IgDict *dict = ig_read_safetensors(device, bytes, 8 + sizeof file_header - 1 + 8, "f", &why);
    bool ok = dict && ig_dict_count(dict) == 2 && ig_save_safetensors("/dev/null", dict, &why) &&
              ig_save_npy("/dev/null", ig_dict_get(dict, "y"), &why);
    ig_dict_release(dict);
    static const unsigned char npy[] =
        "\x93NUMPY\x01\x00\x39\x00{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1)}\n"
        "\0\0\0\0\0\0\xf0\x3f";
    IgTensor *t = ok ? ig_read_npy(device, npy, sizeof npy - 1, "f", &why) : NULL;
    double value = 0;
    ok = t && ig_item(t, &value, &why) && value == 1;
    ig_release(t);
    return ok;
}

static bool backward(void *context, const IgKernelGradient *what, IgTensor **grads, MTLError **e) {
    (void)context;
    grads[0] = ig_mul_scalar(what->grad, 2, e);
    return grads[0] != NULL;
}

static bool kernels_of_ones_own(void) {
    IgScope *scope = ig_scope_begin();
    if (!scope) return false;
    IgUserKernel *kernel = ig_kernel_new_elementwise(device, "x", "s", "x * s", &why);
    ig_kernel_set_backward(kernel, backward, NULL, NULL);
    IgTensor *x = ig_from_data(device, IgFloat32, SHAPE(2), FLOATS(1, 2), &why);
    bool ok = kernel && x && ig_set_requires_grad(x, true, &why);
    if (ok) {
        IgKernelCall call = {.n_inputs = 1,
                             .inputs = &x,
                             .type = IgFloat32,
                             .n_scalars = 1,
                             .scalars = &(IgKernelScalar){IgFloat32, 2}};
        IgTensor *y = ig_sum(ig_kernel_call(kernel, &call, &why), IG_ALL, false, &why);
        double value = 0;
        ok = y && ig_item(y, &value, &why) && value == 6 && ig_backward(y, NULL, NULL, &why);
    }
    ig_kernel_release(kernel);
    ig_scope_end(scope);
    return ok;
}

static bool back_end(void) {
    IgMetalBackend *b = ig_metal_backend_initialize(&why);
    IgMetalOps *ops = b ? ig_metal_ops_new(b, &why) : NULL;
    float *x = ops ? ig_metal_backend_allocate(b, 8, &why) : NULL;
    bool ok = x != NULL;
    if (ok) {
        x[0] = 1, x[1] = 2;
        ok = ig_metal_ops_add_ptr(ops, x, x, x, 2, &why) && x[1] == 4;
    }
    ig_metal_backend_deallocate(b, x, 8);
    ig_metal_ops_release(ops);
    ig_metal_backend_release(b);
    return ok;
}

static bool devices_and_pools(void) {
    IgPool *pool = ig_pool_with_capacity(ig_device_metal(device), 2, &why);
    MTLBuffer *b = pool ? ig_pool_allocate(pool, 100, &why) : NULL;
    bool ok = b && ig_pool_recycle(pool, b, NULL);
    ig_pool_release(pool);
    return ok;
}

// ---- Every one of its allocations fails once ----

static void closed_scopes(void) {
    IgTensor *t = ig_scalar(device, IgFloat32, 1, &error);
    CHECK(t);
    assert_null(t->scope);
    ig_release(t);
}

static void every_allocation_fails(bool body(void)) {
    assert_true(body()); // kernels are compiled once
    assert_null(why);
    uint64_t live = ig_pool_statistics(ig_device_pool(device)).live_memory;
    long n = 0;
    for (bool all = false; !all; n++) {
        failed = false;
        countdown = n;
        bool ok = body();
        countdown = -1;
        all = !failed;
        if (all) assert_true(ok);
        if (!ok && !why) fail_msg("allocation %ld failed, and no error says so", n);
        mtl_release(why);
        why = NULL;
        closed_scopes();
        CHECK(ig_device_synchronize(device, &error));
        if (ig_pool_statistics(ig_device_pool(device)).live_memory != live)
            fail_msg("allocation %ld failed, and memory is left", n);
        assert_true(n < 5000);
    }
    print_message("%ld allocations\n", n - 1);
    assert_true(n > 1 && body());
}

#define TEST(BODY)                                                                                 \
    static void test_##BODY(void **state) {                                                        \
        (void)state;                                                                               \
        every_allocation_fails(BODY);                                                              \
    }
TEST(operations)
TEST(training)
TEST(files)
TEST(kernels_of_ones_own)
TEST(back_end)
TEST(devices_and_pools)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), cmocka_unit_test(test_training),
        cmocka_unit_test(test_files),      cmocka_unit_test(test_kernels_of_ones_own),
        cmocka_unit_test(test_back_end),   cmocka_unit_test(test_devices_and_pools),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
