// SPDX-License-Identifier: Apache-2.0
// test_events.m: mouse and keyboard of a window under Xvfb, which the test starts: who is told, in
// which order, where and with which characters. A second client does what a user would.
#include "face_test.h"
#import <AppKit/AppKit.h>
#import <MetalKit/MetalKit.h>
#include "../xvfb.h"

static NSMutableArray<NSString *> *story;
static void tell(NSString *format, ...) {
    va_list list;
    va_start(list, format);
    NSString *line = [[NSString alloc] initWithFormat:format arguments:list];
    [story addObject:line];
    RELEASE(line);
    va_end(list);
}

@interface Watcher : MTKView
@end
@implementation Watcher
- (BOOL)acceptsFirstResponder {
    return YES;
}
- (void)mouseDown:(NSEvent *)e {
    const NSPoint p = [self convertPoint:e.locationInWindow fromView:nil];
    tell(@"down %g %g x%ld", p.x, p.y, e.clickCount);
}
- (void)mouseDragged:(NSEvent *)e {
    tell(@"drag %g %g", e.deltaX, e.deltaY);
}
- (void)mouseUp:(NSEvent *)e {
    tell(@"up %g %g", e.locationInWindow.x, e.locationInWindow.y);
}
- (void)mouseMoved:(NSEvent *)e {
    tell(@"moved %g", e.locationInWindow.x);
}
- (void)scrollWheel:(NSEvent *)e {
    tell(@"wheel %g %g", e.scrollingDeltaX, e.scrollingDeltaY);
}
- (void)keyDown:(NSEvent *)e {
    tell(@"key %@ %d%s", e.characters, e.keyCode, e.ARepeat ? " again" : "");
}
- (void)flagsChanged:(NSEvent *)e {
    tell(@"flags %d", !!(e.modifierFlags & NSEventModifierFlagShift));
}
@end

@interface Window : NSWindow
@end
@implementation Window
- (void)rightMouseDown:(NSEvent *)e { // nobody below wants it
    tell(@"window %ld", e.buttonNumber);
}
- (void)chosen:(NSMenuItem *)item {
    tell(@"menu %@", item.title);
}
@end

// Sends on what happens until this was told.
static void wait_for(NSString *last) {
    NSDate *limit = [NSDate dateWithTimeIntervalSinceNow:20];
    while (![story.lastObject isEqualToString:last] && limit.timeIntervalSinceNow > 0) {
        @autoreleasepool {
            NSEvent *e = [NSApp nextEventMatchingMask:NSEventMaskAny
                                            untilDate:[NSDate dateWithTimeIntervalSinceNow:0.05]
                                               inMode:NSDefaultRunLoopMode
                                              dequeue:YES];
            if (e) [NSApp sendEvent:e];
        }
    }
    CHECK_TEXT(story.lastObject, last);
}

enum { A_KEY = 38, Q_KEY = 24, SHIFT_KEY = 50, SHIFT = 1, SUPER = 64 }; // of an ordinary keyboard

static void body(id<MTLDevice> device) {
    story = [NSMutableArray new];
    Window *window = [[Window alloc] initWithContentRect:NSMakeRect(0, 0, 100, 80)
                                               styleMask:NSWindowStyleMaskTitled
                                                 backing:NSBackingStoreBuffered
                                                   defer:NO];
    Watcher *view = [[Watcher alloc] initWithFrame:NSMakeRect(10, 20, 60, 40) device:device];
    NSView *all = [[NSView alloc] initWithFrame:NSMakeRect(0, 0, 100, 80)];
    window.contentView = all;
    [all addSubview:view];
    view.drawableSize = CGSizeMake(100, 80); // the window shows the first layer among its views
    NSTrackingArea *area =
        [[NSTrackingArea alloc] initWithRect:view.bounds
                                     options:NSTrackingMouseMoved | NSTrackingActiveAlways
                                       owner:view
                                    userInfo:nil];
    [view addTrackingArea:area];
    NSMenu *bar = [[NSMenu alloc] initWithTitle:@"bar"],
           *menu = [[NSMenu alloc] initWithTitle:@"app"];
    [bar addItemWithTitle:@"" action:NULL keyEquivalent:@""].submenu = menu;
    [menu addItemWithTitle:@"Quit" action:@selector(chosen:) keyEquivalent:@"q"];
    NSApplication.sharedApplication.mainMenu = bar;
    [window makeKeyAndOrderFront:nil];
    [NSApp updateWindows];
    const uint32_t w = (uint32_t)window.windowNumber;
    CHECK(w != 0);
    send_input(w, 6, 0, 30, 50, 0, 100); // over the view
    wait_for(@"moved 30");
    send_input(w, 4, 1, 30, 50, 0, 200); // y from above: 80 - 50 - 20 in the view
    send_input(w, 6, 0, 35, 48, 256, 210);
    send_input(w, 5, 1, 95, 5, 256, 220); // outside of it by then
    send_input(w, 4, 1, 95, 5, 0, 230);   // where there is no view that wants it
    send_input(w, 5, 1, 95, 5, 256, 240);
    send_input(w, 4, 1, 30, 50, 0, 900);
    send_input(w, 5, 1, 30, 50, 256, 910);
    send_input(w, 4, 1, 31, 50, 0, 1000); // soon again: a double click
    wait_for(@"down 21 10 x2");
    CHECK_TEXT(
        [story componentsJoinedByString:@", "],
        @"moved 30, down 20 10 x1, drag 5 -2, up 95 75, down 20 10 x1, up 30 30, down 21 10 x2");
    send_input(w, 5, 1, 30, 50, 256, 1010);
    send_input(w, 4, 4, 30, 50, 0, 1100); // the wheel
    send_input(w, 5, 4, 30, 50, 0, 1100);
    wait_for(@"wheel 0 1");
    send_input(w, 4, 3, 30, 50, 0, 1200); // passed on along the chain
    wait_for(@"window 1");
    [story removeAllObjects];
    send_input(w, 2, A_KEY, 30, 50, 0, 2000);
    send_input(w, 3, A_KEY, 30, 50, 0, 2100); // held: let go and pressed at one moment
    send_input(w, 2, A_KEY, 30, 50, 0, 2100);
    send_input(w, 3, A_KEY, 30, 50, 0, 2200);
    send_input(w, 2, SHIFT_KEY, 30, 50, 0, 2300);
    send_input(w, 2, A_KEY, 30, 50, SHIFT, 2400);
    wait_for(@"key A 0");
    CHECK_TEXT([story componentsJoinedByString:@", "], @"key a 0, key a 0 again, flags 1, key A 0");
    send_input(w, 2, Q_KEY, 30, 50, SUPER, 2500);
    wait_for(@"menu Quit");
    for (int i = 0; i < 1000; i++) send_input(w, 6, 0, (int16_t)(20 + i % 40), 50, 0, 3000);
    send_input(w, 2, Q_KEY, 30, 50, 0, 3001); // after more than is kept
    wait_for(@"key q 12");
    [window close];
    NSApp.mainMenu = nil;
    RELEASE(window), RELEASE(view), RELEASE(all), RELEASE(area), RELEASE(bar), RELEASE(menu);
    RELEASE(story);
}

int main(void) {
    const char *why = open_display();
    if (why) return printf("skipped: %s\n", why), SKIPPED;
    const int failed = run_tests(body);
    stop_server();
    return failed;
}
