// SPDX-License-Identifier: Apache-2.0
// MetalPerformanceShaders/MPSNDArray.h: arrays of up to 16 dimensions in memory without gaps, and
// their products. Dimension 0 is the one whose elements lie side by side.
#ifndef INGOT_MAC_MPSNDARRAY_H
#define INGOT_MAC_MPSNDARRAY_H
#import <MetalPerformanceShaders/MPSCore.h>
NS_ASSUME_NONNULL_BEGIN
typedef NSArray<NSNumber *> MPSShape; // the last dimension lies side by side

@interface MPSNDArrayDescriptor : NSObject
+ (instancetype)descriptorWithDataType:(MPSDataType)type
                        dimensionCount:(NSUInteger)count
                        dimensionSizes:(const NSUInteger *)sizes;
+ (instancetype)descriptorWithDataType:(MPSDataType)type
                        dimensionSizes:(NSUInteger)size0, ...; // ends with 0
+ (instancetype)descriptorWithDataType:(MPSDataType)type shape:(MPSShape *)shape;
@property(nonatomic) MPSDataType dataType;
@property(nonatomic) NSUInteger numberOfDimensions;
- (NSUInteger)lengthOfDimension:(NSUInteger)dimension;
- (MPSShape *)getShape;
- (void)reshapeWithDimensionCount:(NSUInteger)count dimensionSizes:(const NSUInteger *)sizes;
- (void)reshapeWithShape:(MPSShape *)shape;
@end

@interface MPSNDArray : NSObject
- (nullable instancetype)initWithDevice:(id<MTLDevice>)device
                             descriptor:(MPSNDArrayDescriptor *)descriptor;
- (nullable instancetype)initWithDevice:(id<MTLDevice>)device scalar:(double)value; // Float32
- (nullable instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                                 offset:(NSUInteger)offset
                             descriptor:(MPSNDArrayDescriptor *)descriptor;
@property(readonly, nonatomic, retain) id<MTLDevice> device;
@property(readonly, nonatomic) MPSDataType dataType;
@property(readonly, nonatomic) size_t dataTypeSize;
@property(readonly, nonatomic) NSUInteger numberOfDimensions;
@property(copy, atomic, nullable) NSString *label;
- (NSUInteger)lengthOfDimension:(NSUInteger)dimension;
- (MPSNDArrayDescriptor *)descriptor;
- (NSUInteger)resourceSize;
- (nullable id<MTLBuffer>)userBuffer;
// Strides of the caller's memory in bytes, one for each dimension; NULL: no gaps.
- (void)readBytes:(void *)buffer strideBytes:(nullable NSInteger *)strides;
- (void)writeBytes:(void *)buffer strideBytes:(nullable NSInteger *)strides;
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer; // memory is shared
@end

// alpha A B of the two lowest dimensions (columns, rows), for every place of the higher ones; a
// source without higher dimensions serves for all.
@interface MPSNDArrayMatrixMultiplication : MPSKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device sourceCount:(NSUInteger)count;
@property(nonatomic) double alpha;
@property(nonatomic) double beta; // of what is in the destination
- (MPSNDArray *)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                         sourceArrays:(NSArray<MPSNDArray *> *)sources;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                 sourceArrays:(NSArray<MPSNDArray *> *)sources
             destinationArray:(MPSNDArray *)destination;
@end
NS_ASSUME_NONNULL_END
#endif
