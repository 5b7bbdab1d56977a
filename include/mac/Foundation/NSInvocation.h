// SPDX-License-Identifier: Apache-2.0
// Foundation/NSInvocation.h: messages as objects.
#ifndef INGOT_MAC_FOUNDATION_NSINVOCATION_H
#define INGOT_MAC_FOUNDATION_NSINVOCATION_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@interface NSMethodSignature : NSObject
@property(readonly) NSUInteger numberOfArguments;
@property(readonly) NSUInteger frameLength;
@property(readonly) const char *methodReturnType NS_RETURNS_INNER_POINTER;
@property(readonly) NSUInteger methodReturnLength;
+ (NSMethodSignature *)signatureWithObjCTypes:(const char *)types;
- (const char *)getArgumentTypeAtIndex:(NSUInteger)index NS_RETURNS_INNER_POINTER;
- (BOOL)isOneway;
@end
@interface NSInvocation : NSObject
@property(readonly, retain) NSMethodSignature *methodSignature;
@property(readonly) BOOL argumentsRetained;
@property(assign) id target;
@property SEL selector;
+ (NSInvocation *)invocationWithMethodSignature:(NSMethodSignature *)signature;
- (void)retainArguments;
- (void)getReturnValue:(void *)value;
- (void)setReturnValue:(void *)value;
- (void)getArgument:(void *)value atIndex:(NSInteger)index;
- (void)setArgument:(void *)value atIndex:(NSInteger)index;
- (void)invoke;
- (void)invokeWithTarget:(id)target;
@end
#endif
#endif
