// SPDX-License-Identifier: Apache-2.0
// reflect_texture.c: textures and samplers in reflection: their types, from the templates of
// stdlib/detail/texture.h, and arguments of entry points that are textures, samplers or arrays of
// them. An array takes as many indices as it has elements; its `type` is the element's.
#include <stdio.h>
#include <string.h>
#include "abi/texture_layout.h"
#include "compiler/frontend/frontend_int.h"

bool reflect_texture_type(RfType *t, const BridgeType *info) {
    static const struct {
        const char *name;
        uint8_t type, depth;
    } table[] = {
        {"texture1d", ABI_TEXTURE_1D, 0},
        {"texture1d_array", ABI_TEXTURE_1D_ARRAY, 0},
        {"texture2d", ABI_TEXTURE_2D, 0},
        {"texture2d_array", ABI_TEXTURE_2D_ARRAY, 0},
        {"texture2d_ms", ABI_TEXTURE_2D_MS, 0},
        {"texturecube", ABI_TEXTURE_CUBE, 0},
        {"texturecube_array", ABI_TEXTURE_CUBE_ARRAY, 0},
        {"texture3d", ABI_TEXTURE_3D, 0},
        {"texture2d_ms_array", ABI_TEXTURE_2D_MS_ARRAY, 0},
        {"texture_buffer", ABI_TEXTURE_BUFFER, 0},
        {"depth2d", ABI_TEXTURE_2D, 1},
        {"depth2d_array", ABI_TEXTURE_2D_ARRAY, 1},
        {"depth2d_ms", ABI_TEXTURE_2D_MS, 1},
        {"depthcube", ABI_TEXTURE_CUBE, 1},
        {"depthcube_array", ABI_TEXTURE_CUBE_ARRAY, 1},
        {"depth2d_ms_array", ABI_TEXTURE_2D_MS_ARRAY, 1},
    };
    if (strcmp(info->template_name, "sampler") == 0 && info->n_args == 0) {
        t->data_type = DT_SAMPLER;
        return true;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, info->template_name) != 0 || info->n_args < 2) continue;
        // access of the headers: sample, read, write, read_write
        static const uint8_t access[] = {RF_READ_ONLY, RF_READ_ONLY, RF_WRITE_ONLY, RF_READ_WRITE};
        t->data_type = DT_TEXTURE;
        t->texture_type = table[i].type;
        t->depth = table[i].depth;
        t->access = access[info->arg_values[1] & 3];
        t->samples = info->arg_values[1] == 0;
        t->element = info->arg_types[0];
        return true;
    }
    return false;
}

bool reflect_handle_argument(const ReflectBuilder *b, RfArg *arg, uint32_t type) {
    const RfType *t = &b->lib->types[type];
    uint32_t count = 1;
    if (t->data_type == DT_ARRAY && t->element != UINT32_MAX && t->n_elements) {
        count = t->n_elements;
        type = t->element;
        t = &b->lib->types[type];
    }
    switch (t->data_type) {
    case DT_TEXTURE: arg->kind = RF_ARG_TEXTURE; break;
    case DT_SAMPLER: arg->kind = RF_ARG_SAMPLER; break;
    case DT_TENSOR:
        arg->kind = RF_ARG_TENSOR;
        arg->space = t->space;
        break;
    case DT_ACCELERATION:
    case DT_INSTANCE_ACCELERATION: arg->kind = RF_ARG_ACCELERATION; break;
    default: return false;
    }
    arg->type = type;
    arg->count = count;
    arg->access = t->access;
    return true;
}

unsigned reflect_max_index(uint8_t kind) {
    return kind == RF_ARG_TEXTURE ? 127 : kind == RF_ARG_SAMPLER ? 15 : 30;
}

const char *reflect_attribute_of(uint8_t kind) {
    return kind == RF_ARG_TEXTURE       ? "texture"
           : kind == RF_ARG_SAMPLER     ? "sampler"
           : kind == RF_ARG_THREADGROUP ? "threadgroup"
                                        : "buffer";
}
