// SPDX-License-Identifier: Apache-2.0
// AppKit/AppKit.h: applications, windows and views, as far as a program needs them that draws
// with Metal. A window shows the first CAMetalLayer among its views, under X11; without a display
// it is drawn all the same.
#ifndef INGOT_MAC_APPKIT_H
#define INGOT_MAC_APPKIT_H
#import <Foundation/Foundation.h>
#import <AppKit/NSApplication.h>
#import <AppKit/NSColor.h>
#import <AppKit/NSEvent.h>
#import <AppKit/NSMenu.h>
#import <AppKit/NSRunningApplication.h>
#import <AppKit/NSScreen.h>
#import <AppKit/NSView.h>
#import <AppKit/NSViewController.h>
#import <AppKit/NSWindow.h>
#import <AppKit/NSWindowController.h>
#endif
