// SPDX-License-Identifier: Apache-2.0
// archive.c: binary archives, and the capture manager with its scopes.
#include <stdlib.h>
#include "library.h"

METHOD(BinaryArchiveDescriptor, set_url, "None", "Sets the file to open.", PATH("path")) {
    PyObject *path = PyUnicode_DecodeFSDefault(a[0].s), *old = self->values[0];
    if (!path) return NULL;
    self->values[0] = path;
    Py_DECREF(old);
    return none(state);
}

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

// ---- Capture ----

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
