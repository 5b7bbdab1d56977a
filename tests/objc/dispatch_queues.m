// SPDX-License-Identifier: Apache-2.0
// libdispatch: order, barriers, sync, groups, semaphores, apply, once, after, data, many threads;
// counted as objects.
#import <Foundation/Foundation.h>
#include <stdatomic.h>
#include "check.h"

static void order(void) {
    dispatch_queue_t q = dispatch_queue_create("serial", DISPATCH_QUEUE_SERIAL);
    __block int last = -1, wrong = 0;
    for (int i = 0; i < 1000; i++)
        dispatch_async(q, ^{
          wrong += last + 1 != i, last = i;
        });
    dispatch_sync(q, ^{
      wrong += last != 999;
    });
    CHECK_NUMBER(wrong, 0);
    CHECK_TEXT(dispatch_queue_get_label(q), "serial");
    CHECK([(id)q isKindOfClass:NSClassFromString(@"OS_dispatch_queue")]);
    CHECK(dispatch_get_global_queue(12345, 0) == nil &&
          dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0) == dispatch_get_global_queue(0, 0));
    dispatch_suspend(q);
    __block atomic_int ran = 0;
    dispatch_async(q, ^{
      ran++;
    });
    usleep(20000);
    CHECK_NUMBER(ran, 0);
    dispatch_resume(q);
    dispatch_sync(q, ^{
                  });
    CHECK_NUMBER(ran, 1);
}

// A block that throws ends; the queue, its group and what comes behind it go on.
static void failing_blocks(void) {
    dispatch_queue_t q = dispatch_queue_create("failing", DISPATCH_QUEUE_SERIAL);
    dispatch_group_t group = dispatch_group_create();
    __block atomic_int ran = 0;
    for (int i = 0; i < 4; i++)
        dispatch_group_async(group, i % 2 ? q : dispatch_get_global_queue(0, 0), ^{
          ran++;
          @throw [NSException exceptionWithName:NSGenericException reason:@"no" userInfo:nil];
        });
    CHECK(dispatch_group_wait(group, dispatch_time(DISPATCH_TIME_NOW, 20000000000)) == 0);
    dispatch_sync(q, ^{
      ran++;
    });
    CHECK_NUMBER(ran, 5);
    dispatch_apply(8, dispatch_get_global_queue(0, 0), ^(size_t i) {
      ran++;
      if (i % 2) @throw @"any object";
    });
    CHECK_NUMBER(ran, 13);
    // A thread that waits for the block is who catches it; the queue is free again.
    NSString *caught = nil;
    @try {
        dispatch_sync(q, ^{
          @throw [NSException exceptionWithName:NSRangeException reason:@"mine" userInfo:nil];
        });
    } @catch (NSException *e) {
        caught = e.reason;
    }
    CHECK([caught isEqual:@"mine"]);
    dispatch_barrier_sync(q, ^{
      ran++;
    });
    CHECK_NUMBER(ran, 14);
}

static void barriers(void) {
    dispatch_queue_t q = dispatch_queue_create("concurrent", DISPATCH_QUEUE_CONCURRENT);
    static atomic_int readers, bad, barriers_run;
    for (int i = 0; i < 200; i++) {
        if (i % 10 == 9)
            dispatch_barrier_async(q, ^{
              bad += readers != 0;
              barriers_run++;
            });
        else
            dispatch_async(q, ^{
              readers++;
              usleep(50);
              readers--;
            });
    }
    dispatch_barrier_sync(q, ^{
                          });
    CHECK_NUMBER(bad, 0);
    CHECK_NUMBER(barriers_run, 20);
    dispatch_queue_t target = dispatch_queue_create("target", NULL);
    dispatch_queue_t a = dispatch_queue_create_with_target("a", NULL, target),
                     b = dispatch_queue_create_with_target("b", NULL, target);
    static atomic_int inside, overlaps;
    for (int i = 0; i < 100; i++)
        dispatch_async(i % 2 ? a : b, ^{
          overlaps += inside++ != 0;
          inside--;
        });
    dispatch_sync(a, ^{
                  });
    dispatch_sync(b, ^{
                  });
    dispatch_sync(target, ^{
                  });
    CHECK_NUMBER(overlaps, 0);
}

static void groups(void) {
    dispatch_group_t g = dispatch_group_create();
    static atomic_int n;
    for (int i = 0; i < 100; i++)
        dispatch_group_async(g, dispatch_get_global_queue(0, 0), ^{
          n++;
        });
    CHECK_NUMBER(dispatch_group_wait(g, DISPATCH_TIME_FOREVER), 0);
    CHECK_NUMBER(n, 100);
    dispatch_group_enter(g);
    CHECK(dispatch_group_wait(g, dispatch_time(DISPATCH_TIME_NOW, 1000000)) != 0);
    dispatch_semaphore_t notified = dispatch_semaphore_create(0);
    dispatch_group_notify(g, dispatch_get_global_queue(0, 0), ^{
      dispatch_semaphore_signal(notified);
    });
    CHECK(dispatch_semaphore_wait(notified, dispatch_time(DISPATCH_TIME_NOW, 1000000)) != 0);
    dispatch_group_leave(g);
    CHECK_NUMBER(dispatch_semaphore_wait(notified, DISPATCH_TIME_FOREVER), 0);
    CHECK(dispatch_semaphore_create(-1) == nil);
    CHECK(dispatch_semaphore_wait(notified, DISPATCH_TIME_NOW) != 0);
    dispatch_semaphore_signal(notified);
    CHECK_NUMBER(dispatch_semaphore_wait(notified, DISPATCH_TIME_NOW), 0);
}

static void once_and_apply(void) {
    static dispatch_once_t once;
    static atomic_int calls, late;
    static atomic_bool done;
    dispatch_apply(50, dispatch_get_global_queue(0, 0), ^(size_t i) {
      (void)i;
      dispatch_once(&once, ^{
        usleep(5000);
        calls++;
        done = true;
      });
      late += !done;
    });
    CHECK_NUMBER(calls, 1);
    CHECK_NUMBER(late, 0);
    static atomic_int hits[1000];
    dispatch_apply(1000, DISPATCH_APPLY_AUTO, ^(size_t i) {
      hits[i]++;
    });
    int wrong = 0;
    for (int i = 0; i < 1000; i++) wrong += hits[i] != 1;
    CHECK_NUMBER(wrong, 0);
    dispatch_apply(0, DISPATCH_APPLY_AUTO, ^(size_t i) {
      hits[i]++;
    });
    __block int sum = 0;
    dispatch_apply(10, dispatch_queue_create("s", NULL), ^(size_t i) {
      sum += (int)i;
    });
    CHECK_NUMBER(sum, 45);
    dispatch_semaphore_t s = dispatch_semaphore_create(0);
    NSDate *start = [NSDate date];
    dispatch_after(dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_MSEC),
                   dispatch_get_global_queue(0, 0), ^{
                     dispatch_semaphore_signal(s);
                   });
    dispatch_semaphore_wait(s, DISPATCH_TIME_FOREVER);
    CHECK(-start.timeIntervalSinceNow >= 0.019);
    CHECK(dispatch_time(DISPATCH_TIME_FOREVER, 5) == DISPATCH_TIME_FOREVER);
    dispatch_after(dispatch_walltime(NULL, 1000000), dispatch_get_global_queue(0, 0), ^{
      dispatch_semaphore_signal(s);
    });
    CHECK_NUMBER(dispatch_semaphore_wait(s, dispatch_walltime(NULL, 20 * (int64_t)NSEC_PER_SEC)),
                 0);
}

static void data(void) {
    CHECK((__bridge void *)dispatch_get_main_queue() == (void *)&_dispatch_main_q);
    dispatch_data_t copy = dispatch_data_create("hello", 5, nil, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    char *owned = malloc(6);
    memcpy(owned, " world", 6);
    dispatch_data_t second = dispatch_data_create(owned, 6, nil, DISPATCH_DATA_DESTRUCTOR_FREE);
    dispatch_data_t both = dispatch_data_create_concat(copy, second);
    dispatch_data_t part = dispatch_data_create_subrange(both, 3, 5);
    const void *bytes;
    size_t n;
    dispatch_data_t map = dispatch_data_create_map(part, &bytes, &n);
    CHECK(n == 5 && !memcmp(bytes, "lo wo", 5) && map);
    CHECK_NUMBER(dispatch_data_get_size(dispatch_data_empty), 0);
    CHECK_NUMBER(((NSData *)both).length, 11);
    dispatch_semaphore_t gone = dispatch_semaphore_create(0);
    @autoreleasepool {
        dispatch_data_t lent = dispatch_data_create("x", 1, dispatch_get_global_queue(0, 0), ^{
          dispatch_semaphore_signal(gone);
        });
        CHECK_NUMBER(dispatch_data_get_size(lent), 1);
    }
    CHECK_NUMBER(dispatch_semaphore_wait(gone, DISPATCH_TIME_FOREVER), 0);
}

static atomic_int dead;
@interface Captured : NSObject
@end
@implementation Captured
- (void)dealloc {
    dead++;
}
@end
static void counted(void) {
    static char key;
    @autoreleasepool {
        dispatch_queue_t q = dispatch_queue_create("q", NULL);
        dispatch_queue_set_specific(q, &key, (void *)5, NULL);
        for (int i = 0; i < 100; i++) {
            Captured *c = [Captured new];
            dispatch_async(q, ^{
              (void)c;
              CHECK(dispatch_get_specific(&key) == (void *)5);
            });
        }
        dispatch_sync(q, ^{
                      });
        __weak dispatch_queue_t weak = q;
        CHECK(weak == q);
    }
    for (int i = 0; i < 2000 && dead < 100; i++) usleep(1000);
    CHECK_NUMBER(dead, 100);
}

int main(void) {
    @autoreleasepool {
        order(), failing_blocks(), barriers(), groups(), once_and_apply(), data(), counted();
    }
    return check_result();
}
