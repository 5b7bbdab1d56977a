// SPDX-License-Identifier: Apache-2.0
// play_run.c: one run of a playground's program: a dispatch of a kernel, or a picture: a fragment
// function over everything, a draw, or a draw of meshes. Pipelines are kept with the program, so
// that the frames of an animation make nothing but what changes.
#include "apps/tools/play_int.h"
#include "base/array.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A run under way.
typedef struct Run {
    PlaySession *s;
    PlayProgram *p;
    const PlaySettings *o;
    PlayResult *result;
    const RfFunction *functions[PLAY_STAGES];
    PlayBinding binding;
    PlayPipeline *pipeline;
} Run;

static bool failed(Run *run, char *why) {
    if (!run->result->error)
        run->result->error = why ? why : strdup("out of memory");
    else
        free(why);
    return false;
}

// ---- Which functions ----

static const RfFunction *first_of(const RfLibrary *rf, RfStage stage) {
    for (uint32_t i = 0; i < rf->n_functions; i++)
        if (rf->functions[i].stage == stage) return &rf->functions[i];
    return NULL;
}

// The function of a name, or, of none, the first of its stage.
static bool choose(Run *run, PlayStage which, RfStage stage, const char *what, bool needed) {
    const RfLibrary *rf = run->p->data->reflection;
    const char *name = run->o->functions[which];
    const RfFunction *f = *name ? rf_find_function(rf, name) : first_of(rf, stage);
    if (*name && (!f || f->stage != stage))
        return failed(run, text_format("no %s '%s'", what, name));
    if (!f && needed) return failed(run, text_format("no %s", what));
    run->functions[which] = f;
    return true;
}

static bool find_functions(Run *run) {
    const RfLibrary *rf = run->p->data->reflection;
    const char *name = run->o->functions[PLAY_FUNCTION];
    const RfFunction *f = *name ? rf_find_function(rf, name) : first_of(rf, RF_FRAGMENT);
    if (!f && !*name) f = first_of(rf, RF_KERNEL);
    if (!f)
        return failed(run, *name ? text_format("no function '%s'", name)
                                 : text_format("no kernel and no fragment function"));
    run->functions[PLAY_FUNCTION] = f;
    if (f->stage == RF_KERNEL) return true;
    if (f->stage != RF_FRAGMENT)
        return failed(run,
                      text_format("'%s' is neither a kernel nor a fragment function", f->name));
    if (!choose(run, PLAY_MESH, RF_MESH, "mesh function", false)) return false;
    if (run->functions[PLAY_MESH])
        return choose(run, PLAY_OBJECT, RF_OBJECT, "object function", false);
    return choose(run, PLAY_VERTEX, RF_VERTEX, "vertex function", false);
}

// ---- Pipelines ----

static MTLFunction *open_function(Run *run, PlayStage stage) {
    const RfFunction *f = run->functions[stage];
    if (stage == PLAY_VERTEX && !f) return mtl_library_new_function(run->s->own, "picture_point");
    return f ? mtl_library_new_function(run->p->library, f->name) : NULL;
}

static void make_render(Run *run, MTLFunction *const f[PLAY_STAGES], PlayPipeline *made,
                        MTLError **error) {
    MTLShaderValidation check = run->o->unchecked && run->s->isolated ? MTLShaderValidationDisabled
                                                                      : MTLShaderValidationEnabled;
    MTLPixelFormat depth = run->o->depth ? MTLPixelFormatDepth32Float : MTLPixelFormatInvalid;
    if (f[PLAY_MESH])
        made->render = mtl_device_new_render_pipeline_state_with_mesh_descriptor(
            run->s->device,
            &(MTLMeshRenderPipelineDescriptor){.object_function = f[PLAY_OBJECT],
                                               .mesh_function = f[PLAY_MESH],
                                               .fragment_function = f[PLAY_FUNCTION],
                                               .color_attachments[0].pixel_format =
                                                   MTLPixelFormatRGBA8Unorm,
                                               .depth_attachment_pixel_format = depth,
                                               .shader_validation = check},
            error);
    else
        made->render = mtl_device_new_render_pipeline_state(
            run->s->device,
            &(MTLRenderPipelineDescriptor){.vertex_function = f[PLAY_VERTEX],
                                           .fragment_function = f[PLAY_FUNCTION],
                                           .color_attachments[0].pixel_format =
                                               MTLPixelFormatRGBA8Unorm,
                                           .depth_attachment_pixel_format = depth,
                                           .shader_validation = check},
            error);
}

static bool make_pipeline(Run *run, PlayPipeline *made) {
    MTLFunction *f[PLAY_STAGES];
    MTLError *error = NULL;
    bool kernel = run->functions[PLAY_FUNCTION]->stage == RF_KERNEL;
    for (int i = 0; i < PLAY_STAGES; i++)
        f[i] = kernel && i != PLAY_FUNCTION ? NULL : open_function(run, (PlayStage)i);
    if (kernel)
        made->compute = mtl_device_new_compute_pipeline_state_with_descriptor(
            run->s->device,
            &(MTLComputePipelineDescriptor){.compute_function = f[PLAY_FUNCTION],
                                            .shader_validation =
                                                run->o->unchecked && run->s->isolated
                                                    ? MTLShaderValidationDisabled
                                                    : MTLShaderValidationEnabled},
            0, NULL, &error);
    else
        make_render(run, f, made, &error);
    for (int i = 0; i < PLAY_STAGES; i++) mtl_release(f[i]);
    if (!made->compute && !made->render)
        failed(run, text_format("%s", error ? mtl_error_localized_description(error)
                                            : "no pipeline could be made"));
    mtl_release(error);
    return made->compute || made->render;
}

static bool find_pipeline(Run *run) {
    Text t = {0};
    for (int i = 0; i < PLAY_STAGES; i++)
        text_printf(&t, "%s|", run->functions[i] ? run->functions[i]->name : "");
    text_printf(&t, "%d%d", run->o->depth, run->o->unchecked);
    char *key = text_take(&t);
    PlayProgram *p = run->p;
    for (size_t i = 0; key && i < p->n_pipelines; i++)
        if (!strcmp(p->pipelines[i].key, key)) {
            free(key);
            run->pipeline = &p->pipelines[i];
            return true;
        }
    if (!key || !array_more(&p->pipelines, p->n_pipelines)) {
        free(key);
        return failed(run, NULL);
    }
    PlayPipeline made = {.key = key};
    if (!make_pipeline(run, &made)) {
        free(key);
        return false;
    }
    run->pipeline = &p->pipelines[p->n_pipelines];
    p->pipelines[p->n_pipelines++] = made;
    return true;
}

// ---- Commands ----

static void set_compute(const Run *run, MTLComputeCommandEncoder *e) {
    for (size_t i = 0; i < run->binding.n; i++) {
        const PlayBound *b = &run->binding.items[i];
        if (b->buffer) mtl_compute_command_encoder_set_buffer(e, b->buffer, 0, b->arg->index);
        if (b->texture) mtl_compute_command_encoder_set_texture(e, b->texture, b->arg->index);
        if (b->sampler)
            mtl_compute_command_encoder_set_sampler_state(e, run->s->sampler, b->arg->index);
        if (b->threadgroup)
            mtl_compute_command_encoder_set_threadgroup_memory_length(e, b->threadgroup,
                                                                      b->arg->index);
    }
}

static void set_render(const Run *run, MTLRenderCommandEncoder *e) {
    static const struct {
        void (*buffer)(MTLRenderCommandEncoder *, MTLBuffer *, size_t, size_t);
        void (*texture)(MTLRenderCommandEncoder *, MTLTexture *, size_t);
        void (*sampler)(MTLRenderCommandEncoder *, MTLSamplerState *, size_t);
    } set[PLAY_STAGES] = {
        [PLAY_FUNCTION] = {mtl_render_command_encoder_set_fragment_buffer,
                           mtl_render_command_encoder_set_fragment_texture,
                           mtl_render_command_encoder_set_fragment_sampler_state},
        [PLAY_VERTEX] = {mtl_render_command_encoder_set_vertex_buffer,
                         mtl_render_command_encoder_set_vertex_texture,
                         mtl_render_command_encoder_set_vertex_sampler_state},
        [PLAY_OBJECT] = {mtl_render_command_encoder_set_object_buffer,
                         mtl_render_command_encoder_set_object_texture,
                         mtl_render_command_encoder_set_object_sampler_state},
        [PLAY_MESH] = {mtl_render_command_encoder_set_mesh_buffer,
                       mtl_render_command_encoder_set_mesh_texture,
                       mtl_render_command_encoder_set_mesh_sampler_state},
    };
    for (size_t i = 0; i < run->binding.n; i++) {
        const PlayBound *b = &run->binding.items[i];
        if (b->buffer) set[b->stage].buffer(e, b->buffer, 0, b->arg->index);
        if (b->texture) set[b->stage].texture(e, b->texture, b->arg->index);
        if (b->sampler) set[b->stage].sampler(e, run->s->sampler, b->arg->index);
    }
}

// The texture that the session keeps, if it is as large as the picture.
static bool target(Run *run, MTLTexture **texture, MTLPixelFormat format) {
    const PlaySettings *o = run->o;
    if (*texture && mtl_texture_width(*texture) == o->width &&
        mtl_texture_height(*texture) == o->height)
        return true;
    mtl_release(*texture);
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(format, o->width, o->height, false);
    d.usage = MTLTextureUsageRenderTarget;
    *texture = mtl_device_new_texture(run->s->device, &d);
    return *texture ||
           failed(run, text_format("cannot create an image of %zu x %zu", o->width, o->height));
}

static MTLSize size_or(const size_t given[3], size_t width) {
    return given[0] ? mtl_size_make(given[0], given[1], given[2]) : mtl_size_make(width, 1, 1);
}

static bool draw(Run *run, MTLCommandBuffer *commands) {
    const PlaySettings *o = run->o;
    PlaySession *s = run->s;
    if (!target(run, &s->color, MTLPixelFormatRGBA8Unorm) ||
        (o->depth && !target(run, &s->depth, MTLPixelFormatDepth32Float)))
        return false;
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = s->color;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].clear_color =
        mtl_clear_color_make(o->clear[0], o->clear[1], o->clear[2], o->clear[3]);
    if (o->depth) pass.depth_attachment.texture = s->depth;
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    if (!e) return failed(run, NULL);
    mtl_render_command_encoder_set_render_pipeline_state(e, run->pipeline->render);
    if (o->depth) mtl_render_command_encoder_set_depth_stencil_state(e, s->depth_state);
    mtl_render_command_encoder_set_cull_mode(e, o->cull);
    mtl_render_command_encoder_set_front_facing_winding(e, MTLWindingCounterClockwise);
    if (o->wireframe)
        mtl_render_command_encoder_set_triangle_fill_mode(e, MTLTriangleFillModeLines);
    set_render(run, e);
    bool own = !run->functions[PLAY_VERTEX];
    if (run->functions[PLAY_MESH])
        mtl_render_command_encoder_draw_mesh_threadgroups(
            e, mtl_size_make(o->grid[0], o->grid[1], o->grid[2]), size_or(o->object_group, 1),
            size_or(o->group, 32));
    else
        mtl_render_command_encoder_draw_primitives_instanced(
            e, own ? MTLPrimitiveTypeTriangle : o->primitive, 0, own ? 3 : o->vertices,
            own ? 1 : o->instances, 0);
    mtl_render_command_encoder_end_encoding(e);
    return true;
}

static MTLSize group_of(const Run *run) {
    const PlaySettings *o = run->o;
    MTLSize grid = mtl_size_make(o->grid[0], o->grid[1], o->grid[2]);
    if (o->group[0]) return mtl_size_make(o->group[0], o->group[1], o->group[2]);
    return default_group(run->pipeline->compute, grid);
}

static bool dispatch(Run *run, MTLCommandBuffer *commands) {
    const PlaySettings *o = run->o;
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    if (!e) return failed(run, NULL);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, run->pipeline->compute);
    set_compute(run, e);
    mtl_compute_command_encoder_dispatch_threads(
        e, mtl_size_make(o->grid[0], o->grid[1], o->grid[2]), group_of(run));
    mtl_compute_command_encoder_end_encoding(e);
    return true;
}

// ---- Results ----

static PlayOutput *output(Run *run, const char *name, size_t n_bytes) {
    PlayResult *r = run->result;
    if (r->n_outputs == PLAY_OUTPUTS) return NULL;
    PlayOutput *out = &r->outputs[r->n_outputs];
    *out = (PlayOutput){.data = malloc(n_bytes), .n_bytes = n_bytes};
    snprintf(out->name, sizeof out->name, "%s", name);
    if (out->data) r->n_outputs++;
    return out->data ? out : NULL;
}

static void fetch_picture(Run *run, MTLTexture *texture, const char *name) {
    size_t width = mtl_texture_width(texture), height = mtl_texture_height(texture);
    PlayOutput *out = output(run, name, width * height * 4);
    if (!out) return;
    out->picture = out->written = true;
    out->width = width, out->height = height;
    mtl_texture_get_bytes(texture, out->data, width * 4, mtl_region_make_2d(0, 0, width, height),
                          0);
}

static void fetch(Run *run) {
    if (run->pipeline->render) fetch_picture(run, run->s->color, "picture");
    const RfLibrary *rf = run->p->data->reflection;
    for (size_t i = 0; i < run->binding.n; i++) {
        const PlayBound *b = &run->binding.items[i];
        if (b->texture && rf->types[b->arg->type].access != RF_READ_ONLY)
            fetch_picture(run, b->texture, b->arg->name);
        // The frames of an animation are not to carry what nobody looks at.
        if (!b->buffer || b->arg->space == RF_CONSTANT || run->pipeline->render) continue;
        PlayOutput *out = output(run, b->arg->name, mtl_buffer_length(b->buffer));
        if (!out) continue;
        out->type = b->arg->type;
        out->written = b->arg->access != RF_READ_ONLY;
        memcpy(out->data, mtl_buffer_contents(b->buffer), out->n_bytes);
    }
}

static void fetch_logs(Run *run, const MTLCommandBuffer *commands) {
    PlaySession *s = run->s;
    pthread_mutex_lock(&s->log_lock);
    for (size_t i = 0; i < mtl_command_buffer_log_count(commands) && i < 32; i++) {
        const MTLFunctionLog *log = mtl_command_buffer_log(commands, i);
        text_printf(&s->log, "%s\n", mtl_function_log_description(log));
    }
    run->result->log = text_take(&s->log);
    pthread_mutex_unlock(&s->log_lock);
}

static void execute(Run *run) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(run->s->queue);
    bool ok = commands && (run->pipeline->compute ? dispatch(run, commands) : draw(run, commands));
    if (ok) {
        mtl_command_buffer_commit(commands);
        mtl_command_buffer_wait_until_completed(commands);
        run->result->seconds =
            mtl_command_buffer_gpu_end_time(commands) - mtl_command_buffer_gpu_start_time(commands);
        fetch_logs(run, commands);
        if (mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted) {
            fetch(run);
        } else {
            MTLError *error = mtl_command_buffer_error(commands);
            failed(run, text_format("%s", mtl_error_localized_description(error)));
            run->result->lost = mtl_error_code(error) == MTLCommandBufferErrorDeviceRemoved;
        }
    } else {
        failed(run, NULL);
    }
    mtl_release(commands);
}

void play_run(PlaySession *s, PlayProgram *program, const PlaySettings *settings,
              PlayResult *result) {
    Run run = {.s = s, .p = program, .o = settings, .result = result};
    size_t grid = settings->grid[0] * settings->grid[1] * settings->grid[2];
    *result = (PlayResult){0};
    if (grid > (size_t)1 << 26)
        failed(&run, text_format("a grid of %zu threads is too large here", grid));
    else if (find_functions(&run) && find_pipeline(&run)) {
        bool kernel = run.pipeline->compute;
        MTLSize group = kernel ? group_of(&run) : mtl_size_make(1, 1, 1);
        char *why = NULL;
        for (int i = 0; i < PLAY_STAGES && !why; i++)
            why = play_bind(s, program->data->reflection, settings, run.functions[i], (PlayStage)i,
                            kernel ? grid : settings->vertices,
                            group.width * group.height * group.depth, &run.binding);
        if (why)
            failed(&run, why);
        else
            execute(&run);
    }
    play_unbind(&run.binding);
    if (result->lost) play_session_lose(s);
}

void play_result_free(PlayResult *r) {
    for (size_t i = 0; i < r->n_outputs; i++) free(r->outputs[i].data);
    free(r->error);
    free(r->log);
    *r = (PlayResult){0};
}
