// SPDX-License-Identifier: Apache-2.0
// test_user_kernel.c: operations from the user's MSL: values, shapes, scalars, views as inputs,
// gradients by callback, the element-wise form with broadcasting, and errors that name the buffer.
#include "ingot/tensor_kernel.h"
#include "tensor_test.h"

static uint64_t live;
static IgScope *scope;
static int begin(void **state) {
    (void)state;
    live = ig_pool_statistics(ig_device_pool(device)).live_memory;
    return (scope = ig_scope_begin()) ? 0 : -1;
}
static int end(void **state) { // nothing is left
    (void)state;
    ig_scope_end(scope);
    return ig_pool_statistics(ig_device_pool(device)).live_memory == live ? 0 : -1;
}

// As section 10 of the optimisation guide has it: in at buffer 0, out at buffer 1, a thread id.
static const char my_op[] = "#include <metal_stdlib>\n"
                            "using namespace metal;\n"
                            "kernel void fused_my_op_f16(\n"
                            "    device const half *input [[buffer(0)]],\n"
                            "    device half *output [[buffer(1)]],\n"
                            "    uint id [[thread_position_in_grid]]) {\n"
                            "    half x = input[id];\n"
                            "    output[id] = max(x * half(2) + half(1), half(0));\n"
                            "}\n";

static void a_fused_operation_of_ones_own(void **state) {
    (void)state;
    IgUserKernel *kernel = ig_kernel_new(device, my_op, "fused_my_op_f16", &error);
    CHECK(kernel);
    IgTensor *x = random_tensor(IgFloat16, SHAPE(33, 7), 1);
    IgKernelCall call = {
        .n_inputs = 1, .inputs = &x, .type = IgFloat16, .rank = 2, .shape = ig_shape(x)};
    uint64_t before = ig_device_statistics(device).kernels;
    IgTensor *fused = ig_kernel_call(kernel, &call, &error);
    CHECK(fused);
    assert_int_equal(ig_device_statistics(device).kernels - before, 1);
    IgTensor *unfused = ig_relu(ig_add_scalar(ig_mul_scalar(x, 2, &error), 1, &error), &error);
    SAME(fused, unfused, 1e-3);
    // A view is read as it shows, and a value that was not made yet is made.
    IgTensor *turned = ig_transpose(ig_mul_scalar(x, 3, &error), 0, 1, &error);
    call.inputs = &turned;
    call.shape = ig_shape(turned);
    fused = ig_kernel_call(kernel, &call, &error);
    unfused = ig_relu(ig_add_scalar(ig_mul_scalar(turned, 2, &error), 1, &error), &error);
    SAME(fused, unfused, 1e-3);
    // Results are tensors like all others.
    SAME(ig_add(fused, fused, &error), ig_mul_scalar(fused, 2, &error), 0);
    ig_kernel_release(kernel);
}

static const char rows[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void dot_rows(device const float *a [[buffer(0)]], device const float *b "
    "[[buffer(1)]],\n"
    "    device float *out [[buffer(2)]], constant int &n [[buffer(3)]],\n"
    "    constant float &scale [[buffer(4)]], uint2 id [[thread_position_in_grid]]) {\n"
    "    float sum = 0;\n"
    "    for (int i = 0; i < n; i++) sum += a[id.y * n + i] * b[id.x * n + i];\n"
    "    out[id.y * 3 + id.x] = scale * sum;\n"
    "}\n";

static void scalars_shapes_and_grids(void **state) {
    (void)state;
    IgUserKernel *kernel = ig_kernel_new(device, rows, "dot_rows", &error);
    CHECK(kernel);
    IgTensor *in[2] = {random_tensor(IgFloat32, SHAPE(4, 5), 1),
                       random_tensor(IgFloat32, SHAPE(3, 5), 2)};
    IgKernelScalar scalars[2] = {{IgInt32, 5}, {IgFloat32, 0.5}};
    IgKernelCall call = {.n_inputs = 2,
                         .inputs = in,
                         .type = IgFloat32,
                         .rank = 2,
                         .shape = (int64_t[]){4, 3},
                         .n_scalars = 2,
                         .scalars = scalars,
                         .threads = {3, 4, 1},
                         .threadgroup = {3, 2, 1}};
    IgTensor *expected =
        ig_mul_scalar(ig_matmul(in[0], ig_transpose(in[1], 0, 1, &error), &error), 0.5, &error);
    SAME(ig_kernel_call(kernel, &call, &error), expected, 1e-6);
    call.threadgroup = (MTLSize){0};
    SAME(ig_kernel_call(kernel, &call, &error), expected, 1e-6);
    // Many of them, all in order.
    IgTensor *x = in[0];
    IgUserKernel *more = ig_kernel_new_elementwise(device, "x", "s", "x + s", &error);
    for (int i = 0; i < 100; i++) {
        IgKernelCall add = {.n_inputs = 1,
                            .inputs = (IgTensor *[]){x},
                            .type = IgFloat32,
                            .n_scalars = 1,
                            .scalars = &(IgKernelScalar){IgFloat32, 1}};
        x = ig_kernel_call(more, &add, &error);
        CHECK(x);
    }
    SAME(x, ig_add_scalar(in[0], 100, &error), 1e-5);
    ig_kernel_release(more);
    ig_kernel_release(kernel);
}

// y = (2 x + 1)+, dy/dx = 2 where y > 0
static bool my_backward(void *context, const IgKernelGradient *what, IgTensor **grads,
                        MTLError **e) {
    ++*(int *)context;
    IgTensor *on = ig_gt_scalar(what->output, 0, e);
    grads[0] = ig_mul(ig_mul_scalar(what->grad, 2, e), ig_cast(on, IgFloat16, e), e);
    return grads[0] != NULL;
}

static bool failing_backward(void *context, const IgKernelGradient *what, IgTensor **grads,
                             MTLError **e) {
    (void)what;
    if (context) grads[0] = ig_ones(device, IgFloat16, SHAPE(7), e);
    return context != NULL;
}

static void gradients_by_callback(void **state) {
    (void)state;
    int calls = 0;
    IgUserKernel *kernel = ig_kernel_new(device, my_op, "fused_my_op_f16", &error);
    IgTensor *x = random_tensor(IgFloat16, SHAPE(5, 3), 1);
    leaf(x);
    IgKernelCall call = {
        .n_inputs = 1, .inputs = &x, .type = IgFloat16, .rank = 2, .shape = ig_shape(x)};
    IgTensor *y = ig_kernel_call(kernel, &call, &error);
    assert_false(ig_requires_grad(y)); // nobody said how
    ig_kernel_set_backward(kernel, my_backward, &calls, NULL);
    y = ig_kernel_call(kernel, &call, &error);
    assert_true(ig_requires_grad(y));
    CHECK(ig_backward(ig_sum(y, IG_ALL, false, &error), NULL, NULL, &error));
    assert_int_equal(calls, 1);
    IgTensor *on = ig_cast(ig_gt_scalar(x, -0.5, &error), IgFloat16, &error);
    SAME(ig_grad(x, &error), ig_mul_scalar(on, 2, &error), 0);

    IgTensor *before = ig_grad(x, &error);
    ig_kernel_set_backward(kernel, failing_backward, NULL, NULL);
    y = ig_sum(ig_kernel_call(kernel, &call, &error), IG_ALL, false, &error);
    FAILS(ig_backward(y, NULL, NULL, &error), IgErrorGradient, "fused_my_op_f16");
    SAME(ig_grad(x, &error), before, 0);
    ig_kernel_set_backward(kernel, failing_backward, &calls, NULL);
    y = ig_sum(ig_kernel_call(kernel, &call, &error), IG_ALL, false, &error);
    FAILS(ig_backward(y, NULL, NULL, &error), IgErrorShape,
          "a gradient of shape (7,) for an input of shape (5, 3)");
    ig_kernel_release(kernel); // the graph above holds it
}

static bool affine_backward(void *context, const IgKernelGradient *what, IgTensor **grads,
                            MTLError **e) {
    (void)context;
    assert_int_equal(what->n_scalars, 1);
    grads[0] = ig_mul_scalar(ig_mul(what->grad, what->inputs[1], e), what->scalars[0].value, e);
    grads[1] = ig_mul_scalar(ig_mul(what->grad, what->inputs[0], e), what->scalars[0].value, e);
    grads[2] = what->grad;
    return grads[0] && grads[1];
}

static IgTensor *call_affine(void *context, int n, IgTensor *const *in, MTLError **e) {
    IgKernelCall call = {.n_inputs = n,
                         .inputs = in,
                         .type = IgFloat32,
                         .n_scalars = 1,
                         .scalars = &(IgKernelScalar){IgFloat32, 3}};
    return ig_kernel_call(context, &call, e);
}

static int released;
static void release_context(void *context) {
    (void)context;
    released++;
}

static void elementwise_with_broadcasting(void **state) {
    (void)state;
    IgUserKernel *kernel =
        ig_kernel_new_elementwise(device, "x, w, b", "s", "x * w * s + b", &error);
    CHECK(kernel);
    IgTensor *in[3] = {random_tensor(IgFloat32, SHAPE(4, 3, 5), 1),
                       random_tensor(IgFloat32, SHAPE(3, 1), 2),
                       random_tensor(IgFloat32, SHAPE(5), 3)};
    IgTensor *expected = ig_mul_scalar(ig_mul(in[0], in[1], &error), 3, &error);
    expected = ig_add(expected, in[2], &error);
    SAME(call_affine(kernel, 3, in, &error), expected, 1e-6);
    for (int i = 0; i < 3; i++) leaf(in[i]);
    ig_kernel_set_backward(kernel, affine_backward, NULL, release_context);
    IgGradientCheck check;
    CHECK(ig_gradient_check(call_affine, kernel, 3, in, NULL, &check, &error));
    assert_true(check.passed);
    ig_kernel_release(kernel);
    assert_int_equal(released, 1);

    // Types: integers stay integers, comparisons give bool, views are read in place.
    kernel = ig_kernel_new_elementwise(device, "x", NULL, "x % 3 == 1", &error);
    IgTensor *n = ig_arange(device, IgInt64, 0, 1, 6, &error);
    IgTensor *odd = ig_slice(n, 0, 1, 6, 2, &error); // 1 3 5
    IgKernelCall call = {.n_inputs = 1, .inputs = &odd, .type = IgBool};
    CLOSE(ig_kernel_call(kernel, &call, &error), 0, 1, 0, 0);
    IgTensor *whole = tensor(SHAPE(2), FLOATS(1, 2));
    call.inputs = &whole; // % is not for float: it compiles for one type and not for the other
    FAILS(ig_kernel_call(kernel, &call, &error), IgErrorCompilation, "elementwise");
    ig_kernel_release(kernel);
}

static void errors_name_the_buffer(void **state) {
    (void)state;
    FAILS(ig_kernel_new(device, "kernel void x(", "x", &error), IgErrorCompilation, "error");
    FAILS(ig_kernel_new(device, my_op, "other", &error), IgErrorCompilation, "no such function");
    FAILS(ig_kernel_new(NULL, my_op, "x", &error), IgErrorDevice, "no device");
    FAILS(ig_kernel_new(device, NULL, "x", &error), IgErrorArgument, "no source");
    FAILS(ig_kernel_new_elementwise(device, "x,", NULL, "x", &error), IgErrorArgument, "names");
    FAILS(ig_kernel_new_elementwise(device, "1x", NULL, "x", &error), IgErrorArgument, "names");
    FAILS(ig_kernel_new_elementwise(device, NULL, NULL, "1", &error), IgErrorArgument, "one input");

    IgUserKernel *kernel = ig_kernel_new(device, my_op, "fused_my_op_f16", &error);
    IgTensor *x = random_tensor(IgFloat32, SHAPE(4), 1), *h = ig_cast(x, IgFloat16, &error);
    IgKernelCall call = {
        .n_inputs = 1, .inputs = &x, .type = IgFloat16, .rank = 1, .shape = (int64_t[]){4}};
    FAILS(ig_kernel_call(kernel, &call, &error), IgErrorType,
          "buffer 0, 'input', is half in the source, but the input is float32");
    call.inputs = &h;
    call.type = IgFloat32;
    FAILS(ig_kernel_call(kernel, &call, &error), IgErrorType, "but the output is float32");
    call.type = IgFloat16;
    call.n_inputs = 0;
    FAILS(ig_kernel_call(kernel, &call, &error), IgErrorArgument, "const");
    call.n_inputs = 17;
    FAILS(ig_kernel_call(kernel, &call, &error), IgErrorArgument, "17 inputs");
    call.n_inputs = 1;
    call.threads = (MTLSize){4, 1, 1};
    call.threadgroup = (MTLSize){4096, 4, 1};
    FAILS(ig_kernel_call(kernel, &call, &error), IgErrorArgument, "4096 x 4 x 1");
    assert_null(ig_kernel_call(
        kernel, &(IgKernelCall){.n_inputs = 1, .inputs = (IgTensor *[]){NULL}}, &error));
    assert_null(error);
    FAILS(ig_kernel_call(NULL, &call, &error), IgErrorArgument, "no kernel");
    ig_kernel_release(kernel);
    ig_kernel_release(NULL);

    kernel = ig_kernel_new(device, rows, "dot_rows", &error);
    IgTensor *in[2] = {x, x};
    call = (IgKernelCall){
        .n_inputs = 2, .inputs = in, .type = IgFloat32, .rank = 1, .shape = (int64_t[]){4}};
    FAILS(ig_kernel_call(kernel, &call, &error), IgErrorArgument, "buffer 3, 'n', is not there");
    IgKernelScalar wrong[2] = {{IgFloat32, 1}, {IgFloat32, 1}};
    call.n_scalars = 2, call.scalars = wrong;
    FAILS(ig_kernel_call(kernel, &call, &error), IgErrorType, "the scalar is float32");
    ig_kernel_release(kernel);
    kernel = ig_kernel_new(device,
                           "kernel void w(device float *a [[buffer(0)]],"
                           " device float *b [[buffer(1)]]) { a[0] = b[0] = 1; }",
                           "w", &error);
    call = (IgKernelCall){
        .n_inputs = 1, .inputs = in, .type = IgFloat32, .rank = 1, .shape = (int64_t[]){4}};
    FAILS(ig_kernel_call(kernel, &call, &error), IgErrorArgument, "must be const");
    ig_kernel_release(kernel);
}

// ---- In place ----

static IgUserKernel *step_kernel(float factor) {
    static const char source[] =
        "#include <metal_stdlib>\n"
        "constant float factor [[function_constant(0)]];\n"
        "kernel void step(device float *x [[buffer(0)]], device const float *g [[buffer(1)]],\n"
        "                 uint i [[thread_position_in_grid]]) { x[i] -= factor * g[i]; }\n";
    MTLDevice *metal = ig_device_metal(device);
    MTLLibrary *library = mtl_device_new_library_with_source(metal, source, NULL, &error);
    CHECK(library);
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &factor, MTLDataTypeFloat, 0);
    MTLFunction *f = mtl_library_new_function_with_constant_values(library, "step", values, &error);
    CHECK(f);
    IgUserKernel *k = ig_kernel_new_with_function(device, f, mtl_size_make(4, 1, 1), &error);
    CHECK(k);
    mtl_release(f), mtl_release(values), mtl_release(library);
    return k;
}

static void in_place(void **state) {
    (void)state;
    IgUserKernel *k = step_kernel(2);
    float xs[8] = {0, 1, 2, 3, 4, 5, 6, 7}, gs[8] = {1, 1, 1, 1, 2, 2, 2, 2};
    IgTensor *x = ig_from_data(device, IgFloat32, 1, (int64_t[]){8}, xs, &error);
    IgTensor *g = ig_mul_scalar(ig_from_data(device, IgFloat32, 1, (int64_t[]){8}, gs, &error), 10,
                                &error); // made when the kernel needs it
    IgKernelArgument a[2] = {{x, 0}, {g, 0}};
    IgKernelDispatch d = {
        .n_arguments = 2, .arguments = a, .threadgroups = {1, 1, 1}, .threadgroup = {4, 1, 1}};
    CHECK(ig_kernel_dispatch(k, &d, &error));
    a[0].offset = a[1].offset = 16; // the other half
    CHECK(ig_kernel_dispatch(k, &d, &error));
    CHECK(ig_kernel_dispatch(k, &d, &error));
    CLOSE(x, 0, -20, -19, -18, -17, -76, -75, -74, -73);
    CLOSE(g, 0, 10, 10, 10, 10, 20, 20, 20, 20); // it is const
    IgTensor *y = ig_add_scalar(x, 1, &error);   // results are used like all others
    CLOSE(y, 0, -19, -18, -17, -16, -75, -74, -73, -72);

    // Tensors do not change under those who look at them.
    a[0].offset = a[1].offset = 0;
    IgTensor *half = ig_slice(x, 0, 0, 4, 1, &error);
    FAILS(ig_kernel_dispatch(k, &d, &error), IgErrorArgument, "another tensor shows its values");
    a[0].tensor = half; // and the other way round
    FAILS(ig_kernel_dispatch(k, &d, &error), IgErrorArgument, "another tensor shows its values");
    IgTensor *z = ig_from_data(device, IgFloat32, 1, (int64_t[]){8}, xs, &error);
    IgTensor *later = ig_mul_scalar(z, 3, &error);
    a[0].tensor = z;
    FAILS(ig_kernel_dispatch(k, &d, &error), IgErrorArgument, "will be made from them");
    CHECK(ig_eval(later, &error));
    CHECK(ig_kernel_dispatch(k, &d, &error));
    CLOSE(later, 0, 0, 3, 6, 9, 12, 15, 18, 21);
    IgTensor *w = ig_from_data(device, IgFloat32, 1, (int64_t[]){8}, xs, &error);
    CHECK(ig_set_requires_grad(w, true, &error));
    a[0].tensor = w;
    FAILS(ig_kernel_dispatch(k, &d, &error), IgErrorArgument, "graph of gradients");

    a[0] = (IgKernelArgument){z, 32};
    FAILS(ig_kernel_dispatch(k, &d, &error), IgErrorArgument, "byte 32 lies outside");
    a[0].offset = 0;
    d.threadgroup.width = 4096;
    FAILS(ig_kernel_dispatch(k, &d, &error), IgErrorArgument, "threadgroups of 4096");
    d.threadgroup.width = 4, d.threadgroups.height = 0;
    FAILS(ig_kernel_dispatch(k, &d, &error), IgErrorArgument, "1 x 0 x 1 threadgroups");
    d.threadgroups.height = 1, d.n_arguments = 32;
    FAILS(ig_kernel_dispatch(k, &d, &error), IgErrorArgument, "0 to 31 arguments");
    FAILS(ig_kernel_dispatch(NULL, &d, &error), IgErrorArgument, "no kernel");
    FAILS(ig_kernel_dispatch(k, NULL, &error), IgErrorArgument, "no dispatch");
    FAILS(ig_kernel_new_with_function(device, NULL, (MTLSize){0}, &error), IgErrorArgument,
          "no function");
    ig_kernel_release(k);
    k = ig_kernel_new_elementwise(device, "x", "", "x + 1", &error);
    FAILS(ig_kernel_dispatch(k, &d, &error), IgErrorArgument, "element-wise");
    ig_kernel_release(k);
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_fused_operation_of_ones_own), TEST(scalars_shapes_and_grids),
        TEST(gradients_by_callback),         TEST(elementwise_with_broadcasting),
        TEST(errors_name_the_buffer),        TEST(in_place),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
