// SPDX-License-Identifier: Apache-2.0
// MetalPerformanceShaders/MPSImage.h: images, and filters from one texture to another. A filter
// computes the part of the destination in clipRect; the first pixel of it is over pixel `offset`
// of the source.
#ifndef INGOT_MAC_MPSIMAGE_H
#define INGOT_MAC_MPSIMAGE_H
#import <MetalPerformanceShaders/MPSCore.h>
@class MPSImage;

typedef NS_ENUM(NSUInteger, MPSImageEdgeMode) {
    MPSImageEdgeModeZero = 0,
    MPSImageEdgeModeClamp = 1,
    MPSImageEdgeModeMirror = 2,         // around the last pixel
    MPSImageEdgeModeMirrorWithEdge = 3, // which is seen twice
    MPSImageEdgeModeConstant = 4,       // 0: there is no property for it on a Mac either
};
typedef NS_ENUM(NSUInteger, MPSImageFeatureChannelFormat) {
    MPSImageFeatureChannelFormatNone = 0,
    MPSImageFeatureChannelFormatUnorm8 = 1,
    MPSImageFeatureChannelFormatUnorm16 = 2,
    MPSImageFeatureChannelFormatFloat16 = 3,
    MPSImageFeatureChannelFormatFloat32 = 4,
};
FOUNDATION_EXPORT const MTLRegion MPSRectNoClip;

NS_ASSUME_NONNULL_BEGIN
typedef id<MTLTexture> _Nonnull (^MPSCopyAllocator)(id filter, id<MTLCommandBuffer> commandBuffer,
                                                    id<MTLTexture> sourceTexture)
    NS_RETURNS_RETAINED;

@interface MPSImageDescriptor : NSObject <NSCopying>
@property(nonatomic) NSUInteger width;
@property(nonatomic) NSUInteger height;
@property(nonatomic) NSUInteger featureChannels;
@property(nonatomic) NSUInteger numberOfImages;
@property(nonatomic) MPSImageFeatureChannelFormat channelFormat;
@property(readonly, nonatomic) MTLPixelFormat pixelFormat;
@property(nonatomic) MTLTextureUsage usage;
@property(nonatomic) MTLStorageMode storageMode;
+ (instancetype)imageDescriptorWithChannelFormat:(MPSImageFeatureChannelFormat)format
                                           width:(NSUInteger)width
                                          height:(NSUInteger)height
                                 featureChannels:(NSUInteger)channels;
+ (instancetype)imageDescriptorWithChannelFormat:(MPSImageFeatureChannelFormat)format
                                           width:(NSUInteger)width
                                          height:(NSUInteger)height
                                 featureChannels:(NSUInteger)channels
                                  numberOfImages:(NSUInteger)images
                                           usage:(MTLTextureUsage)usage;
@end

// Four channels to a slice of the texture; filters take images of one slice.
@interface MPSImage : NSObject
- (nullable instancetype)initWithDevice:(id<MTLDevice>)device
                        imageDescriptor:(MPSImageDescriptor *)descriptor;
- (instancetype)initWithTexture:(id<MTLTexture>)texture featureChannels:(NSUInteger)channels;
@property(retain, readonly, nonatomic) id<MTLDevice> device;
@property(readonly, nonatomic) NSUInteger width;
@property(readonly, nonatomic) NSUInteger height;
@property(readonly, nonatomic) NSUInteger featureChannels;
@property(readonly, nonatomic) NSUInteger numberOfImages;
@property(readonly, nonatomic) MTLTextureType textureType;
@property(readonly, nonatomic) MTLPixelFormat pixelFormat;
@property(readonly, nonatomic) NSUInteger precision; // bits of a channel
@property(readonly, nonatomic) MTLTextureUsage usage;
@property(readonly, nonatomic) id<MTLTexture> texture;
@property(copy, atomic, nullable) NSString *label;
@end

@interface MPSUnaryImageKernel : MPSKernel
@property(nonatomic) MPSOffset offset;
@property(nonatomic) MTLRegion clipRect;
@property(nonatomic) MPSImageEdgeMode edgeMode;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                sourceTexture:(id<MTLTexture>)source
           destinationTexture:(id<MTLTexture>)destination;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  sourceImage:(MPSImage *)source
             destinationImage:(MPSImage *)destination;
// Into a texture of the allocator's, which takes the place of the one given. NO: there is no
// allocator.
- (BOOL)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
               inPlaceTexture:(__strong id<MTLTexture> _Nonnull *_Nonnull)texture
        fallbackCopyAllocator:(nullable MPSCopyAllocator)allocator;
@end

@interface MPSImageConvolution : MPSUnaryImageKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device
                   kernelWidth:(NSUInteger)width
                  kernelHeight:(NSUInteger)height
                       weights:(const float *)weights; // odd sizes; rows from the top
@property(readonly, nonatomic) NSUInteger kernelWidth;
@property(readonly, nonatomic) NSUInteger kernelHeight;
@property(nonatomic) float bias;
@end

@interface MPSImageLaplacian : MPSUnaryImageKernel
@property(nonatomic) float bias;
@end

@interface MPSImageBox : MPSUnaryImageKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device
                   kernelWidth:(NSUInteger)width
                  kernelHeight:(NSUInteger)height;
@property(readonly, nonatomic) NSUInteger kernelWidth;
@property(readonly, nonatomic) NSUInteger kernelHeight;
@end

@interface MPSImageTent : MPSImageBox
@end

// A true Gaussian, cut off where it is below a thousandth of its peak.
@interface MPSImageGaussianBlur : MPSUnaryImageKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device sigma:(float)sigma;
@property(readonly, nonatomic) float sigma;
@end
NS_ASSUME_NONNULL_END
#endif
