// SPDX-License-Identifier: Apache-2.0
// NSLock.m: locks and conditions on POSIX ones.
#include "mac/foundation/foundation_int.h"
#include <pthread.h>

static struct timespec wall(NSDate *date) {
    double t = MAX(date.timeIntervalSince1970, 0.0);
    return (struct timespec){.tv_sec = (time_t)MIN(t, 4e9),
                             .tv_nsec = (long)((t - floor(t)) * 1e9)};
}
static void init_mutex(pthread_mutex_t *mutex, int type) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, type);
    pthread_mutex_init(mutex, &a);
    pthread_mutexattr_destroy(&a);
}

#define LOCK_CLASS(cls, type)                                                                      \
    @implementation cls {                                                                          \
        pthread_mutex_t _mutex;                                                                    \
        NSString *_name;                                                                           \
    }                                                                                              \
    @synthesize name = _name;                                                                      \
    -(instancetype)init {                                                                          \
        if ((self = [super init])) init_mutex(&_mutex, type);                                      \
        return self;                                                                               \
    }                                                                                              \
    -(void)dealloc {                                                                               \
        pthread_mutex_destroy(&_mutex);                                                            \
        [_name release];                                                                           \
        [super dealloc];                                                                           \
    }                                                                                              \
    -(void)lock {                                                                                  \
        if (pthread_mutex_lock(&_mutex))                                                           \
            [NSException raise:NSInternalInconsistencyException                                    \
                        format:@"*** -[%s lock]: deadlock (<%s: %p>)", #cls, #cls, (void *)self];  \
    }                                                                                              \
    -(void)unlock {                                                                                \
        if (pthread_mutex_unlock(&_mutex))                                                         \
            NSLog(@"*** -[%s unlock]: lock (<%s: %p>) unlocked when not locked", #cls, #cls,       \
                  (void *)self);                                                                   \
    }                                                                                              \
    -(BOOL)tryLock {                                                                               \
        return !pthread_mutex_trylock(&_mutex);                                                    \
    }                                                                                              \
    -(BOOL)lockBeforeDate : (NSDate *)limit {                                                      \
        struct timespec t = wall(limit);                                                           \
        return !pthread_mutex_timedlock(&_mutex, &t);                                              \
    }                                                                                              \
    @end
LOCK_CLASS(NSLock, PTHREAD_MUTEX_ERRORCHECK)
LOCK_CLASS(NSRecursiveLock, PTHREAD_MUTEX_RECURSIVE)

@implementation NSCondition {
    pthread_mutex_t _mutex;
    pthread_cond_t _changed;
    NSString *_name;
}
@synthesize name = _name;
- (instancetype)init {
    if ((self = [super init]))
        pthread_mutex_init(&_mutex, NULL), pthread_cond_init(&_changed, NULL);
    return self;
}
- (void)dealloc {
    pthread_mutex_destroy(&_mutex), pthread_cond_destroy(&_changed);
    [_name release];
    [super dealloc];
}
- (void)lock {
    pthread_mutex_lock(&_mutex);
}
- (void)unlock {
    pthread_mutex_unlock(&_mutex);
}
- (void)wait {
    pthread_cond_wait(&_changed, &_mutex);
}
- (BOOL)waitUntilDate:(NSDate *)limit {
    struct timespec t = wall(limit);
    return !pthread_cond_timedwait(&_changed, &_mutex, &t);
}
- (void)signal {
    pthread_cond_signal(&_changed);
}
- (void)broadcast {
    pthread_cond_broadcast(&_changed);
}
@end

@implementation NSConditionLock {
    NSCondition *_inner;
    NSInteger _condition;
    bool _locked;
    NSString *_name;
}
@synthesize name = _name;
- (instancetype)init {
    return [self initWithCondition:0];
}
- (instancetype)initWithCondition:(NSInteger)condition {
    if ((self = [super init])) _inner = [NSCondition new], _condition = condition;
    return self;
}
- (void)dealloc {
    [_inner release], [_name release];
    [super dealloc];
}
static BOOL lock_before(NSConditionLock *self, bool any, NSInteger condition, NSDate *limit) {
    BOOL free = YES;
    [self->_inner lock];
    while (free && (self->_locked || (!any && self->_condition != condition)))
        free = limit ? [self->_inner waitUntilDate:limit] : ([self->_inner wait], YES);
    if (free) self->_locked = true;
    [self->_inner unlock];
    return free;
}
- (NSInteger)condition {
    [_inner lock];
    NSInteger c = _condition;
    [_inner unlock];
    return c;
}
- (void)lock {
    lock_before(self, true, 0, nil);
}
- (void)lockWhenCondition:(NSInteger)condition {
    lock_before(self, false, condition, nil);
}
- (BOOL)lockWhenCondition:(NSInteger)condition beforeDate:(NSDate *)limit {
    return lock_before(self, false, condition, limit);
}
- (BOOL)tryLock {
    return lock_before(self, true, 0, NSDate.distantPast);
}
- (BOOL)tryLockWhenCondition:(NSInteger)condition {
    return lock_before(self, false, condition, NSDate.distantPast);
}
- (void)unlock {
    [self unlockWithCondition:_condition];
}
- (void)unlockWithCondition:(NSInteger)condition {
    [_inner lock];
    _locked = false, _condition = condition;
    [_inner broadcast];
    [_inner unlock];
}
@end
