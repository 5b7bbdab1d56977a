// SPDX-License-Identifier: Apache-2.0
// Foundation/NSObjCRuntime.h: integers, marks on declarations, and functions of the runtime with
// strings.
#ifndef INGOT_MAC_FOUNDATION_NSOBJCRUNTIME_H
#define INGOT_MAC_FOUNDATION_NSOBJCRUNTIME_H
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <Availability.h>
#include <TargetConditionals.h>
#include <objc/NSObjCRuntime.h>
#include <objc/runtime.h>

#ifdef __cplusplus
#define FOUNDATION_EXTERN extern "C"
#else
#define FOUNDATION_EXTERN extern
#endif
#define FOUNDATION_EXPORT FOUNDATION_EXTERN __attribute__((visibility("default")))
#define FOUNDATION_IMPORT FOUNDATION_EXTERN

#include <CoreFoundation/CFAvailability.h>
#define NS_ENUM(...) CF_ENUM(__VA_ARGS__)
#define NS_OPTIONS(type, name) CF_OPTIONS(type, name)
#define NS_CLOSED_ENUM(type, name) CF_ENUM(type, name)
#define NS_ERROR_ENUM(domain, name) CF_ENUM(NSInteger, name)
#define NS_TYPED_ENUM
#define NS_TYPED_EXTENSIBLE_ENUM
#define NS_STRING_ENUM
#define NS_EXTENSIBLE_STRING_ENUM
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_HEADER_AUDIT_BEGIN(...) NS_ASSUME_NONNULL_BEGIN
#define NS_HEADER_AUDIT_END(...) NS_ASSUME_NONNULL_END
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NS_RETURNS_NOT_RETAINED __attribute__((ns_returns_not_retained))
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#define NS_RELEASES_ARGUMENT __attribute__((ns_consumed))
#define NS_VALID_UNTIL_END_OF_SCOPE __attribute__((objc_precise_lifetime))
#define NS_REQUIRES_SUPER __attribute__((objc_requires_super))
#define NS_REQUIRES_NIL_TERMINATION __attribute__((sentinel(0, 1)))
#define NS_FORMAT_FUNCTION(f, a) __attribute__((format(__NSString__, f, a)))
#define NS_FORMAT_ARGUMENT(a) __attribute__((format_arg(a)))
#define NS_NOESCAPE __attribute__((noescape))
#define NS_UNAVAILABLE __attribute__((unavailable))
#define NS_AVAILABLE(mac, ios)
#define NS_AVAILABLE_MAC(v)
#define NS_AVAILABLE_IOS(v)
#define NS_CLASS_AVAILABLE(mac, ios)
#define NS_DEPRECATED(...)
#define NS_DEPRECATED_MAC(...)
#define NS_ENUM_AVAILABLE(mac, ios)
#define NS_ENUM_AVAILABLE_MAC(mac)
#define NS_AUTOMATED_REFCOUNT_UNAVAILABLE OBJC_ARC_UNAVAILABLE
#if defined(__has_attribute) && __has_attribute(swift_name)
#define NS_SWIFT_TEXT(...) #__VA_ARGS__
#define NS_SWIFT_NAME(...) __attribute__((swift_name(NS_SWIFT_TEXT(__VA_ARGS__))))
#else
#define NS_SWIFT_NAME(...)
#endif
#define NS_SWIFT_NOTHROW
#define NS_SWIFT_UNAVAILABLE(text)
#define NS_SWIFT_SENDABLE
#define NS_SWIFT_NONSENDABLE
#define NS_SWIFT_UI_ACTOR
#define NS_SWIFT_DISABLE_ASYNC
#define NS_SWIFT_ASYNC_NAME(...)
#define NS_REFINED_FOR_SWIFT
#define NS_INLINE static inline
#define NS_BLOCKS_AVAILABLE 1
#define NS_ROOT_CLASS OBJC_ROOT_CLASS
#if !__has_feature(nullability)
#define _Nullable
#define _Nonnull
#define _Null_unspecified
#endif
#define __nullable _Nullable // __nonnull is the C library's here

typedef NS_ENUM(NSInteger, NSComparisonResult) {
    NSOrderedAscending = -1L,
    NSOrderedSame,
    NSOrderedDescending
};
typedef NS_OPTIONS(NSUInteger, NSEnumerationOptions) {
    NSEnumerationConcurrent = 1UL << 0,
    NSEnumerationReverse = 1UL << 1
};
typedef NS_OPTIONS(NSUInteger, NSSortOptions) {
    NSSortConcurrent = 1UL << 0,
    NSSortStable = 1UL << 4
};
typedef double NSTimeInterval;
typedef struct _NSZone NSZone;
enum { NSNotFound = NSIntegerMax };
#define NSFoundationVersionNumber 3000.0

#ifdef __OBJC__
@class NSString;
typedef NSComparisonResult (^NSComparator)(id a, id b);
FOUNDATION_EXPORT NSString *NSStringFromSelector(SEL selector);
FOUNDATION_EXPORT SEL NSSelectorFromString(NSString *name);
FOUNDATION_EXPORT NSString *NSStringFromClass(Class cls);
FOUNDATION_EXPORT Class NSClassFromString(NSString *name);
FOUNDATION_EXPORT NSString *NSStringFromProtocol(Protocol *protocol);
FOUNDATION_EXPORT Protocol *NSProtocolFromString(NSString *name);
FOUNDATION_EXPORT const char *NSGetSizeAndAlignment(const char *type, NSUInteger *size,
                                                    NSUInteger *alignment);
FOUNDATION_EXPORT void NSLog(NSString *format, ...) NS_FORMAT_FUNCTION(1, 2);
FOUNDATION_EXPORT void NSLogv(NSString *format, va_list arguments);
#endif
#ifndef MIN
#define MIN(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) min_a = (a);                                                                 \
        __typeof__(b) min_b = (b);                                                                 \
        min_a < min_b ? min_a : min_b;                                                             \
    })
#endif
#ifndef MAX
#define MAX(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) max_a = (a);                                                                 \
        __typeof__(b) max_b = (b);                                                                 \
        max_a < max_b ? max_b : max_a;                                                             \
    })
#endif
#ifndef ABS
#define ABS(a)                                                                                     \
    ({                                                                                             \
        __typeof__(a) abs_a = (a);                                                                 \
        abs_a < 0 ? -abs_a : abs_a;                                                                \
    })
#endif
#endif
