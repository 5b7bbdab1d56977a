// SPDX-License-Identifier: Apache-2.0
// NSInvocation.m: signatures, messages as objects, and forwarding by forwardInvocation:.
#include "mac/foundation/foundation_int.h"
#import <objc/objc-ingot.h>
#include "mac/objc/invoke.h"

@implementation NSMethodSignature {
  @public
    char *_types;
    char **_parts; // result, then arguments; without offsets
    NSUInteger _count;
}
+ (NSMethodSignature *)signatureWithObjCTypes:(const char *)types {
    if (!types || !*types)
        [NSException raise:NSInvalidArgumentException
                    format:@"*** +[NSMethodSignature signatureWithObjCTypes:]: no types"];
    NSMethodSignature *s = [self new];
    s->_types = strdup(types), s->_count = objc_type_count(types);
    s->_parts = calloc(s->_count + 1, sizeof *s->_parts);
    const char *at = types;
    for (NSUInteger i = 0; i <= s->_count; i++) {
        const char *next = objc_type_skip(at), *end = next;
        while (end > at + 1 && (isdigit((unsigned char)end[-1]) || end[-1] == '-')) end--;
        s->_parts[i] = strndup(at, (size_t)(end - at));
        at = next;
    }
    return AUTORELEASED(s);
}
- (void)dealloc {
    for (NSUInteger i = 0; _parts && i <= _count; i++) free(_parts[i]);
    free(_parts), free(_types);
    [super dealloc];
}
- (NSUInteger)numberOfArguments {
    return _count;
}
- (NSUInteger)frameLength {
    return _count * 8;
}
- (const char *)methodReturnType {
    return _parts[0];
}
- (NSUInteger)methodReturnLength {
    return objc_type_size(_parts[0], NULL);
}
- (const char *)getArgumentTypeAtIndex:(NSUInteger)index {
    range_check(self, _cmd, index, _count);
    return _parts[index + 1];
}
- (BOOL)isOneway {
    return _parts[0][0] == 'V';
}
- (BOOL)isEqual:(id)other {
    return [other isKindOfClass:[NSMethodSignature class]] &&
           !strcmp(_types, ((NSMethodSignature *)other)->_types);
}
- (NSUInteger)hash {
    return _count;
}
@end

@implementation NSInvocation {
    NSMethodSignature *_signature;
    void **_values; // of arguments
    void *_result;
    BOOL _retained;
}
@synthesize methodSignature = _signature, argumentsRetained = _retained;
+ (NSInvocation *)invocationWithMethodSignature:(NSMethodSignature *)signature {
    nil_check(self, _cmd, signature);
    NSInvocation *v = [self new];
    v->_signature = [signature retain];
    v->_values = calloc(signature.numberOfArguments + 1, sizeof *v->_values);
    for (NSUInteger i = 0; i < signature.numberOfArguments; i++)
        v->_values[i] =
            calloc(1, MAX(objc_type_size([signature getArgumentTypeAtIndex:i], NULL), (size_t)16));
    v->_result = calloc(1, MAX(signature.methodReturnLength, (NSUInteger)16));
    return AUTORELEASED(v);
}
static bool is_object(NSMethodSignature *s, NSUInteger i) {
    return *objc_type_unqualified([s getArgumentTypeAtIndex:i]) == '@';
}
- (void)dealloc {
    for (NSUInteger i = 0; i < _signature.numberOfArguments; i++) {
        if (_retained && is_object(_signature, i)) [*(id *)_values[i] release];
        free(_values[i]);
    }
    free(_values), free(_result);
    [_signature release];
    [super dealloc];
}
- (void)retainArguments {
    for (NSUInteger i = 0; i < _signature.numberOfArguments && !_retained; i++)
        if (is_object(_signature, i)) *(id *)_values[i] = [*(id *)_values[i] retain];
    _retained = true;
}
- (void)getArgument:(void *)value atIndex:(NSInteger)index {
    range_check(self, _cmd, (NSUInteger)index, _signature.numberOfArguments);
    memcpy(value, _values[index],
           objc_type_size([_signature getArgumentTypeAtIndex:(NSUInteger)index], NULL));
}
- (void)setArgument:(void *)value atIndex:(NSInteger)index {
    range_check(self, _cmd, (NSUInteger)index, _signature.numberOfArguments);
    bool object = _retained && is_object(_signature, (NSUInteger)index);
    id old = object ? *(id *)_values[index] : nil;
    if (object) [*(id *)value retain];
    memcpy(_values[index], value,
           objc_type_size([_signature getArgumentTypeAtIndex:(NSUInteger)index], NULL));
    [old release];
}
- (void)getReturnValue:(void *)value {
    memcpy(value, _result, _signature.methodReturnLength);
}
- (void)setReturnValue:(void *)value {
    memcpy(_result, value, _signature.methodReturnLength);
}
- (id)target {
    return *(id *)_values[0];
}
- (void)setTarget:(id)target {
    [self setArgument:&target atIndex:0];
}
- (SEL)selector {
    return *(SEL *)_values[1];
}
- (void)setSelector:(SEL)selector {
    [self setArgument:&selector atIndex:1];
}
- (void)invoke {
    [self invokeWithTarget:self.target];
}
- (void)invokeWithTarget:(id)target {
    [self setTarget:target];
    memset(_result, 0, MAX(_signature.methodReturnLength, (NSUInteger)16));
    if (!target) return;
    IMP imp = class_getMethodImplementation(object_getClass(target), self.selector);
    if (!objc_frame_call(imp, _signature->_types, _values, _result))
        [NSException raise:NSInvalidArgumentException
                    format:@"*** -[NSInvocation invoke]: a type of %s cannot be passed",
                           _signature->_types];
}
// Called by the runtime for a message that no method answers.
static bool forward(id self, SEL selector, struct ObjcFrame *frame) {
    if (!class_respondsToSelector(object_getClass(self), @selector(methodSignatureForSelector:)))
        return false;
    NSMethodSignature *signature = [self methodSignatureForSelector:selector];
    if (!signature) return false;
    NSInvocation *v = [NSInvocation invocationWithMethodSignature:signature];
    if (!objc_frame_get(frame, signature->_types, v->_values)) return false;
    [self forwardInvocation:v];
    return objc_frame_set_result(frame, signature->_types, v->_result);
}
__attribute__((constructor(103))) static void start(void) { objc_ingot_set_forwarder(forward); }
@end

@implementation NSObject (Invocations)
static NSMethodSignature *signature_of(Class cls, SEL selector) {
    const char *types = method_getTypeEncoding(class_getInstanceMethod(cls, selector));
    return types && *types ? [NSMethodSignature signatureWithObjCTypes:types] : nil;
}
- (NSMethodSignature *)methodSignatureForSelector:(SEL)selector {
    return signature_of(object_getClass(self), selector);
}
+ (NSMethodSignature *)instanceMethodSignatureForSelector:(SEL)selector {
    return signature_of(self, selector);
}
- (void)forwardInvocation:(NSInvocation *)invocation {
    [self doesNotRecognizeSelector:invocation.selector];
}
@end
