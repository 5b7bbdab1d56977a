// SPDX-License-Identifier: Apache-2.0
// test_view.m: an application with a window and a MTKView, under Xvfb, which the test starts
// (without it, off screen): the delegate draws, what is seen is compared pixel by pixel, the
// window is resized and closed. Then views alone: modes of drawing, attachments, layers of a
// program's own class.
#include "face_test.h"
#import <AppKit/AppKit.h>
#import <MetalKit/MetalKit.h>
#include <stdlib.h>
#include "../xvfb.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "vertex float4 v(uint i [[vertex_id]]) {\n"
     "    return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5, 1);\n"
     "}\n"
     "fragment float4 f(float4 p [[position]], constant float &c [[buffer(0)]]) {\n"
     "    if (p.x < 8) discard_fragment();\n"
     "    return float4(uint(p.x) / 255.0f, uint(p.y) / 255.0f, c, 1);\n"
     "}\n";

// ---- What draws: red says x, green y, blue the number of the picture; eight columns stay clear ----

@interface Painter : NSObject <MTKViewDelegate>
@property(nonatomic) int drawn, sized;
@property(nonatomic) CGSize size;
@property(nonatomic, copy) void (^after)(int drawn);
- (instancetype)initWithView:(MTKView *)view;
@end
@implementation Painter {
    id<MTLCommandQueue> _queue;
    id<MTLRenderPipelineState> _pipeline;
}
- (instancetype)initWithView:(MTKView *)view {
    if (!(self = [super init])) return nil;
    NSError *error = nil;
    id<MTLLibrary> library = compile(view.device, source);
    MTLRenderPipelineDescriptor *d = [MTLRenderPipelineDescriptor new];
    id<MTLFunction> vertex = [library newFunctionWithName:@"v"],
                    fragment = [library newFunctionWithName:@"f"];
    d.vertexFunction = vertex, d.fragmentFunction = fragment;
    d.colorAttachments[0].pixelFormat = view.colorPixelFormat;
    d.depthAttachmentPixelFormat = view.depthStencilPixelFormat;
    if (view.depthStencilPixelFormat == MTLPixelFormatDepth32Float_Stencil8)
        d.stencilAttachmentPixelFormat = view.depthStencilPixelFormat;
    d.rasterSampleCount = view.sampleCount;
    _pipeline = [view.device newRenderPipelineStateWithDescriptor:d error:&error];
    if (!_pipeline) printf("%s\n", error.localizedDescription.UTF8String);
    CHECK(_pipeline != nil);
    _queue = [view.device newCommandQueue];
    RELEASE(vertex), RELEASE(fragment), RELEASE(library), RELEASE(d);
    return self;
}
#if !__has_feature(objc_arc)
- (void)dealloc {
    [_queue release], [_pipeline release], [_after release];
    [super dealloc];
}
#endif
- (void)mtkView:(MTKView *)view drawableSizeWillChange:(CGSize)size {
    (void)view;
    _sized++, _size = size;
}
- (void)drawInMTKView:(MTKView *)view {
    MTLRenderPassDescriptor *pass = view.currentRenderPassDescriptor;
    CHECK(pass != nil && view.currentDrawable != nil);
    CHECK(view.currentDrawable == view.currentDrawable); // one a turn
    CHECK(view.currentDrawable.layer == (id)view.layer);
    float blue = (float)_drawn / 255;
    id<MTLCommandBuffer> commands = [_queue commandBuffer];
    id<MTLRenderCommandEncoder> e = [commands renderCommandEncoderWithDescriptor:pass];
    [e setRenderPipelineState:_pipeline];
    [e setFragmentBytes:&blue length:sizeof blue atIndex:0];
    [e drawPrimitives:MTLPrimitiveTypeTriangle vertexStart:0 vertexCount:3];
    [e endEncoding];
    [commands presentDrawable:view.currentDrawable];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQUAL(commands.status, MTLCommandBufferStatusCompleted);
    _drawn++;
    if (_after) _after(_drawn);
}
@end

// ---- An application ----

static bool display; // is there one?
static NSMutableString *story;

@interface Delegate : NSObject <NSApplicationDelegate, NSWindowDelegate>
@property(nonatomic, strong) NSWindow *window;
@property(nonatomic, strong) Painter *painter;
@property(nonatomic) int refused;
@end
@implementation Delegate
- (void)compare:(MTKView *)view blue:(int)blue {
    int width = (int)view.drawableSize.width, height = (int)view.drawableSize.height, wrong = 0;
    ImageReply *reply;
    if (!display) return;
    CHECK(_window.windowNumber != 0);
    const uint8_t *p =
        seen_pixels((uint32_t)_window.windowNumber, (uint16_t)width, (uint16_t)height, &reply);
    CHECK(p != NULL);
    for (int y = 0; p && y < height; y++)
        for (int k = 0; k < width; k++, p += 4)
            if (k < 8 ? p[0] != 51 || p[1] != 102 || p[2] != 153
                      : p[0] != blue || p[1] != y || p[2] != k)
                wrong++;
    CHECK_EQUAL(wrong, 0);
    free(reply);
}
- (void)turn:(int)drawn view:(MTKView *)view {
    uint32_t number = (uint32_t)_window.windowNumber;
    if (drawn == 3) {
        [self compare:view blue:2];
        CHECK_EQUAL(_painter.sized, 1); // when it came into the window
        display ? resize_window(number, 220, 90) : [_window setContentSize:NSMakeSize(220, 90)];
    }
    if (drawn > 3 && !_refused && _painter.size.width == 220) {
        CHECK_EQUAL(_painter.size.height, 90);
        CHECK_EQUAL(view.frame.size.width, 220);
        [self compare:view blue:drawn - 1];
        _refused = 1;
        display ? (void)ask_to_close(number) : [_window performClose:nil];
    }
    if (drawn > 300) { // it takes a few
        printf("the window was not resized or closed\n");
        exit(1);
    }
    if (_refused == 2) {
        _refused = 3;
        display ? (void)ask_to_close(number) : [_window performClose:nil];
    }
}
- (void)applicationWillFinishLaunching:(NSNotification *)note {
    CHECK(note.object == NSApp);
    [story appendString:@"will "];
}
- (void)applicationDidFinishLaunching:(NSNotification *)note {
    (void)note;
    [story appendString:@"did "];
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSRect frame = NSMakeRect(0, 0, 200, 120);
    NSWindow *window =
        [[NSWindow alloc] initWithContentRect:frame
                                    styleMask:NSWindowStyleMaskTitled | NSWindowStyleMaskClosable |
                                              NSWindowStyleMaskResizable
                                      backing:NSBackingStoreBuffered
                                        defer:NO];
    MTKView *view = [[MTKView alloc] initWithFrame:frame device:device];
    view.clearColor = MTLClearColorMake(0.6, 0.4, 0.2, 1);
    view.depthStencilPixelFormat = MTLPixelFormatDepth32Float;
    Painter *painter = [[Painter alloc] initWithView:view];
    view.delegate = painter;
    window.title = @"a view";
    window.delegate = self;
    window.contentView = view;
    self.window = window, self.painter = painter;
    __unsafe_unretained Delegate *me = self;
    __unsafe_unretained MTKView *it = view;
    painter.after = ^(int drawn) {
      [me turn:drawn view:it];
    };
    [window makeKeyAndOrderFront:nil];
    CHECK(window.visible && view.window == window && NSApp.mainWindow == window);
    RELEASE(window), RELEASE(view), RELEASE(painter), RELEASE(device);
}
- (BOOL)windowShouldClose:(NSWindow *)window { // the first wish is refused
    CHECK(window == _window);
    if (_refused == 1) {
        _refused = 2;
        return NO;
    }
    return YES;
}
- (void)windowWillClose:(NSNotification *)note {
    CHECK(note.object == _window);
    [story appendString:@"closes "];
}
- (BOOL)applicationShouldTerminateAfterLastWindowClosed:(NSApplication *)app {
    CHECK(app == NSApp);
    return YES;
}
- (NSApplicationTerminateReply)applicationShouldTerminate:(NSApplication *)app {
    [story appendString:@"asked"];
    [app stop:nil]; // the test goes on
    return NSTerminateCancel;
}
@end

static void application(void) {
    story = [NSMutableString new];
    NSApplication *app = NSApplication.sharedApplication;
    Delegate *delegate = [Delegate new];
    app.delegate = delegate;
    [app setActivationPolicy:NSApplicationActivationPolicyRegular];
    [app run];
    CHECK_TEXT(story, @"will did closes asked");
    CHECK(!app.windows.count && !delegate.window.visible);
    int drawn = delegate.painter.drawn;
    [NSRunLoop.mainRunLoop runUntilDate:[NSDate dateWithTimeIntervalSinceNow:0.1]];
    CHECK_EQUAL(delegate.painter.drawn, drawn); // out of its window it stands still
    app.delegate = nil;
#if !__has_feature(objc_arc)
    delegate.window = nil, delegate.painter = nil;
#endif
    RELEASE(delegate), RELEASE(story);
}

// ---- Views alone ----

static void modes(id<MTLDevice> device) {
    MTKView *view = [[MTKView alloc] initWithFrame:CGRectMake(0, 0, 40, 30) device:device];
    CHECK(view.device == device && [view.layer isKindOfClass:CAMetalLayer.class]);
    CHECK_EQUAL(view.preferredFramesPerSecond, 60);
    CHECK_EQUAL(view.colorPixelFormat, MTLPixelFormatBGRA8Unorm);
    CHECK_EQUAL(view.drawableSize.width, 40);
    view.sampleCount = 4;
    view.depthStencilPixelFormat = MTLPixelFormatDepth32Float_Stencil8;
    MTLRenderPassDescriptor *pass = view.currentRenderPassDescriptor;
    CHECK_EQUAL(pass.colorAttachments[0].texture.sampleCount, 4);
    CHECK(pass.colorAttachments[0].resolveTexture == view.currentDrawable.texture);
    CHECK_EQUAL(pass.colorAttachments[0].storeAction, MTLStoreActionMultisampleResolve);
    CHECK_EQUAL(pass.depthAttachment.texture.width, 40);
    CHECK(pass.stencilAttachment.texture == pass.depthAttachment.texture);
    CHECK(view.depthStencilTexture == pass.depthAttachment.texture); // not made anew
    MTL4RenderPassDescriptor *four = view.currentMTL4RenderPassDescriptor;
    CHECK(four.colorAttachments[0].texture == view.multisampleColorTexture);
    CHECK_EQUAL(four.depthAttachment.clearDepth, 1);
    view.autoResizeDrawable = NO;
    view.frame = NSMakeRect(0, 0, 80, 60);
    CHECK_EQUAL(view.drawableSize.width, 40);
    CHECK_EQUAL(view.preferredDrawableSize.width, 80);
    view.autoResizeDrawable = YES;
    CHECK_EQUAL(view.drawableSize.width, 80);
    CHECK_EQUAL(view.depthStencilTexture.width, 80);
    [view releaseDrawables];

    Painter *painter = [[Painter alloc] initWithView:view];
    view.delegate = painter;
    [view draw]; // by hand, in no window
    CHECK_EQUAL(painter.drawn, 1);
    NSWindow *window = [[NSWindow alloc] initWithContentRect:NSMakeRect(0, 0, 80, 60)
                                                   styleMask:NSWindowStyleMaskTitled
                                                     backing:NSBackingStoreBuffered
                                                       defer:NO];
    view.paused = YES, view.enableSetNeedsDisplay = YES;
    window.contentView = view;
    [window makeKeyAndOrderFront:nil];
    __unsafe_unretained MTKView *it = view;
    painter.after = ^(int drawn) {
      if (drawn == 4) [NSApp stop:nil];
      dispatch_async(dispatch_get_main_queue(), ^{
        it.needsDisplay = YES;
      });
    };
    [NSApp run]; // the first picture of a window needs no wish; three more are wished for
    CHECK_EQUAL(painter.drawn, 4);
    [window close];
    painter.after = nil;
    RELEASE(window), RELEASE(view), RELEASE(painter);
}

// ---- Layers of a program's own class ----

#if __has_feature(objc_arc)
#define WEAK __weak
#define IS_GONE(object) ((object) == nil)
#else // there are no weak variables
#define WEAK
#define IS_GONE(object) ((void)(object), true)
#endif

static int layers_ended;
@interface OwnLayer : CAMetalLayer {
    NSObject *_held;
    int _number;
}
@property(nonatomic) int number;
@property(nonatomic, strong) NSString *words;
@end
@implementation OwnLayer
- (instancetype)init {
    if ((self = [super init])) _held = [NSObject new], _number = 7;
    return self;
}
- (void)dealloc {
    CHECK_EQUAL(_number, 8);
    layers_ended++;
#if !__has_feature(objc_arc)
    [_held release], [_words release];
    [super dealloc];
#endif
}
- (id<CAMetalDrawable>)nextDrawable {
    _number = 8;
    return [super nextDrawable];
}
@end

@interface OwnView : NSView
@end
@implementation OwnView
+ (Class)layerClass {
    return OwnLayer.class;
}
@end

static void layers(id<MTLDevice> device) {
    WEAK OwnLayer *gone = nil;
    @autoreleasepool {
        OwnLayer *layer = [OwnLayer layer];
        gone = layer;
        CHECK([layer isKindOfClass:CALayer.class] && [layer class] == OwnLayer.class);
        CHECK_EQUAL(layer.number, 7);
        layer.words = [NSString stringWithFormat:@"a layer of %d", layer.number];
        layer.device = device, layer.drawableSize = CGSizeMake(16, 8);
        layer.contentsScale = 2, layer.name = @"mine", layer.frame = CGRectMake(1, 2, 8, 4);
        CHECK_EQUAL(layer.bounds.size.width, 8);
        CHECK_TEXT(layer.name, @"mine");
        CHECK_TEXT(layer.words, @"a layer of 7");
        id<CAMetalDrawable> drawable = [layer nextDrawable];
        CHECK_EQUAL(drawable.texture.width, 16);
        CHECK((id)drawable.layer == layer);
        CALayer *above = [CALayer layer];
        CHECK_TEXT(above.contentsGravity, @"resize");
        above.contentsGravity = kCAGravityTopLeft;
        CHECK_TEXT(above.contentsGravity, @"topLeft");
        [above addSublayer:layer];
        CHECK(layer.superlayer == above && above.sublayers.count == 1);
        [layer removeFromSuperlayer];
        CHECK(layer.superlayer == nil && !above.sublayers.count);
    }
    CHECK(IS_GONE(gone));
    CHECK_EQUAL(layers_ended, 1);
    @autoreleasepool {
        OwnView *view = [[OwnView alloc] initWithFrame:NSMakeRect(0, 0, 32, 32)];
        view.wantsLayer = YES;
        CHECK([view.layer isKindOfClass:OwnLayer.class]);
        [(OwnLayer *)view.layer nextDrawable]; // nil: no device
        RELEASE(view);
    }
    CHECK_EQUAL(layers_ended, 2);
    CAMetalLayer *plain = [[CAMetalLayer alloc] init];
    CHECK([plain nextDrawable] == nil);
    RELEASE(plain);
}

static void body(id<MTLDevice> device) {
    layers(device);
    application();
    modes(device);
}

int main(void) {
    const char *why = open_display();
    if (why) {
        printf("off screen: %s\n", why);
        unsetenv("DISPLAY");
    }
    display = !why;
    int failed = run_tests(body);
    if (display) stop_server();
    return failed;
}
