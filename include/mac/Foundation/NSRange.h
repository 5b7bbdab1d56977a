// SPDX-License-Identifier: Apache-2.0
// Foundation/NSRange.h: ranges.
#ifndef INGOT_MAC_FOUNDATION_NSRANGE_H
#define INGOT_MAC_FOUNDATION_NSRANGE_H
#include <Foundation/NSObjCRuntime.h>
typedef struct _NSRange {
    NSUInteger location, length;
} NSRange;
typedef NSRange *NSRangePointer;
NS_INLINE NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
    NSRange r = {location, length};
    return r;
}
NS_INLINE NSUInteger NSMaxRange(NSRange r) { return r.location + r.length; }
NS_INLINE BOOL NSLocationInRange(NSUInteger at, NSRange r) {
    return at >= r.location && at - r.location < r.length;
}
NS_INLINE BOOL NSEqualRanges(NSRange a, NSRange b) {
    return a.location == b.location && a.length == b.length;
}
#ifdef __OBJC__
FOUNDATION_EXPORT NSRange NSUnionRange(NSRange a, NSRange b);
FOUNDATION_EXPORT NSRange NSIntersectionRange(NSRange a, NSRange b);
FOUNDATION_EXPORT NSString *NSStringFromRange(NSRange range);
#endif
#endif
