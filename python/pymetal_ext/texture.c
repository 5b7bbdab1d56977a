// SPDX-License-Identifier: Apache-2.0
// texture.c: textures and samplers with their descriptors.
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include "buffer.h"

// ---- TextureDescriptor ----

static const Field TextureDescriptor_fields[] = {
    {ENUM_OR("texture_type", TextureType, Type2D, 2), "Dimensions.", false},
    {ENUM_OR("pixel_format", PixelFormat, RGBA8Unorm, 70), "What a texel is.", false},
    {SIZE_OR("width", 1), "Texels in x.", false},
    {SIZE_OR("height", 1), "Texels in y.", false},
    {SIZE_OR("depth", 1), "Texels in z.", false},
    {SIZE_OR("mipmap_level_count", 1), "Levels.", false},
    {SIZE_OR("sample_count", 1), "Samples of a texel.", false},
    {SIZE_OR("array_length", 1), "Slices.", false},
    {ENUM_OR("storage_mode", StorageMode, Shared, 0), "Where its memory is.", false},
    {ENUM_OR("cpu_cache_mode", CPUCacheMode, DefaultCache, 0), "How the CPU caches it.", false},
    {ENUM_OR("hazard_tracking_mode", HazardTrackingMode, Default, 0),
     "Whether work is ordered by itself.", false},
    {U32_OR("usage", 1), "TextureUsage bits: what it is for.", false},
    NO_FIELD,
};

static bool set_value(Object *o, const char *name, PyObject *value) {
    int rc = value ? PyObject_SetAttrString((PyObject *)o, name, value) : -1;
    Py_XDECREF(value);
    return rc == 0;
}

// The object of a descriptor that the library filled in.
static PyObject *from_descriptor(State *state, const MTLTextureDescriptor *d) {
    Object *o = object_new(state, C_TextureDescriptor, NULL);
    if (o && set_value(o, "texture_type", from_enum(state, E_TextureType, d->texture_type)) &&
        set_value(o, "pixel_format", from_enum(state, E_PixelFormat, d->pixel_format)) &&
        set_value(o, "width", from_u64(d->width)) && set_value(o, "height", from_u64(d->height)) &&
        set_value(o, "mipmap_level_count", from_u64(d->mipmap_level_count)) &&
        set_value(o, "usage", from_u64(d->usage)))
        return (PyObject *)o;
    Py_XDECREF((PyObject *)o);
    return NULL;
}

MTLTextureDescriptor texture_descriptor(const Object *o) {
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    d.texture_type = (MTLTextureType)field_u(o, "texture_type");
    d.pixel_format = (MTLPixelFormat)field_u(o, "pixel_format");
    d.width = field_u(o, "width");
    d.height = field_u(o, "height");
    d.depth = field_u(o, "depth");
    d.mipmap_level_count = field_u(o, "mipmap_level_count");
    d.sample_count = field_u(o, "sample_count");
    d.array_length = field_u(o, "array_length");
    d.storage_mode = (MTLStorageMode)field_u(o, "storage_mode");
    d.cpu_cache_mode = (MTLCPUCacheMode)field_u(o, "cpu_cache_mode");
    d.hazard_tracking_mode = (MTLHazardTrackingMode)field_u(o, "hazard_tracking_mode");
    d.usage = (MTLTextureUsage)field_u(o, "usage");
    return d;
}

CLASS_METHOD(TextureDescriptor, texture2d_descriptor, "TextureDescriptor",
             "For a 2D texture; mipmapped: with all levels.", ENUMERATION("format", PixelFormat),
             SIZE("width"), SIZE("height"), BOOL("mipmapped")) {
    (void)self;
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d((MTLPixelFormat)a[0].u, a[1].u, a[2].u, a[3].b);
    return from_descriptor(state, &d);
}

CLASS_METHOD(TextureDescriptor, texturecube_descriptor, "TextureDescriptor",
             "For a cube texture; mipmapped: with all levels.",
             ENUMERATION("pixel_format", PixelFormat), SIZE("size"), BOOL("mipmapped")) {
    (void)self;
    MTLTextureDescriptor d = mtl_texture_descriptor_cube((MTLPixelFormat)a[0].u, a[1].u, a[2].b);
    return from_descriptor(state, &d);
}

CLASS_METHOD(TextureDescriptor, texture_buffer_descriptor, "TextureDescriptor",
             "For a texture buffer.", ENUMERATION("pixel_format", PixelFormat), SIZE("width"),
             U32_OR("options", 0), U32_OR("usage", 1)) {
    (void)self;
    MTLTextureDescriptor d = mtl_texture_descriptor_texture_buffer(
        (MTLPixelFormat)a[0].u, a[1].u, (MTLResourceOptions)a[2].u, (MTLTextureUsage)a[3].u);
    return from_descriptor(state, &d);
}

static const Method *const TextureDescriptor_methods[] = {
    &TextureDescriptor_texture2d_descriptor, &TextureDescriptor_texturecube_descriptor,
    &TextureDescriptor_texture_buffer_descriptor, NULL};
DEFINE_CLASS(TextureDescriptor, "How a texture is made.", .methods = TextureDescriptor_methods,
             .fields = TextureDescriptor_fields, .factory = "texture_descriptor");

// ---- Texture ----

#define TEXTURE_PROPS(RO, RW)                                                                      \
    RO(Texture, texture_type, "TextureType", "Dimensions.",                                        \
       from_enum(state, E_TextureType, mtl_texture_texture_type(self->native)))                    \
    RO(Texture, pixel_format, "PixelFormat", "What a texel is.",                                   \
       from_enum(state, E_PixelFormat, mtl_texture_pixel_format(self->native)))                    \
    NUMBER(RO, Texture, texture, width, "Texels in x.")                                            \
    NUMBER(RO, Texture, texture, height, "Texels in y.")                                           \
    NUMBER(RO, Texture, texture, depth, "Texels in z.")                                            \
    NUMBER(RO, Texture, texture, mipmap_level_count, "Levels.")                                    \
    NUMBER(RO, Texture, texture, sample_count, "Samples of a texel.")                              \
    NUMBER(RO, Texture, texture, array_length, "Slices.")                                          \
    NUMBER(RO, Texture, texture, usage, "TextureUsage bits.")                                      \
    NUMBER(RO, Texture, texture, allocated_size, "Bytes taken.")                                   \
    NUMBER(RO, Texture, texture, resource_options, "Its modes as bits.")                           \
    NUMBER(RO, Texture, texture, heap_offset, "Its place in the heap.")                            \
    NUMBER(RO, Texture, texture, buffer_offset, "Where in its buffer it begins.")                  \
    NUMBER(RO, Texture, texture, buffer_bytes_per_row, "Bytes between rows in its buffer.")        \
    RO(Texture, storage_mode, "StorageMode", "Where its memory is.",                               \
       from_enum(state, E_StorageMode, mtl_texture_storage_mode(self->native)))                    \
    RO(Texture, gpu_resource_id, "int", "What stands for it in argument buffers.",                 \
       from_u64(mtl_texture_gpu_resource_id(self->native).impl))                                   \
    RO(Texture, parent_texture, "Texture | None", "The texture it is a view of.",                  \
       wrap(state, C_Texture, mtl_texture_parent_texture(self->native)))                           \
    RO(Texture, buffer, "Buffer | None", "The buffer whose memory it is.",                         \
       wrap(state, C_Buffer, mtl_texture_buffer(self->native)))                                    \
    RO(Texture, heap, "Heap | None", "The heap it is in.",                                         \
       wrap(state, C_Heap, mtl_texture_heap(self->native)))                                        \
    DEVICE(RO, Texture, texture)                                                                   \
    LABEL(RW, Texture, texture)
PROPS(Texture, TEXTURE_PROPS);

// Texels and bytes of a block, by format.
static const struct {
    MTLPixelFormat format;
    uint8_t width, height, bytes;
} blocks[] = {
#define ABI_PIXEL_FORMAT(name, value, coding, kind, block_width, block_height, block_bytes, ...)   \
    {MTLPixelFormat##name, block_width, block_height, block_bytes},
#include "../../src/abi/pixel_formats.def"
};

// Bytes from the first texel of a region to the end of its last; SIZE_MAX: too many. The library
// checks the region and the strides; what it cannot know is how much memory is behind the pointer.
static size_t region_bytes(MTLTexture *texture, size_t bytes_per_row, size_t bytes_per_image,
                           MTLSize size) {
    size_t i = 0, n = sizeof blocks / sizeof *blocks, last, rows, total;
    if (!size.width || !size.height || !size.depth) return 0;
    while (i < n && blocks[i].format != mtl_texture_pixel_format(texture)) i++;
    if (i == n) return SIZE_MAX;
    size_t n_rows = (size.height - 1) / blocks[i].height + 1;
    size_t n_columns = (size.width - 1) / blocks[i].width + 1;
    if (blocks[i].format >= MTLPixelFormatPVRTC_RGB_2BPP &&
        blocks[i].format <= MTLPixelFormatPVRTC_RGBA_4BPP_sRGB) { // no rows; two by two at least
        n_columns = n_columns < 2 ? 2 : n_columns;
        n_rows = n_rows < 2 ? 2 : n_rows;
        bytes_per_row = n_columns * blocks[i].bytes;
    }
    if (__builtin_mul_overflow(n_columns, blocks[i].bytes, &last) ||
        __builtin_mul_overflow(bytes_per_row, n_rows - 1, &rows) ||
        __builtin_mul_overflow(bytes_per_image, size.depth - 1, &total) ||
        __builtin_add_overflow(total, rows, &total) || __builtin_add_overflow(total, last, &total))
        return SIZE_MAX;
    return total;
}

#define REGION_ARGS                                                                                \
    SIZE("bytes_per_row"), SIZE("x"), SIZE("y"), SIZE("width"), SIZE("height"),                    \
        SIZE_OR("level", 0), SIZE_OR("slice", 0), SIZE_OR("z", 0), SIZE_OR("depth", 1),            \
        SIZE_OR("bytes_per_image", 0)

static MTLRegion to_region(const Arg *a) { // from bytes_per_row on
    return (MTLRegion){{a[1].u, a[2].u, a[7].u}, {a[3].u, a[4].u, a[8].u}};
}

METHOD(Texture, replace_region, "None",
       "Copies texels in, at once: data is rows of bytes_per_row bytes.", BYTES("data"),
       REGION_ARGS) {
    MTLRegion region = to_region(a + 1);
    size_t needed = region_bytes(self->native, a[1].u, a[10].u, region.size);
    if (needed > (size_t)a[0].n)
        return raise_text(state, ERROR_VALIDATION,
                          "Texture.replace_region: the region needs %zu bytes, data has %zd",
                          needed, a[0].n);
    mtl_texture_replace_region_slice(self->native, region, a[6].u, a[7].u, a[0].s, a[1].u, a[10].u);
    return none(state);
}

METHOD(Texture, get_bytes, "bytes | None",
       "Copies texels out, at once: rows of bytes_per_row bytes, as bytes, or into a writable "
       "bytes-like object (then None).",
       REGION_ARGS, ANY_OR("out")) {
    MTLRegion region = to_region(a);
    size_t needed = region_bytes(self->native, a[0].u, a[9].u, region.size);
    Py_buffer out = {0};
    PyObject *bytes = NULL;
    bool into = a[10].py && a[10].py != Py_None;
    // Not more than the texture can have, however large the strides.
    if (needed > ((size_t)1 << 40))
        return raise_text(state, ERROR_VALIDATION, "Texture.get_bytes: the region is too large");
    if (into) {
        if (PyObject_GetBuffer(a[10].py, &out, PyBUF_WRITABLE) < 0) return NULL;
        if ((size_t)out.len < needed) {
            raise_text(state, ERROR_VALIDATION,
                       "Texture.get_bytes: the region needs %zu bytes, out has %zd", needed,
                       out.len);
            PyBuffer_Release(&out);
            return NULL;
        }
        mtl_texture_get_bytes_slice(self->native, out.buf, a[0].u, a[9].u, region, a[5].u, a[6].u);
        PyBuffer_Release(&out);
        return none(state);
    }
    char *room = calloc(needed ? needed : 1, 1); // gaps between rows are zeros
    if (!room) return PyErr_NoMemory();
    mtl_texture_get_bytes_slice(self->native, room, a[0].u, a[9].u, region, a[5].u, a[6].u);
    bytes = PyBytes_FromStringAndSize(room, (Py_ssize_t)needed);
    free(room);
    return bytes;
}

METHOD(Texture, new_texture_view, "Texture | None",
       "The same texels in another format, type, range of levels or of slices.",
       ENUMERATION("pixel_format", PixelFormat),
       {"texture_type", K_ENUM, E_TextureType, "None", 0, true}, OPTIONAL("levels", Range),
       OPTIONAL("slices", Range)) {
    MTLTextureViewDescriptor d = {.pixel_format = (MTLPixelFormat)a[0].u};
    if (a[1].py && a[1].py != Py_None) {
        d.texture_type_is_set = true;
        d.texture_type = (MTLTextureType)a[1].u;
    }
    if (a[2].o) d.level_range = to_range(a[2].o);
    if (a[3].o) d.slice_range = to_range(a[3].o);
    return wrap_new(state, C_Texture,
                    mtl_texture_new_texture_view_with_descriptor(self->native, &d));
}

METHOD0(Texture, make_aliasable, "None",
        "Lets later resources of its heap take its place while it lives on.") {
    (void)a;
    mtl_resource_make_aliasable(self->native);
    return none(state);
}

METHOD(Texture, set_purgeable_state, "PurgeableState", "Sets the state and returns the one before.",
       ENUMERATION("state", PurgeableState)) {
    return from_enum(state, E_PurgeableState,
                     mtl_texture_set_purgeable_state(self->native, (MTLPurgeableState)a[0].u));
}

static const Method *const Texture_methods[] = {
    &Texture_replace_region, &Texture_get_bytes,           &Texture_new_texture_view,
    &Texture_make_aliasable, &Texture_set_purgeable_state, NULL};
DEFINE_CLASS(Texture, "An image, or several, for kernels to read and write.",
             .methods = Texture_methods, .props = Texture_props);

// ---- Samplers ----

static const Field SamplerDescriptor_fields[] = {
    {ENUM_OR("min_filter", SamplerMinMagFilter, Nearest, 0), "For shrinking.", false},
    {ENUM_OR("mag_filter", SamplerMinMagFilter, Nearest, 0), "For enlarging.", false},
    {ENUM_OR("mip_filter", SamplerMipFilter, NotMipmapped, 0), "Between levels.", false},
    {ENUM_OR("s_address_mode", SamplerAddressMode, ClampToEdge, 0), "Outside in x.", false},
    {ENUM_OR("t_address_mode", SamplerAddressMode, ClampToEdge, 0), "Outside in y.", false},
    {ENUM_OR("r_address_mode", SamplerAddressMode, ClampToEdge, 0), "Outside in z.", false},
    {ENUM_OR("border_color", SamplerBorderColor, TransparentBlack, 0), "Of ClampToBorderColor.",
     false},
    {ENUM_OR("reduction_mode", SamplerReductionMode, WeightedAverage, 0), "How texels combine.",
     false},
    {SIZE_OR("max_anisotropy", 1), "Samples along the longer axis, 1 .. 16.", false},
    {BOOL_OR("normalized_coordinates", true), "0 .. 1, not texels.", false},
    {DOUBLE_OR("lod_min_clamp", 0), "The least level of detail.", false},
    {DOUBLE_OR("lod_max_clamp", FLT_MAX), "The greatest level of detail.", false},
    {BOOL_OR("lod_average", false), "May average the level of detail.", false},
    {DOUBLE_OR("lod_bias", 0), "Added to the level of detail.", false},
    {ENUM_OR("compare_function", CompareFunction, Never, 0), "Of depth textures.", false},
    {BOOL_OR("support_argument_buffers", false), "May stand in argument buffers.", false},
    {STR_OR("label"), "A name for messages and traces.", false},
    NO_FIELD,
};
DEFINE_CLASS(SamplerDescriptor, "How a sampler is made.", .fields = SamplerDescriptor_fields,
             .factory = "sampler_descriptor");

#define SAMPLER_STATE_PROPS(RO, RW)                                                                \
    RO(SamplerState, label, "str", "Its descriptor's label.",                                      \
       from_str(mtl_sampler_state_label(self->native)))                                            \
    RO(SamplerState, gpu_resource_id, "int", "What stands for it in argument buffers.",            \
       from_u64(mtl_sampler_state_gpu_resource_id(self->native).impl))                             \
    DEVICE(RO, SamplerState, sampler_state)
PROPS(SamplerState, SAMPLER_STATE_PROPS);
DEFINE_CLASS(SamplerState, "How kernels sample textures.", .props = SamplerState_props);
