// SPDX-License-Identifier: Apache-2.0
// sampler.c: a sampler handle (abi/cpu_texture.h) to an AbiSampler whose fields are all in range.
#include <math.h>
#include "texel/sampling.h"
#include "base/numbers.h"

static unsigned field(uint64_t handle, unsigned at, unsigned n_bits) {
    return (unsigned)(handle >> at) & ((1u << n_bits) - 1);
}

static void unpack_biased(uint64_t h, AbiSampler *s) {
    int bias = (int)field(h, 53, 11);
    s->lod_min = (float)field(h, 32, 10) / 64;
    s->lod_max = field(h, 52, 1) ? INFINITY : (float)field(h, 42, 10) / 64;
    s->lod_bias = (float)(bias < 1024 ? bias : bias - 2048) / 64;
}

static void unpack(uint64_t h, AbiSampler *s) {
    unsigned anisotropy = field(h, ABI_SAMPLER_ANISOTROPY, 5);
    *s = (AbiSampler){
        .min_filter = (uint8_t)field(h, ABI_SAMPLER_MIN, 1),
        .mag_filter = (uint8_t)field(h, ABI_SAMPLER_MAG, 1),
        .mip_filter = (uint8_t)field(h, ABI_SAMPLER_MIP, 2),
        .address = {(uint8_t)field(h, ABI_SAMPLER_S, 3), (uint8_t)field(h, ABI_SAMPLER_T, 3),
                    (uint8_t)field(h, ABI_SAMPLER_R, 3)},
        .compare = (uint8_t)field(h, ABI_SAMPLER_COMPARE, 4),
        .border = (uint8_t)field(h, ABI_SAMPLER_BORDER, 2),
        .unnormalized = (uint8_t)field(h, ABI_SAMPLER_UNNORMALIZED, 1),
        .max_anisotropy = (uint8_t)anisotropy,
        .reduction = (uint8_t)field(h, ABI_SAMPLER_REDUCTION, 2),
        .lod_min = float_from_half((uint16_t)(h >> ABI_SAMPLER_LOD_MIN)),
        .lod_max = float_from_half((uint16_t)(h >> ABI_SAMPLER_LOD_MAX)),
    };
    if (field(h, ABI_SAMPLER_BIASED, 1)) unpack_biased(h, s);
}

void texel_sampler_unpack(uint64_t handle, AbiSampler *s) {
    if (handle == 0)
        *s = (AbiSampler){.max_anisotropy = 1, .lod_max = INFINITY};
    else if (handle & 1)
        unpack(handle, s);
    else
        *s = *(const AbiSampler *)abi_handle_record(handle);
    if (s->max_anisotropy < 1) s->max_anisotropy = 1;
    if (s->max_anisotropy > 16) s->max_anisotropy = 16;
    for (int i = 0; i < 3; i++)
        if (s->address[i] > TEXEL_CLAMP_TO_BORDER) s->address[i] = TEXEL_CLAMP_TO_EDGE;
    if (!(s->lod_min >= 0)) s->lod_min = 0;
    if (!(s->lod_max >= s->lod_min)) s->lod_max = s->lod_min;
    float bias = s->lod_bias; // Apple: S4.6, -16 .. 15.999
    s->lod_bias = bias > -16 ? bias < 15.999f ? bias : 15.999f : bias <= -16 ? -16 : 0;
    if (s->unnormalized) { // Metal's rules for them; what a sampler state may say is checked
                           // elsewhere
        s->mip_filter = 0;
        s->max_anisotropy = 1;
    }
}
