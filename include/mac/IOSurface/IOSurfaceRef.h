// SPDX-License-Identifier: Apache-2.0
// IOSurface/IOSurfaceRef.h: a name that Metal's methods mention; there are no such surfaces here.
#ifndef INGOT_MAC_IOSURFACE_IOSURFACEREF_H
#define INGOT_MAC_IOSURFACE_IOSURFACEREF_H
typedef struct __IOSurface *IOSurfaceRef;
#endif
