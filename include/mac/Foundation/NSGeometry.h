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
NS_INLINE CGFloat NSMinX(NSRect r) { return r.origin.x; }
NS_INLINE CGFloat NSMinY(NSRect r) { return r.origin.y; }
NS_INLINE CGFloat NSMidX(NSRect r) { return r.origin.x + r.size.width / 2; }
NS_INLINE CGFloat NSMidY(NSRect r) { return r.origin.y + r.size.height / 2; }
NS_INLINE CGFloat NSMaxX(NSRect r) { return r.origin.x + r.size.width; }
NS_INLINE CGFloat NSMaxY(NSRect r) { return r.origin.y + r.size.height; }
NS_INLINE CGFloat NSWidth(NSRect r) { return r.size.width; }
NS_INLINE CGFloat NSHeight(NSRect r) { return r.size.height; }
NS_INLINE bool NSPointInRect(NSPoint p, NSRect r) {
    return p.x >= NSMinX(r) && p.x < NSMaxX(r) && p.y >= NSMinY(r) && p.y < NSMaxY(r);
}
NS_INLINE bool NSEqualPoints(NSPoint a, NSPoint b) { return a.x == b.x && a.y == b.y; }
NS_INLINE bool NSEqualSizes(NSSize a, NSSize b) {
    return a.width == b.width && a.height == b.height;
}
NS_INLINE bool NSEqualRects(NSRect a, NSRect b) {
    return NSEqualPoints(a.origin, b.origin) && NSEqualSizes(a.size, b.size);
}
NS_INLINE bool NSIsEmptyRect(NSRect r) { return !(r.size.width > 0 && r.size.height > 0); }
NS_INLINE NSRect NSInsetRect(NSRect r, CGFloat x, CGFloat y) {
    return NSMakeRect(r.origin.x + x, r.origin.y + y, r.size.width - 2 * x, r.size.height - 2 * y);
}
#define NSZeroPoint CGPointZero
#define NSZeroSize CGSizeZero
#define NSZeroRect CGRectZero
#endif
