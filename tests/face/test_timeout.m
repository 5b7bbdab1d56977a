// SPDX-License-Identifier: Apache-2.0
// test_timeout.m: a kernel without an end is ended, and the error says which, and what to do.
#include "face_test.h"
#include <stdlib.h>

static void body(id<MTLDevice> device) {
    id<MTLLibrary> library = compile(device, @"kernel void endless(device volatile int *x) {\n"
                                              "    while (x[0] == 0) {} }\n");
    id<MTLComputePipelineState> state = kernel(device, library, @"endless");
    id<MTLBuffer> buffer = [device newBufferWithLength:4 options:MTLResourceStorageModeShared];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQUAL(commands.status, MTLCommandBufferStatusError);
    CHECK_EQUAL(commands.error.code, MTLCommandBufferErrorTimeout);
    NSString *text = [commands.error localizedDescription];
    CHECK([text containsString:@"kernel 'endless'"] && [text containsString:@"INGOT_TIMEOUT_MS"]);
    RELEASE(queue);
    RELEASE(buffer);
    RELEASE(state);
    RELEASE(library);
}

int main(void) {
    setenv("INGOT_TIMEOUT_MS", "300", 1);
    return run_tests(body);
}
