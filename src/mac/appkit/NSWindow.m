// SPDX-License-Identifier: Apache-2.0
// NSWindow.m: windows: one shows the first layer of Metal's among its views. X11 is asked what
// happened by the application's loop (tick).
#include <stdio.h>
#include "mac/appkit/appkit_int.h"
#include "mac/appkit/layer_window.h"

SHOWN NSNotificationName const NSWindowWillCloseNotification = @"NSWindowWillCloseNotification";
SHOWN NSNotificationName const NSWindowDidResizeNotification = @"NSWindowDidResizeNotification";
SHOWN NSNotificationName const NSWindowDidBecomeKeyNotification =
    @"NSWindowDidBecomeKeyNotification";

SHOWN @implementation NSWindow {
    NSView *_contentView;
    NSViewController *_contentViewController;
    CAMetalLayer *_shown; // that the window of X11 belongs to
    NSRect _frame;
    BOOL _visible, _hopeless; // no display: it is not tried again
    MouseState _mouse;
    NSView *_pressed; // where a button went down: it is told until it goes up
    __weak NSResponder *_first;
}

- (instancetype)init {
    return [self initWithContentRect:NSMakeRect(0, 0, 640, 480)
                           styleMask:NSWindowStyleMaskTitled
                             backing:NSBackingStoreBuffered
                               defer:NO];
}
- (instancetype)initWithContentRect:(NSRect)rect
                          styleMask:(NSWindowStyleMask)style
                            backing:(NSBackingStoreType)backing
                              defer:(BOOL)flag {
    (void)backing, (void)flag;
    if ((self = [super init])) {
        _frame = rect, _styleMask = style;
        _title = @"", _releasedWhenClosed = YES;
        _opaque = YES, _alphaValue = 1;
        _backgroundColor = NSColor.windowBackgroundColor;
        _mouse.button = _mouse.button_before = NO_BUTTON;
        self.contentView =
            [[NSView alloc] initWithFrame:NSMakeRect(0, 0, rect.size.width, rect.size.height)];
    }
    return self;
}
- (instancetype)initWithContentRect:(NSRect)rect
                          styleMask:(NSWindowStyleMask)style
                            backing:(NSBackingStoreType)backing
                              defer:(BOOL)flag
                             screen:(NSScreen *)screen {
    (void)screen;
    return [self initWithContentRect:rect styleMask:style backing:backing defer:flag];
}
+ (instancetype)windowWithContentViewController:(NSViewController *)controller {
    NSRect frame = controller.view.frame;
    NSWindow *window = [[self alloc]
        initWithContentRect:frame
                  styleMask:NSWindowStyleMaskTitled | NSWindowStyleMaskClosable |
                            NSWindowStyleMaskMiniaturizable | NSWindowStyleMaskResizable
                    backing:NSBackingStoreBuffered
                      defer:NO];
    window.contentViewController = controller;
    return window;
}

// ---- What it holds ----

- (CADisplayLink *)displayLinkWithTarget:(id)target selector:(SEL)selector {
    return [CADisplayLink displayLinkWithTarget:target selector:selector];
}

- (NSView *)contentView {
    return _contentView;
}
- (void)setContentView:(NSView *)view {
    if (view == _contentView) return;
    [self leaveScreen];
    [_contentView moveToWindow:nil];
    _contentView = view;
    if ([view.nextResponder isKindOfClass:NSViewController.class])
        view.nextResponder.nextResponder = self;
    else
        view.nextResponder = self;
    view.frame = NSMakeRect(0, 0, _frame.size.width, _frame.size.height);
    [view moveToWindow:self];
    if (_visible) [self tryToOpen];
}
- (NSViewController *)contentViewController {
    return _contentViewController;
}
- (void)setContentViewController:(NSViewController *)controller {
    _contentViewController = controller;
    self.contentView = controller.view;
    if (controller.title) self.title = controller.title;
}

// ---- Sizes ----

- (NSRect)frame {
    return _frame;
}
- (NSRect)contentRectForFrameRect:(NSRect)frame {
    return frame;
}
- (NSScreen *)screen {
    return NSScreen.mainScreen;
}
- (CGFloat)backingScaleFactor {
    return 1;
}
- (void)center {
}
- (void)setContentSize:(NSSize)size {
    if (CGSizeEqualToSize(size, _frame.size)) return;
    _frame.size = size;
    [_contentView setFrameSize:size];
    appkit_tell(self, self.delegate, NSWindowDidResizeNotification, @selector(windowDidResize:));
}
- (void)setFrame:(NSRect)frame display:(BOOL)display {
    (void)display;
    _frame.origin = frame.origin;
    [self setContentSize:frame.size];
}

// ---- Seen or not ----

- (BOOL)isVisible {
    return _visible;
}
- (BOOL)isKeyWindow {
    return NSApp.keyWindow == self;
}
- (NSInteger)windowNumber {
    return _shown ? layer_window_number((__bridge void *)_shown) : 0;
}
- (void)tryToOpen {
    CAMetalLayer *layer = _shown || _hopeless ? nil : [_contentView shownLayer];
    char why[512];
    if (!layer) return;
    switch (layer_window_open((__bridge void *)layer, self.title.UTF8String, why, sizeof why)) {
    case LAYER_WINDOW_OPEN: _shown = layer; break;
    case LAYER_WINDOW_NEVER:
        _hopeless = YES;
        fprintf(stderr, "AppKit: %s; drawing goes on off screen\n", why);
        break;
    case LAYER_WINDOW_LATER: break;
    }
}
- (void)leaveScreen {
    if (_shown) layer_window_close((__bridge void *)_shown);
    _shown = nil;
}
- (void)orderFront:(id)sender {
    (void)sender;
    BOOL before = _visible;
    _visible = YES;
    [NSApplication.sharedApplication addWindow:self];
    if (!before) [_contentViewController viewWillAppear];
    [self tryToOpen];
    if (!before) [_contentViewController viewDidAppear];
}
- (void)orderFrontRegardless {
    [self orderFront:nil];
}
- (void)makeKeyAndOrderFront:(id)sender {
    [self orderFront:sender];
    appkit_tell(self, self.delegate, NSWindowDidBecomeKeyNotification,
                @selector(windowDidBecomeKey:));
}
- (void)orderOut:(id)sender {
    (void)sender;
    if (!_visible) return;
    [_contentViewController viewWillDisappear];
    _visible = NO;
    [self leaveScreen];
    [_contentViewController viewDidDisappear];
}

// ---- Mouse and keyboard ----

// Where nobody was chosen, the view of the window if it wants to be.
- (NSResponder *)firstResponder {
    NSResponder *first = _first;
    return first ? first : _contentView.acceptsFirstResponder ? _contentView : self;
}
- (BOOL)makeFirstResponder:(NSResponder *)responder {
    NSResponder *before = _first;
    if (responder == before) return YES;
    if (before && ![before resignFirstResponder]) return NO;
    const BOOL becomes = !responder || [responder becomeFirstResponder];
    _first = becomes ? responder : nil;
    return becomes;
}
- (NSPoint)mouseLocationOutsideOfEventStream {
    return NSMakePoint(_mouse.x, _frame.size.height - _mouse.y);
}
static void tell_pointer(NSView *view, NSEvent *event) {
    const NSPoint at = [view convertPoint:event.locationInWindow fromView:nil];
    for (NSTrackingArea *area in view.trackingAreas)
        if (area.options & NSTrackingMouseMoved &&
            (area.options & NSTrackingInVisibleRect || NSPointInRect(at, area.rect)) &&
            [area.owner respondsToSelector:@selector(mouseMoved:)])
            [area.owner mouseMoved:event];
}
- (void)sendEvent:(NSEvent *)event {
    NSView *hit = [_contentView hitTest:event.locationInWindow], *held = _pressed ?: hit;
    switch (event.type) {
    case NSEventTypeLeftMouseDown:
    case NSEventTypeRightMouseDown:
    case NSEventTypeOtherMouseDown:
        _pressed = hit;
        if (event.type == NSEventTypeLeftMouseDown && hit.acceptsFirstResponder)
            [self makeFirstResponder:hit];
        if (event.type == NSEventTypeLeftMouseDown)
            [hit mouseDown:event];
        else if (event.type == NSEventTypeRightMouseDown)
            [hit rightMouseDown:event];
        else
            [hit otherMouseDown:event];
        break;
    case NSEventTypeLeftMouseUp: _pressed = nil, [held mouseUp:event]; break;
    case NSEventTypeRightMouseUp: _pressed = nil, [held rightMouseUp:event]; break;
    case NSEventTypeOtherMouseUp: _pressed = nil, [held otherMouseUp:event]; break;
    case NSEventTypeLeftMouseDragged: [held mouseDragged:event]; break;
    case NSEventTypeRightMouseDragged: [held rightMouseDragged:event]; break;
    case NSEventTypeOtherMouseDragged: [held otherMouseDragged:event]; break;
    case NSEventTypeMouseMoved:
        if (_acceptsMouseMovedEvents) [self.firstResponder mouseMoved:event];
        tell_pointer(hit, event);
        break;
    case NSEventTypeScrollWheel: [hit scrollWheel:event]; break;
    case NSEventTypeKeyDown: [self.firstResponder keyDown:event]; break;
    case NSEventTypeKeyUp: [self.firstResponder keyUp:event]; break;
    case NSEventTypeFlagsChanged: [self.firstResponder flagsChanged:event]; break;
    default: break;
    }
}

// ---- Closing ----

- (void)performClose:(id)sender {
    (void)sender;
    id<NSWindowDelegate> delegate = self.delegate;
    if ([delegate respondsToSelector:@selector(windowShouldClose:)] &&
        ![delegate windowShouldClose:self])
        return;
    [self close];
}
- (void)close {
    NSWindow *me = self; // the application may hold the last reference
    appkit_tell(me, me.delegate, NSWindowWillCloseNotification, @selector(windowWillClose:));
    [me orderOut:nil];
    [me.contentView moveToWindow:nil];
    [NSApp windowClosed:me];
}

// ---- The loop's turn ----

- (void)tick {
    if (!_visible) return;
    [self tryToOpen];
    if (_shown) {
        LayerWindowEvents events = layer_window_poll((__bridge void *)_shown);
        LayerWindowInput input;
        while (layer_window_next_input((__bridge void *)_shown, &input))
            [NSApp postEvent:[[NSEvent alloc] initWithInput:&input window:self mouse:&_mouse]
                     atStart:NO];
        if (events.resized) [self setContentSize:NSMakeSize(events.width, events.height)];
        if (events.gone) {
            _shown = nil;
            [self close];
        } else if (events.close_wanted) {
            [self performClose:nil];
        }
    }
    [_contentView displayIfNeeded];
}
@end

SHOWN @implementation NSScreen
+ (NSScreen *)mainScreen {
    static NSScreen *one;
    static dispatch_once_t once;
    dispatch_once(&once, ^{
      one = [NSScreen new];
    });
    return one;
}
+ (NSArray *)screens {
    return @[ self.mainScreen ];
}
- (NSRect)frame {
    return NSMakeRect(0, 0, 1920, 1080);
}
- (NSRect)visibleFrame {
    return self.frame;
}
- (CGFloat)backingScaleFactor {
    return 1;
}
- (NSInteger)maximumFramesPerSecond {
    return 60;
}
- (CADisplayLink *)displayLinkWithTarget:(id)target selector:(SEL)selector {
    return [CADisplayLink displayLinkWithTarget:target selector:selector];
}
@end
