// SPDX-License-Identifier: Apache-2.0
// test_values.m: descriptors: Apple's defaults, copies, arrays of attachments, what is refused.
#include "face_test.h"
#include <objc/message.h>

static void defaults(void) {
    MTLTextureDescriptor *texture = [[MTLTextureDescriptor alloc] init];
    CHECK_EQUAL(texture.textureType, MTLTextureType2D);
    CHECK_EQUAL(texture.pixelFormat, MTLPixelFormatRGBA8Unorm);
    CHECK_EQUAL(texture.width, 1);
    CHECK_EQUAL(texture.usage, MTLTextureUsageShaderRead);
    CHECK_EQUAL(texture.swizzle.green, MTLTextureSwizzleGreen);
    CHECK(texture.allowGPUOptimizedContents);
    texture.resourceOptions =
        MTLResourceStorageModePrivate | MTLResourceHazardTrackingModeUntracked;
    CHECK_EQUAL(texture.storageMode, MTLStorageModePrivate);
    CHECK_EQUAL(texture.hazardTrackingMode, MTLHazardTrackingModeUntracked);
    CHECK_EQUAL(texture.resourceOptions,
                MTLResourceStorageModePrivate | MTLResourceHazardTrackingModeUntracked);
    RELEASE(texture);
    MTLTextureDescriptor *square =
        [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR8Unorm
                                                           width:100
                                                          height:30
                                                       mipmapped:YES];
    CHECK_EQUAL(square.mipmapLevelCount, 7);
    MTLSamplerDescriptor *sampler = [MTLSamplerDescriptor new];
    CHECK(sampler.normalizedCoordinates);
    CHECK_EQUAL(sampler.maxAnisotropy, 1);
    RELEASE(sampler);
    MTLDepthStencilDescriptor *depth = [MTLDepthStencilDescriptor new];
    CHECK_EQUAL(depth.depthCompareFunction, MTLCompareFunctionAlways);
    CHECK_EQUAL(depth.frontFaceStencil.writeMask, 0xffffffff);
    CHECK(depth.frontFaceStencil == depth.frontFaceStencil);
    RELEASE(depth);
    MTLHeapDescriptor *heap = [MTLHeapDescriptor new];
    CHECK_EQUAL(heap.storageMode, MTLStorageModePrivate);
    RELEASE(heap);
    MTLCompileOptions *options = [MTLCompileOptions new];
    CHECK_EQUAL(options.mathMode, MTLMathModeFast);
    options.mathMode = MTLMathModeSafe;
    CHECK_EQUAL(options.mathMode, MTLMathModeSafe);
    RELEASE(options);
}

static void attachments(void) {
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    CHECK_EQUAL(pass.colorAttachments[0].storeAction, MTLStoreActionStore);
    CHECK_EQUAL(pass.colorAttachments[0].clearColor.alpha, 1);
    CHECK_EQUAL(pass.depthAttachment.loadAction, MTLLoadActionClear);
    CHECK_EQUAL(pass.depthAttachment.clearDepth, 1);
    CHECK(pass.colorAttachments[8] == nil);
    pass.colorAttachments[1].loadAction = MTLLoadActionLoad;
    MTLRenderPassDescriptor *copy = [pass copy];
    CHECK_EQUAL(copy.colorAttachments[1].loadAction, MTLLoadActionLoad);
    copy.colorAttachments[1].loadAction = MTLLoadActionClear;
    CHECK_EQUAL(pass.colorAttachments[1].loadAction, MTLLoadActionLoad); // the copy has its own
    RELEASE(copy);
    pass.colorAttachments[1] = nil;
    CHECK_EQUAL(pass.colorAttachments[1].loadAction, MTLLoadActionDontCare);
    MTLSamplePosition positions[2] = {{0.25f, 0.5f}, {0.75f, 0.5f}}, back[2];
    [pass setSamplePositions:positions count:2];
    CHECK_EQUAL([pass getSamplePositions:back count:2], 2);
    CHECK_EQUAL(back[1].x, 0.75);
    MTLRenderPipelineDescriptor *pipeline = [MTLRenderPipelineDescriptor new];
    CHECK_EQUAL(pipeline.colorAttachments[0].writeMask, MTLColorWriteMaskAll);
    CHECK_EQUAL(pipeline.colorAttachments[0].sourceRGBBlendFactor, MTLBlendFactorOne);
    CHECK(pipeline.isRasterizationEnabled);
    pipeline.label = @"first";
    pipeline.colorAttachments[0].pixelFormat = MTLPixelFormatBGRA8Unorm;
    [pipeline reset];
    CHECK(pipeline.label == nil);
    CHECK_EQUAL(pipeline.colorAttachments[0].pixelFormat, MTLPixelFormatInvalid);
    CHECK_EQUAL(pipeline.rasterSampleCount, 1);
    RELEASE(pipeline);
}

static void strings_are_copied(void) {
    NSMutableString *name = [NSMutableString stringWithUTF8String:"before"];
    MTLComputePipelineDescriptor *descriptor = [MTLComputePipelineDescriptor new];
    descriptor.label = name;
    [name appendString:@" after"];
    CHECK_TEXT(descriptor.label, @"before");
    descriptor.label = nil;
    CHECK(descriptor.label == nil);
    RELEASE(descriptor);
}

static void refusals(id<MTLDevice> device) {
    NSError *error = nil;
    MTL4CompilerDescriptor *compiling = [MTL4CompilerDescriptor new];
    MTL4PipelineDescriptor *pipeline = [MTL4ComputePipelineDescriptor new]; // of another kind
    id<MTL4Compiler> compiler = [device newCompilerWithDescriptor:compiling error:NULL];
    CHECK([compiler newRenderPipelineStateWithDescriptor:pipeline
                                     compilerTaskOptions:nil
                                                   error:&error] == nil);
    CHECK([[error localizedDescription] containsString:@"compilerTaskOptions:"]);
    RELEASE(compiling), RELEASE(pipeline), RELEASE(compiler);
}

static void objects(id<MTLDevice> device) {
    CHECK([device conformsToProtocol:@protocol(MTLDevice)]);
    CHECK(![device conformsToProtocol:@protocol(MTLBuffer)]);
    id<MTLBuffer> buffer = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
    CHECK([buffer conformsToProtocol:@protocol(MTLBuffer)] &&
          [buffer conformsToProtocol:@protocol(MTLResource)]);
    CHECK([buffer respondsToSelector:@selector(didModifyRange:)]);
    CHECK(![buffer respondsToSelector:@selector(newCommandQueue)]);
    CHECK(buffer.device == device);
    CHECK(buffer.label == nil);
    buffer.label = @"numbers";
    CHECK_TEXT(buffer.label, @"numbers");
    NSArray *list = @[ buffer, device ]; // objects of libingot's in Foundation's collections
    CHECK([list indexOfObject:device] == 1);
    RELEASE(buffer);
    CHECK_EQUAL([(id<MTLBuffer>)list[0] length], 64);
}

// What a Mac with Apple's processor does without its debug layer.
static void edges(id<MTLDevice> device) {
    CHECK([device newBufferWithLength:0 options:MTLResourceStorageModeShared] == nil);
    id<MTLBuffer> hidden = [device newBufferWithLength:16 options:MTLResourceStorageModePrivate];
    CHECK(hidden.contents || !device.hasUnifiedMemory);
    id<MTLLibrary> empty = compile(device, @"");
    CHECK_EQUAL(empty.functionNames.count, 0);
    CHECK([empty newFunctionWithName:@"f"] == nil);
    RELEASE(hidden), RELEASE(empty);
}

// A message that no header of Apple's has and its devices understand.
static void message_of_no_header(id<MTLDevice> device) {
    id (*make)(id, SEL, id, NSError **) = (id (*)(id, SEL, id, NSError **))objc_msgSend;
    SEL name = sel_registerName("newComputePipelineStateWithDescriptor:error:");
    id<MTLLibrary> library = compile(device, @"kernel void f(device int *x) { x[0] = 1; }");
    id<MTLFunction> function = [library newFunctionWithName:@"f"];
    MTLComputePipelineDescriptor *descriptor = [MTLComputePipelineDescriptor new];
    descriptor.computeFunction = function;
    NSError *error = nil;
    id<MTLComputePipelineState> pipeline = make(device, name, descriptor, &error);
    CHECK(pipeline.threadExecutionWidth == 32 && !error);
    descriptor.computeFunction = nil;
    CHECK(!make(device, name, descriptor, &error) && error);
    RELEASE(pipeline), RELEASE(descriptor), RELEASE(function), RELEASE(library);
}

static void body(id<MTLDevice> device) {
    defaults();
    attachments();
    strings_are_copied();
    refusals(device);
    objects(device);
    edges(device);
    message_of_no_header(device);
}

int main(void) { return run_tests(body); }
