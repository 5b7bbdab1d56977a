// SPDX-License-Identifier: Apache-2.0
// Automatic counting: strong and weak variables, fields, blocks, results, with exact numbers of deaths.
#include <objc/NSObject.h>
#include <objc/objc-ingot.h>
#include <Block.h>
#include <pthread.h>
#include <stdatomic.h>
#include "check.h"

static atomic_int deaths;
@interface Node : NSObject {
  @public
    Node *field;
}
@property(weak) Node *parent;
@property(strong, nonatomic) Node *child;
@property(copy) int (^action)(int);
- (Node *)made;
@end
__attribute__((noinline)) static id read_weak(Node *__weak *place) { return *place; }
@implementation Node
- (void)dealloc {
    __weak Node *me = self;
    CHECK(read_weak(&me) == nil); // it is dying
    atomic_fetch_add(&deaths, 1);
}
- (Node *)made {
    return [Node new];
}
@end

static void weak(void) {
    __weak Node *w;
    {
        Node *n = [Node new];
        w = n;
        CHECK(w == n);
        __weak Node *copy = w;
        CHECK(copy == n);
        w = copy;
    }
    CHECK(w == nil);
    CHECK_NUMBER(deaths, 1);
    Node *parent = [Node new];
    @autoreleasepool {
        parent.child = [Node new];
        parent.child.parent = parent;
        CHECK(parent.child.parent == parent);
    }
    parent = nil;
    CHECK_NUMBER(deaths, 3);
    Class cls = [Node class];
    __weak Class weak_class = cls;
    CHECK(weak_class == cls);
}

static void fields(void) {
    atomic_store(&deaths, 0);
    @autoreleasepool {
        Node *n = [Node new];
        n->field = [n made];
        n->field->field = [n made];
        n.child = n->field;
    }
    CHECK_NUMBER(deaths, 3);
}

static void blocks(void) {
    atomic_store(&deaths, 0);
    @autoreleasepool {
        Node *n = [Node new];
        __block Node *changed = nil;
        __weak Node *w = n;
        int k = 40;
        n.action = ^(int x) {
          changed = w.child;
          return x + k;
        };
        n.child = [Node new];
        CHECK_NUMBER(n.action(2), 42);
        CHECK(changed == n.child);
        int (^same)(int) = n.action;
        CHECK(same == n.action);
        CHECK([(id)same isKindOfClass:objc_getClass("NSBlock")]);
        CHECK_TEXT(object_getClassName((id)same), "__NSMallocBlock__");
        CHECK_TEXT(object_getClassName((id) ^ {}), "__NSGlobalBlock__");
        __weak id weak_block = (id)same;
        CHECK(weak_block == (id)same);
    }
    CHECK_NUMBER(deaths, 2);
}

// Weak loads while the last reference goes away elsewhere.
static id shared;
static __weak id shared_weak;
static atomic_bool stop;
static atomic_long seen;
static void *load(void *unused) {
    (void)unused;
    while (!atomic_load(&stop)) @autoreleasepool {
            Node *n = shared_weak;
            if (n && [n isKindOfClass:[Node class]]) atomic_fetch_add(&seen, 1);
        }
    return NULL;
}
static void race(void) {
    atomic_store(&deaths, 0);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, load, NULL);
    for (int i = 0; i < 20000; i++) {
        shared = [Node new];
        shared_weak = shared;
        shared = nil;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    CHECK_NUMBER(deaths, 20000);
    CHECK(shared_weak == nil);
}

// An object that refuses weak references: the place holds nil, and counts stay right.
static atomic_long refusing_count;
static void refusing_retain(void *o) { (void)o, atomic_fetch_add(&refusing_count, 1); }
static void refusing_release(void *o) { (void)o, atomic_fetch_sub(&refusing_count, 1); }
static bool refuse(void *o) { return (void)o, false; }
static void refused(void) {
    static const objc_ingot_counting counting = {refusing_retain, refusing_release, refuse, NULL};
    static void *record[OBJC_INGOT_CLASS_WORDS];
    static struct {
        void *isa;
    } object = {record};
    objc_ingot_adopt(record, "Refusing", [NSObject class], &counting);
    {
        id strong = (__bridge id)(void *)&object;
        __weak Node *place = nil;
        place = strong;
        id seen = place;
        CHECK([seen isKindOfClass:[NSObject class]] || !seen);
        CHECK(read_weak(&place) == nil);
    }
    CHECK_NUMBER(refusing_count, 0);
}

int main(void) {
    @autoreleasepool {
        weak();
    }
    fields();
    blocks();
    race();
    refused();
    return check_result();
}
