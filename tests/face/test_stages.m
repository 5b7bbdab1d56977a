// SPDX-License-Identifier: Apache-2.0
// test_stages.m: what the stages of render pipelines can besides drawing vertices: functions linked
// into them, meshes in indirect commands, colours that go elsewhere, by exact pixels.
#include "face_test.h"

enum { SIDE = 16 };
static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "using Shade = float4(float2);\n"
     "[[visible]] float4 red(float2 p) { return float4(p.x / 255, 0, 0, 1); }\n"
     "[[visible]] float4 green(float2 p) { return float4(0, p.y / 255, 0, 1); }\n"
     "vertex float4 whole(uint i [[vertex_id]]) {\n"
     "  return float4(i & 1 ? 3 : -1, i & 2 ? 3 : -1, 0, 1); }\n"
     "fragment float4 shaded(float4 p [[position]], constant uint &which [[buffer(0)]],\n"
     "    visible_function_table<Shade> t [[buffer(1)]]) { return t[which](p.xy - 0.5); }\n"
     "fragment float4 white() { return 1; }\n"
     "struct M { float4 p [[position]]; float4 color; };\n"
     "[[mesh]] void quad(mesh<M, void, 4, 2, topology::triangle> m,\n"
     "    constant float4 &color [[buffer(3)]], uint i [[thread_index_in_threadgroup]]) {\n"
     "  if (i < 4) m.set_vertex(i, M{float4(float2(i & 1, i >> 1) * 2 - 1, 0, 1), color});\n"
     "  if (i == 0) { m.set_primitive_count(2); m.set_indices(0, uchar4(0, 1, 2, 2));\n"
     "    m.set_indices(4, uchar2(1, 3)); } }\n"
     "fragment float4 plain(M in [[stage_in]]) { return in.color; }\n"
     "struct One { half4 c [[color(0)]]; };\n"
     "[[visible]] half4 swapped(half4 c) { return c.grba; }\n"
     "kernel void through(imageblock<One> b, ushort2 at [[thread_position_in_threadgroup]],\n"
     "    visible_function_table<half4(half4)> t [[buffer(0)]]) {\n"
     "  b.write(One{t[0](b.read(at).c)}, at); }\n";

static id<MTLTexture> target(id<MTLDevice> device) {
    MTLTextureDescriptor *shape =
        [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA8Unorm
                                                           width:SIDE
                                                          height:SIDE
                                                       mipmapped:NO];
    shape.usage = MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead;
    return [device newTextureWithDescriptor:shape];
}

static uint32_t pixel(id<MTLTexture> texture, NSUInteger x, NSUInteger y) {
    uint32_t value = 0;
    [texture getBytes:&value bytesPerRow:4 fromRegion:MTLRegionMake2D(x, y, 1, 1) mipmapLevel:0];
    return value;
}

static id<MTLFunction> named(id<MTLLibrary> library, NSString *name, BOOL binary) {
    MTLFunctionDescriptor *descriptor = [MTLFunctionDescriptor functionDescriptor];
    descriptor.name = name;
    if (binary) descriptor.options = MTLFunctionOptionCompileToBinary;
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithDescriptor:descriptor error:&error];
    CHECK(function != nil);
    return function;
}

static MTLLinkedFunctions *linked(id<MTLFunction> function) {
    MTLLinkedFunctions *functions = [MTLLinkedFunctions linkedFunctions];
    functions.functions = @[ function ];
    return functions;
}

static id<MTLVisibleFunctionTable> table_of(id<MTLRenderPipelineState> state, MTLRenderStages stage,
                                            NSArray *functions) {
    MTLVisibleFunctionTableDescriptor *shape =
        [MTLVisibleFunctionTableDescriptor visibleFunctionTableDescriptor];
    shape.functionCount = functions.count;
    id<MTLVisibleFunctionTable> table = [state newVisibleFunctionTableWithDescriptor:shape
                                                                               stage:stage];
    for (NSUInteger i = 0; i < functions.count; i++) {
        id<MTLFunctionHandle> handle = [state functionHandleWithFunction:functions[i] stage:stage];
        CHECK(handle != nil);
        [table setFunction:handle atIndex:i];
    }
    return table;
}

// A pass with one draw or, of a tile pipeline, one dispatch.
static void run(id<MTLCommandQueue> queue, id<MTLTexture> color, id<MTLRenderPipelineState> state,
                id<MTLVisibleFunctionTable> table, uint32_t which, BOOL tile) {
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    pass.colorAttachments[0].texture = color;
    pass.colorAttachments[0].loadAction = MTLLoadActionClear;
    pass.colorAttachments[0].clearColor = MTLClearColorMake(1, 0, 0, 1);
    pass.tileWidth = pass.tileHeight = 16;
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLRenderCommandEncoder> encoder = [commands renderCommandEncoderWithDescriptor:pass];
    [encoder setRenderPipelineState:state];
    if (tile) {
        [encoder setTileVisibleFunctionTable:table atBufferIndex:0];
        [encoder dispatchThreadsPerTile:MTLSizeMake(16, 16, 1)];
    } else {
        [encoder setFragmentBytes:&which length:sizeof which atIndex:0];
        [encoder setFragmentVisibleFunctionTable:table atBufferIndex:1];
        [encoder drawPrimitives:MTLPrimitiveTypeTriangle vertexStart:0 vertexCount:3];
    }
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.error == nil);
}

static void fragments(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    id<MTLFunction> red = named(library, @"red", NO), green = named(library, @"green", YES);
    id<MTLFunction> whole = named(library, @"whole", NO), shaded = named(library, @"shaded", NO);
    MTLRenderPipelineDescriptor *descriptor = [MTLRenderPipelineDescriptor new];
    descriptor.vertexFunction = whole;
    descriptor.fragmentFunction = shaded;
    descriptor.colorAttachments[0].pixelFormat = MTLPixelFormatRGBA8Unorm;
    descriptor.fragmentLinkedFunctions = linked(red);
    descriptor.supportAddingFragmentBinaryFunctions = YES;
    CHECK_EQUAL(descriptor.maxFragmentCallStackDepth, 1);
    NSError *error = nil;
    id<MTLRenderPipelineState> first = [device newRenderPipelineStateWithDescriptor:descriptor
                                                                              error:&error];
    CHECK(first != nil);
    MTLRenderPipelineFunctionsDescriptor *more = [MTLRenderPipelineFunctionsDescriptor new];
    more.fragmentAdditionalBinaryFunctions = @[ green ];
    id<MTLRenderPipelineState> state =
        [first newRenderPipelineStateWithAdditionalBinaryFunctions:more error:&error];
    CHECK(state != nil);
    CHECK([first functionHandleWithFunction:green stage:MTLRenderStageFragment] == nil);
    id<MTLFunctionHandle> handle = [state functionHandleWithName:@"green"
                                                           stage:MTLRenderStageFragment];
    CHECK_TEXT(handle.name, @"green");
    id<MTLVisibleFunctionTable> table = table_of(state, MTLRenderStageFragment, @[ red, green ]);
    id<MTLTexture> color = target(device);
    run(queue, color, state, table, 0, NO);
    CHECK_EQUAL(pixel(color, 11, 3), 0xff00000bu);
    run(queue, color, state, table, 1, NO);
    CHECK_EQUAL(pixel(color, 11, 3), 0xff000300u);
    RELEASE(color);
    RELEASE(table);
    RELEASE(state);
    RELEASE(more);
    RELEASE(first);
    RELEASE(descriptor);
    RELEASE(red);
    RELEASE(green);
    RELEASE(whole);
    RELEASE(shaded);
}

static void tiles(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    id<MTLFunction> swapped = named(library, @"swapped", NO);
    id<MTLFunction> through = named(library, @"through", NO);
    MTLTileRenderPipelineDescriptor *descriptor = [MTLTileRenderPipelineDescriptor new];
    descriptor.tileFunction = through;
    descriptor.threadgroupSizeMatchesTileSize = YES;
    descriptor.colorAttachments[0].pixelFormat = MTLPixelFormatRGBA8Unorm;
    descriptor.linkedFunctions = linked(swapped);
    NSError *error = nil;
    id<MTLRenderPipelineState> state =
        [device newRenderPipelineStateWithTileDescriptor:descriptor
                                                 options:MTLPipelineOptionNone
                                              reflection:NULL
                                                   error:&error];
    CHECK(state != nil);
    id<MTLVisibleFunctionTable> table = table_of(state, MTLRenderStageTile, @[ swapped ]);
    id<MTLTexture> color = target(device);
    run(queue, color, state, table, 0, YES);
    CHECK_EQUAL(pixel(color, 5, 9), 0xff00ff00u);
    RELEASE(color);
    RELEASE(table);
    RELEASE(state);
    RELEASE(descriptor);
    RELEASE(swapped);
    RELEASE(through);
}

static MTL4LibraryFunctionDescriptor *function4(id<MTLLibrary> library, NSString *name) {
    MTL4LibraryFunctionDescriptor *descriptor = [MTL4LibraryFunctionDescriptor new];
    descriptor.library = library;
    descriptor.name = name;
#if !__has_feature(objc_arc)
    [descriptor autorelease];
#endif
    return descriptor;
}

// Metal 4: linked both ways, and with its colours left open.
static void compiled(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    NSError *error = nil;
    MTL4CompilerDescriptor *plain = [MTL4CompilerDescriptor new];
    id<MTL4Compiler> compiler = [device newCompilerWithDescriptor:plain error:&error];
    MTL4BinaryFunctionDescriptor *wanted = [MTL4BinaryFunctionDescriptor new];
    wanted.name = @"green";
    wanted.functionDescriptor = function4(library, @"green");
    id<MTL4BinaryFunction> green = [compiler newBinaryFunctionWithDescriptor:wanted
                                                         compilerTaskOptions:nil
                                                                       error:&error];
    MTL4StaticLinkingDescriptor *linking = [MTL4StaticLinkingDescriptor new];
    linking.functionDescriptors = @[ function4(library, @"red") ];
    MTL4RenderPipelineDynamicLinkingDescriptor *dynamic =
        [MTL4RenderPipelineDynamicLinkingDescriptor new];
    dynamic.fragmentLinkingDescriptor.binaryLinkedFunctions = @[ green ];
    MTL4RenderPipelineDescriptor *descriptor = [MTL4RenderPipelineDescriptor new];
    descriptor.vertexFunctionDescriptor = function4(library, @"whole");
    descriptor.fragmentFunctionDescriptor = function4(library, @"shaded");
    descriptor.fragmentStaticLinkingDescriptor = linking;
    descriptor.colorAttachments[0].pixelFormat = MTLPixelFormatUnspecialized;
    descriptor.colorAttachments[0].writeMask = MTLColorWriteMaskNone;
    id<MTLRenderPipelineState> open = [compiler newRenderPipelineStateWithDescriptor:descriptor
                                                            dynamicLinkingDescriptor:dynamic
                                                                 compilerTaskOptions:nil
                                                                               error:&error];
    CHECK(open != nil);
    MTL4RenderPipelineDescriptor *rest =
        (MTL4RenderPipelineDescriptor *)[open newRenderPipelineDescriptorForSpecialization];
    CHECK([rest isKindOfClass:[MTL4RenderPipelineDescriptor class]]);
    CHECK_EQUAL(rest.colorAttachments[0].pixelFormat, MTLPixelFormatUnspecialized);
    CHECK_EQUAL(rest.colorAttachments[0].writeMask, MTLColorWriteMaskNone);
    CHECK_EQUAL(rest.colorAttachments[1].pixelFormat, MTLPixelFormatInvalid);
    RELEASE(open);
    descriptor.colorAttachments[0].writeMask = MTLColorWriteMaskAll;
    open = [compiler newRenderPipelineStateWithDescriptor:descriptor
                                 dynamicLinkingDescriptor:dynamic
                                      compilerTaskOptions:nil
                                                    error:&error];
    rest.colorAttachments[0].pixelFormat = MTLPixelFormatRGBA8Unorm;
    id<MTLRenderPipelineState> state =
        [compiler newRenderPipelineStateBySpecializationWithDescriptor:rest
                                                              pipeline:open
                                                                 error:&error];
    CHECK(state != nil);
    CHECK([state newRenderPipelineDescriptorForSpecialization] == nil);
    id<MTLFunctionHandle> handle = [state functionHandleWithBinaryFunction:green
                                                                     stage:MTLRenderStageFragment];
    CHECK(handle != nil);
    MTLVisibleFunctionTableDescriptor *shape =
        [MTLVisibleFunctionTableDescriptor visibleFunctionTableDescriptor];
    shape.functionCount = 1;
    id<MTLVisibleFunctionTable> table =
        [state newVisibleFunctionTableWithDescriptor:shape stage:MTLRenderStageFragment];
    [table setFunction:handle atIndex:0];
    id<MTLTexture> color = target(device);
    run(queue, color, state, table, 0, NO);
    CHECK_EQUAL(pixel(color, 11, 3), 0xff000300u);
    RELEASE(color);
    RELEASE(table);
    RELEASE(state);
    RELEASE(open);
    RELEASE(rest);
    RELEASE(descriptor);
    RELEASE(dynamic);
    RELEASE(linking);
    RELEASE(green);
    RELEASE(wanted);
    RELEASE(compiler);
    RELEASE(plain);
}

// A mesh, drawn by a command of an indirect command buffer.
static void commands(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    NSError *error = nil;
    id<MTLFunction> quad = named(library, @"quad", NO), plain = named(library, @"plain", NO);
    MTLMeshRenderPipelineDescriptor *descriptor = [MTLMeshRenderPipelineDescriptor new];
    descriptor.meshFunction = quad;
    descriptor.fragmentFunction = plain;
    descriptor.supportIndirectCommandBuffers = YES;
    CHECK_EQUAL(descriptor.maxVertexAmplificationCount, 1);
    descriptor.maxVertexAmplificationCount = 2;
    descriptor.colorAttachments[0].pixelFormat = MTLPixelFormatRGBA8Unorm;
    id<MTLRenderPipelineState> state =
        [device newRenderPipelineStateWithMeshDescriptor:descriptor
                                                 options:MTLPipelineOptionNone
                                              reflection:NULL
                                                   error:&error];
    CHECK(state != nil);
    const float green[4] = {0, 1, 0, 1};
    id<MTLBuffer> color = [device newBufferWithBytes:green length:sizeof green options:0];
    MTLIndirectCommandBufferDescriptor *kind = [MTLIndirectCommandBufferDescriptor new];
    kind.commandTypes = MTLIndirectCommandTypeDrawMeshThreadgroups;
    kind.inheritBuffers = NO;
    kind.inheritPipelineState = NO;
    kind.maxMeshBufferBindCount = 4;
    id<MTLIndirectCommandBuffer> list = [device newIndirectCommandBufferWithDescriptor:kind
                                                                       maxCommandCount:1
                                                                               options:0];
    id<MTLIndirectRenderCommand> command = [list indirectRenderCommandAtIndex:0];
    [command setRenderPipelineState:state];
    [command setMeshBuffer:color offset:0 atIndex:3];
    [command drawMeshThreadgroups:MTLSizeMake(1, 1, 1)
        threadsPerObjectThreadgroup:MTLSizeMake(1, 1, 1)
          threadsPerMeshThreadgroup:MTLSizeMake(32, 1, 1)];
    id<MTLTexture> picture = target(device);
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    pass.colorAttachments[0].texture = picture;
    pass.colorAttachments[0].loadAction = MTLLoadActionClear;
    id<MTLCommandBuffer> work = [queue commandBuffer];
    id<MTLRenderCommandEncoder> encoder = [work renderCommandEncoderWithDescriptor:pass];
    [encoder useResource:color usage:MTLResourceUsageRead stages:MTLRenderStageMesh];
    const MTLViewport views[2] = {{0, 0, 16, 16, 0, 1}, {4, 4, 8, 8, 0, 1}};
    const MTLVertexAmplificationViewMapping second[2] = {{1, 0}, {1, 0}};
    [encoder setViewports:views count:2];
    [encoder setVertexAmplificationCount:2 viewMappings:second];
    [encoder executeCommandsInBuffer:list withRange:NSMakeRange(0, 1)];
    [encoder endEncoding];
    [work commit];
    [work waitUntilCompleted];
    CHECK(work.error == nil);
    CHECK_EQUAL(pixel(picture, 3, 12), 0xff000000u); // not the first viewport
    CHECK_EQUAL(pixel(picture, 5, 10), 0xff00ff00u);
    RELEASE(picture);
    RELEASE(list);
    RELEASE(kind);
    RELEASE(color);
    RELEASE(state);
    RELEASE(descriptor);
    RELEASE(quad);
    RELEASE(plain);
}

// Colour 0 of the function goes to attachment 1.
static void mapped(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    NSError *error = nil;
    MTLLogicalToPhysicalColorAttachmentMap *map = [MTLLogicalToPhysicalColorAttachmentMap new];
    CHECK_EQUAL([map getPhysicalIndexForLogicalIndex:2], 2);
    [map setPhysicalIndex:1 forLogicalIndex:0];
    [map setPhysicalIndex:0 forLogicalIndex:1];
    CHECK_EQUAL([map getPhysicalIndexForLogicalIndex:0], 1);
    id<MTLFunction> whole = named(library, @"whole", NO), white = named(library, @"white", NO);
    MTLRenderPipelineDescriptor *descriptor = [MTLRenderPipelineDescriptor new];
    descriptor.vertexFunction = whole;
    descriptor.fragmentFunction = white;
    descriptor.colorAttachments[0].pixelFormat = MTLPixelFormatRGBA8Unorm;
    id<MTLRenderPipelineState> state = [device newRenderPipelineStateWithDescriptor:descriptor
                                                                              error:&error];
    id<MTLTexture> first = target(device), second = target(device);
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    pass.colorAttachments[0].texture = first;
    pass.colorAttachments[1].texture = second;
    pass.colorAttachments[0].loadAction = MTLLoadActionClear;
    pass.colorAttachments[1].loadAction = MTLLoadActionClear;
    pass.supportColorAttachmentMapping = YES;
    id<MTLCommandBuffer> work = [queue commandBuffer];
    id<MTLRenderCommandEncoder> encoder = [work renderCommandEncoderWithDescriptor:pass];
    [encoder setColorAttachmentMap:map];
    [encoder setRenderPipelineState:state];
    [encoder drawPrimitives:MTLPrimitiveTypeTriangle vertexStart:0 vertexCount:3];
    [encoder endEncoding];
    [work commit];
    [work waitUntilCompleted];
    CHECK(work.error == nil);
    CHECK_EQUAL(pixel(first, 4, 4), 0xff000000u);
    CHECK_EQUAL(pixel(second, 4, 4), 0xffffffffu);
    [map reset];
    CHECK_EQUAL([map getPhysicalIndexForLogicalIndex:0], 0);
    RELEASE(first);
    RELEASE(second);
    RELEASE(state);
    RELEASE(descriptor);
    RELEASE(whole);
    RELEASE(white);
    RELEASE(map);
}

static void reflections(id<MTLLibrary> library) {
    MTLFunctionReflection *reflection = [library reflectionForFunctionWithName:@"through"];
    CHECK_EQUAL(reflection.bindings.count, 2);
    CHECK_EQUAL(reflection.bindings[0].type, MTLBindingTypeImageblock);
    CHECK_TEXT(reflection.bindings[1].name, @"t");
    CHECK([library reflectionForFunctionWithName:@"nothing"] == nil);
}

static void stages(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    fragments(device, library, queue);
    tiles(device, library, queue);
    compiled(device, library, queue);
    commands(device, library, queue);
    mapped(device, library, queue);
    reflections(library);
}

static void body(id<MTLDevice> device) { with_library(device, source, stages); }

int main(void) { return run_tests(body); }
