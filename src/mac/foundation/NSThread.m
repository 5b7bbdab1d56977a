// SPDX-License-Identifier: Apache-2.0
// NSThread.m: threads, and the run loop as far as a window needs it: timers and the main queue.
#include "mac/foundation/foundation_int.h"
#include <pthread.h>

NSRunLoopMode const NSDefaultRunLoopMode = @"kCFRunLoopDefaultMode";
NSRunLoopMode const NSRunLoopCommonModes = @"kCFRunLoopCommonModes";
static pthread_t main_thread;
static pthread_key_t key; // the thread's object, retained
static void drop(void *thread) { [(id)thread release]; }
__attribute__((constructor(103))) static void start(void) {
    main_thread = pthread_self();
    pthread_key_create(&key, drop);
}

@implementation NSThread {
    NSString *_name;
    id _target, _argument;
    SEL _selector;
    void (^_block)(void);
    NSMutableDictionary *_dictionary;
    NSUInteger _stackSize;
    double _threadPriority;
    NSQualityOfService _qualityOfService;
    bool _main;
    _Atomic int _state; // 0: new, 1: runs, 2: is done
    _Atomic bool _cancelled;
}
@synthesize name = _name, stackSize = _stackSize, threadPriority = _threadPriority,
            qualityOfService = _qualityOfService;
+ (BOOL)isMainThread {
    return pthread_equal(pthread_self(), main_thread) != 0;
}
+ (BOOL)isMultiThreaded {
    return YES;
}
+ (NSThread *)currentThread {
    NSThread *thread = pthread_getspecific(key);
    if (self.isMainThread) return self.mainThread;
    if (!thread) {
        thread = [NSThread new];
        thread->_state = 1;
        pthread_setspecific(key, thread);
    }
    return thread;
}
+ (NSThread *)mainThread {
    static NSThread *one;
    static dispatch_once_t once;
    dispatch_once(&once, ^{
      one = [NSThread new], one->_main = true, one->_state = 1;
    });
    return one;
}
+ (void)detachNewThreadSelector:(SEL)selector toTarget:(id)target withObject:(id)argument {
    [AUTORELEASED([[NSThread alloc] initWithTarget:target selector:selector
                                            object:argument]) start];
}
+ (void)detachNewThreadWithBlock:(void (^)(void))block {
    [AUTORELEASED([[NSThread alloc] initWithBlock:block]) start];
}
+ (void)sleepForTimeInterval:(NSTimeInterval)seconds {
    if (seconds <= 0) return;
    struct timespec left = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    while (nanosleep(&left, &left) && errno == EINTR) {
    }
}
+ (void)sleepUntilDate:(NSDate *)date {
    [self sleepForTimeInterval:date.timeIntervalSinceNow];
}
- (instancetype)initWithTarget:(id)target selector:(SEL)selector object:(id)argument {
    if ((self = [super init]))
        _target = [target retain], _selector = selector, _argument = [argument retain];
    return self;
}
- (instancetype)initWithBlock:(void (^)(void))block {
    if ((self = [super init])) _block = [block copy];
    return self;
}
- (void)dealloc {
    [_name release], [_target release], [_argument release], [_block release],
        [_dictionary release];
    [super dealloc];
}
static void *thread_main(void *p) {
    NSThread *thread = p;
    pthread_setspecific(key, thread); // its reference is the thread's
    @autoreleasepool {
        [thread main];
    }
    thread->_state = 2;
    return NULL;
}
- (void)start {
    if (_state)
        [NSException raise:NSInvalidArgumentException
                    format:@"*** -[NSThread start]: attempt to start the thread again"];
    pthread_attr_t a;
    pthread_t id_;
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    if (_stackSize) pthread_attr_setstacksize(&a, _stackSize);
    _state = 1;
    [self retain];
    int problem = pthread_create(&id_, &a, thread_main, self);
    pthread_attr_destroy(&a);
    if (!problem) return;
    [self release];
    [NSException raise:NSInternalInconsistencyException
                format:@"*** -[NSThread start]: %s", strerror(problem)];
}
- (void)main {
    if (_block) _block();
    if (_target) [_target performSelector:_selector withObject:_argument];
}
- (void)cancel {
    _cancelled = true;
}
- (BOOL)isMainThread {
    return _main;
}
- (BOOL)isExecuting {
    return _state == 1;
}
- (BOOL)isFinished {
    return _state == 2;
}
- (BOOL)isCancelled {
    return _cancelled;
}
- (NSMutableDictionary *)threadDictionary {
    if (!_dictionary) _dictionary = [NSMutableDictionary new];
    return _dictionary;
}
@end

// ---- Timers ----

@interface NSTimer () {
  @public
    NSTimeInterval _interval;
    NSDate *_fireDate;
    id _target, _userInfo;
    SEL _selector;
    void (^_block)(NSTimer *);
    bool _repeats, _valid;
}
@end
@implementation NSTimer
@synthesize fireDate = _fireDate, tolerance = _tolerance, userInfo = _userInfo,
            timeInterval = _interval;
static NSTimer *new_timer(NSTimeInterval seconds, bool repeats) {
    NSTimer *t = [NSTimer new];
    t->_interval = MAX(seconds, 1e-4), t->_repeats = repeats, t->_valid = true;
    t->_fireDate = [[NSDate alloc] initWithTimeIntervalSinceNow:seconds];
    return AUTORELEASED(t);
}
+ (NSTimer *)timerWithTimeInterval:(NSTimeInterval)seconds
                           repeats:(BOOL)repeats
                             block:(void (^)(NSTimer *))block {
    NSTimer *t = new_timer(seconds, repeats);
    t->_block = [block copy];
    return t;
}
+ (NSTimer *)timerWithTimeInterval:(NSTimeInterval)seconds
                            target:(id)target
                          selector:(SEL)selector
                          userInfo:(id)info
                           repeats:(BOOL)repeats {
    NSTimer *t = new_timer(seconds, repeats);
    t->_target = [target retain], t->_selector = selector, t->_userInfo = [info retain];
    return t;
}
static NSTimer *scheduled(NSTimer *t) {
    [NSRunLoop.currentRunLoop addTimer:t forMode:NSDefaultRunLoopMode];
    return t;
}
+ (NSTimer *)scheduledTimerWithTimeInterval:(NSTimeInterval)seconds
                                    repeats:(BOOL)repeats
                                      block:(void (^)(NSTimer *))block {
    return scheduled([self timerWithTimeInterval:seconds repeats:repeats block:block]);
}
+ (NSTimer *)scheduledTimerWithTimeInterval:(NSTimeInterval)seconds
                                     target:(id)target
                                   selector:(SEL)selector
                                   userInfo:(id)info
                                    repeats:(BOOL)repeats {
    return scheduled([self timerWithTimeInterval:seconds
                                          target:target
                                        selector:selector
                                        userInfo:info
                                         repeats:repeats]);
}
- (void)dealloc {
    [_fireDate release], [_target release], [_userInfo release], [_block release];
    [super dealloc];
}
- (BOOL)isValid {
    return _valid;
}
- (void)fire {
    if (!_valid) return;
    [[self retain] autorelease];
    if (_repeats) self.fireDate = [NSDate dateWithTimeIntervalSinceNow:_interval];
    if (_block)
        _block(self);
    else
        [_target performSelector:_selector withObject:self];
    if (!_repeats) [self invalidate];
}
- (void)invalidate {
    _valid = false;
    [_target release], _target = nil;
}
@end

// ---- Run loops ----

@implementation NSRunLoop {
    NSMutableArray<NSTimer *> *_timers;
    NSMutableArray *_blocks;
    bool _main;
}
+ (NSRunLoop *)mainRunLoop {
    static NSRunLoop *one;
    static dispatch_once_t once;
    dispatch_once(&once, ^{
      one = [NSRunLoop new], one->_main = true;
    });
    return one;
}
+ (NSRunLoop *)currentRunLoop {
    if (NSThread.isMainThread) return self.mainRunLoop;
    NSMutableDictionary *d = NSThread.currentThread.threadDictionary;
    if (!d[@"NSRunLoop"]) d[@"NSRunLoop"] = AUTORELEASED([NSRunLoop new]);
    return d[@"NSRunLoop"];
}
- (instancetype)init {
    if ((self = [super init])) _timers = [NSMutableArray new], _blocks = [NSMutableArray new];
    return self;
}
- (void)dealloc {
    [_timers release], [_blocks release];
    [super dealloc];
}
- (void)addTimer:(NSTimer *)timer forMode:(NSRunLoopMode)mode {
    (void)mode;
    nil_check(self, _cmd, timer);
    @synchronized(self) {
        if ([_timers indexOfObjectIdenticalTo:timer] == NSNotFound) [_timers addObject:timer];
    }
    if (_main) dispatch_ingot_wake_main();
}
- (void)performBlock:(void (^)(void))block {
    @synchronized(self) {
        [_blocks addObject:AUTORELEASED([block copy])];
    }
    if (_main) dispatch_ingot_wake_main();
}
// Fires what is due; the date of the next timer, or nil.
static NSDate *fire_due(NSRunLoop *self, bool *fired) {
    NSArray *timers, *blocks;
    @synchronized(self) {
        timers = AUTORELEASED([self->_timers copy]), blocks = AUTORELEASED([self->_blocks copy]);
        [self->_blocks removeAllObjects];
    }
    for (void (^block)(void) in blocks) block(), *fired = true;
    NSDate *next = nil;
    for (NSTimer *t in timers) {
        if (t.valid && t.fireDate.timeIntervalSinceNow <= 0) [t fire], *fired = true;
        if (!t.valid) @synchronized(self) {
                [self->_timers removeObjectIdenticalTo:t];
            }
        else
            next = next ? [next earlierDate:t.fireDate] : t.fireDate;
    }
    return next;
}
- (BOOL)runMode:(NSRunLoopMode)mode beforeDate:(NSDate *)limit {
    (void)mode;
    bool did = false;
    @autoreleasepool {
        do { // until something happened or the time is up
            NSDate *next = fire_due(self, &did);
            if (did) break;
            NSDate *until = next ? [next earlierDate:limit] : limit;
            NSTimeInterval left = MAX(until.timeIntervalSinceNow, 0.0);
            dispatch_time_t when = left > 1e9
                                       ? DISPATCH_TIME_FOREVER
                                       : dispatch_time(DISPATCH_TIME_NOW, (int64_t)(left * 1e9));
            if (_main)
                did = dispatch_ingot_run_main(when);
            else if (!next)
                return NO; // nothing to wait for
            else
                [NSThread sleepForTimeInterval:MIN(left, 0.01)];
        } while (!did && limit.timeIntervalSinceNow > 0);
    }
    return YES;
}
- (void)runUntilDate:(NSDate *)limit {
    while ([self runMode:NSDefaultRunLoopMode beforeDate:limit] && limit.timeIntervalSinceNow > 0) {
    }
}
- (void)run {
    [self runUntilDate:NSDate.distantFuture];
}
@end
