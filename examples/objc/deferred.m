// SPDX-License-Identifier: Apache-2.0
// deferred.m: deferred lighting in one pass, as GPUs with tiles do it: a first draw leaves colour,
// normal and place of what is seen in attachments that never reach memory, a second one reads them
// back and adds up the lights. A PNG file, if a name is given.
//
//     deferred_objc [FILE.png]
#include "picture.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "struct Out { float4 place [[position]]; float2 at; };\n"
     "vertex Out whole(uint i [[vertex_id]]) {\n"
     "    float2 p = float2((i << 1) & 2, i & 2) * 2 - 1;\n"
     "    return {float4(p, 0, 1), p * float2(1.5f, 1)};\n"
     "}\n"
     "struct Seen { half4 color [[color(1)]]; half4 normal [[color(2)]]; float4 place "
     "[[color(3)]]; };\n"
     "// Balls on a floor, found by rays.\n"
     "fragment Seen bodies(Out in [[stage_in]]) {\n"
     "    float3 eye = float3(0, 2.2f, 6), ray = normalize(float3(in.at, -2.2f) - float3(0, 0.5f, "
     "0));\n"
     "    float nearest = 1e9f, t = -eye.y / ray.y;\n"
     "    float3 n = float3(0, 1, 0), p = 0, c = 0;\n"
     "    if (t > 0 && t < 30) {\n"
     "        nearest = t;\n"
     "        p = eye + t * ray;\n"
     "        c = (int(floor(p.x)) + int(floor(p.z))) & 1 ? 0.75f : 0.5f;\n"
     "    }\n"
     "    for (int i = 0; i < 25; i++) {\n"
     "        float3 m = float3(i % 5 - 2, 0, i / 5 - 3) * 1.5f + float3(0, 0.5f, 0);\n"
     "        float b = dot(eye - m, ray), d = b * b - dot(eye - m, eye - m) + 0.25f;\n"
     "        if (d < 0 || -b - sqrt(d) >= nearest) continue;\n"
     "        nearest = -b - sqrt(d);\n"
     "        p = eye + nearest * ray;\n"
     "        n = (p - m) * 2;\n"
     "        c = 0.55f + 0.4f * cos(float3(0, 2, 4) + float(i));\n"
     "    }\n"
     "    return {half4(half3(c), 1), half4(half3(n), 0), float4(p, nearest < 1e8f)};\n"
     "}\n"
     "struct Light { float4 place, color; };\n"
     "fragment half4 lights(half4 color [[color(1)]], half4 normal [[color(2)]],\n"
     "                      float4 place [[color(3)]], constant Light *all [[buffer(0)]],\n"
     "                      constant uint &n [[buffer(1)]]) {\n"
     "    if (place.w == 0) return half4(0.02h, 0.03h, 0.06h, 1);\n"
     "    float3 sum = 0.04f;\n"
     "    for (uint i = 0; i < n; i++) {\n"
     "        float3 to = all[i].place.xyz - place.xyz;\n"
     "        float d = dot(to, to), near = saturate(1 - d / 9);\n"
     "        sum += all[i].color.rgb * near * near * saturate(dot(float3(normal.xyz), "
     "normalize(to)))\n"
     "               / (0.4f + d);\n"
     "    }\n"
     "    return half4(half3(sum) * color.rgb, 1);\n"
     "}\n";
enum { WIDTH = 480, HEIGHT = 320, LIGHTS = 24 };
typedef struct Light {
    float place[4], color[4];
} Light;
static const MTLPixelFormat formats[4] = {MTLPixelFormatRGBA8Unorm, MTLPixelFormatRGBA8Unorm,
                                          MTLPixelFormatRGBA16Float, MTLPixelFormatRGBA32Float};

static id<MTLRenderPipelineState> new_pipeline(id<MTLLibrary> library, NSString *fragment,
                                               NSError **error) {
    MTLRenderPipelineDescriptor *d = [MTLRenderPipelineDescriptor new];
    d.label = fragment;
    d.vertexFunction = [library newFunctionWithName:@"whole"];
    d.fragmentFunction = [library newFunctionWithName:fragment];
    for (NSUInteger i = 0; i < 4; i++) d.colorAttachments[i].pixelFormat = formats[i];
    return [library.device newRenderPipelineStateWithDescriptor:d error:error];
}

static MTLRenderPassDescriptor *new_pass(id<MTLDevice> device) {
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    for (NSUInteger i = 0; i < 4; i++) {
        MTLTextureDescriptor *d =
            [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:formats[i]
                                                               width:WIDTH
                                                              height:HEIGHT
                                                           mipmapped:NO];
        d.usage = MTLTextureUsageRenderTarget;
        d.storageMode = i ? MTLStorageModeMemoryless : MTLStorageModeShared;
        pass.colorAttachments[i].texture = [device newTextureWithDescriptor:d];
        pass.colorAttachments[i].loadAction = MTLLoadActionClear;
        pass.colorAttachments[i].storeAction = i ? MTLStoreActionDontCare : MTLStoreActionStore;
    }
    return pass;
}

int main(int argc, char **argv) {
    @autoreleasepool {
        NSError *error = nil;
        id<MTLDevice> device = MTLCreateSystemDefaultDevice();
        id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
        if (!library) return complain(error);
        id<MTLRenderPipelineState> bodies = new_pipeline(library, @"bodies", &error);
        id<MTLRenderPipelineState> lights = bodies ? new_pipeline(library, @"lights", &error) : nil;
        if (!lights) return complain(error);
        Light all[LIGHTS];
        for (uint32_t i = 0; i < LIGHTS; i++) {
            float x = (float)(i % 6), z = (float)(i / 6);
            all[i] = (Light){
                {x * 1.5f - 3.75f, 0.9f, z * 1.9f - 4.6f, 0},
                {i % 3 == 0 ? 2.4f : 0.4f, i % 3 == 1 ? 2.0f : 0.5f, i % 3 == 2 ? 2.6f : 0.4f, 0}};
        }
        const uint32_t n = LIGHTS;
        MTLRenderPassDescriptor *pass = new_pass(device);
        id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
        id<MTLRenderCommandEncoder> encoder = [commands renderCommandEncoderWithDescriptor:pass];
        [encoder setRenderPipelineState:bodies];
        [encoder drawPrimitives:MTLPrimitiveTypeTriangle vertexStart:0 vertexCount:3];
        [encoder setRenderPipelineState:lights];
        [encoder setFragmentBytes:all length:sizeof all atIndex:0];
        [encoder setFragmentBytes:&n length:sizeof n atIndex:1];
        [encoder drawPrimitives:MTLPrimitiveTypeTriangle vertexStart:0 vertexCount:3];
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        if (commands.error) return complain(commands.error);
        id<MTLTexture> picture = pass.colorAttachments[0].texture;
        printf("%d lights; a pixel of the floor is %06x\n", LIGHTS,
               pixel_of(picture, WIDTH / 2, HEIGHT - 20) & 0xffffff);
        save(picture, argc > 1 ? argv[1] : NULL);
        return 0;
    }
}
