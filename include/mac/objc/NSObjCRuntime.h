// SPDX-License-Identifier: Apache-2.0
// objc/NSObjCRuntime.h: integers of Foundation, and the marks that its headers put on declarations.
#ifndef INGOT_MAC_OBJC_NSOBJCRUNTIME_H
#define INGOT_MAC_OBJC_NSOBJCRUNTIME_H
#include <TargetConditionals.h>
#include <objc/objc.h>
typedef long NSInteger;
typedef unsigned long NSUInteger;
#define NSINTEGER_DEFINED 1
#define NSIntegerMax INTPTR_MAX
#define NSIntegerMin INTPTR_MIN
#define NSUIntegerMax UINTPTR_MAX
#if defined(__OBJC__) && __has_feature(objc_arc)
#define OBJC_ARC_UNAVAILABLE                                                                       \
    __attribute__((unavailable("not available in automatic reference counting mode")))
#else
#define OBJC_ARC_UNAVAILABLE
#endif
#define OBJC_SWIFT_UNAVAILABLE(text)
#define OBJC_UNAVAILABLE(text) __attribute__((unavailable(text)))
#define NS_DESIGNATED_INITIALIZER __attribute__((objc_designated_initializer))
#define OBJC_DESIGNATED_INITIALIZER NS_DESIGNATED_INITIALIZER
#endif
