// SPDX-License-Identifier: Apache-2.0
// Foundation/NSException.h: exceptions and assertions.
#ifndef INGOT_MAC_FOUNDATION_NSEXCEPTION_H
#define INGOT_MAC_FOUNDATION_NSEXCEPTION_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSDictionary<KeyType, ObjectType>, NSArray<ObjectType>, NSNumber;
typedef NSString *NSExceptionName;
FOUNDATION_EXPORT NSExceptionName const NSGenericException;
FOUNDATION_EXPORT NSExceptionName const NSRangeException;
FOUNDATION_EXPORT NSExceptionName const NSInvalidArgumentException;
FOUNDATION_EXPORT NSExceptionName const NSInternalInconsistencyException;
FOUNDATION_EXPORT NSExceptionName const NSMallocException;
FOUNDATION_EXPORT NSExceptionName const NSObjectInaccessibleException;
FOUNDATION_EXPORT NSExceptionName const NSUndefinedKeyException;
@interface NSException : NSObject <NSCopying, NSSecureCoding>
@property(readonly, copy) NSExceptionName name;
@property(readonly, copy) NSString *reason;
@property(readonly, copy) NSDictionary *userInfo;
@property(readonly, copy) NSArray<NSNumber *> *callStackReturnAddresses;
@property(readonly, copy) NSArray<NSString *> *callStackSymbols;
+ (NSException *)exceptionWithName:(NSExceptionName)name
                            reason:(NSString *)reason
                          userInfo:(NSDictionary *)info;
+ (void)raise:(NSExceptionName)name
       format:(NSString *)format, ... NS_FORMAT_FUNCTION(2, 3)__attribute__((noreturn));
+ (void)raise:(NSExceptionName)name
       format:(NSString *)format
    arguments:(va_list)arguments __attribute__((noreturn));
- (instancetype)initWithName:(NSExceptionName)name
                      reason:(NSString *)reason
                    userInfo:(NSDictionary *)info;
- (void)raise __attribute__((noreturn));
@end
typedef void NSUncaughtExceptionHandler(NSException *exception);
FOUNDATION_EXPORT NSUncaughtExceptionHandler *NSGetUncaughtExceptionHandler(void);
FOUNDATION_EXPORT void NSSetUncaughtExceptionHandler(NSUncaughtExceptionHandler *handler);
FOUNDATION_EXPORT void NSAssertionFailed(const char *function, const char *file, int line,
                                         NSString *format, ...) NS_FORMAT_FUNCTION(4, 5)
    __attribute__((noreturn));
#if defined(NS_BLOCK_ASSERTIONS)
#define NSAssert(condition, ...) ((void)0)
#define NSCAssert(condition, ...) ((void)0)
#else
#define NSAssert(condition, ...)                                                                   \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0))                                                     \
            NSAssertionFailed(__PRETTY_FUNCTION__, __FILE__, __LINE__, __VA_ARGS__);               \
    } while (0)
#define NSCAssert(condition, ...) NSAssert(condition, __VA_ARGS__)
#endif
#define NSAssert1(condition, ...) NSAssert(condition, __VA_ARGS__)
#define NSAssert2(condition, ...) NSAssert(condition, __VA_ARGS__)
#define NSCAssert1(condition, ...) NSAssert(condition, __VA_ARGS__)
#define NSParameterAssert(condition)                                                               \
    NSAssert((condition), @"Invalid parameter not satisfying: %s", #condition)
#define NSCParameterAssert(condition) NSParameterAssert(condition)
#endif
#endif
