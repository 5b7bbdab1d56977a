// SPDX-License-Identifier: Apache-2.0
// AppKit/NSApplication.h: the application: its loop, its delegate, its end.
#ifndef INGOT_MAC_APPKIT_NSAPPLICATION_H
#define INGOT_MAC_APPKIT_NSAPPLICATION_H
#import <AppKit/NSView.h>
@class NSMenu, NSWindow, NSNotification;
typedef NS_ENUM(NSInteger, NSApplicationActivationPolicy) {
    NSApplicationActivationPolicyRegular,
    NSApplicationActivationPolicyAccessory,
    NSApplicationActivationPolicyProhibited,
};
typedef NS_ENUM(NSUInteger, NSApplicationTerminateReply) {
    NSTerminateCancel = 0,
    NSTerminateNow = 1,
    NSTerminateLater = 2,
};
@class NSApplication;
@protocol NSApplicationDelegate <NSObject>
@optional
- (void)applicationWillFinishLaunching:(NSNotification *)notification;
- (void)applicationDidFinishLaunching:(NSNotification *)notification;
- (void)applicationWillTerminate:(NSNotification *)notification;
- (BOOL)applicationShouldTerminateAfterLastWindowClosed:(NSApplication *)sender;
- (NSApplicationTerminateReply)applicationShouldTerminate:(NSApplication *)sender;
@end
@interface NSApplication : NSResponder
@property(class, readonly, strong) NSApplication *sharedApplication;
@property(weak) id<NSApplicationDelegate> delegate;
@property(strong) NSMenu *mainMenu;
@property(readonly, copy) NSArray<NSWindow *> *windows;
@property(readonly, weak) NSWindow *mainWindow;
@property(readonly, weak) NSWindow *keyWindow;
@property(readonly, getter=isRunning) BOOL running;
@property(readonly, getter=isActive) BOOL active;
@property(readonly) NSApplicationActivationPolicy activationPolicy;
- (BOOL)setActivationPolicy:(NSApplicationActivationPolicy)policy;
- (void)activateIgnoringOtherApps:(BOOL)flag;
- (void)activate;
// Programs with a loop of their own: the next event of the kinds, or nil when the date is past.
- (NSEvent *)nextEventMatchingMask:(NSEventMask)mask
                         untilDate:(NSDate *)date
                            inMode:(NSRunLoopMode)mode
                           dequeue:(BOOL)dequeue;
- (void)sendEvent:(NSEvent *)event;
- (void)postEvent:(NSEvent *)event atStart:(BOOL)first;
- (void)updateWindows;
@property(readonly, strong) NSEvent *currentEvent;
- (BOOL)sendAction:(SEL)action to:(id)target from:(id)sender; // nil: whoever of the chain can
- (void)finishLaunching;
- (void)run;
- (void)stop:(id)sender;
- (void)terminate:(id)sender;
@end
FOUNDATION_EXPORT NSApplication *NSApp; // nil before the first sharedApplication
FOUNDATION_EXPORT NSNotificationName const NSApplicationWillFinishLaunchingNotification;
FOUNDATION_EXPORT NSNotificationName const NSApplicationDidFinishLaunchingNotification;
FOUNDATION_EXPORT NSNotificationName const NSApplicationWillTerminateNotification;
// Storyboards are not read. Where the program has made no delegate, its class that is a
// NSApplicationDelegate is made; where there is no window then, one is opened with its
// NSViewController, whose view is a MTKView if MetalKit is linked.
FOUNDATION_EXPORT int NSApplicationMain(int argc, const char *argv[]);
#endif
