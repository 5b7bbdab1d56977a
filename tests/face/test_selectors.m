// SPDX-License-Identifier: Apache-2.0
// test_selectors.m: every message that back ends in daily use send to Metal's objects has a method: those of array
// libraries and of inference engines, in their own spelling.
#include "face_test.h"
#include <objc/runtime.h>

static const struct {
    const char *cls; // a protocol's class has "_" before its name
    const char *selectors;
} used[] = {
    {"_MTLDevice", "name maxBufferLength maxThreadgroupMemoryLength recommendedMaxWorkingSetSize "
                   "currentAllocatedSize hasUnifiedMemory "
                   "architecture supportsFamily: newCommandQueue "
                   "newCommandQueueWithMaxCommandBufferCount: newSharedEvent newFence newEvent "
                   "newBufferWithLength:options: newBufferWithBytes:length:options: "
                   "newBufferWithBytesNoCopy:length:options:deallocator: "
                   "newLibraryWithSource:options:error: newLibraryWithURL:error: "
                   "newLibraryWithFile:error: newLibraryWithData:error: "
                   "newDefaultLibrary newHeapWithDescriptor: newResidencySetWithDescriptor:error: "
                   "newComputePipelineStateWithFunction:error: "
                   "newComputePipelineStateWithDescriptor:options:reflection:error: "
                   "newIndirectCommandBufferWithDescriptor:maxCommandCount:options: "
                   "newTextureWithDescriptor: newSamplerStateWithDescriptor: "
                   "newArgumentEncoderWithArguments: newCounterSampleBufferWithDescriptor:error:"},
    {"_MTLLibrary", "newFunctionWithName: newFunctionWithName:constantValues:error: "
                    "newFunctionWithDescriptor:error: functionNames"},
    {"_MTLComputePipelineState",
     "maxTotalThreadsPerThreadgroup threadExecutionWidth staticThreadgroupMemoryLength label"},
    {"_MTLCommandQueue", "commandBuffer commandBufferWithUnretainedReferences addResidencySet: "
                         "addResidencySets:count: setLabel:"},
    {"_MTLCommandBuffer", "computeCommandEncoder computeCommandEncoderWithDispatchType: "
                          "blitCommandEncoder addCompletedHandler: addScheduledHandler: commit "
                          "enqueue waitUntilCompleted status error encodeWaitForEvent:value: "
                          "encodeSignalEvent:value: GPUStartTime GPUEndTime retainedReferences"},
    {"_MTLComputeCommandEncoder",
     "setComputePipelineState: setBuffer:offset:atIndex: setBytes:length:atIndex: "
     "setThreadgroupMemoryLength:atIndex: "
     "dispatchThreads:threadsPerThreadgroup: dispatchThreadgroups:threadsPerThreadgroup: "
     "memoryBarrierWithScope: updateFence: "
     "waitForFence: useResource:usage: useResources:count:usage: "
     "executeCommandsInBuffer:withRange: pushDebugGroup: popDebugGroup "
     "endEncoding setLabel:"},
    {"_MTLBlitCommandEncoder", "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size: "
                               "fillBuffer:range:value: updateFence: waitForFence: endEncoding"},
    {"_MTLBuffer",
     "contents length gpuAddress heap storageMode allocatedSize device setLabel: didModifyRange:"},
    {"_MTLHeap",
     "newBufferWithLength:options: maxAvailableSizeWithAlignment: setPurgeableState: usedSize"},
    {"_MTLSharedEvent", "signaledValue setSignaledValue: waitUntilSignaledValue:timeoutMS: "
                        "notifyListener:atValue:block:"},
    {"_MTLResidencySet", "addAllocation: removeAllocation: commit requestResidency endResidency"},
    {"_MTLIndirectCommandBuffer", "indirectComputeCommandAtIndex: resetWithRange:"},
    {"_MTLIndirectComputeCommand",
     "setComputePipelineState: setKernelBuffer:offset:atIndex: "
     "concurrentDispatchThreadgroups:threadsPerThreadgroup: setBarrier"},
    {"_MTLCaptureScope", "beginScope endScope"},
    {"MTLCaptureManager", "+sharedCaptureManager newCaptureScopeWithDevice: "
                          "startCaptureWithDescriptor:error: stopCapture"},
    {"MTLCaptureDescriptor",
     "setCaptureObject: setDestination: setOutputURL: captureObject destination outputURL"},
    {"MTLCompileOptions", "setPreprocessorMacros: setLanguageVersion: languageVersion "
                          "setFastMathEnabled: setMathMode: setEnableLogging:"},
    {"MTLFunctionConstantValues",
     "+alloc init setConstantValue:type:atIndex: setConstantValue:type:withName:"},
    {"MTLFunctionDescriptor",
     "+functionDescriptor setName: setSpecializedName: setConstantValues: setOptions:"},
    {"MTLLinkedFunctions",
     "+linkedFunctions setFunctions: setPrivateFunctions: setBinaryFunctions: setGroups:"},
    {"MTLComputePipelineDescriptor",
     "setComputeFunction: setLinkedFunctions: setLabel: setSupportIndirectCommandBuffers:"},
    {"MTLHeapDescriptor", "setSize: setResourceOptions: setStorageMode:"},
    {"MTLIndirectCommandBufferDescriptor",
     "setCommandTypes: setInheritBuffers: setInheritPipelineState: setMaxKernelBufferBindCount:"},
    {"MTLComputePipelineReflection", "arguments bindings"},
    // what they send to Foundation's
    {"NSObject", "retain release autorelease respondsToSelector: methodSignatureForSelector:"},
    {"NSString", "+stringWithCString:encoding: +stringWithUTF8String: UTF8String length"},
    {"NSError", "localizedDescription domain code"},
    {"NSArray", "+arrayWithObjects:count: objectAtIndex: count"},
    {"NSURL", "+fileURLWithPath: +URLWithString: path"},
    {"NSProcessInfo", "+processInfo arguments physicalMemory"},
};

static void body(id<MTLDevice> device) {
    (void)device;
    int n = 0;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        Class cls = objc_getClass(used[i].cls);
        if (!cls) failures++, printf("no class %s\n", used[i].cls);
        char names[2048], *rest = names;
        snprintf(names, sizeof names, "%s", used[i].selectors);
        for (char *one; cls && (one = strtok_r(rest, " ", &rest)); n++) {
            bool of_class = *one == '+';
            Class which = of_class ? object_getClass((id)cls) : cls;
            if (!class_respondsToSelector(which, sel_registerName(one + of_class)))
                failures++, printf("[%s %s] has no method\n", used[i].cls, one);
        }
    }
    CHECK(n > 120);
}

int main(void) { return run_tests(body); }
