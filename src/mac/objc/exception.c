// SPDX-License-Identifier: Apache-2.0
// exception.c: @throw, @try, @catch and @finally on the system's unwinder. An exception of ours is
// caught by handlers for its class (the table of handlers is read in lsda.c), and by C++'s catch
// (...); exceptions of C++ pass through frames of Objective-C, run their @finally, and are caught
// by @catch (...).
#include "mac/objc/objc_int.h"
#include "mac/objc/lsda.h"
#include <objc/objc-exception.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

#define OUR_CLASS 0x494e474f4f424a43u // "INGOOBJC"
typedef struct Exception {
    id object;
    Class cls;       // of the object, as it was thrown
    size_t handlers; // @catch blocks that it is in
    bool rethrown;
    struct _Unwind_Exception unwind;
} Exception;

typedef struct Caught { // a @catch that a thread is in
    struct Caught *below;
    struct _Unwind_Exception *unwind; // NULL: thrown again
} Caught;
static _Thread_local Caught *caught;
static objc_uncaught_exception_handler _Atomic uncaught_handler;

static bool ours(const struct _Unwind_Exception *u) { return u->exception_class == OUR_CLASS; }
static Exception *exception_of(struct _Unwind_Exception *u) {
    return (Exception *)(void *)((char *)u - offsetof(Exception, unwind));
}

// ---- Types of handlers: what a C++ runtime sees of them never matches ----

static uintptr_t no_match(void) { return 0; }
typedef uintptr_t (*TypeFunction)(void);
extern const TypeFunction catch_type_vtable[] __asm__("objc_ehtype_vtable");
__attribute__((visibility("default"))) const TypeFunction catch_type_vtable[] = {
    NULL, NULL, no_match, no_match, no_match, no_match, no_match, no_match};
extern const AbiCatchType catch_any_object __asm__("OBJC_EHTYPE_id");
__attribute__((visibility("default")))
const AbiCatchType catch_any_object = {&catch_type_vtable[2], "id", NULL};

static bool handles(const void *type, void *exception) {
    const AbiCatchType *handler = type;
    if (!handler) return true;                                  // @catch (...)
    if (handler->vtable != &catch_type_vtable[2]) return false; // a type of C++
    return !handler->cls || class_inherits(((Exception *)exception)->cls, handler->cls);
}

// The personality of a frame of Objective-C. Exceptions of others are the C++ runtime's if there is
// one.
extern _Unwind_Reason_Code __gxx_personality_v0(int, _Unwind_Action, _Unwind_Exception_Class,
                                                struct _Unwind_Exception *,
                                                struct _Unwind_Context *) __attribute__((weak));
OBJC_EXPORT _Unwind_Reason_Code __objc_personality_v0(int version, _Unwind_Action actions,
                                                      _Unwind_Exception_Class exception_class,
                                                      struct _Unwind_Exception *unwind,
                                                      struct _Unwind_Context *context);
_Unwind_Reason_Code __objc_personality_v0(int version, _Unwind_Action actions,
                                          _Unwind_Exception_Class exception_class,
                                          struct _Unwind_Exception *unwind,
                                          struct _Unwind_Context *context) {
    if (exception_class != OUR_CLASS && __gxx_personality_v0)
        return __gxx_personality_v0(version, actions, exception_class, unwind, context);
    if (version != 1) return _URC_FATAL_PHASE1_ERROR;
    bool native = exception_class == OUR_CLASS;
    LsdaHandler found = lsda_find(context, native ? handles : lsda_only_all,
                                  native ? exception_of(unwind) : NULL, actions & _UA_FORCE_UNWIND);
    if (!found.landing_pad) return _URC_CONTINUE_UNWIND;
    if (actions & _UA_SEARCH_PHASE)
        return found.selector ? _URC_HANDLER_FOUND : _URC_CONTINUE_UNWIND;
    _Unwind_SetGR(context, __builtin_eh_return_data_regno(0), (uintptr_t)unwind);
    _Unwind_SetGR(context, __builtin_eh_return_data_regno(1), (uintptr_t)found.selector);
    _Unwind_SetIP(context, found.landing_pad);
    return _URC_INSTALL_CONTEXT;
}

// ---- Throwing and catching ----

objc_uncaught_exception_handler objc_setUncaughtExceptionHandler(
    objc_uncaught_exception_handler handler) {
    return atomic_exchange(&uncaught_handler, handler);
}

void objc_terminate(void) {
    fputs("objc: an exception met code that lets none pass\n", stderr);
    abort();
}

static void nobody_catches(id object) {
    objc_uncaught_exception_handler handler = atomic_load(&uncaught_handler);
    if (handler) handler(object);
    fprintf(stderr, "objc: uncaught exception of class %s\n", object_getClassName(object));
    abort();
}

static void destroy(_Unwind_Reason_Code reason, struct _Unwind_Exception *unwind) {
    (void)reason;
    Exception *e = exception_of(unwind);
    objc_release(e->object);
    free(e);
}

void objc_exception_throw(id object) {
    Exception *e = objc_zeroed(sizeof *e);
    e->object = objc_retain(object), e->cls = object_getClass(object);
    e->unwind.exception_class = OUR_CLASS, e->unwind.exception_cleanup = destroy;
    _Unwind_RaiseException(&e->unwind);
    nobody_catches(object); // the unwinder came back: no handler
    abort();
}

id objc_begin_catch(void *p) {
    struct _Unwind_Exception *unwind = p;
    Caught *c = objc_zeroed(sizeof *c);
    *c = (Caught){caught, unwind};
    caught = c;
    if (!ours(unwind)) return NULL; // @catch (...) of an exception of C++
    Exception *e = exception_of(unwind);
    e->handlers++, e->rethrown = false;
    return e->object;
}

void objc_end_catch(void) {
    Caught *c = caught;
    if (!c) return;
    caught = c->below;
    struct _Unwind_Exception *unwind = c->unwind;
    free(c);
    if (!unwind) return; // one of C++, on its way again
    if (!ours(unwind)) {
        _Unwind_DeleteException(unwind);
        return;
    }
    Exception *e = exception_of(unwind);
    if (--e->handlers || e->rethrown) return; // still in another handler, or on its way
    destroy(_URC_NO_REASON, unwind);
}

void objc_exception_rethrow(void) {
    Caught *c = caught;
    if (!c) objc_fatal("@throw without an exception to throw again");
    struct _Unwind_Exception *unwind = c->unwind;
    if (ours(unwind)) {
        exception_of(unwind)->rethrown = true;
        _Unwind_Resume_or_Rethrow(unwind);
        nobody_catches(exception_of(unwind)->object);
        abort();
    }
    c->unwind = NULL; // the frame's objc_end_catch must not delete it
    _Unwind_Resume_or_Rethrow(unwind);
    objc_terminate();
}
