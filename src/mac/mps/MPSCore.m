// SPDX-License-Identifier: Apache-2.0
// MPSCore.m: types, and the class of all kernels, which keeps its pipelines.
#include "mac/mps/mps_int.h"

SHOWN size_t MPSSizeofMPSDataType(MPSDataType type) { return ((type & 0xff) + 7) / 8; }
SHOWN BOOL MPSSupportsMTLDevice(id<MTLDevice> device) { return device != nil; }

void mps_refuse(id self, SEL _cmd, NSString *why) {
    @throw
        [NSException exceptionWithName:NSInvalidArgumentException
                                reason:[NSString stringWithFormat:@"-[%@ %@]: %@", [self class],
                                                                  NSStringFromSelector(_cmd), why]
                              userInfo:nil];
}

SHOWN @implementation MPSKernel {
    NSMutableDictionary<NSString *, id<MTLComputePipelineState>> *_pipelines;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device {
    if (!device) return nil;
    if ((self = [super init])) _device = device, _pipelines = [NSMutableDictionary new];
    return self;
}
- (id)copyWithZone:(NSZone *)zone {
    return [self copyWithZone:zone device:nil];
}
// What subclasses add to this they copy in the same way.
- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSKernel *copy = [[self.class allocWithZone:zone] initWithDevice:device ?: _device];
    copy.options = _options, copy.label = self.label;
    return copy;
}
- (id<MTLComputePipelineState>)pipeline:(NSString *)function
                                   text:(const char *)text
                                 macros:(NSDictionary<NSString *, NSString *> *)macros {
    NSString *key = [NSString stringWithFormat:@"%@ %@", function, macros];
    @synchronized(self) {
        id<MTLComputePipelineState> found = _pipelines[key];
        if (found) return found;
        NSError *error = nil;
        MTLCompileOptions *options = [MTLCompileOptions new];
        if (macros) options.preprocessorMacros = macros;
        id<MTLLibrary> library = [_device newLibraryWithSource:@(text)
                                                       options:options
                                                         error:&error];
        id<MTLFunction> made = [library newFunctionWithName:function];
        if (made) found = [_device newComputePipelineStateWithFunction:made error:&error];
        if (!found) // no compiler, or no memory: nothing of the caller's
            @throw [NSException exceptionWithName:NSInternalInconsistencyException
                                           reason:error.localizedDescription
                                         userInfo:nil];
        _pipelines[key] = found;
        return found;
    }
}
@end
