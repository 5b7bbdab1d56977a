// SPDX-License-Identifier: Apache-2.0
// IOSurface/IOSurfaceObjC.h: surfaces as objects.
#ifndef INGOT_MAC_IOSURFACE_IOSURFACEOBJC_H
#define INGOT_MAC_IOSURFACE_IOSURFACEOBJC_H
#include <IOSurface/IOSurfaceRef.h>
#ifdef __OBJC__
#import <Foundation/Foundation.h>
typedef NSString *IOSurfacePropertyKey;
#define IOSurfacePropertyKeyAllocSize ((IOSurfacePropertyKey) @"IOSurfaceAllocSize")
#define IOSurfacePropertyKeyWidth ((IOSurfacePropertyKey) @"IOSurfaceWidth")
#define IOSurfacePropertyKeyHeight ((IOSurfacePropertyKey) @"IOSurfaceHeight")
#define IOSurfacePropertyKeyBytesPerRow ((IOSurfacePropertyKey) @"IOSurfaceBytesPerRow")
#define IOSurfacePropertyKeyBytesPerElement ((IOSurfacePropertyKey) @"IOSurfaceBytesPerElement")
#define IOSurfacePropertyKeyPixelFormat ((IOSurfacePropertyKey) @"IOSurfacePixelFormat")
#define IOSurfacePropertyKeyPlaneInfo ((IOSurfacePropertyKey) @"IOSurfacePlaneInfo")
#define IOSurfacePropertyKeyPlaneWidth ((IOSurfacePropertyKey) @"IOSurfacePlaneWidth")
#define IOSurfacePropertyKeyPlaneHeight ((IOSurfacePropertyKey) @"IOSurfacePlaneHeight")
#define IOSurfacePropertyKeyPlaneBytesPerRow ((IOSurfacePropertyKey) @"IOSurfacePlaneBytesPerRow")
#define IOSurfacePropertyKeyPlaneBytesPerElement                                                   \
    ((IOSurfacePropertyKey) @"IOSurfacePlaneBytesPerElement")
#define IOSurfacePropertyKeyPlaneOffset ((IOSurfacePropertyKey) @"IOSurfacePlaneOffset")
@interface IOSurface : NSObject
- (instancetype)initWithProperties:(NSDictionary<IOSurfacePropertyKey, id> *)properties;
- (int32_t)lockWithOptions:(IOSurfaceLockOptions)options seed:(uint32_t *)seed;
- (int32_t)unlockWithOptions:(IOSurfaceLockOptions)options seed:(uint32_t *)seed;
@property(readonly) IOSurfaceID surfaceID;
@property(readonly) uint32_t seed;
@property(readonly) NSInteger allocationSize;
@property(readonly) NSInteger width, height, bytesPerRow, bytesPerElement;
@property(readonly) void *baseAddress;
@property(readonly) uint32_t pixelFormat;
@property(readonly) NSUInteger planeCount;
- (NSInteger)widthOfPlaneAtIndex:(NSUInteger)plane;
- (NSInteger)heightOfPlaneAtIndex:(NSUInteger)plane;
- (NSInteger)bytesPerRowOfPlaneAtIndex:(NSUInteger)plane;
- (void *)baseAddressOfPlaneAtIndex:(NSUInteger)plane;
@end
#endif
#endif
