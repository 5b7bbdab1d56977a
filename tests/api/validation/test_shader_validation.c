// SPDX-License-Identifier: Apache-2.0
// test_shader_validation.c: kernels that access what they must not, with shader validation: what is
// reported, that the access did nothing, and that kernels which are right give the same bits with
// and without it. Buffers lie between pages nobody may touch: an access that slipped through ends
// the command buffer in an error. Run at several vector widths (CMakeLists.txt).
#include "api_test.h"
#include <sys/mman.h>
#include <unistd.h>

enum { N = 1024, BYTES = N * 4 }; // one page

static const char source[] = HEAD
    "kernel void read_past(device const uint *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    out[i] = in[i + 1];\n"
    "}\n"
    "kernel void write_past(device const uint *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    out[i + 1] = in[i];\n"
    "}\n"
    "kernel void negative(device const uint *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    out[i] = in[int(i) - 1];\n"
    "}\n"
    "kernel void wraps(device const uint *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    out[i] = in[i - 5u];\n"
    "}\n"
    "kernel void huge(device const uint *in, device uint *out, uint i [[thread_position_in_grid]]) "
    "{\n"
    "    out[ulong(i) << 50] = in[ulong(i) << 40];\n"
    "}\n"
    "kernel void plane(device const uint *in, device uint *out, uint2 p "
    "[[thread_position_in_grid]]) {\n"
    "    out[(p.y + 1) * 32 + p.x] = in[p.y * 32 + p.x];\n"
    "}\n"
    "kernel void vectors(device const uint4 *in, device uint4 *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    out[i] = in[i + 1] + in[i];\n"
    "}\n"
    "kernel void scattered(device const uint *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    out[in[i] ^ 1] = i;\n"
    "}\n"
    "kernel void atomics(device const uint *in, device atomic_uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    atomic_fetch_add_explicit(&out[i + 1], in[i], memory_order_relaxed);\n"
    "}\n"
    "kernel void exchange(device const uint *in, device atomic_uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    uint old = atomic_load_explicit(&out[i + 1], memory_order_relaxed);\n"
    "    while (!atomic_compare_exchange_weak_explicit(&out[i + 1], &old, old + in[i],\n"
    "                                                  memory_order_relaxed, "
    "memory_order_relaxed)) {}\n"
    "}\n"
    "kernel void uniform_index(device const uint *in, device uint *out, constant uint &k,\n"
    "                          uint i [[thread_position_in_grid]]) {\n"
    "    out[i] = in[k] + 1;\n"
    "}\n"
    "kernel void loop(device const uint *in, device uint *out, constant uint &n,\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "    uint s = 0;\n"
    "    for (uint k = 0; k < n; ++k) s += in[i + k];\n"
    "    out[i] = s;\n"
    "}\n"
    "kernel void shared_fixed(device const uint *in, device uint *out, uint i "
    "[[thread_position_in_grid]],\n"
    "                         uint t [[thread_index_in_threadgroup]]) {\n"
    "    threadgroup uint before[64], tile[64], behind[64];\n"
    "    before[t] = behind[t] = 7;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    tile[t + 1] = in[i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    out[i] = tile[63] + before[t] + behind[t] + (t == 0 ? tile[64 + (i & 1)] : 0);\n"
    "}\n"
    "kernel void shared_argument(device const uint *in, device uint *out, threadgroup uint *tile,\n"
    "                            uint i [[thread_position_in_grid]], uint t "
    "[[thread_index_in_threadgroup]]) {\n"
    "    tile[t] = in[i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    out[i] = tile[63 - t];\n"
    "}\n"
    "kernel void reduction(device const uint *in, device uint *out, uint i "
    "[[thread_position_in_grid]],\n"
    "                      uint t [[thread_index_in_threadgroup]]) {\n"
    "    threadgroup uint s[256];\n"
    "    s[t] = in[i];\n"
    "    for (uint n = 128; n; n >>= 1) {\n"
    "        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "        if (t <= n) s[t] += s[t + n + (n == 128 ? 0 : 1000)]; // t == 128 too; and far off\n"
    "    }\n"
    "    out[i] = 1;\n"
    "}\n"
    "kernel void private_array(device const uint *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    uint a[8];\n"
    "    for (uint k = 0; k < 8; ++k) a[k] = k + in[k];\n"
    "    a[in[i] % 12] = 50;\n"
    "    out[i] = a[in[i] % 10];\n"
    "}\n";

static const char more_source[] = HEAD
    "static void helper(device uint *p, uint i) {\n"
    "    p[i + 1] = i;\n"
    "}\n"
    "kernel void helped(device uint *in, device uint *out, uint i [[thread_position_in_grid]]) {\n"
    "    helper(out, in[i]);\n"
    "}\n"
    "constant uint table[4] = {11, 22, 33, 44};\n"
    "kernel void constants(device const uint *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    out[i] = table[i & 7];\n"
    "}\n"
    "struct Wide { uint v[24]; };\n"
    "kernel void copies(device const Wide *in, device Wide *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    Wide w = in[i + 1];\n"
    "    out[i] = w;\n"
    "}\n"
    "struct Params { uint a, b, c, d; };\n"
    "kernel void short_constant(device const uint *in, device uint *out, constant Params &p,\n"
    "                           uint i [[thread_position_in_grid]]) {\n"
    "    out[i] = in[i] + p.a + p.d;\n"
    "}\n"
    "struct Link { device Link *next; uint value; };\n"
    "kernel void list(device const Link *in, device uint *out, uint i [[thread_position_in_grid]]) "
    "{\n"
    "    uint s = 0;\n"
    "    for (device const Link *at = in + (i & 1); at; at = at->next) s += at->value;\n"
    "    out[i] = s;\n"
    "}\n"
    "struct Either { device uint *p, *q; };\n"
    "kernel void either(device const Either *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    device uint *p;\n"
    "    if (i & 1) p = in[0].p; else { p = in[0].q; out[i] = 1; }\n"
    "    out[i] = p[i];\n"
    "}\n"
    "struct Textures { texture2d<float> t; texture2d<float, access::write> w; };\n"
    "kernel void null_texture(device const Textures *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    float4 c = in[i & 1].t.read(uint2(i, 0));\n"
    "    in[i & 1].w.write(c, uint2(i, 0));\n"
    "    out[i] = uint(c.x) + in[0].t.get_width();\n"
    "}\n"
    "kernel void many_textures(device const texture2d<float> *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    if (i % 5) out[i] = uint(in[i * 7 % 5].read(uint2(0)).x);\n"
    "}\n"
    "struct Pointers { device uint *p; uint unused; };\n"
    "kernel void through(device const Pointers *in, device uint *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    out[i] = in[i & 1].p[i];\n"
    "}\n"
    "kernel void chosen(device uint *in, device uint *out, uint i [[thread_position_in_grid]]) {\n"
    "    device uint *p = i & 1 ? in : out;\n"
    "    p[i + 1] = i;\n"
    "}\n"
    "kernel void threes(device const uint3 *in, device uint3 *out, uint i "
    "[[thread_position_in_grid]]) {\n"
    "    out[i] = in[i] * 2;\n"
    "}\n";

static MTLLibrary *library, *more_library;
static MTLCommandQueue *queue;
static void *in_map, *out_map;
static uint32_t *in, *out;
static MTLBuffer *in_buffer, *out_buffer;

static MTLBuffer *guarded_buffer(void **map, uint32_t **bytes, const char *label) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(page, BYTES);
    *map = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(*map != MAP_FAILED);
    *bytes = (uint32_t *)((char *)*map + page);
    assert_int_equal(mprotect(*bytes, page, PROT_READ | PROT_WRITE), 0);
    MTLBuffer *b = mtl_device_new_buffer_with_bytes_no_copy(device, *bytes, page, 0, NULL, NULL);
    assert_non_null(b);
    mtl_buffer_set_label(b, label);
    return b;
}

static int setup(void **state) {
    if (open_device(state)) return -1;
    library = compile(source);
    more_library = compile(more_source);
    queue = mtl_device_new_command_queue(device);
    in_buffer = guarded_buffer(&in_map, &in, "Source");
    out_buffer = guarded_buffer(&out_map, &out, "Target");
    return 0;
}

static int teardown(void **state) {
    mtl_release(in_buffer);
    mtl_release(out_buffer);
    munmap(in_map, 3 * BYTES);
    munmap(out_map, 3 * BYTES);
    mtl_release(queue);
    mtl_release(library);
    mtl_release(more_library);
    return close_device(state);
}

static void reset(void) {
    for (uint32_t i = 0; i < N; i++) in[i] = i + 1, out[i] = 0xcccccccc;
    clear_messages();
}

static MTLComputePipelineState *checked(const char *name, MTLShaderValidation validation) {
    MTLError *error = NULL;
    MTLFunction *f = mtl_library_new_function(library, name);
    if (!f) f = mtl_library_new_function(more_library, name);
    assert_non_null(f);
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .label = name, .compute_function = f, .shader_validation = validation},
        MTLPipelineOptionNone, NULL, &error);
    if (!p) fail_msg("%s: %s", name, mtl_error_localized_description(error));
    mtl_release(f);
    return p;
}

typedef struct Run {
    const char *kernel;
    MTLSize grid, group;
    uint32_t constant;        // at index 2, if not 0
    size_t constant_bytes;    // 0: 4
    size_t threadgroup_bytes; // at index 0, if not 0
    MTLBuffer *in, *out;      // NULL: in_buffer, out_buffer
    MTLBuffer *reached;       // through a pointer in memory, if not NULL
} Run;

// Runs it; the command buffer is the caller's.
static MTLCommandBuffer *run(const Run *r, MTLShaderValidation validation) {
    MTLComputePipelineState *p = checked(r->kernel, validation);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_label(e, "Pass");
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, r->in ? r->in : in_buffer, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, r->out ? r->out : out_buffer, 0, 1);
    uint32_t constants[4] = {r->constant};
    if (r->constant)
        mtl_compute_command_encoder_set_bytes(e, constants,
                                              r->constant_bytes ? r->constant_bytes : 4, 2);
    if (r->threadgroup_bytes)
        mtl_compute_command_encoder_set_threadgroup_memory_length(e, r->threadgroup_bytes, 0);
    if (r->reached)
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)r->reached,
                                                 MTLResourceUsageRead);
    mtl_compute_command_encoder_dispatch_threads(e, r->grid, r->group);
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    mtl_release(p);
    return commands;
}

// A log that contains `what`; fails if there is none.
static MTLFunctionLog *find_log(MTLCommandBuffer *commands, const char *what) {
    size_t n = mtl_command_buffer_log_count(commands);
    for (size_t i = 0; i < n; i++) {
        MTLFunctionLog *log = mtl_command_buffer_log(commands, i);
        if (strstr(mtl_function_log_description(log), what)) return log;
    }
    for (size_t i = 0; i < n; i++)
        print_message("log: %s\n",
                      mtl_function_log_description(mtl_command_buffer_log(commands, i)));
    fail_msg("none of %zu logs says '%s'", n, what);
    return NULL;
}

static void expect(MTLCommandBuffer *commands, const char *what, uint64_t count) {
    MTLFunctionLog *log = find_log(commands, what);
    if (mtl_function_log_count(log) != count)
        fail_msg("'%s' %llu times, not %llu", mtl_function_log_description(log),
                 (unsigned long long)mtl_function_log_count(log), (unsigned long long)count);
}

static void expect_out(uint32_t i, uint32_t value) {
    if (out[i] != value) fail_msg("out[%u] is %u, not %u", i, out[i], value);
}

static const MTLSize line = {N, 1, 1}, group = {256, 1, 1}, small = {64, 1, 1};

// ---- buffers ----

TEST(test_read_past) {
    reset();
    MTLCommandBuffer *c = run(&(Run){.kernel = "read_past", .grid = line, .group = group},
                              MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i + 1 < N ? i + 2 : 0);
    assert_int_equal(mtl_command_buffer_log_count(c), 1);
    expect(c, "kernel 'read_past' of 'Pass', thread (1023, 0, 0)", 1);
    expect(c,
           "load of 4 bytes outside buffer 'Source' (argument 'in', buffer index 0) at offset "
           "4096, which has 4096 bytes (1 thread)",
           1);
    // The same for whoever listens.
    assert_int_equal(n_messages, 1);
    assert_string_equal(last_rule, "shader_validation");
    assert_string_equal(last_call, "read_past");
    assert_non_null(strstr(last_text, "buffer 'Source'"));
    MTLFunctionLog *log = mtl_command_buffer_log(c, 0);
    assert_int_equal(mtl_function_log_type(log), MTLFunctionLogTypeValidation);
    assert_string_equal(mtl_function_log_encoder_label(log), "Pass");
    assert_string_equal(mtl_function_name(mtl_function_log_function(log)), "read_past");
    assert_null(mtl_command_buffer_log(c, 1));
    mtl_release(c);
}

TEST(test_write_past) {
    reset();
    MTLCommandBuffer *c = run(&(Run){.kernel = "write_past", .grid = line, .group = group},
                              MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i ? i : 0xcccccccc);
    expect(c, "store of 4 bytes outside buffer 'Target' (argument 'out', buffer index 1)", 1);
    mtl_release(c);
}

TEST(test_negative) {
    reset();
    MTLCommandBuffer *c =
        run(&(Run){.kernel = "negative", .grid = line, .group = group}, MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i);
    expect(c, "thread (0, 0, 0)", 1);
    expect(c,
           "load of 4 bytes outside buffer 'Source' (argument 'in', buffer index 0) at offset -4",
           1);
    mtl_release(c);
}

// Some lanes of a vector step wrap around, the others do not.
TEST(test_wraps) {
    reset();
    MTLCommandBuffer *c =
        run(&(Run){.kernel = "wraps", .grid = line, .group = group}, MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i < 5 ? 0 : i - 4);
    expect(c, "at offset 17179869164", 5);
    mtl_release(c);
}

TEST(test_huge) {
    reset();
    MTLCommandBuffer *c =
        run(&(Run){.kernel = "huge", .grid = line, .group = group}, MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i ? 0xcccccccc : 1);
    expect(c, "load of 4 bytes", N - 1);
    expect(c, "store of 4 bytes", N - 1);
    mtl_release(c);
}

TEST(test_plane) {
    static const MTLSize groups[] = {{32, 8, 1}, {16, 16, 1}, {8, 4, 1}, {7, 5, 1}};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        reset();
        MTLCommandBuffer *c =
            run(&(Run){.kernel = "plane", .grid = {32, 32, 1}, .group = groups[g]},
                MTLShaderValidationEnabled);
        for (uint32_t i = 0; i < N; i++) expect_out(i, i < 32 ? 0xcccccccc : i - 31);
        expect(c, "outside buffer 'Target'", 32);
        mtl_release(c);
    }
}

TEST(test_vectors) {
    reset();
    MTLCommandBuffer *c = run(&(Run){.kernel = "vectors", .grid = {N / 4, 1, 1}, .group = small},
                              MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i < N - 4 ? 2 * i + 6 : i + 1);
    expect(c, "load of 16 bytes outside buffer 'Source'", 1);
    mtl_release(c);
}

TEST(test_scattered) {
    reset();
    in[17] = 5000;
    in[400] = 0x80000000;
    MTLCommandBuffer *c = run(&(Run){.kernel = "scattered", .grid = {N / 2, 1, 1}, .group = group},
                              MTLShaderValidationEnabled);
    expect(c, "store of 4 bytes outside buffer 'Target'", 2);
    expect_out(101 ^ 1, 100);
    mtl_release(c);
}

TEST(test_atomics) {
    const char *const kernels[] = {"atomics", "exchange"};
    for (int k = 0; k < 2; k++) {
        reset();
        memset(out, 0, BYTES);
        MTLCommandBuffer *c = run(&(Run){.kernel = kernels[k], .grid = line, .group = group},
                                  MTLShaderValidationEnabled);
        for (uint32_t i = 0; i < N; i++) expect_out(i, i);
        expect(c, "atomic operation of 4 bytes outside buffer 'Target'", 1);
        mtl_release(c);
    }
}

TEST(test_uniform) {
    reset();
    MTLCommandBuffer *c =
        run(&(Run){.kernel = "uniform_index", .grid = line, .group = group, .constant = 1024},
            MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, 1);
    expect(c, "load of 4 bytes outside buffer 'Source'", N);
    mtl_release(c);
    reset();
    c = run(&(Run){.kernel = "uniform_index", .grid = line, .group = group, .constant = 1023},
            MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, 1025);
    assert_int_equal(mtl_command_buffer_log_count(c), 0);
    mtl_release(c);
}

TEST(test_loop) {
    reset();
    MTLCommandBuffer *c = run(&(Run){.kernel = "loop", .grid = line, .group = group, .constant = 3},
                              MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N - 2; i++) expect_out(i, 3 * i + 6);
    expect_out(N - 2, 2 * N - 1);
    expect_out(N - 1, N);
    expect(c, "load of 4 bytes outside buffer 'Source'", 3);
    mtl_release(c);
}

// A buffer that ends inside a page: what lies behind stays as it is.
TEST(test_behind_the_length) {
    reset();
    MTLBuffer *shorter = mtl_device_new_buffer(device, 100 * 4, 0);
    uint32_t *bytes = mtl_buffer_contents(shorter);
    memset(bytes, 0x5a, 512); // memory comes in powers of two: the rest belongs to nobody
    MTLComputePipelineState *p = checked("write_past", MTLShaderValidationEnabled);
    MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, in_buffer, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, shorter, 8, 1); // with an offset
    mtl_compute_command_encoder_dispatch_threads(e, line, group);
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(c);
    assert_completed(c);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(bytes[i], i >= 3 && i < 100 ? i - 2 : 0x5a5a5a5a);
    expect(c, "which has 392 bytes", N - 97);
    mtl_release(c);
    mtl_release(p);
    mtl_release(shorter);
}

// ---- other memory ----

TEST(test_threadgroup) {
    reset();
    MTLCommandBuffer *c = run(&(Run){.kernel = "shared_fixed", .grid = line, .group = small},
                              MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, in[i / 64 * 64 + 62] + 14);
    expect(c, "store of 4 bytes outside a threadgroup variable at offset 256, which has 256 bytes",
           N / 64);
    expect(c, "load of 4 bytes outside a threadgroup variable", N / 64);
    mtl_release(c);
    reset();
    c = run(
        &(Run){
            .kernel = "shared_argument", .grid = line, .group = small, .threadgroup_bytes = 32 * 4},
        MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t t = 63 - i % 64;
        expect_out(i, t < 32 ? in[i / 64 * 64 + t] : 0);
    }
    expect(c, "store of 4 bytes outside threadgroup memory (argument 'tile', threadgroup index 0)",
           N / 2);
    expect(c, "load of 4 bytes outside threadgroup memory", N / 2);
    mtl_release(c);
    reset();
    c = run(&(Run){.kernel = "reduction", .grid = line, .group = group},
            MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, 1);
    find_log(c, "load of 4 bytes outside a threadgroup variable");
    mtl_release(c);
}

// Where the compiler sees that an index stays inside there is no check: it must not be wrong by
// one.
TEST(test_ranges) {
    static const struct {
        const char *code;
        uint64_t n_bad;
    } cases[] = {
        {"s[t] = 1;", 0},
        {"s[t + 1] = 1;", N / 64},
        {"s[int(t) - 1] = 1;", N / 64},
        {"uint h = n / 2; if (t < h) s[t + h] = 1;", 0},
        {"uint h = n / 2; if (t <= h) s[t + h] = 1;", N / 64},
        {"uint h = n / 2; if (h > t) s[t + h] = 1; else s[t - h] = 1;", 0},
        {"for (uint h = n / 2; h; h >>= 1) if (t < h) s[t + h] = 1;", 0},
        {"for (uint h = n; h; h >>= 1) if (t < h) s[t + h] = 1;", N},
        {"s[in[i] % 64] = 1;", 0},
        {"s[in[i] % 65] = 1;", 15},
        {"s[in[i] & 63] = 1;", 0},
        {"s[in[i] & 64] = 1;", N / 2},
        {"s[in[i] >> 4] = 1;", 0},
        {"s[in[i] >> 3] = 1;", N / 2},
        {"s[clamp(int(in[i]) - 8, 0, 63)] = 1;", 0},
        {"s[clamp(int(in[i]) - 8, 0, 64)] = 1;", N - 72},
        {"s[clamp(int(in[i]) - 8, -1, 63)] = 1;", 8},
        {"s[min(in[i], 63u)] = 1;", 0},
        {"s[min(in[i], 64u)] = 1;", N - 64},
        {"s[min(int(in[i]) - 1, 63)] = 1;", 1},
        {"for (uint k = 0; k < 64; k++) s[k] = in[i] + k;", 0},
        {"for (uint k = 0; k <= 64; k++) s[k] = in[i] * k;", N},
        {"for (uint k = t; k < 64; k += 7) s[k] = in[i];", 0},
        {"for (uint k = t; k != t + 2; k++) s[k] = in[i];", N / 64},
        {"for (int k = 63; k >= 0; k--) s[k] = in[i] * uint(k);", 0},
        {"for (int k = 63; k >= -1; k--) s[k] = in[i] * uint(k);", N},
        {"s[(ushort)(t + 65530u)] = 1;", 6 * N / 64},
        {"s[(t - 1u) >> 1] = 1;", N / 64},
        {"uint k = t; if (in[i] & 1) k = n; s[k] = 1;", N / 2},
        {"s[t + (t > 3 ? 0u : 62u)] = 1;", 2 * N / 64},
        {"s[t | 32u] = s[t ^ 63u] + t * 2 % 64;", 0},
        {"s[t | 64u] = 1;", N},
        {"s[t * 2 / 2] = s[t / 32 * 32 + 31];", 0},
        {"s[t * 3 / 2] = 1;", 21 * N / 64},
    };
    MTLLibrary *own = library;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "#include <metal_stdlib>\nusing namespace metal;\n"
                 "kernel void range(device const uint *in, device uint *out,\n"
                 "                  uint i [[thread_position_in_grid]],\n"
                 "                  uint t [[thread_index_in_threadgroup]],\n"
                 "                  uint n [[threads_per_threadgroup]]) {\n"
                 "    threadgroup uint s[64];\n"
                 "    %s\n"
                 "    out[i] = 1;\n"
                 "}\n",
                 cases[k].code);
        library = compile(text);
        reset();
        for (uint32_t i = 0; i < N; i++) in[i] = i;
        MTLCommandBuffer *c = run(&(Run){.kernel = "range", .grid = line, .group = small},
                                  MTLShaderValidationEnabled);
        uint64_t n = 0;
        for (size_t l = 0; l < mtl_command_buffer_log_count(c); l++)
            n += mtl_function_log_count(mtl_command_buffer_log(c, l));
        if (n != cases[k].n_bad)
            fail_msg("'%s' is bad %llu times, not %llu", cases[k].code, (unsigned long long)n,
                     (unsigned long long)cases[k].n_bad);
        for (uint32_t i = 0; i < N; i++) expect_out(i, 1);
        mtl_release(c);
        mtl_release(library);
    }
    library = own;
}

TEST(test_private) {
    reset();
    for (uint32_t i = 0; i < N; i++) in[i] = i;
    MTLCommandBuffer *c = run(&(Run){.kernel = "private_array", .grid = line, .group = group},
                              MTLShaderValidationEnabled);
    uint64_t bad_loads = 0, bad_stores = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t r = i % 10, w = i % 12;
        expect_out(i, r >= 8 ? 0 : r == w ? 50 : 2 * r);
        bad_loads += r >= 8;
        bad_stores += w >= 8;
    }
    expect(c, "load of 4 bytes outside an array of the thread", bad_loads);
    expect(c, "store of 4 bytes outside an array of the thread", bad_stores);
    mtl_release(c);
}

TEST(test_constants) {
    reset();
    MTLCommandBuffer *c = run(&(Run){.kernel = "constants", .grid = line, .group = group},
                              MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, (i & 7) < 4 ? 11 * (i % 8 + 1) : 0);
    expect(c, "load of 4 bytes outside a constant of the program", N / 2);
    mtl_release(c);
}

TEST(test_copies) {
    reset();
    const uint32_t n = N / 24; // structs that fit
    MTLCommandBuffer *c = run(&(Run){.kernel = "copies", .grid = {n, 1, 1}, .group = {n, 1, 1}},
                              MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < (n - 1) * 24; i++) expect_out(i, i + 25);
    assert_true(mtl_command_buffer_log_count(c) > 0);
    find_log(c, "outside buffer 'Source'");
    for (uint32_t i = n * 24; i < N; i++) expect_out(i, 0xcccccccc);
    mtl_release(c);
}

// Bytes that end before the struct: zeros, in all modes; reported with validation.
TEST(test_short_constant) {
    for (int on = 0; on < 2; on++) {
        reset();
        MTLCommandBuffer *c = run(&(Run){.kernel = "short_constant",
                                         .grid = line,
                                         .group = group,
                                         .constant = 100,
                                         .constant_bytes = 8},
                                  on ? MTLShaderValidationEnabled : MTLShaderValidationDisabled);
        for (uint32_t i = 0; i < N; i++) expect_out(i, i + 101);
        if (on)
            find_log(c, "outside the bytes of argument 'p' (buffer index 2) at offset 12, which "
                        "has 8 bytes");
        else
            assert_int_equal(mtl_command_buffer_log_count(c), 0);
        mtl_release(c);
    }
}

// ---- pointers in buffers ----

typedef struct Pointers {
    uint64_t p;
    uint32_t unused, padding;
} Pointers;

TEST(test_pointers) {
    reset();
    MTLBuffer *data = mtl_device_new_buffer(device, 1000 * 4, 0), *gone,
              *table = mtl_device_new_buffer(device, 2 * sizeof(Pointers), 0);
    uint32_t *bytes = mtl_buffer_contents(data);
    for (uint32_t i = 0; i < 1000; i++) bytes[i] = 7 * i;
    Pointers *pointers = mtl_buffer_contents(table);
    const Run r = {.kernel = "through", .grid = line, .group = group, .in = table, .reached = data};
    // Good ones, past the end of one, and one that points into the middle.
    pointers[0].p = pointers[1].p = mtl_buffer_gpu_address(data);
    MTLCommandBuffer *c = run(&r, MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i < 1000 ? 7 * i : 0);
    expect(c, "where no live buffer is", 24);
    mtl_release(c);
    // No pointer.
    reset();
    pointers[1].p = 0;
    c = run(&r, MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i < 1000 && !(i & 1) ? 7 * i : 0);
    find_log(c, "through a null pointer");
    mtl_release(c);
    // A buffer that is gone.
    reset();
    gone = mtl_device_new_buffer(device, BYTES, 0);
    pointers[1].p = mtl_buffer_gpu_address(gone);
    mtl_release(gone);
    c = run(&r, MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i < 1000 && !(i & 1) ? 7 * i : 0);
    expect(c, "through the pointer", 512 + 12);
    mtl_release(c);
    mtl_release(table);
    mtl_release(data);
}

// Pointers that come through loops and branches.
TEST(test_lists) {
    typedef struct Link {
        uint64_t next;
        uint32_t value, padding;
    } Link;
    reset();
    MTLBuffer *links = mtl_device_new_buffer(device, 4 * sizeof(Link), 0);
    Link *l = mtl_buffer_contents(links);
    uint64_t address = mtl_buffer_gpu_address(links);
    for (uint32_t i = 0; i < 4; i++)
        l[i] = (Link){i < 2 ? address + (i + 2) * sizeof *l : 0, i + 1, 0};
    Run r = {.kernel = "list", .grid = line, .group = group, .in = links};
    MTLCommandBuffer *c = run(&r, MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i & 1 ? 6 : 4);
    assert_int_equal(mtl_command_buffer_log_count(c), 0);
    mtl_release(c);
    reset();
    l[3].next = address + 4 * sizeof *l; // one past the end: reads zeros, and stops
    c = run(&r, MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i & 1 ? 6 : 4);
    find_log(c, "where no live buffer is");
    mtl_release(c);
    reset();
    r.kernel = "either";
    uint64_t pair[2] = {mtl_buffer_gpu_address(in_buffer), address};
    memcpy(l, pair, sizeof pair);
    c = run(&r, MTLShaderValidationEnabled);
    for (uint32_t i = 1; i < N; i += 2) expect_out(i, i + 1);
    for (uint32_t i = 16; i < N; i += 2) expect_out(i, 0);
    expect(c, "through the pointer", N / 2 - 8);
    mtl_release(c);
    mtl_release(links);
}

TEST(test_null_texture) {
    reset();
    memset(in, 0, 64);
    MTLCommandBuffer *c = run(&(Run){.kernel = "null_texture", .grid = line, .group = group},
                              MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, 0);
    expect(c, "load of a null texture", N);
    expect(c, "store of a null texture", N);
    mtl_release(c);
}

// Each handle is looked up once, for all threads that have it: live ones, a forged one and one of a
// texture that is gone, in any order, some threads not being there.
TEST(test_many_textures) {
    enum { LIVE = 3, MANY = 5 };
    MTLTexture *textures[LIVE + 1];
    MTLBuffer *handles = mtl_device_new_buffer(device, MANY * sizeof(MTLResourceID), 0);
    MTLResourceID *h = mtl_buffer_contents(handles);
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    d.pixel_format = MTLPixelFormatR32Float;
    for (uint32_t t = 0; t <= LIVE; t++) {
        float texel = (float)(10 + t);
        textures[t] = mtl_device_new_texture(device, &d);
        mtl_texture_replace_region(textures[t], mtl_region_make_2d(0, 0, 1, 1), 0, &texel, 4);
        h[t] = mtl_texture_gpu_resource_id(textures[t]);
    }
    mtl_release(textures[LIVE]);
    h[MANY - 1].impl = h[0].impl + 64;
    reset();
    MTLCommandBuffer *c =
        run(&(Run){.kernel = "many_textures", .grid = {N - 3, 1, 1}, .group = group, .in = handles},
            MTLShaderValidationEnabled);
    uint64_t bad = 0;
    for (uint32_t i = 0; i < N - 3; i++) {
        uint32_t t = i * 7 % MANY;
        bad += i % 5 && t >= LIVE;
        expect_out(i, i % 5 == 0 ? 0xcccccccc : t < LIVE ? 10 + t : 0);
    }
    expect(c, "texture", bad);
    mtl_release(c);
    for (int t = 0; t < LIVE; t++) mtl_release(textures[t]);
    mtl_release(handles);
}

TEST(test_chosen) {
    reset();
    MTLCommandBuffer *c =
        run(&(Run){.kernel = "chosen", .grid = line, .group = group}, MTLShaderValidationEnabled);
    for (uint32_t i = 0; i < N; i++) expect_out(i, i & 1 ? i - 1 : 0xcccccccc);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(in[i], i && !(i & 1) ? i - 1 : i + 1);
    find_log(c, "store of 4 bytes outside buffer");
    mtl_release(c);
}

// What is behind the end of one buffer is the start of the other: it is outside nevertheless.
TEST(test_chosen_neighbours) {
    uint32_t *pages =
        mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    MTLBuffer *first =
                  mtl_device_new_buffer_with_bytes_no_copy(device, pages, BYTES, 0, NULL, NULL),
              *second =
                  mtl_device_new_buffer_with_bytes_no_copy(device, pages + N, BYTES, 0, NULL, NULL);
    reset();
    MTLCommandBuffer *c =
        run(&(Run){.kernel = "chosen", .grid = line, .group = group, .in = first, .out = second},
            MTLShaderValidationEnabled);
    assert_int_equal(pages[N], 0);
    for (uint32_t i = 1; i < N; i++) {
        assert_int_equal(pages[i], i & 1 ? 0 : i - 1);
        assert_int_equal(pages[N + i], i & 1 ? i - 1 : 0);
    }
    find_log(c, "store of 4 bytes outside buffer");
    mtl_release(c);
    mtl_release(first), mtl_release(second);
    munmap(pages, 2 * BYTES);
}

// With MTL_SHADER_VALIDATION the library knows its lines.
TEST(test_lines) {
    const char *on = getenv("MTL_SHADER_VALIDATION");
    MTLFunctionLogDebugLocation at;
    reset();
    MTLCommandBuffer *c = run(&(Run){.kernel = "write_past", .grid = line, .group = group},
                              MTLShaderValidationEnabled);
    bool known = mtl_function_log_debug_location(mtl_command_buffer_log(c, 0), &at);
    assert_int_equal(known, on && *on == '1');
    assert_int_equal(at.line, known ? 7 : 0);
    assert_int_equal(at.column > 0, known);
    assert_string_equal(at.url, known ? "program_source" : "");
    assert_string_equal(at.function_name, known ? "write_past" : "");
    mtl_release(c);
    reset();
    c = run(&(Run){.kernel = "helped", .grid = line, .group = group}, MTLShaderValidationEnabled);
    mtl_function_log_debug_location(mtl_command_buffer_log(c, 0), &at);
    assert_int_equal(at.line, known ? 4 : 0);
    mtl_release(c);
}

// ---- which pipelines ----

TEST(test_choice) {
    MTLComputePipelineState *p = checked("plane", MTLShaderValidationEnabled);
    assert_int_equal(mtl_compute_pipeline_state_shader_validation(p), MTLShaderValidationEnabled);
    mtl_release(p);
    p = checked("plane", MTLShaderValidationDisabled);
    assert_int_equal(mtl_compute_pipeline_state_shader_validation(p), MTLShaderValidationDisabled);
    mtl_release(p);
    const char *on = getenv("MTL_SHADER_VALIDATION");
    p = checked("plane", MTLShaderValidationDefault);
    assert_int_equal(mtl_compute_pipeline_state_shader_validation(p),
                     on && *on == '1' ? MTLShaderValidationEnabled : MTLShaderValidationDisabled);
    mtl_release(p);
    setenv("MTL_SHADER_VALIDATION_DISABLE_PIPELINES", "other,plane", 1);
    p = checked("plane", MTLShaderValidationEnabled);
    assert_int_equal(mtl_compute_pipeline_state_shader_validation(p), MTLShaderValidationDisabled);
    mtl_release(p);
    setenv("MTL_SHADER_VALIDATION_ENABLE_PIPELINES", "plane", 1);
    p = checked("plane", MTLShaderValidationDisabled);
    assert_int_equal(mtl_compute_pipeline_state_shader_validation(p), MTLShaderValidationEnabled);
    mtl_release(p);
    unsetenv("MTL_SHADER_VALIDATION_DISABLE_PIPELINES");
    unsetenv("MTL_SHADER_VALIDATION_ENABLE_PIPELINES");
    assert_int_equal(mtl_command_buffer_log_count(NULL), 0);
    assert_null(mtl_command_buffer_log(NULL, 0));
    assert_string_equal(mtl_function_log_description(NULL), "");
    assert_false(mtl_function_log_debug_location(NULL, NULL));
    assert_null(mtl_function_log_function(NULL));
    assert_int_equal(mtl_compute_pipeline_state_shader_validation(NULL),
                     MTLShaderValidationDisabled);
}

// The last vector of three lies in a buffer that ends with its third element; in one that is
// shorter it does not.
TEST(test_last_of_three) {
    enum { VECTORS = 40, WORDS = 4 * VECTORS };
    for (int lacks = 0; lacks < 2; lacks++) {
        size_t bytes = (WORDS - 1 - (size_t)lacks) * 4;
        MTLBuffer *target = mtl_device_new_buffer(device, bytes, 0);
        uint32_t *to = mtl_buffer_contents(target);
        reset();
        for (size_t i = 0; i < bytes / 4; i++) to[i] = 7;
        Run r = {.kernel = "threes", .grid = {VECTORS, 1, 1}, .group = small, .out = target};
        MTLCommandBuffer *c = run(&r, MTLShaderValidationEnabled);
        assert_int_equal(mtl_command_buffer_log_count(c), lacks);
        for (uint32_t i = 0; i < WORDS - 4; i++)
            assert_int_equal(to[i], i % 4 == 3 ? 7 : 2 * (i + 1));
        for (uint32_t i = WORDS - 4; i < WORDS - 2; i++)
            assert_int_equal(to[i], lacks ? 7 : 2 * (i + 1));
        mtl_release(c);
        mtl_release(target);
    }
}

// ---- kernels that are right ----

static const char right[] =
    HEAD "kernel void blur(device const float *a, device float *c, constant int2 &size,\n"
         "                 uint2 p [[thread_position_in_grid]]) {\n"
         "    float s = 0;\n"
         "    for (int dy = -2; dy <= 2; dy++)\n"
         "        for (int dx = -2; dx <= 2; dx++) {\n"
         "            int x = clamp(int(p.x) + dx, 0, size.x - 1), y = clamp(int(p.y) + dy, 0, "
         "size.y - 1);\n"
         "            s += float(dx * 3 + dy) * a[y * size.x + x];\n"
         "        }\n"
         "    c[p.y * size.x + p.x] = s;\n"
         "}\n"
         "kernel void edges(device const float *a, device float *c, constant int2 &size,\n"
         "                  uint2 p [[thread_position_in_grid]]) {\n"
         "    uint i = p.y * uint(size.x) + p.x;\n"
         "    float s = a[i];\n"
         "    if (p.x > 0) s += a[i - 1];\n"
         "    if (p.y > 0) s += 2 * a[i - uint(size.x)];\n"
         "    if (int(p.x) + 1 < size.x) s += 3 * a[i + 1];\n"
         "    if (int(p.y) + 1 < size.y) s += 5 * a[i + uint(size.x)];\n"
         "    c[i] = s;\n"
         "}\n"
         "kernel void product(device const float *a, device float *c, constant int2 &size,\n"
         "                    uint2 p [[thread_position_in_grid]]) {\n"
         "    float s = 0;\n"
         "    for (int k = 0; k < size.x; ++k)\n"
         "        s += a[int(p.y) * size.x + k] * a[k % size.y * size.x + int(p.x)];\n"
         "    c[p.y * uint(size.x) + p.x] = s;\n"
         "}\n"
         "kernel void tree(device const float *a, device float *c, constant int2 &size,\n"
         "                 uint2 p [[thread_position_in_grid]], uint t "
         "[[thread_index_in_threadgroup]],\n"
         "                 uint2 n [[threads_per_threadgroup]]) {\n"
         "    threadgroup float s[64];\n"
         "    uint i = p.y * uint(size.x) + p.x;\n"
         "    s[t] = a[i];\n"
         "    for (uint k = n.x * n.y / 2; k; k >>= 1) {\n"
         "        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
         "        if (t < k) s[t] += s[t + k];\n"
         "    }\n"
         "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
         "    c[i] = s[0] + a[i];\n"
         "}\n"
         "kernel void sort(device const float *a, device float *c, constant int2 &size,\n"
         "                 uint2 p [[thread_position_in_grid]]) {\n"
         "    float v[9];\n"
         "    for (int k = 0; k < 9; ++k)\n"
         "        v[k] = a[clamp(int(p.y) + k / 3 - 1, 0, size.y - 1) * size.x +\n"
         "                 clamp(int(p.x) + k % 3 - 1, 0, size.x - 1)];\n"
         "    for (int i = 1; i < 9; ++i) {\n"
         "        float x = v[i];\n"
         "        int k = i;\n"
         "        while (k > 0 && v[k - 1] > x) v[k] = v[k - 1], --k;\n"
         "        v[k] = x;\n"
         "    }\n"
         "    c[p.y * uint(size.x) + p.x] = v[4];\n"
         "}\n"
         "kernel void histogram(device const float *a, device float *c, constant int2 &size,\n"
         "                      uint2 p [[thread_position_in_grid]]) {\n"
         "    uint i = p.y * uint(size.x) + p.x;\n"
         "    atomic_fetch_add_explicit((device atomic_uint *)c + uint(a[i] * 64) % 64, i + 1,\n"
         "                              memory_order_relaxed);\n"
         "}\n";

TEST(test_same_bits) {
    static const char *const kernels[] = {"blur", "edges", "product", "tree", "sort", "histogram"};
    static const MTLSize groups[] = {{32, 2, 1}, {8, 8, 1}, {64, 1, 1}};
    MTLLibrary *own = library;
    // One thread at a time, checks are branches, and LLVM reorders fast arithmetic across them in
    // other ways than without.
    const char *width = getenv("INGOT_WIDTH");
    MTLCompileOptions options = {.math_mode_is_set = true, .math_mode = MTLMathModeSafe};
    library = width && !strcmp(width, "1")
                  ? mtl_device_new_library_with_source(device, right, &options, NULL)
                  : compile(right);
    assert_non_null(library);
    static float first[N];
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
            for (int on = 0; on < 2; on++) {
                for (uint32_t i = 0; i < N; i++) {
                    float x = (float)(i * 2654435761u >> 8) * 0x1p-24f;
                    memcpy(&in[i], &x, 4);
                }
                memset(out, 0, BYTES);
                clear_messages();
                MTLComputePipelineState *p = checked(kernels[k], on ? MTLShaderValidationEnabled
                                                                    : MTLShaderValidationDisabled);
                MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
                MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
                const int32_t size[2] = {64, 16};
                mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
                mtl_compute_command_encoder_set_buffer(e, in_buffer, 0, 0);
                mtl_compute_command_encoder_set_buffer(e, out_buffer, 0, 1);
                mtl_compute_command_encoder_set_bytes(e, size, sizeof size, 2);
                mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(64, 16, 1),
                                                             groups[g]);
                mtl_compute_command_encoder_end_encoding(e);
                commit_and_wait(c);
                assert_completed(c);
                if (mtl_command_buffer_log_count(c))
                    fail_msg("%s", mtl_function_log_description(mtl_command_buffer_log(c, 0)));
                if (on && memcmp(first, out, BYTES) != 0)
                    fail_msg("%s: other bits with validation", kernels[k]);
                memcpy(first, out, BYTES);
                mtl_release(c);
                mtl_release(p);
            }
        }
    mtl_release(library);
    library = own;
}

int main(void) { return unit_run(setup, teardown); }
