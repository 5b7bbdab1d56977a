// SPDX-License-Identifier: Apache-2.0
// test_metal4.m: Metal 4: the compiler, argument tables, a queue with feedback, a clear of a texture.
#include "face_test.h"

static NSString *const source = @"#include <metal_stdlib>\n"
                                 "using namespace metal;\n"
                                 "constant int factor [[function_constant(0)]];\n"
                                 "kernel void scale(device int *data [[buffer(0)]], uint i "
                                 "[[thread_position_in_grid]]) { data[i] *= factor; }\n";

static id<MTLComputePipelineState> pipeline(id<MTL4Compiler> compiler) {
    NSError *error = nil;
    MTL4LibraryDescriptor *text = [MTL4LibraryDescriptor new];
    text.source = source;
    id<MTLLibrary> library = [compiler newLibraryWithDescriptor:text error:&error];
    CHECK(library != nil && error == nil);
    MTL4LibraryFunctionDescriptor *plain = [MTL4LibraryFunctionDescriptor new];
    plain.library = library;
    plain.name = @"scale";
    int factor = 6;
    MTLFunctionConstantValues *values = [MTLFunctionConstantValues new];
    [values setConstantValue:&factor type:MTLDataTypeInt withName:@"factor"];
    MTL4SpecializedFunctionDescriptor *special = [MTL4SpecializedFunctionDescriptor new];
    special.functionDescriptor = plain;
    special.constantValues = values;
    MTL4ComputePipelineDescriptor *descriptor = [MTL4ComputePipelineDescriptor new];
    descriptor.computeFunctionDescriptor = special;
    descriptor.label = @"six times";
    id<MTLComputePipelineState> state = [compiler newComputePipelineStateWithDescriptor:descriptor
                                                                    compilerTaskOptions:nil
                                                                                  error:&error];
    if (!state) failures++, printf("%s\n", [[error localizedDescription] UTF8String]);
    RELEASE(descriptor);
    RELEASE(special);
    RELEASE(values);
    RELEASE(plain);
    RELEASE(library);
    RELEASE(text);
    return state;
}

static void body(id<MTLDevice> device) {
    NSError *error = nil;
    MTL4CompilerDescriptor *how = [MTL4CompilerDescriptor new];
    id<MTL4Compiler> compiler = [device newCompilerWithDescriptor:how error:&error];
    CHECK(compiler != nil && error == nil);
    id<MTLComputePipelineState> state = pipeline(compiler);
    id<MTLBuffer> data = [device newBufferWithBytes:(int[]){1, 2, 3, 4} length:16 options:0];
    MTLTextureDescriptor *shape =
        [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA8Unorm
                                                           width:4
                                                          height:4
                                                       mipmapped:NO];
    shape.usage = MTLTextureUsageRenderTarget;
    id<MTLTexture> texture = [device newTextureWithDescriptor:shape];
    MTL4ArgumentTableDescriptor *room = [MTL4ArgumentTableDescriptor new];
    room.maxBufferBindCount = 1;
    id<MTL4ArgumentTable> table = [device newArgumentTableWithDescriptor:room error:&error];
    [table setAddress:data.gpuAddress atIndex:0];
    MTLResidencySetDescriptor *which = [MTLResidencySetDescriptor new];
    id<MTLResidencySet> set = [device newResidencySetWithDescriptor:which error:&error];
    [set addAllocation:data];
    [set addAllocation:texture];
    [set commit];

    id<MTL4CommandQueue> queue = [device newMTL4CommandQueue];
    [queue addResidencySet:set];
    id<MTL4CommandAllocator> allocator = [device newCommandAllocator];
    id<MTL4CommandBuffer> commands = [device newCommandBuffer];
    [commands beginCommandBufferWithAllocator:allocator];
    id<MTL4ComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    [encoder setArgumentTable:table];
    [encoder dispatchThreads:MTLSizeMake(4, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [encoder endEncoding];
    MTL4RenderPassDescriptor *pass = [MTL4RenderPassDescriptor new];
    pass.colorAttachments[0].texture = texture;
    pass.colorAttachments[0].loadAction = MTLLoadActionClear;
    pass.colorAttachments[0].clearColor = MTLClearColorMake(0, 1, 0, 1);
    [[commands renderCommandEncoderWithDescriptor:pass] endEncoding];
    [commands endCommandBuffer];

    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    MTL4CommitOptions *options = [[MTL4CommitOptions alloc] init];
    [options addFeedbackHandler:^(id<MTL4CommitFeedback> feedback) {
      CHECK(feedback.error == nil);
      CHECK(feedback.GPUEndTime >= feedback.GPUStartTime);
      dispatch_semaphore_signal(done);
    }];
    const id<MTL4CommandBuffer> list[] = {commands};
    [queue commit:list count:1 options:options];
    id<MTLSharedEvent> event = [device newSharedEvent];
    [queue signalEvent:event value:1];
    CHECK([event waitUntilSignaledValue:1 timeoutMS:10000]);
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    CHECK_EQUAL(((int *)data.contents)[3], 24);
    uint32_t pixel = 0;
    [texture getBytes:&pixel bytesPerRow:16 fromRegion:MTLRegionMake2D(3, 3, 1, 1) mipmapLevel:0];
    CHECK_EQUAL(pixel, 0xff00ff00u);
    RELEASE(event);
    RELEASE(options);
    RELEASE(commands);
    RELEASE(allocator);
    RELEASE(queue);
    RELEASE(pass);
    RELEASE(set);
    RELEASE(which);
    RELEASE(table);
    RELEASE(room);
    RELEASE(texture);
    RELEASE(data);
    RELEASE(state);
    RELEASE(compiler);
    RELEASE(how);
#if !__has_feature(objc_arc)
    dispatch_release(done);
#endif
}

int main(void) { return run_tests(body); }
