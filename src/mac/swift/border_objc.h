// SPDX-License-Identifier: Apache-2.0
// border_objc.h: objects for one call, owned by the caller. NULL gives nil.
#ifndef INGOT_SWIFT_BORDER_OBJC_H
#define INGOT_SWIFT_BORDER_OBJC_H
#import <Foundation/Foundation.h>
#include <objc/objc-arc.h>
#include <objc/runtime.h>

NSString *ingot_string(const char *utf8);
NSURL *ingot_url(const char *path);
NSBundle *ingot_bundle(const char *path);
#endif
