// SPDX-License-Identifier: Apache-2.0
// face_test.h: what the Objective-C tests share. They build with ARC and without; RELEASE is
// nothing with ARC.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <stdio.h>
#include <string.h>

#if __has_feature(objc_arc)
#define RELEASE(object) ((void)(object))
#else
#define RELEASE(object) [(id)(object) release]
#endif

static int failures;
#define CHECK(condition)                                                                           \
    ((condition) ? (void)0                                                                         \
                 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))
#define CHECK_EQUAL(got, expected)                                                                 \
    do {                                                                                           \
        double got_ = (double)(got), expected_ = (double)(expected);                               \
        if (got_ != expected_)                                                                     \
            failures++, printf("%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #got, got_,  \
                               expected_);                                                         \
    } while (0)
#define CHECK_TEXT(got, expected)                                                                  \
    do {                                                                                           \
        NSString *got_ = (got);                                                                    \
        if (![got_ isEqualToString:(expected)])                                                    \
            failures++, printf("%s:%d: %s is '%s'\n", __FILE__, __LINE__, #got,                    \
                               got_ ? [got_ UTF8String] : "nil");                                  \
    } while (0)

static inline id<MTLLibrary> compile(id<MTLDevice> device, NSString *source) {
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
    if (!library) failures++, printf("%s\n", [[error localizedDescription] UTF8String]);
    CHECK(!library == !!error);
    return library;
}

static inline id<MTLComputePipelineState> kernel(id<MTLDevice> device, id<MTLLibrary> library,
                                                 NSString *name) {
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:name];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function
                                                                              error:&error];
    if (!state)
        failures++,
            printf("%s: %s\n", [name UTF8String], [[error localizedDescription] UTF8String]);
    RELEASE(function);
    return state;
}

// Tests that share a library and a queue.
static inline void with_library(id<MTLDevice> device, NSString *source,
                                void (*tests)(id<MTLDevice> device, id<MTLLibrary> library,
                                              id<MTLCommandQueue> queue)) {
    id<MTLLibrary> library = compile(device, source);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    CHECK(queue.device == device);
    tests(device, library, queue);
    RELEASE(queue);
    RELEASE(library);
}

// Every test: a device, a body, no failure.
static inline int run_tests(void (*body)(id<MTLDevice> device)) {
    @autoreleasepool {
        id<MTLDevice> device = MTLCreateSystemDefaultDevice();
        CHECK(device != nil);
        @autoreleasepool {
            body(device);
        }
        RELEASE(device);
    }
    if (failures) printf("%d checks failed\n", failures);
    return failures != 0;
}
