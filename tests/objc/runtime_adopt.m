// SPDX-License-Identifier: Apache-2.0
// Objects of a library in C that are Objective-C objects (objc/objc-ingot.h): the record of their class is
// the class, their own count is the count, and weak references end with them.
#include <objc/NSObject.h>
#include <objc/objc-arc.h>
#include <objc/objc-ingot.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "check.h"

typedef struct Record {
    void *objc[OBJC_INGOT_CLASS_WORDS];
    const char *name;
} Record;
typedef struct Buffer {
    const Record *record;
    atomic_size_t refs;
    int length;
} Buffer;
static Record record = {.name = "FakeBuffer"};
static int destroyed;

static void retain(void *p) { atomic_fetch_add(&((Buffer *)p)->refs, 1); }
static void release(void *p) {
    if (atomic_fetch_sub(&((Buffer *)p)->refs, 1) != 1) return;
    objc_ingot_destroyed(p);
    destroyed++;
    free(p);
}
static bool try_retain(void *p) {
    size_t n = atomic_load(&((Buffer *)p)->refs);
    while (n)
        if (atomic_compare_exchange_weak(&((Buffer *)p)->refs, &n, n + 1)) return true;
    return false;
}
static size_t count(void *p) { return atomic_load(&((Buffer *)p)->refs); }
static Buffer *new_buffer(int length) {
    Buffer *b = calloc(1, sizeof *b);
    b->record = &record, b->length = length;
    atomic_init(&b->refs, 1);
    return b;
}
static unsigned long length(id self, SEL name) {
    (void)name;
    return (unsigned long)((Buffer *)self)->length;
}

@protocol Buffering
- (unsigned long)length;
@end

int main(void) {
    static const objc_ingot_counting counting = {retain, release, try_retain, count};
    static const objc_ingot_method methods[] = {{"-length", (IMP)length, "Q16@0:8"},
                                                {NULL, NULL, NULL}};
    Class cls = objc_ingot_adopt(&record, record.name, [NSObject class], &counting);
    CHECK(cls == (Class)&record && objc_getClass("FakeBuffer") == cls);
    CHECK(objc_ingot_adopt(&(Record){0}, "FakeBuffer", [NSObject class], NULL) == Nil);
    objc_ingot_add_methods(cls, methods);
    class_addProtocol(cls, @protocol(Buffering));

    Buffer *b = new_buffer(64);
    id<Buffering, NSObject> object = (id)b;
    CHECK_NUMBER([object length], 64);
    CHECK([object class] == cls && [object isKindOfClass:[NSObject class]]);
    CHECK([object conformsToProtocol:@protocol(Buffering)] &&
          [object respondsToSelector:@selector(length)]);
    [object retain];
    objc_retain(object);
    CHECK_NUMBER(b->refs, 3);
    CHECK_NUMBER([object retainCount], 3);
    @autoreleasepool {
        [object autorelease];
    }
    objc_release(object);
    CHECK_NUMBER(b->refs, 1);
    id weak;
    objc_initWeak(&weak, object);
    id loaded = objc_loadWeakRetained(&weak);
    CHECK(loaded == (id)object && b->refs == 2);
    objc_release(loaded);
    static char key;
    id value = [NSObject new];
    objc_setAssociatedObject(object, &key, value, OBJC_ASSOCIATION_RETAIN);
    CHECK_NUMBER([value retainCount], 2);
    release(b);
    CHECK_NUMBER(destroyed, 1);
    CHECK(objc_loadWeakRetained(&weak) == nil);
    CHECK_NUMBER([value retainCount], 1);
    [value release];
    objc_destroyWeak(&weak);
    return check_result();
}
