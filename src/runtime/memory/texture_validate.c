// SPDX-License-Identifier: Apache-2.0
// texture_validate.c: the rules of texture descriptors, regions and strides (ids in
// validation.def).
#include <stdarg.h>
#include <stdio.h>
#include "runtime/memory/texture.h"

#define ABI_PIXEL_FORMAT(name, value, ...) _Static_assert(MTLPixelFormat##name == value, #name);
#include "abi/pixel_formats.def"

#define MAX_SIZE 16384u
#define MAX_SIZE_3D 2048u
#define MAX_LAYERS 2048u
#define MAX_ROW_TEXELS 32767u
#define MAX_BUFFER_WIDTH ((size_t)1 << 28)
#define ALL_USAGE                                                                                  \
    (MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite | MTLTextureUsageRenderTarget |        \
     MTLTextureUsagePixelFormatView | MTLTextureUsageShaderAtomic)

bool rt_misuse_at(const RtSite *site, RtRule rule, const char *detail, ...) {
    char text[256] = "";
    if (rt_tolerates(site->device, rule)) return true;
    va_list args;
    va_start(args, detail);
    if (detail) vsnprintf(text, sizeof text, detail, args);
    va_end(args);
    return site->commands ? rt_misuse_encoding(site->commands, rule, site->call, "%s", text)
                          : rt_misuse(site->device, rule, site->call, "%s", text);
}

static const char *const type_names[] = {"1D",
                                         "1D array",
                                         "2D",
                                         "2D array",
                                         "2D multisample",
                                         "cube",
                                         "cube array",
                                         "3D",
                                         "2D multisample array",
                                         "texture buffer"};

const char *rt_texture_type_name(unsigned type) {
    return type < sizeof type_names / sizeof *type_names ? type_names[type] : "unknown type";
}

const char *rt_texture_name(const MTLTexture *texture, char *text) {
    const AbiTexture *t = &texture->record;
    snprintf(text, RT_TEXTURE_NAME, "'%.60s' (%s, %u x %u x %u, %s)",
             rt_label(&texture->resource.label), rt_texture_type_name(t->type), t->width, t->height,
             t->depth, t->format->name);
    return text;
}

bool rt_is_texture(const RtSite *site, const MTLTexture *texture, const char *argument) {
    if (rt_is(texture, &rt_texture_class)) return true;
    if (!texture)
        rt_misuse_at(site, RT_RULE_null_argument, "%s", argument);
    else
        rt_misuse_at(site, RT_RULE_wrong_class, "%s is a %s, not a MTLTexture", argument,
                     mtl_class_name(texture));
    return false;
}

// ---- Descriptors ----

static bool is_array(MTLTextureType type) {
    return type == MTLTextureType1DArray || type == MTLTextureType2DArray ||
           type == MTLTextureTypeCubeArray || type == MTLTextureType2DMultisampleArray;
}

static bool is_multisample(MTLTextureType type) {
    return type == MTLTextureType2DMultisample || type == MTLTextureType2DMultisampleArray;
}

static bool is_1d(MTLTextureType type) {
    return type == MTLTextureType1D || type == MTLTextureType1DArray ||
           type == MTLTextureTypeTextureBuffer;
}

static size_t one(size_t n) { return n ? n : 1; }

static bool valid_size(const RtSite *site, const MTLTextureDescriptor *d) {
    MTLTextureType type = d->texture_type;
    size_t w = d->width, h = is_1d(type) ? one(d->height) : d->height;
    size_t z = type == MTLTextureType3D ? d->depth : one(d->depth);
    size_t max = type == MTLTextureTypeTextureBuffer ? MAX_BUFFER_WIDTH
                 : type == MTLTextureType3D          ? MAX_SIZE_3D
                                                     : MAX_SIZE;
    bool cube = type == MTLTextureTypeCube || type == MTLTextureTypeCubeArray;
    if (!w || !h || !z || w > max || h > (is_1d(type) ? 1 : max) ||
        z > (type == MTLTextureType3D ? max : 1) || (cube && w != h)) {
        rt_misuse_at(site, RT_RULE_texture_size, "%s of %zu x %zu x %zu",
                     rt_texture_type_name(type), w, h, z);
        return false;
    }
    const AbiPixelFormat *f = abi_pixel_format(d->pixel_format);
    if (abi_format_is_pvrtc(f) && (w != h || w & (w - 1))) {
        rt_misuse_at(site, RT_RULE_texture_size, "%zu x %zu, %s: squares of a power of two", w, h,
                     f->name);
        return false;
    }
    size_t largest = w > h ? w : h, levels = one(d->mipmap_level_count);
    largest = largest > z ? largest : z;
    bool single = is_1d(type) || is_multisample(type);
    if (levels > ABI_MAX_LEVELS || largest >> (levels - 1) == 0 || (single && levels > 1)) {
        rt_misuse_at(site, RT_RULE_texture_levels, "%zu levels, %s of %zu x %zu x %zu", levels,
                     rt_texture_type_name(type), w, h, z);
        return false;
    }
    size_t samples = one(d->sample_count);
    if (is_multisample(type) ? samples != 2 && samples != 4 && samples != 8 : samples != 1) {
        rt_misuse_at(site, RT_RULE_texture_samples, "%zu samples, %s", samples,
                     rt_texture_type_name(type));
        return false;
    }
    size_t length = one(d->array_length);
    size_t max_length = type == MTLTextureTypeCubeArray ? MAX_LAYERS / 6 : MAX_LAYERS;
    if (length > (is_array(type) ? max_length : 1)) {
        rt_misuse_at(site, RT_RULE_texture_array_length, "array length %zu, %s", length,
                     rt_texture_type_name(type));
        return false;
    }
    return true;
}

static bool valid_format(const RtSite *site, const MTLTextureDescriptor *d) {
    const AbiPixelFormat *f = abi_pixel_format(d->pixel_format);
    if (!f) {
        rt_misuse_at(site, RT_RULE_texture_format, "format %d", (int)d->pixel_format);
        return false;
    }
    if (f->value == MTLPixelFormatX32_Stencil8 || f->value == MTLPixelFormatX24_Stencil8) {
        rt_misuse_at(site, RT_RULE_texture_format, "%s is for views only", f->name);
        return false;
    }
    // Blocks of texels have two dimensions; texture buffers and samples are for some formats only.
    MTLTextureType type = d->texture_type;
    bool depth = f->caps & (ABI_FORMAT_DEPTH | ABI_FORMAT_STENCIL);
    if ((abi_format_is_blocked(f) && is_1d(type)) ||
        (depth && (type == MTLTextureType3D || is_1d(type))) ||
        (abi_format_is_pvrtc(f) && type == MTLTextureType3D) ||
        (type == MTLTextureTypeTextureBuffer && !(f->caps & ABI_FORMAT_BUFFER)) ||
        (is_multisample(type) && !(f->caps & ABI_FORMAT_MSAA))) {
        rt_misuse_at(site, RT_RULE_texture_format, "%s cannot be %s", f->name,
                     rt_texture_type_name(type));
        return false;
    }
    return true;
}

static bool valid_usage(const RtSite *site, const MTLTextureDescriptor *d) {
    const AbiPixelFormat *f = abi_pixel_format(d->pixel_format);
    MTLTextureUsage u = d->usage;
    unsigned targets = ABI_FORMAT_COLOR | ABI_FORMAT_DEPTH | ABI_FORMAT_STENCIL;
    // Tolerated: commands ask the format, too.
    if ((u & ~(unsigned)ALL_USAGE ||
         (u & MTLTextureUsageShaderWrite && !(f->caps & ABI_FORMAT_WRITE)) ||
         (u & MTLTextureUsageRenderTarget && !(f->caps & targets)) ||
         (u & MTLTextureUsageShaderAtomic &&
          !(f->caps & (ABI_FORMAT_ATOMIC | ABI_FORMAT_ATOMIC64)))) &&
        !rt_misuse_at(site, RT_RULE_texture_usage, "usage 0x%x, %s", u, f->name))
        return false;
    MTLTextureSwizzleChannels s = d->swizzle;
    const uint8_t channels[4] = {s.red, s.green, s.blue, s.alpha};
    bool swizzled = false;
    for (int i = 0; i < 4; i++) swizzled |= channels[i] != MTLTextureSwizzleRed + i;
    swizzled = swizzled && (s.red | s.green | s.blue | s.alpha);
    if (s.red > 5 || s.green > 5 || s.blue > 5 || s.alpha > 5 ||
        (swizzled && u & (MTLTextureUsageShaderWrite | MTLTextureUsageRenderTarget))) {
        rt_misuse_at(site, RT_RULE_texture_swizzle, "swizzle %u %u %u %u, usage 0x%x", s.red,
                     s.green, s.blue, s.alpha, u);
        return false;
    }
    return true;
}

MTLResourceOptions rt_texture_options(const MTLTextureDescriptor *d) {
    return d->resource_options | (MTLResourceOptions)d->cpu_cache_mode |
           (MTLResourceOptions)d->storage_mode << 4 |
           (MTLResourceOptions)d->hazard_tracking_mode << 8;
}

static bool disagree(unsigned a, unsigned b) { return a && b && a != b; }

static bool valid_storage(const RtSite *site, const MTLTextureDescriptor *d) {
    MTLResourceOptions o = d->resource_options;
    if ((unsigned)d->cpu_cache_mode > 1 || (unsigned)d->storage_mode > 3 ||
        (unsigned)d->hazard_tracking_mode > 2 || (o & 15) > 1 || (o >> 4 & 15) > 3 ||
        (o >> 8 & 3) == 3 || o >> 10 || disagree(d->cpu_cache_mode, o & 15) ||
        disagree(d->storage_mode, o >> 4 & 15) || disagree(d->hazard_tracking_mode, o >> 8 & 3)) {
        rt_misuse_at(site, RT_RULE_texture_options, "options 0x%x, fields %d %d %d", o,
                     (int)d->cpu_cache_mode, (int)d->storage_mode, (int)d->hazard_tracking_mode);
        return false;
    }
    unsigned storage = rt_texture_options(d) >> 4 & 15;
    if (storage == MTLStorageModeMemoryless && d->usage != MTLTextureUsageRenderTarget) {
        rt_misuse_at(site, RT_RULE_texture_memoryless, "usage 0x%x", d->usage);
        return false;
    }
    const AbiPixelFormat *f = abi_pixel_format(d->pixel_format);
    return ((unsigned)d->compression_type <= MTLTextureCompressionTypeLossy &&
            (d->compression_type != MTLTextureCompressionTypeLossy ||
             (storage == MTLStorageModePrivate && !abi_format_is_blocked(f) &&
              !(d->usage & (MTLTextureUsageShaderWrite | MTLTextureUsagePixelFormatView))))) ||
           rt_misuse_at(site, RT_RULE_texture_compression, "compression type %d, %s",
                        (int)d->compression_type, f->name);
}

bool rt_texture_shape(const RtSite *site, const MTLTextureDescriptor *d, AbiTextureShape *shape) {
    if (!rt_device_needs(site->device, DEV_TEXTURES, site->call)) return false;
    if ((unsigned)d->texture_type > MTLTextureTypeTextureBuffer) {
        rt_misuse_at(site, RT_RULE_texture_type, "type %d", (int)d->texture_type);
        return false;
    }
    if (!valid_format(site, d) || !valid_size(site, d) || !valid_usage(site, d) ||
        !valid_storage(site, d))
        return false;
    *shape = (AbiTextureShape){
        .type = (uint32_t)d->texture_type,
        .pixel_format = (uint32_t)d->pixel_format,
        .width = (uint32_t)one(d->width),
        .height = (uint32_t)one(d->height),
        .depth = (uint32_t)one(d->depth),
        .array_length = (uint32_t)one(d->array_length),
        .n_levels = (uint32_t)one(d->mipmap_level_count),
        .n_samples = (uint32_t)one(d->sample_count),
    };
    return true;
}

// ---- Regions ----

static bool inside(size_t at, size_t n, size_t size) {
    return n > 0 && at < size && n <= size - at;
}

static bool at_blocks(size_t at, size_t n, size_t size, size_t block) {
    return at % block == 0 && (n % block == 0 || at + n == size);
}

bool rt_valid_region(const RtSite *site, const MTLTexture *texture, size_t level, size_t slice,
                     MTLRegion region) {
    const AbiTexture *t = &texture->record;
    const MTLOrigin o = region.origin;
    const MTLSize s = region.size;
    char name[RT_TEXTURE_NAME];
    if (level >= t->n_levels) {
        rt_misuse_at(site, RT_RULE_texture_level, "level %zu of %u, texture %s", level, t->n_levels,
                     rt_texture_name(texture, name));
        return false;
    }
    if (slice >= abi_texture_n_slices(t)) {
        rt_misuse_at(site, RT_RULE_texture_slice, "slice %zu of %u, texture %s", slice,
                     abi_texture_n_slices(t), rt_texture_name(texture, name));
        return false;
    }
    const AbiTextureLevel *l = &t->levels[level];
    if (!inside(o.x, s.width, l->width) || !inside(o.y, s.height, l->height) ||
        !inside(o.z, s.depth, l->depth)) {
        rt_misuse_at(site, RT_RULE_texture_region,
                     "%zu x %zu x %zu at %zu, %zu, %zu of level %zu, texture %s", s.width, s.height,
                     s.depth, o.x, o.y, o.z, level, rt_texture_name(texture, name));
        return false;
    }
    const AbiPixelFormat *f = t->format;
    if (!at_blocks(o.x, s.width, l->width, f->block_width) ||
        !at_blocks(o.y, s.height, l->height, f->block_height)) {
        rt_misuse_at(site, RT_RULE_texture_block,
                     "%zu x %zu at %zu, %zu in blocks of %u x %u, texture %s", s.width, s.height,
                     o.x, o.y, f->block_width, f->block_height, rt_texture_name(texture, name));
        return false;
    }
    // A block is nothing without those around it.
    if (abi_format_is_pvrtc(f) && (s.width != l->width || s.height != l->height)) {
        rt_misuse_at(site, RT_RULE_texture_block,
                     "%zu x %zu at %zu, %zu: of PVRTC only whole levels are copied, texture %s",
                     s.width, s.height, o.x, o.y, rt_texture_name(texture, name));
        return false;
    }
    return true;
}

bool rt_valid_strides(const RtSite *site, const MTLTexture *texture, MTLSize size, size_t texel,
                      bool twiddled, size_t *bytes_per_row, size_t *bytes_per_image,
                      size_t *n_bytes) {
    const AbiPixelFormat *f = texture->record.format;
    char name[RT_TEXTURE_NAME];
    size_t row = abi_format_columns(f, (uint32_t)size.width) * texel;
    size_t n_rows = abi_format_rows(f, (uint32_t)size.height);
    size_t stride = *bytes_per_row, rows, planes;
    if (stride == 0 && ((n_rows == 1 && size.depth == 1) || twiddled)) stride = row;
    // Apple's limit, which not all of its devices keep to: with the debug layer only.
    bool wide = site->device && site->device->debug_layer && stride / texel > MAX_ROW_TEXELS;
    if (stride < row || stride % texel != 0 || wide || (twiddled && stride != row) ||
        __builtin_mul_overflow(stride, n_rows, &rows)) {
        rt_misuse_at(site, RT_RULE_texture_bytes_per_row,
                     "%zu bytes per row, a row is %zu of %zu each, texture %s", *bytes_per_row, row,
                     texel, rt_texture_name(texture, name));
        return false;
    }
    size_t image = size.depth == 1 ? rows : *bytes_per_image;
    if (image < rows || image % texel != 0 ||
        __builtin_mul_overflow(image, size.depth - 1, &planes)) {
        rt_misuse_at(site, RT_RULE_texture_bytes_per_image,
                     "%zu bytes per image, an image is %zu, texture %s", *bytes_per_image, rows,
                     rt_texture_name(texture, name));
        return false;
    }
    *bytes_per_row = stride;
    *bytes_per_image = image;
    if (__builtin_add_overflow(planes, stride * (n_rows - 1) + row, n_bytes)) {
        rt_misuse_at(site, RT_RULE_texture_bytes_per_image, "%zu bytes per image", image);
        return false;
    }
    return true;
}
