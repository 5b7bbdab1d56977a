// SPDX-License-Identifier: Apache-2.0
// MetalPerformanceShaders/MPSCore.h: types, and the class that all kernels stand on. What a
// kernel cannot do with its arguments raises NSInvalidArgumentException when it is encoded.
#ifndef INGOT_MAC_MPSCORE_H
#define INGOT_MAC_MPSCORE_H
#import <Metal/Metal.h>

typedef NS_ENUM(uint32_t, MPSDataType) {
    MPSDataTypeInvalid = 0,
    MPSDataTypeFloatBit = 0x10000000,
    MPSDataTypeFloat32 = MPSDataTypeFloatBit | 32,
    MPSDataTypeFloat16 = MPSDataTypeFloatBit | 16,
    MPSDataTypeComplexBit = 0x01000000,
    MPSDataTypeComplexFloat32 = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 64,
    MPSDataTypeComplexFloat16 = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 32,
    MPSDataTypeSignedBit = 0x20000000,
    MPSDataTypeIntBit = 0x20000000,
    MPSDataTypeInt8 = MPSDataTypeSignedBit | 8,
    MPSDataTypeInt16 = MPSDataTypeSignedBit | 16,
    MPSDataTypeInt32 = MPSDataTypeSignedBit | 32,
    MPSDataTypeInt64 = MPSDataTypeSignedBit | 64,
    MPSDataTypeUInt8 = 8,
    MPSDataTypeUInt16 = 16,
    MPSDataTypeUInt32 = 32,
    MPSDataTypeUInt64 = 64,
    MPSDataTypeAlternateEncodingBit = 0x80000000,
    MPSDataTypeBool = MPSDataTypeAlternateEncodingBit | 8,
    MPSDataTypeBFloat16 = MPSDataTypeAlternateEncodingBit | MPSDataTypeFloat16,
    MPSDataTypeNormalizedBit = 0x40000000,
    MPSDataTypeUnorm1 = MPSDataTypeNormalizedBit | 1,
    MPSDataTypeUnorm8 = MPSDataTypeNormalizedBit | 8,
};
FOUNDATION_EXPORT size_t MPSSizeofMPSDataType(MPSDataType type); // in bytes

typedef NS_OPTIONS(NSUInteger, MPSKernelOptions) {
    MPSKernelOptionsNone = 0,
    MPSKernelOptionsSkipAPIValidation = 1 << 0,
    MPSKernelOptionsAllowReducedPrecision = 1 << 1,
    MPSKernelOptionsDisableInternalTiling = 1 << 2,
    MPSKernelOptionsInsertDebugGroups = 1 << 3,
    MPSKernelOptionsVerbose = 1 << 4,
};

typedef struct MPSOffset {
    NSInteger x, y, z;
} MPSOffset;
typedef struct MPSOrigin {
    double x, y, z;
} MPSOrigin;
typedef struct MPSSize {
    double width, height, depth;
} MPSSize;

NS_ASSUME_NONNULL_BEGIN
FOUNDATION_EXPORT BOOL MPSSupportsMTLDevice(id<MTLDevice> _Nullable device);

@interface MPSKernel : NSObject <NSCopying>
- (nullable instancetype)initWithDevice:(id<MTLDevice>)device;
@property(readonly, retain, nonatomic) id<MTLDevice> device;
@property(nonatomic) MPSKernelOptions options; // remembered
@property(copy, atomic, nullable) NSString *label;
- (instancetype)copyWithZone:(nullable NSZone *)zone device:(nullable id<MTLDevice>)device;
@end
NS_ASSUME_NONNULL_END
#endif
