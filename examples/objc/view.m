// SPDX-License-Identifier: Apache-2.0
// view.m: an application with a window and a MTKView, as a program for a Mac has them: a renderer
// that is the view's delegate turns a cube. Closing the window ends it; so does a number
// of pictures, if one is given, and the last of them is written to a PNG file.
//
//     view [PICTURES [FILE.png]]
#import <AppKit/AppKit.h>
#import <MetalKit/MetalKit.h>
#include <math.h>
#include "picture.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "struct Out { float4 place [[position]]; float3 color; };\n"
     "struct Turn { float angle, aspect; };\n"
     "// Six faces of two triangles; a face's number says which axis it looks along.\n"
     "vertex Out corner(uint i [[vertex_id]], constant Turn &t [[buffer(0)]]) {\n"
     "    uint face = i / 6, k = i % 6, axis = face >> 1;\n"
     "    float2 uv = float2(k == 1 || k == 2 || k == 4, k == 2 || k == 4 || k == 5) * 2 - 1;\n"
     "    float side = face & 1 ? 1.0f : -1.0f;\n"
     "    float3 p = axis == 0 ? float3(side, uv) : axis == 1 ? float3(uv.y, side, uv.x)\n"
     "                                            : float3(uv, side);\n"
     "    float3 n = axis == 0 ? float3(side, 0, 0) : axis == 1 ? float3(0, side, 0)\n"
     "                                              : float3(0, 0, side);\n"
     "    float s = sin(t.angle), c = cos(t.angle), s2 = sin(0.6f), c2 = cos(0.6f);\n"
     "    float3x3 turn = float3x3(1, 0, 0, 0, c2, s2, 0, -s2, c2) *\n"
     "                    float3x3(c, 0, -s, 0, 1, 0, s, 0, c);\n"
     "    p = turn * p;\n"
     "    n = turn * n;\n"
     "    float z = 4.5f - p.z;\n"
     "    float light = 0.25f + 0.75f * saturate(dot(n, normalize(float3(0.4f, 0.7f, 0.8f))));\n"
     "    float3 base = 0.5f + 0.45f * cos(float3(0, 2, 4) + float(axis) * 1.7f);\n"
     "    return {float4(p.x * 2 / t.aspect, p.y * 2, (z - 2) / 6 * z, z), base * light};\n"
     "}\n"
     "fragment float4 paint(Out in [[stage_in]]) { return float4(in.color, 1); }\n";

@interface Renderer : NSObject <MTKViewDelegate>
- (instancetype)initWithView:(MTKView *)view error:(NSError **)error;
@property(nonatomic) int left; // pictures; 0: for ever
@property(nonatomic) const char *path;
@end

@implementation Renderer {
    id<MTLCommandQueue> _queue;
    id<MTLRenderPipelineState> _pipeline;
    id<MTLDepthStencilState> _nearest;
    float _angle, _aspect;
}

- (instancetype)initWithView:(MTKView *)view error:(NSError **)error {
    if (!(self = [super init])) return nil;
    id<MTLLibrary> library = [view.device newLibraryWithSource:source options:nil error:error];
    MTLRenderPipelineDescriptor *shape = [MTLRenderPipelineDescriptor new];
    shape.vertexFunction = [library newFunctionWithName:@"corner"];
    shape.fragmentFunction = [library newFunctionWithName:@"paint"];
    shape.colorAttachments[0].pixelFormat = view.colorPixelFormat;
    shape.depthAttachmentPixelFormat = view.depthStencilPixelFormat;
    shape.rasterSampleCount = view.sampleCount;
    if (library) _pipeline = [view.device newRenderPipelineStateWithDescriptor:shape error:error];
    if (!_pipeline) return nil;
    MTLDepthStencilDescriptor *depth = [MTLDepthStencilDescriptor new];
    depth.depthCompareFunction = MTLCompareFunctionLess;
    depth.depthWriteEnabled = YES;
    _nearest = [view.device newDepthStencilStateWithDescriptor:depth];
    _queue = [view.device newCommandQueue];
    _aspect = (float)(view.drawableSize.width / view.drawableSize.height);
    _angle = 0.5f;
    return self;
}

- (void)mtkView:(MTKView *)view drawableSizeWillChange:(CGSize)size {
    (void)view;
    if (size.height > 0) _aspect = (float)(size.width / size.height);
}

- (void)drawInMTKView:(MTKView *)view {
    MTLRenderPassDescriptor *pass = view.currentRenderPassDescriptor;
    id<CAMetalDrawable> drawable = view.currentDrawable;
    if (!pass) return;
    const float turn[2] = {_angle += 0.02f, _aspect};
    id<MTLCommandBuffer> commands = [_queue commandBuffer];
    id<MTLRenderCommandEncoder> encoder = [commands renderCommandEncoderWithDescriptor:pass];
    [encoder setRenderPipelineState:_pipeline];
    [encoder setDepthStencilState:_nearest];
    [encoder setVertexBytes:turn length:sizeof turn atIndex:0];
    [encoder drawPrimitives:MTLPrimitiveTypeTriangle vertexStart:0 vertexCount:36];
    [encoder endEncoding];
    [commands presentDrawable:drawable];
    [commands commit];
    if (_left == 0 || --_left > 0) return;
    [commands waitUntilCompleted];
    printf("the last picture is %lu x %lu\n", drawable.texture.width, drawable.texture.height);
    [self savePicture:drawable.texture];
    exit(commands.error != nil);
}

- (void)savePicture:(id<MTLTexture>)texture { // blue comes first in it
    NSUInteger n = texture.width * texture.height;
    NSMutableData *pixels = [NSMutableData dataWithLength:n * 4];
    unsigned char *p = pixels.mutableBytes;
    if (!_path) return;
    [texture getBytes:p
          bytesPerRow:texture.width * 4
           fromRegion:MTLRegionMake2D(0, 0, texture.width, texture.height)
          mipmapLevel:0];
    for (NSUInteger i = 0; i < n; i++, p += 4) {
        unsigned char blue = p[0];
        p[0] = p[2], p[2] = blue;
    }
    write_png(_path, pixels.bytes, (uint32_t)texture.width, (uint32_t)texture.height);
}
@end

@interface Application : NSObject <NSApplicationDelegate>
@property(nonatomic) int pictures;
@property(nonatomic) const char *path;
@end

@implementation Application {
    NSWindow *_window;
    Renderer *_renderer;
}

- (void)applicationDidFinishLaunching:(NSNotification *)notification {
    (void)notification;
    NSError *error = nil;
    NSRect frame = NSMakeRect(0, 0, 480, 320);
    MTKView *view = [[MTKView alloc] initWithFrame:frame device:MTLCreateSystemDefaultDevice()];
    view.clearColor = MTLClearColorMake(0.06, 0.07, 0.1, 1);
    view.depthStencilPixelFormat = MTLPixelFormatDepth32Float;
    view.sampleCount = 4;
    _renderer = [[Renderer alloc] initWithView:view error:&error];
    if (!_renderer) exit(complain(error));
    _renderer.left = _pictures, _renderer.path = _path;
    view.delegate = _renderer;
    _window =
        [[NSWindow alloc] initWithContentRect:frame
                                    styleMask:NSWindowStyleMaskTitled | NSWindowStyleMaskClosable |
                                              NSWindowStyleMaskResizable
                                      backing:NSBackingStoreBuffered
                                        defer:NO];
    _window.title = @"A cube";
    _window.contentView = view;
    [_window center];
    [_window makeKeyAndOrderFront:nil];
}

- (BOOL)applicationShouldTerminateAfterLastWindowClosed:(NSApplication *)sender {
    (void)sender;
    return YES;
}
@end

int main(int argc, char **argv) {
    @autoreleasepool {
        NSApplication *app = NSApplication.sharedApplication;
        Application *delegate = [Application new];
        delegate.pictures = argc > 1 ? atoi(argv[1]) : 0;
        delegate.path = argc > 2 ? argv[2] : NULL;
        [app setActivationPolicy:NSApplicationActivationPolicyRegular];
        app.delegate = delegate;
        [app run];
    }
    return 0;
}
