// SPDX-License-Identifier: Apache-2.0
// test_texture_random.c: random copies between textures, buffers and memory, many of them wrong,
// beside a model that keeps the bytes itself and decides by Metal's documented rules which calls
// are valid: the library must refuse exactly the others, and all bytes must be the model's in the
// end.
#include "blit_test.h"

enum { N_TEXTURES = 14, N_OPS = 6000, BUFFER = 40000 };

typedef struct Kind {
    MTLPixelFormat format;
    size_t bw, bh, bytes;
} Kind;
static const Kind kinds[] = {
    {MTLPixelFormatR8Unorm, 1, 1, 1},      {MTLPixelFormatRGBA8Unorm, 1, 1, 4},
    {MTLPixelFormatRG16Uint, 1, 1, 4},     {MTLPixelFormatRGBA32Float, 1, 1, 16},
    {MTLPixelFormatBC1_RGBA, 4, 4, 8},     {MTLPixelFormatASTC_5x4_LDR, 5, 4, 16},
    {MTLPixelFormatDepth32Float, 1, 1, 4},
};

typedef struct Texture {
    MTLTexture *texture;
    const Kind *kind;
    size_t w, h, d, slices, levels;
    uint8_t *data[8]; // per level: slices or planes, rows of blocks
} Texture;

static Texture textures[N_TEXTURES];
static MTLBuffer *buffer;
static uint8_t shadow[BUFFER]; // of the buffer
static uint32_t seed = 20261115;

static size_t below(size_t n) { return n ? noise(&seed) % n : 0; }
static size_t shrink(size_t n, size_t level) { return n >> level ? n >> level : 1; }
static size_t blocks(size_t n, size_t block) { return (n + block - 1) / block; }

static size_t row_bytes(const Texture *t, size_t level) {
    return blocks(shrink(t->w, level), t->kind->bw) * t->kind->bytes;
}

static size_t n_rows(const Texture *t, size_t level) {
    return blocks(shrink(t->h, level), t->kind->bh);
}

static uint8_t *block_at(const Texture *t, size_t level, size_t plane, size_t row, size_t column) {
    return t->data[level] + (plane * n_rows(t, level) + row) * row_bytes(t, level) +
           column * t->kind->bytes;
}

static void make(Texture *t) {
    static const MTLTextureType types[] = {
        MTLTextureType1D,   MTLTextureType1DArray,   MTLTextureType2D, MTLTextureType2DArray,
        MTLTextureTypeCube, MTLTextureTypeCubeArray, MTLTextureType3D};
    t->kind = &kinds[below(sizeof kinds / sizeof *kinds)];
    bool flat = t->kind->bw > 1 || t->kind->format == MTLPixelFormatDepth32Float;
    MTLTextureType type = types[flat ? 2 + below(4) : below(7)];
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    bool cube = type == MTLTextureTypeCube || type == MTLTextureTypeCubeArray;
    bool line = type == MTLTextureType1D || type == MTLTextureType1DArray;
    bool array = type == MTLTextureType1DArray || type == MTLTextureType2DArray ||
                 type == MTLTextureTypeCubeArray;
    t->w = 1 + below(24);
    t->h = line ? 1 : cube ? t->w : 1 + below(24);
    t->d = type == MTLTextureType3D ? 1 + below(6) : 1;
    size_t length = array ? 1 + below(4) : 1, largest = t->w > t->h ? t->w : t->h, levels = 1;
    t->slices = length * (cube ? 6 : 1);
    while (largest >> levels) levels++;
    t->levels = line ? 1 : 1 + below(levels);
    d.texture_type = type;
    d.pixel_format = t->kind->format;
    d.width = t->w, d.height = t->h, d.depth = t->d;
    d.array_length = length;
    d.mipmap_level_count = t->levels;
    t->texture = mtl_device_new_texture(device, &d);
    if (!t->texture) fail_msg("%s", last_text);
    for (size_t level = 0; level < t->levels; level++)
        t->data[level] =
            calloc(t->slices * shrink(t->d, level) * n_rows(t, level), row_bytes(t, level));
}

// ---- Metal's rules, once more ----

static bool fits(size_t at, size_t n, size_t size, size_t block) {
    return n > 0 && at + n <= size && at % block == 0 && (n % block == 0 || at + n == size);
}

static bool valid_region(const Texture *t, size_t level, size_t slice, MTLRegion r) {
    return level < t->levels && slice < t->slices &&
           fits(r.origin.x, r.size.width, shrink(t->w, level), t->kind->bw) &&
           fits(r.origin.y, r.size.height, shrink(t->h, level), t->kind->bh) &&
           fits(r.origin.z, r.size.depth, shrink(t->d, level), 1);
}

// The bytes a region takes; 0: the distances are wrong. Fills in those that may be 0.
static size_t span(const Texture *t, MTLSize s, size_t *row, size_t *image) {
    size_t tight = blocks(s.width, t->kind->bw) * t->kind->bytes,
           rows = blocks(s.height, t->kind->bh);
    if (*row == 0 && rows == 1 && s.depth == 1) *row = tight;
    if (*row < tight || *row % t->kind->bytes) return 0;
    if (s.depth == 1) *image = *row * rows;
    if (*image < *row * rows || *image % t->kind->bytes) return 0;
    return *image * (s.depth - 1) + *row * (rows - 1) + tight;
}

// ---- Choosing, mostly well ----

static MTLRegion choose_region(const Texture *t, size_t *level, size_t *slice) {
    *level = below(t->levels + (below(20) == 0));
    *slice = below(t->slices + (below(20) == 0));
    size_t w = shrink(t->w, *level), h = shrink(t->h, *level), d = shrink(t->d, *level);
    MTLRegion r = {{below(w), below(h), below(d)}, {0, 0, 0}};
    if (below(8)) { // to blocks
        r.origin.x -= r.origin.x % t->kind->bw;
        r.origin.y -= r.origin.y % t->kind->bh;
    }
    r.size = mtl_size_make(1 + below(w - r.origin.x), 1 + below(h - r.origin.y),
                           1 + below(d - r.origin.z));
    if (below(8)) {
        size_t bw = blocks(r.size.width, t->kind->bw) * t->kind->bw;
        size_t bh = blocks(r.size.height, t->kind->bh) * t->kind->bh;
        r.size.width = r.origin.x + bw > w ? w - r.origin.x : bw;
        r.size.height = r.origin.y + bh > h ? h - r.origin.y : bh;
    }
    if (below(25) == 0) r.size.width += 1 + below(3);
    if (below(25) == 0) r.size.depth += 1;
    if (below(40) == 0) r.size.height = 0;
    return r;
}

static void choose_strides(const Texture *t, MTLSize s, size_t *row, size_t *image) {
    *row = blocks(s.width, t->kind->bw) * t->kind->bytes + t->kind->bytes * below(3);
    *image = *row * (blocks(s.height, t->kind->bh) + below(2));
    if (below(15) == 0) *row = below(100);
    if (below(15) == 0) *image = below(300);
}

// Copies rows of blocks between the model of a texture and linear memory.
static void model_copy(const Texture *t, size_t level, size_t slice, MTLRegion r, uint8_t *linear,
                       size_t row, size_t image, bool in) {
    size_t n = blocks(r.size.width, t->kind->bw) * t->kind->bytes;
    for (size_t z = 0; z < r.size.depth; z++)
        for (size_t y = 0; y < blocks(r.size.height, t->kind->bh); y++) {
            uint8_t *texels = block_at(t, level, slice + r.origin.z + z,
                                       r.origin.y / t->kind->bh + y, r.origin.x / t->kind->bw);
            uint8_t *bytes = linear + z * image + y * row;
            memcpy(in ? texels : bytes, in ? bytes : texels, n);
        }
}

static void expect(bool valid, const char *what, int step) {
    if (valid != (n_messages == 0))
        fail_msg("step %d, %s: %s, the model says %s: %s", step, what,
                 n_messages ? "refused" : "accepted", valid ? "valid" : "invalid", last_text);
}

// ---- Operations ----

static void through_memory(const Texture *t, int step) {
    size_t level, slice, row, image;
    MTLRegion r = choose_region(t, &level, &slice);
    choose_strides(t, r.size, &row, &image);
    size_t row2 = row, image2 = image, n = 0;
    bool valid = valid_region(t, level, slice, r) && (n = span(t, r.size, &row2, &image2)) > 0;
    Guarded g = guarded(n ? n : 64, true);
    clear_messages();
    if (step % 2) {
        for (size_t i = 0; i < g.n; i++) g.bytes[i] = (uint8_t)noise(&seed);
        mtl_texture_replace_region_slice(t->texture, r, level, slice, g.bytes, row, image);
        expect(valid, "replace_region", step);
        if (valid) model_copy(t, level, slice, r, g.bytes, row2, image2, true);
    } else {
        Guarded want = guarded(g.n, true);
        mtl_texture_get_bytes_slice(t->texture, g.bytes, row, image, r, level, slice);
        expect(valid, "get_bytes", step);
        if (valid) model_copy(t, level, slice, r, want.bytes, row2, image2, false);
        assert_memory_equal(g.bytes, want.bytes, g.n); // what lies between rows too
        unguard(&want);
    }
    unguard(&g);
}

static void finish(bool valid) {
    mtl_blit_command_encoder_end_encoding(blit);
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands),
                     valid ? MTLCommandBufferStatusCompleted : MTLCommandBufferStatusError);
    mtl_release(commands);
}

static void through_buffer(const Texture *t, int step) {
    size_t level, slice, row, image;
    MTLRegion r = choose_region(t, &level, &slice);
    choose_strides(t, r.size, &row, &image);
    size_t offset = below(BUFFER / 64) * 16 + (below(20) ? 0 : below(16));
    if (below(20) == 0) offset = BUFFER - below(2000);
    size_t row2 = row, image2 = image, n = 0;
    bool valid = valid_region(t, level, slice, r) && (n = span(t, r.size, &row2, &image2)) > 0 &&
                 offset % t->kind->bytes == 0 && offset + n <= BUFFER;
    begin();
    if (step % 2) {
        mtl_blit_command_encoder_copy_from_buffer_to_texture(
            blit, buffer, offset, row, image, r.size, t->texture, slice, level, r.origin, 0);
        if (valid) model_copy(t, level, slice, r, shadow + offset, row2, image2, true);
    } else {
        mtl_blit_command_encoder_copy_from_texture_to_buffer(
            blit, t->texture, slice, level, r.origin, r.size, buffer, offset, row, image, 0);
        if (valid) model_copy(t, level, slice, r, shadow + offset, row2, image2, false);
    }
    expect(valid, "buffer and texture", step);
    finish(valid);
}

static bool apart(size_t a, size_t b, size_t n) { return a + n <= b || b + n <= a; }

static void between_textures(const Texture *a, const Texture *b, int step) {
    size_t la, sa, lb, sb;
    MTLRegion from = choose_region(a, &la, &sa), to = choose_region(b, &lb, &sb);
    if (below(3)) { // something that fits both
        to.size.width = from.size.width < to.size.width ? from.size.width : to.size.width;
        to.size.height = from.size.height < to.size.height ? from.size.height : to.size.height;
        to.size.depth = from.size.depth < to.size.depth ? from.size.depth : to.size.depth;
        from.size = to.size;
    }
    to.size = from.size;
    bool valid = a->kind == b->kind && valid_region(a, la, sa, from) && valid_region(b, lb, sb, to);
    if (valid && a == b && la == lb && sa == sb)
        valid = apart(from.origin.x, to.origin.x, to.size.width) ||
                apart(from.origin.y, to.origin.y, to.size.height) ||
                apart(from.origin.z, to.origin.z, to.size.depth);
    begin();
    mtl_blit_command_encoder_copy_from_texture(blit, a->texture, sa, la, from.origin, from.size,
                                               b->texture, sb, lb, to.origin);
    expect(valid, "texture to texture", step);
    if (valid) {
        size_t row = 0, image = 0, width = blocks(from.size.width, a->kind->bw) * a->kind->bytes;
        row = width, image = width * blocks(from.size.height, a->kind->bh);
        uint8_t *middle = malloc(image * from.size.depth);
        model_copy(a, la, sa, from, middle, row, image, false);
        model_copy(b, lb, sb, to, middle, row, image, true);
        free(middle);
    }
    finish(valid);
}

static void between_buffers(int step) {
    size_t from = below(BUFFER), to = below(BUFFER), n = below(below(2) ? 300 : BUFFER / 2);
    bool copy = below(2);
    bool valid =
        to + n <= BUFFER && (copy ? from + n <= BUFFER && (n == 0 || apart(from, to, n)) : n > 0);
    begin();
    if (copy)
        mtl_blit_command_encoder_copy_from_buffer(blit, buffer, from, buffer, to, n);
    else
        mtl_blit_command_encoder_fill_buffer(blit, buffer, mtl_range_make(to, n), (uint8_t)from);
    expect(valid, "buffer", step);
    if (valid && copy) memcpy(shadow + to, shadow + from, n);
    if (valid && !copy) memset(shadow + to, (uint8_t)from, n);
    finish(valid);
}

static void test_random(void **state) {
    (void)state;
    const char *text = getenv("SEED"); // another sequence
    if (text) seed = (uint32_t)strtoul(text, NULL, 10) * 2654435761u + 1;
    for (int i = 0; i < N_TEXTURES; i++) make(&textures[i]);
    buffer = mtl_device_new_buffer_with_bytes(device, shadow, BUFFER, 0);
    int n_valid = 0;
    for (int step = 0; step < N_OPS; step++) {
        const Texture *t = &textures[below(N_TEXTURES)], *u = &textures[below(N_TEXTURES)];
        if (below(3) == 0) u = t;
        switch (below(8)) {
        case 0:
        case 1:
        case 2: through_memory(t, step); break;
        case 3:
        case 4: through_buffer(t, step); break;
        case 5:
        case 6: between_textures(t, u, step); break;
        default: between_buffers(step); break;
        }
        n_valid += n_messages == 0;
        if (step % 500 == 0) assert_memory_equal(mtl_buffer_contents(buffer), shadow, BUFFER);
    }
    assert_true(n_valid > N_OPS / 3 && n_valid < N_OPS * 9 / 10);
    assert_memory_equal(mtl_buffer_contents(buffer), shadow, BUFFER);
    for (int i = 0; i < N_TEXTURES; i++) {
        const Texture *t = &textures[i];
        for (size_t level = 0; level < t->levels; level++)
            for (size_t slice = 0; slice < t->slices; slice++) {
                size_t n = row_bytes(t, level) * n_rows(t, level), d = shrink(t->d, level);
                uint8_t *bytes = malloc(n * d);
                mtl_texture_get_bytes_slice(
                    t->texture, bytes, row_bytes(t, level), n,
                    mtl_region_make_3d(0, 0, 0, shrink(t->w, level), shrink(t->h, level), d), level,
                    slice);
                assert_memory_equal(bytes, t->data[level] + slice * n, n * d);
                free(bytes);
            }
        for (size_t level = 0; level < t->levels; level++) free(t->data[level]);
        mtl_release(t->texture);
    }
    mtl_release(buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
