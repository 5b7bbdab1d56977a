// SPDX-License-Identifier: Apache-2.0
// MPSNDArray.m: arrays of many dimensions: their shapes, their bytes, their products.
#include <stdarg.h>
#include <string.h>
#include "mac/mps/mps_int.h"

enum { MOST = 16 }; // dimensions

SHOWN @implementation MPSNDArrayDescriptor {
  @public
    NSUInteger _sizes[MOST];
}
+ (instancetype)descriptorWithDataType:(MPSDataType)type
                        dimensionCount:(NSUInteger)count
                        dimensionSizes:(const NSUInteger *)sizes {
    MPSNDArrayDescriptor *d = [self new];
    d.dataType = type;
    [d reshapeWithDimensionCount:count dimensionSizes:sizes];
    return d;
}
+ (instancetype)descriptorWithDataType:(MPSDataType)type dimensionSizes:(NSUInteger)size0, ... {
    NSUInteger sizes[MOST], n = 0;
    va_list more;
    va_start(more, size0);
    for (NSUInteger size = size0; size && n < MOST; size = va_arg(more, NSUInteger))
        sizes[n++] = size;
    va_end(more);
    return [self descriptorWithDataType:type dimensionCount:n dimensionSizes:sizes];
}
+ (instancetype)descriptorWithDataType:(MPSDataType)type shape:(MPSShape *)shape {
    MPSNDArrayDescriptor *d = [self new];
    d.dataType = type;
    [d reshapeWithShape:shape];
    return d;
}
- (void)reshapeWithDimensionCount:(NSUInteger)count dimensionSizes:(const NSUInteger *)sizes {
    REQUIRE(count <= MOST, @"%lu dimensions are more than %d", count, MOST);
    _numberOfDimensions = count;
    for (NSUInteger i = 0; i < count; i++) {
        REQUIRE(sizes[i] > 0, @"dimension %lu has no elements", i);
        _sizes[i] = sizes[i];
    }
}
- (void)reshapeWithShape:(MPSShape *)shape {
    NSUInteger sizes[MOST], n = shape.count;
    REQUIRE(n <= MOST, @"%lu dimensions are more than %d", n, MOST);
    for (NSUInteger i = 0; i < n; i++) sizes[i] = shape[n - 1 - i].unsignedIntegerValue;
    [self reshapeWithDimensionCount:n dimensionSizes:sizes];
}
- (NSUInteger)lengthOfDimension:(NSUInteger)dimension {
    return dimension < _numberOfDimensions ? _sizes[dimension] : 1;
}
- (MPSShape *)getShape {
    NSMutableArray *shape = [NSMutableArray new];
    for (NSUInteger i = _numberOfDimensions; i > 0; i--) [shape addObject:@(_sizes[i - 1])];
    return shape;
}
@end

SHOWN @implementation MPSNDArray {
    NSUInteger _sizes[MOST];
  @public
    id<MTLBuffer> _buffer;
    NSUInteger _offset;
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor *)d {
    NSUInteger n = 1, size = MPSSizeofMPSDataType(d.dataType);
    REQUIRE(size, @"the descriptor has no type");
    if ((self = [super init])) {
        _dataType = d.dataType, _numberOfDimensions = d.numberOfDimensions;
        for (NSUInteger i = 0; i < MOST; i++) n *= _sizes[i] = [d lengthOfDimension:i];
        REQUIRE(offset % size == 0 && offset + n * size <= buffer.length,
                @"the buffer has %lu bytes, %lu at %lu are needed", buffer.length, n * size,
                offset);
        _buffer = buffer, _offset = offset, _device = buffer.device;
    }
    return self;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSNDArrayDescriptor *)d {
    NSUInteger n = MPSSizeofMPSDataType(d.dataType);
    for (NSUInteger i = 0; i < d.numberOfDimensions; i++) n *= [d lengthOfDimension:i];
    id<MTLBuffer> buffer = [device newBufferWithLength:MAX(n, 1u)
                                               options:MTLResourceStorageModeShared];
    return buffer ? [self initWithBuffer:buffer offset:0 descriptor:d] : nil;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device scalar:(double)value {
    float number = (float)value;
    NSUInteger one = 1;
    self = [self initWithDevice:device
                     descriptor:[MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32
                                                              dimensionCount:1
                                                              dimensionSizes:&one]];
    [self writeBytes:&number strideBytes:NULL];
    return self;
}
- (size_t)dataTypeSize {
    return MPSSizeofMPSDataType(_dataType);
}
- (NSUInteger)lengthOfDimension:(NSUInteger)dimension {
    return dimension < MOST ? _sizes[dimension] : 1;
}
- (MPSNDArrayDescriptor *)descriptor {
    return [MPSNDArrayDescriptor descriptorWithDataType:_dataType
                                         dimensionCount:_numberOfDimensions
                                         dimensionSizes:_sizes];
}
- (NSUInteger)resourceSize {
    return _buffer.allocatedSize;
}
- (id<MTLBuffer>)userBuffer {
    return _buffer;
}
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer {
    (void)commandBuffer;
}

// Element by element, unless the caller's memory has no gaps either.
- (void)copy:(char *)theirs strides:(const NSInteger *)strides out:(BOOL)out {
    size_t size = self.dataTypeSize, n = 1;
    char *ours = (char *)_buffer.contents + _offset;
    NSUInteger at[MOST] = {0};
    for (int i = 0; i < MOST; i++) n *= _sizes[i];
    if (!strides) {
        memcpy(out ? theirs : ours, out ? ours : theirs, n * size);
        return;
    }
    for (size_t e = 0; e < n; e++, ours += size) {
        char *place = theirs;
        for (NSUInteger i = 0; i < _numberOfDimensions; i++) place += strides[i] * (NSInteger)at[i];
        memcpy(out ? place : ours, out ? ours : place, size);
        for (int i = 0; i < MOST && ++at[i] == _sizes[i]; i++) at[i] = 0;
    }
}
- (void)readBytes:(void *)buffer strideBytes:(NSInteger *)strides {
    [self copy:buffer strides:strides out:YES];
}
- (void)writeBytes:(void *)buffer strideBytes:(NSInteger *)strides {
    [self copy:buffer strides:strides out:NO];
}
@end

// ---- Products ----

SHOWN @implementation MPSNDArrayMatrixMultiplication
- (instancetype)initWithDevice:(id<MTLDevice>)device {
    return [self initWithDevice:device sourceCount:2];
}
- (instancetype)initWithDevice:(id<MTLDevice>)device sourceCount:(NSUInteger)count {
    REQUIRE(count == 2, @"a product has 2 sources, not %lu", count);
    if ((self = [super initWithDevice:device])) _alpha = 1;
    return self;
}
- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSNDArrayMatrixMultiplication *copy = [super copyWithZone:zone device:device];
    copy->_alpha = _alpha, copy->_beta = _beta;
    return copy;
}
static NSUInteger stack_of(MPSNDArray *a) {
    NSUInteger n = 1;
    for (NSUInteger i = 2; i < a.numberOfDimensions; i++) n *= [a lengthOfDimension:i];
    return n;
}
static MPSOperand operand(MPSNDArray *a) {
    NSUInteger row = [a lengthOfDimension:0];
    return (MPSOperand){.buffer = a->_buffer,
                        .offset = a->_offset,
                        .row = row,
                        .matrix = stack_of(a) > 1 ? row * [a lengthOfDimension:1] : 0,
                        .type = a.dataType};
}
- (MPSNDArray *)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                         sourceArrays:(NSArray<MPSNDArray *> *)sources {
    REQUIRE(sources.count == 2, @"a product has 2 sources, not %lu", sources.count);
    MPSNDArray *a = sources[0], *b = sources[1];
    MPSNDArrayDescriptor *d = (stack_of(a) >= stack_of(b) ? a : b).descriptor;
    NSUInteger sizes[MOST], n = MAX(d.numberOfDimensions, 2u);
    for (NSUInteger i = 0; i < n; i++) sizes[i] = [d lengthOfDimension:i];
    sizes[0] = [b lengthOfDimension:0], sizes[1] = [a lengthOfDimension:1];
    [d reshapeWithDimensionCount:n dimensionSizes:sizes];
    MPSNDArray *result = [[MPSNDArray alloc] initWithDevice:self.device descriptor:d];
    double beta = _beta;
    _beta = 0; // there is nothing in it
    @try {
        [self encodeToCommandBuffer:commandBuffer sourceArrays:sources destinationArray:result];
    } @finally {
        _beta = beta;
    }
    return result;
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                 sourceArrays:(NSArray<MPSNDArray *> *)sources
             destinationArray:(MPSNDArray *)destination {
    REQUIRE(sources.count == 2, @"a product has 2 sources, not %lu", sources.count);
    MPSNDArray *a = sources[0], *b = sources[1];
    NSUInteger k = [a lengthOfDimension:0], n = stack_of(destination);
    REQUIRE([b lengthOfDimension:1] == k, @"%lu columns of the left meet %lu rows of the right", k,
            [b lengthOfDimension:1]);
    REQUIRE([destination lengthOfDimension:0] == [b lengthOfDimension:0] &&
                [destination lengthOfDimension:1] == [a lengthOfDimension:1],
            @"the destination must have %lu columns and %lu rows", [b lengthOfDimension:0],
            [a lengthOfDimension:1]);
    REQUIRE((stack_of(a) == n || stack_of(a) == 1) && (stack_of(b) == n || stack_of(b) == 1),
            @"stacks of %lu and %lu do not make one of %lu", stack_of(a), stack_of(b), n);
    MPSProduct p = {.m = [a lengthOfDimension:1],
                    .n = [b lengthOfDimension:0],
                    .k = k,
                    .count = n,
                    .a = operand(a),
                    .b = operand(b),
                    .c = operand(destination),
                    .alpha = _alpha,
                    .beta = _beta};
    REQUIRE(mps_encode_product(self, commandBuffer, &p),
            @"no product of types 0x%x and 0x%x to 0x%x", a.dataType, b.dataType,
            destination.dataType);
}
@end
