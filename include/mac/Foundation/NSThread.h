// SPDX-License-Identifier: Apache-2.0
// Foundation/NSThread.h: threads.
#ifndef INGOT_MAC_FOUNDATION_NSTHREAD_H
#define INGOT_MAC_FOUNDATION_NSTHREAD_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSDate, NSMutableDictionary<KeyType, ObjectType>;
typedef NS_ENUM(NSInteger, NSQualityOfService) {
    NSQualityOfServiceUserInteractive = 0x21,
    NSQualityOfServiceUserInitiated = 0x19,
    NSQualityOfServiceUtility = 0x11,
    NSQualityOfServiceBackground = 0x09,
    NSQualityOfServiceDefault = -1
};
@interface NSThread : NSObject
@property(class, readonly, retain) NSThread *currentThread;
@property(class, readonly, retain) NSThread *mainThread;
@property(class, readonly) BOOL isMainThread;
@property(readonly) BOOL isMainThread;
@property(copy) NSString *name;
@property NSUInteger stackSize;
@property double threadPriority;
@property NSQualityOfService qualityOfService;
@property(readonly, retain) NSMutableDictionary *threadDictionary;
@property(readonly, getter=isExecuting) BOOL executing;
@property(readonly, getter=isFinished) BOOL finished;
@property(readonly, getter=isCancelled) BOOL cancelled;
+ (void)detachNewThreadSelector:(SEL)selector toTarget:(id)target withObject:(id)argument;
+ (void)detachNewThreadWithBlock:(void (^)(void))block;
+ (void)sleepForTimeInterval:(NSTimeInterval)seconds;
+ (void)sleepUntilDate:(NSDate *)date;
+ (BOOL)isMultiThreaded;
- (instancetype)initWithTarget:(id)target selector:(SEL)selector object:(id)argument;
- (instancetype)initWithBlock:(void (^)(void))block;
- (void)start;
- (void)cancel;
- (void)main;
@end
#endif
#endif
