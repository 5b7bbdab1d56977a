// SPDX-License-Identifier: Apache-2.0
// Eight threads make and drop objects, refer to them weakly, hang objects on them, throw, and send messages to a
// class whose methods change; then ten thousand rounds in which memory must not grow.
#include <objc/NSObject.h>
#include <objc/objc-arc.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "check.h"

enum { N_THREADS = 8, N_ROUNDS = 2000 };
static atomic_long born, dead, wrong;
@interface Thing : NSObject {
  @public
    id weak;
}
@property(retain) Thing *next;
- (long)value;
@end
@implementation Thing
+ (void)initialize {
    usleep(1000);
}
- (instancetype)init {
    atomic_fetch_add(&born, 1);
    return self;
}
- (long)value {
    return 1;
}
- (void)dealloc {
    objc_destroyWeak(&weak);
    [_next release];
    atomic_fetch_add(&dead, 1);
    [super dealloc];
}
@end
static long two(id self, SEL name) {
    (void)self, (void)name;
    return 2;
}

static Thing *shared;
static char key;
static void one_round(void) {
    Thing *a = [[Thing new] autorelease], *b = [Thing new];
    a.next = b;
    objc_storeWeak(&b->weak, a);
    id loaded = objc_loadWeakRetained(&b->weak);
    atomic_fetch_add(&wrong, loaded != a);
    objc_release(loaded);
    objc_setAssociatedObject(a, &key, [[Thing new] autorelease], OBJC_ASSOCIATION_RETAIN);
    [b release];
    @synchronized(shared) {
        shared.next = a;
    }
    long value = [shared.next value];
    atomic_fetch_add(&wrong, value != 1 && value != 2);
    @try {
        @throw a;
    } @catch (Thing *t) {
        atomic_fetch_add(&wrong, t != a);
    }
    void (^block)(void) = [[^{
      [a value];
    } copy] autorelease];
    block();
}
static void *run(void *unused) {
    (void)unused;
    for (int i = 0; i < N_ROUNDS; i++) @autoreleasepool {
            one_round();
        }
    return NULL;
}

static void *change_methods(void *stop) {
    Method m = class_getInstanceMethod([Thing class], @selector(value));
    IMP one = method_getImplementation(m);
    for (int i = 0; i < 200 && !atomic_load((atomic_bool *)stop); i++) {
        method_setImplementation(m, i % 2 ? one : (IMP)two);
        usleep(200);
    }
    method_setImplementation(m, one);
    return NULL;
}

int main(void) {
    atomic_bool stop = false;
    pthread_t threads[N_THREADS], changer;
    shared = [Thing new];
    pthread_create(&changer, NULL, change_methods, &stop);
    for (int i = 0; i < N_THREADS; i++) pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < N_THREADS; i++) pthread_join(threads[i], NULL);
    atomic_store(&stop, true);
    pthread_join(changer, NULL);
    shared.next = nil;
    CHECK_NUMBER(wrong, 0);
    CHECK_NUMBER(born, 1 + 3l * N_THREADS * N_ROUNDS);
    CHECK_NUMBER(dead, 3l * N_THREADS * N_ROUNDS);

    size_t before = 0;
    for (int i = 0; i < 11000; i++) {
        @autoreleasepool {
            one_round();
        }
        if (i == 1000) before = mallinfo2().uordblks;
    }
    shared.next = nil;
    CHECK(mallinfo2().uordblks <= before);
    [shared release];
    return check_result();
}
