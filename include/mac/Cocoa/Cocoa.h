// SPDX-License-Identifier: Apache-2.0
// Cocoa/Cocoa.h: Foundation and AppKit.
#ifndef INGOT_MAC_COCOA_H
#define INGOT_MAC_COCOA_H
#import <AppKit/AppKit.h>
#import <Foundation/Foundation.h>
#endif
