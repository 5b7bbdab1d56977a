// SPDX-License-Identifier: Apache-2.0
// MetalKit/MTKView.h: a view that draws with Metal, again and again or when it is told to.
#ifndef INGOT_MAC_METALKIT_MTKVIEW_H
#define INGOT_MAC_METALKIT_MTKVIEW_H
#import <AppKit/AppKit.h>
#import <Metal/Metal.h>
#import <QuartzCore/QuartzCore.h>
@class MTKView;
@protocol MTKViewDelegate <NSObject>
- (void)mtkView:(nonnull MTKView *)view drawableSizeWillChange:(CGSize)size;
- (void)drawInMTKView:(nonnull MTKView *)view;
@end

// Drawn preferredFramesPerSecond times a second while it is in a window and not paused; with
// enableSetNeedsDisplay and paused, after needsDisplay was set; by -draw at any time.
NS_ASSUME_NONNULL_BEGIN
@interface MTKView : NSView
- (instancetype)initWithFrame:(CGRect)frame device:(nullable id<MTLDevice>)device;
@property(nonatomic, weak, nullable) id<MTKViewDelegate> delegate; // without one: drawRect: draws
@property(nonatomic, retain, nullable) id<MTLDevice> device;
@property(nonatomic, readonly, nullable) id<MTLDevice> preferredDevice;
// Of this turn: taken from the layer when first asked for, given back when the turn is over.
@property(nonatomic, readonly, nullable) id<CAMetalDrawable> currentDrawable;
@property(nonatomic, readonly, nullable) MTLRenderPassDescriptor *currentRenderPassDescriptor;
@property(nonatomic, readonly, nullable) MTL4RenderPassDescriptor *currentMTL4RenderPassDescriptor;
@property(nonatomic) BOOL framebufferOnly;
@property(nonatomic) BOOL presentsWithTransaction;
@property(nonatomic) MTLPixelFormat colorPixelFormat;
@property(nonatomic) MTLPixelFormat depthStencilPixelFormat;
@property(nonatomic) MTLTextureUsage depthStencilAttachmentTextureUsage;
@property(nonatomic) MTLStorageMode depthStencilStorageMode;
@property(nonatomic) MTLTextureUsage multisampleColorAttachmentTextureUsage;
@property(nonatomic) NSUInteger sampleCount;
@property(nonatomic) MTLClearColor clearColor;
@property(nonatomic) double clearDepth;
@property(nonatomic) uint32_t clearStencil;
@property(nonatomic, readonly, nullable) id<MTLTexture> depthStencilTexture;
@property(nonatomic, readonly, nullable) id<MTLTexture> multisampleColorTexture;
@property(nonatomic) NSInteger preferredFramesPerSecond;
@property(nonatomic) BOOL enableSetNeedsDisplay;
@property(nonatomic, getter=isPaused) BOOL paused;
@property(nonatomic) BOOL autoResizeDrawable;
@property(nonatomic) CGSize drawableSize;
@property(nonatomic, readonly) CGSize preferredDrawableSize;
@property(nonatomic, nullable) CGColorSpaceRef colorspace;
- (void)draw;
- (void)releaseDrawables; // textures behind the pictures; made again when next asked for
@end
NS_ASSUME_NONNULL_END
#endif
