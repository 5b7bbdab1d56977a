// SPDX-License-Identifier: Apache-2.0
// texture.c: descriptors of textures, and copies of texels.
#include <stdlib.h>
#include <string.h>
#include "object.h"

// ---- TextureDescriptor ----

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

// ---- Texture ----

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
