// SPDX-License-Identifier: Apache-2.0
// test_optimization_guide.c: the code of the "Metal GPU Optimization Guide", section by section and
// line by line, in C. A comment before a statement is the line of the guide it stands for.
// Benchmarks are run for their formulas, with few repetitions; nothing is asserted about time.
#include <time.h>
#include "ingot/tensor_kernel.h"
#include "tensor_test.h"

// The guide's default: half precision.
static IgTensor *half_tensor(int rank, const int64_t *shape, uint64_t seed) {
    return random_tensor(IgFloat16, rank, shape, seed);
}

static int count(uint64_t before) {
    CHECK(ig_device_synchronize(device, &error));
    return (int)(ig_device_statistics(device).kernels - before);
}
static uint64_t kernels(void) { return ig_device_statistics(device).kernels; }

// ---- 1. Fused operations ----

static void matmul_and_activation(void **state) {
    (void)state;
    IgTensor *a = half_tensor(SHAPE(64, 64), 1), *b = half_tensor(SHAPE(64, 64), 2);
    // Fused: 1 kernel launch
    // let result = a.matmul_with_activation(&b, Activation::ReLU)?;
    uint64_t before = kernels();
    IgTensor *result = ig_matmul_with_activation(a, b, IgActivationReLU, &error);
    CHECK(ig_eval(result, &error));
    assert_int_equal(count(before), 1);
    // Unfused: 2 kernel launches + intermediate buffer
    // let temp = a.matmul(&b)?;
    before = kernels();
    IgTensor *temp = ig_matmul(a, b, &error);
    CHECK(ig_eval(temp, &error)); // asked for by itself: else it would be fused too
    // let result = temp.relu()?;
    IgTensor *unfused = ig_relu(temp, &error);
    CHECK(ig_eval(unfused, &error));
    assert_int_equal(count(before), 2);
    SAME(result, unfused, 0);
    // pub enum Activation { None = 0, ReLU = 1, GELU = 2 }
    assert_int_equal(IgActivationNone, 0);
    assert_int_equal(IgActivationReLU, 1);
    assert_int_equal(IgActivationGELU, 2);
    // GELU(x) = 0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3)))
    IgTensor *one = ig_ones(device, IgFloat32, SHAPE(1, 1), &error);
    for (double x = -3; x <= 3; x += 0.75) {
        double gelu = 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
        IgTensor *t = tensor(SHAPE(1, 1), FLOATS((float)x));
        CLOSE(ig_matmul_with_activation(t, one, IgActivationGELU, &error), 2e-6, (float)gelu);
    }
}

static void elementwise_and_relu(void **state) {
    (void)state;
    IgTensor *a = half_tensor(SHAPE(100, 100), 1), *b = half_tensor(SHAPE(100, 100), 2);
    // let result = a.fused_add_relu(&b)?;
    uint64_t before = kernels();
    IgTensor *result = ig_fused_add_relu(a, b, &error);
    CHECK(ig_eval(result, &error));
    assert_int_equal(count(before), 1);
    // let temp = a.add(&b)?; let result = temp.relu()?;
    IgTensor *temp = ig_add(a, b, &error);
    SAME(result, ig_relu(temp, &error), 0);
    // let result = a.fused_mul_relu(&b)?;
    before = kernels();
    result = ig_fused_mul_relu(a, b, &error);
    CHECK(ig_eval(result, &error));
    assert_int_equal(count(before), 1);
    SAME(result, ig_relu(ig_mul(a, b, &error), &error), 0);
}

static void affine_transformation(void **state) {
    (void)state;
    IgTensor *x = half_tensor(SHAPE(32, 48), 1);
    IgTensor *scale = half_tensor(SHAPE(48), 2), *bias = half_tensor(SHAPE(48), 3);
    // let result = x.fused_affine(&scale, &bias)?;
    uint64_t before = kernels();
    IgTensor *result = ig_fused_affine(x, scale, bias, &error);
    CHECK(ig_eval(result, &error));
    assert_int_equal(count(before), 1);
    // let temp = x.mul(&scale)?; let result = temp.add(&bias)?;
    IgTensor *temp = ig_mul(x, scale, &error);
    SAME(result, ig_add(temp, bias, &error), 0);
}

// ---- 2. Buffer pooling ----

static void monitoring_the_pool(void **state) {
    (void)state;
    // let device = MetalDevice::new()?;
    IgDevice *own = ig_device_new(ig_device_metal(device), &error);
    CHECK(own);
    for (int i = 0; i < 20; i++) {
        IgTensor *x = ig_keep(ig_randn(own, IgFloat16, SHAPE(1000), 1, &error));
        CHECK(x);
        ig_release(x);
    }
    // let stats = device.buffer_pool_stats();
    IgPoolStatistics stats = ig_pool_statistics(ig_device_pool(own));
    // println!(...)
    print_message("Buffer Pool Stats:\n");
    print_message("  Total buffers: %llu\n", (unsigned long long)stats.total_pooled);
    print_message("  Size classes: %llu\n", (unsigned long long)stats.size_classes);
    print_message("  Total memory: %llu bytes\n", (unsigned long long)stats.total_memory);
    print_message("  Allocations: %llu\n", (unsigned long long)stats.allocation_count);
    print_message("  Reuses: %llu\n", (unsigned long long)stats.reuse_count);
    // let reuse_rate = 100.0 * stats.reuse_count as f64 / stats.allocation_count as f64;
    double reuse_rate = 100.0 * (double)stats.reuse_count / (double)stats.allocation_count;
    print_message("  Reuse rate: %.1f%%\n", reuse_rate);
    assert_int_equal(stats.allocation_count, 20);
    assert_true(reuse_rate == 95);
    assert_int_equal(stats.total_pooled, 1);
    ig_device_release(own);
}

static void configuring_the_pool(void **state) {
    (void)state;
    // Default: 10 buffers per size class
    // let device = MetalDevice::new()?;
    assert_int_equal(ig_pool_capacity(ig_device_pool(device)), 10);
    // let metal_device = metal::Device::system_default().unwrap();
    MTLDevice *metal_device = mtl_create_system_default_device();
    // let pool = BufferPool::with_capacity(&metal_device, 20);
    IgPool *pool = ig_pool_with_capacity(metal_device, 20, &error);
    CHECK(pool);
    assert_int_equal(ig_pool_capacity(pool), 20);
    MTLBuffer *buffers[30];
    for (int i = 0; i < 30; i++) CHECK((buffers[i] = ig_pool_allocate(pool, 2048, &error)));
    for (int i = 0; i < 30; i++) ig_pool_recycle(pool, buffers[i], NULL);
    assert_int_equal(ig_pool_statistics(pool).total_pooled, 20);
    ig_pool_release(pool);
    mtl_release(metal_device);
}

static void memory_management(void **state) {
    (void)state;
    IgPool *pool = ig_device_pool(device);
    for (int i = 0; i < 4; i++) {
        IgScope *inner = ig_scope_begin();
        half_tensor(SHAPE(512), 1); // 1024 bytes
        half_tensor(SHAPE(100000), 2);
        half_tensor(SHAPE(100000), 3);
        ig_scope_end(inner);
    }
    const uint64_t max_memory_bytes = 300000;
    assert_true(ig_pool_statistics(pool).total_memory > max_memory_bytes);
    // device.buffer_pool().shrink_to_fit(max_memory_bytes);
    ig_pool_shrink_to_fit(pool, max_memory_bytes);
    assert_true(ig_pool_statistics(pool).total_memory <= max_memory_bytes);
    // device.buffer_pool().clear_size(1024);
    uint64_t pooled = ig_pool_statistics(pool).total_pooled;
    ig_pool_clear_size(pool, 1024); // bytes: the class that serves a request of 1024
    assert_true(ig_pool_statistics(pool).total_pooled < pooled);
    // device.buffer_pool().clear();
    ig_pool_clear(pool);
    assert_int_equal(ig_pool_statistics(pool).total_pooled, 0);
}

// ---- 3. and 7.: batches and a model ----

typedef struct Model {
    IgTensor *w1, *w2, *w3;
} Model;

// fn forward(&self, x: &Tensor) -> TensorResult<Tensor>
static IgTensor *forward(const Model *model, IgTensor *x) {
    // let h1 = x.matmul_with_activation(&self.w1, Activation::ReLU)?;
    IgTensor *h1 = ig_matmul_with_activation(x, model->w1, IgActivationReLU, &error);
    // let h2 = h1.matmul_with_activation(&self.w2, Activation::ReLU)?;
    IgTensor *h2 = ig_matmul_with_activation(h1, model->w2, IgActivationReLU, &error);
    // let output = h2.matmul_with_activation(&self.w3, Activation::None)?;
    return ig_matmul_with_activation(h2, model->w3, IgActivationNone, &error);
}

static Model new_model(IgType type) {
    Model m = {ig_mul_scalar(random_tensor(type, SHAPE(8, 16), 1), 0.3, &error),
               ig_mul_scalar(random_tensor(type, SHAPE(16, 16), 2), 0.3, &error),
               ig_mul_scalar(random_tensor(type, SHAPE(16, 4), 3), 0.3, &error)};
    CHECK(m.w1 && m.w2 && m.w3);
    return m;
}

static void batched_inference(void **state) {
    (void)state;
    Model model = new_model(IgFloat16);
    IgTensor *inputs[5], *one_by_one[5], *results[5];
    for (int i = 0; i < 5; i++) inputs[i] = half_tensor(SHAPE(1, 8), (uint64_t)(10 + i));
    // for input in inputs { let output = model.forward(&input)?; results.push(output); }
    for (int i = 0; i < 5; i++) CHECK((one_by_one[i] = forward(&model, inputs[i])));
    // let batch = Tensor::cat(&inputs, 0)?;
    IgTensor *batch = ig_cat(5, inputs, 0, &error);
    // let batch_output = model.forward(&batch)?;
    uint64_t before = kernels();
    IgTensor *batch_output = forward(&model, batch);
    CHECK(ig_eval(batch, &error) && ig_eval(batch_output, &error));
    // let results = batch_output.split(0)?;
    assert_int_equal(ig_split(batch_output, 1, 0, 5, results, &error), 5);
    assert_true(count(before) < 15); // fifteen products one by one
    for (int i = 0; i < 5; i++) SAME(results[i], one_by_one[i], 2e-3);
}

static void batched_elementwise(void **state) {
    (void)state;
    IgTensor *tensors_a[4], *tensors_b[4], *one_by_one[4], *results[4];
    for (int i = 0; i < 4; i++) {
        tensors_a[i] = half_tensor(SHAPE(3, 5), (uint64_t)(20 + i));
        tensors_b[i] = half_tensor(SHAPE(3, 5), (uint64_t)(30 + i));
    }
    // for (a, b) in tensors_a.iter().zip(tensors_b.iter()) { results.push(a.add(b)?); }
    for (int i = 0; i < 4; i++) CHECK((one_by_one[i] = ig_add(tensors_a[i], tensors_b[i], &error)));
    // let stacked_a = Tensor::stack(&tensors_a, 0)?;
    IgTensor *stacked_a = ig_stack(4, tensors_a, 0, &error);
    // let stacked_b = Tensor::stack(&tensors_b, 0)?;
    IgTensor *stacked_b = ig_stack(4, tensors_b, 0, &error);
    // let result = stacked_a.add(&stacked_b)?;
    IgTensor *result = ig_add(stacked_a, stacked_b, &error);
    // let results = result.unstack(0)?;
    assert_int_equal(ig_unstack(result, 0, 4, results, &error), 4);
    for (int i = 0; i < 4; i++) SAME(results[i], one_by_one[i], 0);
}

static void training_loop(void **state) {
    (void)state;
    Model model = new_model(IgFloat32);
    IgTensor *parameters[3] = {ig_detach(model.w1, &error), ig_detach(model.w2, &error),
                               ig_detach(model.w3, &error)};
    for (int i = 0; i < 3; i++) leaf(parameters[i]);
    model = (Model){parameters[0], parameters[1], parameters[2]};
    IgOptimizerOptions options = ig_optimizer_defaults(IgAdam);
    options.rate = 0.01;
    IgOptimizer *optimizer = ig_optimizer_new(IgAdam, 3, parameters, &options, &error);
    CHECK(optimizer);
    IgTensor *x = random_tensor(IgFloat32, SHAPE(32, 8), 5), *w = new_model(IgFloat32).w3;
    IgTensor *y = ig_matmul(ig_tanh(ig_cat(2, (IgTensor *[]){x, x}, 1, &error), &error), w, &error);
    CHECK(ig_eval(y, &error));
    double first = 0, last = 0;
    IgPoolStatistics start = {0};
    // for epoch in 0..epochs { for batch in dataloader {
    for (int epoch = 0; epoch < 150; epoch++) {
        IgScope *inner = ig_scope_begin();
        // let predictions = model.forward(&batch.x)?;
        IgTensor *predictions = forward(&model, x);
        // let loss = mse_loss(&predictions, &batch.y)?;
        IgTensor *loss = ig_mse_loss(predictions, y, IgReduceMean, &error);
        // loss.backward()?;
        CHECK(ig_backward(loss, NULL, NULL, &error));
        // optimizer.step()?;
        CHECK(ig_optimizer_step(optimizer, &error));
        // optimizer.zero_grad()?;
        ig_optimizer_zero_grad(optimizer);
        // Read each time: a loop that does not wait holds as many steps' buffers as it runs ahead.
        CHECK(ig_item(loss, epoch == 0 ? &first : &last, &error));
        ig_scope_end(inner);
        if (epoch == 9) start = ig_pool_statistics(ig_device_pool(device));
    }
    assert_true(last < 0.2 * first);
    // let stats = device.buffer_pool_stats();
    IgPoolStatistics stats = ig_pool_statistics(ig_device_pool(device));
    // println!("Reuse rate: {:.1}%", 100.0 * stats.reuse_count / stats.allocation_count);
    double rate = 100.0 * (double)(stats.reuse_count - start.reuse_count) /
                  (double)(stats.allocation_count - start.allocation_count);
    print_message("Reuse rate: %.1f%%\n", rate);
    assert_true(rate > 95); // the guide: 80-95 %
    ig_optimizer_release(optimizer);
}

// fn process_images(images: Vec<Tensor>) -> TensorResult<Vec<Tensor>>
static void image_pipeline(void **state) {
    (void)state;
    Model model = new_model(IgFloat16);
    IgTensor *images[3], *out[3];
    for (int i = 0; i < 3; i++)
        images[i] = half_tensor(SHAPE(4, 4, 8), (uint64_t)(40 + i)); // H, W, C
    IgTensor *scale = half_tensor(SHAPE(8), 50), *bias = half_tensor(SHAPE(8), 51);
    // let batch = Tensor::stack(&images, 0)?;  // [N, H, W, C]
    IgTensor *batch = ig_stack(3, images, 0, &error);
    // let normalized = batch.fused_affine(&scale, &bias)?;
    IgTensor *normalized = ig_fused_affine(batch, scale, bias, &error);
    // let features = model.forward(&normalized)?;
    IgTensor *features = forward(&model, normalized);
    CHECK(features);
    // features.unstack(0)
    assert_int_equal(ig_unstack(features, 0, 3, out, &error), 3);
    for (int i = 0; i < 3; i++) {
        IgTensor *alone = forward(&model, ig_fused_affine(images[i], scale, bias, &error));
        SAME(out[i], alone, 2e-3);
    }
}

// ---- 4. Precision ----

static void precision(void **state) {
    (void)state;
    // let tensor = Tensor::from_vec_gpu(&device, data_f16, shape)?;
    const uint16_t data_f16[4] = {0x3c00, 0x4000, 0x7bff, 0x0001}; // 1, 2, 65504, 2^-24
    IgTensor *t = ig_from_data(device, IgFloat16, SHAPE(2, 2), data_f16, &error);
    CHECK(t);
    CLOSE(t, 0, 1, 2, 65504, 5.9604645e-8f);
    // "Accumulating many small values": sums are float, so 3000 ones are 3000 (half stops at 2048).
    IgTensor *ones = ig_ones(device, IgFloat16, SHAPE(3000), &error);
    CLOSE(ig_sum(ones, IG_ALL, false, &error), 0, 3000);
    CLOSE(ig_matmul(ig_reshape(ones, 2, (int64_t[]){1, 3000}, &error),
                    ig_reshape(ones, 2, (int64_t[]){3000, 1}, &error), &error),
          0, 3000);
    // f32 for high-precision requirements
    CLOSE(ig_add_scalar(tensor(SHAPE(1), FLOATS(100000)), 0.25, &error), 0, 100000.25f);
}

// ---- 5. Transfers ----

static void transfers(void **state) {
    (void)state;
    float all_cpu_data[400], expected[400], got[400];
    for (int i = 0; i < 400; i++) {
        all_cpu_data[i] = (float)(i / 4 * (i % 4 - 1));
        expected[i] = fmaxf(all_cpu_data[i], 0);
    }
    // for i in 0..100 {
    for (int i = 0; i < 100; i++) {
        float cpu_result[4];
        // let gpu_tensor = Tensor::from_vec_gpu(&device, cpu_data, shape)?;
        IgTensor *gpu_tensor = tensor(SHAPE(4), all_cpu_data + 4 * i);
        // let result = gpu_tensor.relu()?;
        IgTensor *result = ig_relu(gpu_tensor, &error);
        // let cpu_result = result.to_vec();
        CHECK(ig_read(result, cpu_result, sizeof cpu_result, &error));
        assert_memory_equal(cpu_result, expected + 4 * i, sizeof cpu_result);
    }
    // let gpu_tensor = Tensor::from_vec_gpu(&device, all_cpu_data, batch_shape)?;
    IgTensor *gpu_tensor = tensor(SHAPE(100, 4), all_cpu_data);
    // let result = gpu_tensor.relu()?; let cpu_results = result.to_vec();
    CHECK(ig_read(ig_relu(gpu_tensor, &error), got, sizeof got, &error));
    assert_memory_equal(got, expected, sizeof got);
    // "Keep data on GPU": let gpu_b = gpu_a.relu()?; let result = gpu_b.add(&gpu_c)?;
    IgTensor *gpu_c = random_tensor(IgFloat32, SHAPE(100, 4), 3);
    uint64_t before = kernels();
    IgTensor *gpu_b = ig_relu(gpu_tensor, &error), *result = ig_add(gpu_b, gpu_c, &error);
    CHECK(ig_eval(result, &error));
    assert_int_equal(count(before), 1); // no round trip, and no second kernel
}

// ---- 6. Profiling ----

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void profiling(void **state) {
    (void)state;
    IgTensor *a = half_tensor(SHAPE(128, 64), 1), *b = half_tensor(SHAPE(64, 96), 2);
    // let iterations = 100; let warmup = 10;
    const int iterations = 20, warmup = 3;
    double start = 0;
    for (int i = 0; i < warmup + iterations; i++) {
        IgScope *inner = ig_scope_begin();
        if (i == warmup) {
            CHECK(ig_device_synchronize(device, &error));
            // let start = Instant::now();
            start = seconds();
        }
        // let _ = a.matmul(&b)?;
        CHECK(ig_eval(ig_matmul(a, b, &error), &error));
        ig_scope_end(inner);
    }
    CHECK(ig_device_synchronize(device, &error));
    // let duration = start.elapsed();
    double duration = seconds() - start;
    // let avg_ms = duration.as_secs_f64() * 1000.0 / iterations as f64;
    double avg_ms = duration * 1000.0 / iterations, avg_time_seconds = avg_ms / 1000;
    print_message("Average: %.4f ms\n", avg_ms);
    // let m = a.dims()[0]; let k = a.dims()[1]; let n = b.dims()[1];
    double m = (double)ig_shape(a)[0], k = (double)ig_shape(a)[1], n = (double)ig_shape(b)[1];
    // let flops = 2.0 * m as f64 * n as f64 * k as f64;
    double flops = 2.0 * m * n * k;
    assert_true(flops == 2.0 * 128 * 64 * 96);
    // let gflops = flops / (avg_time_seconds * 1e9);
    print_message("Performance: %.2f GFLOPS\n", flops / (avg_time_seconds * 1e9));
    // let elements = tensor.numel(); let bytes = elements * size_of::<half::f16>() * 3;
    double bytes = (double)ig_numel(a) * (double)ig_type_size(ig_type(a)) * 3;
    assert_true(bytes == 128 * 64 * 2 * 3);
    // let bandwidth_gbps = bytes as f64 / (avg_time_seconds * 1e9);
    print_message("Bandwidth: %.2f GB/s\n", bytes / (avg_time_seconds * 1e9));
    assert_true(avg_ms > 0);
}

// ---- 9. Troubleshooting: "High Memory Usage" ----

static void high_memory_usage(void **state) {
    (void)state;
    IgPool *pool = ig_device_pool(device);
    IgTensor *batch = half_tensor(SHAPE(64, 1000), 1);
    // device.buffer_pool().shrink_to_fit(max_bytes);
    ig_pool_shrink_to_fit(pool, 1 << 20);
    // let smaller_batch_size = current_size / 2;
    int64_t smaller_batch_size = ig_dim(batch, 0) / 2;
    IgTensor *pieces[2];
    assert_int_equal(ig_split(batch, smaller_batch_size, 0, 2, pieces, &error), 2);
    assert_int_equal(ig_dim(pieces[1], 0), 32);
    // device.buffer_pool().clear();
    ig_pool_clear(pool);
    assert_int_equal(ig_pool_statistics(pool).total_memory, 0);
}

// ---- 10. Custom fused kernels ----

static const char my_ops[] = // shaders/my_ops.metal
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void fused_my_op_f16(\n"
    "    device const half* input [[buffer(0)]],\n"
    "    device half* output [[buffer(1)]],\n"
    "    uint id [[thread_position_in_grid]]\n"
    ") {\n"
    "    // Your fused operation logic\n"
    "    half x = input[id];\n"
    "    output[id] = half(tanh(max(float(x), 0.0f)));\n"
    "}\n";

// impl Tensor { pub fn fused_my_op(&self) -> TensorResult<Self> { match self.device() { ... } } }
static IgTensor *fused_my_op(IgUserKernel *kernel, IgTensor *self) {
    return ig_kernel_call(kernel,
                          &(IgKernelCall){.n_inputs = 1,
                                          .inputs = &self,
                                          .type = IgFloat16,
                                          .rank = ig_rank(self),
                                          .shape = ig_shape(self)},
                          &error);
}

// fn test_fused_vs_unfused()
static void custom_fused_kernels(void **state) {
    (void)state;
    IgUserKernel *kernel = ig_kernel_new(device, my_ops, "fused_my_op_f16", &error);
    CHECK(kernel);
    IgTensor *t = half_tensor(SHAPE(17, 29), 1);
    // let fused = tensor.fused_my_op()?;
    uint64_t before = kernels();
    IgTensor *fused = fused_my_op(kernel, t);
    CHECK(fused);
    assert_int_equal(count(before), 1);
    // let unfused = tensor.op1()?.op2()?;
    IgTensor *unfused = ig_tanh(ig_relu(t, &error), &error);
    // assert_tensors_close(&fused, &unfused, 1e-3);
    SAME(fused, unfused, 1e-3);
    // _ => Err(TensorError::UnsupportedDevice)
    IgDevice *other = ig_device_new(ig_device_metal(device), &error);
    IgTensor *elsewhere = ig_keep(ig_randn(other, IgFloat16, SHAPE(4), 1, &error));
    FAILS(fused_my_op(kernel, elsewhere), IgErrorDevice, "another device");
    FAILS(ig_add(t, elsewhere, &error), IgErrorDevice, "different devices");
    ig_release(elsewhere);
    ig_device_release(other);
    ig_kernel_release(kernel);
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, begin_scope, end_scope)
    const struct CMUnitTest tests[] = {
        TEST(matmul_and_activation),
        TEST(elementwise_and_relu),
        TEST(affine_transformation),
        TEST(monitoring_the_pool),
        TEST(configuring_the_pool),
        TEST(memory_management),
        TEST(batched_inference),
        TEST(batched_elementwise),
        TEST(training_loop),
        TEST(image_pipeline),
        TEST(precision),
        TEST(transfers),
        TEST(profiling),
        TEST(high_memory_usage),
        TEST(custom_fused_kernels),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
