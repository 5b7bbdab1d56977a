// SPDX-License-Identifier: Apache-2.0
// MTKTextureLoader.m: a picture file becomes a texture of 8 bits a channel. Alpha stays apart from the colours.
#import <MetalKit/MetalKit.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "image/image.h"

#define SHOWN __attribute__((visibility("default")))
#define NAMED(type, name) SHOWN type const name = @ #name // a constant that says its own name
NAMED(NSErrorDomain, MTKTextureLoaderErrorDomain);
NAMED(MTKTextureLoaderOption, MTKTextureLoaderOptionAllocateMipmaps);
NAMED(MTKTextureLoaderOption, MTKTextureLoaderOptionGenerateMipmaps);
NAMED(MTKTextureLoaderOption, MTKTextureLoaderOptionSRGB);
NAMED(MTKTextureLoaderOption, MTKTextureLoaderOptionTextureUsage);
NAMED(MTKTextureLoaderOption, MTKTextureLoaderOptionTextureStorageMode);
NAMED(MTKTextureLoaderOption, MTKTextureLoaderOptionTextureCPUCacheMode);
NAMED(MTKTextureLoaderOption, MTKTextureLoaderOptionOrigin);
NAMED(MTKTextureLoaderOrigin, MTKTextureLoaderOriginTopLeft);
NAMED(MTKTextureLoaderOrigin, MTKTextureLoaderOriginBottomLeft);
NAMED(MTKTextureLoaderOrigin, MTKTextureLoaderOriginFlippedVertically);

static void fail(NSError **error, const char *message) {
    if (!error) return;
    NSDictionary *info = @{NSLocalizedDescriptionKey : [NSString stringWithUTF8String:message]};
    *error = [NSError errorWithDomain:MTKTextureLoaderErrorDomain code:0 userInfo:info];
}

// Files have their first row at the top.
static void turn_over(ImageRgba *image) {
    size_t row = (size_t)image->width * 4;
    unsigned char spare[1024];
    for (uint32_t y = 0; y < image->height / 2; y++) {
        unsigned char *a = image->rgba + y * row, *b = image->rgba + (image->height - 1 - y) * row;
        for (size_t at = 0, n; at < row; at += n) {
            n = row - at < sizeof spare ? row - at : sizeof spare;
            memcpy(spare, a + at, n);
            memcpy(a + at, b + at, n);
            memcpy(b + at, spare, n);
        }
    }
}

SHOWN @implementation MTKTextureLoader

- (instancetype)initWithDevice:(id<MTLDevice>)device {
    if ((self = [super init])) _device = [device retain];
    return self;
}

- (void)dealloc {
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (void)fillMipmapsOf:(id<MTLTexture>)texture {
    id<MTLCommandQueue> queue = [_device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit generateMipmapsForTexture:texture];
    [blit endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    [queue release];
}

- (MTLTextureDescriptor *)descriptorFor:(const ImageRgba *)image options:(NSDictionary *)options {
    NSNumber *srgb = options[MTKTextureLoaderOptionSRGB],
             *usage = options[MTKTextureLoaderOptionTextureUsage];
    BOOL mipmaps = [options[MTKTextureLoaderOptionAllocateMipmaps] boolValue] ||
                   [options[MTKTextureLoaderOptionGenerateMipmaps] boolValue];
    BOOL linear = srgb && ![srgb boolValue];
    MTLPixelFormat format = linear ? MTLPixelFormatRGBA8Unorm : MTLPixelFormatRGBA8Unorm_sRGB;
    MTLTextureDescriptor *shape =
        [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:format
                                                           width:image->width
                                                          height:image->height
                                                       mipmapped:mipmaps];
    if (usage) shape.usage = [usage unsignedIntegerValue];
    // Private memory could not be written from here: the picture would have to be copied a second time.
    shape.cpuCacheMode = [options[MTKTextureLoaderOptionTextureCPUCacheMode] unsignedIntegerValue];
    return shape;
}

- (id<MTLTexture>)newTextureFromFile:(const char *)path
                             options:(NSDictionary *)options
                               error:(NSError **)error {
    ImageRgba image = {0};
    char message[MESSAGE_BYTES];
    if (error) *error = nil;
    if (!path || !image_rgba_load(&image, path, message)) {
        fail(error, path ? message : "There is no file.");
        return nil;
    }
    NSString *origin = options[MTKTextureLoaderOptionOrigin];
    if (origin && ![origin isEqualToString:MTKTextureLoaderOriginTopLeft]) turn_over(&image);
    id<MTLTexture> texture = [_device newTextureWithDescriptor:[self descriptorFor:&image
                                                                           options:options]];
    if (texture)
        [texture replaceRegion:MTLRegionMake2D(0, 0, image.width, image.height)
                   mipmapLevel:0
                     withBytes:image.rgba
                   bytesPerRow:(NSUInteger)image.width * 4];
    else
        fail(error, "The texture could not be made.");
    image_rgba_free(&image);
    if (texture && [options[MTKTextureLoaderOptionGenerateMipmaps] boolValue])
        [self fillMipmapsOf:texture];
    return texture;
}

- (id<MTLTexture>)newTextureWithContentsOfURL:(NSURL *)url
                                      options:(NSDictionary *)options
                                        error:(NSError **)error {
    return [self newTextureFromFile:[[url path] UTF8String] options:options error:error];
}

// The reader takes files: memory gets the name of one.
- (id<MTLTexture>)newTextureWithData:(NSData *)data
                             options:(NSDictionary *)options
                               error:(NSError **)error {
    char path[64];
    int file = memfd_create("picture", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    bool written = file >= 0 && write(file, [data bytes], [data length]) == (ssize_t)[data length];
    id<MTLTexture> texture = [self newTextureFromFile:written ? path : NULL
                                              options:options
                                                error:error];
    if (file >= 0) close(file);
    return texture;
}

- (void)newTextureWithContentsOfURL:(NSURL *)url
                            options:(NSDictionary *)options
                  completionHandler:(MTKTextureLoaderCallback)handler {
    dispatch_async(dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0), ^{
      NSError *error = nil;
      id<MTLTexture> texture = [self newTextureWithContentsOfURL:url options:options error:&error];
      handler(texture, error);
      [texture release];
    });
}

- (void)newTextureWithData:(NSData *)data
                   options:(NSDictionary *)options
         completionHandler:(MTKTextureLoaderCallback)handler {
    dispatch_async(dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0), ^{
      NSError *error = nil;
      id<MTLTexture> texture = [self newTextureWithData:data options:options error:&error];
      handler(texture, error);
      [texture release];
    });
}

@end
