// SPDX-License-Identifier: Apache-2.0
// message.c: what happens to a message that is not in its class's cache: the class is initialised,
// the method is looked for and cached, or asked for (resolveInstanceMethod:), or the message is
// forwarded.
#include "mac/objc/objc_int.h"
#include "mac/objc/invoke.h"
#include <objc/objc-exception.h>
#include <string.h>

static pthread_cond_t initialized = PTHREAD_COND_INITIALIZER; // with objc_lock: some class is

// ---- +initialize ----

// Other threads wait until the method has returned; messages of its own thread pass.
void class_initialize(Class cls) {
    ClassInfo *info = cls->info;
    if (atomic_load_explicit(&info->initialized, memory_order_acquire) == INIT_DONE) return;
    if (cls->superclass) class_initialize(cls->superclass);
    lock_runtime();
    while (info->initialized == INIT_RUNNING && !pthread_equal(info->initializer, pthread_self()))
        pthread_cond_wait(&initialized, &objc_lock);
    if (info->initialized != INIT_NONE) {
        unlock_runtime();
        return;
    }
    info->initializer = pthread_self();
    atomic_store(&info->initialized, INIT_RUNNING);
    Method m = class_method(cls->isa, objc_sel.initialize);
    IMP imp = m ? m->imp : NULL;
    unlock_runtime();
    if (imp) ((void (*)(id, SEL))imp)((id)cls, objc_sel.initialize);
    lock_runtime();
    atomic_store_explicit(&info->initialized, INIT_DONE, memory_order_release);
    pthread_cond_broadcast(&initialized);
    unlock_runtime();
}

// ---- Looking up ----

// Asks the class to add the method. The question itself is answered by the root class, at least.
static void resolve(Class cls, SEL name) {
    bool meta = class_is(cls, CLASS_META);
    SEL question = meta ? objc_sel.resolveClassMethod : objc_sel.resolveInstanceMethod;
    if (name == objc_sel.resolveClassMethod || name == objc_sel.resolveInstanceMethod) return;
    Class asked = meta ? cls->info->owner : cls;
    lock_runtime();
    bool answers = class_method(asked->isa, question) != NULL;
    unlock_runtime();
    if (answers) ASK_WITH(asked, question, name);
}

static IMP find_and_cache(Class cls, SEL name) {
    lock_runtime();
    Method m = class_method(cls, name);
    IMP imp = m ? m->imp : NULL;
    ClassInfo *info = cls->info;
    if (info->flags & CLASS_META) info = info->owner->info;
    // Not before +initialize has returned: what is cached is no longer held up.
    if (imp && info->initialized == INIT_DONE) cache_insert(cls, name, imp);
    unlock_runtime();
    return imp;
}

IMP objc_find(Class cls, SEL name, id receiver, bool asks) {
    if (!cls->info) {
        lock_runtime();
        class_realise(cls);
        unlock_runtime();
    }
    if (receiver) class_initialize(class_is(cls, CLASS_META) ? cls->info->owner : cls);
    IMP imp = find_and_cache(cls, name);
    if (!imp && asks) {
        resolve(cls, name);
        imp = find_and_cache(cls, name);
    }
    return imp;
}

// Called by the assembly: the implementation to jump to.
IMP objc_message_lookup(id self, SEL name, Class cls) {
    IMP imp = objc_find(cls, name, self, true);
    return imp ? imp : (IMP)_objc_msgForward;
}
#if defined(__x86_64__)
IMP objc_message_lookup_stret(id self, SEL name, Class cls) {
    IMP imp = objc_find(cls, name, self, true);
    return imp ? imp : (IMP)_objc_msgForward_stret;
}
#endif

// ---- Forwarding ----

static objc_ingot_forwarder _Atomic forwarder;
void objc_ingot_set_forwarder(objc_ingot_forwarder f) { atomic_store(&forwarder, f); }

// Called by _objc_msgForward with all registers of arguments in the frame. true: send the message
// again, to the receiver that now stands in the frame; false: the result is in the frame.
bool objc_forward(ObjcFrame *frame) {
    id self = (id)frame_integer(frame, frame_self(frame));
    SEL name = (SEL)frame_integer(frame, frame_self(frame) + 1);
    Class cls = object_getClass(self);
    if (!strncmp(class_getName(cls), ZOMBIE_PREFIX, strlen(ZOMBIE_PREFIX)))
        objc_fatal("*** -[%s %s]: message sent to deallocated instance %p",
                   class_getName(cls) + strlen(ZOMBIE_PREFIX), sel_getName(name), (void *)self);
    if (class_respondsToSelector(cls, objc_sel.forwardingTargetForSelector)) {
        id target = SEND_WITH(self, objc_sel.forwardingTargetForSelector, name);
        if (target && target != self) {
            frame_set_integer(frame, frame_self(frame), (uintptr_t)target);
            return true;
        }
    }
    objc_ingot_forwarder f = atomic_load(&forwarder);
    if (f && f(self, name, frame)) return false;
    if (class_respondsToSelector(cls, objc_sel.doesNotRecognizeSelector))
        SEND_WITH(self, objc_sel.doesNotRecognizeSelector, name);
    objc_fatal("%c[%s %s]: unrecognized selector sent to %p", class_isMetaClass(cls) ? '+' : '-',
               class_getName(cls), sel_getName(name), (void *)self);
}
