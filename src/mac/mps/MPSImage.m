// SPDX-License-Identifier: Apache-2.0
// MPSImage.m: images and filters. Every filter is weights around a pixel: of a window, or, where
// they are a product, of a row and then of a column through a texture of floats.
#include <math.h>
#include "mac/mps/mps_int.h"
#include "mps_texts.h"

SHOWN const MTLRegion MPSRectNoClip = {{0, 0, 0}, {NSUIntegerMax, NSUIntegerMax, NSUIntegerMax}};

// ---- Images ----

SHOWN @implementation MPSImageDescriptor
+ (instancetype)imageDescriptorWithChannelFormat:(MPSImageFeatureChannelFormat)format
                                           width:(NSUInteger)width
                                          height:(NSUInteger)height
                                 featureChannels:(NSUInteger)channels {
    return [self
        imageDescriptorWithChannelFormat:format
                                   width:width
                                  height:height
                         featureChannels:channels
                          numberOfImages:1
                                   usage:MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite];
}
+ (instancetype)imageDescriptorWithChannelFormat:(MPSImageFeatureChannelFormat)format
                                           width:(NSUInteger)width
                                          height:(NSUInteger)height
                                 featureChannels:(NSUInteger)channels
                                  numberOfImages:(NSUInteger)images
                                           usage:(MTLTextureUsage)usage {
    MPSImageDescriptor *d = [self new];
    d.channelFormat = format, d.width = width, d.height = height;
    d.featureChannels = channels, d.numberOfImages = images, d.usage = usage;
    d.storageMode = MTLStorageModeShared;
    return d;
}
- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    MPSImageDescriptor *copy = [self.class imageDescriptorWithChannelFormat:_channelFormat
                                                                      width:_width
                                                                     height:_height
                                                            featureChannels:_featureChannels
                                                             numberOfImages:_numberOfImages
                                                                      usage:_usage];
    copy.storageMode = _storageMode;
    return copy;
}
- (MTLPixelFormat)pixelFormat {
    static const MTLPixelFormat formats[5][3] = {
        {MTLPixelFormatInvalid, MTLPixelFormatInvalid, MTLPixelFormatInvalid},
        {MTLPixelFormatR8Unorm, MTLPixelFormatRG8Unorm, MTLPixelFormatRGBA8Unorm},
        {MTLPixelFormatR16Unorm, MTLPixelFormatRG16Unorm, MTLPixelFormatRGBA16Unorm},
        {MTLPixelFormatR16Float, MTLPixelFormatRG16Float, MTLPixelFormatRGBA16Float},
        {MTLPixelFormatR32Float, MTLPixelFormatRG32Float, MTLPixelFormatRGBA32Float}};
    if (_channelFormat > 4 || !_featureChannels) return MTLPixelFormatInvalid;
    return formats[_channelFormat][_featureChannels > 2 ? 2 : _featureChannels - 1];
}
@end

SHOWN @implementation MPSImage
- (instancetype)initWithDevice:(id<MTLDevice>)device imageDescriptor:(MPSImageDescriptor *)d {
    NSUInteger slices = (d.featureChannels + 3) / 4 * d.numberOfImages;
    REQUIRE(d.pixelFormat != MTLPixelFormatInvalid && d.width && d.height && d.numberOfImages,
            @"the descriptor has no channels, format, size or images");
    MTLTextureDescriptor *t = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:d.pixelFormat
                                                                                 width:d.width
                                                                                height:d.height
                                                                             mipmapped:NO];
    t.usage = d.usage, t.storageMode = d.storageMode;
    if (slices > 1) t.textureType = MTLTextureType2DArray, t.arrayLength = slices;
    id<MTLTexture> texture = [device newTextureWithDescriptor:t];
    if (!texture) return nil;
    if ((self = [self initWithTexture:texture featureChannels:d.featureChannels]))
        _numberOfImages = d.numberOfImages;
    return self;
}
- (instancetype)initWithTexture:(id<MTLTexture>)texture featureChannels:(NSUInteger)channels {
    REQUIRE(texture && channels, @"there is no %@", texture ? @"channel" : @"texture");
    if ((self = [super init])) {
        NSUInteger slices = MAX((channels + 3) / 4, 1u);
        _texture = texture, _featureChannels = channels, _device = texture.device;
        _numberOfImages = MAX(texture.arrayLength / slices, 1u);
    }
    return self;
}
- (NSUInteger)width {
    return _texture.width;
}
- (NSUInteger)height {
    return _texture.height;
}
- (MTLTextureType)textureType {
    return _texture.textureType;
}
- (MTLPixelFormat)pixelFormat {
    return _texture.pixelFormat;
}
- (MTLTextureUsage)usage {
    return _texture.usage;
}
- (NSUInteger)precision {
    switch (_texture.pixelFormat) {
    case MTLPixelFormatR32Float:
    case MTLPixelFormatRG32Float:
    case MTLPixelFormatRGBA32Float: return 32;
    case MTLPixelFormatR16Float:
    case MTLPixelFormatRG16Float:
    case MTLPixelFormatRGBA16Float:
    case MTLPixelFormatR16Unorm:
    case MTLPixelFormatRG16Unorm:
    case MTLPixelFormatRGBA16Unorm: return 16;
    default: return 8;
    }
}
@end

// ---- Filters ----

typedef struct Filter { // of kernels/image.metal
    int32_t clip[2], size[2], offset[2], window[2], edge;
    float bias;
    int32_t padding[2];
    float outside[4];
} Filter;

@interface MPSUnaryImageKernel ()
- (void)setRow:(NSData *)row column:(NSData *)column; // separate
- (void)setWeights:(NSData *)weights width:(NSUInteger)width;
- (float)addedBias;
@end

SHOWN @implementation MPSUnaryImageKernel {
    NSData *_weights, *_row, *_column; // of floats
    NSUInteger _width;                 // of the window, with _weights
}
- (instancetype)initWithDevice:(id<MTLDevice>)device {
    if ((self = [super initWithDevice:device])) _clipRect = MPSRectNoClip;
    return self;
}
- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSUnaryImageKernel *copy = [super copyWithZone:zone device:device];
    copy->_weights = _weights, copy->_row = _row, copy->_column = _column, copy->_width = _width;
    copy->_offset = _offset, copy->_clipRect = _clipRect, copy->_edgeMode = _edgeMode;
    return copy;
}
- (void)setRow:(NSData *)row column:(NSData *)column {
    _row = row, _column = column;
}
- (void)setWeights:(NSData *)weights width:(NSUInteger)width {
    _weights = weights, _width = width;
}
- (float)addedBias {
    return 0;
}

- (void)encode:(id<MTLCommandBuffer>)commands
        filter:(const Filter *)filter
       weights:(NSData *)weights
          from:(id<MTLTexture>)source
            to:(id<MTLTexture>)destination {
    id<MTLBuffer> buffer = [self.device newBufferWithBytes:weights.bytes
                                                    length:weights.length
                                                   options:MTLResourceStorageModeShared];
    id<MTLComputeCommandEncoder> e = [commands computeCommandEncoder];
    e.label = self.label;
    [e setComputePipelineState:[self pipeline:@"convolve" text:mps_text_image_metal macros:nil]];
    [e setBytes:filter length:sizeof *filter atIndex:0];
    [e setBuffer:buffer offset:0 atIndex:1];
    [e setTexture:source atIndex:0];
    [e setTexture:destination atIndex:1];
    [e dispatchThreads:MTLSizeMake((NSUInteger)filter->size[0], (NSUInteger)filter->size[1], 1)
        threadsPerThreadgroup:MTLSizeMake(32, 8, 1)];
    [e endEncoding];
}

// Where the clip rectangle and the destination meet.
static BOOL clip(MTLRegion rect, id<MTLTexture> destination, Filter *f) {
    NSUInteger size[2] = {destination.width, destination.height};
    NSUInteger at[2] = {rect.origin.x, rect.origin.y},
               want[2] = {rect.size.width, rect.size.height};
    for (int i = 0; i < 2; i++) {
        if (at[i] >= size[i]) return NO;
        f->clip[i] = (int32_t)at[i];
        f->size[i] = (int32_t)MIN(want[i], size[i] - at[i]);
    }
    return f->size[0] && f->size[1];
}

- (id<MTLTexture>)between:(NSUInteger)width height:(NSUInteger)height {
    MTLTextureDescriptor *d =
        [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA32Float
                                                           width:width
                                                          height:height
                                                       mipmapped:NO];
    d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    d.storageMode = MTLStorageModePrivate;
    return [self.device newTextureWithDescriptor:d];
}

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                sourceTexture:(id<MTLTexture>)source
           destinationTexture:(id<MTLTexture>)destination {
    REQUIRE(source && destination && source != destination, @"two different textures are needed");
    REQUIRE(source.textureType == MTLTextureType2D && destination.textureType == MTLTextureType2D,
            @"only textures of type 2D are filtered");
    REQUIRE(_edgeMode <= MPSImageEdgeModeConstant, @"unknown edge mode %lu",
            (unsigned long)_edgeMode);
    Filter f = {.offset = {(int32_t)_offset.x, (int32_t)_offset.y},
                .edge = (int32_t)_edgeMode,
                .bias = [self addedBias]};
    if (!clip(_clipRect, destination, &f)) return;
    if (_weights) {
        f.window[0] = (int32_t)_width;
        f.window[1] = (int32_t)(_weights.length / sizeof(float) / _width);
        [self encode:commandBuffer filter:&f weights:_weights from:source to:destination];
        return;
    }
    // Every row of the source, of the columns that are wanted; then those by columns.
    Filter rows = f;
    id<MTLTexture> between = [self between:(NSUInteger)f.size[0] height:source.height];
    rows.clip[0] = rows.clip[1] = 0, rows.size[1] = (int32_t)source.height, rows.offset[1] = 0;
    rows.window[0] = (int32_t)(_row.length / sizeof(float)), rows.window[1] = 1, rows.bias = 0;
    [self encode:commandBuffer filter:&rows weights:_row from:source to:between];
    f.offset[0] = 0;
    f.window[0] = 1, f.window[1] = (int32_t)(_column.length / sizeof(float));
    [self encode:commandBuffer filter:&f weights:_column from:between to:destination];
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  sourceImage:(MPSImage *)source
             destinationImage:(MPSImage *)destination {
    [self encodeToCommandBuffer:commandBuffer
                  sourceTexture:source.texture
             destinationTexture:destination.texture];
}
- (BOOL)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
               inPlaceTexture:(__strong id<MTLTexture> *)texture
        fallbackCopyAllocator:(MPSCopyAllocator)allocator {
    if (!allocator) return NO;
    id<MTLTexture> result = allocator(self, commandBuffer, *texture);
    if (!result) return NO;
    [self encodeToCommandBuffer:commandBuffer sourceTexture:*texture destinationTexture:result];
    *texture = result;
    return YES;
}
@end

// ---- Their weights ----

// n of them by a rule, the middle one at 0, with a sum of 1.
static NSData *weights_of(NSUInteger n, double (*rule)(double at, double half, double scale),
                          double scale) {
    NSMutableData *data = [NSMutableData dataWithLength:n * sizeof(float)];
    float *w = data.mutableBytes;
    double sum = 0, half = (double)(n / 2);
    for (NSUInteger i = 0; i < n; i++) sum += rule((double)i - half, half, scale);
    for (NSUInteger i = 0; i < n; i++) w[i] = (float)(rule((double)i - half, half, scale) / sum);
    return data;
}
static double box_rule(double at, double half, double scale) {
    (void)at, (void)half, (void)scale;
    return 1;
}
static double tent_rule(double at, double half, double scale) {
    (void)scale;
    return half + 1 - fabs(at);
}
static double gauss_rule(double at, double half, double sigma) {
    (void)half;
    return exp(-at * at / (2 * sigma * sigma));
}

SHOWN @implementation MPSImageConvolution
- (instancetype)initWithDevice:(id<MTLDevice>)device
                   kernelWidth:(NSUInteger)width
                  kernelHeight:(NSUInteger)height
                       weights:(const float *)weights {
    REQUIRE(width % 2 && height % 2 && weights, @"a window of %lu x %lu: sizes must be odd", width,
            height);
    if ((self = [super initWithDevice:device])) {
        _kernelWidth = width, _kernelHeight = height;
        [self setWeights:[NSData dataWithBytes:weights length:width * height * sizeof(float)]
                   width:width];
    }
    return self;
}
- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSImageConvolution *copy = [super copyWithZone:zone device:device];
    copy->_kernelWidth = _kernelWidth, copy->_kernelHeight = _kernelHeight, copy->_bias = _bias;
    return copy;
}
- (float)addedBias {
    return _bias;
}
@end

SHOWN @implementation MPSImageLaplacian
- (instancetype)initWithDevice:(id<MTLDevice>)device {
    static const float weights[9] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    if ((self = [super initWithDevice:device]))
        [self setWeights:[NSData dataWithBytes:weights length:sizeof weights] width:3];
    return self;
}
- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSImageLaplacian *copy = [super copyWithZone:zone device:device];
    copy->_bias = _bias;
    return copy;
}
- (float)addedBias {
    return _bias;
}
@end

SHOWN @implementation MPSImageBox
- (double (*)(double, double, double))rule {
    return box_rule;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device
                   kernelWidth:(NSUInteger)width
                  kernelHeight:(NSUInteger)height {
    REQUIRE(width % 2 && height % 2, @"a window of %lu x %lu: sizes must be odd", width, height);
    if ((self = [super initWithDevice:device])) {
        _kernelWidth = width, _kernelHeight = height;
        [self setRow:weights_of(width, [self rule], 0) column:weights_of(height, [self rule], 0)];
    }
    return self;
}
- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSImageBox *copy = [super copyWithZone:zone device:device];
    copy->_kernelWidth = _kernelWidth, copy->_kernelHeight = _kernelHeight;
    return copy;
}
@end

SHOWN @implementation MPSImageTent
- (double (*)(double, double, double))rule {
    return tent_rule;
}
@end

SHOWN @implementation MPSImageGaussianBlur
- (instancetype)initWithDevice:(id<MTLDevice>)device sigma:(float)sigma {
    REQUIRE(sigma > 0 && sigma < 1e4f, @"sigma is %g", (double)sigma);
    if ((self = [super initWithDevice:device])) {
        _sigma = sigma;
        NSUInteger half = (NSUInteger)ceil(3.7 * (double)sigma);
        NSData *row = weights_of(2 * half + 1, gauss_rule, (double)sigma);
        [self setRow:row column:row];
    }
    return self;
}
- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSImageGaussianBlur *copy = [super copyWithZone:zone device:device];
    copy->_sigma = _sigma;
    return copy;
}
@end
