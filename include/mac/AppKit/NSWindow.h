// SPDX-License-Identifier: Apache-2.0
// AppKit/NSWindow.h: windows. One shows the first CAMetalLayer among its views.
#ifndef INGOT_MAC_APPKIT_NSWINDOW_H
#define INGOT_MAC_APPKIT_NSWINDOW_H
#import <AppKit/NSView.h>
@class NSColor, NSScreen, NSViewController, NSWindow, NSWindowController, NSNotification;
typedef NS_OPTIONS(NSUInteger, NSWindowStyleMask) {
    NSWindowStyleMaskBorderless = 0,
    NSWindowStyleMaskTitled = 1 << 0,
    NSWindowStyleMaskClosable = 1 << 1,
    NSWindowStyleMaskMiniaturizable = 1 << 2,
    NSWindowStyleMaskResizable = 1 << 3,
    NSWindowStyleMaskFullScreen = 1 << 14,
    NSWindowStyleMaskFullSizeContentView = 1 << 15,
};
typedef NS_ENUM(NSUInteger, NSBackingStoreType) {
    NSBackingStoreRetained = 0,
    NSBackingStoreNonretained = 1,
    NSBackingStoreBuffered = 2,
};
@protocol NSWindowDelegate <NSObject>
@optional
- (BOOL)windowShouldClose:(NSWindow *)sender;
- (void)windowWillClose:(NSNotification *)notification;
- (void)windowDidResize:(NSNotification *)notification;
- (void)windowDidBecomeKey:(NSNotification *)notification;
@end
@interface NSWindow : NSResponder
- (instancetype)initWithContentRect:(NSRect)rect
                          styleMask:(NSWindowStyleMask)style
                            backing:(NSBackingStoreType)backing
                              defer:(BOOL)flag;
- (instancetype)initWithContentRect:(NSRect)rect
                          styleMask:(NSWindowStyleMask)style
                            backing:(NSBackingStoreType)backing
                              defer:(BOOL)flag
                             screen:(NSScreen *)screen;
+ (instancetype)windowWithContentViewController:(NSViewController *)controller;
@property(copy) NSString *title; // shown as it is when the window opens
@property(strong) __kindof NSView *contentView;
@property(strong) NSViewController *contentViewController;
@property(weak) NSWindowController *windowController;
@property(copy) NSColor *backgroundColor; // remembered: its view covers the window
@property(getter=isOpaque) BOOL opaque;   // remembered
@property CGFloat alphaValue;             // remembered
@property(weak) id<NSWindowDelegate> delegate;
@property NSWindowStyleMask styleMask;
@property(readonly) NSRect frame; // of the content: X11's window manager has the rest
@property(readonly) NSScreen *screen;
@property(readonly) CGFloat backingScaleFactor;
@property(readonly, getter=isVisible) BOOL visible;
@property(readonly, getter=isKeyWindow) BOOL keyWindow;
@property(getter=isReleasedWhenClosed) BOOL releasedWhenClosed; // remembered
@property NSSize contentMinSize;
@property BOOL acceptsMouseMovedEvents;
@property(readonly, weak) NSResponder *firstResponder;
@property(readonly) NSPoint mouseLocationOutsideOfEventStream;
- (void)sendEvent:(NSEvent *)event;         // to the view it is for
@property(readonly) NSInteger windowNumber; // X11's; 0 where there is none
- (NSRect)contentRectForFrameRect:(NSRect)frame;
- (void)setContentSize:(NSSize)size;
- (void)setFrame:(NSRect)frame display:(BOOL)display;
- (void)center;
- (void)makeKeyAndOrderFront:(id)sender;
- (void)orderFront:(id)sender;
- (void)orderFrontRegardless;
- (void)orderOut:(id)sender;
- (BOOL)makeFirstResponder:(NSResponder *)responder;
- (void)performClose:(id)sender; // asks the delegate
- (void)close;
- (CADisplayLink *)displayLinkWithTarget:(id)target selector:(SEL)selector;
@end
FOUNDATION_EXPORT NSNotificationName const NSWindowWillCloseNotification;
FOUNDATION_EXPORT NSNotificationName const NSWindowDidResizeNotification;
FOUNDATION_EXPORT NSNotificationName const NSWindowDidBecomeKeyNotification;
#endif
