// SPDX-License-Identifier: Apache-2.0
// test_compute.m: libraries, pipelines, buffers, command buffers, blits, events, heaps, residency, counters.
#include "face_test.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "constant int factor [[function_constant(0)]];\n"
     "kernel void scale(device int *data [[buffer(0)]], constant int &more [[buffer(1)]],\n"
     "                  uint i [[thread_position_in_grid]]) { data[i] = data[i] * factor + more; "
     "}\n"
     "kernel void twice(device int *data [[buffer(0)]], uint i [[thread_position_in_grid]]) { "
     "data[i] *= 2; }\n"
     "struct Table { device int *a; device int *b; };\n"
     "kernel void through(constant Table &t [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
     "    t.b[i] = t.a[i] + 1; }\n"
     "struct In { float2 p [[attribute(1)]]; };\n"
     "struct Cell { half4 c; uint n; };\n"
     "kernel void shared_pixels(imageblock<Cell, imageblock_layout_explicit> b,\n"
     "                          texture2d<uint, access::write> t [[texture(0)]],\n"
     "                          ushort2 at [[thread_position_in_threadgroup]]) {\n"
     "    b.data(at)->n = 10 * at.y + at.x + 1;\n"
     "    threadgroup_barrier(mem_flags::mem_threadgroup_imageblock);\n"
     "    if (at.x + at.y == 0) t.write(b.slice(b.data(at)->n), ushort2(1, 0)); }\n"
     "kernel void fetched(In in [[stage_in]], device float *out [[buffer(0)]],\n"
     "                    uint i [[thread_position_in_grid]]) { out[i] = in.p.x - in.p.y; }\n";

static void libraries(id<MTLDevice> device) {
    NSError *error = (NSError *)@"not an error"; // a program may leave it uninitialised
    id<MTLLibrary> library = [device newLibraryWithSource:@"kernel void f() { int unused; }"
                                                  options:nil
                                                    error:&error];
    CHECK(library != nil && error == nil); // warnings are no error
    RELEASE(library);
    library = [device newLibraryWithSource:@"kernel void f( {" options:nil error:&error];
    CHECK(library == nil && error != nil);
    CHECK([error isKindOfClass:[NSError class]]);
    CHECK_TEXT([error domain], @"MTLLibraryErrorDomain");
    CHECK_EQUAL([error code], MTLLibraryErrorCompileFailure);
    CHECK([[error localizedDescription] length] > 10);
    CHECK([error userInfo][NSLocalizedDescriptionKey] != nil);
    MTLCompileOptions *options = [MTLCompileOptions new];
    options.preprocessorMacros = @{@"NAME" : @"chosen", @"VALUE" : @3};
    options.languageVersion = MTLLanguageVersion3_0;
    library = [device newLibraryWithSource:@"kernel void NAME(device int *p) { p[0] = VALUE; }"
                                   options:options
                                     error:&error];
    CHECK(library != nil && error == nil);
    CHECK_EQUAL([library.functionNames count], 1);
    CHECK_TEXT(library.functionNames[0], @"chosen");
    CHECK([library newFunctionWithName:@"other"] == nil);
    RELEASE(options);
    RELEASE(library);
}

static void constants_and_reflection(id<MTLDevice> device, id<MTLLibrary> library,
                                     id<MTLCommandQueue> queue) {
    NSError *error = nil;
    MTLFunctionConstantValues *values = [[MTLFunctionConstantValues alloc] init];
    int factor = 5, more = 7;
    [values setConstantValue:&factor type:MTLDataTypeInt atIndex:0];
    id<MTLFunction> function = [library newFunctionWithName:@"scale"
                                             constantValues:values
                                                      error:&error];
    CHECK(function != nil && error == nil);
    CHECK_EQUAL([function.functionConstantsDictionary count], 1);
    CHECK_EQUAL(function.functionType, MTLFunctionTypeKernel);
    MTLComputePipelineDescriptor *descriptor = [MTLComputePipelineDescriptor new];
    descriptor.computeFunction = function;
    descriptor.label = @"scaler";
    MTLComputePipelineReflection *reflection = nil;
    id<MTLComputePipelineState> state =
        [device newComputePipelineStateWithDescriptor:descriptor
                                              options:MTLPipelineOptionBindingInfo |
                                                      MTLPipelineOptionBufferTypeInfo
                                           reflection:&reflection
                                                error:&error];
    CHECK(state != nil && error == nil);
    CHECK_TEXT(state.label, @"scaler");
    CHECK_EQUAL([reflection.bindings count], 2);
    id<MTLBinding> binding = reflection.bindings[0];
    CHECK_TEXT(binding.name, @"data");
    CHECK([binding conformsToProtocol:@protocol(MTLBufferBinding)]);
    CHECK_EQUAL([(id<MTLBufferBinding>)binding bufferDataSize], 4);
    CHECK_EQUAL([(id<MTLBufferBinding>)binding bufferDataType], MTLDataTypeInt);

    id<MTLBuffer> data = [device newBufferWithBytes:(int[]){1, 2, 3, 4}
                                             length:16
                                            options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    [encoder setBuffer:data offset:0 atIndex:0];
    [encoder setBytes:&more length:sizeof more atIndex:1];
    [encoder dispatchThreads:MTLSizeMake(4, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQUAL(commands.status, MTLCommandBufferStatusCompleted);
    CHECK(commands.error == nil);
    CHECK_EQUAL(((int *)data.contents)[3], 27);
    RELEASE(data);
    RELEASE(state);
    RELEASE(descriptor);
    RELEASE(function);
    RELEASE(values);
}

static void handlers(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    __block int order = 0, scheduled = 0, completed = 0;
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    commands.label = @"empty";
    [commands addScheduledHandler:^(id<MTLCommandBuffer> buffer) {
      CHECK(buffer == commands);
      scheduled = ++order;
    }];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
      CHECK_TEXT(buffer.label, @"empty");
      CHECK_EQUAL(buffer.status, MTLCommandBufferStatusCompleted);
      completed = ++order;
      dispatch_semaphore_signal(done);
    }];
    [commands commit];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    [commands waitUntilCompleted];
    CHECK(scheduled == 1 && completed == 2);

    id<MTLFunction> function = [library newFunctionWithName:@"twice"];
    [device
        newComputePipelineStateWithFunction:function
                          completionHandler:^(id<MTLComputePipelineState> state, NSError *error) {
                            CHECK(state != nil && error == nil);
                            dispatch_semaphore_signal(done);
                          }];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    [device newLibraryWithSource:@"broken"
                         options:nil
               completionHandler:^(id<MTLLibrary> made, NSError *error) {
                 CHECK(made == nil && error != nil);
                 dispatch_semaphore_signal(done);
               }];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    RELEASE(function);
#if !__has_feature(objc_arc)
    dispatch_release(done);
#endif
}

static void memory_of_the_program(id<MTLDevice> device) {
    size_t page = 16384;
    void *memory = aligned_alloc(page, page);
    __block void *freed = NULL;
    id<MTLBuffer> buffer = [device newBufferWithBytesNoCopy:memory
                                                     length:page
                                                    options:MTLResourceStorageModeShared
                                                deallocator:^(void *pointer, NSUInteger length) {
                                                  CHECK_EQUAL(length, page);
                                                  freed = pointer;
                                                }];
    CHECK(buffer.contents == memory);
#if __has_feature(objc_arc)
    buffer = nil;
#else
    [buffer release];
#endif
    CHECK(freed == memory);
    free(memory);
}

static void blits(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    id<MTLBuffer> from = [device newBufferWithLength:256 options:0],
                  to = [device newBufferWithLength:256 options:0];
    MTLTextureDescriptor *shape =
        [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR8Unorm
                                                           width:16
                                                          height:16
                                                       mipmapped:NO];
    id<MTLTexture> texture = [device newTextureWithDescriptor:shape];
    CHECK_EQUAL(texture.width, 16);
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit fillBuffer:from range:NSMakeRange(0, 256) value:3];
    [blit copyFromBuffer:from
               sourceOffset:0
          sourceBytesPerRow:16
        sourceBytesPerImage:256
                 sourceSize:MTLSizeMake(16, 16, 1)
                  toTexture:texture
           destinationSlice:0
           destinationLevel:0
          destinationOrigin:MTLOriginMake(0, 0, 0)];
    [blit copyFromTexture:texture
                     sourceSlice:0
                     sourceLevel:0
                    sourceOrigin:MTLOriginMake(0, 0, 0)
                      sourceSize:MTLSizeMake(8, 16, 1)
                        toBuffer:to
               destinationOffset:0
          destinationBytesPerRow:16
        destinationBytesPerImage:256];
    [blit endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    unsigned char *bytes = to.contents, row[16];
    CHECK(bytes[0] == 3 && bytes[7] == 3 && bytes[8] == 0 && bytes[247] == 3);
    [texture getBytes:row bytesPerRow:16 fromRegion:MTLRegionMake2D(0, 15, 16, 1) mipmapLevel:0];
    CHECK(row[15] == 3);
    RELEASE(from);
    RELEASE(to);
    RELEASE(texture);
}

static void tensors_in_blits(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    id<MTLBuffer> from = [device newBufferWithLength:64 options:0],
                  to = [device newBufferWithLength:64 options:0];
    for (int i = 0; i < 16; i++) ((float *)from.contents)[i] = (float)i;
    NSInteger sizes[] = {4, 4}, steps[] = {1, 4}, one[] = {1, 1}, two[] = {2, 2};
    MTLTensorDescriptor *d = [MTLTensorDescriptor new];
    d.dimensions = [[MTLTensorExtents alloc] initWithRank:2 values:sizes];
    d.strides = [[MTLTensorExtents alloc] initWithRank:2 values:steps];
    d.dataType = MTLTensorDataTypeFloat32;
    id<MTLTensor> a = [from newTensorWithDescriptor:d offset:0 error:NULL],
                  b = [to newTensorWithDescriptor:d offset:0 error:NULL];
    MTLTensorExtents *at = [[MTLTensorExtents alloc] initWithRank:2 values:one],
                     *n = [[MTLTensorExtents alloc] initWithRank:2 values:two];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLBlitCommandEncoder> e = [commands blitCommandEncoder];
    [e barrierAfterQueueStages:MTLStageAll beforeStages:MTLStageBlit];
    [e copyFromTensor:a
                 sourceOrigin:at
             sourceDimensions:n
                     toTensor:b
            destinationOrigin:n
        destinationDimensions:n];
    [e endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.status == MTLCommandBufferStatusCompleted);
    CHECK_EQUAL(((float *)to.contents)[10], 5);
    CHECK_EQUAL(((float *)to.contents)[15], 10);
    CHECK_EQUAL(((float *)to.contents)[9], 0);
    RELEASE(a), RELEASE(b), RELEASE(at), RELEASE(n), RELEASE(from), RELEASE(to), RELEASE(d);
}

static void events(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    id<MTLSharedEvent> event = [device newSharedEvent];
    dispatch_queue_t notes = dispatch_queue_create("notes", DISPATCH_QUEUE_SERIAL);
    dispatch_semaphore_t heard = dispatch_semaphore_create(0);
    MTLSharedEventListener *listener = [[MTLSharedEventListener alloc] initWithDispatchQueue:notes];
    CHECK(listener.dispatchQueue == notes);
    [event notifyListener:listener
                  atValue:2
                    block:^(id<MTLSharedEvent> which, uint64_t value) {
                      CHECK(which == event && value >= 2);
                      dispatch_semaphore_signal(heard);
                    }];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands encodeWaitForEvent:event value:1];
    [commands encodeSignalEvent:event value:2];
    [commands commit];
    event.signaledValue = 1;
    dispatch_semaphore_wait(heard, DISPATCH_TIME_FOREVER);
    CHECK([event waitUntilSignaledValue:2 timeoutMS:1000]);
    CHECK_EQUAL(event.signaledValue, 2);
    [commands waitUntilCompleted];
    RELEASE(listener);
    RELEASE(event);
#if !__has_feature(objc_arc)
    dispatch_release(heard);
    dispatch_release(notes);
#endif
}

static void heaps(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    MTLHeapDescriptor *descriptor = [MTLHeapDescriptor new];
    descriptor.size = 1 << 20;
    descriptor.resourceOptions = MTLResourceStorageModeShared;
    id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
    id<MTLBuffer> buffer = [heap newBufferWithLength:1000 options:MTLResourceStorageModeShared];
    CHECK(buffer.heap == heap);
    CHECK(heap.usedSize >= 1000);
    NSError *error = (NSError *)@"garbage";
    MTLResidencySetDescriptor *residency = [MTLResidencySetDescriptor new];
    residency.label = @"resident";
    id<MTLResidencySet> set = [device newResidencySetWithDescriptor:residency error:&error];
    CHECK(set != nil && error == nil);
    [set addAllocation:buffer];
    [set addAllocation:heap];
    [set commit];
    [set requestResidency];
    [queue addResidencySet:set];
    CHECK_EQUAL([set.allAllocations count], 2);
    CHECK([set containsAllocation:buffer]);
    [queue removeResidencySet:set];
    RELEASE(set);
    RELEASE(residency);
    RELEASE(buffer);
    RELEASE(heap);
    RELEASE(descriptor);
}

static void pointers_in_buffers(id<MTLDevice> device, id<MTLLibrary> library,
                                id<MTLCommandQueue> queue) {
    id<MTLComputePipelineState> state = kernel(device, library, @"through");
    id<MTLBuffer> a = [device newBufferWithBytes:(int[]){10, 20} length:8 options:0],
                  b = [device newBufferWithLength:8 options:0];
    uint64_t table[2] = {a.gpuAddress, b.gpuAddress};
    id<MTLCommandBuffer> commands = [queue commandBufferWithUnretainedReferences];
    id<MTLComputeCommandEncoder> encoder =
        [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    [encoder setComputePipelineState:state];
    [encoder setBytes:table length:sizeof table atIndex:0];
    [encoder useResource:a usage:MTLResourceUsageRead];
    const id<MTLResource> used[] = {b};
    [encoder useResources:used count:1 usage:MTLResourceUsageWrite];
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
    [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQUAL(((int *)b.contents)[1], 21);
    RELEASE(a);
    RELEASE(b);
    RELEASE(state);
}

static void argument_encoders(id<MTLDevice> device, id<MTLLibrary> library,
                              id<MTLCommandQueue> queue) {
    id<MTLFunction> function = [library newFunctionWithName:@"through"];
    id<MTLComputePipelineState> state = kernel(device, library, @"through");
    id<MTLArgumentEncoder> arguments = [function newArgumentEncoderWithBufferIndex:0];
    id<MTLBuffer> table = [device newBufferWithLength:arguments.encodedLength options:0];
    id<MTLBuffer> a = [device newBufferWithBytes:(int[]){1, 2} length:8 options:0],
                  b = [device newBufferWithLength:8 options:0];
    [arguments setArgumentBuffer:table offset:0];
    id<MTLBuffer> buffers[] = {a, b};
    NSUInteger offsets[] = {0, 0};
    [arguments setBuffers:buffers offsets:offsets withRange:NSMakeRange(0, 2)];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    [encoder setBuffer:table offset:0 atIndex:0];
    [encoder useResources:(const id<MTLResource>[]){a, b}
                    count:2
                    usage:MTLResourceUsageRead | MTLResourceUsageWrite];
    [encoder dispatchThreads:MTLSizeMake(2, 1, 1) threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQUAL(((int *)b.contents)[1], 3);
    RELEASE(table);
    RELEASE(a);
    RELEASE(b);
    RELEASE(arguments);
    RELEASE(state);
    RELEASE(function);
}

static void indirect_commands(id<MTLDevice> device, id<MTLLibrary> library,
                              id<MTLCommandQueue> queue) {
    NSError *error = nil;
    MTLComputePipelineDescriptor *descriptor = [MTLComputePipelineDescriptor new];
    id<MTLFunction> function = [library newFunctionWithName:@"twice"];
    descriptor.computeFunction = function;
    descriptor.supportIndirectCommandBuffers = YES;
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithDescriptor:descriptor
                                                                              options:0
                                                                           reflection:nil
                                                                                error:&error];
    MTLIndirectCommandBufferDescriptor *shape = [MTLIndirectCommandBufferDescriptor new];
    shape.commandTypes = MTLIndirectCommandTypeConcurrentDispatch;
    shape.inheritBuffers = NO;
    shape.inheritPipelineState = NO;
    shape.maxKernelBufferBindCount = 1;
    id<MTLIndirectCommandBuffer> list = [device newIndirectCommandBufferWithDescriptor:shape
                                                                       maxCommandCount:2
                                                                               options:0];
    id<MTLBuffer> data = [device newBufferWithBytes:(int[]){1, 2, 3, 4} length:16 options:0];
    for (NSUInteger i = 0; i < 2; i++) {
        id<MTLIndirectComputeCommand> command = [list indirectComputeCommandAtIndex:i];
        [command setComputePipelineState:state];
        [command setKernelBuffer:data offset:8 * i atIndex:0];
        [command concurrentDispatchThreadgroups:MTLSizeMake(1, 1, 1)
                          threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
    }
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder useResource:data usage:MTLResourceUsageWrite];
    [encoder executeCommandsInBuffer:list withRange:NSMakeRange(0, 2)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.error == nil);
    CHECK_EQUAL(((int *)data.contents)[3], 8);
    RELEASE(data);
    RELEASE(list);
    RELEASE(shape);
    RELEASE(state);
    RELEASE(function);
    RELEASE(descriptor);
}

static void stage_inputs(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    NSError *error = nil;
    MTLStageInputOutputDescriptor *in = [MTLStageInputOutputDescriptor stageInputOutputDescriptor];
    CHECK_EQUAL(in.layouts[2].stepFunction, MTLStepFunctionPerVertex);
    in.attributes[1].format = MTLAttributeFormatUChar2;
    in.attributes[1].offset = 2;
    in.attributes[1].bufferIndex = 2;
    in.layouts[2].stride = 4;
    in.layouts[2].stepFunction = MTLStepFunctionThreadPositionInGridXIndexed;
    in.indexType = MTLIndexTypeUInt32;
    in.indexBufferIndex = 3;
    MTLComputePipelineDescriptor *descriptor = [MTLComputePipelineDescriptor new];
    id<MTLFunction> function = [library newFunctionWithName:@"fetched"];
    descriptor.computeFunction = function;
    id<MTLComputePipelineState> state =
        [device newComputePipelineStateWithDescriptor:descriptor
                                              options:MTLPipelineOptionNone
                                           reflection:nil
                                                error:&error];
    CHECK(state == nil && error != nil); // it has stage inputs
    descriptor.stageInputDescriptor = in;
    state = [device newComputePipelineStateWithDescriptor:descriptor
                                                  options:MTLPipelineOptionNone
                                               reflection:nil
                                                    error:&error];
    CHECK(state != nil && error == nil);
    const unsigned char bytes[16] = {0, 0, 9, 1, 0, 0, 20, 5, 0, 0, 7, 7, 0, 0, 200, 100};
    const uint32_t indices[4] = {1, 0, 2, 1};
    id<MTLBuffer> out = [device newBufferWithLength:16 options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    [encoder setBuffer:out offset:0 atIndex:0];
    [encoder setBytes:bytes length:sizeof bytes atIndex:2];
    [encoder setBytes:indices length:sizeof indices atIndex:3];
    [encoder setStageInRegion:MTLRegionMake1D(1, 3)];
    [encoder dispatchThreads:MTLSizeMake(4, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    const float *got = out.contents;
    CHECK(got[0] == 0 && got[1] == 15 && got[2] == 100 && got[3] == 0);
    RELEASE(out);
    RELEASE(state);
    RELEASE(function);
    RELEASE(descriptor);
}

static void imageblocks(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:@"shared_pixels"];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function
                                                                              error:&error];
    CHECK(state != nil && error == nil);
    CHECK_EQUAL([state imageblockMemoryLengthForDimensions:MTLSizeMake(3, 2, 1)], 96);
    MTLTextureDescriptor *d =
        [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Uint
                                                           width:5
                                                          height:2
                                                       mipmapped:NO];
    d.usage = MTLTextureUsageShaderWrite;
    d.width = 0;
    CHECK([device newTextureWithDescriptor:d] == nil);
    d.width = 5;
    id<MTLTexture> texture = [device newTextureWithDescriptor:d];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    [encoder setTexture:texture atIndex:0];
    [encoder setImageblockWidth:3 height:2];
    [encoder dispatchThreads:MTLSizeMake(3, 2, 1) threadsPerThreadgroup:MTLSizeMake(3, 2, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    uint32_t got[2][5];
    [texture getBytes:got
          bytesPerRow:sizeof got[0]
           fromRegion:MTLRegionMake2D(0, 0, 5, 2)
          mipmapLevel:0];
    const uint32_t wanted[2][5] = {{0, 1, 2, 3, 0}, {0, 11, 12, 13, 0}};
    CHECK(memcmp(got, wanted, sizeof got) == 0);
    RELEASE(texture);
    RELEASE(state);
    RELEASE(function);
}

static void counters(id<MTLDevice> device, id<MTLCommandQueue> queue) {
    id<MTLCounterSet> set = device.counterSets[0];
    CHECK_TEXT(set.name, MTLCommonCounterSetTimestamp);
    CHECK_TEXT([(id<MTLCounter>)set.counters[0] name], MTLCommonCounterTimestamp);
    MTLCounterSampleBufferDescriptor *descriptor = [MTLCounterSampleBufferDescriptor new];
    descriptor.counterSet = set;
    descriptor.sampleCount = 2;
    NSError *error = nil;
    id<MTLCounterSampleBuffer> samples = [device newCounterSampleBufferWithDescriptor:descriptor
                                                                                error:&error];
    MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
    pass.sampleBufferAttachments[0].sampleBuffer = samples;
    pass.sampleBufferAttachments[0].startOfEncoderSampleIndex = 0;
    pass.sampleBufferAttachments[0].endOfEncoderSampleIndex = 1;
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [[commands computeCommandEncoderWithDescriptor:pass] endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    NSData *data = [samples resolveCounterRange:NSMakeRange(0, 2)];
    CHECK_EQUAL([data length], 2 * sizeof(MTLCounterResultTimestamp));
    const MTLCounterResultTimestamp *times = [data bytes];
    CHECK(times && times[1].timestamp >= times[0].timestamp);
    RELEASE(samples);
    RELEASE(descriptor);
}

static void with_kernels(id<MTLDevice> device, id<MTLLibrary> library, id<MTLCommandQueue> queue) {
    constants_and_reflection(device, library, queue);
    handlers(device, library, queue);
    memory_of_the_program(device);
    blits(device, queue);
    tensors_in_blits(device, queue);
    events(device, queue);
    heaps(device, queue);
    pointers_in_buffers(device, library, queue);
    argument_encoders(device, library, queue);
    indirect_commands(device, library, queue);
    stage_inputs(device, library, queue);
    imageblocks(device, library, queue);
    counters(device, queue);
}

static void body(id<MTLDevice> device) {
    CHECK([device.name length] > 0);
    CHECK([device supportsFamily:MTLGPUFamilyApple7]);
    CHECK(device.hasUnifiedMemory);
    CHECK_EQUAL(device.maxThreadsPerThreadgroup.width, 1024);
    NSString *architecture = device.architecture.name; // programs read "14" from behind
    CHECK([architecture hasPrefix:@"ingot_"] && [architecture hasSuffix:@"_g14g"]);
    CHECK([device supportsFamily:MTLGPUFamilyApple8]);
    CHECK(![device supportsFamily:MTLGPUFamilyApple9]);
    libraries(device);
    with_library(device, source, with_kernels);
}

int main(void) { return run_tests(body); }
