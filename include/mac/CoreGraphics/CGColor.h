// SPDX-License-Identifier: Apache-2.0
// CoreGraphics/CGColor.h: colours: components and the name of their space.
#ifndef INGOT_MAC_CGCOLOR_H
#define INGOT_MAC_CGCOLOR_H
#include <CoreGraphics/CGColorSpace.h>
#include <CoreGraphics/CGGeometry.h>
typedef struct CGColor *CGColorRef;
// As many components as the space has, then alpha. NULL: no space.
CF_EXPORT CGColorRef CGColorCreate(CGColorSpaceRef space, const CGFloat *components);
CF_EXPORT CGColorRef CGColorCreateGenericRGB(CGFloat red, CGFloat green, CGFloat blue,
                                             CGFloat alpha);
CF_EXPORT CGColorRef CGColorCreateSRGB(CGFloat red, CGFloat green, CGFloat blue, CGFloat alpha);
CF_EXPORT CGColorRef CGColorCreateGenericGray(CGFloat gray, CGFloat alpha);
CF_EXPORT CGColorRef CGColorCreateCopyWithAlpha(CGColorRef color, CGFloat alpha);
CF_EXPORT CGColorRef CGColorRetain(CGColorRef color);
CF_EXPORT void CGColorRelease(CGColorRef color);
CF_EXPORT bool CGColorEqualToColor(CGColorRef a, CGColorRef b);
CF_EXPORT size_t CGColorGetNumberOfComponents(CGColorRef color); // with alpha
CF_EXPORT const CGFloat *CGColorGetComponents(CGColorRef color);
CF_EXPORT CGFloat CGColorGetAlpha(CGColorRef color);
CF_EXPORT CGColorSpaceRef CGColorGetColorSpace(CGColorRef color);
#endif
