// SPDX-License-Identifier: Apache-2.0
// picture.h: what the samples in Objective-C share: targets, pixels, PNG files, errors.
#ifndef EXAMPLES_OBJC_PICTURE_H
#define EXAMPLES_OBJC_PICTURE_H
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include "../png.h"

static inline int complain(NSError *error) {
    fprintf(stderr, "%s\n", error.localizedDescription.UTF8String);
    return 1;
}

static inline id<MTLTexture> new_target(id<MTLDevice> device, MTLPixelFormat format,
                                        NSUInteger width, NSUInteger height) {
    MTLTextureDescriptor *d = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:format
                                                                                 width:width
                                                                                height:height
                                                                             mipmapped:NO];
    d.usage = MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead;
    return [device newTextureWithDescriptor:d];
}

static inline unsigned pixel_of(id<MTLTexture> texture, NSUInteger x, NSUInteger y) {
    unsigned value = 0;
    [texture getBytes:&value bytesPerRow:4 fromRegion:MTLRegionMake2D(x, y, 1, 1) mipmapLevel:0];
    return value;
}

// Of a texture of four bytes a pixel, red first; nothing without a name.
static inline void save(id<MTLTexture> texture, const char *path) {
    if (!path) return;
    NSMutableData *pixels = [NSMutableData dataWithLength:texture.width * texture.height * 4];
    [texture getBytes:pixels.mutableBytes
          bytesPerRow:texture.width * 4
           fromRegion:MTLRegionMake2D(0, 0, texture.width, texture.height)
          mipmapLevel:0];
    write_png(path, pixels.bytes, (uint32_t)texture.width, (uint32_t)texture.height);
}
#endif
