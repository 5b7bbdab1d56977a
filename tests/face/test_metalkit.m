// SPDX-License-Identifier: Apache-2.0
// test_metalkit.m: MTKTextureLoader: a PNG of 2 x 2 pixels from memory and from a file, turned over, with mipmaps, damaged.
#include "face_test.h"
#import <MetalKit/MetalKit.h>

// Red, green; blue, (10, 20, 30) with half its alpha.
static const unsigned char png[] = {
    137, 80,  78,  71,  13,  10,  26,  10,  0,  0,   0,   13,  73,  72, 68,  82,  0,  0,  0,  2,
    0,   0,   0,   2,   8,   6,   0,   0,   0,  114, 182, 13,  36,  0,  0,   0,   21, 73, 68, 65,
    84,  120, 156, 99,  248, 207, 192, 240, 31, 12,  129, 244, 127, 46, 17,  185, 6,  0,  64, 242,
    6,   183, 27,  132, 21,  67,  0,   0,   0,  0,   73,  69,  78,  68, 174, 66,  96, 130};

static uint32_t pixel(id<MTLTexture> texture, NSUInteger x, NSUInteger y) {
    uint32_t value = 0;
    [texture getBytes:&value bytesPerRow:8 fromRegion:MTLRegionMake2D(x, y, 1, 1) mipmapLevel:0];
    return value;
}

static void body(id<MTLDevice> device) {
    NSError *error = nil;
    MTKTextureLoader *loader = [[MTKTextureLoader alloc] initWithDevice:device];
    CHECK(loader.device == device);
    NSData *data = [NSData dataWithBytes:png length:sizeof png];
    id<MTLTexture> texture = [loader newTextureWithData:data options:nil error:&error];
    CHECK(texture != nil && error == nil);
    CHECK_EQUAL(texture.pixelFormat, MTLPixelFormatRGBA8Unorm_sRGB);
    CHECK_EQUAL(pixel(texture, 0, 0), 0xff0000ffu);
    CHECK_EQUAL(pixel(texture, 1, 1), 0x801e140au);
    RELEASE(texture);
    NSDictionary *options = @{
        MTKTextureLoaderOptionSRGB : @NO,
        MTKTextureLoaderOptionGenerateMipmaps : @YES,
        MTKTextureLoaderOptionOrigin : MTKTextureLoaderOriginBottomLeft,
    };
    NSString *path = [NSTemporaryDirectory()
        stringByAppendingPathComponent:[NSString stringWithFormat:@"face-%d.png", getpid()]];
    CHECK([data writeToFile:path atomically:YES]);
    texture = [loader newTextureWithContentsOfURL:[NSURL fileURLWithPath:path]
                                          options:options
                                            error:&error];
    CHECK_EQUAL(texture.pixelFormat, MTLPixelFormatRGBA8Unorm);
    CHECK_EQUAL(texture.mipmapLevelCount, 2);
    CHECK_EQUAL(pixel(texture, 0, 0), 0xffff0000u);
    RELEASE(texture);
    unlink([path UTF8String]);
    texture = [loader newTextureWithContentsOfURL:[NSURL fileURLWithPath:path]
                                          options:nil
                                            error:&error];
    CHECK(texture == nil && [[error localizedDescription] length] > 0);
    texture = [loader newTextureWithData:[NSData dataWithBytes:png length:40]
                                 options:nil
                                   error:&error];
    CHECK(texture == nil && error != nil);
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    [loader newTextureWithData:data
                       options:nil
             completionHandler:^(id<MTLTexture> made, NSError *problem) {
               CHECK(made != nil && problem == nil);
               dispatch_semaphore_signal(done);
             }];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
#if !__has_feature(objc_arc)
    dispatch_release(done);
#endif
    RELEASE(loader);
}

int main(void) { return run_tests(body); }
