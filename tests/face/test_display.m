// SPDX-License-Identifier: Apache-2.0
// test_display.m: colours, controllers of windows, and what fires with the display's pictures.
#import <AppKit/AppKit.h>
#import <CoreVideo/CoreVideo.h>
#include <math.h>
#include <stdatomic.h>
#include <unistd.h>
#include "face_test.h"

static bool near(double a, double b) { return fabs(a - b) < 1e-9; }

static void colours(void) {
    NSColor *c = [NSColor colorWithRed:0.25 green:0.5 blue:0.75 alpha:0.5];
    CGFloat r, g, b, a;
    [c getRed:&r green:&g blue:&b alpha:&a];
    CHECK(r == 0.25 && g == 0.5 && b == 0.75 && a == 0.5);
    CHECK([c isEqual:[NSColor colorWithSRGBRed:0.25 green:0.5 blue:0.75 alpha:0.5]]);
    CHECK(![c isEqual:[c colorWithAlphaComponent:1]]);
    // red is at 0, green at a third, blue at two thirds of the circle
    CHECK([[NSColor colorWithHue:0 saturation:1 brightness:1 alpha:1] isEqual:NSColor.redColor]);
    CHECK(near([NSColor colorWithHue:1.0 / 3 saturation:1 brightness:1 alpha:1].greenComponent, 1));
    CHECK(near([NSColor colorWithHue:1.0 / 3 saturation:1 brightness:1 alpha:1].redComponent, 0));
    for (int i = 1; i < 12; i++) {
        NSColor *h = [NSColor colorWithHue:i / 12.0 saturation:0.5 brightness:0.8 alpha:1];
        CHECK(near(h.hueComponent, i / 12.0) && near(h.saturationComponent, 0.5));
        CHECK(near(h.brightnessComponent, 0.8));
    }
    NSColor *half = [NSColor.blackColor blendedColorWithFraction:0.25 ofColor:NSColor.whiteColor];
    CHECK_EQUAL(half.redComponent, 0.25);
    CHECK_EQUAL(CGColorGetNumberOfComponents(c.CGColor), 4);
    CHECK_EQUAL(CGColorGetComponents(c.CGColor)[2], 0.75);
    CHECK([[NSColor colorWithCGColor:c.CGColor] isEqual:c]);
    CGColorRef gray = CGColorCreateGenericGray(0.5, 0.25);
    CHECK_EQUAL(CGColorGetNumberOfComponents(gray), 2);
    CHECK_EQUAL(CGColorGetAlpha(gray), 0.25);
    CHECK([[NSColor colorWithCGColor:gray] isEqual:[NSColor colorWithWhite:0.5 alpha:0.25]]);
    CALayer *layer = [CALayer layer];
    CHECK(!layer.backgroundColor && layer.opacity == 1);
    layer.backgroundColor = gray;
    CGColorRelease(gray);
    CHECK_EQUAL(CGColorGetComponents(layer.backgroundColor)[0], 0.5);
    CHECK(![NSColor colorWithCGColor:NULL]);
}

// ---- Controllers ----

@interface Panel : NSWindowController
@property int loaded;
@end
@implementation Panel
- (void)windowDidLoad {
    self.loaded++;
}
@end

static void controllers(void) {
    Panel *panel = [[Panel alloc] initWithWindowNibName:@"Panel"];
    CHECK(!panel.windowLoaded && !panel.loaded);
    NSWindow *window = panel.window;
    CHECK(window && panel.windowLoaded && panel.loaded == 1 && panel.window == window);
    CHECK(window.windowController == panel && window.nextResponder == panel);
    NSViewController *view = [NSViewController new];
    panel.contentViewController = view;
    CHECK(window.contentView == view.view && panel.contentViewController == view);
    [panel showWindow:nil];
    CHECK(window.visible);
    [panel close];
    CHECK(!window.visible);
    window.backgroundColor = NSColor.redColor;
    CHECK([window.backgroundColor isEqual:NSColor.redColor]);
    NSWindowController *other = [[NSWindowController alloc] initWithWindow:window];
    CHECK(window.windowController == other);
    RELEASE(view), RELEASE(other), RELEASE(panel);
}

// ---- Links ----

static int dead;
@interface Ticker : NSObject <CAMetalDisplayLinkDelegate>
@property int n;
@property CFTimeInterval last;
@property BOOL ordered;
@end
@implementation Ticker
- (void)tick:(CADisplayLink *)link {
    if (self.n) self.ordered = self.ordered && link.timestamp > self.last;
    self.last = link.timestamp;
    if (++self.n == 5) link.paused = YES;
    self.ordered = self.ordered && near(link.targetTimestamp - link.timestamp, 1.0 / 60);
}
- (void)metalDisplayLink:(CAMetalDisplayLink *)link needsUpdate:(CAMetalDisplayLinkUpdate *)update {
    self.ordered = self.ordered && update.drawable.texture.width == 8 &&
                   update.targetPresentationTimestamp > update.targetTimestamp;
    if (++self.n == 3) [link invalidate];
}
- (void)dealloc {
    dead++;
#if !__has_feature(objc_arc)
    [super dealloc];
#endif
}
@end

static void turn(double seconds) {
    [NSRunLoop.mainRunLoop runMode:NSDefaultRunLoopMode
                        beforeDate:[NSDate dateWithTimeIntervalSinceNow:seconds]];
}
// The loop's turns until the condition holds; a loaded machine takes its time.
#define UNTIL(condition)                                                                           \
    for (int turns = 0; !(condition) && turns < 500; turns++) turn(0.02)

static void links(id<MTLDevice> device) {
    @autoreleasepool {
        Ticker *ticker = [Ticker new];
        ticker.ordered = YES;
        CADisplayLink *link = [CADisplayLink displayLinkWithTarget:ticker
                                                          selector:@selector(tick:)];
        [link addToRunLoop:NSRunLoop.mainRunLoop forMode:NSDefaultRunLoopMode];
        [link addToRunLoop:NSRunLoop.mainRunLoop forMode:NSDefaultRunLoopMode]; // once is enough
        UNTIL(ticker.n >= 5);
        CHECK_EQUAL(ticker.n, 5);
        for (int i = 0; i < 5; i++) turn(0.02);
        CHECK_EQUAL(ticker.n, 5); // paused
        CHECK(ticker.ordered);
        link.paused = NO, link.preferredFramesPerSecond = 30;
        UNTIL(ticker.n >= 6);
        CHECK(ticker.n >= 6);
        [link invalidate];
        const int n = ticker.n;
        for (int i = 0; i < 5; i++) turn(0.02);
        CHECK_EQUAL(ticker.n, n);
        RELEASE(ticker);
    }
    CHECK_EQUAL(dead, 1);
    CAMetalLayer *layer = [CAMetalLayer layer];
    layer.device = device, layer.drawableSize = CGSizeMake(8, 4);
    Ticker *drawn = [Ticker new];
    drawn.ordered = YES;
    CAMetalDisplayLink *metal = [[CAMetalDisplayLink alloc] initWithMetalLayer:layer];
    metal.delegate = drawn;
    metal.preferredFrameRateRange = CAFrameRateRangeMake(30, 60, 60);
    [metal addToRunLoop:NSRunLoop.mainRunLoop forMode:NSDefaultRunLoopMode];
    UNTIL(drawn.n >= 3);
    turn(0.05);
    CHECK_EQUAL(drawn.n, 3);
    CHECK(drawn.ordered);
    RELEASE(metal), RELEASE(drawn);
    NSWindow *window = [NSWindow new];
    CHECK([window displayLinkWithTarget:window selector:@selector(update)] != nil);
    RELEASE(window);
}

static atomic_int calls, bad;
static CVReturn video(CVDisplayLinkRef link, const CVTimeStamp *now, const CVTimeStamp *then,
                      CVOptionFlags in, CVOptionFlags *out, void *context) {
    (void)in, (void)out;
    if (!link || context != &calls || then->hostTime <= now->hostTime) bad++;
    calls++;
    return kCVReturnSuccess;
}

static void video_links(void) {
    CVDisplayLinkRef link = NULL;
    CHECK_EQUAL(CVDisplayLinkCreateWithActiveCGDisplays(NULL), kCVReturnInvalidArgument);
    CHECK_EQUAL(CVDisplayLinkCreateWithActiveCGDisplays(&link), kCVReturnSuccess);
    CHECK_EQUAL(CVDisplayLinkStart(link), kCVReturnDisplayLinkCallbacksNotSet);
    CHECK_EQUAL(CVDisplayLinkSetOutputCallback(link, video, &calls), kCVReturnSuccess);
    CHECK_EQUAL(CVDisplayLinkStart(link), kCVReturnSuccess);
    CHECK_EQUAL(CVDisplayLinkStart(link), kCVReturnDisplayLinkAlreadyRunning);
    CHECK(CVDisplayLinkIsRunning(link));
    for (int i = 0; i < 500 && calls < 4; i++) usleep(10000);
    CHECK_EQUAL(CVDisplayLinkStop(link), kCVReturnSuccess);
    const int n = calls;
    CHECK(n >= 4 && !bad);
    usleep(60000);
    CHECK_EQUAL(calls, n); // none after the end
    CHECK_EQUAL(CVDisplayLinkStop(link), kCVReturnDisplayLinkNotRunning);
    __block atomic_int blocks = 0;
    atomic_int *seen = &blocks;
    CVDisplayLinkSetOutputHandler(link, ^CVReturn(CVDisplayLinkRef l, const CVTimeStamp *now,
                                                  const CVTimeStamp *then, CVOptionFlags in,
                                                  CVOptionFlags *out) {
      (void)l, (void)now, (void)then, (void)in, (void)out;
      (*seen)++;
      return kCVReturnSuccess;
    });
    CHECK_EQUAL(CVDisplayLinkStart(link), kCVReturnSuccess);
    for (int i = 0; i < 500 && *seen < 2; i++) usleep(10000);
    CHECK(*seen >= 2);
    CHECK_EQUAL(CVDisplayLinkGetNominalOutputVideoRefreshPeriod(link).timeScale, 60);
    CVDisplayLinkStop(link);
    CVDisplayLinkRelease(link);
}

static void body(id<MTLDevice> device) {
    colours();
    controllers();
    links(device);
    video_links();
}

int main(void) { return run_tests(body); }
