// SPDX-License-Identifier: Apache-2.0
// test_surface.m: textures over surfaces, and textures that go to other processes.
#import <IOSurface/IOSurface.h>
#include "face_test.h"

static id<MTLTexture> over(id<MTLDevice> device, IOSurfaceRef surface, MTLPixelFormat format,
                           NSUInteger plane) {
    MTLTextureDescriptor *d = [MTLTextureDescriptor
        texture2DDescriptorWithPixelFormat:format
                                     width:IOSurfaceGetWidthOfPlane(surface, plane)
                                    height:IOSurfaceGetHeightOfPlane(surface, plane)
                                 mipmapped:NO];
    d.usage = MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead;
    d.storageMode = MTLStorageModeShared;
    return [device newTextureWithDescriptor:d iosurface:surface plane:plane];
}

static void clear(id<MTLCommandQueue> queue, id<MTLTexture> texture, MTLClearColor color) {
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    pass.colorAttachments[0].texture = texture;
    pass.colorAttachments[0].loadAction = MTLLoadActionClear;
    pass.colorAttachments[0].storeAction = MTLStoreActionStore;
    pass.colorAttachments[0].clearColor = color;
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [[commands renderCommandEncoderWithDescriptor:pass] endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.status == MTLCommandBufferStatusCompleted);
}

static void one_plane(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    NSDictionary *properties = @{
        (__bridge NSString *)kIOSurfaceWidth : @30,
        (__bridge NSString *)kIOSurfaceHeight : @7,
        (__bridge NSString *)kIOSurfaceBytesPerElement : @4,
        (__bridge NSString *)kIOSurfacePixelFormat : @((uint32_t)'BGRA'),
    };
    IOSurfaceRef surface = IOSurfaceCreate((__bridge CFDictionaryRef)properties);
    CHECK(surface != NULL);
    CHECK_EQUAL(IOSurfaceGetBytesPerRow(surface), 128);
    CHECK_EQUAL(IOSurfaceGetPlaneCount(surface), 0);
    CHECK_EQUAL(IOSurfaceGetPixelFormat(surface), 'BGRA');
    IOSurfaceRef again = IOSurfaceLookup(IOSurfaceGetID(surface));
    CHECK(again == surface);
    CFRelease(again);
    id<MTLTexture> t = over(device, surface, MTLPixelFormatBGRA8Unorm, 0);
    CHECK(t && t.iosurface == surface && t.iosurfacePlane == 0 && !t.buffer);
    clear(queue, t, MTLClearColorMake(1, 0, 0.2, 1));
    uint32_t seed = 0, later = 0;
    CHECK_EQUAL(IOSurfaceLock(surface, 0, &seed), 0);
    const uint8_t *p = (uint8_t *)IOSurfaceGetBaseAddress(surface) + 6 * 128 + 29 * 4;
    CHECK(p[0] == 51 && p[1] == 0 && p[2] == 255 && p[3] == 255);
    CHECK_EQUAL(p[4], 0); // behind the row: nobody's
    CHECK_EQUAL(IOSurfaceUnlock(surface, 0, &later), 0);
    CHECK(later != seed);
    CFRelease(surface); // the texture keeps it
    CHECK_EQUAL(IOSurfaceGetWidth(t.iosurface), 30);
    RELEASE(t);
}

static void two_planes(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    IOSurface *surface = [[IOSurface alloc] initWithProperties:@{
        IOSurfacePropertyKeyWidth : @16,
        IOSurfacePropertyKeyHeight : @8,
        IOSurfacePropertyKeyPlaneInfo : @[
            @{
                IOSurfacePropertyKeyPlaneWidth : @16,
                IOSurfacePropertyKeyPlaneHeight : @8,
                IOSurfacePropertyKeyPlaneBytesPerElement : @1
            },
            @{
                IOSurfacePropertyKeyPlaneWidth : @8,
                IOSurfacePropertyKeyPlaneHeight : @4,
                IOSurfacePropertyKeyPlaneBytesPerElement : @2
            }
        ]
    }];
    CHECK_EQUAL(surface.planeCount, 2);
    CHECK_EQUAL([surface widthOfPlaneAtIndex:1], 8);
    IOSurfaceRef ref = (__bridge IOSurfaceRef)surface;
    id<MTLTexture> luma = over(device, ref, MTLPixelFormatR8Unorm, 0),
                   chroma = over(device, ref, MTLPixelFormatRG8Unorm, 1);
    CHECK_EQUAL(chroma.iosurfacePlane, 1);
    clear(queue, luma, MTLClearColorMake(0.2, 0, 0, 0));
    clear(queue, chroma, MTLClearColorMake(0.4, 0.6, 0, 0));
    CHECK_EQUAL(((uint8_t *)[surface baseAddressOfPlaneAtIndex:0])[15], 51);
    const uint8_t *second = [surface baseAddressOfPlaneAtIndex:1];
    CHECK(second[0] == 102 && second[1] == 153 && second[16] == 0);
    CHECK(!over(device, ref, MTLPixelFormatR8Unorm, 2));
    CHECK(![[IOSurface alloc] initWithProperties:@{IOSurfacePropertyKeyWidth : @16}]);
    RELEASE(luma), RELEASE(chroma), RELEASE(surface);
}

static void shared(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    MTLTextureDescriptor *d =
        [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA8Unorm
                                                           width:4
                                                          height:4
                                                       mipmapped:NO];
    d.usage = MTLTextureUsageRenderTarget;
    d.storageMode = MTLStorageModeShared;
    id<MTLTexture> t = [device newSharedTextureWithDescriptor:d];
    t.label = @"shared";
    CHECK(t.shareable);
    MTLSharedTextureHandle *handle = [t newSharedTextureHandle];
    CHECK_TEXT(handle.label, @"shared");
    CHECK(handle.device == device);
    id<MTLTexture> same = [device newSharedTextureWithHandle:handle];
    CHECK(same && same != t);
    clear(queue, t, MTLClearColorMake(0, 1, 0, 1));
    uint32_t texel = 0;
    [same getBytes:&texel bytesPerRow:16 fromRegion:MTLRegionMake2D(3, 3, 1, 1) mipmapLevel:0];
    CHECK_EQUAL(texel, 0xff00ff00u);
    RELEASE(same), RELEASE(handle), RELEASE(t);
}

static void body(id<MTLDevice> device) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    one_plane(device, queue);
    two_planes(device, queue);
    shared(device, queue);
    RELEASE(queue);
}

int main(void) { return run_tests(body); }
