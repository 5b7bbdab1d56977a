// SPDX-License-Identifier: Apache-2.0
// NSView.m: responders, views and their controllers. A view's layer has the view's size.
#include "appkit/appkit_int.h"

void appkit_tell(id sender, id delegate, NSNotificationName name, SEL selector) {
    NSNotification *note = [NSNotification notificationWithName:name object:sender];
    if ([delegate respondsToSelector:selector])
        ((void (*)(id, SEL, id))[delegate methodForSelector:selector])(delegate, selector, note);
    [NSNotificationCenter.defaultCenter postNotification:note];
}

SHOWN @implementation NSResponder
- (BOOL)acceptsFirstResponder {
    return NO;
}
- (BOOL)becomeFirstResponder {
    return YES;
}
- (BOOL)resignFirstResponder {
    return YES;
}
@end

SHOWN @implementation NSView {
    NSMutableArray<NSView *> *_below;
    __weak NSView *_above;
    __weak NSWindow *_in;
    CALayer *_layer;
    NSRect _frame, _bounds;
    BOOL _wantsLayer, _needsDisplay;
}

- (instancetype)init {
    return [self initWithFrame:NSZeroRect];
}
- (instancetype)initWithFrame:(NSRect)frame {
    if ((self = [super init])) {
        _frame = frame;
        _bounds = NSMakeRect(0, 0, frame.size.width, frame.size.height);
        _below = [NSMutableArray new];
        _autoresizesSubviews = YES;
        _translatesAutoresizingMaskIntoConstraints = YES;
        _needsDisplay = YES;
    }
    return self;
}

// ---- Sizes ----

- (NSRect)frame {
    return _frame;
}
- (void)setFrame:(NSRect)frame {
    [self setFrameOrigin:frame.origin];
    [self setFrameSize:frame.size];
}
- (NSRect)bounds {
    return _bounds;
}
- (void)setBounds:(NSRect)bounds {
    _bounds = bounds;
}
- (void)setFrameOrigin:(NSPoint)origin {
    _frame.origin = origin;
    _layer.frame = _frame;
}
// One axis of a subview: what grows takes a part of what the view above grew by.
static void resize_axis(CGFloat *at, CGFloat *size, CGFloat grown, NSUInteger mask) {
    int n = !!(mask & 1) + !!(mask & 2) + !!(mask & 4);
    if (!n) return;
    if (mask & 1) *at += grown / n;
    if (mask & 2) *size += grown / n;
}
- (void)setFrameSize:(NSSize)size {
    NSSize old = _frame.size;
    if (CGSizeEqualToSize(old, size)) return;
    _frame.size = _bounds.size = size;
    _layer.frame = _frame;
    self.needsDisplay = YES;
    for (NSView *view in _autoresizesSubviews ? self.subviews : nil) {
        NSRect f = view.frame;
        resize_axis(&f.origin.x, &f.size.width, size.width - old.width, view.autoresizingMask & 7);
        resize_axis(&f.origin.y, &f.size.height, size.height - old.height,
                    view.autoresizingMask >> 3 & 7);
        view.frame = f;
    }
    [self layout];
}
- (void)layout {
}
- (NSRect)convertRectToBacking:(NSRect)rect {
    return rect;
}
- (NSSize)convertSizeToBacking:(NSSize)size {
    return size;
}

// ---- Layers ----

+ (Class)layerClass {
    return CALayer.class;
}
- (CALayer *)makeBackingLayer {
    return [[self.class layerClass] layer];
}
- (BOOL)wantsLayer {
    return _wantsLayer;
}
- (void)setWantsLayer:(BOOL)wants {
    _wantsLayer = wants;
    if (wants && !_layer) self.layer = [self makeBackingLayer];
}
- (BOOL)wantsUpdateLayer {
    return NO;
}
- (CALayer *)layer {
    return _layer;
}
- (void)setLayer:(CALayer *)layer {
    _layer = layer;
    _layer.frame = _frame;
}
static CAMetalLayer *metal_layer(CALayer *layer) {
    if ([layer isKindOfClass:CAMetalLayer.class]) return (CAMetalLayer *)layer;
    for (CALayer *below in layer.sublayers) {
        CAMetalLayer *found = metal_layer(below);
        if (found) return found;
    }
    return nil;
}
- (CAMetalLayer *)shownLayer {
    CAMetalLayer *found = metal_layer(_layer);
    for (NSView *view in _below) {
        if (found) break;
        found = view.hidden ? nil : [view shownLayer];
    }
    // As on a Mac: a layer that was given no size has its view's.
    if (found && found == _layer && CGSizeEqualToSize(found.drawableSize, CGSizeZero))
        found.drawableSize = _bounds.size;
    return found;
}

// ---- The tree ----

- (NSWindow *)window {
    return _in;
}
- (NSView *)superview {
    return _above;
}
- (NSArray *)subviews {
    return [_below copy];
}
- (void)addSubview:(NSView *)view {
    if (!view || view == self) return;
    [view removeFromSuperview];
    [_below addObject:view];
    view->_above = self;
    view.nextResponder = self;
    [view moveToWindow:_in];
}
- (void)removeFromSuperview {
    NSView *above = _above, *me = self; // the last reference may be above's
    if (!above) return;
    [above->_below removeObjectIdenticalTo:me];
    me->_above = nil;
    [me moveToWindow:nil];
}
- (void)moveToWindow:(NSWindow *)window {
    if (_in == window) return;
    [self viewWillMoveToWindow:window];
    _in = window;
    for (NSView *view in self.subviews) [view moveToWindow:window];
    [self viewDidMoveToWindow];
}
- (void)viewWillMoveToWindow:(NSWindow *)window {
    (void)window;
}
- (void)viewDidMoveToWindow {
}
- (void)viewDidChangeBackingProperties {
}

// ---- Drawing ----

- (BOOL)needsDisplay {
    return _needsDisplay;
}
- (void)setNeedsDisplay:(BOOL)needs {
    _needsDisplay = needs;
}
- (void)display {
    _needsDisplay = NO;
    if (_in && !self.hidden) [self drawRect:_bounds];
}
- (void)displayIfNeeded {
    if (_needsDisplay) [self display];
    for (NSView *view in self.subviews) [view displayIfNeeded];
}
- (void)drawRect:(NSRect)dirty {
    (void)dirty;
}
@end

SHOWN @implementation NSViewController { NSView *_view; }
- (instancetype)initWithNibName:(NSString *)name bundle:(NSBundle *)bundle {
    (void)name, (void)bundle;
    return [self init];
}
- (BOOL)isViewLoaded {
    return _view != nil;
}
- (NSView *)view {
    if (!_view) {
        [self loadView];
        if (_view) [self viewDidLoad];
    }
    return _view;
}
- (void)setView:(NSView *)view {
    _view = view;
    view.nextResponder = self;
}
- (void)loadView {
    self.view = [[NSView alloc] initWithFrame:NSMakeRect(0, 0, 640, 480)];
}
- (void)viewDidLoad {
}
- (void)viewWillAppear {
}
- (void)viewDidAppear {
}
- (void)viewWillDisappear {
}
- (void)viewDidDisappear {
}
- (void)viewDidLayout {
}
@end
