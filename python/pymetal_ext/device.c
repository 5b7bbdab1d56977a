// SPDX-License-Identifier: Apache-2.0
// device.c: Device: its properties, and the makers of everything else.
#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "library.h"
#include "metal4.h"
#include "queue.h"
#include "rays.h"
#include "render.h"

static PyObject *timestamps(Object *self) {
    uint64_t cpu = 0, gpu = 0;
    mtl_device_sample_timestamps(self->native, &cpu, &gpu);
    return Py_BuildValue("(KK)", (unsigned long long)cpu, (unsigned long long)gpu);
}

#define FLAG(RO, name, doc)                                                                        \
    RO(Device, name, "bool", doc, from_bool(mtl_device_##name(self->native)))
#define DEVICE_PROPS(RO, RW)                                                                       \
    RO(Device, name, "str", "What it is called.", from_str(mtl_device_name(self->native)))         \
    RO(Device, architecture_name, "str", "The processor's architecture, and Apple's generation.",  \
       from_str(mtl_device_architecture_name(self->native)))                                       \
    RO(Device, max_threads_per_threadgroup, "Size", "The most threads in each dimension.",         \
       from_size3(state, mtl_device_max_threads_per_threadgroup(self->native)))                    \
    FLAG(RO, is_low_power, "Whether it is a low-power device.")                                    \
    FLAG(RO, is_headless, "Whether it has no display.")                                            \
    FLAG(RO, is_removable, "Whether it can be unplugged.")                                         \
    FLAG(RO, is_isolated, "Whether its kernels run in a process of their own.")                    \
    FLAG(RO, has_unified_memory, "Whether CPU and device share memory.")                           \
    NUMBER(RO, Device, device, registry_id, "An id, the same for all processes.")                  \
    NUMBER(RO, Device, device, recommended_max_working_set_size,                                   \
           "Bytes that fit without loss of speed.")                                                \
    NUMBER(RO, Device, device, max_buffer_length, "The longest buffer, in bytes.")                 \
    NUMBER(RO, Device, device, max_threadgroup_memory_length, "Bytes of threadgroup memory.")      \
    NUMBER(RO, Device, device, max_transfer_rate, "Bytes a second.")                               \
    NUMBER(RO, Device, device, current_allocated_size, "Bytes of the resources alive now.")        \
    NUMBER(RO, Device, device, max_argument_buffer_sampler_count, "Samplers in argument buffers.") \
    RO(Device, argument_buffers_support, "ArgumentBuffersTier", "How they can be filled.",         \
       from_enum(state, E_ArgumentBuffersTier, mtl_device_argument_buffers_support(self->native))) \
    RO(Device, read_write_texture_support, "ReadWriteTextureTier",                                 \
       "Which formats kernels can read and write.",                                                \
       from_enum(state, E_ReadWriteTextureTier,                                                    \
                 mtl_device_read_write_texture_support(self->native)))                             \
    FLAG(RO, supports_dynamic_libraries, "Whether there are dynamic libraries.")                   \
    FLAG(RO, supports_function_pointers, "Whether there are function tables.")                     \
    FLAG(RO, supports_raytracing, "Whether there is ray tracing.")                                 \
    FLAG(RO, supports_32_bit_float_filtering, "Whether 32-bit floats are filtered.")               \
    FLAG(RO, supports_bc_texture_compression, "Whether there are BC formats.")                     \
    FLAG(RO, is_depth24_stencil8_pixel_format_supported, "Whether there is that format.")
PROPS(Device, DEVICE_PROPS);

// ---- Questions ----

METHOD(Device, supports_family, "bool", "Whether it has the features of a GPU family.",
       ENUMERATION("family", GPUFamily)) {
    (void)state;
    return from_bool(mtl_device_supports_family(self->native, (MTLGPUFamily)a[0].u));
}

METHOD(Device, supports_texture_sample_count, "bool", "Whether textures can have so many samples.",
       SIZE("count")) {
    (void)state;
    return from_bool(mtl_device_supports_texture_sample_count(self->native, a[0].u));
}

METHOD(Device, minimum_linear_texture_alignment_for_pixel_format, "int",
       "Alignment of rows in textures over buffers.", ENUMERATION("format", PixelFormat)) {
    (void)state;
    return from_u64(mtl_device_minimum_linear_texture_alignment_for_pixel_format(
        self->native, (MTLPixelFormat)a[0].u));
}

static PyObject *size_and_align(MTLSizeAndAlign s) {
    return Py_BuildValue("(KK)", (unsigned long long)s.size, (unsigned long long)s.align);
}

METHOD(Device, heap_buffer_size_and_align, "tuple[int, int]",
       "What a buffer takes in a heap: bytes and alignment.", SIZE("length"), U32("options")) {
    (void)state;
    return size_and_align(
        mtl_device_heap_buffer_size_and_align(self->native, a[0].u, (MTLResourceOptions)a[1].u));
}

METHOD(Device, heap_texture_size_and_align, "tuple[int, int]",
       "What a texture takes in a heap: bytes and alignment.",
       OBJECT("descriptor", TextureDescriptor)) {
    MTLTextureDescriptor d = texture_descriptor(a[0].o);
    (void)state;
    return size_and_align(mtl_device_heap_texture_size_and_align(self->native, &d));
}

METHOD0(Device, sample_timestamps, "tuple[int, int]",
        "The clocks of CPU and device at one moment, in nanoseconds.") {
    (void)state, (void)a;
    return timestamps(self);
}

METHOD(Device, set_timeout, "None",
       "Time limit of command buffers made from now on, in milliseconds; 0: none. Not Apple's.",
       U32("milliseconds")) {
    mtl_device_set_timeout(self->native, (uint32_t)a[0].u);
    return none(state);
}

// ---- Queues, buffers, libraries, pipelines ----

METHOD(Device, new_command_queue, "CommandQueue", "A queue for command buffers.",
       OPTIONAL("descriptor", CommandQueueDescriptor)) {
    const Object *d = a[0].o; // NULL: none given
    size_t max_count = d ? field_u(d, "max_command_buffer_count") : 64;
    if (!max_count)
        return raise_text(state, ERROR_VALIDATION,
                          "Device.new_command_queue: max_command_buffer_count is 0");
    return queue_new(state, self, max_count, d ? (uint32_t)field_u(d, "timeout_ms") : 0);
}

METHOD(Device, new_buffer, "Buffer | None", "A buffer of zeros.", SIZE("length"), U32("options")) {
    return wrap_new(state, C_Buffer,
                    mtl_device_new_buffer(self->native, a[0].u, (MTLResourceOptions)a[1].u));
}

METHOD(Device, new_buffer_with_data, "Buffer | None",
       "A buffer with a copy of the first length bytes of a bytes-like object; None: all.",
       DATA("data"), {"length", K_U64, 0, "None", 0, true}, U32_OR("options", 0)) {
    return buffer_with_data(state, self, a);
}

METHOD(Device, new_buffer_with_bytes_no_copy, "Buffer | None",
       "A buffer over the memory of a writable bytes-like object, which it keeps alive. With "
       "the debug layer the memory begins at a page and is whole pages long.",
       DATA("data"), {"length", K_U64, 0, "None", 0, true}, U32_OR("options", 0)) {
    return buffer_no_copy(state, self, a);
}

METHOD(Device, new_library_with_source, "Library",
       "Compiles MSL. CompileError if that fails, with the compiler's messages.", TEXT("source"),
       OPTIONAL("options", CompileOptions)) {
    return library_with_source(state, self, a);
}

static PyObject *finish_library(State *state, MTLLibrary *library, MTLError *error) {
    if (!library) return raise_error(state, ERROR_COMPILE, "Failed to load library: ", error);
    mtl_release(error);
    return wrap_new(state, C_Library, library);
}

METHOD(Device, new_library_with_url, "Library", "A library from a metallib or a .metal file.",
       PATH("url")) {
    MTLError *error = NULL;
    MTLLibrary *library;
    WITHOUT_GIL(library = mtl_device_new_library_with_url(self->native, a[0].s, &error));
    return finish_library(state, library, error);
}

METHOD(Device, new_library_with_data, "Library", "A library from the bytes of a metallib.",
       DATA("data")) {
    Py_buffer data;
    MTLError *error = NULL;
    MTLLibrary *library;
    if (PyObject_GetBuffer(a[0].py, &data, PyBUF_SIMPLE) < 0) return NULL;
    WITHOUT_GIL(library = mtl_device_new_library_with_data(self->native, data.buf, (size_t)data.len,
                                                           &error));
    PyBuffer_Release(&data);
    return finish_library(state, library, error);
}

METHOD0(Device, new_default_library, "Library | None",
        "The default.metallib beside the program or in the working folder.") {
    (void)a;
    return wrap_new(state, C_Library, mtl_device_new_default_library(self->native));
}

METHOD(Device, new_compute_pipeline_state, "ComputePipelineState",
       "Compiles a kernel for the device. PipelineError if that fails.",
       OBJECT("function", Function)) {
    MTLError *error = NULL;
    MTLComputePipelineState *pipeline;
    WITHOUT_GIL(pipeline = mtl_device_new_compute_pipeline_state(self->native, a[0].p, &error));
    if (!pipeline)
        return raise_error(state, ERROR_PIPELINE, "Failed to create compute pipeline: ", error);
    return wrap_new(state, C_ComputePipelineState, pipeline);
}

METHOD(Device, new_compute_pipeline_state_with_descriptor, "ComputePipelineState",
       "The same, as a descriptor says.", OBJECT("descriptor", ComputePipelineDescriptor),
       U32_OR("options", 0)) {
    return pipeline_with_descriptor(state, self, a[0].o, (MTLPipelineOption)a[1].u);
}

METHOD(Device, new_render_pipeline_state, "RenderPipelineState",
       "A render pipeline. PipelineError if the descriptor does not make one.",
       OBJECT("descriptor", RenderPipelineDescriptor)) {
    return render_pipeline_new(state, self, a[0].o);
}

METHOD(Device, new_depth_stencil_state, "DepthStencilState",
       "The tests of depth and stencil that a descriptor says.",
       OBJECT("descriptor", DepthStencilDescriptor)) {
    return depth_stencil_new(state, self, a[0].o);
}

// ---- Textures, memory, synchronisation ----

METHOD(Device, new_texture, "Texture | None", "A texture of zeros.",
       OBJECT("descriptor", TextureDescriptor)) {
    MTLTextureDescriptor d = texture_descriptor(a[0].o);
    return wrap_new(state, C_Texture, mtl_device_new_texture(self->native, &d));
}

METHOD(Device, new_sampler_state, "SamplerState | None", "A sampler.",
       OBJECT("descriptor", SamplerDescriptor)) {
    const Object *d = a[0].o;
    return wrap_new(state, C_SamplerState,
                    mtl_device_new_sampler_state(
                        self->native,
                        &(MTLSamplerDescriptor){
                            .min_filter = (MTLSamplerMinMagFilter)field_u(d, "min_filter"),
                            .mag_filter = (MTLSamplerMinMagFilter)field_u(d, "mag_filter"),
                            .mip_filter = (MTLSamplerMipFilter)field_u(d, "mip_filter"),
                            .max_anisotropy = field_u(d, "max_anisotropy"),
                            .s_address_mode = (MTLSamplerAddressMode)field_u(d, "s_address_mode"),
                            .t_address_mode = (MTLSamplerAddressMode)field_u(d, "t_address_mode"),
                            .r_address_mode = (MTLSamplerAddressMode)field_u(d, "r_address_mode"),
                            .border_color = (MTLSamplerBorderColor)field_u(d, "border_color"),
                            .reduction_mode = (MTLSamplerReductionMode)field_u(d, "reduction_mode"),
                            .unnormalized_coordinates = !field_b(d, "normalized_coordinates"),
                            .lod_min_clamp = (float)field_f(d, "lod_min_clamp"),
                            .lod_max_clamp = (float)field_f(d, "lod_max_clamp"),
                            .lod_max_clamp_is_set = true,
                            .lod_average = field_b(d, "lod_average"),
                            .lod_bias = (float)field_f(d, "lod_bias"),
                            .compare_function = (MTLCompareFunction)field_u(d, "compare_function"),
                            .support_argument_buffers = field_b(d, "support_argument_buffers"),
                            .label = field_s(d, "label"),
                        }));
}

METHOD(Device, new_heap, "Heap | None", "Memory from which buffers and textures are made.",
       OBJECT("descriptor", HeapDescriptor)) {
    const Object *d = a[0].o;
    return wrap_new(
        state, C_Heap,
        mtl_device_new_heap(
            self->native,
            &(MTLHeapDescriptor){
                .size = field_u(d, "size"),
                .storage_mode_is_set = true,
                .storage_mode = (MTLStorageMode)field_u(d, "storage_mode"),
                .cpu_cache_mode = (MTLCPUCacheMode)field_u(d, "cpu_cache_mode"),
                .hazard_tracking_mode = (MTLHazardTrackingMode)field_u(d, "hazard_tracking_mode"),
                .type = (MTLHeapType)field_u(d, "type"),
            }));
}

METHOD(Device, new_residency_set, "ResidencySet | None", "A list of allocations to keep resident.",
       STR_OR("label")) {
    MTLError *error = NULL;
    MTLResidencySet *set = mtl_device_new_residency_set(
        self->native, &(MTLResidencySetDescriptor){.label = a[0].s}, &error);
    if (!set) return raise_error(state, ERROR_RESOURCE, "Failed to create residency set: ", error);
    return wrap_new(state, C_ResidencySet, set);
}

METHOD0(Device, new_fence, "Fence", "Orders encoders.") {
    (void)a;
    return wrap_new(state, C_Fence, mtl_device_new_fence(self->native));
}

METHOD0(Device, new_event, "Event", "Orders command buffers of several queues.") {
    (void)a;
    return wrap_new(state, C_Event, mtl_device_new_event(self->native));
}

METHOD0(Device, new_shared_event, "SharedEvent", "An event that the CPU takes part in.") {
    (void)a;
    return wrap_new(state, C_SharedEvent, mtl_device_new_shared_event(self->native));
}

// ---- Arguments, indirect commands, archives ----

METHOD(Device, new_argument_encoder, "ArgumentEncoder | None",
       "An encoder for an argument buffer with these members.",
       LIST("arguments", ArgumentDescriptor)) {
    void **natives; // only for the check of the types
    size_t n;
    if (!list_natives(state, a[0].py, C_ArgumentDescriptor, "arguments", &natives, &n)) return NULL;
    free(natives);
    MTLArgumentDescriptor *list = calloc(n + 1, sizeof *list);
    if (!list) return PyErr_NoMemory();
    for (size_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(a[0].py, (Py_ssize_t)i);
        if (!item) {
            free(list);
            return NULL;
        }
        const Object *d = (Object *)item;
        list[i] = (MTLArgumentDescriptor){
            .data_type = (MTLDataType)field_u(d, "data_type"),
            .index = field_u(d, "index"),
            .array_length = field_u(d, "array_length"),
            .access = (MTLBindingAccess)field_u(d, "access"),
            .texture_type = (MTLTextureType)field_u(d, "texture_type"),
            .constant_block_alignment = field_u(d, "constant_block_alignment"),
        };
        Py_DECREF(item);
    }
    MTLArgumentEncoder *encoder = mtl_device_new_argument_encoder(self->native, list, n);
    free(list);
    return wrap_new(state, C_ArgumentEncoder, encoder);
}

METHOD(Device, new_argument_encoder_with_buffer_binding, "ArgumentEncoder | None",
       "An encoder for a buffer argument of a pipeline.", OBJECT("binding", Binding)) {
    return wrap_new(state, C_ArgumentEncoder,
                    mtl_device_new_argument_encoder_with_buffer_binding(self->native, a[0].p));
}

METHOD(Device, acceleration_structure_sizes, "AccelerationStructureSizes",
       "What a structure and its builds need at most.",
       OBJECT("descriptor", AccelerationStructureDescriptor)) {
    RaysDescriptor d;
    if (!rays_descriptor(state, a[0].o, &d)) return NULL;
    MTLAccelerationStructureSizes sizes =
        mtl_device_acceleration_structure_sizes(self->native, &d.d);
    rays_descriptor_free(&d);
    return from_ray_sizes(state, sizes);
}

METHOD(Device, new_acceleration_structure, "AccelerationStructure | None",
       "A structure of this size that nothing is built into yet.", SIZE("size")) {
    return wrap_new(state, C_AccelerationStructure,
                    mtl_device_new_acceleration_structure(self->native, a[0].u));
}

METHOD(Device, new_indirect_command_buffer, "IndirectCommandBuffer | None",
       "Room for commands that are encoded once and executed often.",
       OBJECT("descriptor", IndirectCommandBufferDescriptor), SIZE("max_count"), U32("options")) {
    const Object *d = a[0].o;
    return wrap_new(
        state, C_IndirectCommandBuffer,
        mtl_device_new_indirect_command_buffer(
            self->native,
            &(MTLIndirectCommandBufferDescriptor){
                .command_types = (MTLIndirectCommandType)field_u(d, "command_types"),
                .inherit_buffers = field_b(d, "inherit_buffers"),
                .inherit_pipeline_state = field_b(d, "inherit_pipeline_state"),
                .max_kernel_buffer_bind_count = field_u(d, "max_kernel_buffer_bind_count"),
                .max_kernel_threadgroup_memory_bind_count =
                    field_u(d, "max_kernel_threadgroup_memory_bind_count"),
                .max_vertex_buffer_bind_count = field_u(d, "max_vertex_buffer_bind_count"),
                .max_fragment_buffer_bind_count = field_u(d, "max_fragment_buffer_bind_count"),
            },
            a[1].u, (MTLResourceOptions)a[2].u));
}

METHOD(Device, new_binary_archive, "BinaryArchive",
       "A new archive, or the one of a file. ResourceError if the file is none.",
       OBJECT("descriptor", BinaryArchiveDescriptor)) {
    Arg url;
    MTLError *error = NULL;
    MTLBinaryArchive *archive;
    if (!field_path(a[0].o, "url", &url)) return NULL;
    // An empty path is none.
    const MTLBinaryArchiveDescriptor d = {.url = url.s && *url.s ? url.s : NULL};
    WITHOUT_GIL(archive = mtl_device_new_binary_archive(self->native, &d, &error));
    Py_XDECREF(url.py);
    if (!archive)
        return raise_error(state, ERROR_RESOURCE, "Failed to create binary archive: ", error);
    return wrap_new(state, C_BinaryArchive, archive);
}

static const Method *const Device_methods[] = {
    &Device_supports_family,
    &Device_supports_texture_sample_count,
    &Device_minimum_linear_texture_alignment_for_pixel_format,
    &Device_heap_buffer_size_and_align,
    &Device_heap_texture_size_and_align,
    &Device_sample_timestamps,
    &Device_set_timeout,
    &Device_new_command_queue,
    &Device_new_buffer,
    &Device_new_buffer_with_data,
    &Device_new_buffer_with_bytes_no_copy,
    &Device_new_library_with_source,
    &Device_new_library_with_url,
    &Device_new_library_with_data,
    &Device_new_default_library,
    &Device_new_compute_pipeline_state,
    &Device_new_compute_pipeline_state_with_descriptor,
    &Device_new_render_pipeline_state,
    &Device_new_depth_stencil_state,
    &Device_new_texture,
    &Device_new_sampler_state,
    &Device_new_heap,
    &Device_new_residency_set,
    &Device_new_fence,
    &Device_new_event,
    &Device_new_shared_event,
    &Device_new_argument_encoder,
    &Device_new_argument_encoder_with_buffer_binding,
    &Device_new_indirect_command_buffer,
    &Device_acceleration_structure_sizes,
    &Device_new_acceleration_structure,
    &Device_new_binary_archive,
    NULL,
};
static const Method *const *const Device_more[] = {device_tensor_methods, device_metal4_methods,
                                                   device_compiler_methods, NULL};
DEFINE_CLASS(Device, "What runs kernels; everything is made by it.", .methods = Device_methods,
             .more = Device_more, .props = Device_props);
