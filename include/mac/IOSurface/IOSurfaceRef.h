// SPDX-License-Identifier: Apache-2.0
// IOSurface/IOSurfaceRef.h: memory for pictures, in planes, that textures are made over. Its
// objects are those of the class IOSurface. A surface is known in its process alone: between
// processes go shared textures (MTLSharedTextureHandle).
#ifndef INGOT_MAC_IOSURFACE_IOSURFACEREF_H
#define INGOT_MAC_IOSURFACE_IOSURFACEREF_H
#include <CoreFoundation/CoreFoundation.h>
typedef struct CF_BRIDGED_TYPE(IOSurface) __IOSurface *IOSurfaceRef;
typedef uint32_t IOSurfaceID;
typedef CF_ENUM(uint32_t, IOSurfaceLockOptions) {
    kIOSurfaceLockReadOnly = 1,
    kIOSurfaceLockAvoidSync = 2,
};
CF_EXPORT const CFStringRef kIOSurfaceAllocSize;
CF_EXPORT const CFStringRef kIOSurfaceWidth;
CF_EXPORT const CFStringRef kIOSurfaceHeight;
CF_EXPORT const CFStringRef kIOSurfaceBytesPerRow;
CF_EXPORT const CFStringRef kIOSurfaceBytesPerElement;
CF_EXPORT const CFStringRef kIOSurfaceElementWidth;
CF_EXPORT const CFStringRef kIOSurfaceElementHeight;
CF_EXPORT const CFStringRef kIOSurfaceOffset;
CF_EXPORT const CFStringRef kIOSurfacePixelFormat;
CF_EXPORT const CFStringRef kIOSurfacePlaneInfo; // an array of dictionaries of the keys below
CF_EXPORT const CFStringRef kIOSurfacePlaneWidth;
CF_EXPORT const CFStringRef kIOSurfacePlaneHeight;
CF_EXPORT const CFStringRef kIOSurfacePlaneBytesPerRow;
CF_EXPORT const CFStringRef kIOSurfacePlaneBytesPerElement;
CF_EXPORT const CFStringRef kIOSurfacePlaneOffset;
CF_EXPORT const CFStringRef kIOSurfacePlaneSize;
// NULL: no width, height or size, planes that do not fit, or no memory.
CF_EXPORT IOSurfaceRef IOSurfaceCreate(CFDictionaryRef properties);
CF_EXPORT IOSurfaceRef IOSurfaceLookup(IOSurfaceID surface); // of this process; retained
CF_EXPORT IOSurfaceID IOSurfaceGetID(IOSurfaceRef surface);
// Memory is the same for all: locks order nothing, unlocking after writing changes the seed.
CF_EXPORT int32_t IOSurfaceLock(IOSurfaceRef surface, IOSurfaceLockOptions options, uint32_t *seed);
CF_EXPORT int32_t IOSurfaceUnlock(IOSurfaceRef surface, IOSurfaceLockOptions options,
                                  uint32_t *seed);
CF_EXPORT uint32_t IOSurfaceGetSeed(IOSurfaceRef surface);
CF_EXPORT size_t IOSurfaceGetAllocSize(IOSurfaceRef surface);
CF_EXPORT size_t IOSurfaceGetWidth(IOSurfaceRef surface);
CF_EXPORT size_t IOSurfaceGetHeight(IOSurfaceRef surface);
CF_EXPORT size_t IOSurfaceGetBytesPerElement(IOSurfaceRef surface);
CF_EXPORT size_t IOSurfaceGetBytesPerRow(IOSurfaceRef surface);
CF_EXPORT void *IOSurfaceGetBaseAddress(IOSurfaceRef surface);
CF_EXPORT uint32_t IOSurfaceGetPixelFormat(IOSurfaceRef surface);
CF_EXPORT size_t IOSurfaceGetPlaneCount(IOSurfaceRef surface); // 0: it is not planar
CF_EXPORT size_t IOSurfaceGetWidthOfPlane(IOSurfaceRef surface, size_t plane);
CF_EXPORT size_t IOSurfaceGetHeightOfPlane(IOSurfaceRef surface, size_t plane);
CF_EXPORT size_t IOSurfaceGetBytesPerElementOfPlane(IOSurfaceRef surface, size_t plane);
CF_EXPORT size_t IOSurfaceGetBytesPerRowOfPlane(IOSurfaceRef surface, size_t plane);
CF_EXPORT void *IOSurfaceGetBaseAddressOfPlane(IOSurfaceRef surface, size_t plane);
CF_EXPORT void IOSurfaceIncrementUseCount(IOSurfaceRef surface);
CF_EXPORT void IOSurfaceDecrementUseCount(IOSurfaceRef surface);
CF_EXPORT int32_t IOSurfaceGetUseCount(IOSurfaceRef surface);
CF_EXPORT Boolean IOSurfaceIsInUse(IOSurfaceRef surface);
// As long as rows and planes may be: the next multiple of what the hardware likes.
CF_EXPORT size_t IOSurfaceAlignProperty(CFStringRef property, size_t value);
#endif
