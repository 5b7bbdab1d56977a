// SPDX-License-Identifier: Apache-2.0
// hand_device.c: methods of devices, events, counters and residency sets that the table cannot
// carry over by rule, and Metal's functions.
#include <stdlib.h>
#include <string.h>
#include "face_objects.h"
#include <IOSurface/IOSurfaceRef.h>

#define FACE_API __attribute__((visibility("default")))

// ---- Functions ----

FACE_API id MTLCreateSystemDefaultDevice(void);
FACE_API id MTLCopyAllDevices(void);
FACE_API id MTLCopyAllDevicesWithObserver(id *observer, id handler);
FACE_API void MTLRemoveDeviceObserver(id observer);

id MTLCreateSystemDefaultDevice(void) { return (id)mtl_create_system_default_device(); }

id MTLCopyAllDevices(void) {
    MTLDevice *devices[16];
    size_t n = mtl_copy_all_devices(devices, 16);
    if (n > 16) n = 16;
    id array = objc_retain(face_array((id *)devices, n));
    for (size_t i = 0; i < n; i++) mtl_release(devices[i]);
    return array;
}

// Devices neither come nor go: the handler is never called.
id MTLCopyAllDevicesWithObserver(id *observer, id handler) {
    (void)handler;
    if (observer) *observer = objc_autorelease(face_make_object("NSObject"));
    return MTLCopyAllDevices();
}

void MTLRemoveDeviceObserver(id observer) { (void)observer; }

// ---- Surfaces ----

static void keep_surface(void *object) { objc_retain((id)object); }
static void let_surface_go(void *object) { objc_release((id)object); }

id face_MTLDevice_newTextureWithDescriptor_iosurface_plane_(id self, SEL _cmd, id descriptor,
                                                            void *iosurface, unsigned long plane) {
    (void)_cmd;
    IOSurfaceRef from = iosurface;
    MTLSurface surface = {.object = iosurface, .retain = keep_surface, .release = let_surface_go};
    size_t n = IOSurfaceGetPlaneCount(from);
    surface.plane_count = !from ? 0 : n ? n : 1;
    for (size_t i = 0; i < surface.plane_count; i++)
        surface.planes[i] = (MTLSurfacePlane){
            IOSurfaceGetBaseAddressOfPlane(from, i), IOSurfaceGetWidthOfPlane(from, i),
            IOSurfaceGetHeightOfPlane(from, i), IOSurfaceGetBytesPerRowOfPlane(from, i)};
    FaceArena arena = {0};
    MTLTextureDescriptor d;
    id texture = (id)mtl_device_new_texture_with_iosurface(
        (void *)self, face_fill_MTLTextureDescriptor(&d, descriptor, &arena),
        iosurface ? &surface : NULL, plane);
    face_arena_free(&arena);
    return texture;
}

// ---- MTLDevice ----

id face_MTLDevice_architecture(id self, SEL _cmd) {
    (void)_cmd;
    id object = face_make_object("MTLArchitecture");
    face_store(&((O_MTLArchitecture *)object)->name,
               face_string(mtl_device_architecture_name((void *)self)), false);
    return objc_autorelease(object);
}

void face_MTLDevice_getDefaultSamplePositions_count_(id self, SEL _cmd, void *positions,
                                                     unsigned long count) {
    (void)self, (void)_cmd;
    static const signed char sixteenths[15][2] = {// 1, 2, 4, 8 samples, as the rasteriser has them
                                                  {8, 8},  {12, 12}, {4, 4}, {6, 2},   {14, 6},
                                                  {2, 10}, {10, 14}, {9, 5}, {7, 11},  {13, 9},
                                                  {5, 3},  {3, 13},  {1, 7}, {11, 15}, {15, 1}};
    MTLSamplePosition *to = positions;
    if (count != 1 && count != 2 && count != 4 && count != 8) return;
    for (unsigned long i = 0; i < count; i++)
        to[i] = (MTLSamplePosition){sixteenths[count - 1 + i][0] / 16.0f,
                                    sixteenths[count - 1 + i][1] / 16.0f};
}

id face_MTLDevice_newArgumentEncoderWithArguments_(id self, SEL _cmd, id arguments) {
    (void)_cmd;
    FaceArena arena = {0};
    id encoder = (id)mtl_device_new_argument_encoder(
        (void *)self, face_fill_all_MTLArgumentDescriptor(arguments, &arena),
        face_count(arguments));
    face_arena_free(&arena);
    return encoder;
}

static void give_back(void *pointer, size_t length, void *block) {
    face_block_call(block, (uintptr_t)pointer, length, 0, 0);
    face_block_done(block);
}

id face_MTLDevice_newBufferWithBytesNoCopy_length_options_deallocator_(
    id self, SEL _cmd, void *pointer, unsigned long length, unsigned long options, id deallocator) {
    (void)_cmd;
    void *block = face_block_copy(deallocator);
    id buffer = (id)mtl_device_new_buffer_with_bytes_no_copy((void *)self, pointer, length,
                                                             (MTLResourceOptions)options,
                                                             block ? give_back : NULL, block);
    if (!buffer && block) face_block_done(block);
    return buffer;
}

static void give_pipeline(MTLComputePipelineState *state, MTLComputePipelineReflection *reflection,
                          MTLError *error, void *block) {
    (void)reflection;
    face_block_call(block, (uintptr_t)state, (uintptr_t)error, 0, 0);
    face_block_done(block);
}

void face_MTLDevice_newComputePipelineStateWithFunction_completionHandler_(id self, SEL _cmd,
                                                                           id computeFunction,
                                                                           id completionHandler) {
    (void)_cmd;
    mtl_device_new_compute_pipeline_state_async((void *)self, (void *)computeFunction, 0,
                                                give_pipeline, face_block_copy(completionHandler));
}

unsigned long face_MTLDevice_supportsFeatureSet_(id self, SEL _cmd, unsigned long featureSet) {
    (void)_cmd; // macOS sets are 10000 and up; all of them are below what family Mac2 has
    return featureSet >= 10000 && mtl_device_supports_family((void *)self, MTLGPUFamilyMac2);
}

// ---- Libraries ----

// Warnings come with a library in libingot; in Metal an error means that there is none.
id face_MTLDevice_newLibraryWithSource_options_error_(id self, SEL _cmd, id source, id options,
                                                      id *error) {
    (void)_cmd;
    FaceArena arena = {0};
    MTLCompileOptions filled;
    MTLError *problem = NULL;
    face_error_begin(error);
    id library = (id)mtl_device_new_library_with_source(
        (void *)self, face_utf8(source), face_fill_MTLCompileOptions(&filled, options, &arena),
        &problem);
    face_arena_free(&arena);
    if (!library && error)
        *error = objc_autorelease((id)problem);
    else
        mtl_release(problem);
    return library;
}

id face_MTLDevice_newLibraryWithFile_error_(id self, SEL _cmd, id filepath, id *error) {
    (void)_cmd;
    id library = (id)mtl_device_new_library_with_url((void *)self, face_utf8(filepath),
                                                     (MTLError **)face_error_begin(error));
    face_error_end(error);
    return library;
}

id face_MTLDevice_newLibraryWithData_error_(id self, SEL _cmd, id data, id *error) {
    (void)_cmd;
    id library = (id)mtl_device_new_library_with_data(
        (void *)self, face_bytes(data), face_length(data), (MTLError **)face_error_begin(error));
    face_error_end(error);
    return library;
}

id face_MTLDevice_newDefaultLibraryWithBundle_error_(id self, SEL _cmd, id bundle, id *error) {
    (void)_cmd;
    face_error_begin(error);
    const char *path = face_bundle_resource(bundle, "default", "metallib");
    id library = path ? (id)mtl_device_new_library_with_url((void *)self, path, (MTLError **)error)
                      : (id)mtl_device_new_default_library((void *)self);
    if (!library && error && !*error)
        *error = (id)mtl_error_new(MTLLibraryErrorDomain, MTLLibraryErrorFileNotFound,
                                   "The bundle has no default.metallib.");
    face_error_end(error);
    return library;
}

// ---- Pipelines that libingot makes at once: the handler runs on another thread all the same ----

typedef struct Made {
    void *state, *error, *block;
} Made;

static void give_made(void *item) {
    Made *made = item;
    face_block_call(made->block, (uintptr_t)made->state, 0, (uintptr_t)made->error, 0);
    face_block_done(made->block);
    mtl_release(made->state);
    mtl_release(made->error);
    free(made);
}

static void give_later(void *state, MTLError *error, id handler) {
    Made *made = malloc(sizeof *made);
    if (!made) abort(); // as face_alloc
    *made = (Made){state, error, face_block_copy(handler)};
    face_dispatch(NULL, give_made, made);
}

// Pipelines of tile and mesh functions; `reflected`: what is known of a state's arguments.
#define NEW_STATE(Kind, kind, reflected)                                                           \
    id face_MTLDevice_newRenderPipelineStateWith##Kind##Descriptor_options_reflection_error_(      \
        id self, SEL _cmd, id descriptor, unsigned long options, id *reflection, id *error) {      \
        (void)_cmd, (void)options;                                                                 \
        FaceArena arena = {0};                                                                     \
        MTL##Kind##RenderPipelineDescriptor filled;                                                \
        id state = (id)mtl_device_new_render_pipeline_state_with_##kind##_descriptor(              \
            (void *)self,                                                                          \
            face_fill_MTL##Kind##RenderPipelineDescriptor(&filled, descriptor, &arena),            \
            (MTLError **)face_error_begin(error));                                                 \
        if (reflection) *reflection = state ? (reflected) : NULL;                                  \
        face_error_end(error);                                                                     \
        face_arena_free(&arena);                                                                   \
        return state;                                                                              \
    }                                                                                              \
    void face_MTLDevice_newRenderPipelineStateWith##Kind##Descriptor_options_completionHandler_(   \
        id self, SEL _cmd, id descriptor, unsigned long options, id completionHandler) {           \
        id error = NULL;                                                                           \
        id state =                                                                                 \
            face_MTLDevice_newRenderPipelineStateWith##Kind##Descriptor_options_reflection_error_( \
                self, _cmd, descriptor, options, NULL, &error);                                    \
        give_later(state, (MTLError *)objc_retain(error), completionHandler);                      \
    }
NEW_STATE(Tile, tile, NULL)
NEW_STATE(Mesh, mesh, face_lend((id)mtl_render_pipeline_state_reflection((void *)state)))
#undef NEW_STATE

// ---- Command buffers ----

// What each encoder came to, in the error's dictionary; made once for an error.
static id encoder_infos(const MTLCommandBuffer *buffer, size_t n) {
    FaceArena arena = {0};
    id *items = face_alloc(&arena, n * sizeof *items);
    for (size_t i = 0; i < n; i++) {
        O_MTLCommandBufferEncoderInfo *o =
            (O_MTLCommandBufferEncoderInfo *)face_make_object("_MTLCommandBufferEncoderInfo");
        face_store(&o->label, face_string(mtl_command_buffer_encoder_info_label(buffer, i)), false);
        face_store(&o->debugSignposts, face_array(NULL, 0), false);
        o->errorState = mtl_command_buffer_encoder_info_error_state(buffer, i);
        items[i] = objc_autorelease((id)o);
    }
    id array = face_array(items, n);
    face_arena_free(&arena);
    return array;
}

id face_MTLCommandBuffer_error(id self, SEL _cmd) {
    (void)_cmd;
    id error = (id)mtl_command_buffer_error((void *)self);
    size_t n = error ? mtl_command_buffer_encoder_info_count((void *)self) : 0;
    if (n && !objc_getAssociatedObject(error, face_encoder_infos))
        objc_setAssociatedObject(error, face_encoder_infos, encoder_infos((void *)self, n),
                                 OBJC_ASSOCIATION_RETAIN);
    return face_lend(error);
}

// ---- Events ----

static void on_queue(void (*work)(void *item), void *item, void *queue) {
    face_dispatch(queue, work, item);
}

// The object that alloc made goes; the one with the queue takes its place.
id face_MTLSharedEventListener_initWithDispatchQueue_(id self, SEL _cmd, id dispatchQueue) {
    (void)_cmd;
    mtl_release(self);
    id listener = (id)mtl_shared_event_listener_new_with_dispatch(
        on_queue, (void *)objc_retain(dispatchQueue));
    objc_setAssociatedObject(listener, "queue", dispatchQueue, OBJC_ASSOCIATION_RETAIN);
    objc_release(dispatchQueue);
    return listener;
}

id face_MTLSharedEventListener_dispatchQueue(id self, SEL _cmd) {
    (void)_cmd;
    return objc_getAssociatedObject(self, "queue");
}

// ---- Counters, residency ----

id face_MTLCounterSet_counters(id self, SEL _cmd) {
    (void)_cmd;
    FaceArena arena = {0};
    size_t n = mtl_counter_set_counter_count((void *)self);
    id *items = face_alloc(&arena, (n + 1) * sizeof *items);
    for (size_t i = 0; i < n; i++) {
        items[i] = objc_autorelease(face_make_object("_MTLCounter"));
        face_store(&((O_MTLCounter *)items[i])->name,
                   face_string(mtl_counter_set_counter_name((void *)self, i)), false);
    }
    id counters = face_array(items, n);
    face_arena_free(&arena);
    return counters;
}

id face_MTLCounterSampleBuffer_resolveCounterRange_(id self, SEL _cmd, MTLRange range) {
    (void)_cmd;
    if (range.length > mtl_counter_sample_buffer_sample_count((void *)self)) return NULL;
    FaceArena arena = {0};
    MTLCounterResultTimestamp *results = face_alloc(&arena, (range.length + 1) * sizeof *results);
    size_t n = mtl_counter_sample_buffer_resolve_counter_range((void *)self, range, results);
    id data = n ? face_data(results, n) : NULL;
    face_arena_free(&arena);
    return data;
}

id face_MTLResidencySet_allAllocations(id self, SEL _cmd) {
    (void)_cmd;
    FaceArena arena = {0};
    size_t n = mtl_residency_set_copy_all_allocations((void *)self, NULL, 0);
    MTLAllocation **items = face_alloc(&arena, (n + 1) * sizeof *items);
    size_t got = mtl_residency_set_copy_all_allocations((void *)self, items, n);
    if (got < n) n = got;
    id array = face_array((id *)items, n);
    for (size_t i = 0; i < n; i++) mtl_release(items[i]);
    face_arena_free(&arena);
    return array;
}
