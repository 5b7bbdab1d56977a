// SPDX-License-Identifier: Apache-2.0
// AppKit/NSView.h: responders and views: rectangles in a tree, with layers.
#ifndef INGOT_MAC_APPKIT_NSVIEW_H
#define INGOT_MAC_APPKIT_NSVIEW_H
#import <Foundation/Foundation.h>
#import <QuartzCore/QuartzCore.h>
#import <AppKit/NSEvent.h>
@class NSWindow;
@interface NSResponder : NSObject
@property(weak) NSResponder *nextResponder;
@property(readonly) BOOL acceptsFirstResponder;
- (BOOL)becomeFirstResponder;
- (BOOL)resignFirstResponder;
// What nobody does anything with goes to the next responder.
- (void)mouseDown:(NSEvent *)event;
- (void)mouseUp:(NSEvent *)event;
- (void)mouseMoved:(NSEvent *)event;
- (void)mouseDragged:(NSEvent *)event;
- (void)rightMouseDown:(NSEvent *)event;
- (void)rightMouseUp:(NSEvent *)event;
- (void)rightMouseDragged:(NSEvent *)event;
- (void)otherMouseDown:(NSEvent *)event;
- (void)otherMouseUp:(NSEvent *)event;
- (void)otherMouseDragged:(NSEvent *)event;
- (void)scrollWheel:(NSEvent *)event;
- (void)keyDown:(NSEvent *)event;
- (void)keyUp:(NSEvent *)event;
- (void)flagsChanged:(NSEvent *)event;
- (BOOL)tryToPerform:(SEL)action with:(id)object; // by the first of the chain that can
@end
typedef NS_OPTIONS(NSUInteger, NSTrackingAreaOptions) {
    NSTrackingMouseEnteredAndExited = 1,
    NSTrackingMouseMoved = 2,
    NSTrackingCursorUpdate = 4,
    NSTrackingActiveWhenFirstResponder = 16,
    NSTrackingActiveInKeyWindow = 32,
    NSTrackingActiveInActiveApp = 64,
    NSTrackingActiveAlways = 128,
    NSTrackingAssumeInside = 256,
    NSTrackingInVisibleRect = 512,
    NSTrackingEnabledDuringMouseDrag = 1024,
};
@interface NSTrackingArea : NSObject // its owner is told of the pointer while the view is under it
- (instancetype)initWithRect:(NSRect)rect
                     options:(NSTrackingAreaOptions)options
                       owner:(id)owner
                    userInfo:(NSDictionary *)userInfo;
@property(readonly) NSRect rect;
@property(readonly) NSTrackingAreaOptions options;
@property(readonly, weak) id owner;
@property(readonly, copy) NSDictionary *userInfo;
@end
typedef NS_OPTIONS(NSUInteger, NSAutoresizingMaskOptions) {
    NSViewNotSizable = 0,
    NSViewMinXMargin = 1,
    NSViewWidthSizable = 2,
    NSViewMaxXMargin = 4,
    NSViewMinYMargin = 8,
    NSViewHeightSizable = 16,
    NSViewMaxYMargin = 32,
};
typedef NS_ENUM(NSInteger, NSViewLayerContentsRedrawPolicy) {
    NSViewLayerContentsRedrawNever = 0,
    NSViewLayerContentsRedrawOnSetNeedsDisplay = 1,
    NSViewLayerContentsRedrawDuringViewResize = 2,
    NSViewLayerContentsRedrawBeforeViewResize = 3,
};
@interface NSView : NSResponder
- (instancetype)initWithFrame:(NSRect)frame;
@property NSRect frame;
@property NSRect bounds;
- (void)setFrameSize:(NSSize)size;
- (void)setFrameOrigin:(NSPoint)origin;
@property NSAutoresizingMaskOptions autoresizingMask;
@property BOOL autoresizesSubviews;
@property(getter=isHidden) BOOL hidden;
@property BOOL needsDisplay;
@property BOOL needsLayout;
@property BOOL wantsLayer;
@property(readonly) BOOL wantsUpdateLayer;
@property(strong) CALayer *layer;
@property NSViewLayerContentsRedrawPolicy layerContentsRedrawPolicy;
@property BOOL translatesAutoresizingMaskIntoConstraints;
+ (Class)layerClass; // of UIKit, here too: what makeBackingLayer makes
- (CALayer *)makeBackingLayer;
@property(readonly, weak) NSWindow *window;
@property(readonly, weak) NSView *superview;
@property(readonly, copy) NSArray<__kindof NSView *> *subviews;
- (void)addSubview:(NSView *)view;
- (void)removeFromSuperview;
- (void)viewWillMoveToWindow:(NSWindow *)window;
- (void)viewDidMoveToWindow;
- (void)viewDidChangeBackingProperties;
- (void)layout;
- (void)display; // now: drawRect: if the view is in a window
- (void)drawRect:(NSRect)dirty;
@property(readonly, getter=isFlipped) BOOL flipped;             // y of its places grows downwards
- (NSView *)hitTest:(NSPoint)point;                             // in the view above
- (NSPoint)convertPoint:(NSPoint)point fromView:(NSView *)view; // nil: the window
- (NSPoint)convertPoint:(NSPoint)point toView:(NSView *)view;
@property(readonly, copy) NSArray<NSTrackingArea *> *trackingAreas;
- (void)addTrackingArea:(NSTrackingArea *)area;
- (void)removeTrackingArea:(NSTrackingArea *)area;
- (void)updateTrackingAreas; // after a change of size
- (NSRect)convertRectToBacking:(NSRect)rect;
- (NSSize)convertSizeToBacking:(NSSize)size;
- (CADisplayLink *)displayLinkWithTarget:(id)target selector:(SEL)selector;
@end
#endif
