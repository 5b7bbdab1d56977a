// SPDX-License-Identifier: Apache-2.0
// CoreGraphics/CoreGraphics.h: the types of Core Graphics that Metal's headers mention.
#ifndef INGOT_MAC_COREGRAPHICS_H
#define INGOT_MAC_COREGRAPHICS_H
#include <CoreFoundation/CoreFoundation.h>
#include <CoreGraphics/CGColor.h>
#include <CoreGraphics/CGColorSpace.h>
#include <CoreGraphics/CGGeometry.h>
#endif
