// SPDX-License-Identifier: Apache-2.0
// MTKView.m: a view on a CAMetalLayer: a timer of the main loop draws it, the textures behind a
// picture (depth, samples) are made when first asked for and when something about them changed.
#import <MetalKit/MetalKit.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN @implementation MTKView {
    CAMetalLayer *_metal; // also self.layer
    id<CAMetalDrawable> _drawable;
    id<MTLTexture> _depth, _samples;
    NSTimer *_timer;
    CGSize _told; // the last size that the delegate was told
}

+ (Class)layerClass {
    return CAMetalLayer.class;
}
- (instancetype)initWithFrame:(CGRect)frame {
    return [self initWithFrame:frame device:nil];
}
- (instancetype)initWithFrame:(CGRect)frame device:(id<MTLDevice>)device {
    if ((self = [super initWithFrame:frame])) {
        _colorPixelFormat = MTLPixelFormatBGRA8Unorm;
        _depthStencilAttachmentTextureUsage = MTLTextureUsageRenderTarget;
        _multisampleColorAttachmentTextureUsage = MTLTextureUsageRenderTarget;
        _depthStencilStorageMode = MTLStorageModePrivate;
        _sampleCount = 1, _clearDepth = 1, _preferredFramesPerSecond = 60;
        _clearColor = MTLClearColorMake(0, 0, 0, 1);
        _autoResizeDrawable = YES;
        self.wantsLayer = YES;
        _metal = (CAMetalLayer *)self.layer;
        _metal.pixelFormat = _colorPixelFormat;
        self.drawableSize = frame.size;
        self.device = device;
    }
    return self;
}
- (void)dealloc {
    [_timer invalidate];
}

// ---- The layer's ----

- (id<MTLDevice>)device {
    return _metal.device;
}
- (void)setDevice:(id<MTLDevice>)device {
    if (device == _metal.device) return;
    [self releaseDrawables];
    _metal.device = device;
}
- (id<MTLDevice>)preferredDevice {
    return MTLCreateSystemDefaultDevice();
}
- (BOOL)framebufferOnly {
    return _metal.framebufferOnly;
}
- (void)setFramebufferOnly:(BOOL)only {
    _metal.framebufferOnly = only;
}
- (BOOL)presentsWithTransaction {
    return _metal.presentsWithTransaction;
}
- (void)setPresentsWithTransaction:(BOOL)value {
    _metal.presentsWithTransaction = value;
}
- (CGColorSpaceRef)colorspace {
    return _metal.colorspace;
}
- (void)setColorspace:(CGColorSpaceRef)space {
    _metal.colorspace = space;
}
- (void)setColorPixelFormat:(MTLPixelFormat)format {
    _metal.pixelFormat = format;
    _colorPixelFormat = _metal.pixelFormat; // a format that no layer has changes nothing
    _samples = nil;
}

// ---- Sizes ----

- (CGSize)preferredDrawableSize {
    return self.bounds.size;
}
- (void)setDrawableSize:(CGSize)size {
    _drawableSize = size;
    _metal.drawableSize = size;
}
- (void)setAutoResizeDrawable:(BOOL)resize {
    _autoResizeDrawable = resize;
    if (resize) self.drawableSize = self.preferredDrawableSize;
}
- (void)tellSize {
    if (CGSizeEqualToSize(_told, _drawableSize)) return;
    _told = _drawableSize;
    [self.delegate mtkView:self drawableSizeWillChange:_drawableSize];
}
- (void)setFrameSize:(NSSize)size {
    [super setFrameSize:size];
    self.drawableSize = _autoResizeDrawable ? self.preferredDrawableSize : _drawableSize;
    if (self.window) [self tellSize];
}
- (void)setDelegate:(id<MTKViewDelegate>)delegate {
    _delegate = delegate;
    _told = CGSizeZero;
}

// ---- When it is drawn ----

- (void)setTimer {
    [_timer invalidate];
    _timer = nil;
    if (_paused || _enableSetNeedsDisplay || !self.window || _preferredFramesPerSecond <= 0) return;
    __weak MTKView *me = self; // a timer that runs must not keep its view
    _timer = [NSTimer timerWithTimeInterval:1.0 / (double)_preferredFramesPerSecond
                                    repeats:YES
                                      block:^(NSTimer *timer) {
                                        MTKView *view = me;
                                        view ? [view draw] : [timer invalidate];
                                      }];
    [NSRunLoop.mainRunLoop addTimer:_timer forMode:NSRunLoopCommonModes];
}
- (void)setPaused:(BOOL)paused {
    _paused = paused;
    [self setTimer];
}
- (void)setEnableSetNeedsDisplay:(BOOL)enable {
    _enableSetNeedsDisplay = enable;
    [self setTimer];
}
- (void)setPreferredFramesPerSecond:(NSInteger)rate {
    _preferredFramesPerSecond = rate;
    [self setTimer];
}
- (void)viewDidMoveToWindow {
    [super viewDidMoveToWindow];
    [self setTimer];
}
- (void)display { // by the loop, after needsDisplay was set
    self.needsDisplay = NO;
    if (_enableSetNeedsDisplay) [self draw];
}

// ---- One turn ----

- (void)draw {
    @autoreleasepool {
        id<MTKViewDelegate> delegate = self.delegate;
        if (self.window) [self tellSize];
        if (delegate)
            [delegate drawInMTKView:self];
        else
            [self drawRect:self.bounds];
        _drawable = nil;
    }
}
- (id<CAMetalDrawable>)currentDrawable {
    if (!_drawable) _drawable = [_metal nextDrawable];
    return _drawable;
}
- (void)releaseDrawables {
    _drawable = nil, _depth = nil, _samples = nil;
}

// A texture of the pictures' size; `old` if it still is as it should be.
- (id<MTLTexture>)textureOf:(MTLPixelFormat)format
                      usage:(MTLTextureUsage)usage
                       mode:(MTLStorageMode)mode
                        old:(id<MTLTexture>)old {
    NSUInteger width = (NSUInteger)_drawableSize.width, height = (NSUInteger)_drawableSize.height;
    if (format == MTLPixelFormatInvalid || !width || !height || !self.device) return nil;
    if (old && old.width == width && old.height == height && old.pixelFormat == format &&
        old.sampleCount == _sampleCount && old.usage == usage && old.storageMode == mode)
        return old;
    MTLTextureDescriptor *d = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:format
                                                                                 width:width
                                                                                height:height
                                                                             mipmapped:NO];
    d.usage = usage, d.storageMode = mode;
    d.textureType = _sampleCount > 1 ? MTLTextureType2DMultisample : MTLTextureType2D;
    d.sampleCount = _sampleCount;
    return [self.device newTextureWithDescriptor:d];
}
- (id<MTLTexture>)depthStencilTexture {
    _depth = [self textureOf:_depthStencilPixelFormat
                       usage:_depthStencilAttachmentTextureUsage
                        mode:_depthStencilStorageMode
                         old:_depth];
    return _depth;
}
- (id<MTLTexture>)multisampleColorTexture {
    if (_sampleCount <= 1) return nil;
    _samples = [self textureOf:_colorPixelFormat
                         usage:_multisampleColorAttachmentTextureUsage
                          mode:MTLStorageModePrivate
                           old:_samples];
    return _samples;
}

static BOOL has_depth(MTLPixelFormat f) {
    return f == MTLPixelFormatDepth16Unorm || f == MTLPixelFormatDepth32Float ||
           f == MTLPixelFormatDepth24Unorm_Stencil8 || f == MTLPixelFormatDepth32Float_Stencil8;
}
static BOOL has_stencil(MTLPixelFormat f) {
    return f == MTLPixelFormatStencil8 || f == MTLPixelFormatDepth24Unorm_Stencil8 ||
           f == MTLPixelFormatDepth32Float_Stencil8;
}

// Both kinds of descriptors have the same attachments. False: there is no picture to draw into.
- (BOOL)fill:(id)descriptor {
    MTLRenderPassDescriptor *pass = descriptor;
    id<CAMetalDrawable> drawable = self.currentDrawable;
    if (!drawable) return NO;
    MTLRenderPassColorAttachmentDescriptor *color = pass.colorAttachments[0];
    id<MTLTexture> samples = self.multisampleColorTexture, depth = self.depthStencilTexture;
    color.texture = samples ?: drawable.texture;
    color.resolveTexture = samples ? drawable.texture : nil;
    color.loadAction = MTLLoadActionClear;
    color.storeAction = samples ? MTLStoreActionMultisampleResolve : MTLStoreActionStore;
    color.clearColor = _clearColor;
    if (depth && has_depth(_depthStencilPixelFormat)) {
        pass.depthAttachment.texture = depth;
        pass.depthAttachment.loadAction = MTLLoadActionClear;
        pass.depthAttachment.storeAction = MTLStoreActionDontCare;
        pass.depthAttachment.clearDepth = _clearDepth;
    }
    if (depth && has_stencil(_depthStencilPixelFormat)) {
        pass.stencilAttachment.texture = depth;
        pass.stencilAttachment.loadAction = MTLLoadActionClear;
        pass.stencilAttachment.storeAction = MTLStoreActionDontCare;
        pass.stencilAttachment.clearStencil = _clearStencil;
    }
    return YES;
}
- (MTLRenderPassDescriptor *)currentRenderPassDescriptor {
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    return [self fill:pass] ? pass : nil;
}
- (MTL4RenderPassDescriptor *)currentMTL4RenderPassDescriptor {
    MTL4RenderPassDescriptor *pass = [MTL4RenderPassDescriptor new];
    return [self fill:pass] ? pass : nil;
}
@end
