// SPDX-License-Identifier: Apache-2.0
// bindings_check.c: what a stage reads of its bindings: the rules that textures and samplers are
// held to, and the way into its slots.
#include "runtime/command/bindings.h"

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

// NULL: an id that nobody has looked up.
static const AbiTexture *record_of(const MTLDevice *device, const RtTextureSlot *slot) {
    if (slot->texture) return &slot->texture->record;
    return slot->handle & ABI_TEXTURE_POOLED ? device->table->view_at(device->context, slot->handle)
                                             : NULL;
}

static const char *name_of(const RtTextureSlot *bound, char *text) {
    return bound->texture ? rt_texture_name(bound->texture, text) : "of a view pool";
}

// *shown: the kernel finds it there; else, where that is tolerated, no texture: reads give zero.
static bool valid_texture(const RtSite *site, const RfLibrary *lib, const RfArg *arg,
                          const RfType *type, const RtTextureSlot *texture, const AbiTexture *t,
                          const char *kernel, bool *shown) {
    static const char *const kinds[] = {"float", "int", "uint"};
    if (!t) {
        rt_misuse_at(site, RT_RULE_metal4_resource_id, "0x%llx for '%s' of '%s' is no texture",
                     (unsigned long long)texture->handle, arg->name, kernel);
        return false;
    }
    const AbiPixelFormat *f = t->format;
    const MTLTextureUsage usage = texture->texture ? texture->texture->usage : 0;
    char name[RT_TEXTURE_NAME];
    if (type->texture_type != t->type) {
        *shown = false;
        return rt_misuse_at(site, RT_RULE_dispatch_texture_type, "'%s' of '%s' is %s, texture %s",
                            arg->name, kernel, rt_texture_type_name(type->texture_type),
                            name_of(texture, name));
    }
    Components wanted = components_of_argument(lib, type);
    if (wanted != components_of_format(f) || (type->depth && !(f->caps & ABI_FORMAT_DEPTH))) {
        *shown = false;
        return rt_misuse_at(site, RT_RULE_dispatch_texture_component,
                            "'%s' of '%s' has %s%s, texture %s", arg->name, kernel,
                            type->depth ? "depth as " : "", kinds[wanted], name_of(texture, name));
    }
    bool reads = arg->access != RF_WRITE_ONLY, writes = arg->access != RF_READ_ONLY;
    MTLTextureUsage needs =
        (reads ? MTLTextureUsageShaderRead : 0u) | (writes ? MTLTextureUsageShaderWrite : 0u);
    // Swizzled textures cannot be written, whatever their parent's usage.
    *shown = !(writes && t->swizzled);
    if (((usage != 0 && needs & ~usage) || !*shown) &&
        !rt_misuse_at(site, RT_RULE_dispatch_texture_usage,
                      "'%s' of '%s' needs 0x%x, texture %s has 0x%x%s", arg->name, kernel, needs,
                      name_of(texture, name), usage, t->swizzled ? " and a swizzle" : ""))
        return false;
    unsigned caps = reads && writes ? ABI_FORMAT_READ_WRITE
                    : writes        ? ABI_FORMAT_WRITE
                                    : ABI_FORMAT_READ;
    if (!(f->caps & caps)) {
        *shown = false;
        return rt_misuse_at(site, RT_RULE_dispatch_texture_access, "'%s' of '%s' is %s, texture %s",
                            arg->name, kernel,
                            reads && writes ? "read_write"
                            : writes        ? "write"
                                            : "read",
                            name_of(texture, name));
    }
    return true;
}

static bool take_textures(const RtTake *t, const RfArg *arg, bool required) {
    const RtSite *site = t->site;
    const RfFunction *f = t->stage->entry;
    const RfLibrary *lib = rt_stage_library(t->stage);
    const RfType *type = texture_type(lib, arg->type);
    for (uint32_t k = 0; k < arg->count && arg->slot + k < f->n_slots; k++) {
        size_t index = (size_t)arg->index + k;
        const RtTextureSlot texture = rt_texture_at(t->from, index);
        t->args[arg->slot + k] = (void *)(uintptr_t)texture.handle;
        if (!texture.handle) {
            if (!required || arg->count != 1) continue; // arrays may have gaps: they read as zero
            if (rt_misuse_at(site,
                             t->stage->draws ? RT_RULE_draw_missing_texture
                                             : RT_RULE_dispatch_missing_texture,
                             "'%s' needs a texture at index %zu for '%s'", f->name, index,
                             arg->name))
                continue;
            return false;
        }
        // An id may be anything, and only the debug layer pays for finding its texture. Code is
        // left by a fault if it is none.
        const AbiTexture *record = record_of(site->device, &texture);
        bool shown = true;
        if (type && (record || site->commands->notes_resources) &&
            !valid_texture(site, lib, arg, type, &texture, record, f->name, &shown))
            return false;
        if (!shown) {
            t->args[arg->slot + k] = NULL;
            continue;
        }
        if (texture.texture && arg->access != RF_READ_ONLY &&
            !rt_cb_use(site->commands, &texture.texture->resource, true))
            return false;
    }
    return true;
}

static bool take_samplers(const RtTake *t, const RfArg *arg, bool required) {
    for (uint32_t k = 0; k < arg->count && arg->slot + k < t->stage->entry->n_slots; k++) {
        size_t index = (size_t)arg->index + k;
        uint64_t sampler = index < RT_MAX_SAMPLERS ? t->from->samplers[index] : 0;
        t->args[arg->slot + k] = (void *)(uintptr_t)sampler;
        if (sampler || !required || arg->count != 1) continue;
        if (!rt_misuse_at(t->site,
                          t->stage->draws ? RT_RULE_draw_missing_sampler
                                          : RT_RULE_dispatch_missing_sampler,
                          "'%s' needs a sampler at index %zu for '%s'", t->stage->entry->name,
                          index, arg->name))
            return false;
    }
    return true;
}

bool rt_take_handles(const RtTake *t, const RfArg *arg, bool required) {
    return arg->kind == RF_ARG_TEXTURE        ? take_textures(t, arg, required)
           : arg->kind == RF_ARG_ACCELERATION ? rt_take_accelerations(t, arg, required)
                                              : take_samplers(t, arg, required);
}

bool rt_take_short(RtTake *t, const RfArg *arg, uint32_t k, const RtSlot *slot, size_t whole) {
    MTLCommandBuffer *commands = t->site->commands;
    RtShort *s = rt_cb_alloc(commands, sizeof *s);
    char *copy = s ? rt_cb_alloc_shown(commands, (whole + 63) & ~(size_t)63) : NULL;
    if (!copy) {
        rt_cb_no_memory(commands);
        return false;
    }
    *s = (RtShort){t->shorts, arg->slot + k, slot->n_bytes, slot->address, copy};
    t->shorts = s;
    t->args[s->slot] = copy;
    return true;
}
