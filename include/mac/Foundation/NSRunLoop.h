// SPDX-License-Identifier: Apache-2.0
// Foundation/NSRunLoop.h: the loop of a thread: timers, and the main queue.
#ifndef INGOT_MAC_FOUNDATION_NSRUNLOOP_H
#define INGOT_MAC_FOUNDATION_NSRUNLOOP_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSDate, NSTimer;
typedef NSString *NSRunLoopMode;
FOUNDATION_EXPORT NSRunLoopMode const NSDefaultRunLoopMode;
FOUNDATION_EXPORT NSRunLoopMode const NSRunLoopCommonModes;
@interface NSRunLoop : NSObject
@property(class, readonly, retain) NSRunLoop *currentRunLoop;
@property(class, readonly, retain) NSRunLoop *mainRunLoop;
- (void)addTimer:(NSTimer *)timer forMode:(NSRunLoopMode)mode;
- (void)run;
- (void)runUntilDate:(NSDate *)limit;
- (BOOL)runMode:(NSRunLoopMode)mode beforeDate:(NSDate *)limit;
- (void)performBlock:(void (^)(void))block;
@end
@interface NSTimer : NSObject
@property(readonly) NSTimeInterval timeInterval;
@property(copy) NSDate *fireDate;
@property NSTimeInterval tolerance;
@property(readonly, getter=isValid) BOOL valid;
@property(readonly, retain) id userInfo;
+ (NSTimer *)timerWithTimeInterval:(NSTimeInterval)seconds
                           repeats:(BOOL)repeats
                             block:(void (^)(NSTimer *timer))block;
+ (NSTimer *)scheduledTimerWithTimeInterval:(NSTimeInterval)seconds
                                    repeats:(BOOL)repeats
                                      block:(void (^)(NSTimer *timer))block;
+ (NSTimer *)timerWithTimeInterval:(NSTimeInterval)seconds
                            target:(id)target
                          selector:(SEL)selector
                          userInfo:(id)info
                           repeats:(BOOL)repeats;
+ (NSTimer *)scheduledTimerWithTimeInterval:(NSTimeInterval)seconds
                                     target:(id)target
                                   selector:(SEL)selector
                                   userInfo:(id)info
                                    repeats:(BOOL)repeats;
- (void)fire;
- (void)invalidate;
@end
#endif
#endif
