// SPDX-License-Identifier: Apache-2.0
// NSView.m: responders, views and their controllers. A view's layer has the view's size.
#include "mac/appkit/appkit_int.h"

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
#define PASS_ON(method)                                                                            \
    -(void)method : (NSEvent *)event {                                                             \
        [self.nextResponder method:event];                                                         \
    }
PASS_ON(mouseDown)
PASS_ON(mouseUp)
PASS_ON(mouseMoved)
PASS_ON(mouseDragged)
PASS_ON(rightMouseDown)
PASS_ON(rightMouseUp)
PASS_ON(rightMouseDragged)
PASS_ON(otherMouseDown)
PASS_ON(otherMouseUp)
PASS_ON(otherMouseDragged)
PASS_ON(scrollWheel)
PASS_ON(keyDown)
PASS_ON(keyUp)
PASS_ON(flagsChanged)
#undef PASS_ON
- (BOOL)tryToPerform:(SEL)action with:(id)object {
    if (![self respondsToSelector:action])
        return [self.nextResponder tryToPerform:action with:object];
    ((void (*)(id, SEL, id))[self methodForSelector:action])(self, action, object);
    return YES;
}
@end

SHOWN @implementation NSTrackingArea
- (instancetype)initWithRect:(NSRect)rect
                     options:(NSTrackingAreaOptions)options
                       owner:(id)owner
                    userInfo:(NSDictionary *)userInfo {
    if ((self = [super init]))
        _rect = rect, _options = options, _owner = owner, _userInfo = [userInfo copy];
    return self;
}
@end

SHOWN @implementation NSView {
    NSMutableArray<NSView *> *_below;
    __weak NSView *_above;
    __weak NSWindow *_in;
    CALayer *_layer;
    NSRect _frame, _bounds;
    BOOL _wantsLayer, _needsDisplay;
    NSMutableArray<NSTrackingArea *> *_areas;
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
    [self updateTrackingAreas];
    [self layout];
}
- (void)layout {
}
- (CADisplayLink *)displayLinkWithTarget:(id)target selector:(SEL)selector {
    return [CADisplayLink displayLinkWithTarget:target selector:selector];
}
- (NSRect)convertRectToBacking:(NSRect)rect {
    return rect;
}
- (NSSize)convertSizeToBacking:(NSSize)size {
    return size;
}

// ---- Places ----

- (BOOL)isFlipped {
    return NO;
}
// The lower left corner of the view, in its window.
static NSPoint corner(NSView *view) {
    NSPoint at = NSMakePoint(0, 0);
    for (; view; view = view->_above) {
        NSView *above = view->_above;
        at.x += view->_frame.origin.x;
        at.y += above.flipped ? above->_frame.size.height - NSMaxY(view->_frame)
                              : view->_frame.origin.y;
    }
    return at;
}
static NSPoint to_window(NSView *view, NSPoint p) {
    const NSPoint at = corner(view);
    if (view.flipped) p.y = view->_frame.size.height - p.y;
    return NSMakePoint(at.x + p.x, at.y + p.y);
}
static NSPoint from_window(NSView *view, NSPoint p) {
    const NSPoint at = corner(view);
    p = NSMakePoint(p.x - at.x, p.y - at.y);
    if (view.flipped) p.y = view->_frame.size.height - p.y;
    return p;
}
- (NSPoint)convertPoint:(NSPoint)point fromView:(NSView *)view {
    return from_window(self, view ? to_window(view, point) : point);
}
- (NSPoint)convertPoint:(NSPoint)point toView:(NSView *)view {
    const NSPoint at = to_window(self, point);
    return view ? from_window(view, at) : at;
}
- (NSView *)hitTest:(NSPoint)point {
    if (self.hidden || !NSPointInRect(point, _frame)) return nil;
    const NSPoint inside = [self convertPoint:point fromView:_above];
    for (NSView *view in _below.reverseObjectEnumerator) {
        NSView *hit = [view hitTest:inside];
        if (hit) return hit;
    }
    return self;
}
- (NSArray *)trackingAreas {
    return _areas ? [_areas copy] : @[];
}
- (void)addTrackingArea:(NSTrackingArea *)area {
    if (!_areas) _areas = [NSMutableArray new];
    [_areas addObject:area];
}
- (void)removeTrackingArea:(NSTrackingArea *)area {
    [_areas removeObjectIdenticalTo:area];
}
- (void)updateTrackingAreas {
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
