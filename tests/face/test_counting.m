// SPDX-License-Identifier: Apache-2.0
// test_counting.m: libingot's objects under Objective-C's counting: weak references, associated
// objects, blocks that capture, threads, and loops that must not grow.
#include "face_test.h"
#include <objc/runtime.h>
#include <pthread.h>

#if __has_feature(objc_arc)
// Not inlined: the compiler would take what was stored for what is there.
__attribute__((noinline)) static bool is_nil(__weak id *place) { return *place == nil; }

static void weak_references(id<MTLDevice> device) {
    __weak id<MTLBuffer> weak = nil;
    __weak id<MTLComputeCommandEncoder> part = nil;
    @autoreleasepool {
        id<MTLBuffer> buffer = [device newBufferWithLength:16 options:0];
        weak = buffer;
        CHECK(weak == buffer);
        id<MTLCommandQueue> queue = [device newCommandQueue];
        id<MTLComputeCommandEncoder> encoder = [[queue commandBuffer] computeCommandEncoder];
        part = encoder; // ends with its command buffer, which alone is announced
        CHECK(part == encoder);
        [encoder endEncoding];
        CHECK(!is_nil((__weak id *)(void *)&part));
    }
    CHECK(is_nil((__weak id *)(void *)&weak));
    CHECK(is_nil((__weak id *)(void *)&part));
}
#else
static void weak_references(id<MTLDevice> device) {
    id weak = nil;
    id<MTLBuffer> buffer = [device newBufferWithLength:16 options:0];
    objc_storeWeak(&weak, buffer);
    CHECK(objc_loadWeak(&weak) == buffer);
    CHECK_EQUAL([buffer retainCount], 2); // the pool has one
    buffer = nil;
    CHECK(weak != nil);
    objc_storeWeak(&weak, nil);
}
#endif

static char key;
static void associated_objects(id<MTLDevice> device) {
    NSMutableArray *trace = [NSMutableArray array];
    @autoreleasepool {
        id<MTLBuffer> buffer = [device newBufferWithLength:16 options:0];
        objc_setAssociatedObject(buffer, &key, trace, OBJC_ASSOCIATION_RETAIN);
        CHECK(objc_getAssociatedObject(buffer, &key) == trace);
        RELEASE(buffer);
    }
    id<MTLBuffer> other = [device newBufferWithLength:16 options:0]; // perhaps at the same address
    CHECK(objc_getAssociatedObject(other, &key) == nil);
    RELEASE(other);
}

// Exceptions out of handlers: the command buffer is done all the same, and so is the next.
static void failing_handlers(id<MTLDevice> device) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    __block int called = 0;
    for (int i = 0; i < 3; i++) {
        @autoreleasepool {
            id<MTLCommandBuffer> commands = [queue commandBuffer];
            [commands addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
              called += buffer.status == MTLCommandBufferStatusCompleted;
              [NSException raise:NSGenericException format:@"handler %d fails", called];
            }];
            [commands commit];
            [commands waitUntilCompleted];
            CHECK_EQUAL(commands.status, MTLCommandBufferStatusCompleted);
        }
    }
    CHECK_EQUAL(called, 3);
    RELEASE(queue);
}

static size_t resident(void) {
    size_t pages = 0, all = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) CHECK(fscanf(f, "%zu %zu", &all, &pages) == 2), fclose(f);
    return pages * 4096;
}

static void one_round(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    @autoreleasepool {
        id<MTLBuffer> buffer = [device newBufferWithLength:4096 options:0];
        buffer.label = @"round";
        MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
        pass.colorAttachments[0].clearColor = MTLClearColorMake(0, 0, 0, 0);
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
        [blit fillBuffer:buffer range:NSMakeRange(0, 64) value:1];
        [blit endEncoding];
        [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
          (void)done, (void)buffer.length;
        }];
        [commands commit];
        [commands waitUntilCompleted];
        CHECK(((unsigned char *)buffer.contents)[63] == 1);
        NSError *error = nil;
        id<MTLLibrary> none =
            [device newLibraryWithData:(dispatch_data_t)[NSData dataWithBytes:"no" length:2]
                                 error:&error];
        CHECK(none == nil && error != nil);
        RELEASE(buffer);
    }
}

static void loops_do_not_grow(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    for (int i = 0; i < 500; i++) one_round(device, queue);
    size_t before = resident();
    for (int i = 0; i < 3000; i++) one_round(device, queue);
    size_t after = resident();
    if (after > before + (2 << 20))
        failures++, printf("3000 rounds took %zu KiB\n", (after - before) >> 10);
}

static __unsafe_unretained id<MTLDevice> shared_device;
static void *worker(void *unused) {
    @autoreleasepool {
        id<MTLCommandQueue> queue = [shared_device newCommandQueue];
        for (int i = 0; i < 200; i++) one_round(shared_device, queue);
        RELEASE(queue);
    }
    return unused;
}

static void threads(id<MTLDevice> device) {
    pthread_t all[8];
    shared_device = device;
    for (int i = 0; i < 8; i++) CHECK(pthread_create(&all[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 8; i++) pthread_join(all[i], NULL);
}

// Released once too often, as programs do that are written with the wrong count in mind; or not.
static void linked_functions(void) {
#if __has_feature(objc_arc)
    __weak MTLLinkedFunctions *first = nil;
#endif
    for (int i = 0; i < 1000; i++) {
        @autoreleasepool {
            MTLLinkedFunctions *made = [MTLLinkedFunctions linkedFunctions];
            MTLComputePipelineDescriptor *d = [[MTLComputePipelineDescriptor alloc] init];
            made.functions = @[];
            d.linkedFunctions = made;
#if __has_feature(objc_arc)
            if (i == 0) first = made;
#endif
            RELEASE(d);
            if (i % 2) RELEASE(made);
        }
    }
#if __has_feature(objc_arc)
    CHECK(first == nil); // what is spared goes
#endif
}

static void body(id<MTLDevice> device) {
    linked_functions();
    weak_references(device);
    associated_objects(device);
    failing_handlers(device);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    loops_do_not_grow(device, queue);
    RELEASE(queue);
    threads(device);
}

int main(void) { return run_tests(body); }
