// SPDX-License-Identifier: Apache-2.0
// mps_int.h: what the files of Metal Performance Shaders share: pipelines of a kernel, products.
#ifndef INGOT_MPS_INT_H
#define INGOT_MPS_INT_H
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#define SHOWN __attribute__((visibility("default")))

// Raises NSInvalidArgumentException "-[CLASS SELECTOR]: ..." unless the condition holds.
#define REQUIRE(condition, ...)                                                                    \
    do {                                                                                           \
        if (!(condition)) mps_refuse(self, _cmd, [NSString stringWithFormat:__VA_ARGS__]);         \
    } while (0)
void mps_refuse(id self, SEL _cmd, NSString *why) __attribute__((noreturn));

@interface MPSKernel ()
// Of a function in an embedded text; kept by the kernel under the name and the macros.
- (id<MTLComputePipelineState>)pipeline:(NSString *)function
                                   text:(const char *)text
                                 macros:(NSDictionary<NSString *, NSString *> *)macros;
@end

// A matrix, or a stack of them, in a buffer.
typedef struct MPSOperand {
    __unsafe_unretained id<MTLBuffer> buffer;
    NSUInteger offset; // in bytes
    NSUInteger row;    // in elements, from a row to the next
    NSUInteger matrix; // in elements, from a matrix to the next; 0: the same for all
    MPSDataType type;
    BOOL transposed;
} MPSOperand;
typedef struct MPSProduct {
    NSUInteger m, n, k, count; // count: of the stack
    MPSOperand a, b, c;
    double alpha, beta;
    BOOL vector; // n is 1, and rows of b and c are elements
} MPSProduct;
// NO: types that there is no product of.
BOOL mps_encode_product(MPSKernel *kernel, id<MTLCommandBuffer> commands, const MPSProduct *p);
#endif
