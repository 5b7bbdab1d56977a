// SPDX-License-Identifier: Apache-2.0
// archive.c: binary archives, and the capture manager with its scopes.
#include <stdlib.h>
#include "library.h"

static const Field BinaryArchiveDescriptor_fields[] = {
    {{"url", K_PATH, 0, "None", 0, true}, "The file to open; None: a new archive.", false},
    NO_FIELD,
};

METHOD(BinaryArchiveDescriptor, set_url, "None", "Sets the file to open.", PATH("path")) {
    PyObject *path = PyUnicode_DecodeFSDefault(a[0].s), *old = self->values[0];
    if (!path) return NULL;
    self->values[0] = path;
    Py_DECREF(old);
    return none(state);
}

static const Method *const BinaryArchiveDescriptor_methods[] = {&BinaryArchiveDescriptor_set_url,
                                                                NULL};
DEFINE_CLASS(BinaryArchiveDescriptor, "How a binary archive is opened.",
             .methods = BinaryArchiveDescriptor_methods, .fields = BinaryArchiveDescriptor_fields,
             .factory = "binary_archive_descriptor");

#define BINARY_ARCHIVE_PROPS(RO, RW)                                                               \
    DEVICE(RO, BinaryArchive, binary_archive) LABEL(RW, BinaryArchive, binary_archive)
PROPS(BinaryArchive, BINARY_ARCHIVE_PROPS);

METHOD(BinaryArchive, add_compute_pipeline_functions, "None",
       "Compiles a pipeline and keeps its code. PipelineError if that fails.",
       OBJECT("descriptor", ComputePipelineDescriptor)) {
    MTLComputePipelineDescriptor d;
    PipelineParts parts;
    MTLError *error = NULL;
    bool done;
    if (!pipeline_descriptor(state, a[0].o, &d, &parts)) return NULL;
    WITHOUT_GIL(done = mtl_binary_archive_add_compute_pipeline_functions(self->native, &d, &error));
    pipeline_parts_free(&parts);
    if (!done)
        return raise_error(state, ERROR_PIPELINE, "Failed to add to binary archive: ", error);
    return none(state);
}

METHOD(BinaryArchive, serialize_to_url, "None", "Writes the archive to a file, in one step.",
       PATH("url")) {
    MTLError *error = NULL;
    bool done;
    WITHOUT_GIL(done = mtl_binary_archive_serialize_to_url(self->native, a[0].s, &error));
    if (!done)
        return raise_error(state, ERROR_RESOURCE, "Failed to serialize binary archive: ", error);
    return none(state);
}

static const Method *const BinaryArchive_methods[] = {&BinaryArchive_add_compute_pipeline_functions,
                                                      &BinaryArchive_serialize_to_url, NULL};
DEFINE_CLASS(BinaryArchive, "Pipelines with their machine code, for a file.",
             .methods = BinaryArchive_methods, .props = BinaryArchive_props);

// ---- Capture ----

#define CAPTURE_SCOPE_PROPS(RO, RW)                                                                \
    RO(CaptureScope, command_queue, "CommandQueue | None", "The queue it is for.",                 \
       wrap(state, C_CommandQueue, mtl_capture_scope_command_queue(self->native)))                 \
    RO(CaptureScope, mtl4_command_queue, "MTL4CommandQueue | None", "The queue of Metal 4.",       \
       wrap(state, C_MTL4CommandQueue, mtl_capture_scope_mtl4_command_queue(self->native)))        \
    DEVICE(RO, CaptureScope, capture_scope)                                                        \
    LABEL(RW, CaptureScope, capture_scope)
PROPS(CaptureScope, CAPTURE_SCOPE_PROPS);

METHOD0(CaptureScope, begin_scope, "None", "What is committed from here on belongs to it.") {
    (void)a;
    mtl_capture_scope_begin_scope(self->native);
    return none(state);
}

METHOD0(CaptureScope, end_scope, "None", "Ends it, and a capture of it.") {
    (void)a;
    WITHOUT_GIL(mtl_capture_scope_end_scope(self->native));
    return none(state);
}

static const Method *const CaptureScope_methods[] = {&CaptureScope_begin_scope,
                                                     &CaptureScope_end_scope, NULL};
DEFINE_CLASS(CaptureScope, "A stretch of work that can be captured.",
             .methods = CaptureScope_methods, .props = CaptureScope_props);

static const Field CaptureDescriptor_fields[] = {
    {{"capture_object", K_CAPTURED, 0, "None", 0, true}, "Whose work is captured.", false},
    {ENUM_OR("destination", CaptureDestination, DeveloperTools, 1), "Where it goes.", false},
    {{"output_url", K_PATH, 0, "None", 0, true}, "A file that does not exist yet.", false},
    NO_FIELD,
};
DEFINE_CLASS(CaptureDescriptor, "What is captured, and where to.",
             .fields = CaptureDescriptor_fields, .factory = "capture_descriptor",
             .constructible = true);

#define CAPTURE_MANAGER_PROPS(RO, RW)                                                              \
    RO(CaptureManager, is_capturing, "bool", "Whether a capture is on.",                           \
       from_bool(mtl_capture_manager_is_capturing(self->native)))                                  \
    RW(CaptureManager, default_capture_scope, "CaptureScope | None",                               \
       "What a capture without an object captures.",                                               \
       wrap(state, C_CaptureScope, mtl_capture_manager_default_capture_scope(self->native)),       \
       NULLABLE("default_capture_scope", CaptureScope),                                            \
       mtl_capture_manager_set_default_capture_scope(self->native, v->p))
PROPS(CaptureManager, CAPTURE_MANAGER_PROPS);

METHOD(CaptureManager, new_capture_scope_with_device, "CaptureScope", "A scope for all queues.",
       OBJECT("device", Device)) {
    return wrap_new(state, C_CaptureScope,
                    mtl_capture_manager_new_capture_scope_with_device(self->native, a[0].p));
}

METHOD(CaptureManager, new_capture_scope_with_command_queue, "CaptureScope",
       "A scope for one queue.", OBJECT("queue", CommandQueue)) {
    return wrap_new(state, C_CaptureScope,
                    mtl_capture_manager_new_capture_scope_with_command_queue(self->native, a[0].p));
}

METHOD(CaptureManager, new_capture_scope_with_mtl4_command_queue, "CaptureScope",
       "A scope for one queue of Metal 4.", OBJECT("queue", MTL4CommandQueue)) {
    return wrap_new(
        state, C_CaptureScope,
        mtl_capture_manager_new_capture_scope_with_mtl4_command_queue(self->native, a[0].p));
}

METHOD(CaptureManager, start_capture_with_scope, "None",
       "Captures until stop_capture. There are no developer tools: it is only noted.",
       OBJECT("scope", CaptureScope)) {
    mtl_capture_manager_start_capture_with_scope(self->native, a[0].p);
    return none(state);
}

METHOD(CaptureManager, start_capture_with_device, "None", "The same for a device.",
       OBJECT("device", Device)) {
    mtl_capture_manager_start_capture_with_device(self->native, a[0].p);
    return none(state);
}

METHOD(CaptureManager, start_capture_with_command_queue, "None", "The same for a queue.",
       OBJECT("queue", CommandQueue)) {
    mtl_capture_manager_start_capture_with_command_queue(self->native, a[0].p);
    return none(state);
}

METHOD(CaptureManager, start_capture, "None",
       "Writes a trace file, as a descriptor says. MetalError if that cannot be.",
       OBJECT("descriptor", CaptureDescriptor)) {
    PyObject *object = field_py(a[0].o, "capture_object");
    MTLError *error = NULL;
    if (object == Py_None)
        return raise_text(state, ERROR_VALIDATION,
                          "CaptureManager.start_capture: the descriptor has no capture_object");
    Arg url;
    if (!field_path(a[0].o, "output_url", &url)) return NULL;
    MTLCaptureDescriptor d = {.capture_object = ((Object *)object)->native,
                              .destination = (MTLCaptureDestination)field_u(a[0].o, "destination"),
                              .output_url = url.s};
    bool started = mtl_capture_manager_start_capture(self->native, &d, &error);
    Py_XDECREF(url.py);
    if (!started) return raise_error(state, ERROR_METAL, "Failed to start capture: ", error);
    return none(state);
}

METHOD0(CaptureManager, stop_capture, "None", "Ends the capture and completes its file.") {
    (void)a;
    WITHOUT_GIL(mtl_capture_manager_stop_capture(self->native));
    return none(state);
}

METHOD(CaptureManager, supports_destination, "bool", "Whether captures can go there.",
       ENUMERATION("destination", CaptureDestination)) {
    (void)state;
    return from_bool(
        mtl_capture_manager_supports_destination(self->native, (MTLCaptureDestination)a[0].u));
}

static const Method *const CaptureManager_methods[] = {
    &CaptureManager_new_capture_scope_with_device,
    &CaptureManager_new_capture_scope_with_command_queue,
    &CaptureManager_new_capture_scope_with_mtl4_command_queue,
    &CaptureManager_start_capture_with_scope,
    &CaptureManager_start_capture_with_device,
    &CaptureManager_start_capture_with_command_queue,
    &CaptureManager_start_capture,
    &CaptureManager_stop_capture,
    &CaptureManager_supports_destination,
    NULL,
};
DEFINE_CLASS(CaptureManager, "Starts and stops captures.", .methods = CaptureManager_methods,
             .props = CaptureManager_props);
