// SPDX-License-Identifier: Apache-2.0
// nsobject.c: the root class, in C so that the runtime needs no Objective-C compiler. Foundation
// adds what needs strings and exceptions (description, doesNotRecognizeSelector:, invocations).
#include "mac/objc/objc_int.h"

// The names that compiled files refer to.
#define EXPORTED __attribute__((visibility("default")))
extern struct objc_class meta_NSObject __asm__("OBJC_METACLASS_$_NSObject");
extern struct objc_class meta_Protocol __asm__("OBJC_METACLASS_$_Protocol");
extern const long ivar_isa __asm__("OBJC_IVAR_$_NSObject.isa");
EXPORTED struct objc_class objc_class_NSObject, objc_class_Protocol, meta_NSObject, meta_Protocol;
EXPORTED const long ivar_isa = 0;

// What every method takes first; few look at the name.
#define METHOD __attribute__((unused)) id self, __attribute__((unused)) SEL name

// ---- Making and ending ----

static id c_alloc(METHOD) { return SEND_WITH(self, objc_sel.allocWithZone, NULL); }
static id c_alloc_zone(METHOD, void *zone) {
    (void)zone;
    return objc_must(class_createInstance((Class)self, 0));
}
static id c_new(METHOD) { return SEND(SEND(self, objc_sel.alloc), objc_sel.init); }
static id i_init(METHOD) { return self; }
static void i_dealloc(METHOD) { object_dispose(self); }
static id i_copy(METHOD) { return SEND_WITH(self, objc_sel.copyWithZone, NULL); }
static id i_mutable_copy(METHOD) { return SEND_WITH(self, objc_sel.mutableCopyWithZone, NULL); }
static id c_copy_zone(METHOD, void *zone) { // a class is its own copy
    (void)zone;
    return self;
}
static void nothing(METHOD) {}

// ---- Counting ----

static id i_retain(METHOD) { return objc_root_retain(self); }
static void i_release(METHOD) { objc_root_release(self); }
static id i_autorelease(METHOD) {
    if (!class_is(self->isa, CLASS_META)) pool_add(self);
    return self;
}
static unsigned long i_retain_count(METHOD) { return objc_root_count(self); }
static BOOL i_retain_weak(METHOD) { return objc_root_try_retain(self); }
static BOOL yes(METHOD) { return YES; }
static BOOL no(METHOD) { return NO; }
static BOOL c_resolve(METHOD, SEL selector) {
    (void)selector;
    return NO;
}

// ---- Identity ----

static Class i_class(METHOD) { return self->isa; }
static Class c_class(METHOD) { return (Class)self; }
static Class i_superclass(METHOD) { return self->isa->superclass; }
static Class c_superclass(METHOD) { return ((Class)self)->superclass; }
static BOOL i_equal(METHOD, id other) { return self == other; }
static unsigned long i_hash(METHOD) { return (unsigned long)self >> 4; }
static BOOL i_kind(METHOD, Class cls) { return cls && class_inherits(self->isa, cls); }
static BOOL i_member(METHOD, Class cls) { return self->isa == cls; }
static BOOL c_subclass(METHOD, Class cls) { return cls && class_inherits((Class)self, cls); }
static BOOL conforms(Class cls, Protocol *protocol) {
    for (; cls; cls = cls->superclass)
        if (class_conformsToProtocol(cls, protocol)) return YES;
    return NO;
}
static BOOL i_conforms(METHOD, Protocol *protocol) { return conforms(self->isa, protocol); }
static BOOL c_conforms(METHOD, Protocol *protocol) { return conforms((Class)self, protocol); }

// ---- Messages ----

static BOOL i_responds(METHOD, SEL selector) {
    return class_respondsToSelector(self->isa, selector);
}
static BOOL c_instances_respond(METHOD, SEL selector) {
    return class_respondsToSelector((Class)self, selector);
}
static IMP i_method(METHOD, SEL selector) {
    return class_getMethodImplementation(self->isa, selector);
}
static IMP c_instance_method(METHOD, SEL selector) {
    return class_getMethodImplementation((Class)self, selector);
}
static id i_perform(METHOD, SEL selector) { return SEND(self, selector); }
static id i_perform_with(METHOD, SEL selector, id object) {
    return SEND_WITH(self, selector, object);
}
static id i_perform_with_two(METHOD, SEL selector, id first, id second) {
    return objc_send_with_two(self, selector, first, second);
}
static id i_forwarding_target(METHOD, SEL selector) {
    (void)selector;
    return NULL;
}

static const objc_ingot_method methods[] = {
    {"+alloc", (IMP)c_alloc, "@16@0:8"},
    {"+allocWithZone:", (IMP)c_alloc_zone, "@24@0:8^{_NSZone=}16"},
    {"+new", (IMP)c_new, "@16@0:8"},
    {"+load", (IMP)nothing, "v16@0:8"},
    {"+initialize", (IMP)nothing, "v16@0:8"},
    {"+class", (IMP)c_class, "#16@0:8"},
    {"+superclass", (IMP)c_superclass, "#16@0:8"},
    {"+copyWithZone:", (IMP)c_copy_zone, "@24@0:8^{_NSZone=}16"},
    {"+mutableCopyWithZone:", (IMP)c_copy_zone, "@24@0:8^{_NSZone=}16"},
    {"+isSubclassOfClass:", (IMP)c_subclass, ABI_BOOL "24@0:8#16"},
    {"+conformsToProtocol:", (IMP)c_conforms, ABI_BOOL "24@0:8@16"},
    {"+instancesRespondToSelector:", (IMP)c_instances_respond, ABI_BOOL "24@0:8:16"},
    {"+instanceMethodForSelector:", (IMP)c_instance_method, "^?24@0:8:16"},
    {"+resolveInstanceMethod:", (IMP)c_resolve, ABI_BOOL "24@0:8:16"},
    {"+resolveClassMethod:", (IMP)c_resolve, ABI_BOOL "24@0:8:16"},
    {"-init", (IMP)i_init, "@16@0:8"},
    {"-dealloc", (IMP)i_dealloc, "v16@0:8"},
    {"-finalize", (IMP)nothing, "v16@0:8"},
    {"-copy", (IMP)i_copy, "@16@0:8"},
    {"-mutableCopy", (IMP)i_mutable_copy, "@16@0:8"},
    {"-retain", (IMP)i_retain, "@16@0:8"},
    {"-release", (IMP)i_release, "v16@0:8"},
    {"-autorelease", (IMP)i_autorelease, "@16@0:8"},
    {"-retainCount", (IMP)i_retain_count, "Q16@0:8"},
    {"-allowsWeakReference", (IMP)yes, ABI_BOOL "16@0:8"},
    {"-retainWeakReference", (IMP)i_retain_weak, ABI_BOOL "16@0:8"},
    {"-zone", (IMP)i_forwarding_target, "^{_NSZone=}16@0:8"},
    {"-self", (IMP)i_init, "@16@0:8"},
    {"-class", (IMP)i_class, "#16@0:8"},
    {"-superclass", (IMP)i_superclass, "#16@0:8"},
    {"-isProxy", (IMP)no, ABI_BOOL "16@0:8"},
    {"-isEqual:", (IMP)i_equal, ABI_BOOL "24@0:8@16"},
    {"-hash", (IMP)i_hash, "Q16@0:8"},
    {"-isKindOfClass:", (IMP)i_kind, ABI_BOOL "24@0:8#16"},
    {"-isMemberOfClass:", (IMP)i_member, ABI_BOOL "24@0:8#16"},
    {"-conformsToProtocol:", (IMP)i_conforms, ABI_BOOL "24@0:8@16"},
    {"-respondsToSelector:", (IMP)i_responds, ABI_BOOL "24@0:8:16"},
    {"-methodForSelector:", (IMP)i_method, "^?24@0:8:16"},
    {"-performSelector:", (IMP)i_perform, "@24@0:8:16"},
    {"-performSelector:withObject:", (IMP)i_perform_with, "@32@0:8:16@24"},
    {"-performSelector:withObject:withObject:", (IMP)i_perform_with_two, "@40@0:8:16@24@32"},
    {"-forwardingTargetForSelector:", (IMP)i_forwarding_target, "@24@0:8:16"},
    {NULL, NULL, NULL},
};

static void p_retain(void *protocol) { (void)protocol; } // protocols live for ever

void nsobject_start(void) {
    class_define(&objc_class_NSObject, &meta_NSObject, "NSObject", NULL, sizeof(Class));
    for (const objc_ingot_method *m = methods; m->name; m++)
        class_put_method(*m->name == '+' ? &meta_NSObject : &objc_class_NSObject,
                         objc_selector(m->name + 1), m->imp, m->types);
    class_enter(&objc_class_NSObject);
    static const objc_ingot_counting immortal = {p_retain, p_retain, NULL, NULL};
    class_define(&objc_class_Protocol, &meta_Protocol, "Protocol", &objc_class_NSObject,
                 sizeof(AbiProtocol));
    atomic_store(&objc_class_Protocol.info->counting, &immortal);
    atomic_fetch_and(&objc_class_Protocol.info->flags, ~(unsigned)CLASS_COUNTED);
    class_enter(&objc_class_Protocol);
}
