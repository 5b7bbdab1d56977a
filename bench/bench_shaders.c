// SPDX-License-Identifier: Apache-2.0
// bench_shaders.c: how long programs wait for small shaders: ms on the clock from a source to a
// pipeline that can run, through the public API. The compiler is running, nothing is in the cache.
//     bench_shaders FILE.metal...
// Of each file a kernel, or a vertex and a fragment function that go together; function constants
// are not set, and what needs them is left out. A line for each, then the medians.
#include <ingot/metal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../examples/util.h"
#include "graphics_scenes.h" // the clock

typedef struct Times {
    double ms[512];
    size_t n;
} Times;

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_median(const char *what, Times *t) {
    if (!t->n) return;
    qsort(t->ms, t->n, sizeof *t->ms, by_size);
    printf("%-20s %4zu, median %7.1f ms, worst %7.1f ms\n", what, t->n, t->ms[t->n / 2],
           t->ms[t->n - 1]);
}

static void add(Times *t, double ms) {
    if (t->n < sizeof t->ms / sizeof *t->ms) t->ms[t->n++] = ms;
}

// One buffer with all attributes, floats or bytes.
static void describe(const MTLFunction *vertex, MTLVertexDescriptor *d) {
    *d = (MTLVertexDescriptor){0};
    for (size_t i = 0; i < mtl_function_vertex_attribute_count(vertex); i++) {
        MTLVertexAttribute a;
        if (!mtl_function_vertex_attribute(vertex, i, &a) || a.attribute_index > 30) continue;
        MTLVertexFormat format = MTLVertexFormatUChar4; // wider than needed is fine
        if (a.attribute_type >= MTLDataTypeFloat && a.attribute_type <= MTLDataTypeFloat4)
            format = MTLVertexFormatFloat4;
        else if (a.attribute_type >= MTLDataTypeHalf && a.attribute_type <= MTLDataTypeHalf4)
            format = MTLVertexFormatHalf4;
        else if (a.attribute_type >= MTLDataTypeInt && a.attribute_type <= MTLDataTypeInt4)
            format = MTLVertexFormatChar4;
        d->attributes[a.attribute_index] = (MTLVertexAttributeDescriptor){
            .format = format, .offset = 16 * a.attribute_index, .buffer_index = 30};
    }
    d->layouts[30].stride = 512;
}

// The first pair that goes together, with whatever attachment takes its colour. 0: none does.
static double draw_pipeline(MTLDevice *device, MTLFunction *vertex, MTLFunction *fragment) {
    static const MTLPixelFormat formats[] = {MTLPixelFormatRGBA16Float, MTLPixelFormatRGBA32Uint,
                                             MTLPixelFormatRGBA32Sint};
    MTLVertexDescriptor attributes;
    describe(vertex, &attributes);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        MTLRenderPipelineDescriptor d = {.vertex_function = vertex,
                                         .fragment_function = fragment,
                                         .vertex_descriptor = &attributes,
                                         .color_attachments[0].pixel_format = formats[i],
                                         .depth_attachment_pixel_format =
                                             MTLPixelFormatDepth32Float};
        double begin = scene_clock();
        MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state(device, &d, NULL);
        double ms = scene_clock() - begin;
        mtl_release(state);
        if (state) return ms;
    }
    return 0;
}

static double first_pipeline(MTLDevice *device, MTLLibrary *library) {
    MTLFunction *all[64] = {0};
    size_t n = mtl_library_function_name_count(library);
    double ms = 0;
    n = n < 64 ? n : 64;
    for (size_t i = 0; i < n; i++)
        all[i] = mtl_library_new_function(library, mtl_library_function_name(library, i));
    for (size_t i = 0; i < n && !ms; i++) {
        if (!all[i]) continue;
        if (mtl_function_function_type(all[i]) == MTLFunctionTypeKernel) {
            double begin = scene_clock();
            MTLComputePipelineState *state =
                mtl_device_new_compute_pipeline_state(device, all[i], NULL);
            if (state) ms = scene_clock() - begin;
            mtl_release(state);
        }
        for (size_t k = 0; k < n && !ms; k++)
            if (all[k] && mtl_function_function_type(all[i]) == MTLFunctionTypeVertex &&
                mtl_function_function_type(all[k]) == MTLFunctionTypeFragment)
                ms = draw_pipeline(device, all[i], all[k]);
    }
    for (size_t i = 0; i < n; i++) mtl_release(all[i]);
    return ms;
}

int main(int argc, char **argv) {
    static Times libraries, pipelines, both;
    setenv("INGOT_CACHE_DIR", "off", 1);
    MTLDevice *device = mtl_create_system_default_device();
    require(device, NULL, "device");
    for (int i = 0; i < argc; i++) { // the first one twice: that starts the compiler
        double begin = scene_clock();
        MTLLibrary *library = mtl_device_new_library_with_url(device, argv[i ? i : 1], NULL);
        double ms = scene_clock() - begin, pipeline = library ? first_pipeline(device, library) : 0;
        mtl_release(library);
        if (!i || !pipeline) continue;
        printf("%-60s library %7.1f ms, pipeline %7.1f ms\n", argv[i], ms, pipeline);
        add(&libraries, ms), add(&pipelines, pipeline), add(&both, ms + pipeline);
    }
    print_median("libraries", &libraries);
    print_median("pipelines", &pipelines);
    print_median("source to pipeline", &both);
    return 0;
}
