// SPDX-License-Identifier: Apache-2.0
// MetalKit/MTKTextureLoader.h: textures from PNG and JPEG files.
#ifndef INGOT_MAC_METALKIT_MTKTEXTURELOADER_H
#define INGOT_MAC_METALKIT_MTKTEXTURELOADER_H
#import <Metal/Metal.h>
NS_ASSUME_NONNULL_BEGIN

typedef NSString *MTKTextureLoaderOption;
typedef NSString *MTKTextureLoaderOrigin;
FOUNDATION_EXPORT NSErrorDomain const MTKTextureLoaderErrorDomain;
// Numbers, as NSNumber: whether mipmaps are made, usage, storage and cache mode, sRGB or not (it
// is, unless said).
FOUNDATION_EXPORT MTKTextureLoaderOption const MTKTextureLoaderOptionAllocateMipmaps;
FOUNDATION_EXPORT MTKTextureLoaderOption const MTKTextureLoaderOptionGenerateMipmaps;
FOUNDATION_EXPORT MTKTextureLoaderOption const MTKTextureLoaderOptionSRGB;
FOUNDATION_EXPORT MTKTextureLoaderOption const MTKTextureLoaderOptionTextureUsage;
FOUNDATION_EXPORT MTKTextureLoaderOption const MTKTextureLoaderOptionTextureStorageMode;
FOUNDATION_EXPORT MTKTextureLoaderOption const MTKTextureLoaderOptionTextureCPUCacheMode;
FOUNDATION_EXPORT MTKTextureLoaderOption const
    MTKTextureLoaderOptionOrigin; // one of the three below
FOUNDATION_EXPORT MTKTextureLoaderOrigin const MTKTextureLoaderOriginTopLeft;
FOUNDATION_EXPORT MTKTextureLoaderOrigin const MTKTextureLoaderOriginBottomLeft;
FOUNDATION_EXPORT MTKTextureLoaderOrigin const MTKTextureLoaderOriginFlippedVertically;

typedef void (^MTKTextureLoaderCallback)(id<MTLTexture> _Nullable texture,
                                         NSError *_Nullable error);

@interface MTKTextureLoader : NSObject {
    id<MTLDevice> _device;
}
@property(nonatomic, readonly) id<MTLDevice> device;
- (instancetype)initWithDevice:(id<MTLDevice>)device;
- (nullable id<MTLTexture>)
    newTextureWithContentsOfURL:(NSURL *)url
                        options:(nullable NSDictionary<MTKTextureLoaderOption, id> *)options
                          error:(NSError **)error;
- (nullable id<MTLTexture>)
    newTextureWithData:(NSData *)data
               options:(nullable NSDictionary<MTKTextureLoaderOption, id> *)options
                 error:(NSError **)error;
- (void)newTextureWithContentsOfURL:(NSURL *)url
                            options:(nullable NSDictionary<MTKTextureLoaderOption, id> *)options
                  completionHandler:(MTKTextureLoaderCallback)handler;
- (void)newTextureWithData:(NSData *)data
                   options:(nullable NSDictionary<MTKTextureLoaderOption, id> *)options
         completionHandler:(MTKTextureLoaderCallback)handler;
@end

NS_ASSUME_NONNULL_END
#endif
