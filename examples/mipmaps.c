// SPDX-License-Identifier: Apache-2.0
// mipmaps.c: blits: an image goes from a buffer into a texture, the blit encoder makes its mipmaps,
// and every level comes back into a buffer, where a checkerboard must have become an even grey: the
// right one for sRGB. Then a view of one level is copied to a texture of its own.
#include "util.h"

enum { SIZE = 256, LEVELS = 9 };

int main(void) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *pixels = mtl_device_new_buffer(device, 4 * SIZE * SIZE, 0);
    MTLBuffer *back = mtl_device_new_buffer(device, 2 * 4 * SIZE * SIZE, 0);
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm_sRGB, SIZE, SIZE, true);
    MTLTexture *texture = mtl_device_new_texture(device, &d);
    require(pixels, NULL, "buffer");
    require(back, NULL, "buffer");
    require(texture, NULL, "texture");
    mtl_texture_set_label(texture, "checkerboard");
    if (mtl_texture_mipmap_level_count(texture) != LEVELS) return 1;
    uint32_t *board = mtl_buffer_contents(pixels);
    for (int i = 0; i < SIZE * SIZE; i++) board[i] = (i / SIZE + i) % 2 ? 0xffffffff : 0xff000000;

    d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm_sRGB, SIZE / 4, SIZE / 4, false);
    MTLTexture *quarter = mtl_device_new_texture(device, &d);
    MTLTexture *level2 = mtl_texture_new_texture_view_with_ranges(
        texture, MTLPixelFormatRGBA8Unorm_sRGB, MTLTextureType2D, mtl_range_make(2, 1),
        mtl_range_make(0, 1));
    require(level2, NULL, "view");

    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_copy_from_buffer_to_texture(blit, pixels, 0, 4 * SIZE, 0,
                                                         mtl_size_make(SIZE, SIZE, 1), texture, 0,
                                                         0, mtl_origin_make(0, 0, 0), 0);
    mtl_blit_command_encoder_generate_mipmaps(blit, texture);
    size_t offsets[LEVELS], at = 0;
    for (size_t level = 0; level < LEVELS; level++) {
        size_t size = SIZE >> level;
        offsets[level] = at;
        mtl_blit_command_encoder_copy_from_texture_to_buffer(
            blit, texture, 0, level, mtl_origin_make(0, 0, 0), mtl_size_make(size, size, 1), back,
            at, 4 * size, 0, 0);
        at += 4 * size * size;
    }
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, level2, quarter);
    mtl_blit_command_encoder_end_encoding(blit);
    complete(commands);

    // Half the light of white is 188 of 255 in sRGB, not 128.
    int wrong = 0;
    const unsigned char *bytes = mtl_buffer_contents(back);
    for (size_t level = 1; level < LEVELS; level++) {
        const unsigned char *texel = bytes + offsets[level];
        printf("level %zu: %3d x %-3d %d %d %d\n", level, SIZE >> level, SIZE >> level, texel[0],
               texel[1], texel[2]);
        for (size_t i = 0; i < 4u * (SIZE >> level) * (SIZE >> level); i++)
            wrong += texel[i] != (i % 4 == 3 ? 255 : 188);
    }
    unsigned char copied[4] = {0};
    mtl_texture_get_bytes(quarter, copied, 4, mtl_region_make_2d(SIZE / 4 - 1, SIZE / 4 - 1, 1, 1),
                          0);
    wrong += copied[0] != 188;
    mtl_release(commands), mtl_release(level2), mtl_release(quarter), mtl_release(texture);
    mtl_release(back), mtl_release(pixels), mtl_release(queue), mtl_release(device);
    return wrong > 0;
}
