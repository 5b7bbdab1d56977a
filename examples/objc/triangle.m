// SPDX-License-Identifier: Apache-2.0
// triangle.m: Metal in Objective-C with automatic counting: three coloured corners, drawn into a
// texture. A PNG file, if a name is given.
//
//     ingot cc -fobjc-arc triangle.m -o triangle -framework Metal -framework Foundation -lz
#import <Metal/Metal.h>
#include "picture.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "struct Corner { float2 place; float3 color; };\n"
     "struct Out { float4 place [[position]]; float3 color; };\n"
     "vertex Out corner(uint i [[vertex_id]], constant Corner *all [[buffer(0)]]) {\n"
     "    return {float4(all[i].place, 0, 1), all[i].color};\n"
     "}\n"
     "fragment float4 paint(Out in [[stage_in]]) { return float4(in.color, 1); }\n";

typedef struct Corner {
    float place[2], unused[2], color[3], unused_too;
} Corner;

int main(int argc, char **argv) {
    @autoreleasepool {
        const NSUInteger width = 480, height = 320;
        NSError *error = nil;
        id<MTLDevice> device = MTLCreateSystemDefaultDevice();
        id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
        if (!library) return complain(error);
        MTLRenderPipelineDescriptor *shape = [MTLRenderPipelineDescriptor new];
        shape.vertexFunction = [library newFunctionWithName:@"corner"];
        shape.fragmentFunction = [library newFunctionWithName:@"paint"];
        shape.colorAttachments[0].pixelFormat = MTLPixelFormatRGBA8Unorm;
        id<MTLRenderPipelineState> pipeline = [device newRenderPipelineStateWithDescriptor:shape
                                                                                     error:&error];
        if (!pipeline) return complain(error);
        const Corner corners[3] = {{.place = {-0.8f, -0.8f}, .color = {0.9f, 0.2f, 0.2f}},
                                   {.place = {0.8f, -0.8f}, .color = {0.2f, 0.8f, 0.3f}},
                                   {.place = {0, 0.8f}, .color = {0.2f, 0.4f, 1.0f}}};
        id<MTLTexture> target = new_target(device, MTLPixelFormatRGBA8Unorm, width, height);
        MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
        pass.colorAttachments[0].texture = target;
        pass.colorAttachments[0].loadAction = MTLLoadActionClear;
        pass.colorAttachments[0].clearColor = MTLClearColorMake(0.08, 0.09, 0.12, 1);
        id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
        id<MTLRenderCommandEncoder> encoder = [commands renderCommandEncoderWithDescriptor:pass];
        [encoder setRenderPipelineState:pipeline];
        [encoder setVertexBytes:corners length:sizeof corners atIndex:0];
        [encoder drawPrimitives:MTLPrimitiveTypeTriangle vertexStart:0 vertexCount:3];
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        if (commands.error) return complain(commands.error);
        unsigned middle = pixel_of(target, width / 2, height / 2);
        printf("the middle is %06x\n", middle & 0xffffff);
        save(target, argc > 1 ? argv[1] : NULL);
        return (middle & 0xff) < 0x40; // the background has less red
    }
}
