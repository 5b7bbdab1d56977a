// SPDX-License-Identifier: Apache-2.0
// util.h: what the examples need beside Metal: a clock (clock.h), a way to give up.
#ifndef EXAMPLES_UTIL_H
#define EXAMPLES_UTIL_H
#include <ingot/metal.h>
#include <stdio.h>
#include <stdlib.h>
#include "clock.h"

// Ends the example with what Metal says is wrong.
static inline void require(const void *object, const MTLError *error, const char *what) {
    if (object) return;
    fprintf(stderr, "%s: %s\n", what, error ? mtl_error_localized_description(error) : "failed");
    exit(1);
}

static inline void require_completed(const MTLCommandBuffer *commands) {
    if (mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted) return;
    require(NULL, mtl_command_buffer_error(commands), "command buffer");
}

// The steps that vector_add.c shows one by one.
static inline MTLDevice *default_device(void) {
    MTLDevice *device = mtl_create_system_default_device();
    require(device, NULL, "device");
    return device;
}

static inline MTLLibrary *library_of(MTLDevice *device, const char *source) {
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(device, source, NULL, &error);
    require(library, error, "library");
    return library;
}

static inline MTLComputePipelineState *compute_pipeline(MTLDevice *device, MTLLibrary *library,
                                                        const char *name) {
    MTLError *error = NULL;
    MTLFunction *function = mtl_library_new_function(library, name);
    require(function, NULL, name);
    MTLComputePipelineState *pipeline =
        mtl_device_new_compute_pipeline_state(device, function, &error);
    require(pipeline, error, name);
    mtl_release(function);
    return pipeline;
}

// Commits, waits, and ends the example if it failed; the milliseconds it took on the device.
static inline double complete(MTLCommandBuffer *commands) {
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    require_completed(commands);
    return 1e3 * (mtl_command_buffer_gpu_end_time(commands) -
                  mtl_command_buffer_gpu_start_time(commands));
}

// What some work costs: the first run, with code that was compiled in a hurry, and the steady
// state. While the first runs go on, Ingot compiles the kernel for the shape of this dispatch in
// the background; so runs repeat for half a second before they count.
typedef struct Timing {
    double first_ms, steady_ms;
} Timing;

static inline Timing time_runs(double (*run)(const void *), const void *context) {
    enum { runs = 15 };
    const double warm_up_ms = 500;
    Timing t = {.first_ms = run(context)};
    double times[runs], start = now_ms();
    while (now_ms() - start < warm_up_ms) run(context);
    for (int r = 0; r < runs; r++) times[r] = run(context);
    t.steady_ms = median(times, runs);
    return t;
}

static inline float random_float(unsigned *state) { // in [-0.5, 0.5)
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f - 0.5f;
}

// RGBA pixels as a portable pixmap, without alpha.
static inline void write_ppm(const char *path, const unsigned char *pixels, int width, int height) {
    FILE *file = fopen(path, "wb");
    require(file, NULL, path);
    fprintf(file, "P6\n%d %d\n255\n", width, height);
    for (int i = 0; i < width * height; i++) fwrite(pixels + 4 * (size_t)i, 1, 3, file);
    if (fclose(file) != 0) require(NULL, NULL, path);
}
#endif
