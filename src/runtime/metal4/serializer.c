// SPDX-License-Identifier: Apache-2.0
// serializer.c: MTL4PipelineDataSetSerializer. It keeps the descriptors of the pipelines its
// compilers made; their code is collected when an archive is written, so that code for threadgroup
// shapes used by then is part of it (archive.c of program: adding is making while recording).
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "runtime/metal4/compiler_int.h"
#include "runtime/object/validation.h"
#include "runtime/program/library.h"
#include "runtime/program/render_pipeline.h"

struct MTL4PipelineDataSetSerializer {
    RtObject object;
    MTLDevice *device; // retained
    MTL4PipelineDataSetSerializerConfiguration configuration;
    pthread_mutex_t lock;
    RtResolved **noted; // under lock
    size_t n, capacity;
    bool incomplete;           // a descriptor was lost for want of memory; under lock
    MTLBinaryArchive *archive; // retained; stitched libraries are in it already
};

static void forget(MTL4PipelineDataSetSerializer *s) {
    for (size_t i = 0; i < s->n; i++) rt_resolved_free(s->noted[i]);
    s->n = 0;
}

static void serializer_destroy(void *self) {
    MTL4PipelineDataSetSerializer *s = self;
    forget(s);
    rt_free(s->noted);
    pthread_mutex_destroy(&s->lock);
    mtl_release(s->archive);
    mtl_release(s->device);
    rt_free(s);
}

RT_CLASS rt_serializer_class = {.name = "MTL4PipelineDataSetSerializer",
                                .destroy = serializer_destroy};

MTL4PipelineDataSetSerializer *mtl_device_new_pipeline_data_set_serializer(
    MTLDevice *device, const MTL4PipelineDataSetSerializerDescriptor *descriptor) {
    if (!rt_given(device, descriptor, "descriptor", __func__)) return NULL;
    if (descriptor->configuration & ~3u) {
        rt_misuse(device, RT_RULE_encoder_option, __func__, "configuration 0x%x",
                  descriptor->configuration);
        return NULL;
    }
    MTL4PipelineDataSetSerializer *s = rt_new(&rt_serializer_class, sizeof *s);
    if (!s) return NULL;
    s->device = mtl_retain(device);
    pthread_mutex_init(&s->lock, NULL);
    s->configuration = descriptor->configuration
                           ? descriptor->configuration
                           : MTL4PipelineDataSetSerializerConfigurationCaptureDescriptors;
    s->archive = mtl_device_new_binary_archive(device, NULL, NULL);
    if (s->archive) return s;
    mtl_release(s);
    return NULL;
}

void rt_serializer_note(MTL4PipelineDataSetSerializer *s, RtResolved *resolved) {
    pthread_mutex_lock(&s->lock);
    bool ok = rt_grow(&s->noted, &s->capacity, s->n + 1, sizeof *s->noted);
    if (ok)
        s->noted[s->n++] = resolved;
    else
        s->incomplete = true;
    pthread_mutex_unlock(&s->lock);
    if (!ok) rt_resolved_free(resolved);
}

Archive *rt_serializer_record(MTL4PipelineDataSetSerializer *s) {
    bool binaries =
        s && s->configuration & MTL4PipelineDataSetSerializerConfigurationCaptureBinaries;
    if (!binaries) return NULL;
    pthread_mutex_lock(&s->lock);
    Archive *content = archive_retain(s->archive->content);
    pthread_mutex_unlock(&s->lock);
    return content;
}

// Is it a serializer made for this?
static bool usable(MTL4PipelineDataSetSerializer *s, const void *argument,
                   MTL4PipelineDataSetSerializerConfiguration needs, const char *call,
                   MTLError **error) {
    if (error) *error = NULL;
    bool is_one = rt_is(s, &rt_serializer_class);
    if (is_one && argument && s->configuration & needs) return true;
    if (!is_one)
        rt_misuse(NULL, s ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
                  mtl_class_name(s));
    else if (!argument)
        rt_misuse(s->device, RT_RULE_null_argument, call, NULL);
    rt_error_set(error,
                 rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorUnexpectedElement,
                              "%s: %s.", call,
                              !is_one     ? "there is no serializer"
                              : !argument ? "a required argument is NULL"
                              : needs == MTL4PipelineDataSetSerializerConfigurationCaptureBinaries
                                  ? "the serializer was not made with CaptureBinaries"
                                  : "the serializer was not made with CaptureDescriptors"));
    return false;
}

// ---- The script: JSON in the manner of Metal's pipelines scripts ----

static void write_value(Text *t, const RtConstantValue *v) {
    text_add(t, "{");
    if (v->name) {
        text_add(t, "\"id_type\": \"FunctionConstantName\", \"id_value\": ");
        json_string(t, v->name);
    } else {
        text_printf(t, "\"id_type\": \"FunctionConstantIndex\", \"id_value\": %" PRIu32, v->index);
    }
    text_printf(t, ", \"value_type\": %" PRIu32 ", \"value\": \"", v->data_type);
    for (size_t i = 0; i < v->n_bytes; i++) text_printf(t, "%02x", v->data[i]);
    text_add(t, "\"}");
}

static void write_function(Text *t, const MTLFunction *f) {
    const MTLFunctionConstantValues *values = f->values;
    text_add(t, "{\"name\": ");
    json_string(t, f->function->name);
    text_add(t, ", \"library\": ");
    json_string(t, rt_label(&f->library->label));
    if (f->special_name) {
        text_add(t, ", \"specialized_name\": ");
        json_string(t, f->special_name);
    }
    for (size_t i = 0; values && i < values->n; i++) {
        text_add(t, i ? ", " : ", \"constant_values\": [");
        write_value(t, &values->values[i]);
    }
    text_add(t, values && values->n ? "]}" : "}");
}

static void write_list(Text *t, const char *stage, const char *name, MTLFunction *const *functions,
                       size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i)
            text_add(t, ", ");
        else
            text_printf(t, ",\n       \"%s%s\": [", stage, name);
        write_function(t, functions[i]);
    }
    if (n) text_add(t, "]");
}

static void write_links(Text *t, const char *stage, const MTLLinkedFunctions *l) {
    write_list(t, stage, "functions", l->functions, l->function_count);
    write_list(t, stage, "private_functions", l->private_functions, l->private_function_count);
    write_list(t, stage, "binary_functions", l->binary_functions, l->binary_function_count);
}

static void write_tile_pipeline(Text *t, const RtResolved *resolved) {
    text_add(t, "      {\"label\": ");
    json_string(t, resolved->label);
    text_add(t, ",\n       \"tile_function\": ");
    write_function(t, resolved->tile.tile_function);
    write_links(t, "", &resolved->links[0].linked);
    text_add(t, "}");
}

static void write_render_pipeline(Text *t, const RtResolved *resolved) {
    const MTLRenderPipelineDescriptor *d = &resolved->render;
    text_add(t, "      {\"label\": ");
    json_string(t, d->label);
    text_printf(t, ",\n       \"%s_function\": ", resolved->is_mesh ? "mesh" : "vertex");
    write_function(t, d->vertex_function);
    if (resolved->mesh.object_function) {
        text_add(t, ",\n       \"object_function\": ");
        write_function(t, resolved->mesh.object_function);
    }
    if (d->fragment_function) {
        text_add(t, ",\n       \"fragment_function\": ");
        write_function(t, d->fragment_function);
    }
    write_links(t, resolved->is_mesh ? "mesh_" : "vertex_", &resolved->links[0].linked);
    write_links(t, "fragment_", &resolved->links[1].linked);
    write_links(t, "object_", &resolved->links[2].linked);
    if (d->raster_sample_count)
        text_printf(t, ",\n       \"raster_sample_count\": %zu", d->raster_sample_count);
    text_add(t, ",\n       \"color_attachments\": [");
    const char *comma = "";
    for (int i = 0; i < 8; i++) {
        const MTL4RenderPipelineColorAttachmentDescriptor *c = &resolved->colors[i];
        if (!c->pixel_format) continue;
        text_printf(t, "%s{\"index\": %d, \"pixel_format\": %u, \"blending_state\": %d}", comma, i,
                    (unsigned)c->pixel_format, (int)c->blending_state);
        comma = ", ";
    }
    text_add(t, "]}");
}

static void write_pipeline(Text *t, const RtResolved *resolved) {
    const MTLComputePipelineDescriptor *d = &resolved->descriptor;
    const MTLSize required = d->required_threads_per_threadgroup;
    text_add(t, "      {\"label\": ");
    json_string(t, d->label);
    text_add(t, ",\n       \"compute_function\": ");
    write_function(t, d->compute_function);
    if (d->max_total_threads_per_threadgroup)
        text_printf(t, ",\n       \"max_total_threads_per_threadgroup\": %zu",
                    d->max_total_threads_per_threadgroup);
    if (required.width || required.height || required.depth)
        text_printf(t, ",\n       \"required_threads_per_threadgroup\": [%zu, %zu, %zu]",
                    required.width, required.height, required.depth);
    if (d->thread_group_size_is_multiple_of_thread_execution_width)
        text_add(t, ",\n       \"thread_group_size_is_multiple_of_thread_execution_width\": true");
    if (d->support_adding_binary_functions)
        text_add(t, ",\n       \"support_binary_linking\": true");
    if (d->support_indirect_command_buffers)
        text_add(t, ",\n       \"support_indirect_command_buffers\": true");
    write_links(t, "", &resolved->links[0].linked);
    text_add(t, "}");
}

void *mtl4_pipeline_data_set_serializer_serialize_as_pipelines_script(
    MTL4PipelineDataSetSerializer *serializer, size_t *length, MTLError **error) {
    if (length) *length = 0;
    if (!usable(serializer, length, MTL4PipelineDataSetSerializerConfigurationCaptureDescriptors,
                __func__, error))
        return NULL;
    Text t = {0};
    text_add(&t,
             "{\n  \"generator\": \"Ingot\",\n  \"pipelines\": {\n    \"compute_pipelines\": [");
    pthread_mutex_lock(&serializer->lock);
    const char *comma = "\n";
    for (size_t i = 0; i < serializer->n; i++) {
        if (serializer->noted[i]->is_render) continue;
        text_add(&t, comma);
        write_pipeline(&t, serializer->noted[i]);
        comma = ",\n";
    }
    comma = "\n    ],\n    \"render_pipelines\": [\n";
    for (size_t i = 0; i < serializer->n; i++) {
        if (!serializer->noted[i]->is_render) continue;
        text_add(&t, comma);
        if (serializer->noted[i]->is_tile)
            write_tile_pipeline(&t, serializer->noted[i]);
        else
            write_render_pipeline(&t, serializer->noted[i]);
        comma = ",\n";
    }
    bool complete = !serializer->incomplete;
    pthread_mutex_unlock(&serializer->lock);
    text_add(&t, "\n    ]\n  }\n}\n");
    void *copy = complete && !t.failed ? malloc(t.n_bytes + 1) : NULL;
    if (copy) {
        memcpy(copy, t.data, t.n_bytes);
        *length = t.n_bytes;
    } else {
        rt_error_set(error, NULL);
    }
    text_free(&t);
    return copy;
}

// ---- The archive ----

static bool add_noted(MTL4PipelineDataSetSerializer *s, const RtResolved *r, MTLError **error) {
    RtLinkWish wishes[3];
    RtRenderExtra extra;
    if (r->is_tile) return rt_tile_pipeline_record(s->device, &r->tile, s->archive->content, error);
    rt_resolved_extra(r, &extra, wishes);
    return r->is_render ? rt_render_pipeline_record(s->device, &r->render, &extra,
                                                    s->archive->content, error)
                        : mtl_binary_archive_add_compute_pipeline_functions(s->archive,
                                                                            &r->descriptor, error);
}

bool mtl4_pipeline_data_set_serializer_serialize_as_archive_and_flush_to_url(
    MTL4PipelineDataSetSerializer *serializer, const char *path, MTLError **error) {
    if (!usable(serializer, path, MTL4PipelineDataSetSerializerConfigurationCaptureBinaries,
                __func__, error))
        return false;
    pthread_mutex_lock(&serializer->lock);
    bool ok = !serializer->incomplete;
    if (!ok) rt_error_set(error, NULL);
    for (size_t i = 0; ok && i < serializer->n; i++)
        ok = add_noted(serializer, serializer->noted[i], error);
    ok = ok && mtl_binary_archive_serialize_to_url(serializer->archive, path, error);
    if (ok) {
        MTLBinaryArchive *fresh = mtl_device_new_binary_archive(serializer->device, NULL, NULL);
        forget(serializer);
        if (fresh) { // else the next one holds these pipelines too
            mtl_release(serializer->archive);
            serializer->archive = fresh;
        }
    }
    pthread_mutex_unlock(&serializer->lock);
    return ok;
}
