// SPDX-License-Identifier: Apache-2.0
// metal_capture.h: the capture manager, its scopes and traces; counter sample buffers.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// A capture holds every command of the command buffers committed while it is open, with the
// contents of all that they read; `ingot replay` runs it again (docs/guide/captures.md). Into a
// file called .json goes a timeline instead, which ui.perfetto.dev and chrome://tracing open: the
// command buffers of each queue, their encoders, dispatches (kernel, grid, threadgroup, bytes
// bound), blits, debug groups and signposts, with times; compiles of libraries and kernels; memory
// allocated. `ingot capture PROGRAM` and `ingot trace PROGRAM` make them of any program, unchanged.
// From inside a program (which needs MTL_CAPTURE_ENABLED=1 in its environment, as on a Mac):
//
//     MTLCaptureManager *manager = mtl_capture_manager_shared_capture_manager();
//     mtl_capture_manager_start_capture(manager,
//         &(MTLCaptureDescriptor){.capture_object = device,
//                                 .destination = MTLCaptureDestinationGPUTraceDocument,
//                                 .output_url = "frame.ingottrace"}, &error);
//     ... commit work ...
//     mtl_capture_manager_stop_capture(manager);
//
// examples/capture.c is a whole program, with counter sample buffers too.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_CAPTURE_H
#define INGOT_METAL_CAPTURE_H

#ifdef __cplusplus
extern "C" {
#endif

#define MTLCaptureErrorDomain "MTLCaptureErrorDomain"

typedef enum MTLCaptureError { // domain MTLCaptureErrorDomain
    MTLCaptureErrorNotSupported = 1,
    MTLCaptureErrorAlreadyCapturing = 2,
    MTLCaptureErrorInvalidDescriptor = 3,
} MTLCaptureError;

typedef enum MTLCaptureDestination {
    MTLCaptureDestinationDeveloperTools = 1,   // there are none here: not supported
    MTLCaptureDestinationGPUTraceDocument = 2, // a file
} MTLCaptureDestination;

typedef struct MTLCaptureDescriptor {
    void
        *capture_object; // MTLDevice, MTLCommandQueue (its command buffers only) or MTLCaptureScope
    MTLCaptureDestination destination; // 0: MTLCaptureDestinationDeveloperTools
    const char *output_url;            // path of a file that does not exist yet
} MTLCaptureDescriptor;

// ---- MTLCaptureManager ----

// The one there is, borrowed; it lives as long as the process.
MTL_API MTLCaptureManager *mtl_capture_manager_shared_capture_manager(void);
MTL_API bool mtl_capture_manager_supports_destination(const MTLCaptureManager *manager,
                                                      MTLCaptureDestination destination);
// Records the command buffers that are committed from now on; with a scope: those committed between
// its begin and its end, which ends the capture.
MTL_API bool mtl_capture_manager_start_capture(MTLCaptureManager *manager,
                                               const MTLCaptureDescriptor *descriptor,
                                               MTLError **error);
// Waits (up to a second) for the command buffers that belong to the capture and completes the file.
// Nothing if there is no capture.
MTL_API void mtl_capture_manager_stop_capture(MTLCaptureManager *manager);
MTL_API bool mtl_capture_manager_is_capturing(const MTLCaptureManager *manager);
// Older forms, to the developer tools: is_capturing is true until stop_capture; no file.
MTL_API void mtl_capture_manager_start_capture_with_device(MTLCaptureManager *manager,
                                                           MTLDevice *device);
MTL_API void mtl_capture_manager_start_capture_with_command_queue(MTLCaptureManager *manager,
                                                                  MTLCommandQueue *queue);
MTL_API void mtl_capture_manager_start_capture_with_scope(MTLCaptureManager *manager,
                                                          MTLCaptureScope *scope);
// Borrowed, NULL if none was set. The manager retains it.
MTL_API MTLCaptureScope *mtl_capture_manager_default_capture_scope(
    const MTLCaptureManager *manager);
MTL_API void mtl_capture_manager_set_default_capture_scope(MTLCaptureManager *manager,
                                                           MTLCaptureScope *scope);
MTL_API MTLCaptureScope *mtl_capture_manager_new_capture_scope_with_device(
    MTLCaptureManager *manager, MTLDevice *device);
MTL_API MTLCaptureScope *mtl_capture_manager_new_capture_scope_with_command_queue(
    MTLCaptureManager *manager, MTLCommandQueue *queue);

// ---- MTLCaptureScope ----

MTL_API MTLDevice *mtl_capture_scope_device(const MTLCaptureScope *scope);
MTL_API MTLCommandQueue *mtl_capture_scope_command_queue(const MTLCaptureScope *scope); // or NULL
MTL_API const char *mtl_capture_scope_label(const MTLCaptureScope *scope);
MTL_API void mtl_capture_scope_set_label(MTLCaptureScope *scope, const char *label);
MTL_API void mtl_capture_scope_begin_scope(MTLCaptureScope *scope);
MTL_API void mtl_capture_scope_end_scope(MTLCaptureScope *scope);

// ---- Counters ----
// One counter set, "timestamp", whose samples are nanoseconds of the clock that
// mtl_device_sample_timestamps reads. Sampling works at the start and the end of compute and blit
// passes (sample_buffer_attachments of their descriptors) and between dispatches and blits.

#define MTLCommonCounterSetTimestamp "timestamp"
#define MTLCommonCounterTimestamp "GPUTimestamp"
#define MTLCounterErrorDomain "MTLCounterErrorDomain"
#define MTLCounterErrorValue UINT64_MAX   // a sample that was not taken
#define MTLCounterDontSample ((size_t)-1) // as an index: no sample here

typedef enum MTLCounterSampleBufferError { // domain MTLCounterErrorDomain
    MTLCounterSampleBufferErrorOutOfMemory = 0,
    MTLCounterSampleBufferErrorInvalid = 1,
    MTLCounterSampleBufferErrorInternal = 2,
} MTLCounterSampleBufferError;

typedef enum MTLCounterSamplingPoint {
    MTLCounterSamplingPointAtStageBoundary = 0, // start and end of a pass
    MTLCounterSamplingPointAtDrawBoundary = 1,
    MTLCounterSamplingPointAtDispatchBoundary = 2,
    MTLCounterSamplingPointAtTileDispatchBoundary = 3,
    MTLCounterSamplingPointAtBlitBoundary = 4,
} MTLCounterSamplingPoint;

typedef struct MTLCounterResultTimestamp {
    uint64_t timestamp;
} MTLCounterResultTimestamp;

typedef struct MTLCounterSampleBufferDescriptor {
    MTLCounterSet *counter_set;  // required
    const char *label;           // NULL: none
    MTLStorageMode storage_mode; // 0: shared; or private, which only the blit encoder resolves
    size_t sample_count;         // 1 .. 4096
} MTLCounterSampleBufferDescriptor;

// Counter sets are borrowed and live as long as the process.
MTL_API size_t mtl_device_counter_set_count(const MTLDevice *device);
MTL_API MTLCounterSet *mtl_device_counter_set(const MTLDevice *device,
                                              size_t i); // NULL past the end
MTL_API const char *mtl_counter_set_name(const MTLCounterSet *set);
MTL_API size_t mtl_counter_set_counter_count(const MTLCounterSet *set);
MTL_API const char *mtl_counter_set_counter_name(const MTLCounterSet *set, size_t i);
MTL_API bool mtl_device_supports_counter_sampling(const MTLDevice *device,
                                                  MTLCounterSamplingPoint point);
MTL_API MTLCounterSampleBuffer *mtl_device_new_counter_sample_buffer(
    MTLDevice *device, const MTLCounterSampleBufferDescriptor *descriptor, MTLError **error);
MTL_API MTLDevice *mtl_counter_sample_buffer_device(const MTLCounterSampleBuffer *buffer);
MTL_API const char *mtl_counter_sample_buffer_label(const MTLCounterSampleBuffer *buffer);
MTL_API size_t mtl_counter_sample_buffer_sample_count(const MTLCounterSampleBuffer *buffer);
// Writes range.length MTLCounterResultTimestamps to `results` and returns their bytes; a sample
// that was not taken yet is MTLCounterErrorValue. 0 for a range outside the buffer, private
// storage.
MTL_API size_t mtl_counter_sample_buffer_resolve_counter_range(const MTLCounterSampleBuffer *buffer,
                                                               MTLRange range,
                                                               MTLCounterResultTimestamp *results);
// Samples after the commands before it; with barrier those have completed (they always have here,
// except dispatches of a concurrent encoder that run with later ones).
MTL_API void mtl_compute_command_encoder_sample_counters_in_buffer(
    MTLComputeCommandEncoder *encoder, MTLCounterSampleBuffer *buffer, size_t sample_index,
    bool barrier);
MTL_API void mtl_blit_command_encoder_sample_counters_in_buffer(MTLBlitCommandEncoder *encoder,
                                                                MTLCounterSampleBuffer *buffer,
                                                                size_t sample_index, bool barrier);
// Writes MTLCounterResultTimestamps to the destination, at an offset that is a multiple of 8.
MTL_API void mtl_blit_command_encoder_resolve_counters(MTLBlitCommandEncoder *encoder,
                                                       MTLCounterSampleBuffer *buffer,
                                                       MTLRange range, MTLBuffer *destination,
                                                       size_t destination_offset);

#ifdef __cplusplus
}
#endif
#endif
