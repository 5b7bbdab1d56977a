// SPDX-License-Identifier: Apache-2.0
// Every function of the public headers with arguments that make no sense: NULL for each pointer and
// 0 or all ones for each number; the same with an object that is right; and random mixtures of both
// in random order, in which encoders are used after their end, command buffers after their commit,
// and objects are released while work needs them. Nothing may crash, hang or touch memory outside
// its objects (the sanitizers look on). misuse_calls.py writes the calls.
// usage: test_api_misuse [SEED [CALLS]]: only the random part, telling each call.
#include <math.h>
#include "api_test.h"
#include "ingot/foreign.h"

enum { N_KEPT = 6, N_MEMORY = 1 << 20 };
typedef enum Mode { MODE_NULL, MODE_SELF, MODE_RANDOM } Mode;
static Mode mode;
static uint64_t number; // modes other than random: each number's value
static uint32_t state;
static uint8_t memory[N_MEMORY] __attribute__((aligned(4096)));
static void *lists[4][8];
static size_t n_lists;

static uint32_t next(void) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state;
}

static bool chance(uint32_t one_in) { return next() % one_in == 0; }

static inline bool give_null(void) { return mode != MODE_RANDOM || chance(12); }
static inline void *give_memory(void) { return give_null() ? NULL : memory; }

// is_true: so many bytes or items are really there.
static inline size_t give_size(bool is_true) {
    static const size_t odd[] = {0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 16,
                                 31,
                                 32,
                                 64,
                                 255,
                                 256,
                                 4096,
                                 UINT32_MAX,
                                 INT64_MAX,
                                 SIZE_MAX,
                                 SIZE_MAX / 2 + 1,
                                 SIZE_MAX - 1,
                                 SIZE_MAX - 15,
                                 SIZE_MAX - 4095,
                                 (size_t)1 << 48};
    if (mode != MODE_RANDOM) return (size_t)number;
    if (is_true) return next() % 9;
    return chance(4) ? odd[next() % (sizeof odd / sizeof *odd)] : next() % (chance(2) ? 5 : 70);
}

static inline void give_sizes(void *sizes, size_t n_bytes, bool is_true) {
    for (size_t i = 0; i < n_bytes / sizeof(size_t); i++) {
        size_t size = give_size(is_true);
        if (mode == MODE_RANDOM && !is_true && chance(2)) size = 1;
        memcpy((char *)sizes + i * sizeof size, &size, sizeof size);
    }
}

static inline void give_number(void *at, size_t n_bytes) {
    uint64_t value = number;
    if (mode == MODE_RANDOM) value = chance(8) ? next() : chance(3) ? next() % 300 : next() % 8;
    if (n_bytes == 1) value &= mode == MODE_RANDOM ? 1 : 0; // bool among them
    memcpy(at, &value, n_bytes < 8 ? n_bytes : 8);
}

static inline double give_float(void) {
    static const double odd[] = {0, 1, -1, 1e30, -1e30, 0.5, (double)INFINITY, (double)NAN};
    return mode == MODE_RANDOM ? odd[next() % 8] : number ? (double)NAN : 0;
}

static inline const char *give_text(void) {
    static const char *const texts[] = {
        "", "add", "x", "\xff\xfe", "/nowhere/at/all", "kernel void broken("};
    return give_null() ? NULL : texts[next() % 6];
}

static void *give_object(int cls, bool is_self);
static void **give_objects(int cls);
static void keep(int cls, const void *object, bool is_owned);
static void drop_error(MTLError *error);
#include "misuse_calls.h"

enum { N_CALLS = sizeof calls / sizeof *calls };
static void *kept[N_CLASSES][N_KEPT];

static void *give_object(int cls, bool is_self) {
    if (mode == MODE_NULL || (mode == MODE_SELF && !is_self)) return NULL;
    if (mode == MODE_SELF) return kept[cls][0];
    if (chance(is_self ? 200 : 12)) return NULL;
    // Any resource, allocation or event where one may stand; what else has no objects of its own.
    if (cls == CLASS_MTLResource) cls = chance(2) ? CLASS_MTLBuffer : CLASS_MTLTexture;
    if (cls == CLASS_MTLEvent && chance(2)) cls = CLASS_MTLSharedEvent;
    if (strcmp(class_names[cls], "MTLAllocation") == 0)
        cls = chance(3) ? CLASS_MTLHeap : chance(2) ? CLASS_MTLBuffer : CLASS_MTLTexture;
    return kept[cls][chance(2) ? 0 : next() % N_KEPT];
}

static void **give_objects(int cls) {
    if (give_null()) return NULL;
    void **list = lists[n_lists++ % 4];
    for (int i = 0; i < 8; i++) list[i] = give_object(cls, false);
    return list;
}

// Borrowed objects are retained, so that they are there when they are used: which is what a
// reference is for.
static void keep(int cls, const void *object, bool is_owned) {
    void *o = (void *)(uintptr_t)object;
    if (!o) return;
    // There is one device, and a queue for two command buffers would rightly block.
    if (mode != MODE_RANDOM || cls == CLASS_MTLDevice || cls == CLASS_MTLCommandQueue) {
        if (is_owned) mtl_release(o);
        return;
    }
    if (!is_owned) mtl_retain(o);
    void **slot = &kept[cls][1 + next() % (N_KEPT - 1)];
    mtl_release(*slot);
    *slot = o;
}

static void drop_error(MTLError *error) {
    (void)mtl_error_localized_description(error);
    mtl_release(error);
}

static void put(int cls, void *object) {
    if (!object) fail_msg("no %s", class_names[cls]);
    mtl_release(kept[cls][0]);
    kept[cls][0] = object;
}

// Reads only what is surely there, writes only through textures: the kernel itself does no harm.
static const char source[] =
    HEAD "struct Inner { int a[3]; texture2d<float> t; };\n"
         "struct Arguments { device float *p [[id(0)]]; texture2d<float> t [[id(1)]];"
         " sampler s [[id(2)]]; Inner inner [[id(3)]]; };\n"
         "constant int extra [[function_constant(0)]];\n"
         "kernel void add(device const uint *x [[buffer(0)]], constant Arguments &a [[buffer(1)]],"
         " texture2d<float, access::read_write> t [[texture(0)]], sampler s [[sampler(0)]],"
         " uint2 i [[thread_position_in_grid]]) { if (x[0] != 77) t.write(float4(i.x), i); }\n"
         "kernel void plain(device uint *x [[buffer(0)]], threadgroup uint *y [[threadgroup(0)]]) {"
         " if (x[0] == 0x12345678) x[0] = 1; }\n"
         "vertex float4 corner(uint i [[vertex_id]]) { return float4(i & 1, i >> 1, 0, 1); }\n"
         "fragment float4 shade(float4 p [[position]]) { return p; }\n";

static void open_rendering(void) {
    MTLCommandQueue *queue = kept[CLASS_MTLCommandQueue][0];
    MTLTexture *target = kept[CLASS_MTLTexture][1];
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = target;
    pass.visibility_result_buffer = kept[CLASS_MTLBuffer][0];
    MTLCommandBuffer *one = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(one, &pass);
    put(CLASS_MTLRenderCommandEncoder, mtl_retain(encoder));
    mtl_render_command_encoder_set_render_pipeline_state(encoder,
                                                         kept[CLASS_MTLRenderPipelineState][0]);
    mtl_release(one);
    one = mtl_command_queue_command_buffer(queue);
    put(CLASS_MTLParallelRenderCommandEncoder,
        mtl_retain(mtl_command_buffer_parallel_render_command_encoder(one, &pass)));
    mtl_release(one);
    MTL4RenderPassDescriptor pass4 = mtl4_render_pass_descriptor_make();
    pass4.color_attachments[0].texture = target;
    MTL4CommandBuffer *commands = mtl_device_new_command_buffer(device);
    MTL4CommandAllocator *allocator = mtl_device_new_command_allocator(device);
    mtl4_command_buffer_begin_command_buffer(commands, allocator);
    MTL4RenderCommandEncoder *encoder4 =
        mtl4_command_buffer_render_command_encoder(commands, &pass4);
    put(CLASS_MTL4RenderCommandEncoder, mtl_retain(encoder4));
    mtl4_render_command_encoder_set_render_pipeline_state(encoder4,
                                                          kept[CLASS_MTLRenderPipelineState][0]);
    mtl_release(kept[CLASS_MTL4CommandBuffer][1]), mtl_release(kept[CLASS_MTL4CommandAllocator][1]);
    kept[CLASS_MTL4CommandBuffer][1] = commands;
    kept[CLASS_MTL4CommandAllocator][1] = allocator;
}

// The objects that do not go away: new ones where a call may have used them up.
static void open_commands(void) {
    open_rendering();
    MTLCommandQueue *queue = kept[CLASS_MTLCommandQueue][0];
    put(CLASS_MTLCommandBuffer, mtl_command_queue_command_buffer(queue));
    MTLCommandBuffer *one = mtl_command_queue_command_buffer(queue);
    put(CLASS_MTLComputeCommandEncoder,
        mtl_retain(mtl_command_buffer_compute_command_encoder(one)));
    mtl_release(one);
    one = mtl_command_queue_command_buffer(queue);
    put(CLASS_MTLBlitCommandEncoder, mtl_retain(mtl_command_buffer_blit_command_encoder(one)));
    mtl_release(one);
    MTL4CommandBuffer *commands = mtl_device_new_command_buffer(device);
    MTL4CommandAllocator *allocator = mtl_device_new_command_allocator(device);
    mtl4_command_buffer_begin_command_buffer(commands, allocator);
    MTL4ComputeCommandEncoder *encoder = mtl4_command_buffer_compute_command_encoder(commands);
    put(CLASS_MTL4ComputeCommandEncoder, mtl_retain(encoder));
    mtl4_compute_command_encoder_set_argument_table(encoder, kept[CLASS_MTL4ArgumentTable][0]);
    put(CLASS_MTL4CommandBuffer, commands);
    put(CLASS_MTL4CommandAllocator, allocator);
}

static void open_metal4(void) {
    put(CLASS_MTL4CommandQueue, mtl_device_new_mtl4_command_queue(device));
    put(CLASS_MTL4ArgumentTable,
        mtl_device_new_argument_table(
            device,
            &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 4, .max_texture_bind_count = 4},
            NULL));
    put(CLASS_MTL4CommitOptions, mtl4_commit_options_new());
    put(CLASS_MTL4CounterHeap,
        mtl_device_new_counter_heap(
            device, &(MTL4CounterHeapDescriptor){MTL4CounterHeapTypeTimestamp, 8}, NULL));
    MTL4PipelineDataSetSerializer *serializer = mtl_device_new_pipeline_data_set_serializer(
        device, &(MTL4PipelineDataSetSerializerDescriptor){3});
    put(CLASS_MTL4PipelineDataSetSerializer, serializer);
    put(CLASS_MTL4Compiler,
        mtl_device_new_compiler(
            device, &(MTL4CompilerDescriptor){.pipeline_data_set_serializer = serializer}, NULL));
}

static void open_objects(void) {
    MTLError *error = NULL;
    put(CLASS_MTLDevice, mtl_retain(device));
    put(CLASS_MTLCommandQueue, mtl_device_new_command_queue(device));
    put(CLASS_MTLBuffer, mtl_device_new_buffer(device, 4096, 0));
    MTLLibrary *library = compile(source);
    put(CLASS_MTLLibrary, library);
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    put(CLASS_MTLFunctionConstantValues, values);
    MTLFunction *function = mtl_library_new_function(library, "add");
    put(CLASS_MTLFunction, function);
    MTLComputePipelineReflection *reflection = NULL;
    MTLComputePipelineState *pipeline = mtl_device_new_compute_pipeline_state_with_reflection(
        device, function, MTLPipelineOptionBufferTypeInfo, &reflection, &error);
    if (!pipeline) fail_msg("%s", mtl_error_localized_description(error));
    put(CLASS_MTLComputePipelineState, pipeline);
    put(CLASS_MTLComputePipelineReflection, reflection);
    MTLFunction *plain = mtl_library_new_function(library, "plain");
    MTLComputePipelineDescriptor d = {.compute_function = plain,
                                      .support_indirect_command_buffers = true};
    kept[CLASS_MTLComputePipelineState][1] =
        mtl_device_new_compute_pipeline_state_with_descriptor(device, &d, 0, NULL, NULL);
    mtl_release(plain);
    MTLBinding *binding = mtl_compute_pipeline_reflection_binding(reflection, 1);
    put(CLASS_MTLBinding, mtl_retain(binding));
    MTLStructType *type = mtl_binding_buffer_struct_type(binding);
    put(CLASS_MTLStructType, mtl_retain(type));
    put(CLASS_MTLStructMember, mtl_retain(mtl_struct_type_member(type, 0)));
    put(CLASS_MTLPointerType, mtl_retain(mtl_binding_buffer_pointer_type(binding)));
    MTLStructType *inner = mtl_struct_member_struct_type(mtl_struct_type_member(type, 3));
    put(CLASS_MTLArrayType,
        mtl_retain(mtl_struct_member_array_type(mtl_struct_type_member(inner, 0))));
    put(CLASS_MTLTextureReferenceType,
        mtl_retain(mtl_struct_member_texture_reference_type(mtl_struct_type_member(type, 1))));
    MTLTextureDescriptor t = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 16, 16, true);
    t.usage =
        MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite | MTLTextureUsagePixelFormatView;
    put(CLASS_MTLTexture, mtl_device_new_texture(device, &t));
    t = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 16, 16, false);
    t.usage = MTLTextureUsageRenderTarget;
    kept[CLASS_MTLTexture][1] = mtl_device_new_texture(device, &t);
    MTLRenderPipelineDescriptor rd = {
        .vertex_function = mtl_library_new_function(library, "corner"),
        .fragment_function = mtl_library_new_function(library, "shade"),
        .support_indirect_command_buffers = true,
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    MTLRenderPipelineState *render = mtl_device_new_render_pipeline_state(device, &rd, &error);
    if (!render) leave_out_if_lacking(error);
    if (!render) fail_msg("%s", mtl_error_localized_description(error));
    put(CLASS_MTLRenderPipelineState, render);
    put(CLASS_MTLRenderPipelineReflection,
        mtl_retain(mtl_render_pipeline_state_reflection(render)));
    mtl_release(rd.vertex_function), mtl_release(rd.fragment_function);
    put(CLASS_MTLDepthStencilState,
        mtl_device_new_depth_stencil_state(
            device,
            &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionAlways}));
    put(CLASS_MTLSamplerState, mtl_device_new_sampler_state(
                                   device, &(MTLSamplerDescriptor){.support_argument_buffers = 1}));
    put(CLASS_MTLTextureViewPool,
        mtl_device_new_texture_view_pool(
            device, &(MTLResourceViewPoolDescriptor){.resource_view_count = 8}, NULL));
    put(CLASS_MTLHeap, mtl_device_new_heap(device, &(MTLHeapDescriptor){.size = 1 << 16}));
    put(CLASS_MTLResidencySet,
        mtl_device_new_residency_set(device, &(MTLResidencySetDescriptor){0}, NULL));
    put(CLASS_MTLFence, mtl_device_new_fence(device));
    put(CLASS_MTLEvent, mtl_device_new_event(device));
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    put(CLASS_MTLSharedEvent, event);
    put(CLASS_MTLSharedEventHandle, mtl_shared_event_new_shared_event_handle(event));
    put(CLASS_MTLSharedEventListener, mtl_shared_event_listener_new());
    put(CLASS_MTLArgumentEncoder, mtl_function_new_argument_encoder(function, 1));
    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types =
                                                  MTLIndirectCommandTypeConcurrentDispatch},
        4, 0);
    put(CLASS_MTLIndirectCommandBuffer, icb);
    put(CLASS_MTLIndirectComputeCommand,
        mtl_retain(mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, 0)));
    MTLIndirectCommandBuffer *draws = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types = MTLIndirectCommandTypeDraw |
                                                               MTLIndirectCommandTypeDrawIndexed},
        4, 0);
    kept[CLASS_MTLIndirectCommandBuffer][1] = draws;
    put(CLASS_MTLIndirectRenderCommand,
        mtl_retain(mtl_indirect_command_buffer_indirect_render_command_at_index(draws, 0)));
    put(CLASS_MTLBinaryArchive,
        mtl_device_new_binary_archive(device, &(MTLBinaryArchiveDescriptor){0}, NULL));
    put(CLASS_MTLLogState, mtl_device_new_log_state(device, &(MTLLogStateDescriptor){0}, NULL));
    MTLCaptureManager *manager = mtl_capture_manager_shared_capture_manager();
    put(CLASS_MTLCaptureManager, mtl_retain(manager));
    put(CLASS_MTLCaptureScope, mtl_capture_manager_new_capture_scope_with_device(manager, device));
    MTLCounterSet *counters = mtl_device_counter_set(device, 0);
    put(CLASS_MTLCounterSet, mtl_retain(counters));
    put(CLASS_MTLCounterSampleBuffer,
        mtl_device_new_counter_sample_buffer(
            device, &(MTLCounterSampleBufferDescriptor){.counter_set = counters, .sample_count = 8},
            NULL));
    if (!mtl_device_new_library_with_source(device, "?", NULL, &error)) put(CLASS_MTLError, error);
    open_metal4();
    open_commands();
}

static void close_objects(void) {
    for (int c = 0; c < N_CLASSES; c++)
        for (int i = 0; i < N_KEPT; i++) {
            mtl_release(kept[c][i]);
            kept[c][i] = NULL;
        }
}

static void run_all(Mode m, uint64_t value) {
    mode = m;
    number = value;
    bool is_told = getenv("MISUSE_TELL") != NULL;
    for (int i = 0; i < N_CALLS; i++) {
        int before = n_messages;
        if (is_told) fprintf(stderr, "%s\n", calls[i].name);
        if (m == MODE_SELF) open_commands();
        calls[i].call();
        if (is_told && n_messages == before)
            fprintf(stderr, "silent %d %s\n", (int)m, calls[i].name);
    }
}

static void test_nothing(void **s) {
    (void)s;
    run_all(MODE_NULL, 0);
    run_all(MODE_NULL, UINT64_MAX);
}

static void test_one_object(void **s) {
    (void)s;
    open_objects();
    run_all(MODE_SELF, 0);
    close_objects();
    open_objects();
    run_all(MODE_SELF, UINT64_MAX);
    close_objects();
}

static void random_calls(uint32_t seed, size_t n, bool is_told) {
    mode = MODE_SELF;
    open_objects();
    mode = MODE_RANDOM;
    state = seed * 2654435761u + 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t k = next() % N_CALLS;
        // The first two have later work wait for what may never come, as they should; the third
        // takes no references; the last are slow.
        if (strstr(calls[k].name, "wait_for_event") ||
            strcmp(calls[k].name, "mtl_command_buffer_enqueue") == 0 ||
            strstr(calls[k].name, "with_unretained_references") ||
            (strstr(calls[k].name, "_with_source") && !chance(50)))
            continue;
        if (is_told) fprintf(stderr, "%zu %s\n", i, calls[k].name);
        calls[k].call();
        if (i % 100 == 99) open_commands();
    }
    close_objects();
}

static void test_random(void **s) {
    (void)s;
    for (uint32_t seed = 1; seed <= 4; seed++) random_calls(seed, 5000, false);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        if (open_device(NULL)) return 1;
        random_calls((uint32_t)atoi(argv[1]), argc > 2 ? (size_t)atol(argv[2]) : 5000, true);
        return close_device(NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_one_object),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
