// SPDX-License-Identifier: Apache-2.0
// elements.c: vertices, control points, radii, indices: from a program's buffers to floats.
#include <math.h>
#include <string.h>
#include "devices/cpu/rays/scene_int.h"

enum { UINT, SINT, UNORM, SNORM, FLOAT, PACKED };
typedef struct Format {
    uint8_t n, bits, kind;
} Format;

static Format format_of(uint32_t format) {
    switch (format) {
#define V(name, value, components, width, how)                                                     \
    case value: return (Format){components, width, how};
#include "abi/vertex_formats.def"
#undef V
    default: return (Format){0};
    }
}

static float of_half(uint16_t h) {
    int e = h >> 10 & 31, m = h & 1023;
    float x = e == 31 ? (m ? NAN : INFINITY)
              : e     ? ldexpf((float)(m | 1024), e - 25)
                      : ldexpf((float)m, -24);
    return h & 0x8000 ? -x : x;
}

static float component(const char *p, Format f) {
    uint32_t u = 0;
    memcpy(&u, p, f.bits / 8);
    int32_t s = (int32_t)(u << (32 - f.bits)) >> (32 - f.bits);
    double most = f.kind == UNORM ? exp2(f.bits) - 1 : exp2(f.bits - 1) - 1;
    switch (f.kind) {
    case UINT: return (float)u;
    case SINT: return (float)s;
    case UNORM: return (float)(u / most);
    case SNORM: return (float)fmax(s / most, -1);
    default: {
        float x;
        memcpy(&x, &u, 4);
        return f.bits == 16 ? of_half((uint16_t)u) : x;
    }
    }
}

void rays_read_elements(float *to, size_t to_stride, unsigned n_components, uint64_t n,
                        const DevElements *from, uint32_t frame) {
    Format f = format_of(from->format);
    const DevRange *r = &from->frames[frame];
    size_t each = (size_t)f.n * f.bits / 8, common = f.n < n_components ? f.n : n_components;
    bool known = f.n && f.kind != PACKED && r->at, plain = f.kind == FLOAT && f.bits == 32;
    bool packed = from->stride == n_components * sizeof *to && to_stride == n_components;
    if (known && plain && packed && common == n_components && n <= r->n_bytes / from->stride) {
        memcpy(to, r->at, n * from->stride);
        return;
    }
    for (uint64_t i = 0; i < n; i++, to += to_stride) {
        const char *p = r->at + i * from->stride;
        bool inside =
            known && i * from->stride <= r->n_bytes && r->n_bytes - i * from->stride >= each;
        for (unsigned k = 0; k < n_components; k++) to[k] = inside ? 0.0f : NAN;
        if (inside && plain)
            memcpy(to, p, common * sizeof *to);
        else
            for (unsigned k = 0; inside && k < common; k++)
                to[k] = component(p + k * f.bits / 8, f);
    }
}

void rays_read_indices(uint32_t *to, uint64_t n, const DevGeometry *g) {
    uint64_t there = g->indices.at ? g->indices.n_bytes / g->index_bytes : n;
    if (there > n) there = n;
    if (!g->indices.at)
        for (uint64_t i = 0; i < there; i++) to[i] = i < UINT32_MAX ? (uint32_t)i : UINT32_MAX;
    else if (g->index_bytes == sizeof *to)
        memcpy(to, g->indices.at, there * sizeof *to);
    else
        for (uint64_t i = 0; i < there; i++) {
            uint16_t index;
            memcpy(&index, g->indices.at + i * sizeof index, sizeof index);
            to[i] = index;
        }
    for (uint64_t i = there; i < n; i++) to[i] = UINT32_MAX;
}
