// SPDX-License-Identifier: Apache-2.0
// bench_objc.m: ns for a cached message, retain and release, a weak load, an object made and released; and
// for a dispatch of Metal's by messages, beside the C calls on the same objects.
// usage: bench_objc [threads]    threads: as in a process that has had more than one
#import <Metal/Metal.h>
#include <objc/NSObject.h>
#include <objc/objc-arc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "bench_objc.h"

@interface Thing : NSObject
- (void)nothing;
@end
@interface Below : Thing
@end
@implementation Thing
- (void)nothing {
}
@end
@implementation Below
- (void)nothing {
    [super nothing];
}
@end

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); // others may be at work on this machine
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
#define MEASURE(what, n, statement)                                                                \
    do {                                                                                           \
        double best = 1e30;                                                                        \
        for (int round = 0; round < 5; round++) {                                                  \
            double start = now();                                                                  \
            for (long i = 0; i < (n); i++) statement;                                              \
            double ns = (now() - start) / (double)(n);                                             \
            best = ns < best ? ns : best;                                                          \
        }                                                                                          \
        printf("%-28s %6.2f ns\n", what, best);                                                    \
    } while (0)

static void *nothing(void *unused) { return unused; }

// ---- Metal ----

enum { BATCH = 50, BATCHES = 100, DISPATCHES = 20000, ROUNDS = 7 };

static double thread_now(void) { // what others, and the workers, do meanwhile does not count
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static id commit(id<MTLCommandQueue> queue, id<MTLComputePipelineState> state,
                 id<MTLBuffer> buffer) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    return commands;
}

// Command buffers of a dispatch each, begun, encoded and committed: ns for one.
static double commits(bool messages, id<MTLCommandQueue> queue, id<MTLComputePipelineState> state,
                      id<MTLBuffer> buffer) {
    double ns = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        id<MTLCommandBuffer> last = nil;
        NSAutoreleasePool *pool = [NSAutoreleasePool new];
        double start = thread_now();
        for (int i = 0; i < BATCH; i++) {
            if (messages) {
                last = commit(queue, state, buffer);
                continue;
            }
            [last release];
            last = bench_c_commit(queue, state, buffer);
        }
        ns += thread_now() - start;
        [last waitUntilCompleted];
        if (!messages) [last release];
        [pool drain];
    }
    return ns / (BATCH * BATCHES);
}

// Dispatches of one encoder, with their buffer: ns for one.
static double dispatches(bool messages, id<MTLCommandQueue> queue,
                         id<MTLComputePipelineState> state, id<MTLBuffer> buffer) {
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    double start = thread_now();
    for (int i = 0; i < DISPATCHES; i++) {
        if (!messages) {
            bench_c_dispatch(encoder, buffer);
            continue;
        }
        [encoder setBuffer:buffer offset:0 atIndex:0];
        [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1)
                threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    }
    double ns = (thread_now() - start) / DISPATCHES;
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    [pool drain];
    return ns;
}

static void metal(void) {
    static const struct {
        const char *name;
        double (*run)(bool, id<MTLCommandQueue>, id<MTLComputePipelineState>, id<MTLBuffer>);
    } rows[] = {{"a command buffer, committed", commits},
                {"a dispatch and its buffer", dispatches}};
    NSError *error = nil;
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLLibrary> library =
        [device newLibraryWithSource:@"kernel void f(device int *p [[buffer(0)]]) { p[0] = 1; }"
                             options:nil
                               error:&error];
    id<MTLFunction> function = [library newFunctionWithName:@"f"];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function
                                                                              error:&error];
    id<MTLBuffer> buffer = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    if (!state) printf("%s\n", error.localizedDescription.UTF8String);
    for (size_t i = 0; state && i < sizeof rows / sizeof *rows; i++) {
        double best[2] = {1e30, 1e30}; // C, messages
        for (int round = 0; round < 2 * ROUNDS; round++) {
            double ns = rows[i].run(round & 1, queue, state, buffer);
            if (ns < best[round & 1]) best[round & 1] = ns;
        }
        printf("%-28s %6.0f ns in C, %6.0f ns with messages: %.2f\n", rows[i].name, best[0], best[1],
               best[1] / best[0]);
    }
    [queue release], [buffer release], [state release], [function release], [library release];
    [device release];
}

int main(int argc, char **argv) {
    pthread_t thread;
    if (argc > 1 && !strcmp(argv[1], "threads") && !pthread_create(&thread, NULL, nothing, NULL))
        pthread_join(thread, NULL); // from now on counting is atomic
    Thing *thing = [Thing new];
    Below *below = [Below new];
    id weak;
    objc_initWeak(&weak, thing);
    MEASURE("message", 20000000, [thing nothing]);
    MEASURE("message and super message", 20000000, [below nothing]);
    MEASURE("objc_retain + objc_release", 20000000, (objc_retain(thing), objc_release(thing)));
    MEASURE("[retain] + [release]", 20000000, ([thing retain], [thing release]));
    MEASURE("weak load + release", 5000000, objc_release(objc_loadWeakRetained(&weak)));
    MEASURE("new + release", 5000000, [[Thing new] release]);
    objc_destroyWeak(&weak);
    [thing release], [below release];
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    metal();
    [pool drain];
    return 0;
}
