// SPDX-License-Identifier: Apache-2.0
// appkit_int.h: what the files of AppKit know of each other.
#ifndef INGOT_APPKIT_INT_H
#define INGOT_APPKIT_INT_H
#import <AppKit/AppKit.h>
#include "mac/appkit/layer_window.h"

#define SHOWN __attribute__((visibility("default")))

// The delegate, if it wants to know, and the notification center.
void appkit_tell(id sender, id delegate, NSNotificationName name, SEL selector);

enum { NO_BUTTON = -1 };
typedef struct MouseState { // of a window: what an event must know of those before it
    double x, y, press_x, press_y, pressed_at;
    NSInteger button, button_before, clicks;
} MouseState;
@interface NSEvent ()
- (instancetype)initWithInput:(const LayerWindowInput *)input
                       window:(NSWindow *)window
                        mouse:(MouseState *)mouse;
@end

@interface NSView ()
- (void)moveToWindow:(NSWindow *)window; // with all below it
- (CAMetalLayer *)shownLayer;            // the first of Metal's in the tree
- (void)displayIfNeeded;                 // with all below it
@end

@interface NSWindow ()
- (void)tick; // opens what is to be seen, takes what its user did, draws what needs it
@end

@interface NSApplication ()
- (void)addWindow:(NSWindow *)window;
- (void)windowClosed:(NSWindow *)window;
@end
#endif
