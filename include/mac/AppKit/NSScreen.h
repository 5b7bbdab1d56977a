// SPDX-License-Identifier: Apache-2.0
// AppKit/NSScreen.h: the screen. The display is not asked: 1920 x 1080 pixels, 60 pictures a
// second.
#ifndef INGOT_MAC_APPKIT_NSSCREEN_H
#define INGOT_MAC_APPKIT_NSSCREEN_H
#import <Foundation/Foundation.h>
#import <QuartzCore/QuartzCore.h>
@interface NSScreen : NSObject
@property(class, readonly, strong) NSScreen *mainScreen;
@property(class, readonly, copy) NSArray<NSScreen *> *screens;
@property(readonly) NSRect frame;
@property(readonly) NSRect visibleFrame;
@property(readonly) CGFloat backingScaleFactor; // 1
@property(readonly) NSInteger maximumFramesPerSecond;
- (CADisplayLink *)displayLinkWithTarget:(id)target selector:(SEL)selector;
@end
#endif
