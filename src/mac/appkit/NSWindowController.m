// SPDX-License-Identifier: Apache-2.0
// NSWindowController.m: holds a window, makes it when it is first asked for, and stands behind it
// in the chain of responders.
#include "mac/appkit/appkit_int.h"

SHOWN @implementation NSWindowController {
    NSWindow *_window;
    BOOL _asked; // loadWindow was called
}
- (instancetype)init {
    return [self initWithWindow:nil];
}
- (instancetype)initWithWindow:(NSWindow *)window {
    if ((self = [super init])) {
        _shouldCascadeWindows = YES;
        if (window) self.window = window;
    }
    return self;
}
- (instancetype)initWithWindowNibName:(NSString *)name {
    if ((self = [self initWithWindow:nil])) _windowNibName = [name copy];
    return self;
}
- (NSWindow *)window {
    if (!_window && !_asked) {
        _asked = YES;
        [self windowWillLoad];
        [self loadWindow];
        if (_window) [self windowDidLoad];
    }
    return _window;
}
- (void)setWindow:(NSWindow *)window {
    if (_window.windowController == self) _window.windowController = nil;
    _window = window;
    window.windowController = self;
    window.nextResponder = self;
}
- (BOOL)isWindowLoaded {
    return _window != nil;
}
- (NSViewController *)contentViewController {
    return self.window.contentViewController;
}
- (void)setContentViewController:(NSViewController *)controller {
    self.window.contentViewController = controller;
}
- (void)loadWindow {
    self.window = [[NSWindow alloc]
        initWithContentRect:NSMakeRect(0, 0, 640, 480)
                  styleMask:NSWindowStyleMaskTitled | NSWindowStyleMaskClosable |
                            NSWindowStyleMaskMiniaturizable | NSWindowStyleMaskResizable
                    backing:NSBackingStoreBuffered
                      defer:NO];
}
- (void)windowWillLoad {
}
- (void)windowDidLoad {
}
- (void)showWindow:(id)sender {
    [self.window makeKeyAndOrderFront:sender];
}
- (void)close {
    [_window close];
}
@end
