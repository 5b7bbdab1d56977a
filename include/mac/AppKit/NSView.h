// SPDX-License-Identifier: Apache-2.0
// AppKit/NSView.h: responders and views: rectangles in a tree, with layers.
#ifndef INGOT_MAC_APPKIT_NSVIEW_H
#define INGOT_MAC_APPKIT_NSVIEW_H
#import <Foundation/Foundation.h>
#import <QuartzCore/QuartzCore.h>
@class NSWindow;
@interface NSResponder : NSObject
@property(weak) NSResponder *nextResponder;
@property(readonly) BOOL acceptsFirstResponder;
- (BOOL)becomeFirstResponder;
- (BOOL)resignFirstResponder;
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
- (NSRect)convertRectToBacking:(NSRect)rect;
- (NSSize)convertSizeToBacking:(NSSize)size;
@end
#endif
