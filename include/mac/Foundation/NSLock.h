// SPDX-License-Identifier: Apache-2.0
// Foundation/NSLock.h: locks, conditions.
#ifndef INGOT_MAC_FOUNDATION_NSLOCK_H
#define INGOT_MAC_FOUNDATION_NSLOCK_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSDate;
@protocol NSLocking
- (void)lock;
- (void)unlock;
@end
@interface NSLock : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)tryLock;
- (BOOL)lockBeforeDate:(NSDate *)limit;
@end
@interface NSRecursiveLock : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)tryLock;
- (BOOL)lockBeforeDate:(NSDate *)limit;
@end
@interface NSCondition : NSObject <NSLocking>
@property(copy) NSString *name;
- (void)wait;
- (BOOL)waitUntilDate:(NSDate *)limit;
- (void)signal;
- (void)broadcast;
@end
@interface NSConditionLock : NSObject <NSLocking>
@property(readonly) NSInteger condition;
@property(copy) NSString *name;
- (instancetype)initWithCondition:(NSInteger)condition;
- (void)lockWhenCondition:(NSInteger)condition;
- (BOOL)lockWhenCondition:(NSInteger)condition beforeDate:(NSDate *)limit;
- (BOOL)tryLock;
- (BOOL)tryLockWhenCondition:(NSInteger)condition;
- (void)unlockWithCondition:(NSInteger)condition;
@end
#endif
#endif
