// SPDX-License-Identifier: Apache-2.0
// test_mps.m: Metal Performance Shaders against sums in double precision, written a second time
// here: products of matrices and vectors of every type, transposed, stacked, from parts; filters
// with every edge mode; arrays.
#include "face_test.h"
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#include <math.h>
#include <stdlib.h>

static id<MTLCommandQueue> queue;
static unsigned seed = 7;
static double random_number(void) { // -1 to 1, exact in half and in 8 bits with a sign
    seed = seed * 1664525u + 1013904223u;
    return ((int)(seed >> 24) - 128) / 128.0;
}
static id<MTLCommandBuffer> commands(void) { return [queue commandBuffer]; }
static void finish(id<MTLCommandBuffer> buffer) {
    [buffer commit];
    [buffer waitUntilCompleted];
    if (buffer.error) printf("%s\n", buffer.error.localizedDescription.UTF8String);
    CHECK_EQUAL(buffer.status, MTLCommandBufferStatusCompleted);
}
static bool raises(void (^block)(void)) {
    @try {
        block();
    } @catch (NSException *e) {
        return [e.name isEqualToString:NSInvalidArgumentException] && e.reason.length > 20;
    }
    return false;
}

// ---- Elements ----

static void put(MPSDataType type, void *at, double value) {
    if (type == MPSDataTypeFloat32) *(float *)at = (float)value;
    if (type == MPSDataTypeFloat16) *(_Float16 *)at = (_Float16)value;
    if (type == MPSDataTypeBFloat16) {
        float f = (float)value;
        memcpy(at, (char *)&f + 2, 2); // numbers here need no rounding
    }
}
static double get(MPSDataType type, const void *at) {
    float f = 0;
    if (type == MPSDataTypeFloat32) return *(const float *)at;
    if (type == MPSDataTypeFloat16) return (double)*(const _Float16 *)at;
    memcpy((char *)&f + 2, at, 2);
    return f;
}
static double tolerance(MPSDataType type) {
    return type == MPSDataTypeFloat32 ? 1e-5 : type == MPSDataTypeFloat16 ? 1e-3 : 8e-3;
}

// ---- Products of matrices ----

static MPSMatrix *new_matrix(id<MTLDevice> device, NSUInteger rows, NSUInteger columns,
                             NSUInteger count, MPSDataType type) {
    NSUInteger row = [MPSMatrixDescriptor rowBytesForColumns:columns dataType:type],
               size = MPSSizeofMPSDataType(type), all = rows * row + 64;
    MPSMatrixDescriptor *d = [MPSMatrixDescriptor matrixDescriptorWithRows:rows
                                                                   columns:columns
                                                                  matrices:count
                                                                  rowBytes:row
                                                               matrixBytes:all
                                                                  dataType:type];
    MPSMatrix *m = [[MPSMatrix alloc] initWithDevice:device descriptor:d];
    char *bytes = m.data.contents;
    for (NSUInteger i = 0; i < count * all / size; i++)
        put(type, bytes + i * size, random_number());
    return m;
}
static char *element(MPSMatrix *m, NSUInteger which, NSUInteger row, NSUInteger column) {
    return (char *)m.data.contents + m.offset + which * m.matrixBytes + row * m.rowBytes +
           column * MPSSizeofMPSDataType(m.dataType);
}

typedef struct Case {
    NSUInteger m, n, k;
    bool tl, tr;
    MPSDataType type, result;
    double alpha, beta;
    NSUInteger count, first, from; // stacks; the first of them; rows and columns left out
} Case;

static void product(id<MTLDevice> device, Case c) {
    NSUInteger o = c.from;
    MPSMatrix *a =
        new_matrix(device, (c.tl ? c.k : c.m) + o, (c.tl ? c.m : c.k) + o, c.count, c.type);
    MPSMatrix *b =
        new_matrix(device, (c.tr ? c.n : c.k) + o, (c.tr ? c.k : c.n) + o, c.count, c.type);
    MPSMatrix *r = new_matrix(device, c.m + o, c.n + o, c.count, c.result);
    NSMutableData *before = [NSMutableData dataWithBytes:r.data.contents length:r.data.length];
    MPSMatrixMultiplication *kernel = [[MPSMatrixMultiplication alloc] initWithDevice:device
                                                                        transposeLeft:c.tl
                                                                       transposeRight:c.tr
                                                                           resultRows:c.m
                                                                        resultColumns:c.n
                                                                      interiorColumns:c.k
                                                                                alpha:c.alpha
                                                                                 beta:c.beta];
    kernel.leftMatrixOrigin = kernel.rightMatrixOrigin = kernel.resultMatrixOrigin =
        MTLOriginMake(o, o, 0);
    kernel.batchStart = c.first;
    MPSMatrixMultiplication *used = [kernel copy]; // which has it all
    id<MTLCommandBuffer> buffer = commands();
    [used encodeToCommandBuffer:buffer leftMatrix:a rightMatrix:b resultMatrix:r];
    finish(buffer);
    double worst = 0;
    int touched = 0;
    for (NSUInteger w = 0; w < c.count; w++)
        for (NSUInteger i = 0; i < r.rows; i++)
            for (NSUInteger j = 0; j < r.columns; j++) {
                char *at = element(r, w, i, j);
                double was = get(c.result, (char *)before.bytes + (at - (char *)r.data.contents));
                if (w < c.first || i < o || j < o) {
                    touched += get(c.result, at) != was;
                    continue;
                }
                double sum = 0, size = 1;
                for (NSUInteger k = 0; k < c.k; k++) {
                    NSUInteger x = i - o, y = j - o;
                    sum += get(c.type, element(a, w, (c.tl ? k : x) + o, (c.tl ? x : k) + o)) *
                           get(c.type, element(b, w, (c.tr ? y : k) + o, (c.tr ? k : y) + o));
                }
                sum = c.alpha * sum + c.beta * was;
                size = fmax(fabs(sum), sqrt((double)c.k));
                worst = fmax(worst, fabs(get(c.result, at) - sum) / size);
            }
    CHECK_EQUAL(touched, 0);
    if (!(worst < tolerance(c.result)))
        failures++, printf("%lu x %lu x %lu %d%d: off by %g\n", c.m, c.n, c.k, c.tl, c.tr, worst);
    RELEASE(a), RELEASE(b), RELEASE(r), RELEASE(kernel), RELEASE(used);
}

static void products(id<MTLDevice> device) {
    const MPSDataType f = MPSDataTypeFloat32, h = MPSDataTypeFloat16, bf = MPSDataTypeBFloat16;
    product(device, (Case){64, 64, 64, 0, 0, f, f, 1, 0, 1, 0, 0});
    product(device, (Case){65, 33, 17, 0, 1, f, f, 1, 0, 1, 0, 0});
    product(device, (Case){1, 200, 40, 1, 0, f, f, 2, 0.5, 1, 0, 0});
    product(device, (Case){70, 1, 130, 1, 1, f, f, -1, 1, 1, 0, 0});
    product(device, (Case){20, 30, 40, 0, 0, f, f, 1, -0.25, 4, 1, 3});
    product(device, (Case){48, 80, 100, 0, 1, h, f, 1, 0, 2, 0, 0});
    product(device, (Case){48, 80, 100, 1, 0, h, h, 0.5, 1, 1, 0, 2});
    product(device, (Case){30, 20, 64, 0, 0, bf, f, 1, 0, 1, 0, 0});
    product(device, (Case){30, 20, 0, 0, 0, f, f, 1, 0, 1, 0, 0}); // an empty sum
}

static void vectors(id<MTLDevice> device) {
    enum { rows = 45, columns = 70 };
    for (int transposed = 0; transposed < 2; transposed++) {
        NSUInteger m = transposed ? columns : rows, k = transposed ? rows : columns;
        MPSMatrix *a = new_matrix(device, rows, columns, 1, MPSDataTypeFloat32);
        MPSVectorDescriptor *dx =
            [MPSVectorDescriptor vectorDescriptorWithLength:k dataType:MPSDataTypeFloat32];
        MPSVectorDescriptor *dy =
            [MPSVectorDescriptor vectorDescriptorWithLength:m dataType:MPSDataTypeFloat32];
        MPSVector *x = [[MPSVector alloc] initWithDevice:device descriptor:dx];
        MPSVector *y = [[MPSVector alloc] initWithDevice:device descriptor:dy];
        float *px = x.data.contents, *py = y.data.contents, was[columns];
        for (NSUInteger i = 0; i < k; i++) px[i] = (float)random_number();
        for (NSUInteger i = 0; i < m; i++) was[i] = py[i] = (float)random_number();
        MPSMatrixVectorMultiplication *kernel =
            [[MPSMatrixVectorMultiplication alloc] initWithDevice:device
                                                        transpose:transposed
                                                             rows:m
                                                          columns:k
                                                            alpha:3
                                                             beta:2];
        id<MTLCommandBuffer> buffer = commands();
        [kernel encodeToCommandBuffer:buffer inputMatrix:a inputVector:x resultVector:y];
        finish(buffer);
        for (NSUInteger i = 0; i < m; i++) {
            double sum = 2.0 * was[i];
            for (NSUInteger j = 0; j < k; j++)
                sum +=
                    3 * (double)px[j] *
                    get(MPSDataTypeFloat32, element(a, 0, transposed ? j : i, transposed ? i : j));
            CHECK(fabs(sum - py[i]) < 1e-4);
        }
        RELEASE(a), RELEASE(x), RELEASE(y), RELEASE(kernel);
    }
}

// ---- Filters ----

enum { W = 37, H = 23 };
static float picture[H][W][4];

static id<MTLTexture> new_texture(id<MTLDevice> device, MTLPixelFormat format) {
    MTLTextureDescriptor *d = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:format
                                                                                 width:W
                                                                                height:H
                                                                             mipmapped:NO];
    d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    return [device newTextureWithDescriptor:d];
}
static int outside(int i, int n, MPSImageEdgeMode mode) { // step by step
    if (mode == MPSImageEdgeModeZero && (i < 0 || i >= n)) return -1;
    while (i < 0 || i >= n) {
        if (mode == MPSImageEdgeModeClamp) i = i < 0 ? 0 : n - 1;
        if (mode == MPSImageEdgeModeMirror) i = i < 0 ? -i : 2 * (n - 1) - i;
        if (mode == MPSImageEdgeModeMirrorWithEdge) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    }
    return i;
}

// Every pixel of the filter's result; those outside its clip rectangle must be as they were.
static void filtered(id<MTLDevice> device, MPSUnaryImageKernel *kernel, int w, int h,
                     const double *weights, double bias) {
    id<MTLTexture> from = new_texture(device, MTLPixelFormatRGBA32Float),
                   to = new_texture(device, MTLPixelFormatRGBA32Float);
    static float got[H][W][4];
    [from replaceRegion:MTLRegionMake2D(0, 0, W, H)
            mipmapLevel:0
              withBytes:picture
            bytesPerRow:sizeof picture[0]];
    [to replaceRegion:MTLRegionMake2D(0, 0, W, H)
          mipmapLevel:0
            withBytes:picture
          bytesPerRow:sizeof picture[0]];
    id<MTLCommandBuffer> buffer = commands();
    [kernel encodeToCommandBuffer:buffer sourceTexture:from destinationTexture:to];
    finish(buffer);
    [to getBytes:got
        bytesPerRow:sizeof got[0]
         fromRegion:MTLRegionMake2D(0, 0, W, H)
        mipmapLevel:0];
    double worst = 0;
    MTLRegion clip = kernel.clipRect;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            NSUInteger cx = (NSUInteger)x - clip.origin.x, cy = (NSUInteger)y - clip.origin.y;
            bool in = (NSUInteger)x >= clip.origin.x && (NSUInteger)y >= clip.origin.y &&
                      cx < clip.size.width && cy < clip.size.height;
            for (int c = 0; c < 4; c++) {
                double sum = bias;
                for (int j = 0; in && j < h; j++)
                    for (int i = 0; i < w; i++) {
                        int sx =
                            outside((int)cx + (int)kernel.offset.x + i - w / 2, W, kernel.edgeMode);
                        int sy =
                            outside((int)cy + (int)kernel.offset.y + j - h / 2, H, kernel.edgeMode);
                        if (sx >= 0 && sy >= 0) sum += weights[j * w + i] * picture[sy][sx][c];
                    }
                if (!in) sum = picture[y][x][c];
                worst = fmax(worst, fabs(sum - got[y][x][c]));
            }
        }
    if (!(worst < 3e-6)) // sums of up to 225 terms in float
        failures++, printf("%s, edge mode %lu: off by %g\n", object_getClassName(kernel),
                           (unsigned long)kernel.edgeMode, worst);
    RELEASE(from), RELEASE(to);
}

static void filters(id<MTLDevice> device) {
    double weights[31 * 31], sum = 0;
    float single[15];
    for (int i = 0; i < H * W * 4; i++) ((float *)picture)[i] = (float)random_number();
    for (int i = 0; i < 15; i++) weights[i] = single[i] = (float)(random_number() / 4);
    MPSImageConvolution *any = [[MPSImageConvolution alloc] initWithDevice:device
                                                               kernelWidth:5
                                                              kernelHeight:3
                                                                   weights:single];
    any.bias = 0.125f;
    CHECK_EQUAL(any.edgeMode, MPSImageEdgeModeZero);
    for (MPSImageEdgeMode mode = 0; mode < MPSImageEdgeModeConstant; mode++) {
        any.edgeMode = mode;
        filtered(device, any, 5, 3, weights, 0.125);
    }
    any.offset = (MPSOffset){-3, 7, 0}, any.clipRect = MTLRegionMake2D(4, 2, 20, 100);
    filtered(device, any, 5, 3, weights, 0.125);
    RELEASE(any);

    MPSImageGaussianBlur *blur = [[MPSImageGaussianBlur alloc] initWithDevice:device sigma:1.5f];
    for (int j = 0; j < 13; j++) // reaches ceil(3.7 x 1.5) to each side
        for (int i = 0; i < 13; i++)
            sum += weights[j * 13 + i] = exp(-((i - 6) * (i - 6) + (j - 6) * (j - 6)) / 4.5);
    for (int i = 0; i < 13 * 13; i++) weights[i] /= sum;
    for (MPSImageEdgeMode mode = 0; mode < MPSImageEdgeModeConstant; mode++) {
        blur.edgeMode = mode;
        filtered(device, blur, 13, 13, weights, 0);
    }
    blur.offset = (MPSOffset){5, -2, 0}, blur.clipRect = MTLRegionMake2D(3, 1, 9, 11);
    filtered(device, blur, 13, 13, weights, 0);
    MPSImageGaussianBlur *twin = [blur copy];
    filtered(device, twin, 13, 13, weights, 0);
    CHECK_EQUAL(twin.sigma, 1.5);
    RELEASE(blur), RELEASE(twin);

    for (int i = 0; i < 15; i++) weights[i] = 1.0 / 15;
    MPSImageBox *box = [[MPSImageBox alloc] initWithDevice:device kernelWidth:3 kernelHeight:5];
    box.edgeMode = MPSImageEdgeModeClamp;
    filtered(device, box, 3, 5, weights, 0);
    RELEASE(box);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 5; i++) weights[j * 5 + i] = (3 - abs(i - 2)) * (2 - abs(j - 1)) / 36.0;
    MPSImageTent *tent = [[MPSImageTent alloc] initWithDevice:device kernelWidth:5 kernelHeight:3];
    filtered(device, tent, 5, 3, weights, 0);
    RELEASE(tent);
    MPSImageLaplacian *laplacian = [[MPSImageLaplacian alloc] initWithDevice:device];
    const double cross[9] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    laplacian.bias = 0.5f;
    filtered(device, laplacian, 3, 3, cross, 0.5);

    // Bytes, an image of one channel, in place of its source.
    MPSImageDescriptor *d =
        [MPSImageDescriptor imageDescriptorWithChannelFormat:MPSImageFeatureChannelFormatUnorm8
                                                       width:W
                                                      height:H
                                             featureChannels:1];
    MPSImage *one = [[MPSImage alloc] initWithDevice:device imageDescriptor:d],
             *two = [[MPSImage alloc] initWithDevice:device imageDescriptor:d];
    CHECK_EQUAL(one.pixelFormat, MTLPixelFormatR8Unorm);
    unsigned char bytes[H][W] = {{0}}, seen[H][W];
    bytes[10][10] = 100;
    [one.texture replaceRegion:MTLRegionMake2D(0, 0, W, H)
                   mipmapLevel:0
                     withBytes:bytes
                   bytesPerRow:W];
    laplacian.bias = 0.2f; // 51 of 255
    id<MTLCommandBuffer> buffer = commands();
    [laplacian encodeToCommandBuffer:buffer sourceImage:one destinationImage:two];
    finish(buffer);
    [two.texture getBytes:seen bytesPerRow:W fromRegion:MTLRegionMake2D(0, 0, W, H) mipmapLevel:0];
    CHECK_EQUAL(seen[0][0], 51);
    CHECK_EQUAL(seen[10][11], 151);
    CHECK_EQUAL(seen[10][10], 0);
    id<MTLTexture> place = new_texture(device, MTLPixelFormatRGBA32Float), before = place;
    buffer = commands();
    CHECK(![laplacian encodeToCommandBuffer:buffer
                             inPlaceTexture:&place
                      fallbackCopyAllocator:nil]);
    MPSCopyAllocator make =
        ^id<MTLTexture> NS_RETURNS_RETAINED(id filter, id<MTLCommandBuffer> b, id<MTLTexture> t) {
        (void)filter, (void)b;
        return new_texture(device, t.pixelFormat);
    };
    CHECK([laplacian encodeToCommandBuffer:buffer
                            inPlaceTexture:&place
                     fallbackCopyAllocator:make]);
    CHECK(place != before);
    finish(buffer);
    RELEASE(laplacian), RELEASE(one), RELEASE(two),
        RELEASE(place); // what it was has been released with it
}

// ---- Arrays ----

static void arrays(id<MTLDevice> device) {
    MPSNDArrayDescriptor *da = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32
                                                                      shape:@[ @2, @3, @4 ]];
    CHECK_EQUAL([da lengthOfDimension:0], 4);
    CHECK(([[da getShape] isEqual:@[ @2, @3, @4 ]]));
    NSUInteger sizes[2] = {5, 4};
    MPSNDArrayDescriptor *db = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32
                                                             dimensionCount:2
                                                             dimensionSizes:sizes];
    MPSNDArray *a = [[MPSNDArray alloc] initWithDevice:device descriptor:da],
               *b = [[MPSNDArray alloc] initWithDevice:device descriptor:db];
    float va[2][3][4], vb[4][5], vc[2][3][5], turned[4][3][2];
    for (int i = 0; i < 24; i++) ((float *)va)[i] = (float)random_number();
    for (int i = 0; i < 20; i++) ((float *)vb)[i] = (float)random_number();
    [a writeBytes:va strideBytes:NULL];
    [b writeBytes:vb strideBytes:NULL];
    NSInteger strides[3] = {24, 8, 4}; // dimension 0 is the outermost of these
    [a readBytes:turned strideBytes:strides];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++) CHECK_EQUAL(turned[k][j][i], va[i][j][k]);
    MPSNDArrayMatrixMultiplication *kernel =
        [[MPSNDArrayMatrixMultiplication alloc] initWithDevice:device sourceCount:2];
    kernel.alpha = 2;
    id<MTLCommandBuffer> buffer = commands();
    MPSNDArray *c = [kernel encodeToCommandBuffer:buffer sourceArrays:@[ a, b ]];
    finish(buffer);
    CHECK_EQUAL(c.numberOfDimensions, 3);
    CHECK_EQUAL([c lengthOfDimension:0], 5);
    [c readBytes:vc strideBytes:NULL];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 5; k++) {
                double sum = 0;
                for (int x = 0; x < 4; x++) sum += 2.0 * va[i][j][x] * vb[x][k];
                CHECK(fabs(sum - vc[i][j][k]) < 1e-5);
            }
    CHECK(raises(^{
      [kernel encodeToCommandBuffer:commands() sourceArrays:@[ b, b ]];
    }));
    RELEASE(a), RELEASE(b), RELEASE(kernel);
}

static void misuse(id<MTLDevice> device) {
    CHECK(MPSSupportsMTLDevice(device) && !MPSSupportsMTLDevice(nil));
    CHECK_EQUAL(MPSDataTypeFloat16, 0x10000010);
    CHECK_EQUAL(MPSSizeofMPSDataType(MPSDataTypeInt64), 8);
    MPSMatrixDescriptor *d = [MPSMatrixDescriptor matrixDescriptorWithRows:4
                                                                   columns:4
                                                                  rowBytes:16
                                                                  dataType:MPSDataTypeFloat32];
    id<MTLBuffer> small = [device newBufferWithLength:32 options:0];
    CHECK(raises(^{
      (void)[[MPSMatrix alloc] initWithBuffer:small descriptor:d];
    }));
    MPSMatrix *m = [[MPSMatrix alloc] initWithDevice:device descriptor:d];
    MPSMatrixMultiplication *kernel = [[MPSMatrixMultiplication alloc] initWithDevice:device
                                                                           resultRows:5
                                                                        resultColumns:4
                                                                      interiorColumns:4];
    CHECK(raises(^{
      [kernel encodeToCommandBuffer:commands() leftMatrix:m rightMatrix:m resultMatrix:m];
    }));
    CHECK(raises(^{
      float weights[4] = {0};
      (void)[[MPSImageConvolution alloc] initWithDevice:device
                                            kernelWidth:2
                                           kernelHeight:2
                                                weights:weights];
    }));
    RELEASE(small), RELEASE(m), RELEASE(kernel);
}

static void body(id<MTLDevice> device) {
    queue = [device newCommandQueue];
    products(device);
    vectors(device);
    filters(device);
    arrays(device);
    misuse(device);
    RELEASE(queue);
    queue = nil;
}

int main(void) { return run_tests(body); }
