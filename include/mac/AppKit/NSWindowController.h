// SPDX-License-Identifier: Apache-2.0
// AppKit/NSWindowController.h: what looks after a window.
#ifndef INGOT_MAC_APPKIT_NSWINDOWCONTROLLER_H
#define INGOT_MAC_APPKIT_NSWINDOWCONTROLLER_H
#import <AppKit/NSWindow.h>
@interface NSWindowController : NSResponder
- (instancetype)initWithWindow:(NSWindow *)window; // nil: loadWindow is asked when it is needed
- (instancetype)initWithWindowNibName:(NSString *)name; // files are not read: loadWindow makes one
@property(strong) NSWindow *window;
@property(readonly, getter=isWindowLoaded) BOOL windowLoaded;
@property(strong) NSViewController *contentViewController; // of the window
@property(copy) NSString *windowFrameAutosaveName;         // remembered
@property BOOL shouldCascadeWindows;                       // remembered
@property(readonly, copy) NSString *windowNibName;
- (void)loadWindow; // an empty window, unless a subclass makes another
- (void)windowWillLoad;
- (void)windowDidLoad;
- (void)showWindow:(id)sender;
- (void)close;
@end
#endif
