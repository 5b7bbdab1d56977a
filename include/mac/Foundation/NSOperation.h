// SPDX-License-Identifier: Apache-2.0
// Foundation/NSOperation.h: work in queues, on libdispatch.
#ifndef INGOT_MAC_FOUNDATION_NSOPERATION_H
#define INGOT_MAC_FOUNDATION_NSOPERATION_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
#include <Foundation/NSThread.h>
#include <dispatch/dispatch.h>
@class NSArray<ObjectType>, NSString;
@interface NSOperation : NSObject
- (void)start; // main, unless it was cancelled
- (void)main;
- (void)cancel;
- (void)addDependency:(NSOperation *)operation; // before it is in a queue
- (void)waitUntilFinished;
@property(readonly, getter=isCancelled) BOOL cancelled;
@property(readonly, getter=isExecuting) BOOL executing;
@property(readonly, getter=isFinished) BOOL finished;
@property(readonly, copy) NSArray<NSOperation *> *dependencies;
@property(copy) void (^completionBlock)(void);
@property(copy) NSString *name;
@property NSQualityOfService qualityOfService; // remembered
@end
@interface NSBlockOperation : NSOperation
+ (instancetype)blockOperationWithBlock:(void (^)(void))block;
- (void)addExecutionBlock:(void (^)(void))block;
@end
enum { NSOperationQueueDefaultMaxConcurrentOperationCount = -1 };
@interface NSOperationQueue : NSObject
@property(class, readonly, strong) NSOperationQueue *mainQueue;
- (void)addOperation:(NSOperation *)operation;
- (void)addOperations:(NSArray<NSOperation *> *)operations waitUntilFinished:(BOOL)wait;
- (void)addOperationWithBlock:(void (^)(void))block;
- (void)cancelAllOperations;
- (void)waitUntilAllOperationsAreFinished;
@property NSInteger maxConcurrentOperationCount;
@property(readonly) NSUInteger operationCount;
@property(getter=isSuspended) BOOL suspended;
@property(copy) NSString *name;
@property NSQualityOfService qualityOfService; // remembered
@end
#endif
#endif
