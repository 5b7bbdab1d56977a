// SPDX-License-Identifier: Apache-2.0
// Metal/MTLForeign.h: names of other frameworks that Metal's methods mention and nothing here has.
#ifndef INGOT_MAC_METAL_MTLFOREIGN_H
#define INGOT_MAC_METAL_MTLFOREIGN_H
#include <CoreFoundation/CoreFoundation.h>
#include <CoreGraphics/CGColorSpace.h>
#include <CoreGraphics/CGGeometry.h>
#include <IOSurface/IOSurfaceRef.h>
#include <dispatch/dispatch.h>
#include <mach/mach.h>
typedef void *MTLIOCompressionContext;
#endif
