// SPDX-License-Identifier: Apache-2.0
// test_render.m: a triangle pixel by pixel, depth, vertex descriptors, blending, textures and samplers, a layer.
#include "face_test.h"
#import <QuartzCore/QuartzCore.h>

enum { SIZE = 32 };
static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "struct In { float2 position [[attribute(0)]]; float4 color [[attribute(1)]]; };\n"
     "struct Out { float4 position [[position]]; float4 color; };\n"
     "vertex Out place(In in [[stage_in]], constant float &z [[buffer(1)]]) {\n"
     "    return {float4(in.position, z, 1), in.color}; }\n"
     "fragment float4 fill(Out in [[stage_in]]) { return in.color; }\n"
     "vertex float4 whole(uint i [[vertex_id]]) { return float4(i & 1 ? 3 : -1, i & 2 ? 3 : -1, "
     "0.5, 1); }\n"
     "fragment float4 picture(float4 at [[position]], texture2d<float> t [[texture(0)]], sampler s "
     "[[sampler(0)]]) {\n"
     "    return t.sample(s, at.xy / 32.0f); }\n";

typedef struct Vertex {
    float position[2];
    float color[4];
} Vertex;

static id<MTLTexture> target(id<MTLDevice> device, MTLPixelFormat format) {
    MTLTextureDescriptor *shape = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:format
                                                                                     width:SIZE
                                                                                    height:SIZE
                                                                                 mipmapped:NO];
    shape.usage = MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead;
    return [device newTextureWithDescriptor:shape];
}

static id<MTLRenderPipelineState> pipeline(id<MTLDevice> device, id<MTLLibrary> library,
                                           NSString *vertex, NSString *fragment, BOOL blend) {
    MTLRenderPipelineDescriptor *descriptor = [MTLRenderPipelineDescriptor new];
    id<MTLFunction> first = [library newFunctionWithName:vertex],
                    second = [library newFunctionWithName:fragment];
    descriptor.vertexFunction = first;
    descriptor.fragmentFunction = second;
    descriptor.colorAttachments[0].pixelFormat = MTLPixelFormatRGBA8Unorm;
    descriptor.depthAttachmentPixelFormat = MTLPixelFormatDepth32Float;
    if (blend) {
        descriptor.colorAttachments[0].blendingEnabled = YES;
        descriptor.colorAttachments[0].destinationRGBBlendFactor = MTLBlendFactorOne;
    }
    if ([vertex isEqualToString:@"place"]) {
        MTLVertexDescriptor *layout = [MTLVertexDescriptor vertexDescriptor];
        layout.attributes[0].format = MTLVertexFormatFloat2;
        layout.attributes[1].format = MTLVertexFormatFloat4;
        layout.attributes[1].offset = 8;
        layout.layouts[0].stride = sizeof(Vertex);
        descriptor.vertexDescriptor = layout;
    }
    NSError *error = nil;
    id<MTLRenderPipelineState> state = [device newRenderPipelineStateWithDescriptor:descriptor
                                                                              error:&error];
    if (!state) failures++, printf("%s\n", [[error localizedDescription] UTF8String]);
    RELEASE(first);
    RELEASE(second);
    RELEASE(descriptor);
    return state;
}

typedef struct Scene {
    __unsafe_unretained id<MTLTexture> color, depth;
    __unsafe_unretained id<MTLDepthStencilState> test;
} Scene;

static MTLRenderPassDescriptor *pass_of(const Scene *scene, MTLLoadAction load) {
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    pass.colorAttachments[0].texture = scene->color;
    pass.colorAttachments[0].loadAction = load;
    pass.colorAttachments[0].clearColor = MTLClearColorMake(0, 0, 1, 1);
    pass.depthAttachment.texture = scene->depth;
    pass.depthAttachment.loadAction = load;
    pass.depthAttachment.storeAction = MTLStoreActionStore;
    return pass;
}

static void draw(id<MTLCommandQueue> queue, const Scene *scene, id<MTLRenderPipelineState> state,
                 const Vertex *vertices, float z, MTLLoadAction load) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLRenderCommandEncoder> encoder =
        [commands renderCommandEncoderWithDescriptor:pass_of(scene, load)];
    [encoder setRenderPipelineState:state];
    [encoder setDepthStencilState:scene->test];
    [encoder setVertexBytes:vertices length:3 * sizeof *vertices atIndex:0];
    [encoder setVertexBytes:&z length:sizeof z atIndex:1];
    [encoder setCullMode:MTLCullModeNone];
    [encoder drawPrimitives:MTLPrimitiveTypeTriangle vertexStart:0 vertexCount:3 instanceCount:1];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.error == nil);
}

static uint32_t pixel(id<MTLTexture> texture, NSUInteger x, NSUInteger y) {
    uint32_t value = 0;
    [texture getBytes:&value bytesPerRow:4 fromRegion:MTLRegionMake2D(x, y, 1, 1) mipmapLevel:0];
    return value;
}

static void triangle(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    MTLDepthStencilDescriptor *rule = [MTLDepthStencilDescriptor new];
    rule.depthCompareFunction = MTLCompareFunctionLess;
    rule.depthWriteEnabled = YES;
    id<MTLDepthStencilState> test = [device newDepthStencilStateWithDescriptor:rule];
    id<MTLTexture> color = target(device, MTLPixelFormatRGBA8Unorm),
                   depth = target(device, MTLPixelFormatDepth32Float);
    id<MTLRenderPipelineState> plain = pipeline(device, library, @"place", @"fill", NO);
    id<MTLRenderPipelineState> adding = pipeline(device, library, @"place", @"fill", YES);
    Scene scene = {color, depth, test};
    // The lower left half: pixel (x, y) is covered where its centre is below the diagonal.
    Vertex red[3] = {{{-1, 1}, {1, 0, 0, 1}}, {{-1, -1}, {1, 0, 0, 1}}, {{1, -1}, {1, 0, 0, 1}}};
    draw(queue, &scene, plain, red, 0.5f, MTLLoadActionClear);
    int wrong = 0;
    for (NSUInteger y = 0; y < SIZE; y++)
        for (NSUInteger x = 0; x < SIZE; x++)
            if (x != y) wrong += pixel(color, x, y) != (x < y ? 0xff0000ffu : 0xffff0000u);
    CHECK_EQUAL(wrong, 0);
    Vertex green[3] = {{{-1, 3}, {0, 1, 0, 1}}, {{-1, -1}, {0, 1, 0, 1}}, {{3, -1}, {0, 1, 0, 1}}};
    draw(queue, &scene, plain, green, 0.75f, MTLLoadActionLoad); // behind the red one
    CHECK_EQUAL(pixel(color, 2, 30), 0xff0000ffu);
    CHECK_EQUAL(pixel(color, 30, 2), 0xff00ff00u);
    draw(queue, &scene, adding, green, 0.25f, MTLLoadActionLoad);
    CHECK_EQUAL(pixel(color, 2, 30), 0xff00ffffu);
    RELEASE(plain);
    RELEASE(adding);
    RELEASE(color);
    RELEASE(depth);
    RELEASE(test);
    RELEASE(rule);
}

static void pictures(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    id<MTLTexture> color = target(device, MTLPixelFormatRGBA8Unorm),
                   depth = target(device, MTLPixelFormatDepth32Float);
    MTLTextureDescriptor *shape =
        [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA8Unorm
                                                           width:2
                                                          height:2
                                                       mipmapped:NO];
    id<MTLTexture> small = [device newTextureWithDescriptor:shape];
    uint32_t texels[4] = {0xff000001, 0xff000002, 0xff000003, 0xff000004};
    [small replaceRegion:MTLRegionMake2D(0, 0, 2, 2) mipmapLevel:0 withBytes:texels bytesPerRow:8];
    MTLSamplerDescriptor *rule = [MTLSamplerDescriptor new];
    id<MTLSamplerState> sampler = [device newSamplerStateWithDescriptor:rule];
    id<MTLRenderPipelineState> state = pipeline(device, library, @"whole", @"picture", NO);
    Scene scene = {color, depth, nil};
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLRenderCommandEncoder> encoder =
        [commands renderCommandEncoderWithDescriptor:pass_of(&scene, MTLLoadActionClear)];
    [encoder setRenderPipelineState:state];
    [encoder setFragmentTexture:small atIndex:0];
    [encoder setFragmentSamplerState:sampler atIndex:0];
    [encoder setViewport:(MTLViewport){0, 0, SIZE, SIZE, 0, 1}];
    [encoder setScissorRect:(MTLScissorRect){0, 0, SIZE, SIZE / 2}];
    [encoder drawPrimitives:MTLPrimitiveTypeTriangle vertexStart:0 vertexCount:3];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQUAL(pixel(color, 3, 3), texels[0]);
    CHECK_EQUAL(pixel(color, 20, 3), texels[1]);
    CHECK_EQUAL(pixel(color, 3, 20), 0xffff0000u); // outside the scissor rectangle
    RELEASE(state);
    RELEASE(sampler);
    RELEASE(rule);
    RELEASE(small);
    RELEASE(color);
    RELEASE(depth);
}

static void layers(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    CAMetalLayer *layer = [CAMetalLayer layer];
    layer.device = device;
    layer.pixelFormat = MTLPixelFormatBGRA8Unorm;
    layer.framebufferOnly = NO;
    layer.drawableSize = CGSizeMake(SIZE, SIZE);
    CHECK_EQUAL(layer.drawableSize.height, SIZE);
    CHECK([layer isKindOfClass:[CAMetalLayer class]]);
    id<CAMetalDrawable> drawable = [layer nextDrawable];
    CHECK(drawable.layer == layer);
    CHECK_EQUAL(drawable.texture.width, SIZE);
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    pass.colorAttachments[0].texture = drawable.texture;
    pass.colorAttachments[0].loadAction = MTLLoadActionClear;
    pass.colorAttachments[0].clearColor = MTLClearColorMake(1, 0, 0, 1);
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [[commands renderCommandEncoderWithDescriptor:pass] endEncoding];
    [commands presentDrawable:drawable];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQUAL(pixel(drawable.texture, 5, 5), 0xffff0000u);
}

static void draws(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    triangle(device, library, queue);
    pictures(device, library, queue);
    layers(device, queue);
}

static void body(id<MTLDevice> device) { with_library(device, source, draws); }

int main(void) { return run_tests(body); }
