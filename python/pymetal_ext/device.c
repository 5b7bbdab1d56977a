// SPDX-License-Identifier: Apache-2.0
// device.c: Device: what it makes of Python's data and of descriptors that hold more than numbers.
#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "library.h"
#include "metal4.h"
#include "queue.h"
#include "rays.h"
#include "render.h"

METHOD0(Device, sample_timestamps, "tuple[int, int]",
        "The clocks of CPU and device at one moment, in nanoseconds.") {
    uint64_t cpu = 0, gpu = 0;
    (void)state, (void)a;
    mtl_device_sample_timestamps(self->native, &cpu, &gpu);
    return Py_BuildValue("(KK)", (unsigned long long)cpu, (unsigned long long)gpu);
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

METHOD(Device, new_library_with_data, "Library", "A library from the bytes of a metallib.",
       DATA("data")) {
    Py_buffer data;
    MTLError *error = NULL;
    MTLLibrary *library;
    if (PyObject_GetBuffer(a[0].py, &data, PyBUF_SIMPLE) < 0) return NULL;
    WITHOUT_GIL(library = mtl_device_new_library_with_data(self->native, data.buf, (size_t)data.len,
                                                           &error));
    PyBuffer_Release(&data);
    if (!library) return raise_error(state, ERROR_COMPILE, "Failed to load library: ", error);
    mtl_release(error);
    return wrap_new(state, C_Library, library);
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
        fill_ArgumentDescriptor((Object *)item, &list[i]);
        Py_DECREF(item);
    }
    MTLArgumentEncoder *encoder = mtl_device_new_argument_encoder(self->native, list, n);
    free(list);
    return wrap_new(state, C_ArgumentEncoder, encoder);
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
