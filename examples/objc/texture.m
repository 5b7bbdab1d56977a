// SPDX-License-Identifier: Apache-2.0
// texture.m: a picture file becomes a texture (MTKTextureLoader), is drawn turned and smaller with
// its mipmaps, and blurred on one half by Metal Performance Shaders.
//
//     texture PICTURE [FILE.png]
#import <MetalKit/MetalKit.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#include "picture.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "struct Out { float4 place [[position]]; float2 at; };\n"
     "vertex Out corner(uint i [[vertex_id]], constant float2x2 &turn [[buffer(0)]]) {\n"
     "    float2 p = float2(i & 1, i >> 1);\n"
     "    return {float4(turn * (p * 2 - 1), 0, 1), float2(p.x, 1 - p.y)};\n"
     "}\n"
     "fragment float4 paint(Out in [[stage_in]], texture2d<float> picture [[texture(0)]]) {\n"
     "    constexpr sampler smooth(filter::linear, mip_filter::linear);\n"
     "    return picture.sample(smooth, in.at);\n"
     "}\n";
enum { WIDTH = 480, HEIGHT = 320 };

static void draw(id<MTLCommandBuffer> commands, id<MTLRenderPipelineState> pipeline,
                 id<MTLTexture> picture, id<MTLTexture> target) {
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    pass.colorAttachments[0].texture = target;
    pass.colorAttachments[0].loadAction = MTLLoadActionClear;
    pass.colorAttachments[0].clearColor = MTLClearColorMake(0.05, 0.05, 0.08, 1);
    const float turn[4] = {0.76f, 0.18f, -0.12f, 0.78f};
    id<MTLRenderCommandEncoder> encoder = [commands renderCommandEncoderWithDescriptor:pass];
    [encoder setRenderPipelineState:pipeline];
    [encoder setVertexBytes:turn length:sizeof turn atIndex:0];
    [encoder setFragmentTexture:picture atIndex:0];
    [encoder drawPrimitives:MTLPrimitiveTypeTriangleStrip vertexStart:0 vertexCount:4];
    [encoder endEncoding];
}

int main(int argc, char **argv) {
    @autoreleasepool {
        NSError *error = nil;
        if (argc < 2)
            return complain([NSError errorWithDomain:@"usage: texture PICTURE [FILE.png]"
                                                code:1
                                            userInfo:nil]);
        id<MTLDevice> device = MTLCreateSystemDefaultDevice();
        MTKTextureLoader *loader = [[MTKTextureLoader alloc] initWithDevice:device];
        NSURL *file = [NSURL fileURLWithPath:@(argv[1])];
        id<MTLTexture> picture =
            [loader newTextureWithContentsOfURL:file
                                        options:@{
                                            MTKTextureLoaderOptionGenerateMipmaps : @YES,
                                            MTKTextureLoaderOptionSRGB : @NO
                                        }
                                          error:&error];
        if (!picture) return complain(error);
        printf("%lu x %lu pixels, %lu levels\n", picture.width, picture.height,
               picture.mipmapLevelCount);
        id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
        if (!library) return complain(error);
        MTLRenderPipelineDescriptor *shape = [MTLRenderPipelineDescriptor new];
        shape.vertexFunction = [library newFunctionWithName:@"corner"];
        shape.fragmentFunction = [library newFunctionWithName:@"paint"];
        shape.colorAttachments[0].pixelFormat = MTLPixelFormatRGBA8Unorm;
        id<MTLRenderPipelineState> pipeline = [device newRenderPipelineStateWithDescriptor:shape
                                                                                     error:&error];
        if (!pipeline) return complain(error);
        id<MTLTexture> drawn = new_target(device, MTLPixelFormatRGBA8Unorm, WIDTH, HEIGHT);
        MTLTextureDescriptor *d =
            [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA8Unorm
                                                               width:WIDTH
                                                              height:HEIGHT
                                                           mipmapped:NO];
        d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
        id<MTLTexture> shown = [device newTextureWithDescriptor:d];
        id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
        draw(commands, pipeline, picture, drawn);
        id<MTLBlitCommandEncoder> copy = [commands blitCommandEncoder];
        [copy copyFromTexture:drawn toTexture:shown];
        [copy endEncoding];
        MPSImageGaussianBlur *blur = [[MPSImageGaussianBlur alloc] initWithDevice:device sigma:5];
        blur.edgeMode = MPSImageEdgeModeClamp;
        blur.clipRect = MTLRegionMake2D(WIDTH / 2, 0, WIDTH / 2, HEIGHT);
        blur.offset = (MPSOffset){WIDTH / 2, 0, 0};
        [blur encodeToCommandBuffer:commands sourceTexture:drawn destinationTexture:shown];
        [commands commit];
        [commands waitUntilCompleted];
        if (commands.error) return complain(commands.error);
        save(shown, argc > 2 ? argv[2] : NULL);
        return 0;
    }
}
