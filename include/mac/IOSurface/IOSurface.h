// SPDX-License-Identifier: Apache-2.0
// IOSurface/IOSurface.h: memory for pictures.
#ifndef INGOT_MAC_IOSURFACE_IOSURFACE_H
#define INGOT_MAC_IOSURFACE_IOSURFACE_H
#include <IOSurface/IOSurfaceRef.h>
#include <IOSurface/IOSurfaceObjC.h>
#endif
