// SPDX-License-Identifier: Apache-2.0
// NSApplication.m: the loop of the main thread, launching, the end, and what a storyboard would do.
#include <objc/runtime.h>
#include <stdlib.h>
#include "mac/appkit/appkit_int.h"

SHOWN NSNotificationName const NSApplicationWillFinishLaunchingNotification =
    @"NSApplicationWillFinishLaunchingNotification";
SHOWN NSNotificationName const NSApplicationDidFinishLaunchingNotification =
    @"NSApplicationDidFinishLaunchingNotification";
SHOWN NSNotificationName const NSApplicationWillTerminateNotification =
    @"NSApplicationWillTerminateNotification";
SHOWN NSApplication *NSApp;

static const NSTimeInterval between_ticks = 0.01; // X11 is asked that often

SHOWN @implementation NSApplication {
    NSMutableArray<NSWindow *> *_windows; // also those that are out of sight
    NSMutableArray<NSEvent *> *_events;   // not sent yet
    BOOL _launched, _stopped;
}

+ (NSApplication *)sharedApplication {
    static dispatch_once_t once;
    dispatch_once(&once, ^{
      NSApp = [[self alloc] init];
    });
    return NSApp;
}
- (instancetype)init {
    if ((self = [super init])) _windows = [NSMutableArray new], _events = [NSMutableArray new];
    return self;
}

// ---- Windows ----

- (NSArray *)windows {
    return [_windows copy];
}
- (NSWindow *)mainWindow {
    for (NSWindow *window in _windows)
        if (window.visible) return window;
    return nil;
}
- (NSWindow *)keyWindow {
    return self.mainWindow;
}
- (void)addWindow:(NSWindow *)window {
    if ([_windows indexOfObjectIdenticalTo:window] == NSNotFound) [_windows addObject:window];
}
- (void)windowClosed:(NSWindow *)window {
    [_windows removeObjectIdenticalTo:window];
    id<NSApplicationDelegate> delegate = self.delegate;
    SEL last = @selector(applicationShouldTerminateAfterLastWindowClosed:);
    if (!_windows.count && [delegate respondsToSelector:last] &&
        [delegate applicationShouldTerminateAfterLastWindowClosed:self])
        [self terminate:nil];
}

// ---- Events ----

- (void)updateWindows {
    for (NSWindow *window in self.windows) [window tick];
}
- (NSEvent *)nextEventMatchingMask:(NSEventMask)mask
                         untilDate:(NSDate *)date
                            inMode:(NSRunLoopMode)mode
                           dequeue:(BOOL)dequeue {
    for (bool once = true;; once = false) {
        if (once || !_events.count) [self updateWindows];
        for (NSEvent *event in _events) {
            if (!(mask >> event.type & 1)) continue;
            _currentEvent = event;
            if (dequeue) [_events removeObjectIdenticalTo:event];
            return _currentEvent;
        }
        const NSTimeInterval left = date.timeIntervalSinceNow;
        if (_stopped || (!once && left <= 0)) return nil;
        [NSRunLoop.mainRunLoop
               runMode:mode
            beforeDate:[NSDate dateWithTimeIntervalSinceNow:MAX(0, MIN(left, between_ticks))]];
    }
}
- (void)postEvent:(NSEvent *)event atStart:(BOOL)first {
    [_events insertObject:event atIndex:first ? 0 : _events.count];
}
- (void)sendEvent:(NSEvent *)event {
    if (event.type == NSEventTypeKeyDown && event.modifierFlags & NSEventModifierFlagCommand &&
        [self.mainMenu performKeyEquivalent:event])
        return;
    [event.window sendEvent:event];
}
- (BOOL)sendAction:(SEL)action to:(id)target from:(id)sender {
    if (target && ![target respondsToSelector:action]) return NO;
    if (!target && [self.keyWindow.firstResponder tryToPerform:action with:sender]) return YES;
    for (id candidate in target ? @[ target ] : @[ self, self.delegate ?: (id)self ])
        if ([candidate respondsToSelector:action]) {
            ((void (*)(id, SEL, id))[candidate methodForSelector:action])(candidate, action,
                                                                          sender);
            return YES;
        }
    return NO;
}

// ---- Beginning and end ----

- (BOOL)isActive {
    return _running;
}
- (BOOL)setActivationPolicy:(NSApplicationActivationPolicy)policy {
    _activationPolicy = policy;
    return YES;
}
- (void)activateIgnoringOtherApps:(BOOL)flag {
    (void)flag;
}
- (void)activate {
}
- (void)finishLaunching {
    if (_launched) return;
    _launched = YES;
    appkit_tell(self, self.delegate, NSApplicationWillFinishLaunchingNotification,
                @selector(applicationWillFinishLaunching:));
    appkit_tell(self, self.delegate, NSApplicationDidFinishLaunchingNotification,
                @selector(applicationDidFinishLaunching:));
}
- (void)run {
    @autoreleasepool {
        _running = YES, _stopped = NO;
        [self finishLaunching];
    }
    while (!_stopped) {
        @autoreleasepool {
            NSDate *soon = [NSDate dateWithTimeIntervalSinceNow:between_ticks];
            NSEvent *event = [self nextEventMatchingMask:NSEventMaskAny
                                               untilDate:soon
                                                  inMode:NSDefaultRunLoopMode
                                                 dequeue:YES];
            if (event) [self sendEvent:event];
        }
    }
    _running = _stopped = NO;
}
- (void)stop:(id)sender {
    (void)sender;
    _stopped = YES;
}
- (void)terminate:(id)sender {
    (void)sender;
    id<NSApplicationDelegate> delegate = self.delegate;
    if ([delegate respondsToSelector:@selector(applicationShouldTerminate:)] &&
        [delegate applicationShouldTerminate:self] != NSTerminateNow)
        return;
    appkit_tell(self, self.delegate, NSApplicationWillTerminateNotification,
                @selector(applicationWillTerminate:));
    exit(0);
}
@end

SHOWN @implementation NSRunningApplication
+ (NSRunningApplication *)currentApplication {
    static NSRunningApplication *one;
    static dispatch_once_t once;
    dispatch_once(&once, ^{
      one = [self new];
    });
    return one;
}
- (NSString *)localizedName {
    return NSProcessInfo.processInfo.processName;
}
- (NSURL *)executableURL {
    return [NSURL fileURLWithPath:NSBundle.mainBundle.executablePath];
}
- (pid_t)processIdentifier {
    return NSProcessInfo.processInfo.processIdentifier;
}
- (BOOL)isActive {
    return NSApp.active;
}
- (BOOL)isTerminated {
    return NO;
}
- (BOOL)activateWithOptions:(NSApplicationActivationOptions)options {
    (void)options;
    return YES;
}
@end

// ---- In place of a storyboard ----

// The first class of the program's that the question is true of.
static Class class_where(bool (*fits)(Class)) {
    unsigned n = 0;
    Class *all = objc_copyClassList(&n), found = Nil;
    for (unsigned i = 0; i < n && !found; i++)
        if (fits(all[i])) found = all[i];
    free(all);
    return found;
}
static bool is_delegate(Class cls) {
    return class_conformsToProtocol(cls, @protocol(NSApplicationDelegate));
}
static bool is_controller(Class cls) {
    for (Class above = class_getSuperclass(cls); above; above = class_getSuperclass(above))
        if (above == NSViewController.class) return true;
    return false;
}

static void open_window(Class controller_class) {
    NSViewController *controller = [controller_class new];
    NSRect frame = NSMakeRect(0, 0, 800, 600);
    Class view_class = NSClassFromString(@"MTKView") ?: NSView.class;
    // A controller with a loadView of its own makes its view itself.
    if ([controller methodForSelector:@selector(loadView)] ==
        [NSViewController instanceMethodForSelector:@selector(loadView)]) {
        controller.view = [[view_class alloc] initWithFrame:frame];
        [controller viewDidLoad];
    }
    NSWindow *window = [NSWindow windowWithContentViewController:controller];
    if (!window.title.length) window.title = NSProcessInfo.processInfo.processName;
    [window makeKeyAndOrderFront:nil];
}

SHOWN int NSApplicationMain(int argc, const char *argv[]) {
    (void)argc, (void)argv;
    static id made; // NSApplication holds its delegate weakly; a storyboard holds it
    @autoreleasepool {
        NSApplication *app = NSApplication.sharedApplication;
        if (!app.delegate) app.delegate = made = [class_where(is_delegate) new];
        [app finishLaunching];
        Class controller = app.windows.count ? Nil : class_where(is_controller);
        if (controller) open_window(controller);
        [app run];
    }
    return EXIT_SUCCESS;
}
