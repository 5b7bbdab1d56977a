// SPDX-License-Identifier: Apache-2.0
// test_io.m: files through Objective-C: handles, a queue with scratch memory of the program's,
// handlers, events, compressed files by Apple's functions.
#include "face_test.h"

@interface Scratch : NSObject <MTLIOScratchBuffer>
@property(nonatomic, readonly, nullable) id<MTLBuffer> buffer;
@end
static int alive, made;
@implementation Scratch
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer {
    if ((self = [super init])) {
        _buffer = buffer;
        alive++;
    }
    return self;
}
- (void)dealloc {
    alive--;
#if !__has_feature(objc_arc)
    [_buffer release];
    [super dealloc];
#endif
}
@end

@interface Allocator : NSObject <MTLIOScratchBufferAllocator>
@property(nonatomic, strong) id<MTLDevice> device;
@end
@implementation Allocator
- (id<MTLIOScratchBuffer>)newScratchBufferWithMinimumSize:(NSUInteger)size {
    made++;
    return [[Scratch alloc] initWithBuffer:[self.device newBufferWithLength:size options:0]];
}
@end

static void body(id<MTLDevice> device) {
    NSString *path = [NSTemporaryDirectory() stringByAppendingPathComponent:@"ingot-face-io"];
    char text[4000], back[4000] = "";
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i / 100 % 26);
    CHECK(MTLIOCompressionContextDefaultChunkSize() > 0);
    MTLIOCompressionContext context =
        MTLIOCreateCompressionContext([path UTF8String], MTLIOCompressionMethodLZ4, 1024);
    CHECK(context != NULL);
    MTLIOCompressionContextAppendData(context, text, sizeof text);
    CHECK_EQUAL(MTLIOFlushAndDestroyCompressionContext(context), MTLIOCompressionStatusComplete);

    MTLIOCommandQueueDescriptor *how = [MTLIOCommandQueueDescriptor new];
    CHECK_EQUAL(how.priority, MTLIOPriorityNormal);
    CHECK_EQUAL(how.type, MTLIOCommandQueueTypeConcurrent);
    Allocator *allocator = [Allocator new];
    allocator.device = device;
    how.scratchBufferAllocator = allocator;
    NSError *error = nil;
    id<MTLIOCommandQueue> queue = [device newIOCommandQueueWithDescriptor:how error:&error];
    CHECK(queue != nil && error == nil);
    RELEASE(how);
    id<MTLIOFileHandle> file = [device newIOFileHandleWithURL:[NSURL fileURLWithPath:path]
                                            compressionMethod:MTLIOCompressionMethodLZ4
                                                        error:&error];
    CHECK(file != nil && error == nil);
    file.label = @"letters";
    CHECK_TEXT(file.label, @"letters");
    id<MTLIOCommandBuffer> commands = [queue commandBuffer];
    id<MTLSharedEvent> event = [device newSharedEvent];
    __block int handled = 0;
    [commands addCompletedHandler:^(id<MTLIOCommandBuffer> done) {
      handled = done.status == MTLIOStatusComplete;
    }];
    [commands loadBytes:back size:sizeof back sourceHandle:file sourceHandleOffset:0];
    [commands signalEvent:event value:7];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQUAL(commands.status, MTLIOStatusComplete);
    CHECK(commands.error == nil);
    CHECK_EQUAL(handled, 1);
    CHECK_EQUAL(event.signaledValue, 7);
    CHECK(memcmp(text, back, sizeof text) == 0);
    CHECK_EQUAL(made, 1);
    CHECK_EQUAL(alive, 0);

    CHECK([device newIOFileHandleWithURL:[NSURL fileURLWithPath:@"/no/such/file"]
                                   error:&error] == nil);
    CHECK_TEXT(error.domain, MTLIOErrorDomain);
    CHECK_EQUAL(error.code, MTLIOErrorURLInvalid);
    CHECK([device newIOFileHandleWithURL:[NSURL fileURLWithPath:path]
                       compressionMethod:MTLIOCompressionMethodLZFSE
                                   error:&error] == nil);
    CHECK([[error localizedDescription] rangeOfString:@"LZFSE"].location != NSNotFound);
    [[NSFileManager defaultManager] removeItemAtPath:path error:NULL];
    RELEASE(event), RELEASE(file), RELEASE(queue), RELEASE(allocator);
}

int main(void) { return run_tests(body); }
