// SPDX-License-Identifier: Apache-2.0
// test_indirect.c: indirect command buffers encoded by the CPU and by kernels, executed by range,
// reset, copied; barriers, inheritance; and commands with anything at all in them.
#include "indirect_test.h"

static MTLCommandQueue *queue;
static MTLLibrary *library;
static MTLComputePipelineState *add, *scale; // for indirect command buffers

static const char source[] =
    "#include <metal_stdlib>\n#include <metal_command_buffer>\nusing namespace metal;\n"
    // x[i] += amount, one command per element or block
    "kernel void add(device uint *x [[buffer(0)]], constant uint &amount [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { x[i] += amount; }\n"
    "kernel void scale(device uint *x [[buffer(0)]], constant uint &amount [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) { x[i] *= amount; }\n"
    "kernel void mark(device uint *x [[buffer(0)]], threadgroup uint *t [[threadgroup(0)]],\n"
    "                 uint i [[thread_position_in_threadgroup]],\n"
    "                 uint n [[threads_per_threadgroup]]) {\n"
    "  t[i] = i + 1; threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  uint sum = 0; for (uint k = 0; k < n; k++) sum += t[k];\n"
    "  if (i == 0) x[0] = sum; }\n"
    "kernel void tex(texture2d<float> t [[texture(0)]], device float *x [[buffer(0)]]) {\n"
    "  x[0] = t.read(uint2(0)).x; }\n"
    "struct Arguments {\n"
    "  command_buffer icb [[id(0)]];\n"
    "  compute_pipeline_state add [[id(1)]], scale [[id(2)]];\n"
    "  device uint *x [[id(3)]]; constant uint *amounts [[id(4)]]; };\n"
    // Encodes a command for each element that has an odd value; the others are reset.
    "kernel void filter(constant Arguments &a [[buffer(0)]], uint i [[thread_position_in_grid]]) "
    "{\n"
    "  compute_command c(a.icb, i);\n"
    "  if (a.x[i] % 2 == 0) { c.reset(); return; }\n"
    "  c.set_compute_pipeline_state(i % 3 ? a.add : a.scale);\n"
    "  c.set_kernel_buffer(a.x + i, 0);\n"
    "  c.set_kernel_buffer(a.amounts + i % 4, 1);\n"
    "  c.concurrent_dispatch_threads(uint3(1), uint3(1));\n"
    "}\n"
    // The same, with the commands packed together and counted in the range.
    "struct Range { uint location; atomic_uint length; };\n"
    "kernel void compact(constant Arguments &a [[buffer(0)]], device Range &r [[buffer(1)]],\n"
    "                    uint i [[thread_position_in_grid]]) {\n"
    "  if (a.x[i] % 2 == 0) return;\n"
    "  uint at = atomic_fetch_add_explicit(&r.length, 1, memory_order_relaxed);\n"
    "  compute_command c = compute_command(a.icb, r.location + at);\n"
    "  c.reset();\n"
    "  c.set_compute_pipeline_state(a.add);\n"
    "  c.set_kernel_buffer(a.x + i, 0);\n"
    "  c.set_kernel_buffer(a.amounts, 1);\n"
    "  c.concurrent_dispatch_threadgroups(uint3(1), uint3(1));\n"
    "}\n"
    "kernel void sizes(constant Arguments &a [[buffer(0)]], device uint *out [[buffer(1)]]) {\n"
    "  out[0] = a.icb.size(); out[1] = is_null_command_buffer(a.icb);\n"
    "  out[2] = is_null_compute_pipeline_state(a.scale);\n"
    "  command_buffer none = nullptr; out[3] = none.size();\n"
    "  compute_command(none, 0).set_barrier();\n" // goes nowhere
    "  compute_command(a.icb, 0xffffffff).reset();\n"
    "  compute_command(a.icb, a.icb.size()).concurrent_dispatch_threads(uint3(9), uint3(9));\n"
    "  compute_command c(a.icb, 0);\n"
    "  c.set_kernel_buffer(out, 31); c.set_kernel_buffer(out, 0xffffffff);\n"
    "  c.set_threadgroup_memory_length(16, 31); c.set_threadgroup_memory_length(16, 0x80000000);\n"
    "}\n"
    // Copies command 0 to all others; odd ones get a barrier.
    "kernel void spread(constant Arguments &a [[buffer(0)]], uint i [[thread_position_in_grid]]) "
    "{\n"
    "  if (i == 0) return;\n"
    "  compute_command c(a.icb, i), first(a.icb, 0);\n"
    "  c.copy_command(first);\n"
    "  if (i % 2) c.set_barrier(); else c.clear_barrier();\n"
    "  c.set_kernel_buffer(a.x + i / 2, 0);\n"
    "}\n"
    "kernel void memory(constant Arguments &a [[buffer(0)]], uint i [[thread_position_in_grid]]) "
    "{\n"
    "  compute_command c(a.icb, i);\n"
    "  c.set_compute_pipeline_state(a.add);\n"
    "  c.set_kernel_buffer(a.x + i, 0);\n"
    "  c.set_threadgroup_memory_length(16 * (i + 1), 0);\n"
    "  c.concurrent_dispatch_threadgroups(uint3(1), uint3(4 * (i + 1), 1, 1));\n"
    "}\n";

static MTLComputePipelineState *indirect_pipeline(const char *name) {
    return indirect_pipeline_of(library, name);
}

static int open_all(void **state) {
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    library = compile(source);
    add = indirect_pipeline("add");
    scale = indirect_pipeline("scale");
    return 0;
}

static int close_all(void **state) {
    mtl_release(add), mtl_release(scale), mtl_release(library), mtl_release(queue);
    return close_device(state);
}

static MTLIndirectCommandBuffer *new_icb(size_t n) {
    const MTLIndirectCommandBufferDescriptor d = {
        .command_types = MTLIndirectCommandTypeConcurrentDispatch |
                         MTLIndirectCommandTypeConcurrentDispatchThreads,
        .max_kernel_buffer_bind_count = 2};
    return indirect_of(&d, n, "commands");
}

static MTLIndirectComputeCommand *at(MTLIndirectCommandBuffer *icb, size_t i) {
    MTLIndirectComputeCommand *c =
        mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, i);
    assert_non_null(c);
    return c;
}

// Command i: pipeline on x[first ..] with the amount at an offset.
static void encode(MTLIndirectCommandBuffer *icb, size_t i, MTLComputePipelineState *pipeline,
                   MTLBuffer *x, size_t first, size_t n, MTLBuffer *amounts, size_t amount) {
    MTLIndirectComputeCommand *c = at(icb, i);
    mtl_indirect_compute_command_set_compute_pipeline_state(c, pipeline);
    mtl_indirect_compute_command_set_kernel_buffer(c, x, first * 4, 0);
    mtl_indirect_compute_command_set_kernel_buffer(c, amounts, amount * 4, 1);
    mtl_indirect_compute_command_concurrent_dispatch_threads(c, mtl_size_make(n, 1, 1),
                                                             mtl_size_make(n < 32 ? n : 32, 1, 1));
}

static MTLCommandBuffer *begin(MTLComputeCommandEncoder **encoder) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    *encoder = mtl_command_buffer_compute_command_encoder(commands);
    return commands;
}

static void finish(MTLCommandBuffer *commands, MTLComputeCommandEncoder *encoder) {
    mtl_compute_command_encoder_end_encoding(encoder);
    commit_and_wait(commands);
}

static void execute(MTLIndirectCommandBuffer *icb, MTLRange range) {
    MTLComputeCommandEncoder *e;
    MTLCommandBuffer *commands = begin(&e);
    mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, range);
    finish(commands, e);
    assert_completed(commands);
    mtl_release(commands);
}

// Executes and expects an error that names the command and the reason.
static void expect_error(MTLIndirectCommandBuffer *icb, size_t index, const char *reason) {
    MTLComputeCommandEncoder *e;
    MTLCommandBuffer *commands = begin(&e);
    mtl_compute_command_encoder_execute_commands_in_buffer(
        e, icb, mtl_range_make(0, mtl_indirect_command_buffer_size(icb)));
    finish(commands, e);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    char start[96];
    snprintf(start, sizeof start, "Command %zu of indirect command buffer 'commands' ", index);
    const char *text = mtl_error_localized_description(mtl_command_buffer_error(commands));
    if (strncmp(text, start, strlen(start)) != 0 || !strstr(text, reason)) fail_msg("%s", text);
    mtl_release(commands);
}

static MTLBuffer *words(const uint32_t *values, size_t n) {
    return mtl_device_new_buffer_with_bytes(device, values, n * 4, 0);
}

static uint32_t *of(MTLBuffer *buffer) { return mtl_buffer_contents(buffer); }

// A kernel that touches what is not there faults, unless it is checked: then the access is left
// out. Memory of an isolated device stays where it was.
static void expect_page_fault(MTLCommandBuffer *commands) {
    if (mtl_device_is_isolated(device)) return;
    const char *validated = getenv("MTL_SHADER_VALIDATION");
    if (validated && strcmp(validated, "1") == 0)
        assert_completed(commands);
    else
        assert_int_equal(mtl_error_code(mtl_command_buffer_error(commands)),
                         MTLCommandBufferErrorPageFault);
}

// ---- Encoded by the CPU ----

static void test_cpu_commands(void **state) {
    (void)state;
    NEEDS_RESULTS();
    clear_messages();
    MTLIndirectCommandBuffer *icb = new_icb(4);
    MTLBuffer *x = mtl_device_new_buffer(device, 400, 0);
    MTLBuffer *amounts = words((uint32_t[]){5, 7, 11, 13}, 4);
    assert_int_equal(mtl_indirect_command_buffer_size(icb), 4);
    assert_ptr_equal(mtl_indirect_command_buffer_device(icb), device);
    assert_string_equal(mtl_indirect_command_buffer_label(icb), "commands");
    assert_string_equal(mtl_resource_label((MTLResource *)icb), "commands");
    assert_true(mtl_resource_allocated_size((MTLResource *)icb) > 0);
    assert_true(mtl_indirect_command_buffer_gpu_resource_id(icb).impl != 0);
    assert_ptr_equal(at(icb, 2), at(icb, 2));
    execute(icb, mtl_range_make(0, 4)); // nothing encoded: nothing happens
    encode(icb, 0, add, x, 0, 10, amounts, 0);
    encode(icb, 1, add, x, 10, 10, amounts, 1);
    encode(icb, 2, add, x, 20, 50, amounts, 2);
    encode(icb, 3, add, x, 70, 30, amounts, 3);
    execute(icb, mtl_range_make(0, 4));
    execute(icb, mtl_range_make(1, 2)); // again, the middle two
    execute(icb, mtl_range_make(4, 0));
    for (int i = 0; i < 100; i++) {
        uint32_t expected = i < 10 ? 5 : i < 20 ? 14 : i < 70 ? 22 : 13;
        assert_int_equal(of(x)[i], expected);
    }
    // Reset: one by its object, one by range; encoded again afterwards.
    memset(of(x), 0, 400);
    mtl_indirect_compute_command_reset(at(icb, 0));
    mtl_indirect_command_buffer_reset_with_range(icb, mtl_range_make(2, 2));
    execute(icb, mtl_range_make(0, 4));
    for (int i = 0; i < 100; i++) assert_int_equal(of(x)[i], i >= 10 && i < 20 ? 7 : 0);
    encode(icb, 0, add, x, 0, 1, amounts, 3);
    execute(icb, mtl_range_make(0, 4));
    assert_int_equal(of(x)[0], 13);
    assert_int_equal(n_messages, 0);
    mtl_release(icb), mtl_release(x), mtl_release(amounts);
}

// (x + 3) * 5 + ...: the order of commands matters, barriers keep it.
static void test_barriers(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { n = 200 };
    MTLIndirectCommandBuffer *icb = new_icb(n);
    MTLBuffer *x = words((uint32_t[]){1, 1, 1, 1}, 4), *amounts = words((uint32_t[]){3, 5}, 2);
    uint32_t expected = 1;
    for (size_t i = 0; i < n; i++) {
        encode(icb, i, i % 2 ? scale : add, x, 0, 4, amounts, i % 2);
        mtl_indirect_compute_command_set_barrier(at(icb, i));
        expected = i % 2 ? expected * 5 : expected + 3;
    }
    execute(icb, mtl_range_make(0, n));
    for (int i = 0; i < 4; i++) assert_int_equal(of(x)[i], expected);
    // Without barriers on independent data: the same result.
    for (size_t i = 0; i < 4; i++) {
        encode(icb, i, add, x, i, 1, amounts, 0);
        mtl_indirect_compute_command_clear_barrier(at(icb, i));
    }
    execute(icb, mtl_range_make(0, 4));
    for (int i = 0; i < 4; i++) assert_int_equal(of(x)[i], expected + 3);
    mtl_release(icb), mtl_release(x), mtl_release(amounts);
}

static void test_threadgroup_memory(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *mark = indirect_pipeline("mark");
    MTLIndirectCommandBuffer *icb = new_icb(3);
    MTLBuffer *x = mtl_device_new_buffer(device, 12, 0);
    for (size_t i = 0; i < 3; i++) {
        MTLIndirectComputeCommand *c = at(icb, i);
        mtl_indirect_compute_command_set_compute_pipeline_state(c, mark);
        mtl_indirect_compute_command_set_kernel_buffer(c, x, 4 * i, 0);
        mtl_indirect_compute_command_set_threadgroup_memory_length(c, 64 * (i + 1), 0);
        mtl_indirect_compute_command_concurrent_dispatch_threadgroups(
            c, mtl_size_make(1, 1, 1), mtl_size_make(16 * (i + 1), 1, 1));
    }
    execute(icb, mtl_range_make(0, 3));
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t n = 16 * (i + 1);
        assert_int_equal(of(x)[i], n * (n + 1) / 2);
    }
    mtl_indirect_compute_command_set_threadgroup_memory_length(at(icb, 1), 0, 0);
    expect_error(icb, 1, "length of threadgroup memory");
    mtl_release(icb), mtl_release(x), mtl_release(mark);
}

static void test_inherit(void **state) {
    (void)state;
    NEEDS_RESULTS();
    clear_messages();
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0), *amounts = words((uint32_t[]){9, 4}, 2);
    // Both inherited.
    MTLIndirectCommandBuffer *icb = inheriting_dispatches(2);
    mtl_indirect_compute_command_concurrent_dispatch_threads(at(icb, 0), mtl_size_make(3, 1, 1),
                                                             mtl_size_make(3, 1, 1));
    mtl_indirect_compute_command_concurrent_dispatch_threads(at(icb, 1), mtl_size_make(1, 1, 1),
                                                             mtl_size_make(1, 1, 1));
    mtl_indirect_compute_command_set_barrier(at(icb, 1));
    assert_int_equal(n_messages, 0);
    mtl_indirect_compute_command_set_compute_pipeline_state(at(icb, 0), add);
    assert_string_equal(last_rule, "indirect_inherited");
    mtl_indirect_compute_command_set_kernel_buffer(at(icb, 0), x, 0, 0);
    assert_string_equal(last_rule, "indirect_inherited");
    assert_int_equal(n_messages, 2);
    MTLComputeCommandEncoder *e;
    MTLCommandBuffer *commands = begin(&e);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, add);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, amounts, 4, 1);
    mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 2));
    mtl_compute_command_encoder_set_buffer(e, amounts, 0, 1); // of the next execution only
    mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 1));
    finish(commands, e);
    assert_completed(commands);
    mtl_release(commands);
    assert_int_equal(of(x)[0], 17);
    assert_int_equal(of(x)[1], 13);
    assert_int_equal(of(x)[3], 0);
    // No pipeline to inherit, or one that cannot.
    MTLComputePipelineState *plain = pipeline_of(library, "add");
    for (int k = 0; k < 2; k++) {
        commands = begin(&e);
        if (k) mtl_compute_command_encoder_set_compute_pipeline_state(e, plain);
        mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 2));
        finish(commands, e);
        assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)),
                            k ? "indirect_pipeline" : "dispatch_without_pipeline");
        mtl_release(commands);
    }
    mtl_release(plain);
    mtl_release(icb);

    // Only the pipeline is inherited.
    icb = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types =
                                                  MTLIndirectCommandTypeConcurrentDispatchThreads,
                                              .inherit_pipeline_state = true,
                                              .max_kernel_buffer_bind_count = 2},
        1, 0);
    mtl_indirect_compute_command_set_kernel_buffer(at(icb, 0), x, 32, 0);
    mtl_indirect_compute_command_set_kernel_buffer(at(icb, 0), amounts, 0, 1);
    mtl_indirect_compute_command_concurrent_dispatch_threads(at(icb, 0), mtl_size_make(4, 1, 1),
                                                             mtl_size_make(4, 1, 1));
    commands = begin(&e);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, add);
    mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 1));
    finish(commands, e);
    assert_completed(commands);
    assert_int_equal(of(x)[8], 9);
    mtl_release(commands), mtl_release(icb), mtl_release(x), mtl_release(amounts);
}

// ---- Encoded by kernels ----

typedef struct Arguments {
    MTLResourceID icb, add, scale;
    uint64_t x, amounts;
} Arguments;

// Runs an encoding kernel over n threads in the open encoder.
static void encode_on_device(MTLComputeCommandEncoder *e, const char *kernel, size_t n,
                             const Arguments *a, MTLIndirectCommandBuffer *icb, MTLBuffer *x,
                             MTLBuffer *second) {
    MTLComputePipelineState *p = pipeline_of(library, kernel);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_bytes(e, a, sizeof *a, 0);
    mtl_compute_command_encoder_set_buffer(e, second, 0, 1);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)icb, MTLResourceUsageWrite);
    if (x) mtl_compute_command_encoder_use_resource(e, (MTLResource *)x, MTLResourceUsageWrite);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(n, 1, 1),
                                                 mtl_size_make(n < 64 ? n : 64, 1, 1));
    mtl_release(p);
}

static Arguments arguments_of(MTLIndirectCommandBuffer *icb, MTLBuffer *x, MTLBuffer *amounts) {
    return (Arguments){mtl_indirect_command_buffer_gpu_resource_id(icb),
                       mtl_compute_pipeline_state_gpu_resource_id(add),
                       mtl_compute_pipeline_state_gpu_resource_id(scale), mtl_buffer_gpu_address(x),
                       mtl_buffer_gpu_address(amounts)};
}

static void test_kernel_filter(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { n = 1000 };
    static const uint32_t amount[4] = {2, 4, 6, 8};
    static uint32_t values[n], expected[n];
    for (uint32_t i = 0; i < n; i++) values[i] = i * 2654435761u >> 20;
    MTLIndirectCommandBuffer *icb = new_icb(n);
    MTLBuffer *x = words(values, n), *amounts = words(amount, 4);
    Arguments a = arguments_of(icb, x, amounts);
    memcpy(expected, values, sizeof values);
    for (int round = 0; round < 2; round++) { // the second one resets what has become even
        for (uint32_t i = 0; i < n; i++)
            if (expected[i] % 2) {
                uint32_t k = amount[i % 4];
                expected[i] = i % 3 ? expected[i] + k : expected[i] * k;
            }
        MTLComputeCommandEncoder *e;
        MTLCommandBuffer *commands = begin(&e);
        encode_on_device(e, "filter", n, &a, icb, x, NULL);
        mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, n));
        finish(commands, e);
        assert_completed(commands);
        mtl_release(commands);
        assert_memory_equal(of(x), expected, sizeof expected);
    }
    mtl_release(icb), mtl_release(x), mtl_release(amounts);
}

// The range is counted on the device and never seen by the CPU.
static void test_kernel_compaction(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { n = 777, base = 5 };
    static uint32_t values[n];
    uint32_t amount = 100, odd = 0;
    for (uint32_t i = 0; i < n; i++) values[i] = i * 40503u >> 3;
    for (uint32_t i = 0; i < n; i++) odd += values[i] % 2;
    MTLIndirectCommandBuffer *icb = new_icb(n + base);
    MTLBuffer *x = words(values, n), *amounts = words(&amount, 1);
    MTLBuffer *range = words((uint32_t[]){base, 0}, 2);
    Arguments a = arguments_of(icb, x, amounts);
    MTLComputeCommandEncoder *e;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    e = mtl_command_buffer_compute_command_encoder_with_dispatch_type(commands,
                                                                      MTLDispatchTypeConcurrent);
    encode_on_device(e, "compact", n, &a, icb, x, range);
    mtl_compute_command_encoder_memory_barrier_with_scope(e, MTLBarrierScopeBuffers);
    mtl_compute_command_encoder_execute_commands_in_buffer_indirect(e, icb, range, 0);
    finish(commands, e);
    assert_completed(commands);
    mtl_release(commands);
    assert_int_equal(of(range)[1], odd);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(of(x)[i], values[i] % 2 ? values[i] + amount : values[i]);
    // A range past the end is cut.
    static const uint32_t ranges[][2] = {
        {base, UINT32_MAX}, {n + base, 4}, {UINT32_MAX, UINT32_MAX}};
    for (size_t k = 0; k < 3; k++) {
        memcpy(of(range), ranges[k], 8);
        commands = begin(&e);
        mtl_compute_command_encoder_execute_commands_in_buffer_indirect(e, icb, range, 0);
        finish(commands, e);
        assert_completed(commands);
        mtl_release(commands);
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(of(x)[i], values[i] % 2 ? values[i] + 2 * amount : values[i]);
    mtl_release(icb), mtl_release(x), mtl_release(amounts), mtl_release(range);
}

static void test_kernel_edges(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLIndirectCommandBuffer *icb = new_icb(9);
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    Arguments a = arguments_of(icb, x, x);
    MTLComputeCommandEncoder *e;
    MTLCommandBuffer *commands = begin(&e);
    encode_on_device(e, "sizes", 1, &a, icb, NULL, x);
    finish(commands, e);
    assert_completed(commands);
    mtl_release(commands);
    assert_int_equal(of(x)[0], 9);
    assert_int_equal(of(x)[1], 0);
    assert_int_equal(of(x)[2], 0);
    assert_int_equal(of(x)[3], 0);
    execute(icb, mtl_range_make(0, 9)); // nothing was encoded
    mtl_release(icb), mtl_release(x);
}

static void test_kernel_copy(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { n = 40 };
    MTLIndirectCommandBuffer *icb = new_icb(n);
    MTLBuffer *x = mtl_device_new_buffer(device, n * 4, 0), *amounts = words((uint32_t[]){3}, 1);
    encode(icb, 0, add, x, 0, 1, amounts, 0);
    Arguments a = arguments_of(icb, x, amounts);
    MTLComputeCommandEncoder *e;
    MTLCommandBuffer *commands = begin(&e);
    encode_on_device(e, "spread", n, &a, icb, x, NULL);
    mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, n));
    finish(commands, e);
    assert_completed(commands);
    for (int i = 0; i < n; i++) assert_int_equal(of(x)[i], i < n / 2 ? 6 : 0);
    mtl_release(commands), mtl_release(icb), mtl_release(x), mtl_release(amounts);
}

static void test_kernel_threadgroup_memory(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *mark = indirect_pipeline("mark");
    MTLIndirectCommandBuffer *icb = new_icb(5);
    MTLBuffer *x = mtl_device_new_buffer(device, 20, 0);
    Arguments a = arguments_of(icb, x, x);
    a.add = mtl_compute_pipeline_state_gpu_resource_id(mark);
    MTLComputeCommandEncoder *e;
    MTLCommandBuffer *commands = begin(&e);
    encode_on_device(e, "memory", 5, &a, icb, x, NULL);
    mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 5));
    finish(commands, e);
    assert_completed(commands);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t m = 4 * (i + 1);
        assert_int_equal(of(x)[i], m * (m + 1) / 2);
    }
    mtl_release(commands), mtl_release(icb), mtl_release(x), mtl_release(mark);
}

// An argument encoder stores the same handles.
static void test_argument_encoder(void **state) {
    (void)state;
    clear_messages();
    MTLIndirectCommandBuffer *icb = new_icb(2);
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    MTLFunction *function = mtl_library_new_function(library, "filter");
    MTLArgumentEncoder *encoder = mtl_function_new_argument_encoder(function, 0);
    MTLBuffer *b = mtl_device_new_buffer(device, mtl_argument_encoder_encoded_length(encoder), 0);
    mtl_argument_encoder_set_argument_buffer(encoder, b, 0);
    mtl_argument_encoder_set_indirect_command_buffer(encoder, icb, 0);
    mtl_argument_encoder_set_compute_pipeline_states(
        encoder, (MTLComputePipelineState *[]){add, scale}, mtl_range_make(1, 2));
    mtl_argument_encoder_set_buffer(encoder, x, 0, 3);
    mtl_argument_encoder_set_buffer(encoder, x, 0, 4);
    assert_int_equal(n_messages, 0);
    Arguments a = arguments_of(icb, x, x);
    assert_memory_equal(mtl_buffer_contents(b), &a, sizeof a);
    MTLArgumentEncoder *described = mtl_device_new_argument_encoder(
        device,
        (MTLArgumentDescriptor[]){
            {.data_type = MTLDataTypeIndirectCommandBuffer, .index = 0},
            {.data_type = MTLDataTypeComputePipeline, .index = 1, .array_length = 2}},
        2);
    memset(mtl_buffer_contents(b), 0, 24);
    mtl_argument_encoder_set_argument_buffer(described, b, 0);
    mtl_argument_encoder_set_indirect_command_buffers(described, &icb, mtl_range_make(0, 1));
    mtl_argument_encoder_set_compute_pipeline_state(described, add, 1);
    mtl_argument_encoder_set_compute_pipeline_state(described, scale, 2);
    assert_memory_equal(mtl_buffer_contents(b), &a, 24);
    mtl_argument_encoder_set_compute_pipeline_state(described, add, 0);
    assert_string_equal(last_rule, "argument_type");
    mtl_release(described), mtl_release(encoder), mtl_release(function);
    mtl_release(icb), mtl_release(x), mtl_release(b);
}

// ---- Blits ----

static void test_blit(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLIndirectCommandBuffer *from = new_icb(8), *to = new_icb(6);
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    MTLBuffer *amounts = words((uint32_t[]){1, 2, 3, 4, 5, 6, 7, 8}, 8);
    for (size_t i = 0; i < 8; i++) encode(from, i, add, x, i, 1, amounts, i);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_copy_indirect_command_buffer(blit, from, mtl_range_make(2, 5), to, 1);
    mtl_blit_command_encoder_reset_commands_in_buffer(blit, to, mtl_range_make(3, 1));
    mtl_blit_command_encoder_copy_indirect_command_buffer(blit, from, mtl_range_make(0, 4), from,
                                                          2);
    mtl_blit_command_encoder_optimize_indirect_command_buffer(blit, to, mtl_range_make(0, 6));
    mtl_blit_command_encoder_end_encoding(blit);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_execute_commands_in_buffer(e, to, mtl_range_make(0, 6));
    finish(commands, e);
    assert_completed(commands);
    mtl_release(commands);
    static const uint32_t expected[16] = {0, 0, 3, 4, 0, 6, 7, 0};
    assert_memory_equal(of(x), expected, 64);
    memset(of(x), 0, 64);
    execute(from, mtl_range_make(0, 6)); // 0 1 0 1 2 3: what overlapped was copied as it was
    static const uint32_t overlapped[16] = {2, 4, 3, 4};
    assert_memory_equal(of(x), overlapped, 64);

    // Misuse.
    static const char *const rules[] = {"indirect_range", "indirect_range", "indirect_range",
                                        "indirect_copy",  "null_argument",  "wrong_class"};
    MTLIndirectCommandBuffer *other = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types =
                                                  MTLIndirectCommandTypeConcurrentDispatch},
        6, 0);
    for (int k = 0; k < 6; k++) {
        commands = mtl_command_queue_command_buffer(queue);
        blit = mtl_command_buffer_blit_command_encoder(commands);
        switch (k) {
        case 0:
            mtl_blit_command_encoder_reset_commands_in_buffer(blit, to, mtl_range_make(5, 2));
            break;
        case 1:
            mtl_blit_command_encoder_copy_indirect_command_buffer(blit, from, mtl_range_make(0, 3),
                                                                  to, 4);
            break;
        case 2:
            mtl_blit_command_encoder_optimize_indirect_command_buffer(blit, to,
                                                                      mtl_range_make(SIZE_MAX, 2));
            break;
        case 3:
            mtl_blit_command_encoder_copy_indirect_command_buffer(blit, from, mtl_range_make(0, 3),
                                                                  other, 0);
            break;
        case 4:
            mtl_blit_command_encoder_copy_indirect_command_buffer(blit, from, mtl_range_make(0, 3),
                                                                  NULL, 0);
            break;
        default:
            mtl_blit_command_encoder_reset_commands_in_buffer(blit, (MTLIndirectCommandBuffer *)x,
                                                              mtl_range_make(0, 1));
        }
        mtl_blit_command_encoder_end_encoding(blit);
        commit_and_wait(commands);
        assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)), rules[k]);
        mtl_release(commands);
    }
    mtl_release(other), mtl_release(from), mtl_release(to), mtl_release(x), mtl_release(amounts);
}

// ---- Commands with anything in them ----

// The record as the device has it, to be damaged.
static uint32_t *record(MTLIndirectCommandBuffer *icb, size_t index) {
    NEEDS_HOST_MEMORY();
    char *head = (char *)(uintptr_t)mtl_indirect_command_buffer_gpu_resource_id(icb).impl;
    uint32_t stride;
    memcpy(&stride, head + 4, 4);
    return (uint32_t *)(void *)(head + 64 + index * stride);
}

static void test_bad_commands(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { KIND = 0, PIPELINE = 2, GRID = 4, GROUP = 7, ADDRESS = 18, LENGTHS = 22 };
    MTLIndirectCommandBuffer *icb = new_icb(3);
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0), *amounts = words((uint32_t[]){1}, 1);
    static const struct {
        int word;
        uint32_t value;
        const char *reason;
    } cases[] = {
        {KIND, 3, "is not a command"},
        {KIND, UINT32_MAX, "is not a command"},
        {PIPELINE, 0xdeadbeef, "pipeline that does not exist"},
        {PIPELINE + 1, 0x7fff, "pipeline that does not exist"},
        {GROUP, 0, "empty threadgroup"},
        {GROUP + 2, 0, "empty threadgroup"},
        {GROUP, 1025, "more threads in a threadgroup"},
        {GROUP + 1, UINT32_MAX, "more threads in a threadgroup"},
        {ADDRESS, 1, NULL}, // a page fault, as any kernel's
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (size_t i = 0; i < 3; i++) encode(icb, i, add, x, i, 1, amounts, 0);
        record(icb, 1)[cases[k].word] = cases[k].value;
        if (cases[k].word == ADDRESS) record(icb, 1)[ADDRESS + 1] = 0;
        if (cases[k].reason) {
            expect_error(icb, 1, cases[k].reason);
            continue;
        }
        MTLComputeCommandEncoder *e;
        MTLCommandBuffer *commands = begin(&e);
        mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 3));
        finish(commands, e);
        expect_page_fault(commands);
        mtl_release(commands);
    }
    // Sizes: an empty grid is nothing to do; too many threadgroups are too many.
    encode(icb, 1, add, x, 1, 1, amounts, 0);
    of(x)[1] = 0;
    record(icb, 1)[GRID + 1] = 0;
    execute(icb, mtl_range_make(1, 1));
    assert_int_equal(of(x)[1], 0);
    for (int i = 0; i < 3; i++) record(icb, 1)[GRID + i] = UINT32_MAX;
    expect_error(icb, 1, "2^32 - 1 threads");
    encode(icb, 1, add, x, 1, 1, amounts, 0);
    record(icb, 1)[KIND] = 1, record(icb, 1)[GRID] = 1u << 31, record(icb, 1)[GROUP] = 2;
    expect_error(icb, 1, "2^32 - 1 threads");
    // A missing buffer, no pipeline.
    encode(icb, 1, add, x, 1, 1, amounts, 0);
    mtl_indirect_compute_command_set_kernel_buffer(at(icb, 1), NULL, 0, 1);
    expect_error(icb, 1, "lacks a buffer");
    mtl_indirect_compute_command_reset(at(icb, 1));
    mtl_indirect_compute_command_concurrent_dispatch_threads(at(icb, 1), mtl_size_make(1, 1, 1),
                                                             mtl_size_make(1, 1, 1));
    expect_error(icb, 1, "has no pipeline");
    // A damaged head changes nothing: the runtime has its own.
    encode(icb, 1, add, x, 1, 1, amounts, 0);
    NEEDS_HOST_MEMORY();
    char *head = (char *)(uintptr_t)mtl_indirect_command_buffer_gpu_resource_id(icb).impl;
    memset(head, 0xff, 16);
    of(x)[0] = of(x)[1] = of(x)[2] = 0;
    execute(icb, mtl_range_make(0, 3));
    for (int i = 0; i < 3; i++) assert_int_equal(of(x)[i], 1);
    mtl_release(icb), mtl_release(x), mtl_release(amounts);
}

static void test_gone_pipeline(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLIndirectCommandBuffer *icb = new_icb(1);
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0), *amounts = words((uint32_t[]){1}, 1);
    MTLComputePipelineState *gone = indirect_pipeline("add");
    uint64_t handle = mtl_compute_pipeline_state_gpu_resource_id(gone).impl;
    assert_true(handle != 0);
    assert_int_equal(mtl_compute_pipeline_state_gpu_resource_id(gone).impl, handle);
    encode(icb, 0, gone, x, 0, 1, amounts, 0);
    execute(icb, mtl_range_make(0, 1));
    mtl_release(gone);
    expect_error(icb, 0, "pipeline that does not exist");
    MTLComputePipelineState *fresh = indirect_pipeline("add"); // may take the same place
    assert_true(mtl_compute_pipeline_state_gpu_resource_id(fresh).impl != handle);
    expect_error(icb, 0, "pipeline that does not exist");
    // One that was not made for it, by its handle.
    MTLComputePipelineState *plain = pipeline_of(library, "add");
    assert_true(mtl_compute_pipeline_state_support_indirect_command_buffers(fresh));
    assert_false(mtl_compute_pipeline_state_support_indirect_command_buffers(plain));
    handle = mtl_compute_pipeline_state_gpu_resource_id(plain).impl;
    memcpy(record(icb, 0) + 2, &handle, 8);
    expect_error(icb, 0, "without support_indirect_command_buffers");
    assert_int_equal(mtl_compute_pipeline_state_gpu_resource_id(NULL).impl, 0);
    // Textures cannot be set in commands, so such pipelines are not made.
    MTLError *error = NULL;
    MTLFunction *tex = mtl_library_new_function(library, "tex");
    assert_null(mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = tex,
                                        .support_indirect_command_buffers = true},
        0, NULL, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "indirect command buffers"));
    mtl_release(error), mtl_release(tex);
    mtl_release(plain), mtl_release(fresh), mtl_release(icb), mtl_release(x), mtl_release(amounts);
}

// A kernel that writes to an indirect command buffer that is gone.
static void test_gone_buffer(void **state) {
    (void)state;
    NEEDS_RESULTS();
    NEEDS_EMPTY_MEMORY();
    MTLIndirectCommandBuffer *icb = new_icb(2000);
    MTLBuffer *x = words((uint32_t[]){1, 1, 1, 1}, 4);
    Arguments a = arguments_of(icb, x, x);
    mtl_release(icb);
    MTLComputeCommandEncoder *e;
    MTLCommandBuffer *commands = begin(&e);
    MTLComputePipelineState *p = pipeline_of(library, "filter");
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_bytes(e, &a, sizeof a, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    finish(commands, e);
    expect_page_fault(commands);
    mtl_release(commands), mtl_release(p), mtl_release(x);
}

// ---- Misuse ----

// Exactly one message since the last look, of this rule.
static void expect(const char *rule) {
    assert_string_equal(last_rule, rule);
    assert_int_equal(n_messages, 1);
    clear_messages();
}

static void expect_no_icb(MTLIndirectCommandBufferDescriptor d, size_t n,
                          MTLResourceOptions options, const char *rule) {
    clear_messages();
    assert_null(mtl_device_new_indirect_command_buffer(device, &d, n, options));
    expect(rule);
}

static void test_misuse(void **state) {
    (void)state;
    MTLIndirectCommandBufferDescriptor good = {.command_types =
                                                   MTLIndirectCommandTypeConcurrentDispatch};
    expect_no_icb((MTLIndirectCommandBufferDescriptor){0}, 1, 0, "indirect_command_types");
    expect_no_icb((MTLIndirectCommandBufferDescriptor){.command_types = 1 << 4}, 1, 0,
                  "indirect_command_types");
    expect_no_icb(
        (MTLIndirectCommandBufferDescriptor){
            .command_types = MTLIndirectCommandTypeDraw | MTLIndirectCommandTypeConcurrentDispatch},
        1, 0, "indirect_command_types");
    MTLIndirectCommandBuffer *draws = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types = MTLIndirectCommandTypeDraw |
                                                               MTLIndirectCommandTypeDrawIndexed},
        10, 0);
    assert_int_equal(mtl_indirect_command_buffer_size(draws), 10);
    assert_null(mtl_indirect_command_buffer_indirect_compute_command_at_index(draws, 0));
    expect("indirect_dispatch_type");
    mtl_release(draws);
    expect_no_icb(good, 0, 0, "indirect_command_count");
    expect_no_icb(good, SIZE_MAX, 0, "indirect_command_count");
    expect_no_icb(good, 1, 0xffff, "buffer_options");
    expect_no_icb(good, 1, MTLResourceStorageModeMemoryless, "buffer_memoryless");
    MTLIndirectCommandBufferDescriptor many = good;
    many.max_kernel_buffer_bind_count = 32;
    expect_no_icb(many, 1, 0, "indirect_bind_count");
    assert_null(mtl_device_new_indirect_command_buffer(device, NULL, 1, 0)),
        expect("null_argument");
    assert_null(mtl_device_new_indirect_command_buffer(NULL, &good, 1, 0)), expect("null_object");

    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(device, &good, 4, 0);
    MTLIndirectCommandBuffer *hidden =
        mtl_device_new_indirect_command_buffer(device, &good, 4, MTLResourceStorageModePrivate);
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    MTLComputePipelineState *plain = pipeline_of(library, "add");
    mtl_indirect_command_buffer_set_label(icb, "mine");
    MTLIndirectComputeCommand *c = at(icb, 3);
    MTLSize one = mtl_size_make(1, 1, 1);
    clear_messages();
    assert_null(mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, 4));
    assert_non_null(strstr(last_text, "'mine'"));
    expect("indirect_command_index");
    assert_null(mtl_indirect_command_buffer_indirect_compute_command_at_index(hidden, 0));
    expect("indirect_private");
    assert_null(mtl_indirect_command_buffer_indirect_compute_command_at_index(NULL, 0));
    expect("null_object");
    mtl_indirect_command_buffer_reset_with_range(icb, mtl_range_make(4, 1)),
        expect("indirect_range");
    mtl_indirect_command_buffer_reset_with_range(icb, mtl_range_make(1, SIZE_MAX));
    expect("indirect_range");
    mtl_indirect_compute_command_set_compute_pipeline_state(c, plain);
    assert_non_null(strstr(last_text, "command 3 of 'mine'"));
    expect("indirect_pipeline");
    mtl_indirect_compute_command_set_compute_pipeline_state(c, NULL), expect("null_argument");
    mtl_indirect_compute_command_set_compute_pipeline_state(c, (MTLComputePipelineState *)x);
    expect("wrong_class");
    mtl_indirect_compute_command_set_kernel_buffer(c, x, 0, 31), expect("indirect_buffer_index");
    mtl_indirect_compute_command_set_kernel_buffer(c, x, 64, 0), expect("buffer_offset");
    mtl_indirect_compute_command_set_kernel_buffer(c, (MTLBuffer *)icb, 0, 0),
        expect("wrong_class");
    mtl_indirect_compute_command_set_kernel_buffer_with_stride(c, x, 0, 4, 0);
    expect("indirect_attribute_stride");
    mtl_indirect_compute_command_set_threadgroup_memory_length(c, 65536, 0);
    expect("threadgroup_memory_limit");
    mtl_indirect_compute_command_set_threadgroup_memory_length(c, 16, 31);
    expect("indirect_buffer_index");
    mtl_indirect_compute_command_concurrent_dispatch_threads(c, one, one);
    expect("indirect_dispatch_type");
    mtl_indirect_compute_command_concurrent_dispatch_threadgroups(
        c, mtl_size_make(1ull << 32, 1, 1), one);
    expect("dispatch_grid_limit");
    mtl_indirect_compute_command_concurrent_dispatch_threadgroups(c, one, mtl_size_make(33, 32, 1));
    expect("dispatch_threadgroup_limit");
    mtl_indirect_compute_command_set_imageblock_width(c, 0, 1), expect("imageblock_size");
    mtl_indirect_compute_command_set_stage_in_region(c, mtl_region_make_1d(0, 1ull << 32));
    expect("dispatch_grid_limit");
    mtl_indirect_compute_command_set_barrier(NULL), expect("null_object");
    mtl_indirect_compute_command_reset((MTLIndirectComputeCommand *)x), expect("wrong_class");
    mtl_indirect_compute_command_set_kernel_buffer(NULL, x, 0, 0), expect("null_object");
    mtl_indirect_compute_command_set_kernel_buffer_with_stride(NULL, x, 0, 4, 0);
    expect("null_object");

    // The command keeps its buffer.
    mtl_retain(c);
    mtl_release(icb);
    mtl_indirect_compute_command_set_barrier(c);
    mtl_release(c);
    mtl_release(hidden), mtl_release(x), mtl_release(plain);
}

static void test_encoder_misuse(void **state) {
    (void)state;
    MTLIndirectCommandBuffer *icb = new_icb(2);
    MTLBuffer *x = mtl_device_new_buffer(device, 12, 0);
    static const char *const rules[] = {"null_argument", "wrong_class",     "indirect_range",
                                        "null_argument", "indirect_offset", "indirect_offset",
                                        "buffer_offset"};
    for (int k = 0; k < 7; k++) {
        MTLComputeCommandEncoder *e;
        MTLCommandBuffer *commands = begin(&e);
        MTLRange two = mtl_range_make(0, 2);
        switch (k) {
        case 0: mtl_compute_command_encoder_execute_commands_in_buffer(e, NULL, two); break;
        case 1:
            mtl_compute_command_encoder_execute_commands_in_buffer(e, (MTLIndirectCommandBuffer *)x,
                                                                   two);
            break;
        case 2:
            mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(1, 2));
            break;
        case 3:
            mtl_compute_command_encoder_execute_commands_in_buffer_indirect(e, icb, NULL, 0);
            break;
        case 4:
            mtl_compute_command_encoder_execute_commands_in_buffer_indirect(e, icb, x, 2);
            break;
        case 5:
            mtl_compute_command_encoder_execute_commands_in_buffer_indirect(e, icb, x, 8);
            break;
        default: mtl_compute_command_encoder_execute_commands_in_buffer_indirect(e, icb, x, 12);
        }
        finish(commands, e);
        assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
        assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)), rules[k]);
        mtl_release(commands);
    }
    clear_messages();
    mtl_compute_command_encoder_execute_commands_in_buffer(NULL, icb, mtl_range_make(0, 1));
    expect("null_object");
    mtl_release(icb), mtl_release(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_commands),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_threadgroup_memory),
        cmocka_unit_test(test_inherit),
        cmocka_unit_test(test_kernel_filter),
        cmocka_unit_test(test_kernel_compaction),
        cmocka_unit_test(test_kernel_edges),
        cmocka_unit_test(test_kernel_copy),
        cmocka_unit_test(test_kernel_threadgroup_memory),
        cmocka_unit_test(test_argument_encoder),
        cmocka_unit_test(test_blit),
        cmocka_unit_test(test_bad_commands),
        cmocka_unit_test(test_gone_pipeline),
        cmocka_unit_test(test_gone_buffer),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_encoder_misuse),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
