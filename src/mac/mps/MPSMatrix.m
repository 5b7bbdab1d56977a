// SPDX-License-Identifier: Apache-2.0
// MPSMatrix.m: matrices and vectors in buffers, and their products.
#include "mac/mps/mps_int.h"
#include "mps_texts.h"

// ---- Descriptors ----

SHOWN @implementation MPSMatrixDescriptor
+ (instancetype)matrixDescriptorWithDimensions:(NSUInteger)rows
                                       columns:(NSUInteger)columns
                                      rowBytes:(NSUInteger)rowBytes
                                      dataType:(MPSDataType)type {
    return [self matrixDescriptorWithRows:rows columns:columns rowBytes:rowBytes dataType:type];
}
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                rowBytes:(NSUInteger)rowBytes
                                dataType:(MPSDataType)type {
    return [self matrixDescriptorWithRows:rows
                                  columns:columns
                                 matrices:1
                                 rowBytes:rowBytes
                              matrixBytes:rows * rowBytes
                                 dataType:type];
}
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)rowBytes
                             matrixBytes:(NSUInteger)matrixBytes
                                dataType:(MPSDataType)type {
    MPSMatrixDescriptor *d = [self new];
    d->_rows = rows, d->_columns = columns, d->_matrices = matrices;
    d->_rowBytes = rowBytes, d->_matrixBytes = matrixBytes, d->_dataType = type;
    return d;
}
+ (size_t)rowBytesFromColumns:(NSUInteger)columns dataType:(MPSDataType)type {
    return [self rowBytesForColumns:columns dataType:type];
}
+ (size_t)rowBytesForColumns:(NSUInteger)columns dataType:(MPSDataType)type {
    return (columns * MPSSizeofMPSDataType(type) + 15) & ~(size_t)15;
}
@end

SHOWN @implementation MPSVectorDescriptor
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length dataType:(MPSDataType)type {
    return [self vectorDescriptorWithLength:length
                                    vectors:1
                                vectorBytes:length * MPSSizeofMPSDataType(type)
                                   dataType:type];
}
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length
                                   vectors:(NSUInteger)vectors
                               vectorBytes:(NSUInteger)vectorBytes
                                  dataType:(MPSDataType)type {
    MPSVectorDescriptor *d = [self new];
    d->_length = length, d->_vectors = vectors, d->_vectorBytes = vectorBytes, d->_dataType = type;
    return d;
}
+ (size_t)vectorBytesForLength:(NSUInteger)length dataType:(MPSDataType)type {
    return [MPSMatrixDescriptor rowBytesForColumns:length dataType:type];
}
@end

// ---- Matrices and vectors ----

// The last byte of a stack of matrices: rows and matrices may overlap, as those of a Mac may.
static NSUInteger bytes_of(NSUInteger count, NSUInteger matrix, NSUInteger rows, NSUInteger row,
                           NSUInteger columns, MPSDataType type) {
    if (!count || !rows || !columns) return 0;
    return (count - 1) * matrix + (rows - 1) * row + columns * MPSSizeofMPSDataType(type);
}

// Methods of what lies in a buffer that both sides see: one of so many bytes for a descriptor d.
#define IN_SHARED_MEMORY(Descriptor, n_bytes)                                                      \
    -(instancetype)initWithDevice : (id<MTLDevice>)device descriptor : (Descriptor *)d {           \
        NSUInteger n = MAX(n_bytes, 1u);                                                           \
        id<MTLBuffer> buffer = [device newBufferWithLength:n                                       \
                                                   options:MTLResourceStorageModeShared];          \
        return buffer ? [self initWithBuffer:buffer offset:0 descriptor:d] : nil;                  \
    }                                                                                              \
    -(void)synchronizeOnCommandBuffer : (id<MTLCommandBuffer>)commandBuffer {                      \
        (void)commandBuffer;                                                                       \
    }                                                                                              \
    -(NSUInteger)resourceSize {                                                                    \
        return _data.allocatedSize;                                                                \
    }

SHOWN @implementation MPSMatrix
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSMatrixDescriptor *)descriptor {
    return [self initWithBuffer:buffer offset:0 descriptor:descriptor];
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSMatrixDescriptor *)d {
    NSUInteger size = MPSSizeofMPSDataType(d.dataType);
    REQUIRE(buffer && d, @"there is no %@", buffer ? @"descriptor" : @"buffer");
    REQUIRE(size && d.rowBytes % size == 0 && d.matrixBytes % size == 0 && offset % size == 0,
            @"rowBytes %lu, matrixBytes %lu and offset %lu must be multiples of %lu", d.rowBytes,
            d.matrixBytes, offset, size);
    REQUIRE(d.rowBytes >= d.columns * size, @"rowBytes %lu is less than %lu columns need",
            d.rowBytes, d.columns);
    NSUInteger end =
        offset + bytes_of(d.matrices, d.matrixBytes, d.rows, d.rowBytes, d.columns, d.dataType);
    REQUIRE(end <= buffer.length, @"the buffer has %lu bytes, the matrix ends at %lu",
            buffer.length, end);
    if ((self = [super init])) {
        _data = buffer, _offset = offset, _device = buffer.device;
        _rows = d.rows, _columns = d.columns, _matrices = d.matrices, _dataType = d.dataType;
        _rowBytes = d.rowBytes, _matrixBytes = d.matrixBytes;
    }
    return self;
}
IN_SHARED_MEMORY(MPSMatrixDescriptor, d.matrices *MAX(d.matrixBytes, d.rows *d.rowBytes))
@end

SHOWN @implementation MPSTemporaryMatrix
+ (instancetype)temporaryMatrixWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                matrixDescriptor:(MPSMatrixDescriptor *)descriptor {
    MPSTemporaryMatrix *matrix = [[self alloc] initWithDevice:commandBuffer.device
                                                   descriptor:descriptor];
    matrix.readCount = 1;
    return matrix;
}
@end

SHOWN @implementation MPSVector
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSVectorDescriptor *)descriptor {
    return [self initWithBuffer:buffer offset:0 descriptor:descriptor];
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSVectorDescriptor *)d {
    NSUInteger size = MPSSizeofMPSDataType(d.dataType);
    REQUIRE(buffer && d, @"there is no %@", buffer ? @"descriptor" : @"buffer");
    REQUIRE(size && d.vectorBytes % size == 0 && offset % size == 0,
            @"vectorBytes %lu and offset %lu must be multiples of %lu", d.vectorBytes, offset,
            size);
    NSUInteger end = offset + bytes_of(d.vectors, d.vectorBytes, 1, 0, d.length, d.dataType);
    REQUIRE(end <= buffer.length, @"the buffer has %lu bytes, the vector ends at %lu",
            buffer.length, end);
    if ((self = [super init])) {
        _data = buffer, _offset = offset, _device = buffer.device;
        _length = d.length, _vectors = d.vectors, _vectorBytes = d.vectorBytes;
        _dataType = d.dataType;
    }
    return self;
}
IN_SHARED_MEMORY(MPSVectorDescriptor, d.vectors *d.vectorBytes)
@end

// ---- Products ----

typedef struct Product { // of kernels/matrix.metal
    int32_t m, n, k, a_row, b_row, c_row;
    int64_t a_matrix, b_matrix, c_matrix;
    float alpha, beta;
} Product;
enum { TILE = 64 };

static NSString *type_name(MPSDataType type) {
    switch (type) {
    case MPSDataTypeFloat32: return @"float";
    case MPSDataTypeFloat16: return @"half";
    case MPSDataTypeBFloat16: return @"bfloat";
    default: return nil;
    }
}

BOOL mps_encode_product(MPSKernel *kernel, id<MTLCommandBuffer> commands, const MPSProduct *p) {
    NSString *element = type_name(p->a.type), *result = type_name(p->c.type);
    if (!element || !result || p->a.type != p->b.type) return NO;
    if (!p->m || !p->n || !p->count) return YES;
    id<MTLComputePipelineState> pipeline =
        [kernel pipeline:p->vector ? @"vector_product" : @"product"
                    text:mps_text_matrix_metal
                  macros:@{
                      @"ELEMENT" : element,
                      @"RESULT" : result,
                      @"A_T" : p->a.transposed ? @"true" : @"false",
                      @"B_T" : p->b.transposed ? @"true" : @"false",
                  }];
    Product all = {.m = (int32_t)p->m,
                   .n = (int32_t)p->n,
                   .k = (int32_t)p->k,
                   .a_row = (int32_t)p->a.row,
                   .b_row = (int32_t)p->b.row,
                   .c_row = (int32_t)p->c.row,
                   .a_matrix = (int64_t)p->a.matrix,
                   .b_matrix = (int64_t)p->b.matrix,
                   .c_matrix = (int64_t)p->c.matrix,
                   .alpha = (float)p->alpha,
                   .beta = (float)p->beta};
    id<MTLComputeCommandEncoder> e = [commands computeCommandEncoder];
    e.label = kernel.label;
    [e setComputePipelineState:pipeline];
    [e setBytes:&all length:sizeof all atIndex:0];
    [e setBuffer:p->a.buffer offset:p->a.offset atIndex:1];
    [e setBuffer:p->b.buffer offset:p->b.offset atIndex:2];
    [e setBuffer:p->c.buffer offset:p->c.offset atIndex:3];
    MTLSize groups =
        p->vector ? MTLSizeMake(p->m, 1, p->count)
                  : MTLSizeMake((p->n + TILE - 1) / TILE, (p->m + TILE - 1) / TILE, p->count);
    [e dispatchThreadgroups:groups threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [e endEncoding];
    return YES;
}

// From row and column `origin` of the matrices from `first` on.
static MPSOperand operand(MPSMatrix *m, MTLOrigin origin, NSUInteger first, BOOL transposed) {
    NSUInteger size = MPSSizeofMPSDataType(m.dataType);
    return (MPSOperand){.buffer = m.data,
                        .offset = m.offset + first * m.matrixBytes + origin.x * m.rowBytes +
                                  origin.y * size,
                        .row = m.rowBytes / size,
                        .matrix = m.matrixBytes / size,
                        .type = m.dataType,
                        .transposed = transposed};
}
// Is there a part of that size?
static BOOL holds(MPSMatrix *m, MTLOrigin origin, NSUInteger rows, NSUInteger columns) {
    return m && origin.x <= m.rows && rows <= m.rows - origin.x && origin.y <= m.columns &&
           columns <= m.columns - origin.y;
}
static NSUInteger batch(NSUInteger start, NSUInteger size, NSUInteger a, NSUInteger b,
                        NSUInteger c) {
    NSUInteger n = MIN(a, MIN(b, c));
    return start < n ? MIN(size, n - start) : 0;
}

SHOWN @implementation MPSMatrixMultiplication {
    BOOL _transposeLeft, _transposeRight;
    NSUInteger _m, _n, _k;
    double _alpha, _beta;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device
                 transposeLeft:(BOOL)transposeLeft
                transposeRight:(BOOL)transposeRight
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns
                         alpha:(double)alpha
                          beta:(double)beta {
    if ((self = [super initWithDevice:device])) {
        _transposeLeft = transposeLeft, _transposeRight = transposeRight;
        _m = resultRows, _n = resultColumns, _k = interiorColumns, _alpha = alpha, _beta = beta;
        _batchSize = NSUIntegerMax;
    }
    return self;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns {
    return [self initWithDevice:device
                  transposeLeft:NO
                 transposeRight:NO
                     resultRows:resultRows
                  resultColumns:resultColumns
                interiorColumns:interiorColumns
                          alpha:1
                           beta:0];
}
- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSMatrixMultiplication *copy = [super copyWithZone:zone device:device];
    copy->_transposeLeft = _transposeLeft, copy->_transposeRight = _transposeRight;
    copy->_m = _m, copy->_n = _n, copy->_k = _k, copy->_alpha = _alpha, copy->_beta = _beta;
    copy->_batchStart = _batchStart, copy->_batchSize = _batchSize;
    copy->_leftMatrixOrigin = _leftMatrixOrigin, copy->_rightMatrixOrigin = _rightMatrixOrigin;
    copy->_resultMatrixOrigin = _resultMatrixOrigin;
    return copy;
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                   leftMatrix:(MPSMatrix *)left
                  rightMatrix:(MPSMatrix *)right
                 resultMatrix:(MPSMatrix *)result {
    BOOL tl = _transposeLeft, tr = _transposeRight;
    REQUIRE(holds(left, _leftMatrixOrigin, tl ? _k : _m, tl ? _m : _k),
            @"the left matrix is smaller than %lu x %lu", tl ? _k : _m, tl ? _m : _k);
    REQUIRE(holds(right, _rightMatrixOrigin, tr ? _n : _k, tr ? _k : _n),
            @"the right matrix is smaller than %lu x %lu", tr ? _n : _k, tr ? _k : _n);
    REQUIRE(holds(result, _resultMatrixOrigin, _m, _n),
            @"the result matrix is smaller than %lu x %lu", _m, _n);
    MPSProduct p = {
        .m = _m,
        .n = _n,
        .k = _k,
        .count = batch(_batchStart, _batchSize, left.matrices, right.matrices, result.matrices),
        .a = operand(left, _leftMatrixOrigin, _batchStart, tl),
        .b = operand(right, _rightMatrixOrigin, _batchStart, tr),
        .c = operand(result, _resultMatrixOrigin, _batchStart, NO),
        .alpha = _alpha,
        .beta = _beta};
    REQUIRE(mps_encode_product(self, commandBuffer, &p),
            @"no product of types 0x%x and 0x%x to 0x%x", left.dataType, right.dataType,
            result.dataType);
}
@end

SHOWN @implementation MPSMatrixVectorMultiplication {
    BOOL _transpose;
    NSUInteger _rows, _columns;
    double _alpha, _beta;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device
                     transpose:(BOOL)transpose
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns
                         alpha:(double)alpha
                          beta:(double)beta {
    if ((self = [super initWithDevice:device])) {
        _transpose = transpose, _rows = rows, _columns = columns, _alpha = alpha, _beta = beta;
        _batchSize = NSUIntegerMax;
    }
    return self;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns {
    return [self initWithDevice:device transpose:NO rows:rows columns:columns alpha:1 beta:0];
}
- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSMatrixVectorMultiplication *copy = [super copyWithZone:zone device:device];
    copy->_transpose = _transpose, copy->_rows = _rows, copy->_columns = _columns;
    copy->_alpha = _alpha, copy->_beta = _beta;
    copy->_batchStart = _batchStart, copy->_batchSize = _batchSize;
    copy->_primarySourceMatrixOrigin = _primarySourceMatrixOrigin;
    return copy;
}
static MPSOperand vector_operand(MPSVector *v, NSUInteger first) {
    return (MPSOperand){.buffer = v.data,
                        .offset = v.offset + first * v.vectorBytes,
                        .row = 1,
                        .matrix = v.vectorBytes / MPSSizeofMPSDataType(v.dataType),
                        .type = v.dataType};
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix *)matrix
                  inputVector:(MPSVector *)vector
                 resultVector:(MPSVector *)result {
    NSUInteger m = _rows, k = _columns; // of what the matrix is after transposing
    REQUIRE(holds(matrix, _primarySourceMatrixOrigin, _transpose ? k : m, _transpose ? m : k),
            @"the matrix is smaller than %lu x %lu", _transpose ? k : m, _transpose ? m : k);
    REQUIRE(vector.length >= k && result.length >= m, @"vectors of %lu and %lu elements are needed",
            k, m);
    MPSProduct p = {
        .m = m,
        .n = 1,
        .k = k,
        .count = batch(_batchStart, _batchSize, matrix.matrices, vector.vectors, result.vectors),
        .a = operand(matrix, _primarySourceMatrixOrigin, _batchStart, _transpose),
        .b = vector_operand(vector, _batchStart),
        .c = vector_operand(result, _batchStart),
        .alpha = _alpha,
        .beta = _beta,
        .vector = YES};
    REQUIRE(mps_encode_product(self, commandBuffer, &p),
            @"no product of types 0x%x and 0x%x to 0x%x", matrix.dataType, vector.dataType,
            result.dataType);
}
@end
