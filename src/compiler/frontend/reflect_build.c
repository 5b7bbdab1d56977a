// SPDX-License-Identifier: Apache-2.0
// reflect_build.c: fills RfLibrary from what the bridge finds in the AST: types, with Apple's
// MTLDataType numbers, and function constants. Entry points: reflect_entry.c.
#include "compiler/frontend/frontend_int.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void reflect_report_list(BridgeJob *job, uint32_t at, const char *format, va_list args) {
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    bridge_report(job, 3, at, text);
}

void reflect_report(BridgeJob *job, uint32_t at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    reflect_report_list(job, at, format, args);
    va_end(args);
}

void *reflect_grow(void *at, uint32_t *capacity, uint32_t n, size_t size) {
    if (n < *capacity) return at;
    uint32_t wanted = *capacity ? *capacity * 2 : 32;
    void *p = realloc(at, wanted * size);
    if (p) {
        memset((char *)p + *capacity * size, 0, (wanted - *capacity) * size);
        *capacity = wanted;
    }
    return p;
}

bool reflect_begin(ReflectBuilder *b, BaseArena *arena) {
    *b = (ReflectBuilder){.arena = arena, .lib = calloc(1, sizeof *b->lib)};
    return b->lib != NULL;
}

void reflect_end(ReflectBuilder *b) {
    free(b->infos);
    free(b->names.buckets);
    rf_free(b->lib);
    *b = (ReflectBuilder){0};
}

// ---- types ----

static uint32_t scalar_data_type(const BridgeType *t) {
    switch (t->kind) {
    case BRIDGE_TYPE_BOOL: return DT_BOOL;
    case BRIDGE_TYPE_HALF: return DT_HALF;
    case BRIDGE_TYPE_BFLOAT: return DT_BFLOAT;
    case BRIDGE_TYPE_FLOAT: return DT_FLOAT;
    case BRIDGE_TYPE_INT:
        switch (t->size) {
        case 1: return t->is_signed ? DT_CHAR : DT_UCHAR;
        case 2: return t->is_signed ? DT_SHORT : DT_USHORT;
        case 4: return t->is_signed ? DT_INT : DT_UINT;
        default: return t->is_signed ? DT_LONG : DT_ULONG;
        }
    default: return DT_NONE;
    }
}

static const char *scalar_name(uint32_t data_type) {
    switch (data_type) {
    case DT_BOOL: return "bool";
    case DT_CHAR: return "char";
    case DT_UCHAR: return "uchar";
    case DT_SHORT: return "short";
    case DT_USHORT: return "ushort";
    case DT_INT: return "int";
    case DT_UINT: return "uint";
    case DT_LONG: return "long";
    case DT_ULONG: return "ulong";
    case DT_HALF: return "half";
    case DT_BFLOAT: return "bfloat";
    case DT_FLOAT: return "float";
    default: return NULL;
    }
}

uint32_t reflect_new_type(ReflectBuilder *b) {
    RfLibrary *lib = b->lib;
    uint32_t n = lib->n_types, capacity = b->capacity_types;
    RfType *types = reflect_grow(lib->types, &capacity, n, sizeof *types);
    if (types) lib->types = types;
    capacity = b->capacity_types;
    BridgeType *infos = reflect_grow(b->infos, &capacity, n, sizeof *infos);
    if (infos) b->infos = infos;
    if (!types || !infos) {
        b->failed = true;
        return 0;
    }
    b->capacity_types = capacity;
    lib->types[n] = (RfType){.element = NO_TYPE, .name = strdup("")};
    lib->n_types++;
    return n;
}

// vec<T, N>, packed_vec<T, N>, matrix<T, C, R>, atomic<T>, array<T, N> and other classes of metal.
static void set_metal_type(ReflectBuilder *b, RfType *t, const BridgeType *info, char *name,
                           size_t n_name) {
    const BridgeType *element =
        info->n_args && info->arg_types[0] != NO_TYPE ? &b->infos[info->arg_types[0]] : NULL;
    uint32_t scalar = element ? scalar_data_type(element) : DT_NONE;
    const char *word = scalar_name(scalar), *tmpl = info->template_name;
    uint32_t n = (uint32_t)info->arg_values[1], rows = (uint32_t)info->arg_values[2];
    bool packed = strcmp(tmpl, "packed_vec") == 0;
    if (word && (packed || strcmp(tmpl, "vec") == 0) && n >= 2 && n <= 4) {
        t->data_type = scalar + n - 1;
        snprintf(name, n_name, "%s%s%u", packed ? "packed_" : "", word, n);
    } else if (word && strcmp(tmpl, "matrix") == 0 && n >= 2 && n <= 4 && rows >= 2 && rows <= 4) {
        t->data_type = (scalar == DT_HALF ? DT_HALF2X2 : DT_FLOAT2X2) + (n - 2) * 3 + (rows - 2);
        snprintf(name, n_name, "%s%ux%u", word, n, rows);
    } else if (strstr(tmpl, "atomic") && word) {
        t->data_type = scalar;
        snprintf(name, n_name, "atomic_%s", word);
    } else if (strcmp(tmpl, "array") == 0 && element) {
        t->data_type = DT_ARRAY;
        t->element = info->arg_types[0];
        t->n_elements = n;
        t->stride = element->size;
    } else if (reflect_texture_type(t, info)) {
        if (t->data_type == DT_TEXTURE && word) { // Texture: as Metal spells it, with its access
            static const char *const access[] = {"sample", "read", "write", "read_write"};
            snprintf(name, n_name, "%s<%s, access::%s>", tmpl, word,
                     access[info->arg_values[1] & 3]);
        } else {
            snprintf(name, n_name, "%s", tmpl);
        }
        BridgeType *keep =
            &b->infos[t - b->lib->types]; // a handle, even where nothing looks inside
        t->size = t->align = keep->size = keep->align = 8;
    } else if (reflect_tensor_type(b, t, info, name, n_name)) {
        // done
    } else if (strcmp(tmpl, "visible_function_table") == 0) {
        t->data_type = DT_FUNCTION_TABLE;
        if (strncmp(name, "metal::", 7) == 0) memmove(name, name + 7, strlen(name + 7) + 1);
    } else if (strcmp(tmpl, "intersection_function_table") == 0) {
        t->data_type = DT_INTERSECTION_TABLE;
        snprintf(name, n_name, "%s", tmpl);
    } else if (strcmp(tmpl, "acceleration_structure") == 0) {
        bool instances = strstr(name, "instancing") != NULL;
        t->data_type = instances ? DT_INSTANCE_ACCELERATION : DT_ACCELERATION;
        snprintf(name, n_name, "%s_acceleration_structure", instances ? "instance" : "primitive");
        BridgeType *keep = &b->infos[t - b->lib->types];
        t->size = t->align = keep->size = keep->align = 8;
    } else if (strcmp(tmpl, "command_buffer") == 0) {
        t->data_type = DT_COMMAND_BUFFER;
        snprintf(name, n_name, "%s", tmpl);
    } else if (strcmp(tmpl, "render_pipeline_state") == 0) {
        t->data_type = DT_RENDER_PIPELINE;
        snprintf(name, n_name, "%s", tmpl);
    } else if (strcmp(tmpl, "depth_stencil_state") == 0) {
        t->data_type = DT_DEPTH_STENCIL;
        snprintf(name, n_name, "%s", tmpl);
    } else if (strcmp(tmpl, "compute_pipeline_state") == 0) {
        t->data_type = DT_COMPUTE_PIPELINE;
        snprintf(name, n_name, "%s", tmpl);
    } else {
        t->data_type = DT_STRUCT;
    }
}

const BridgeAttr *reflect_id(const BridgeDecl *member) {
    for (size_t i = 0; i < member->n_attrs; i++)
        if (strcmp(member->attrs[i].name, "id") == 0) return &member->attrs[i];
    return NULL;
}

static void set_members(ReflectBuilder *b, RfType *t, const BridgeType *info) {
    t->data_type = DT_STRUCT;
    t->members = info->n_members ? calloc(info->n_members, sizeof *t->members) : NULL;
    if (info->n_members && !t->members) {
        b->failed = true;
        return;
    }
    for (size_t i = 0; i < info->n_members; i++) {
        const BridgeDecl *m = &info->members[i];
        RfMember *out = &t->members[i];
        *out = (RfMember){.name = strdup(m->name), .type = m->type, .offset = m->offset, .id = -1};
        b->failed |= !out->name;
        const BridgeAttr *id = reflect_id(m);
        if (id && id->n_args == 1) out->id = (int32_t)id->args[0].value;
        t->n_members++;
    }
}

void reflect_set_type(ReflectBuilder *b, uint32_t type, const BridgeType *info) {
    if (type >= b->lib->n_types) return;
    RfType *t = &b->lib->types[type];
    BridgeType *keep = &b->infos[type];
    char *spelling = words_metal(info->name), name[128];
    snprintf(name, sizeof name, "%s", spelling ? spelling : info->name);
    free(spelling);
    t->size = info->size, t->align = info->align;
    t->element = info->element;
    *keep = *info;
    b->failed |= !reflect_keep_members(b, keep, info);
    switch (info->kind) {
    case BRIDGE_TYPE_RECORD: set_members(b, t, info); break;
    case BRIDGE_TYPE_METAL: set_metal_type(b, t, info, name, sizeof name); break;
    case BRIDGE_TYPE_ARRAY:
        t->data_type = DT_ARRAY;
        t->n_elements = (uint32_t)info->n_elements;
        t->stride = info->element < b->lib->n_types ? b->infos[info->element].size : 0;
        break;
    case BRIDGE_TYPE_POINTER:
    case BRIDGE_TYPE_REFERENCE:
        t->data_type = DT_POINTER;
        t->space = (uint8_t)info->space;
        t->access =
            info->is_const || info->space == BRIDGE_SPACE_CONSTANT ? RF_READ_ONLY : RF_READ_WRITE;
        break;
    default:
        t->data_type = scalar_data_type(info);
        if (scalar_name(t->data_type) && strncmp(name, "enum ", 5) != 0)
            snprintf(name, sizeof name, "%s", scalar_name(t->data_type));
        break;
    }
    free(t->name);
    t->name = strdup(name);
    keep->name = base_arena_str(b->arena, name, strlen(name));
    b->failed |= !t->name || !keep->name;
}

// ---- function constants ----

void reflect_variable(ReflectBuilder *b, BridgeJob *job, const BridgeDecl *decl) {
    if (bindings_reflect(b, job, decl)) return;
    RfLibrary *lib = b->lib;
    uint32_t capacity = b->capacity_constants;
    RfConstant *constants =
        reflect_grow(lib->constants, &capacity, lib->n_constants, sizeof *constants);
    if (!constants) {
        b->failed = true;
        return;
    }
    lib->constants = constants;
    b->capacity_constants = capacity;
    int64_t index = -1;
    for (size_t i = 0; i < decl->n_attrs; i++)
        if (strcmp(decl->attrs[i].name, "function_constant") == 0 && decl->attrs[i].n_args == 1)
            index = decl->attrs[i].args[0].value;
    for (uint32_t i = 0; i < lib->n_constants; i++) {
        if (strcmp(lib->constants[i].symbol, decl->symbol) == 0) return; // declared again
        if (lib->constants[i].index == (uint32_t)index) {
            reflect_report(job, decl->location,
                           "function constant index %u is already used by '%s'", (unsigned)index,
                           lib->constants[i].name);
            return;
        }
    }
    uint32_t data_type = lib->types[decl->type].data_type, components = 0;
    if (index < 0 || index > 65535)
        reflect_report(
            job, decl->location,
            "'function_constant' attribute parameter is out of bounds: must be between 0 and "
            "65535");
    else if (!rf_scalar_of(data_type, &components) ||
             strncmp(lib->types[decl->type].name, "atomic_", 7) == 0)
        reflect_report(job, decl->location,
                       "type '%s' is not valid for attribute 'function_constant'",
                       lib->types[decl->type].name);
    uint32_t n = lib->n_constants;
    lib->constants[n] =
        (RfConstant){strdup(decl->name), strdup(decl->symbol), (uint32_t)index, decl->type, 0};
    b->failed |= !lib->constants[n].name || !lib->constants[n].symbol;
    lib->n_constants++;
}
