// SPDX-License-Identifier: Apache-2.0
// compute.m: the first steps of computing with Metal: an object that has a pipeline and two
// buffers adds them element by element, and the program adds them once more.
//
//     ingot cc -fobjc-arc compute.m -o compute -framework Metal -framework Foundation
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <stdio.h>

static const NSUInteger count = 1 << 20;

@interface Adder : NSObject
- (instancetype)initWithDevice:(id<MTLDevice>)device error:(NSError **)error;
- (void)add;
- (NSUInteger)wrong; // results that the processor does not agree with
@end

@implementation Adder {
    id<MTLComputePipelineState> _pipeline;
    id<MTLCommandQueue> _queue;
    id<MTLBuffer> _left, _right, _sum;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device error:(NSError **)error {
    if (!(self = [super init])) return nil;
    NSString *source = @"#include <metal_stdlib>\n"
                        "kernel void add(device const float *a [[buffer(0)]],\n"
                        "                device const float *b [[buffer(1)]],\n"
                        "                device float *sum [[buffer(2)]],\n"
                        "                uint i [[thread_position_in_grid]]) {\n"
                        "    sum[i] = a[i] + b[i];\n"
                        "}\n";
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:error];
    id<MTLFunction> function = [library newFunctionWithName:@"add"];
    if (!function) return nil;
    _pipeline = [device newComputePipelineStateWithFunction:function error:error];
    if (!_pipeline) return nil;
    _queue = [device newCommandQueue];
    _left = [self randomBuffer:device];
    _right = [self randomBuffer:device];
    _sum = [device newBufferWithLength:count * sizeof(float) options:MTLResourceStorageModeShared];
    return self;
}

- (id<MTLBuffer>)randomBuffer:(id<MTLDevice>)device {
    id<MTLBuffer> buffer = [device newBufferWithLength:count * sizeof(float)
                                               options:MTLResourceStorageModeShared];
    float *values = buffer.contents;
    for (NSUInteger i = 0; i < count; i++) values[i] = (float)rand() / (float)RAND_MAX;
    return buffer;
}

- (void)add {
    id<MTLCommandBuffer> commands = [_queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:_pipeline];
    [encoder setBuffer:_left offset:0 atIndex:0];
    [encoder setBuffer:_right offset:0 atIndex:1];
    [encoder setBuffer:_sum offset:0 atIndex:2];
    NSUInteger wide = MIN(_pipeline.maxTotalThreadsPerThreadgroup, count);
    [encoder dispatchThreads:MTLSizeMake(count, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(wide, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
}

- (NSUInteger)wrong {
    const float *a = _left.contents, *b = _right.contents, *sum = _sum.contents;
    NSUInteger n = 0;
    for (NSUInteger i = 0; i < count; i++) n += sum[i] != a[i] + b[i];
    return n;
}
@end

int main(void) {
    @autoreleasepool {
        NSError *error = nil;
        id<MTLDevice> device = MTLCreateSystemDefaultDevice();
        Adder *adder = [[Adder alloc] initWithDevice:device error:&error];
        if (!adder) {
            NSLog(@"%@", error);
            return 1;
        }
        [adder add];
        NSUInteger wrong = [adder wrong];
        printf("%lu sums on %s, %lu wrong\n", count, device.name.UTF8String, wrong);
        return wrong != 0;
    }
}
