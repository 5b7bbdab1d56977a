// SPDX-License-Identifier: Apache-2.0
// appkit_int.h: what the files of AppKit know of each other.
#ifndef INGOT_APPKIT_INT_H
#define INGOT_APPKIT_INT_H
#import <AppKit/AppKit.h>

#define SHOWN __attribute__((visibility("default")))

// The delegate, if it wants to know, and the notification center.
void appkit_tell(id sender, id delegate, NSNotificationName name, SEL selector);

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
