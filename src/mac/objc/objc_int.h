// SPDX-License-Identifier: Apache-2.0
// objc_int.h: what the files of the runtime share.
//
// A class is Apple's five words; the third points to its cache of methods, which the assembly reads
// without a lock, the fourth to what the runtime knows about it (ClassInfo). Everything that says
// "locked" is called with objc_lock held. No code of the program runs under that lock.
#ifndef INGOT_OBJC_INT_H
#define INGOT_OBJC_INT_H
#include <pthread.h>
#include <stdatomic.h>
#include <objc/objc-arc.h>
#include <objc/objc-ingot.h>
#include <objc/message.h>
#include "mac/objc/abi.h"
#include "mac/objc/table.h"

typedef struct CacheEntry {
    _Atomic(SEL) name; // stored after imp; NULL: the end of a search
    _Atomic(IMP) imp;
} CacheEntry;

// The head of a cache; its entries follow: room, then CACHE_SPILL, then one that is always empty.
// The place of a selector is (selector * 2) & mask, in bytes; a search goes on behind it. The
// assembly knows this layout.
typedef struct Cache {
    uint64_t mask;
    uint32_t used, room;
} Cache;

struct objc_method {
    struct objc_method_description described; // first: method_getDescription
    _Atomic(IMP) imp;
    Class cls;
};

struct objc_ivar {
    const char *name, *types;
    int32_t *offset;
    size_t n_bytes;
    uint32_t log2_alignment;
    int32_t own_offset; // of a class made at run time: offset points here
};

enum {
    CLASS_META = 1,
    CLASS_COUNTED = 2,  // objects carry the runtime's count and no method of counting is overridden
    CLASS_BUILDING = 4, // made at run time and not registered yet
    CLASS_MADE = 8,     // made at run time
    CLASS_DEFINED = 16, // by a library, from C
};
enum { INIT_NONE, INIT_RUNNING, INIT_DONE };

typedef struct ClassInfo {
    const char *name;
    atomic_uint flags;
    atomic_uint initialized; // INIT_*; of a metaclass: its class's counts
    pthread_t initializer;
    uint32_t instance_bytes, version;
    const objc_ingot_counting *_Atomic counting; // not NULL: how objects are counted
    Class owner;                                 // of a metaclass: its class
    Class first_subclass, next_sibling;          // not of metaclasses
    Method *methods;                             // hashed by selector, open addressing
    uint32_t n_methods, method_room;
    struct objc_ivar **ivars;
    uint32_t n_ivars;
    Protocol **protocols;
    uint32_t n_protocols;
    struct objc_property **properties;
    uint32_t n_properties;
    IMP cxx_construct, cxx_destruct;
} ClassInfo;

struct objc_class {
    Class isa, superclass;
    Cache *_Atomic cache;
    ClassInfo *info; // NULL: not realised
    const AbiClass *abi;
};
_Static_assert(sizeof(struct objc_class) == OBJC_INGOT_CLASS_WORDS * sizeof(void *), "five words");

extern pthread_mutex_t objc_lock;
static inline void lock_runtime(void) { pthread_mutex_lock(&objc_lock); }
static inline void unlock_runtime(void) { pthread_mutex_unlock(&objc_lock); }

// Memory that must be there: ends the process if not (as on a Mac: no caller could go on).
void *objc_must(void *memory);
void *objc_zeroed(size_t n_bytes);
// Ends the process with a message. The runtime's last resort; errors of programs are exceptions.
void objc_fatal(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

// selector.c: names that live for ever, at addresses that are multiples of 8.
SEL objc_selector(const char *name); // takes a lock of its own
#define OBJC_SELECTORS(X)                                                                          \
    X(alloc, "alloc")                                                                              \
    X(allocWithZone, "allocWithZone:")                                                             \
    X(allowsWeakReference, "allowsWeakReference")                                                  \
    X(autorelease, "autorelease")                                                                  \
    X(class_, "class")                                                                             \
    X(copyWithZone, "copyWithZone:")                                                               \
    X(mutableCopyWithZone, "mutableCopyWithZone:")                                                 \
    X(cxx_construct, ".cxx_construct")                                                             \
    X(cxx_destruct, ".cxx_destruct")                                                               \
    X(dealloc, "dealloc")                                                                          \
    X(doesNotRecognizeSelector, "doesNotRecognizeSelector:")                                       \
    X(forwardingTargetForSelector, "forwardingTargetForSelector:")                                 \
    X(init, "init")                                                                                \
    X(initialize, "initialize")                                                                    \
    X(isKindOfClass, "isKindOfClass:")                                                             \
    X(load, "load")                                                                                \
    X(new_, "new")                                                                                 \
    X(release, "release")                                                                          \
    X(resolveClassMethod, "resolveClassMethod:")                                                   \
    X(resolveInstanceMethod, "resolveInstanceMethod:")                                             \
    X(respondsToSelector, "respondsToSelector:")                                                   \
    X(retain, "retain")                                                                            \
    X(retainCount, "retainCount")                                                                  \
    X(retainWeakReference, "retainWeakReference")
#define X(field, text) SEL field;
extern struct ObjcSelectors {
    OBJC_SELECTORS(X)
} objc_sel;
#undef X
void objc_selectors_start(void);

// objc_msgSend in the shapes that are needed here.
id objc_send(id self, SEL name) __asm__("objc_msgSend");
id objc_send_with(id self, SEL name, const void *argument) __asm__("objc_msgSend");
id objc_send_with_two(id self, SEL name, id first, id second) __asm__("objc_msgSend");
BOOL objc_ask(id self, SEL name) __asm__("objc_msgSend");
BOOL objc_ask_with(id self, SEL name, const void *argument) __asm__("objc_msgSend");
#define SEND(object, selector) objc_send((id)(object), (selector))
#define SEND_WITH(object, selector, argument) objc_send_with((id)(object), (selector), (argument))
#define ASK_WITH(object, selector, argument) objc_ask_with((id)(object), (selector), (argument))

// class.c: classes and their methods, locked.
void class_realise(Class cls);
void class_define(Class cls, Class meta, const char *name, Class superclass, size_t instance_bytes);
Class class_named(const char *name);
Class *class_all(size_t *n); // the caller's; registered ones
void class_enter(Class cls); // into the table of names
void class_leave(Class cls); // and out of the tree
Method class_own_method(Class cls, SEL name);
Method class_method(Class cls, SEL name); // in cls or above it
Method class_put_method(Class cls, SEL name, IMP imp, const char *types);
void class_put_methods(Class cls, const AbiMethods *list);
void class_put_protocols(Class cls, const AbiProtocols *list);
void class_put_properties(Class cls, const AbiProperties *list);
void class_put_property(Class cls, struct objc_property *property);
void class_put_protocol(Class cls, Protocol *protocol);
void class_put_ivar(Class cls, struct objc_ivar *ivar);
static inline bool class_is(Class cls, unsigned flag) {
    return atomic_load_explicit(&cls->info->flags, memory_order_relaxed) & flag;
}
static inline bool class_inherits(Class cls, Class ancestor) {
    while (cls && cls != ancestor) cls = cls->superclass;
    return cls != NULL;
}

// cache.c
extern struct EmptyCache {
    Cache head;
    CacheEntry end;
} _objc_empty_cache;
#define EMPTY_CACHE (&_objc_empty_cache.head)
void cache_insert(Class cls, SEL name, IMP imp); // locked
void cache_flush(Class cls); // locked; cls, what is below it, and their metaclasses

// message.c: called by the assembly; and for others
struct ObjcFrame;
IMP objc_message_lookup(id self, SEL name, Class cls);
IMP objc_message_lookup_stret(id self, SEL name, Class cls);
bool objc_forward(struct ObjcFrame *frame);
void class_initialize(Class cls); // +initialize, once, superclasses first; not locked
IMP objc_find(Class cls, SEL name, id receiver, bool resolve); // NULL: no method; not locked

// protocol.c, locked
void protocol_enter(AbiProtocol *protocol);
AbiProtocol *protocol_named(const char *name); // NULL: none
bool protocol_conforms(const AbiProtocol *protocol, const char *name);
void protocol_start(void);

// object.c: the 16 bytes before an object that the runtime counts.
typedef struct ObjectHead {
    _Atomic(uint64_t) count; // OBJECT_DYING and more: dealloc is under way
    atomic_uint flags;       // HEAD_*
    uint32_t reserved;
} ObjectHead;
_Static_assert(sizeof(ObjectHead) == 16, "objects stay aligned to 16 bytes");
enum { HEAD_WEAK = 1, HEAD_ASSOCIATED = 2 };
#define OBJECT_DYING ((uint64_t)1 << 62)
static inline ObjectHead *object_head(id object) { return (ObjectHead *)(void *)object - 1; }
#define ZOMBIE_PREFIX "_NSZombie_" // of the class of an object that is gone (NSZombieEnabled=YES)
bool object_try_retain(id object); // false: the last reference is gone
// The root class's methods: they send no message, or a method that calls super would meet itself.
id objc_root_retain(id object);
void objc_root_release(id object);
size_t objc_root_count(id object);
bool objc_root_try_retain(id object);

// Called as an object goes. Weak: references become nil. Neither is called with a lock held.
void weak_start(void);
void weak_clear(id object);
void associated_clear(id object);
extern atomic_bool
    objc_foreign_marks; // an adopted object has weak references or associated objects
void object_mark(id object, unsigned flag); // HEAD_WEAK or HEAD_ASSOCIATED

void pool_add(id object);
void nsobject_start(void);
void block_start(void);
extern struct objc_class objc_class_NSObject __asm__("OBJC_CLASS_$_NSObject");
extern struct objc_class objc_class_Protocol __asm__("OBJC_CLASS_$_Protocol");
#endif
