// SPDX-License-Identifier: Apache-2.0
// MetalPerformanceShaders/MPSMatrix.h: matrices and vectors in buffers, stacks of them, and their
// products. Elements are Float32, Float16 or BFloat16; both factors have the same type.
#ifndef INGOT_MAC_MPSMATRIX_H
#define INGOT_MAC_MPSMATRIX_H
#import <MetalPerformanceShaders/MPSCore.h>
NS_ASSUME_NONNULL_BEGIN

@interface MPSMatrixDescriptor : NSObject
@property(nonatomic) NSUInteger rows;
@property(nonatomic) NSUInteger columns;
@property(readonly, nonatomic) NSUInteger matrices;
@property(nonatomic) MPSDataType dataType;
@property(nonatomic) NSUInteger rowBytes;
@property(readonly, nonatomic) NSUInteger matrixBytes;
+ (instancetype)matrixDescriptorWithDimensions:(NSUInteger)rows
                                       columns:(NSUInteger)columns
                                      rowBytes:(NSUInteger)rowBytes
                                      dataType:(MPSDataType)type;
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                rowBytes:(NSUInteger)rowBytes
                                dataType:(MPSDataType)type;
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)rowBytes
                             matrixBytes:(NSUInteger)matrixBytes
                                dataType:(MPSDataType)type;
+ (size_t)rowBytesFromColumns:(NSUInteger)columns dataType:(MPSDataType)type;
+ (size_t)rowBytesForColumns:(NSUInteger)columns dataType:(MPSDataType)type; // a good one
@end

@interface MPSVectorDescriptor : NSObject
@property(nonatomic) NSUInteger length;
@property(readonly, nonatomic) NSUInteger vectors;
@property(nonatomic) MPSDataType dataType;
@property(readonly, nonatomic) NSUInteger vectorBytes;
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length dataType:(MPSDataType)type;
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length
                                   vectors:(NSUInteger)vectors
                               vectorBytes:(NSUInteger)vectorBytes
                                  dataType:(MPSDataType)type;
+ (size_t)vectorBytesForLength:(NSUInteger)length dataType:(MPSDataType)type;
@end

@interface MPSMatrix : NSObject
- (nullable instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                             descriptor:(MPSMatrixDescriptor *)descriptor;
- (nullable instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                                 offset:(NSUInteger)offset
                             descriptor:(MPSMatrixDescriptor *)descriptor;
- (nullable instancetype)initWithDevice:(id<MTLDevice>)device
                             descriptor:(MPSMatrixDescriptor *)descriptor;
@property(readonly, retain, nonatomic) id<MTLDevice> device;
@property(readonly, nonatomic) NSUInteger rows;
@property(readonly, nonatomic) NSUInteger columns;
@property(readonly, nonatomic) NSUInteger matrices;
@property(readonly, nonatomic) MPSDataType dataType;
@property(readonly, nonatomic) NSUInteger rowBytes;
@property(readonly, nonatomic) NSUInteger matrixBytes;
@property(readonly, nonatomic) NSUInteger offset;
@property(readonly, nonatomic) id<MTLBuffer> data;
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer; // memory is shared
- (NSUInteger)resourceSize;
@end

@interface MPSTemporaryMatrix : MPSMatrix
+ (instancetype)temporaryMatrixWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                matrixDescriptor:(MPSMatrixDescriptor *)descriptor;
@property(nonatomic) NSUInteger readCount; // remembered
@end

@interface MPSVector : NSObject
- (nullable instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                             descriptor:(MPSVectorDescriptor *)descriptor;
- (nullable instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                                 offset:(NSUInteger)offset
                             descriptor:(MPSVectorDescriptor *)descriptor;
- (nullable instancetype)initWithDevice:(id<MTLDevice>)device
                             descriptor:(MPSVectorDescriptor *)descriptor;
@property(readonly, retain, nonatomic) id<MTLDevice> device;
@property(readonly, nonatomic) NSUInteger length;
@property(readonly, nonatomic) NSUInteger vectors;
@property(readonly, nonatomic) MPSDataType dataType;
@property(readonly, nonatomic) NSUInteger vectorBytes;
@property(readonly, nonatomic) NSUInteger offset;
@property(readonly, nonatomic) id<MTLBuffer> data;
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;
- (NSUInteger)resourceSize;
@end

// C = alpha op(A) op(B) + beta C, for matrices batchStart to batchStart + batchSize - 1 of stacks.
@interface MPSMatrixMultiplication : MPSKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device
                 transposeLeft:(BOOL)transposeLeft
                transposeRight:(BOOL)transposeRight
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns
                         alpha:(double)alpha
                          beta:(double)beta;
- (instancetype)initWithDevice:(id<MTLDevice>)device
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns;
@property(nonatomic) MTLOrigin resultMatrixOrigin; // x: the row, y: the column
@property(nonatomic) MTLOrigin leftMatrixOrigin;
@property(nonatomic) MTLOrigin rightMatrixOrigin;
@property(nonatomic) NSUInteger batchStart;
@property(nonatomic) NSUInteger batchSize; // as many as there are
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                   leftMatrix:(MPSMatrix *)left
                  rightMatrix:(MPSMatrix *)right
                 resultMatrix:(MPSMatrix *)result;
@end

// y = alpha op(A) x + beta y
@interface MPSMatrixVectorMultiplication : MPSKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device
                     transpose:(BOOL)transpose
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns
                         alpha:(double)alpha
                          beta:(double)beta;
- (instancetype)initWithDevice:(id<MTLDevice>)device
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns;
@property(nonatomic) MTLOrigin primarySourceMatrixOrigin; // x: the row, y: the column
@property(nonatomic) NSUInteger batchStart;
@property(nonatomic) NSUInteger batchSize;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix *)matrix
                  inputVector:(MPSVector *)vector
                 resultVector:(MPSVector *)result;
@end
NS_ASSUME_NONNULL_END
#endif
