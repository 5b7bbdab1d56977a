// SPDX-License-Identifier: Apache-2.0
// CoreGraphics/CGColorSpace.h: names of colour spaces. A colour space here is its name.
#ifndef INGOT_MAC_CGCOLORSPACE_H
#define INGOT_MAC_CGCOLORSPACE_H
#include <CoreFoundation/CFBase.h>
typedef struct CGColorSpace *CGColorSpaceRef;
CF_EXPORT const CFStringRef kCGColorSpaceSRGB;
CF_EXPORT const CFStringRef kCGColorSpaceLinearSRGB;
CF_EXPORT const CFStringRef kCGColorSpaceExtendedSRGB;
CF_EXPORT const CFStringRef kCGColorSpaceExtendedLinearSRGB;
CF_EXPORT const CFStringRef kCGColorSpaceDisplayP3;
CF_EXPORT const CFStringRef kCGColorSpaceExtendedLinearDisplayP3;
CF_EXPORT const CFStringRef kCGColorSpaceITUR_2020;
CF_EXPORT const CFStringRef kCGColorSpaceGenericGrayGamma2_2;
CF_EXPORT CGColorSpaceRef CGColorSpaceCreateWithName(CFStringRef name); // NULL: an unknown name
CF_EXPORT CGColorSpaceRef CGColorSpaceCreateDeviceRGB(void);
CF_EXPORT CGColorSpaceRef CGColorSpaceCreateDeviceGray(void);
CF_EXPORT CFStringRef CGColorSpaceCopyName(CGColorSpaceRef space);
CF_EXPORT CGColorSpaceRef CGColorSpaceRetain(CGColorSpaceRef space);
CF_EXPORT void CGColorSpaceRelease(CGColorSpaceRef space);
#endif
