// SPDX-License-Identifier: Apache-2.0
// test_null.c: two devices in one process (INGOT_DEVICES=cpu,null): the null device runs everything
// the API hands it, each of its failures becomes an error, and objects of both do not mix. No
// compiler is needed.
#include "null_test.h"
#include <time.h>

static MTLDevice *null_device;

static int open_null(void **state) {
    (void)state;
    null_device = device_at(1);
    mtl_device_set_log_callback(null_device, note_message, NULL);
    return 0;
}

static int close_null(void **state) {
    (void)state;
    mtl_device_set_log_callback(null_device, NULL, NULL);
    mtl_release(null_device);
    return 0;
}

static void two_devices(void **state) {
    (void)state;
    MTLDevice *all[4] = {NULL};
    assert_int_equal(mtl_copy_all_devices(NULL, 0), 2);
    assert_int_equal(mtl_copy_all_devices(all, 1), 2);
    assert_null(all[1]); // there was room for one
    mtl_release(all[0]);
    assert_int_equal(mtl_copy_all_devices(all, 4), 2);
    MTLDevice *first = mtl_create_system_default_device();
    assert_ptr_equal(all[0], first);
    assert_string_equal(mtl_device_name(all[1]), "Ingot null device");
    assert_true(mtl_device_registry_id(all[0]) != mtl_device_registry_id(all[1]));
    assert_true(mtl_device_has_unified_memory(all[0]));
    assert_false(mtl_device_has_unified_memory(all[1]));
    assert_true(mtl_device_supports_family(all[1], MTLGPUFamilyMetal3));
    mtl_release(first);
    mtl_release(all[0]);
    mtl_release(all[1]);
}

typedef struct Work {
    MTLCommandQueue *queue;
    MTLCommandBuffer *commands;
} Work;

static Work begin_work(void) {
    Work w = {.queue = mtl_device_new_command_queue(null_device)};
    assert_non_null(w.queue);
    w.commands = mtl_command_queue_command_buffer(w.queue);
    assert_non_null(w.commands);
    return w;
}

static void run(const Work *w) {
    mtl_command_buffer_commit(w->commands);
    mtl_command_buffer_wait_until_completed(w->commands);
}

static void end_work(Work *w) {
    mtl_release(w->commands);
    mtl_release(w->queue);
}

static MTLBuffer *buffer_of(size_t n, MTLResourceOptions options) {
    MTLBuffer *buffer = mtl_device_new_buffer(null_device, n, options);
    assert_non_null(buffer);
    return buffer;
}

// The runtime never looks at the device's addresses: there is nothing.
static void copies_are_done(void **state) {
    (void)state;
    MTLBuffer *a = buffer_of(256, MTLResourceStorageModeShared);
    MTLBuffer *b = buffer_of(256, MTLResourceStorageModePrivate);
    MTLBuffer *c = buffer_of(256, MTLResourceStorageModeShared);
    assert_null(mtl_buffer_contents(b));
    assert_true(mtl_buffer_gpu_address(a) != (uintptr_t)mtl_buffer_contents(a));
    for (int i = 0; i < 256; i++) ((uint8_t *)mtl_buffer_contents(a))[i] = (uint8_t)i;
    Work w = begin_work();
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(w.commands);
    mtl_blit_command_encoder_copy_from_buffer(e, a, 0, b, 0, 256);
    mtl_blit_command_encoder_fill_buffer(e, b, mtl_range_make(0, 16), 7);
    mtl_blit_command_encoder_copy_from_buffer(e, b, 0, c, 0, 256);
    mtl_blit_command_encoder_end_encoding(e);
    uint64_t uses = ingot_null_calls(INGOT_NULL_USE);
    run(&w);
    assert_completed(w.commands);
    assert_true(ingot_null_calls(INGOT_NULL_USE) >= uses + 3);
    for (int i = 0; i < 256; i++)
        assert_int_equal(((uint8_t *)mtl_buffer_contents(c))[i], i < 16 ? 7 : i);
    end_work(&w);
    mtl_release(a);
    mtl_release(b);
    mtl_release(c);
}

static void textures_are_copied(void **state) {
    (void)state;
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 8, 4, true);
    MTLTexture *t = mtl_device_new_texture(null_device, &d);
    assert_non_null(t);
    assert_true(mtl_texture_gpu_resource_id(t).impl != 0);
    uint32_t in[32], out[32] = {0};
    for (uint32_t i = 0; i < 32; i++) in[i] = i * 0x01010101u;
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 8, 4), 0, in, 32);
    Work w = begin_work();
    MTLBuffer *b = buffer_of(128, MTLResourceStorageModeShared);
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(w.commands);
    mtl_blit_command_encoder_copy_from_texture_to_buffer(e, t, 0, 0, mtl_origin_make(0, 0, 0),
                                                         mtl_size_make(8, 4, 1), b, 0, 32, 128, 0);
    mtl_blit_command_encoder_generate_mipmaps(e, t);
    mtl_blit_command_encoder_end_encoding(e);
    run(&w);
    assert_completed(w.commands);
    assert_memory_equal(mtl_buffer_contents(b), in, sizeof in);
    mtl_texture_get_bytes(t, out, 32, mtl_region_make_2d(0, 0, 8, 4), 0);
    assert_memory_equal(out, in, sizeof in);
    assert_true(ingot_null_calls(INGOT_NULL_MIPMAPS) > 0);
    end_work(&w);
    mtl_release(b);
    mtl_release(t);
}

static MTLComputePipelineState *pipeline_named(const char *name, MTLError **error) {
    MTLLibrary *library = hand_made_library(null_device);
    MTLFunction *f = mtl_library_new_function(library, name);
    assert_non_null(f);
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(null_device, f, error);
    mtl_release(f);
    mtl_release(library);
    return p;
}

static void encode_dispatch(MTLCommandBuffer *commands, MTLComputePipelineState *p, MTLBuffer *b) {
    encode_threads(commands, p, b, 64, 32);
}

static void kernels_complete_and_do_nothing(void **state) {
    (void)state;
    MTLComputePipelineState *p = pipeline_named("nothing", NULL);
    assert_non_null(p);
    MTLBuffer *b = buffer_of(256, MTLResourceStorageModeShared);
    memset(mtl_buffer_contents(b), 5, 256);
    MTLBuffer *size = buffer_of(12, MTLResourceStorageModeShared);
    memcpy(mtl_buffer_contents(size), (uint32_t[]){2, 1, 1}, 12);
    uint64_t before = ingot_null_calls(INGOT_NULL_DISPATCH);
    Work w = begin_work();
    encode_dispatch(w.commands, p, b);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(w.commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, b, 0, 0);
    mtl_compute_command_encoder_dispatch_threadgroups_indirect(e, size, 0, mtl_size_make(32, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run(&w);
    assert_completed(w.commands);
    assert_int_equal(ingot_null_calls(INGOT_NULL_DISPATCH), before + 2);
    assert_int_equal(((uint8_t *)mtl_buffer_contents(b))[100], 5);
    end_work(&w);
    mtl_release(size);
    mtl_release(b);
    mtl_release(p);
}

static void passes_complete(void **state) {
    (void)state;
    MTLLibrary *library = hand_made_library(null_device);
    MTLFunction *v = mtl_library_new_function(library, "corner"),
                *f = mtl_library_new_function(library, "paint");
    MTLRenderPipelineDescriptor d = {.vertex_function = v, .fragment_function = f};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    MTLError *error = NULL;
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(null_device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 16, 16, false);
    td.usage = MTLTextureUsageRenderTarget;
    MTLTexture *target = mtl_device_new_texture(null_device, &td);
    Work w = begin_work();
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = target;
    uint64_t before = ingot_null_calls(INGOT_NULL_RENDER);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(w.commands, &pass);
    assert_non_null(e);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(e);
    run(&w);
    assert_completed(w.commands);
    assert_int_equal(ingot_null_calls(INGOT_NULL_RENDER), before + 1);
    end_work(&w);
    mtl_release(target);
    mtl_release(p);
    mtl_release(v);
    mtl_release(f);
    mtl_release(library);
}

// Every call that makes something: NULL where it fails, and all is well afterwards.
static void failures_to_make(void **state) {
    (void)state;
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 4, 4, false);
    MTLSamplerDescriptor sd = {0};
    MTLTensorDescriptor xd = mtl_tensor_descriptor_make_default();
    MTLError *error = NULL;
    ingot_null_fail(INGOT_NULL_MEMORY, true);
    assert_null(mtl_device_new_buffer(null_device, 16, 0));
    assert_null(mtl_device_new_texture(null_device, &td));
    assert_null(mtl_device_new_tensor(null_device, &xd, NULL));
    assert_null(mtl_device_new_heap(null_device, &(MTLHeapDescriptor){.size = 4096}));
    ingot_null_fail(INGOT_NULL_MEMORY, false);
    ingot_null_fail(INGOT_NULL_TEXTURE, true);
    assert_null(mtl_device_new_texture(null_device, &td));
    ingot_null_fail(INGOT_NULL_TEXTURE, false);
    ingot_null_fail(INGOT_NULL_SAMPLER, true);
    assert_null(mtl_device_new_sampler_state(null_device, &sd));
    ingot_null_fail(INGOT_NULL_SAMPLER, false);
    ingot_null_fail(INGOT_NULL_TENSOR, true);
    assert_null(mtl_device_new_tensor(null_device, &xd, NULL));
    ingot_null_fail(INGOT_NULL_TENSOR, false);
    ingot_null_fail(INGOT_NULL_VIEWS, true);
    const MTLResourceViewPoolDescriptor pd = {.resource_view_count = 4};
    assert_null(mtl_device_new_texture_view_pool(null_device, &pd, NULL));
    ingot_null_fail(INGOT_NULL_VIEWS, false);
    ingot_null_fail(INGOT_NULL_COPY, true);
    assert_null(
        mtl_device_new_buffer_with_bytes(null_device, "x", 1, MTLResourceStorageModePrivate));
    ingot_null_fail(INGOT_NULL_COPY, false);
    ingot_null_fail(INGOT_NULL_CODE, true);
    assert_null(pipeline_named("nothing", &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "told to fail"));
    mtl_release(error);
    ingot_null_fail(INGOT_NULL_CODE, false);
    MTLTexture *t = mtl_device_new_texture(null_device, &td);
    assert_non_null(t);
    mtl_release(t);
}

// Every call of a run: the command buffer ends in an error that names the device, the next is fine.
static void failures_to_run(void **state) {
    (void)state;
    static const IngotNullCall calls[] = {INGOT_NULL_RUN, INGOT_NULL_DISPATCH, INGOT_NULL_COPY,
                                          INGOT_NULL_FILL};
    MTLComputePipelineState *p = pipeline_named("nothing", NULL);
    MTLBuffer *a = buffer_of(64, 0), *b = buffer_of(64, MTLResourceStorageModePrivate);
    for (size_t i = 0; i <= sizeof calls / sizeof *calls; i++) {
        bool fails = i < sizeof calls / sizeof *calls;
        Work w = begin_work();
        encode_dispatch(w.commands, p, a);
        MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(w.commands);
        mtl_blit_command_encoder_copy_from_buffer(e, a, 0, b, 0, 64);
        mtl_blit_command_encoder_fill_buffer(e, b, mtl_range_make(0, 64), 1);
        mtl_blit_command_encoder_end_encoding(e);
        if (fails) ingot_null_fail(calls[i], true);
        run(&w);
        if (fails) ingot_null_fail(calls[i], false);
        assert_int_equal(mtl_command_buffer_status(w.commands),
                         fails ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted);
        const MTLError *error = mtl_command_buffer_error(w.commands);
        if (fails && calls[i] != INGOT_NULL_RUN) {
            assert_int_equal(mtl_error_code(error), MTLCommandBufferErrorDeviceRemoved);
            assert_non_null(strstr(mtl_error_localized_description(error), "Ingot null device"));
        }
        end_work(&w);
    }
    mtl_release(a);
    mtl_release(b);
    mtl_release(p);
}

static void objects_of_both_do_not_mix(void **state) {
    (void)state;
    MTLDevice *cpu = device_at(0);
    MTLBuffer *theirs = mtl_device_new_buffer(cpu, 64, 0), *ours = buffer_of(64, 0);
    MTLComputePipelineState *p = pipeline_named("nothing", NULL);
    clear_messages();
    Work w = begin_work();
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(w.commands);
    mtl_blit_command_encoder_copy_from_buffer(e, theirs, 0, ours, 0, 64);
    mtl_blit_command_encoder_end_encoding(e);
    assert_string_equal(last_rule, "resource_device");
    run(&w);
    assert_int_equal(mtl_command_buffer_status(w.commands), MTLCommandBufferStatusError);
    end_work(&w);
    MTLCommandQueue *queue = mtl_device_new_command_queue(cpu);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    encode_dispatch(commands, p, theirs); // a pipeline of the null device
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    mtl_release(commands);
    mtl_release(queue);
    mtl_release(p);
    mtl_release(theirs);
    mtl_release(ours);
    mtl_release(cpu);
}

static void heaps_views_and_tensors(void **state) {
    (void)state;
    MTLHeap *heap = mtl_device_new_heap(
        null_device, &(MTLHeapDescriptor){.size = 65536, .storage_mode_is_set = true});
    assert_non_null(heap);
    MTLBuffer *b = mtl_heap_new_buffer(heap, 1000, MTLResourceStorageModeShared);
    assert_non_null(b);
    memset(mtl_buffer_contents(b), 1, 1000);
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 8, 8, false);
    td.storage_mode = MTLStorageModeShared;
    MTLTexture *t = mtl_heap_new_texture(heap, &td);
    assert_non_null(t);
    MTLTexture *view = mtl_texture_new_texture_view(t, MTLPixelFormatR32Uint);
    const MTLResourceViewPoolDescriptor pd = {.resource_view_count = 4};
    MTLTextureViewPool *pool = mtl_device_new_texture_view_pool(null_device, &pd, NULL);
    assert_non_null(pool);
    assert_true(mtl_texture_view_pool_set_texture_view(pool, t, 1).impl != 0);
    assert_true(
        mtl_texture_view_pool_copy_resource_views(pool, pool, mtl_range_make(1, 1), 2).impl);
    MTLTensorDescriptor xd = mtl_tensor_descriptor_make_default();
    xd.dimensions = mtl_tensor_extents_make(1, (ptrdiff_t[]){4});
    MTLTensor *tensor = mtl_device_new_tensor(null_device, &xd, NULL);
    assert_non_null(tensor);
    const MTLTensorExtents at = mtl_tensor_extents_make(1, (ptrdiff_t[]){0}),
                           one = mtl_tensor_extents_make(1, (ptrdiff_t[]){1});
    const float in[4] = {1, 2, 3, 4};
    float out[4] = {0};
    mtl_tensor_replace_slice(tensor, &at, &xd.dimensions, in, &one);
    mtl_tensor_get_bytes(tensor, out, &one, &at, &xd.dimensions);
    assert_memory_equal(in, out, sizeof in);
    mtl_release(tensor);
    mtl_release(pool);
    mtl_release(view);
    mtl_release(t);
    mtl_release(b);
    mtl_release(heap);
}

static uint64_t live_when_freed;

static void free_pages(void *bytes, size_t length, void *context) {
    (void)length;
    live_when_freed = ingot_null_live();
    ++*(int *)context;
    free(bytes);
}

// The device is told of the program's memory, finds it elsewhere, and lets go of it first.
static void memory_of_the_program(void **state) {
    (void)state;
    int n_freed = 0;
    uint64_t live = ingot_null_live(), wraps = ingot_null_calls(INGOT_NULL_WRAP);
    char *bytes = aligned_alloc(16384, 16384);
    memset(bytes, 3, 16384);
    MTLBuffer *b = mtl_device_new_buffer_with_bytes_no_copy(null_device, bytes, 16384, 0,
                                                            free_pages, &n_freed);
    assert_non_null(b);
    assert_int_equal(ingot_null_calls(INGOT_NULL_WRAP), wraps + 1);
    assert_ptr_equal(mtl_buffer_contents(b), bytes);
    assert_true(mtl_buffer_gpu_address(b) != (uintptr_t)bytes);
    Work w = begin_work();
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(w.commands);
    mtl_blit_command_encoder_fill_buffer(e, b, mtl_range_make(16, 16), 9);
    mtl_blit_command_encoder_end_encoding(e);
    uint64_t uses = ingot_null_calls(INGOT_NULL_USE);
    run(&w);
    assert_completed(w.commands);
    assert_true(ingot_null_calls(INGOT_NULL_USE) > uses);
    assert_int_equal(bytes[15], 3);
    assert_int_equal(bytes[16], 9);
    end_work(&w);
    mtl_release(b);
    assert_int_equal(n_freed, 1);
    assert_int_equal(live_when_freed, live);
    bytes = aligned_alloc(16384, 16384);
    ingot_null_fail(INGOT_NULL_WRAP, true);
    assert_null(mtl_device_new_buffer_with_bytes_no_copy(null_device, bytes, 16384, 0, free_pages,
                                                         &n_freed));
    ingot_null_fail(INGOT_NULL_WRAP, false);
    assert_int_equal(n_freed, 1); // it is the program's still
    free(bytes);
}

// Sizes in memory: the host reads none of them, and what does not fit is an error all the same.
static void sizes_are_read_by_the_device(void **state) {
    (void)state;
    MTLComputePipelineState *p = pipeline_named("nothing", NULL);
    MTLBuffer *b = buffer_of(256, 0), *size = buffer_of(12, MTLResourceStorageModePrivate);
    for (int fails = 0; fails < 2; fails++) {
        Work w = begin_work();
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(w.commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, b, 0, 0);
        mtl_compute_command_encoder_dispatch_threadgroups_indirect(e, size, 0,
                                                                   mtl_size_make(32, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        uint64_t copies = ingot_null_calls(INGOT_NULL_COPY),
                 sizes = ingot_null_calls(INGOT_NULL_INDIRECT);
        ingot_null_fail(INGOT_NULL_INDIRECT, fails);
        run(&w);
        ingot_null_fail(INGOT_NULL_INDIRECT, false);
        assert_int_equal(ingot_null_calls(INGOT_NULL_COPY), copies);
        assert_int_equal(ingot_null_calls(INGOT_NULL_INDIRECT), sizes + 1);
        if (fails) {
            const MTLError *error = mtl_command_buffer_error(w.commands);
            assert_int_equal(mtl_error_code(error), MTLCommandBufferErrorInvalidResource);
            assert_non_null(strstr(mtl_error_localized_description(error), "2^32 - 1 threads"));
        } else {
            assert_completed(w.commands);
        }
        end_work(&w);
    }
    mtl_release(size);
    mtl_release(b);
    mtl_release(p);
}

static uint64_t uses_of(MTLCommandBuffer *commands, MTLBuffer *a) {
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_fill_buffer(e, a, mtl_range_make(0, 4), 1);
    mtl_blit_command_encoder_end_encoding(e);
    uint64_t before = ingot_null_calls(INGOT_NULL_USE);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    return ingot_null_calls(INGOT_NULL_USE) - before;
}

// The device hears of memory that nothing retains, and of what residency sets hold.
static void uses_are_complete(void **state) {
    (void)state;
    MTLBuffer *a = buffer_of(64, 0), *b = buffer_of(64, 0);
    Work w = begin_work();
    assert_int_equal(uses_of(w.commands, a), 1);
    mtl_release(w.commands);
    w.commands = mtl_command_queue_command_buffer_with_unretained_references(w.queue);
    assert_int_equal(uses_of(w.commands, a), 1);
    mtl_release(w.commands);
    MTLResidencySet *set = mtl_device_new_residency_set(null_device, NULL, NULL);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)a);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)b);
    mtl_residency_set_commit(set);
    w.commands = mtl_command_queue_command_buffer(w.queue);
    mtl_command_buffer_use_residency_set(w.commands, set);
    assert_int_equal(uses_of(w.commands, a), 3);
    end_work(&w);
    MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue(null_device);
    MTL4CommandAllocator *allocator = mtl_device_new_command_allocator(null_device);
    MTL4CommandBuffer *commands = mtl_device_new_command_buffer(null_device);
    MTLSharedEvent *event = mtl_device_new_shared_event(null_device);
    for (uint64_t i = 1; i <= 2; i++) { // with the set it is told, of two at least
        if (i == 2) mtl4_command_queue_add_residency_set(queue, set);
        mtl4_command_buffer_begin_command_buffer(commands, allocator);
        MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(commands);
        mtl4_compute_command_encoder_fill_buffer(e, a, mtl_range_make(0, 4), 1);
        mtl4_compute_command_encoder_end_encoding(e);
        mtl4_command_buffer_end_command_buffer(commands);
        uint64_t before = ingot_null_calls(INGOT_NULL_USE);
        mtl4_command_queue_commit(queue, &commands, 1);
        mtl4_command_queue_signal_event(queue, (MTLEvent *)event, i);
        assert_true(mtl_shared_event_wait_until_signaled_value(event, i, 10000));
        uint64_t told = ingot_null_calls(INGOT_NULL_USE) - before;
        assert_true(i == 1 ? told == 0 : told >= 2);
    }
    mtl_release(event);
    mtl_release(commands);
    mtl_release(allocator);
    mtl_release(queue);
    mtl_release(set);
    mtl_release(b);
    mtl_release(a);
}

// Their memory is the device's: copies and resets are its work, and the host reads a copy.
static void indirect_command_buffers(void **state) {
    (void)state;
    MTLLibrary *library = hand_made_library(null_device);
    MTLFunction *f = mtl_library_new_function(library, "nothing");
    const MTLComputePipelineDescriptor d = {.compute_function = f,
                                            .support_indirect_command_buffers = true};
    MTLComputePipelineState *p =
        mtl_device_new_compute_pipeline_state_with_descriptor(null_device, &d, 0, NULL, NULL);
    assert_non_null(p);
    const MTLIndirectCommandBufferDescriptor id = {.command_types =
                                                       MTLIndirectCommandTypeConcurrentDispatch,
                                                   .max_kernel_buffer_bind_count = 1};
    uint64_t memories = ingot_null_calls(INGOT_NULL_MEMORY);
    MTLIndirectCommandBuffer *icb =
        mtl_device_new_indirect_command_buffer(null_device, &id, 4, MTLResourceStorageModeShared);
    assert_non_null(icb);
    assert_int_equal(ingot_null_calls(INGOT_NULL_MEMORY), memories + 1);
    MTLBuffer *b = buffer_of(256, 0);
    MTLIndirectComputeCommand *command =
        mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, 0);
    mtl_indirect_compute_command_set_compute_pipeline_state(command, p);
    mtl_indirect_compute_command_set_kernel_buffer(command, b, 0, 0);
    mtl_indirect_compute_command_concurrent_dispatch_threadgroups(command, mtl_size_make(2, 1, 1),
                                                                  mtl_size_make(32, 1, 1));
    for (int reset = 0; reset < 2; reset++) { // the second time there is nothing left of it
        Work w = begin_work();
        if (reset) {
            MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(w.commands);
            mtl_blit_command_encoder_reset_commands_in_buffer(blit, icb, mtl_range_make(0, 4));
            mtl_blit_command_encoder_end_encoding(blit);
        }
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(w.commands);
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)b, MTLResourceUsageWrite);
        mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 4));
        mtl_compute_command_encoder_end_encoding(e);
        uint64_t dispatches = ingot_null_calls(INGOT_NULL_DISPATCH),
                 copies = ingot_null_calls(INGOT_NULL_COPY);
        run(&w);
        assert_completed(w.commands);
        assert_int_equal(ingot_null_calls(INGOT_NULL_DISPATCH), dispatches + !reset);
        assert_int_equal(ingot_null_calls(INGOT_NULL_COPY), copies + 1);
        end_work(&w);
    }
    mtl_release(b);
    mtl_release(icb);
    mtl_release(p);
    mtl_release(f);
    mtl_release(library);
}

// A worker may let go of a command buffer a moment after it is completed.
static void nothing_is_left(void **state) {
    (void)state;
    for (int i = 0; i < 10000 && ingot_null_live(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(ingot_null_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_devices),
        cmocka_unit_test(copies_are_done),
        cmocka_unit_test(textures_are_copied),
        cmocka_unit_test(kernels_complete_and_do_nothing),
        cmocka_unit_test(passes_complete),
        cmocka_unit_test(failures_to_make),
        cmocka_unit_test(failures_to_run),
        cmocka_unit_test(objects_of_both_do_not_mix),
        cmocka_unit_test(heaps_views_and_tensors),
        cmocka_unit_test(memory_of_the_program),
        cmocka_unit_test(sizes_are_read_by_the_device),
        cmocka_unit_test(uses_are_complete),
        cmocka_unit_test(indirect_command_buffers),
        cmocka_unit_test(nothing_is_left),
    };
    return cmocka_run_group_tests(tests, open_null, close_null);
}
