// SPDX-License-Identifier: Apache-2.0
// NSOperation.m: operations and their queues. A queue keeps what waits in order and hands to
// libdispatch as many as may run at once; the end of one, or of one that another waits for, is when
// it looks again.
#include "mac/foundation/foundation_int.h"

@interface NSOperationQueue ()
- (void)look;
@end

typedef enum OperationState { WAITING, EXECUTING, FINISHED } OperationState;

@implementation NSOperation {
    NSCondition *_changed; // guards what follows
    OperationState _state;
    BOOL _cancelled;
    NSMutableArray<NSOperation *> *_before;
    NSMutableArray<NSOperationQueue *> *_watching; // queues with operations that wait for this one
}
- (instancetype)init {
    if ((self = [super init])) {
        _changed = [NSCondition new];
        _before = [NSMutableArray new], _watching = [NSMutableArray new];
        _qualityOfService = NSQualityOfServiceDefault;
    }
    return self;
}
- (void)dealloc {
    [_changed release], [_before release], [_watching release];
    [_completionBlock release], [_name release];
    [super dealloc];
}
- (void)main {
}
- (void)finish {
    [_changed lock];
    _state = FINISHED;
    NSArray *watching = AUTORELEASED([_watching copy]);
    [_watching removeAllObjects];
    [_changed broadcast];
    [_changed unlock];
    void (^then)(void) = self.completionBlock;
    if (then) dispatch_async(dispatch_get_global_queue(0, 0), then);
    for (NSOperationQueue *queue in watching) [queue look];
}
- (void)start {
    [_changed lock];
    const bool twice = _state != WAITING;
    _state = twice ? _state : EXECUTING;
    const BOOL cancelled = _cancelled;
    [_changed unlock];
    if (twice)
        [NSException raise:NSInvalidArgumentException
                    format:@"*** -[%@ start]: it was started before", [self class]];
    @try {
        @autoreleasepool {
            if (!cancelled) [self main];
        }
    } @finally {
        [self finish];
    }
}
- (void)cancel {
    [_changed lock];
    _cancelled = YES;
    [_changed unlock];
}
- (BOOL)isCancelled {
    return _cancelled;
}
- (BOOL)isExecuting {
    return _state == EXECUTING;
}
- (BOOL)isFinished {
    return _state == FINISHED;
}
- (void)addDependency:(NSOperation *)operation {
    nil_check(self, _cmd, operation);
    [_changed lock];
    [_before addObject:operation];
    [_changed unlock];
}
- (NSArray *)dependencies {
    [_changed lock];
    NSArray *before = AUTORELEASED([_before copy]);
    [_changed unlock];
    return before;
}
- (void)waitUntilFinished {
    [_changed lock];
    while (_state != FINISHED) [_changed wait];
    [_changed unlock];
}
// True when nothing it depends on is left; otherwise the queue is told of the end of what is.
- (bool)readyFor:(NSOperationQueue *)queue {
    bool ready = true;
    for (NSOperation *o in self.dependencies) { // more may come meanwhile
        [o->_changed lock];
        if (o->_state != FINISHED) {
            if ([o->_watching indexOfObjectIdenticalTo:queue] == NSNotFound)
                [o->_watching addObject:queue];
            ready = false;
        }
        [o->_changed unlock];
    }
    return ready;
}
@end

@implementation NSBlockOperation {
    NSMutableArray *_blocks;
}
+ (instancetype)blockOperationWithBlock:(void (^)(void))block {
    NSBlockOperation *o = AUTORELEASED([self new]);
    [o addExecutionBlock:block];
    return o;
}
- (instancetype)init {
    if ((self = [super init])) _blocks = [NSMutableArray new];
    return self;
}
- (void)dealloc {
    [_blocks release];
    [super dealloc];
}
- (void)addExecutionBlock:(void (^)(void))block {
    [_blocks addObject:AUTORELEASED([block copy])];
}
- (void)main {
    for (void (^block)(void) in _blocks) block();
}
@end

@implementation NSOperationQueue {
    NSCondition *_changed; // guards what follows
    NSMutableArray<NSOperation *> *_waiting;
    NSMutableArray<NSOperation *> *_running;
    dispatch_queue_t _on; // nil: any thread
    BOOL _suspended;
    NSInteger _most;
}
+ (NSOperationQueue *)mainQueue {
    static NSOperationQueue *one;
    static dispatch_once_t once;
    dispatch_once(&once, ^{
      one = [NSOperationQueue new];
      one->_on = dispatch_get_main_queue(), one->_most = 1;
    });
    return one;
}
- (instancetype)init {
    if ((self = [super init])) {
        _changed = [NSCondition new];
        _waiting = [NSMutableArray new], _running = [NSMutableArray new];
        _most = NSOperationQueueDefaultMaxConcurrentOperationCount;
        _qualityOfService = NSQualityOfServiceDefault;
    }
    return self;
}
- (void)dealloc {
    [_changed release], [_waiting release], [_running release], [_name release];
    [super dealloc];
}
- (void)runOne:(NSOperation *)operation {
    @try {
        [operation start];
    } @finally {
        [_changed lock];
        [_running removeObjectIdenticalTo:operation];
        [_changed broadcast];
        [_changed unlock];
        [self look];
    }
}
// Hands on what may run now.
- (void)look {
    for (;;) {
        NSOperation *next = nil;
        [_changed lock];
        if (!_suspended && (_most < 0 || _running.count < (NSUInteger)_most))
            for (NSOperation *o in _waiting)
                if ([o readyFor:self]) {
                    next = [[o retain] autorelease];
                    break;
                }
        if (next) {
            [_running addObject:next];
            [_waiting removeObjectIdenticalTo:next];
        }
        [_changed unlock];
        if (!next) return;
        dispatch_async(_on ? _on : dispatch_get_global_queue(0, 0), ^{
          [self runOne:next];
        });
    }
}
- (void)addOperation:(NSOperation *)operation {
    nil_check(self, _cmd, operation);
    [_changed lock];
    [_waiting addObject:operation];
    [_changed unlock];
    [self look];
}
- (void)addOperations:(NSArray *)operations waitUntilFinished:(BOOL)wait {
    for (NSOperation *o in operations) [self addOperation:o];
    for (NSOperation *o in wait ? operations : nil) [o waitUntilFinished];
}
- (void)addOperationWithBlock:(void (^)(void))block {
    [self addOperation:[NSBlockOperation blockOperationWithBlock:block]];
}
- (void)cancelAllOperations {
    [_changed lock];
    for (NSOperation *o in _waiting) [o cancel];
    for (NSOperation *o in _running) [o cancel];
    [_changed unlock];
}
- (void)waitUntilAllOperationsAreFinished {
    [_changed lock];
    while (_waiting.count + _running.count) [_changed wait];
    [_changed unlock];
}
- (NSUInteger)operationCount {
    [_changed lock];
    const NSUInteger n = _waiting.count + _running.count;
    [_changed unlock];
    return n;
}
- (NSInteger)maxConcurrentOperationCount {
    return _most;
}
- (void)setMaxConcurrentOperationCount:(NSInteger)n {
    [_changed lock];
    _most = n;
    [_changed unlock];
    [self look];
}
- (BOOL)isSuspended {
    return _suspended;
}
- (void)setSuspended:(BOOL)suspended {
    [_changed lock];
    _suspended = suspended;
    [_changed unlock];
    [self look];
}
@end
