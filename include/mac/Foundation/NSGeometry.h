// SPDX-License-Identifier: Apache-2.0
// Foundation/NSGeometry.h: points, sizes and rectangles: Core Graphics's.
#ifndef INGOT_MAC_FOUNDATION_NSGEOMETRY_H
#define INGOT_MAC_FOUNDATION_NSGEOMETRY_H
#include <Foundation/NSObjCRuntime.h>
#include <CoreGraphics/CGGeometry.h>
typedef CGPoint NSPoint;
typedef CGSize NSSize;
typedef CGRect NSRect;
NS_INLINE NSPoint NSMakePoint(CGFloat x, CGFloat y) { return CGPointMake(x, y); }
NS_INLINE NSSize NSMakeSize(CGFloat w, CGFloat h) { return CGSizeMake(w, h); }
NS_INLINE NSRect NSMakeRect(CGFloat x, CGFloat y, CGFloat w, CGFloat h) {
    return CGRectMake(x, y, w, h);
}
#define NSZeroPoint CGPointZero
#define NSZeroSize CGSizeZero
#define NSZeroRect CGRectZero
#endif
