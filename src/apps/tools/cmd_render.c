// SPDX-License-Identifier: Apache-2.0
// cmd_render.c: `ingot render`: one draw into a picture. Follows a Metal program step by step:
// library, functions, arguments, targets, pipeline, encoder, commit, wait, files. --watch does it
// all again when a file has changed.
#include "image/image.h"
#include "base/array.h"
#include "apps/tools/render_int.h"
#include "base/outputs.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

// ---- One picture ----

static int open_functions(Render *r) {
    RenderOptions *o = r->o;
    show_logs(&o->source);
    r->library = load_library(r->device, &o->source, o->path, "render");
    if (!r->library) return EXIT_INPUT;
    size_t n;
    void *data = mtl_library_copy_data(r->library, &n);
    Blob *bytes = data ? blob_copy(data, n) : NULL;
    const char *why = "out of memory";
    r->data = bytes ? metallib_open(bytes, &why) : NULL;
    blob_release(bytes);
    mtl_free_data(data);
    if (!r->data) return complain(EXIT_INPUT, "render", "'%s': %s", o->path, why);
    static const MTLFunctionType types[] = {MTLFunctionTypeVertex, MTLFunctionTypeFragment};
    static const char *const whats[] = {"vertex function", "fragment function"};
    for (int s = 0; s < N_STAGES; s++) {
        if (!o->functions[s]) continue;
        FunctionQuery query = {.path = o->path,
                               .name = o->functions[s],
                               .what = whats[s],
                               .constants = &o->constants,
                               .optional = true};
        r->functions[s] = get_function(r->library, &query, "render");
        if (!r->functions[s]) return EXIT_INPUT;
        r->reflection[s] = rf_find_function(r->data->reflection, o->functions[s]);
        if (mtl_function_function_type(r->functions[s]) != types[s] || !r->reflection[s])
            return complain(EXIT_INPUT, "render", "'%s' is no %s", o->functions[s], whats[s]);
    }
    return EXIT_FINE;
}

static int make_pipeline(Render *r) {
    RenderOptions *o = r->o;
    MTLRenderPipelineDescriptor d = {.vertex_function = r->functions[VERTEX],
                                     .fragment_function = r->functions[FRAGMENT],
                                     .vertex_descriptor = r->has_vertices ? &r->vertices : NULL,
                                     .raster_sample_count = o->samples,
                                     .depth_attachment_pixel_format =
                                         o->depth ? MTLPixelFormatDepth32Float
                                                  : MTLPixelFormatInvalid};
    for (size_t i = 0; i < o->n_outputs; i++) {
        const RenderOutput *out = &o->outputs[i];
        if (out->depth) continue;
        d.color_attachments[out->color].pixel_format = out->format;
        if (out->format != MTLPixelFormatRGBA32Sint && out->format != MTLPixelFormatRGBA32Uint)
            render_blend(o, &d.color_attachments[out->color]);
    }
    MTLError *error = NULL;
    r->pipeline = mtl_device_new_render_pipeline_state(r->device, &d, &error);
    if (!r->pipeline)
        complain(EXIT_INPUT, "render", "%s",
                 error ? mtl_error_localized_description(error) : "no pipeline could be made");
    mtl_release(error);
    return r->pipeline ? EXIT_FINE : EXIT_INPUT;
}

static void set_arguments(const Render *r, MTLRenderCommandEncoder *e) {
    for (size_t i = 0; i < r->o->n_given; i++) {
        const Given *g = &r->o->given[i];
        if (g->used[VERTEX]) {
            size_t at = g->index[VERTEX];
            if (g->buffer) mtl_render_command_encoder_set_vertex_buffer(e, g->buffer, 0, at);
            if (g->texture) mtl_render_command_encoder_set_vertex_texture(e, g->texture, at);
            if (g->sampler) mtl_render_command_encoder_set_vertex_sampler_state(e, g->sampler, at);
        }
        if (g->used[FRAGMENT]) {
            size_t at = g->index[FRAGMENT];
            if (g->buffer) mtl_render_command_encoder_set_fragment_buffer(e, g->buffer, 0, at);
            if (g->texture) mtl_render_command_encoder_set_fragment_texture(e, g->texture, at);
            if (g->sampler)
                mtl_render_command_encoder_set_fragment_sampler_state(e, g->sampler, at);
        }
    }
    for (size_t i = 0; i < 16; i++) {
        if (r->sampler_slots[VERTEX][i])
            mtl_render_command_encoder_set_vertex_sampler_state(e, r->sampler, i);
        if (r->sampler_slots[FRAGMENT][i])
            mtl_render_command_encoder_set_fragment_sampler_state(e, r->sampler, i);
    }
}

static MTLRenderPassDescriptor describe_pass(const Render *r) {
    const RenderOptions *o = r->o;
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    MTLStoreAction store = o->samples > 1 ? MTLStoreActionMultisampleResolve : MTLStoreActionStore;
    bool nearer_is_more = o->depth_compare == MTLCompareFunctionGreater ||
                          o->depth_compare == MTLCompareFunctionGreaterEqual;
    pass.depth_attachment.texture = r->depth;
    pass.depth_attachment.clear_depth = nearer_is_more ? 0 : 1;
    for (size_t i = 0; i < o->n_outputs; i++) {
        const RenderOutput *out = &o->outputs[i];
        if (out->depth) {
            pass.depth_attachment.store_action = store;
            if (out->samples) pass.depth_attachment.resolve_texture = out->target;
            continue;
        }
        MTLRenderPassColorAttachmentDescriptor *c = &pass.color_attachments[out->color];
        c->texture = out->samples ? out->samples : out->target;
        c->resolve_texture = out->samples ? out->target : NULL;
        c->load_action = MTLLoadActionClear;
        c->store_action = store;
        c->clear_color = mtl_clear_color_make(o->clear[0], o->clear[1], o->clear[2], o->clear[3]);
    }
    return pass;
}

// The time on the device in seconds, or -1 (said why).
static double draw(const Render *r) {
    const RenderOptions *o = r->o;
    MTLRenderPassDescriptor pass = describe_pass(r);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(r->queue);
    MTLRenderCommandEncoder *e =
        commands ? mtl_command_buffer_render_command_encoder(commands, &pass) : NULL;
    double seconds = -1;
    if (!e) {
        complain(EXIT_INPUT, "render", "cannot encode (out of memory?)");
        goto done;
    }
    mtl_render_command_encoder_set_render_pipeline_state(e, r->pipeline);
    if (r->depth_state) mtl_render_command_encoder_set_depth_stencil_state(e, r->depth_state);
    mtl_render_command_encoder_set_cull_mode(e, o->cull);
    mtl_render_command_encoder_set_front_facing_winding(e, o->winding);
    if (o->lines) mtl_render_command_encoder_set_triangle_fill_mode(e, MTLTriangleFillModeLines);
    set_arguments(r, e);
    if (r->indices)
        mtl_render_command_encoder_draw_indexed_primitives_instanced(
            e, o->primitive, r->count,
            r->index_array.type->n_bytes == 2 ? MTLIndexTypeUInt16 : MTLIndexTypeUInt32, r->indices,
            0, o->instances, 0, 0);
    else
        mtl_render_command_encoder_draw_primitives_instanced(e, o->primitive, 0, r->count,
                                                             o->instances, 0);
    mtl_render_command_encoder_end_encoding(e);
    seconds = run_and_time(commands, "render", "drawing");
done:
    mtl_release(commands);
    return seconds;
}

static void report(const Render *r, double *times) {
    const RenderOptions *o = r->o;
    if (o->quiet) return;
    double ms = median(times, o->repeat) * 1e3;
    printf("%s: %zu x %zu, %zu vertices", o->outputs[0].path, o->width, o->height, r->count);
    if (o->instances > 1) printf(" x %zu", o->instances);
    printf(", %.3f ms", ms);
    if (o->repeat > 1) printf(" (median of %zu, best %.3f)", o->repeat, times[0] * 1e3);
    putchar('\n');
    fflush(stdout);
}

static int draw_picture(Render *r) {
    int status = open_functions(r);
    if (!status) status = render_bind(r);
    if (!status) status = render_targets(r);
    if (!status) status = make_pipeline(r);
    if (status) return status;
    double *times = must_alloc(r->o->repeat, sizeof *times);
    for (size_t i = 0; !status && i < r->o->repeat; i++)
        if ((times[i] = draw(r)) < 0) status = EXIT_INPUT;
    if (!status) status = render_write(r);
    if (!status) report(r, times);
    free(times);
    return status;
}

// ---- Watching ----

typedef struct Stamp { // of a file; zeros if it is not there
    struct timespec time;
    off_t size;
    ino_t node;
} Stamp;
typedef struct Watched {
    char **paths;
    Stamp *stamps;
    size_t n;
} Watched;

static Stamp stamp(const char *path) {
    struct stat st;
    return stat(path, &st) ? (Stamp){0} : (Stamp){st.st_mtim, st.st_size, st.st_ino};
}

static bool same(Stamp a, Stamp b) {
    return a.time.tv_sec == b.time.tv_sec && a.time.tv_nsec == b.time.tv_nsec && a.size == b.size &&
           a.node == b.node;
}

static void watch_file(Watched *w, const char *path) {
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->paths[i], path)) return;
    if (!array_more(&w->paths, w->n) || !array_more(&w->stamps, w->n) ||
        !(w->paths[w->n] = strdup(path)))
        return; // then it is not watched
    w->stamps[w->n++] = stamp(path);
}

// The shader and every file the command line names; #includes come with the first library.
static void watch_given(Watched *w, const RenderOptions *o) {
    watch_file(w, o->path);
    if (o->indices) watch_file(w, o->indices);
    for (size_t i = 0; i < o->n_given; i++) {
        char *list = strdup(o->given[i].text), *rest = list;
        for (char *one; rest && (one = strsep(&rest, ","));) {
            struct stat st;
            if (!stat(one, &st) && S_ISREG(st.st_mode)) watch_file(w, one);
        }
        free(list);
    }
}

// True if a file is another than when it was looked at last.
static bool changed(Watched *w) {
    bool any = false;
    for (size_t i = 0; i < w->n; i++) {
        Stamp now = stamp(w->paths[i]);
        if (same(now, w->stamps[i])) continue;
        w->stamps[i] = now;
        any = true;
    }
    return any;
}

static void watched_free(Watched *w) {
    for (size_t i = 0; i < w->n; i++) free(w->paths[i]);
    free(w->paths);
    free(w->stamps);
}

// Draws with everything made anew; `w` (or NULL) learns what the shader includes.
static int one_picture(RenderOptions *o, MTLDevice *device, MTLCommandQueue *queue, Watched *w) {
    Render r = {.o = o, .device = device, .queue = queue};
    int status = draw_picture(&r);
    for (uint32_t i = 0; w && r.data && i < r.data->n_files; i++)
        watch_file(w, r.data->files[i].path);
    render_unbind(&r);
    for (size_t i = 0; i < o->n_outputs; i++) {
        mtl_release(o->outputs[i].target), mtl_release(o->outputs[i].samples);
        o->outputs[i].target = o->outputs[i].samples = NULL;
    }
    mtl_release(r.pipeline), mtl_release(r.depth_state), mtl_release(r.depth);
    for (int s = 0; s < N_STAGES; s++) mtl_release(r.functions[s]);
    metallib_release(r.data);
    mtl_release(r.library);
    return status;
}

static int watch(RenderOptions *o, MTLDevice *device, MTLCommandQueue *queue) {
    enum { PAUSE_MS = 50 };
    Watched w = {0};
    watch_given(&w, o);
    const char *outputs[RENDER_COLORS + 1] = {NULL};
    for (size_t i = 0; i < o->n_outputs; i++) outputs[i] = o->outputs[i].path;
    char message[MESSAGE_BYTES]; // a result that is an input would be drawn for ever
    if (!outputs_check(outputs, o->n_outputs, (const char *const *)w.paths, w.n, message)) {
        watched_free(&w);
        return complain(EXIT_INPUT, "render", "%s", message);
    }
    for (;;) { // until Ctrl-C: files are written as a whole or not at all
        if (one_picture(o, device, queue, &w) == EXIT_USAGE) break;
        do {
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
        } while (!changed(&w));
    }
    watched_free(&w);
    return EXIT_USAGE;
}

int cmd_render(int argc, char **argv) {
    RenderOptions o;
    int status = render_options(argc, argv, &o);
    MTLDevice *device = NULL;
    MTLCommandQueue *queue = NULL;
    if (status != OPTIONS_GO_ON) goto done;
    status = EXIT_INPUT;
    const char *outputs[RENDER_COLORS + 1] = {NULL};
    for (size_t i = 0; i < o.n_outputs; i++) outputs[i] = o.outputs[i].path;
    char message[MESSAGE_BYTES];
    if (!outputs_check(outputs, o.n_outputs, &o.path, 1, message)) {
        complain(EXIT_INPUT, "render", "%s", message);
        goto done;
    }
    device = open_device("render");
    queue = device ? mtl_device_new_command_queue(device) : NULL;
    if (!queue) goto done;
    if (o.timeout_ms) mtl_device_set_timeout(device, o.timeout_ms);
    status = o.watch ? watch(&o, device, queue) : one_picture(&o, device, queue, NULL);
    status = check_reports(status, "render", o.path);
done:
    mtl_release(queue);
    render_options_free(&o);
    mtl_release(device);
    return status;
}
