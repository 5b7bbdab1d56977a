// SPDX-License-Identifier: Apache-2.0
// sampler.c: MTLSamplerState: a checked descriptor in the form sampling code reads.
#include <float.h>
#include <math.h>
#include "runtime/memory/texture.h"

static void sampler_destroy(void *self) {
    MTLSamplerState *sampler = self;
    rt_span_remove(&sampler->span);
    dev_handle_free(sampler->device->table, sampler->device->context, &sampler->handle);
    rt_label_free(&sampler->label);
    mtl_release(sampler->device);
    rt_free(sampler);
}

RT_CLASS rt_sampler_class = {.name = "MTLSamplerState",
                             .destroy = sampler_destroy,
                             .label_at = offsetof(MTLSamplerState, label)};

static bool clamps(MTLSamplerAddressMode mode) {
    return mode == MTLSamplerAddressModeClampToEdge || mode == MTLSamplerAddressModeClampToZero ||
           mode == MTLSamplerAddressModeClampToBorderColor;
}

// Values outside their range, tolerated: the first of an enumeration, else the nearest.
static void tame(MTLSamplerDescriptor *d) {
#define ENUM(field, last)                                                                          \
    if ((unsigned)d->field > (last)) d->field = 0
    ENUM(min_filter, MTLSamplerMinMagFilterLinear);
    ENUM(mag_filter, MTLSamplerMinMagFilterLinear);
    ENUM(mip_filter, MTLSamplerMipFilterLinear);
    ENUM(s_address_mode, MTLSamplerAddressModeClampToBorderColor);
    ENUM(t_address_mode, MTLSamplerAddressModeClampToBorderColor);
    ENUM(r_address_mode, MTLSamplerAddressModeClampToBorderColor);
    ENUM(border_color, MTLSamplerBorderColorOpaqueWhite);
    ENUM(reduction_mode, MTLSamplerReductionModeMaximum);
    ENUM(compare_function, MTLCompareFunctionAlways);
#undef ENUM
    if (d->max_anisotropy > 16) d->max_anisotropy = 16;
    if (!(d->lod_min_clamp >= 0)) d->lod_min_clamp = 0;
    if (!(d->lod_max_clamp >= 0)) d->lod_max_clamp = 0;
    if (!isfinite(d->lod_bias)) d->lod_bias = 0;
}

static bool valid_values(const RtSite *site, const MTLSamplerDescriptor *d) {
    const struct {
        const char *name;
        unsigned value, max;
    } fields[] = {
        {"min_filter", (unsigned)d->min_filter, MTLSamplerMinMagFilterLinear},
        {"mag_filter", (unsigned)d->mag_filter, MTLSamplerMinMagFilterLinear},
        {"mip_filter", (unsigned)d->mip_filter, MTLSamplerMipFilterLinear},
        {"s_address_mode", (unsigned)d->s_address_mode, MTLSamplerAddressModeClampToBorderColor},
        {"t_address_mode", (unsigned)d->t_address_mode, MTLSamplerAddressModeClampToBorderColor},
        {"r_address_mode", (unsigned)d->r_address_mode, MTLSamplerAddressModeClampToBorderColor},
        {"border_color", (unsigned)d->border_color, MTLSamplerBorderColorOpaqueWhite},
        {"reduction_mode", (unsigned)d->reduction_mode, MTLSamplerReductionModeMaximum},
        {"compare_function", (unsigned)d->compare_function, MTLCompareFunctionAlways},
        {"max_anisotropy", (unsigned)(d->max_anisotropy > 16 ? 17 : d->max_anisotropy), 16},
    };
    const char *label = d->label ? d->label : "";
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].value <= fields[i].max) continue;
        rt_misuse_at(site, RT_RULE_sampler_value, "%s %u, sampler '%.60s'", fields[i].name,
                     fields[i].value, label);
        return false;
    }
    if (!(d->lod_min_clamp >= 0) || !(d->lod_max_clamp >= 0) || !isfinite(d->lod_bias)) {
        rt_misuse_at(site, RT_RULE_sampler_value,
                     "lod_min_clamp %g, lod_max_clamp %g, lod_bias %g, sampler '%.60s'",
                     (double)d->lod_min_clamp, (double)d->lod_max_clamp, (double)d->lod_bias,
                     label);
        return false;
    }
    return true;
}

static bool valid_unnormalized(const RtSite *site, const MTLSamplerDescriptor *d) {
    if (!d->unnormalized_coordinates) return true;
    if (d->min_filter == d->mag_filter && d->mip_filter == MTLSamplerMipFilterNotMipmapped &&
        d->max_anisotropy <= 1 && clamps(d->s_address_mode) && clamps(d->t_address_mode) &&
        clamps(d->r_address_mode))
        return true;
    return rt_misuse_at(site, RT_RULE_sampler_unnormalized, "sampler '%.60s'",
                        d->label ? d->label : "");
}

// It is complete: what kernels get for it. NULL, and it is gone: no memory.
static MTLSamplerState *with_handle(MTLSamplerState *sampler) {
    MTLDevice *device = sampler->device;
    if (dev_sampler_make(device->table, device->context, &sampler->record, &sampler->handle)) {
        rt_span_add_handle(&sampler->span, device, NULL, ABI_LIVE_SAMPLER, &sampler->handle);
        return sampler;
    }
    mtl_release(sampler);
    return NULL;
}

MTLSamplerState *mtl_device_new_sampler_state(MTLDevice *device,
                                              const MTLSamplerDescriptor *descriptor) {
    const RtSite site = {device, NULL, __func__};
    if (!rt_given(device, descriptor, "descriptor", __func__)) return NULL;
    MTLSamplerDescriptor tamed = *descriptor;
    const MTLSamplerDescriptor *d = &tamed;
    if (rt_tolerates(device, RT_RULE_sampler_value)) tame(&tamed);
    if (!rt_device_needs(device, DEV_TEXTURES, __func__) || !valid_values(&site, d) ||
        !valid_unnormalized(&site, d))
        return NULL;
    MTLSamplerState *sampler = rt_new(&rt_sampler_class, sizeof *sampler);
    if (!sampler) return NULL;
    sampler->device = mtl_retain(device);
    rt_label_set(&sampler->label, d->label);
    sampler->in_arguments = d->support_argument_buffers;
    bool limited = d->lod_max_clamp_is_set || d->lod_max_clamp > 0;
    sampler->record = (AbiSampler){
        .min_filter = (uint8_t)d->min_filter,
        .mag_filter = (uint8_t)d->mag_filter,
        .mip_filter = (uint8_t)d->mip_filter,
        .address = {(uint8_t)d->s_address_mode, (uint8_t)d->t_address_mode,
                    (uint8_t)d->r_address_mode},
        .compare = (uint8_t)d->compare_function,
        .border = (uint8_t)d->border_color,
        .unnormalized = d->unnormalized_coordinates,
        .lod_average = d->lod_average,
        .max_anisotropy = (uint8_t)(d->max_anisotropy ? d->max_anisotropy : 1),
        .reduction = (uint8_t)d->reduction_mode,
        .lod_min = d->lod_min_clamp,
        .lod_max = limited ? d->lod_max_clamp : FLT_MAX,
        .lod_bias = d->lod_bias,
    };
    return with_handle(sampler);
}

MTLSamplerState *rt_sampler_clamped(const MTLSamplerState *from, const float clamps[2]) {
    MTLSamplerState *sampler = rt_new(&rt_sampler_class, sizeof *sampler);
    if (!sampler) return NULL;
    sampler->device = mtl_retain(from->device);
    sampler->record = from->record;
    sampler->record.lod_min = clamps[0];
    sampler->record.lod_max = clamps[1];
    return with_handle(sampler);
}

MTLResourceID mtl_sampler_state_gpu_resource_id(const MTLSamplerState *sampler) {
    if (!sampler) return (MTLResourceID){0};
    bool usable =
        sampler->in_arguments || rt_misuse(sampler->device, RT_RULE_sampler_argument_buffers,
                                           __func__, "sampler '%s'", rt_label(&sampler->label));
    return (MTLResourceID){usable ? sampler->handle.value : 0};
}

#include "accessors/memory/sampler.inc" // plain accessors, from the table
