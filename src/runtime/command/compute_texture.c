// SPDX-License-Identifier: Apache-2.0
// compute_texture.c: textures and samplers of compute encoders: binding them, and the rules a
// dispatch holds them to.
#include <math.h>
#include "runtime/command/compute_validate.h"
#include "runtime/command/argument_table.h"

static RtSite site_of(const MTLComputeCommandEncoder *e, const char *call) {
    return (RtSite){e->encoder.buffer->device, e->encoder.buffer, call};
}

static bool valid_range(MTLComputeCommandEncoder *e, const char *call, const void *array,
                        MTLRange range, size_t max, RtRule rule) {
    const RtSite site = site_of(e, call);
    if (!array && range.length > 0) {
        rt_misuse_at(&site, RT_RULE_null_argument, "the array");
        return false;
    }
    if (range.length <= max && range.location <= max - range.length) return true;
    rt_misuse_at(&site, rule, "%zu from %zu on", range.length, range.location);
    return false;
}

// ---- Binding ----

static void set_texture(MTLComputeCommandEncoder *e, const char *call, MTLTexture *texture,
                        size_t index) {
    const RtSite site = site_of(e, call);
    if (index >= RT_MAX_TEXTURES) {
        rt_misuse_at(&site, RT_RULE_texture_index, "index %zu", index);
        return;
    }
    if (!texture)
        e->textures[index] = NULL;
    else if (rt_is_texture(&site, texture, "texture") &&
             rt_cb_use(e->encoder.buffer, &texture->resource, false))
        e->textures[index] = texture;
}

void mtl_compute_command_encoder_set_texture(MTLComputeCommandEncoder *encoder, MTLTexture *texture,
                                             size_t index) {
    if (rt_valid_encoder(encoder, __func__)) set_texture(encoder, __func__, texture, index);
}

void mtl_compute_command_encoder_set_textures(MTLComputeCommandEncoder *encoder,
                                              MTLTexture *const *textures, MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__) ||
        !valid_range(encoder, __func__, textures, range, RT_MAX_TEXTURES, RT_RULE_texture_index))
        return;
    for (size_t i = 0; i < range.length; i++)
        set_texture(encoder, __func__, textures[i], range.location + i);
}

// clamps: NULL, or the lowest and highest level of detail instead of the sampler's own.
static void set_sampler(MTLComputeCommandEncoder *e, const char *call, MTLSamplerState *sampler,
                        const float *clamps, size_t index) {
    const RtSite site = site_of(e, call);
    if (index >= RT_MAX_SAMPLERS) {
        rt_misuse_at(&site, RT_RULE_sampler_index, "index %zu", index);
        return;
    }
    if (!sampler) {
        e->samplers[index] = NULL;
        return;
    }
    if (!rt_is(sampler, &rt_sampler_class)) {
        rt_misuse_at(&site, RT_RULE_wrong_class, "a %s, not a MTLSamplerState",
                     mtl_class_name(sampler));
        return;
    }
    if (clamps && (!(clamps[0] >= 0) || !(clamps[1] >= clamps[0]))) {
        rt_misuse_at(&site, RT_RULE_sampler_value, "LOD clamps %g and %g, sampler '%s'",
                     (double)clamps[0], (double)clamps[1], rt_label(&sampler->label));
        return;
    }
    if (!clamps) {
        if (rt_cb_retain(e->encoder.buffer, sampler)) e->samplers[index] = sampler;
        return;
    }
    MTLSamplerState *own = rt_sampler_clamped(sampler, clamps);
    if (!own)
        rt_cb_no_memory(e->encoder.buffer);
    else if (rt_cb_hold(e->encoder.buffer, own))
        e->samplers[index] = own;
    mtl_release(own);
}

void mtl_compute_command_encoder_set_sampler_state(MTLComputeCommandEncoder *encoder,
                                                   MTLSamplerState *sampler, size_t index) {
    if (rt_valid_encoder(encoder, __func__)) set_sampler(encoder, __func__, sampler, NULL, index);
}

void mtl_compute_command_encoder_set_sampler_states(MTLComputeCommandEncoder *encoder,
                                                    MTLSamplerState *const *samplers,
                                                    MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__) ||
        !valid_range(encoder, __func__, samplers, range, RT_MAX_SAMPLERS, RT_RULE_sampler_index))
        return;
    for (size_t i = 0; i < range.length; i++)
        set_sampler(encoder, __func__, samplers[i], NULL, range.location + i);
}

void mtl_compute_command_encoder_set_sampler_state_with_lod_clamps(
    MTLComputeCommandEncoder *encoder, MTLSamplerState *sampler, float lod_min_clamp,
    float lod_max_clamp, size_t index) {
    const float clamps[2] = {lod_min_clamp, lod_max_clamp};
    if (rt_valid_encoder(encoder, __func__)) set_sampler(encoder, __func__, sampler, clamps, index);
}

void mtl_compute_command_encoder_set_sampler_states_with_lod_clamps(
    MTLComputeCommandEncoder *encoder, MTLSamplerState *const *samplers,
    const float *lod_min_clamps, const float *lod_max_clamps, MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__) ||
        !valid_range(encoder, __func__, samplers, range, RT_MAX_SAMPLERS, RT_RULE_sampler_index) ||
        !valid_range(encoder, __func__, lod_min_clamps, range, RT_MAX_SAMPLERS,
                     RT_RULE_sampler_index) ||
        !valid_range(encoder, __func__, lod_max_clamps, range, RT_MAX_SAMPLERS,
                     RT_RULE_sampler_index))
        return;
    for (size_t i = 0; i < range.length; i++) {
        const float clamps[2] = {lod_min_clamps[i], lod_max_clamps[i]};
        set_sampler(encoder, __func__, samplers[i], clamps, range.location + i);
    }
}

// ---- Rules of a dispatch ----

// The texture type of an argument, also of an array of them; NULL if reflection does not say.
static const RfType *texture_type(const RfLibrary *lib, uint32_t type) {
    while (type < lib->n_types && lib->types[type].data_type == MTLDataTypeArray)
        type = lib->types[type].element;
    return type < lib->n_types && lib->types[type].data_type == MTLDataTypeTexture
               ? &lib->types[type]
               : NULL;
}

typedef enum Components { FLOATS, INTS, UINTS } Components;

static Components components_of_argument(const RfLibrary *lib, const RfType *type) {
    switch (type->element < lib->n_types ? lib->types[type->element].data_type
                                         : (uint32_t)MTLDataTypeFloat) {
    case MTLDataTypeInt:
    case MTLDataTypeShort:
    case MTLDataTypeLong:
    case MTLDataTypeChar: return INTS;
    case MTLDataTypeUInt:
    case MTLDataTypeUShort:
    case MTLDataTypeULong:
    case MTLDataTypeUChar: return UINTS;
    default: return FLOATS;
    }
}

static Components components_of_format(const AbiPixelFormat *f) {
    return f->kind == ABI_KIND_UINT ? UINTS : f->kind == ABI_KIND_SINT ? INTS : FLOATS;
}

// What is bound at an index: a texture, or, in Metal 4, an id.
typedef struct Bound {
    uint64_t handle;           // 0: nothing
    const AbiTexture *record;  // NULL: an id that nobody has looked up
    const MTLTexture *texture; // NULL: likewise, or a view of a pool
} Bound;

static void visit_texture(const RtSpan *span, void *context) {
    Bound *bound = context;
    if (!rt_is(span->resource, &rt_texture_class)) return;
    const MTLTexture *texture = (const MTLTexture *)(const void *)span->resource;
    if (texture->handle.value != bound->handle) return;
    bound->texture = texture;
    bound->record = &texture->record;
}

static Bound bound_of(const MTLDevice *device, uint64_t id, bool look) {
    Bound bound = {.handle = id};
    if (!id) return bound;
    if (id & ABI_TEXTURE_POOLED) {
        bound.record = device->table->view_at(device->context, id);
        return bound.record ? bound : (Bound){0};
    }
    if (look) rt_span_find((const void *)(uintptr_t)id, visit_texture, &bound);
    return bound;
}

// An id may be anything: only the debug layer pays for finding its texture. Kernels are left by a
// fault if it is none.
static Bound bound_at(const MTLComputeCommandEncoder *e, size_t index) {
    if (!e->by_table) {
        const MTLTexture *texture = index < RT_MAX_TEXTURES ? e->textures[index] : NULL;
        return texture ? (Bound){texture->handle.value, &texture->record, texture} : (Bound){0};
    }
    return bound_of(e->encoder.buffer->device, rt_table_texture(e->table, index),
                    e->encoder.buffer->notes_resources);
}

static const char *name_of(const Bound *bound, char *text) {
    return bound->texture ? rt_texture_name(bound->texture, text) : "of a view pool";
}

static bool valid_texture(const RtSite *site, const RfLibrary *lib, const RfArg *arg,
                          const RfType *type, const Bound *texture, const char *kernel) {
    static const char *const kinds[] = {"float", "int", "uint"};
    const AbiTexture *t = texture->record;
    if (!t) {
        rt_misuse_at(site, RT_RULE_metal4_resource_id, "0x%llx for '%s' of '%s' is no texture",
                     (unsigned long long)texture->handle, arg->name, kernel);
        return false;
    }
    const AbiPixelFormat *f = t->format;
    const MTLTextureUsage usage = texture->texture ? texture->texture->usage : 0;
    char name[RT_TEXTURE_NAME];
    if (type->texture_type != t->type) {
        rt_misuse_at(site, RT_RULE_dispatch_texture_type, "'%s' of '%s' is %s, texture %s",
                     arg->name, kernel, rt_texture_type_name(type->texture_type),
                     name_of(texture, name));
        return false;
    }
    Components wanted = components_of_argument(lib, type);
    if (wanted != components_of_format(f) || (type->depth && !(f->caps & ABI_FORMAT_DEPTH))) {
        rt_misuse_at(site, RT_RULE_dispatch_texture_component, "'%s' of '%s' has %s%s, texture %s",
                     arg->name, kernel, type->depth ? "depth as " : "", kinds[wanted],
                     name_of(texture, name));
        return false;
    }
    bool reads = arg->access != RF_WRITE_ONLY, writes = arg->access != RF_READ_ONLY;
    MTLTextureUsage needs =
        (reads ? MTLTextureUsageShaderRead : 0u) | (writes ? MTLTextureUsageShaderWrite : 0u);
    // Swizzled textures cannot be written, whatever their parent's usage.
    if ((usage != 0 && needs & ~usage) || (writes && t->swizzled)) {
        rt_misuse_at(site, RT_RULE_dispatch_texture_usage,
                     "'%s' of '%s' needs 0x%x, texture %s has 0x%x%s", arg->name, kernel, needs,
                     name_of(texture, name), usage, t->swizzled ? " and a swizzle" : "");
        return false;
    }
    unsigned caps = reads && writes ? ABI_FORMAT_READ_WRITE
                    : writes        ? ABI_FORMAT_WRITE
                                    : ABI_FORMAT_READ;
    if (!(f->caps & caps)) {
        rt_misuse_at(site, RT_RULE_dispatch_texture_access, "'%s' of '%s' is %s, texture %s",
                     arg->name, kernel,
                     reads && writes ? "read_write"
                     : writes        ? "write"
                                     : "read",
                     name_of(texture, name));
        return false;
    }
    return true;
}

bool rt_valid_texture_for(const RtSite *site, const RfLibrary *lib, const RfArg *arg,
                          const MTLTexture *texture, const char *function) {
    const RfType *type = texture_type(lib, arg->type);
    const Bound bound = {texture->handle.value, &texture->record, texture};
    return !type || valid_texture(site, lib, arg, type, &bound, function);
}

bool rt_valid_texture_id(const RtSite *site, const RfLibrary *lib, const RfArg *arg, uint64_t id,
                         const char *function, MTLTexture **texture) {
    const RfType *type = texture_type(lib, arg->type);
    const Bound bound = bound_of(site->device, id, true);
    *texture = (MTLTexture *)(uintptr_t)bound.texture;
    return !type || valid_texture(site, lib, arg, type, &bound, function);
}

bool rt_valid_texture_arg(MTLComputeCommandEncoder *e, const char *call, const RfArg *arg,
                          bool required) {
    const RtSite site = site_of(e, call);
    const RfLibrary *lib = rt_pipeline_library(e->pipeline);
    const char *kernel = rt_pipeline_function(e->pipeline)->name;
    const RfType *type = texture_type(lib, arg->type);
    for (uint32_t k = 0; k < arg->count; k++) {
        size_t index = (size_t)arg->index + k;
        const Bound texture = bound_at(e, index);
        if (texture.handle) {
            bool known = texture.record || e->encoder.buffer->notes_resources;
            if (type && known && !valid_texture(&site, lib, arg, type, &texture, kernel))
                return false;
        } else if (required && arg->count == 1) { // arrays may have gaps: they read as zero
            rt_misuse_at(&site, RT_RULE_dispatch_missing_texture,
                         "'%s' needs a texture at index %zu for '%s'", kernel, index, arg->name);
            return false;
        }
    }
    return true;
}

static uint64_t sampler_at(const MTLComputeCommandEncoder *e, size_t index) {
    if (e->by_table) return rt_table_sampler(e->table, index);
    const MTLSamplerState *sampler = index < RT_MAX_SAMPLERS ? e->samplers[index] : NULL;
    return sampler ? sampler->handle.value : 0;
}

bool rt_valid_sampler_arg(MTLComputeCommandEncoder *e, const char *call, const RfArg *arg,
                          bool required) {
    const RtSite site = site_of(e, call);
    if (!required || arg->count != 1) return true;
    if (sampler_at(e, arg->index)) return true;
    rt_misuse_at(&site, RT_RULE_dispatch_missing_sampler,
                 "'%s' needs a sampler at index %u for '%s'",
                 rt_pipeline_function(e->pipeline)->name, arg->index, arg->name);
    return false;
}

// ---- The snapshot of a dispatch ----

bool rt_snapshot_texture(MTLComputeCommandEncoder *e, const RfArg *arg, uint32_t n_slots,
                         void **args) {
    for (uint32_t k = 0; k < arg->count && arg->slot + k < n_slots; k++) {
        size_t index = (size_t)arg->index + k;
        if (arg->kind == RF_ARG_SAMPLER) {
            args[arg->slot + k] = (void *)(uintptr_t)sampler_at(e, index);
            continue;
        }
        const Bound texture = bound_at(e, index);
        args[arg->slot + k] = (void *)(uintptr_t)texture.handle;
        if (texture.texture && (e->by_table || arg->access != RF_READ_ONLY) &&
            !rt_cb_use(e->encoder.buffer, (MTLResource *)(uintptr_t)&texture.texture->resource,
                       arg->access != RF_READ_ONLY))
            return false;
    }
    return true;
}
