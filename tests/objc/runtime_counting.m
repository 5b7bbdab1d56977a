// SPDX-License-Identifier: Apache-2.0
// Counting by hand: retain and release, pools, properties, associated objects, @synchronized, classes that
// count by methods of their own.
#include <objc/NSObject.h>
#include <objc/objc-arc.h>
#include <objc/objc-sync.h>
#include <pthread.h>
#include "check.h"

static int deaths;
@interface Thing : NSObject
@property(retain) Thing *atomicOne;
@property(nonatomic, retain) Thing *plainOne;
@property(copy) id copied;
@property struct {
    double a, b, c;
} values;
@end
@implementation Thing
- (void)dealloc {
    [self retain]; // harmless: the object is dying
    [self release];
    deaths++;
    [_atomicOne release], [_plainOne release], [_copied release];
    [super dealloc];
}
- (id)copyWithZone:(void *)zone {
    (void)zone;
    return [Thing new];
}
@end

static int retains;
@interface Counter : NSObject
@end
@implementation Counter
- (instancetype)retain {
    retains++;
    return [super retain];
}
- (oneway void)release {
    retains--;
    [super release];
}
@end

static void counting(void) {
    Thing *t = [Thing new];
    CHECK_NUMBER([t retainCount], 1);
    CHECK([t retain] == t);
    CHECK_NUMBER([t retainCount], 2);
    [t release];
    CHECK_NUMBER(deaths, 0);
    [t release];
    CHECK_NUMBER(deaths, 1);
    Class cls = [Thing class];
    CHECK([cls retain] == (id)cls && [cls autorelease] == (id)cls);
    [cls release];
    Counter *c = [Counter new];
    objc_retain(c);
    CHECK_NUMBER(retains, 1);
    objc_release(c);
    CHECK_NUMBER(retains, 0);
    [c release];
}

static void pools(void) {
    deaths = 0;
    void *outer = objc_autoreleasePoolPush();
    Thing *kept = [[Thing new] autorelease];
    @autoreleasepool {
        for (int i = 0; i < 1000; i++) [[Thing new] autorelease];
        CHECK_NUMBER(deaths, 0);
    }
    CHECK_NUMBER(deaths, 1000);
    CHECK_NUMBER([kept retainCount], 1);
    objc_autoreleasePoolPop(outer);
    CHECK_NUMBER(deaths, 1001);
}

static void properties(void) {
    deaths = 0;
    @autoreleasepool {
        Thing *t = [Thing new], *a = [Thing new], *b = [Thing new];
        t.atomicOne = a, t.plainOne = b, t.copied = a;
        CHECK(t.atomicOne == a && t.plainOne == b && t.copied != a);
        t.atomicOne = a; // itself again
        t.values = (__typeof(t.values)){1, 2, 3};
        CHECK_NUMBER(t.values.c, 3);
        [a release], [b release];
        CHECK_NUMBER(deaths, 0);
        [t release];
    }
    CHECK_NUMBER(deaths, 4);
}

static void associated(void) {
    deaths = 0;
    static char key, other;
    Thing *t = [Thing new], *value = [Thing new];
    objc_setAssociatedObject(t, &key, value, OBJC_ASSOCIATION_RETAIN);
    objc_setAssociatedObject(t, &other, value, OBJC_ASSOCIATION_ASSIGN);
    CHECK_NUMBER([value retainCount], 2);
    @autoreleasepool {
        CHECK(objc_getAssociatedObject(t, &key) == value);
        CHECK(objc_getAssociatedObject(t, &other) == value);
        CHECK(objc_getAssociatedObject(value, &key) == nil);
    }
    objc_setAssociatedObject(t, &key, nil, OBJC_ASSOCIATION_RETAIN);
    CHECK_NUMBER([value retainCount], 1);
    objc_setAssociatedObject(t, &key, value, OBJC_ASSOCIATION_COPY);
    CHECK_NUMBER([value retainCount], 1);
    [t release];
    CHECK_NUMBER(deaths, 2); // t and the copy
    [value release];
    objc_setAssociatedObject([Thing class], &key, nil, OBJC_ASSOCIATION_RETAIN);
}

static int shared_number;
static void *add(void *object) {
    for (int i = 0; i < 20000; i++) @synchronized((id)object) {
            @synchronized((id)object) {
                shared_number++;
            }
        }
    return NULL;
}
static void synchronized(void) {
    Thing *t = [Thing new];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, add, t);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    CHECK_NUMBER(shared_number, 80000);
    CHECK_NUMBER(objc_sync_exit(t), OBJC_SYNC_NOT_OWNING_THREAD_ERROR);
    CHECK_NUMBER(objc_sync_enter(nil), OBJC_SYNC_SUCCESS);
    [t release];
}

int main(void) {
    @autoreleasepool {
        counting();
    }
    pools();
    properties();
    associated();
    synchronized();
    return check_result();
}
