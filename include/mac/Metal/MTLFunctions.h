// SPDX-License-Identifier: Apache-2.0
// Metal/MTLFunctions.h: Metal's functions and the makers of its structs. Included by Metal.h,
// behind the types.
#ifndef INGOT_MAC_METAL_MTLFUNCTIONS_H
#define INGOT_MAC_METAL_MTLFUNCTIONS_H
NS_ASSUME_NONNULL_BEGIN

typedef __autoreleasing MTLComputePipelineReflection *MTLAutoreleasedComputePipelineReflection;
typedef __autoreleasing MTLRenderPipelineReflection *MTLAutoreleasedRenderPipelineReflection;
typedef __autoreleasing MTLArgument *MTLAutoreleasedArgument;
typedef NSString *MTLCommonCounter, *MTLCommonCounterSet, *MTLDeviceNotificationName;

#define MTLResourceCPUCacheModeShift 0
#define MTLResourceCPUCacheModeMask (0xfUL << MTLResourceCPUCacheModeShift)
#define MTLResourceStorageModeShift 4
#define MTLResourceStorageModeMask (0xfUL << MTLResourceStorageModeShift)
#define MTLResourceHazardTrackingModeShift 8
#define MTLResourceHazardTrackingModeMask (0x3UL << MTLResourceHazardTrackingModeShift)
#define MTLCounterErrorValue ((uint64_t)~0ULL)
#define MTLCounterDontSample ((NSUInteger) - 1)
#define MTLMaxBlitPassSampleBuffers ((NSUInteger)4)
#define MTLMaxComputePassSampleBuffers ((NSUInteger)4)
#define MTLMaxRenderPassSampleBuffers ((NSUInteger)4)

OBJC_EXPORT id<MTLDevice> _Nullable MTLCreateSystemDefaultDevice(void) NS_RETURNS_RETAINED;
OBJC_EXPORT NSArray<id<MTLDevice>> *MTLCopyAllDevices(void) NS_RETURNS_RETAINED;
OBJC_EXPORT NSArray<id<MTLDevice>> *MTLCopyAllDevicesWithObserver(
    id _Nullable __autoreleasing *_Nullable observer,
    void (^handler)(id<MTLDevice> device, MTLDeviceNotificationName name)) NS_RETURNS_RETAINED;
OBJC_EXPORT void MTLRemoveDeviceObserver(id observer);

OBJC_EXPORT size_t MTLIOCompressionContextDefaultChunkSize(void);
OBJC_EXPORT MTLIOCompressionContext _Nullable MTLIOCreateCompressionContext(
    const char *path, MTLIOCompressionMethod type, size_t chunkSize);
OBJC_EXPORT void MTLIOCompressionContextAppendData(MTLIOCompressionContext context,
                                                   const void *data, size_t size);
OBJC_EXPORT MTLIOCompressionStatus
MTLIOFlushAndDestroyCompressionContext(MTLIOCompressionContext context);

NS_INLINE MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
    MTLSize size = {width, height, depth};
    return size;
}
NS_INLINE MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z) {
    MTLOrigin origin = {x, y, z};
    return origin;
}
NS_INLINE MTLRegion MTLRegionMake1D(NSUInteger x, NSUInteger width) {
    MTLRegion region = {{x, 0, 0}, {width, 1, 1}};
    return region;
}
NS_INLINE MTLRegion MTLRegionMake2D(NSUInteger x, NSUInteger y, NSUInteger width,
                                    NSUInteger height) {
    MTLRegion region = {{x, y, 0}, {width, height, 1}};
    return region;
}
NS_INLINE MTLRegion MTLRegionMake3D(NSUInteger x, NSUInteger y, NSUInteger z, NSUInteger width,
                                    NSUInteger height, NSUInteger depth) {
    MTLRegion region = {{x, y, z}, {width, height, depth}};
    return region;
}
NS_INLINE MTLSamplePosition MTLSamplePositionMake(float x, float y) {
    MTLSamplePosition position = {x, y};
    return position;
}
NS_INLINE MTLCoordinate2D MTLCoordinate2DMake(float x, float y) {
    return MTLSamplePositionMake(x, y);
}
NS_INLINE MTLClearColor MTLClearColorMake(double red, double green, double blue, double alpha) {
    MTLClearColor color = {red, green, blue, alpha};
    return color;
}
NS_INLINE MTLTextureSwizzleChannels MTLTextureSwizzleChannelsMake(MTLTextureSwizzle r,
                                                                  MTLTextureSwizzle g,
                                                                  MTLTextureSwizzle b,
                                                                  MTLTextureSwizzle a) {
    MTLTextureSwizzleChannels channels = {r, g, b, a};
    return channels;
}
NS_INLINE MTLIndirectCommandBufferExecutionRange
MTLIndirectCommandBufferExecutionRangeMake(uint32_t location, uint32_t length) {
    MTLIndirectCommandBufferExecutionRange range = {location, length};
    return range;
}
NS_INLINE MTL4BufferRange MTL4BufferRangeMake(uint64_t address, uint64_t length) {
    MTL4BufferRange range = {address, length};
    return range;
}
NS_INLINE MTLPackedFloat3 MTLPackedFloat3Make(float x, float y, float z) {
    MTLPackedFloat3 packed = {x, y, z};
    return packed;
}
#define MTLTextureSwizzleChannelsDefault                                                           \
    (MTLTextureSwizzleChannelsMake(MTLTextureSwizzleRed, MTLTextureSwizzleGreen,                   \
                                   MTLTextureSwizzleBlue, MTLTextureSwizzleAlpha))
NS_ASSUME_NONNULL_END
#endif
