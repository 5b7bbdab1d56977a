// SPDX-License-Identifier: Apache-2.0
// render.c: packs a network for the kernels of kernels/render*.metal and runs them over bands of
// positions (see render.h). Widths are rounded up to multiples of 8 with zeros, and omega (and 1 /
// pi before a sine) goes into the weights, so that the kernels have neither remainders nor factors.
#include "apps/neural/render.h"
#include "apps/neural/gpu.h"
#include "apps/neural/kernels.h"
#include "base/numbers.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double PI = 3.14159265358979323846;
enum { BAND = 1 << 21, THREADS = 128 };
enum { // of kernels/render_resident.metal
    RESIDENT_WIDTH = 64,
    RESIDENT_GROUPS = 8,
    RESIDENT_ROWS = 32,
    RESIDENT_OUT = 16,
    RESIDENT_PAD = 8,
    RESIDENT_AT_ONCE = 264, // threadgroups, each of which goes on until all is done
};

typedef struct RenderLayer {
    uint32_t n_in, n_out, weights, biases;
} RenderLayer;
typedef struct RenderView {
    uint32_t n, first, width, pad;
    float pixel_scale[2], pixel_offset[2], scale[2], offset[2];
} RenderView;

struct NeuralRenderer {
    NeuralGpu *gpu;
    IgUserKernel *pixels, *list;
    NeuralBuffer *layers, *params, *typed, *encoding, *grid, *view, *positions, *out;
    uint32_t n_coordinates, n_outputs, batch; // batch: positions of a threadgroup
    NeuralModel model;
    NeuralCoordinates coordinates;
    size_t threads;
    size_t resident_bytes; // threadgroup memory of the resident kernel; its pictures are bytes
    NeuralPrecision precision;
    double seconds;
};

double neural_grid_scale(const NeuralHashGrid *g, uint32_t level) {
    double low = floor(log(g->base_resolution)), high = floor(log(g->max_resolution));
    double t = g->n_levels > 1 ? (double)level / (g->n_levels - 1) : 0;
    return exp(low + (high - low) * t);
}

NeuralGpuGrid neural_grid_for_kernels(const NeuralHashGrid *g) {
    NeuralGpuGrid grid = {g->n_levels, g->n_features, g->log2_size, 0, {0}};
    for (uint32_t i = 0; i < g->n_levels; i++) grid.scale[i] = (float)neural_grid_scale(g, i);
    return grid;
}

static uint32_t round8(uint32_t n) { return (n + 7) & ~7u; }

static uint32_t widest(const NeuralNetwork *net) {
    uint32_t n = net->layers[0].n_in;
    for (uint32_t i = 0; i < net->n_layers; i++)
        if (net->layers[i].n_out > n) n = net->layers[i].n_out;
    return round8(n);
}

// Room of n_bytes; what is there already is kept if it is large enough.
static bool new_buffer(NeuralRenderer *r, NeuralBuffer **buffer, size_t n_bytes, char *message) {
    if (*buffer && (*buffer)->n_bytes >= n_bytes) return true;
    neural_buffer_release(*buffer);
    *buffer = neural_gpu_buffer(r->gpu, n_bytes, message);
    return *buffer != NULL;
}

static bool pack_layers(NeuralRenderer *r, const NeuralNetwork *net, char *message) {
    RenderLayer packed[NEURAL_MAX_LAYERS];
    size_t n = 0;
    for (uint32_t i = 0; i < net->n_layers; i++) {
        const NeuralLayer *l = net->layers + i;
        RenderLayer *p = packed + i;
        p->n_in = i ? packed[i - 1].n_out : l->n_in;
        p->n_out = round8(l->n_out);
        p->weights = (uint32_t)n;
        p->biases = (uint32_t)(n + (size_t)p->n_in * p->n_out);
        n = p->biases + p->n_out;
        n = (n + 15) & ~(size_t)15;
    }
    if (!new_buffer(r, &r->layers, sizeof packed, message) ||
        !new_buffer(r, &r->params, n * sizeof(float), message))
        return false;
    memcpy(r->layers->contents, packed, net->n_layers * sizeof *packed);
    float *params = r->params->contents;
    memset(params, 0, n * sizeof *params);
    for (uint32_t i = 0; i < net->n_layers; i++) {
        const NeuralLayer *l = net->layers + i;
        const double factor = l->omega * (l->activation == NEURAL_SINE ? 1 / PI : 1);
        for (uint32_t o = 0; o < l->n_out; o++) {
            for (uint32_t k = 0; k < l->n_in; k++)
                params[packed[i].weights + (size_t)k * packed[i].n_out + o] =
                    (float)(factor * l->weights[(size_t)o * l->n_in + k]);
            params[packed[i].biases + o] = (float)(factor * l->biases[o]);
        }
    }
    neural_buffer_wrote(r->layers);
    neural_buffer_wrote(r->params);
    return true;
}

// The parameters once more in the type of the products.
static bool pack_typed(NeuralRenderer *r, NeuralPrecision precision, char *message) {
    if (precision == NEURAL_FLOAT) {
        if (!r->typed) r->typed = neural_buffer_retain(r->params);
        return true;
    }
    const float *from = r->params->contents;
    const size_t n = r->params->n_bytes / sizeof *from;
    if (!new_buffer(r, &r->typed, n * sizeof(uint16_t), message)) return false;
    uint16_t *to = r->typed->contents;
    for (size_t i = 0; i < n; i++)
        to[i] = precision == NEURAL_HALF ? half_from_float(from[i]) : bfloat_from_float(from[i]);
    neural_buffer_wrote(r->typed);
    return true;
}

static bool pack_encoding(NeuralRenderer *r, const NeuralNetwork *net, char *message) {
    NeuralGpuGrid grid = {0};
    const float *from = NULL;
    size_t n = 0;
    if (net->grid.table) {
        const NeuralHashGrid *g = &net->grid;
        if (g->n_levels > NEURAL_MAX_LEVELS)
            return message_fail(message, "%u levels are more than %d", g->n_levels,
                                NEURAL_MAX_LEVELS);
        grid = neural_grid_for_kernels(g);
        from = g->table;
        n = neural_network_table_size(net);
    } else if (net->fourier.matrix) {
        from = net->fourier.matrix;
        n = (size_t)net->fourier.n_frequencies * net->n_coordinates;
    }
    if (!new_buffer(r, &r->grid, sizeof grid, message) ||
        !new_buffer(r, &r->encoding, n * sizeof *from, message))
        return false;
    memcpy(r->grid->contents, &grid, sizeof grid);
    if (n) memcpy(r->encoding->contents, from, n * sizeof *from);
    neural_buffer_wrote(r->grid);
    if (n) neural_buffer_wrote(r->encoding);
    return true;
}

// The function constants of render.h, for pixels or for a list of positions.
static IgUserKernel *make_pipeline(NeuralRenderer *r, MTLLibrary *library, const char *name,
                                   const NeuralNetwork *net, bool from_list, char *message) {
    const bool to_bytes = r->resident_bytes && !from_list;
    const NeuralLayer *last = net->layers + net->n_layers - 1;
    uint32_t hidden = net->n_layers > 1 ? net->layers[0].n_out : 0;
    for (uint32_t i = 0; i + 1 < net->n_layers; i++)
        if (net->layers[i].n_out != hidden) hidden = 0;
    const uint32_t values[] = {net->n_layers,
                               net->n_coordinates,
                               last->n_out,
                               round8(hidden),
                               net->layers[0].activation,
                               last->activation,
                               net->grid.table       ? 2
                               : net->fourier.matrix ? 1
                                                     : 0,
                               net->fourier.n_frequencies};
    enum { N = sizeof values / sizeof *values };
    MTLFunctionConstantValues *constants = mtl_function_constant_values_new();
    if (!constants) {
        message_fail(message, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < N; i++)
        mtl_function_constant_values_set_constant_value(constants, values + i, MTLDataTypeUInt, i);
    mtl_function_constant_values_set_constant_value(constants, &from_list, MTLDataTypeBool, N);
    mtl_function_constant_values_set_constant_value(constants, &to_bytes, MTLDataTypeBool, N + 1);
    const uint32_t n_simdgroups = (uint32_t)r->threads / 32;
    mtl_function_constant_values_set_constant_value(constants, &n_simdgroups, MTLDataTypeUInt,
                                                    N + 2);
    IgUserKernel *pipeline = neural_gpu_kernel(r->gpu, library, name, constants,
                                               mtl_size_make(r->threads, 1, 1), message);
    mtl_release(constants);
    return pipeline;
}

// How much threadgroup memory the resident kernel needs; 0: the network is none for it.
static size_t resident_memory(const NeuralNetwork *net, NeuralPrecision precision,
                              size_t n_simdgroups) {
    const uint32_t n = net->n_layers;
    if (precision == NEURAL_FLOAT || net->grid.table || net->fourier.matrix || n < 3 ||
        net->n_coordinates > 3)
        return 0;
    for (uint32_t i = 0; i + 1 < n; i++)
        if (net->layers[i].n_out != RESIDENT_WIDTH ||
            net->layers[i].activation != net->layers[0].activation)
            return 0;
    const size_t hidden = n - 2, tile = RESIDENT_ROWS * (RESIDENT_WIDTH + RESIDENT_PAD);
    const size_t weights = hidden * RESIDENT_WIDTH + RESIDENT_OUT + RESIDENT_PAD;
    const size_t floats = (hidden + 4) * RESIDENT_WIDTH + RESIDENT_OUT;
    return (RESIDENT_WIDTH * weights + n_simdgroups * tile) * 2 +
           (floats + n_simdgroups * RESIDENT_ROWS * 4) * 4;
}

// As many SIMD-groups as there is memory for; all of them, unless the kernel was asked for.
static void try_resident(NeuralRenderer *r, const NeuralNetwork *net, NeuralKernel kernel,
                         NeuralPrecision precision) {
    const size_t most = mtl_device_max_threadgroup_memory_length(neural_gpu_device(r->gpu));
    size_t n = kernel == NEURAL_KERNEL_THREAD ? 0 : RESIDENT_GROUPS;
    while (n && resident_memory(net, precision, n) > most)
        n = kernel == NEURAL_KERNEL_RESIDENT ? n / 2 : 0;
    r->resident_bytes = n ? resident_memory(net, precision, n) : 0;
    if (!r->resident_bytes) return;
    r->batch = (uint32_t)n * RESIDENT_ROWS;
    r->threads = n * 32;
}

// The smallest instance of a kernel that holds the widest layer.
static bool choose_kernel(NeuralRenderer *r, const NeuralNetwork *net, NeuralKernel kernel,
                          NeuralPrecision precision, char *message) {
    static const char *const types[] = {"float", "half", "bfloat"};
    static const struct {
        uint32_t width, batch, batch_of_16_bits;
    } sizes[] = {{64, 96, 144}, {128, 48, 96}, {256, 24, 48}, {1024, 4, 12}};
    size_t i = 0;
    while (i + 1 < sizeof sizes / sizeof *sizes && sizes[i].width < widest(net)) i++;
    char name[48];
    const bool coop = kernel == NEURAL_KERNEL_COOP;
    try_resident(r, net, kernel, precision);
    if (kernel == NEURAL_KERNEL_RESIDENT && !r->resident_bytes)
        return message_fail(message, "the network is too large for the resident kernel");
    if (kernel == NEURAL_KERNEL_THREAD && precision != NEURAL_FLOAT)
        return message_fail(message, "the thread kernel supports only float");
    if (r->resident_bytes)
        snprintf(name, sizeof name, "render_resident_%s", types[precision]);
    else if (coop)
        snprintf(name, sizeof name, "render_coop_%s_%u", types[precision], sizes[i].width);
    else
        snprintf(name, sizeof name, "render_thread_%u", sizes[i].width);
    if (!r->resident_bytes)
        r->batch = !coop                       ? 0
                   : precision == NEURAL_FLOAT ? sizes[i].batch
                                               : sizes[i].batch_of_16_bits;
    MTLLibrary *library = neural_kernel_library(neural_gpu_device(r->gpu),
                                                r->resident_bytes ? "render_resident.metal"
                                                : coop            ? "render_coop.metal"
                                                                  : "render.metal",
                                                message);
    if (!library) return false;
    r->pixels = make_pipeline(r, library, name, net, false, message);
    r->list = r->pixels ? make_pipeline(r, library, name, net, true, message) : NULL;
    mtl_release(library);
    return r->list != NULL;
}

NeuralRenderer *neural_renderer_new(MTLDevice *device, const NeuralNetwork *net,
                                    NeuralKernel kernel, NeuralPrecision precision, char *message) {
    NeuralRenderer *r = calloc(1, sizeof *r);
    if (!r) {
        message_fail(message, "out of memory");
        return NULL;
    }
    r->n_coordinates = net->n_coordinates;
    r->n_outputs = net->layers[net->n_layers - 1].n_out;
    r->model = net->model;
    r->coordinates = net->coordinates;
    r->precision = precision;
    r->threads = kernel == NEURAL_KERNEL_COOP ? THREADS : 32;
    r->gpu = neural_gpu_new(device, message);
    if (!r->gpu || !new_buffer(r, &r->view, sizeof(RenderView), message)) goto fail;
    if (r->n_outputs > 8) {
        message_fail(message, "%u outputs are more than 8", r->n_outputs);
        goto fail;
    }
    if (!pack_layers(r, net, message) || !pack_encoding(r, net, message)) goto fail;
    if (!pack_typed(r, precision, message)) goto fail;
    if (!choose_kernel(r, net, kernel, precision, message)) goto fail;
    return r;
fail:
    neural_renderer_free(r);
    return NULL;
}

bool neural_renderer_update(NeuralRenderer *r, const NeuralNetwork *net, char *message) {
    return pack_layers(r, net, message) && pack_encoding(r, net, message) &&
           pack_typed(r, r->precision, message);
}

void neural_renderer_free(NeuralRenderer *r) {
    if (!r) return;
    NeuralBuffer *const buffers[] = {r->layers, r->params, r->typed,     r->encoding,
                                     r->grid,   r->view,   r->positions, r->out};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) neural_buffer_release(buffers[i]);
    ig_kernel_release(r->pixels), ig_kernel_release(r->list);
    neural_gpu_free(r->gpu);
    free(r);
}

double neural_renderer_seconds(const NeuralRenderer *r) { return r->seconds; }

// One band: view.n positions into r->out.
static bool run_band(NeuralRenderer *r, const RenderView *view, bool from_list, char *message) {
    const NeuralBinding bindings[] = {{r->layers, 0},   {r->params, 0},
                                      {r->encoding, 0}, {r->grid, 0},
                                      {r->view, 0},     {r->positions ? r->positions : r->out, 0},
                                      {r->out, 0},      {r->typed, 0}};
    const size_t batch = r->batch ? r->batch : r->threads;
    size_t groups = (view->n + batch - 1) / batch;
    if (r->resident_bytes && groups > RESIDENT_AT_ONCE) groups = RESIDENT_AT_ONCE;
    memcpy(r->view->contents, view, sizeof *view);
    neural_buffer_wrote(r->view);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    neural_gpu_dispatch_with(r->gpu, from_list ? r->list : r->pixels, bindings,
                             sizeof bindings / sizeof *bindings, mtl_size_make(groups, 1, 1),
                             mtl_size_make(r->threads, 1, 1), r->resident_bytes);
    bool ok = neural_buffer_show(r->out, message) && neural_gpu_finish(r->gpu, message);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    r->seconds +=
        (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
    return ok;
}

static bool make_room(NeuralRenderer *r, size_t n, bool from_list, char *message) {
    const size_t size = r->resident_bytes && !from_list ? 1 : sizeof(float);
    size_t n_out = n * r->n_outputs * size, n_in = n * r->n_coordinates * sizeof(float);
    return new_buffer(r, &r->out, n_out, message) &&
           (!from_list || new_buffer(r, &r->positions, n_in, message));
}

// Where the unit square of the picture lies in a size of another shape, and what its points are to
// the network. axis 0 is x.
static void place_axis(RenderView *v, int axis, double n, double visible, NeuralCoordinates kind) {
    v->pixel_scale[axis] = (float)(1 / (n * visible));
    v->pixel_offset[axis] = (float)(-(0.5 - 0.5 * visible) / visible);
    double scale = 1, offset = 0, shown = n * visible;
    if (kind != NEURAL_PIXEL_CENTRES) { // the first and the last centre are the ends
        scale = shown > 1 ? shown / (shown - 1) : 0;
        offset = shown > 1 ? -0.5 / (shown - 1) : 0.5;
    }
    if (kind != NEURAL_UNIT_ENDS) scale *= 2, offset = offset * 2 - 1;
    v->scale[axis] = (float)scale;
    v->offset[axis] = (float)offset;
}

bool neural_renderer_image(NeuralRenderer *r, Image *image, uint32_t width, uint32_t height,
                           double aspect, char *message) {
    *image = (Image){0};
    if (r->n_outputs != 3 || r->n_coordinates != 2)
        return message_fail(message, "the network is not an image network");
    size_t n_pixels = (size_t)width * height, n_band = n_pixels < BAND ? n_pixels : BAND;
    if (!image_create(image, width, height, message)) return false;
    if (!make_room(r, n_band, false, message)) goto fail;
    RenderView view = {.width = width};
    double own = (double)width / height, visible[2] = {1, 1};
    if (aspect > 0 && own > aspect) visible[0] = aspect / own;
    if (aspect > 0 && own < aspect) visible[1] = own / aspect;
    // NGP files trained on pixel centres have them in the unit square.
    NeuralCoordinates kind = r->coordinates;
    place_axis(&view, 0, width, visible[0], kind);
    place_axis(&view, 1, height, visible[1], kind);
    if (r->model == NEURAL_INSTANT_NGP && kind == NEURAL_PIXEL_CENTRES)
        view.scale[0] = view.scale[1] = 1, view.offset[0] = view.offset[1] = 0;
    r->seconds = 0;
    const float *out = r->out->contents;
    for (size_t first = 0; first < n_pixels; first += n_band) {
        view.first = (uint32_t)first;
        view.n = (uint32_t)(n_pixels - first < n_band ? n_pixels - first : n_band);
        if (!run_band(r, &view, false, message)) goto fail;
        unsigned char *to = image->rgb + first * 3;
        if (r->resident_bytes) memcpy(to, out, (size_t)view.n * 3);
        for (size_t i = 0; !r->resident_bytes && i < (size_t)view.n * 3; i++) {
            float v = out[i] * 255 + 0.5f;
            to[i] = (unsigned char)(v >= 255 ? 255 : v > 0 ? v : 0); // NaN: 0
        }
    }
    return true;
fail:
    image_free(image);
    return false;
}

bool neural_renderer_points(NeuralRenderer *r, const float *positions, size_t n, float *outputs,
                            char *message) {
    size_t n_band = n < BAND ? n : BAND;
    r->seconds = 0;
    if (!n) return true;
    if (!make_room(r, n_band, true, message)) return false;
    for (size_t first = 0; first < n; first += n_band) {
        RenderView view = {.n = (uint32_t)(n - first < n_band ? n - first : n_band), .width = 1};
        memcpy(r->positions->contents, positions + first * r->n_coordinates,
               (size_t)view.n * r->n_coordinates * sizeof *positions);
        neural_buffer_wrote(r->positions);
        if (!run_band(r, &view, true, message)) return false;
        memcpy(outputs + first * r->n_outputs, r->out->contents,
               (size_t)view.n * r->n_outputs * sizeof *outputs);
    }
    return true;
}
