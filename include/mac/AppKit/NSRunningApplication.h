// SPDX-License-Identifier: Apache-2.0
// AppKit/NSRunningApplication.h: this program, as others see it.
#ifndef INGOT_MAC_APPKIT_NSRUNNINGAPPLICATION_H
#define INGOT_MAC_APPKIT_NSRUNNINGAPPLICATION_H
#import <Foundation/Foundation.h>
#include <sys/types.h>
typedef NS_OPTIONS(NSUInteger, NSApplicationActivationOptions) {
    NSApplicationActivateAllWindows = 1,
    NSApplicationActivateIgnoringOtherApps = 2,
};
@interface NSRunningApplication : NSObject
@property(class, readonly, strong) NSRunningApplication *currentApplication;
@property(readonly, copy) NSString *localizedName;
@property(readonly, copy) NSURL *executableURL;
@property(readonly) pid_t processIdentifier;
@property(readonly, getter=isActive) BOOL active;
@property(readonly, getter=isTerminated) BOOL terminated;
- (BOOL)activateWithOptions:(NSApplicationActivationOptions)options; // the window manager decides
@end
#endif
