// SPDX-License-Identifier: Apache-2.0
// objc/objc-ingot.h: Objective-C classes from C, and foreign objects that are Objective-C objects.
//
// An object is memory whose first word points to a class. A library that counts its own objects and
// keeps a record for each of its classes (Ingot does) reserves the first OBJC_INGOT_CLASS_WORDS
// words of that record, zeroed and writable, and has the record adopted:
//
//     typedef struct Record { void *objc[OBJC_INGOT_CLASS_WORDS]; const char *name; ... } Record;
//     objc_ingot_adopt(&buffer_record, "MTLBuffer", objc_getClass("NSObject"), &counting);
//     objc_ingot_add_methods(objc_getClass("MTLBuffer"), methods);
//
// From then on every object whose first word is the record takes messages: no wrapper, no table of
// identities. Counting goes to the library's functions, without a message. Weak references and
// associated objects need one call, objc_ingot_destroyed, when an object's last reference is gone.
#ifndef INGOT_MAC_OBJC_INGOT_H
#define INGOT_MAC_OBJC_INGOT_H
#include <objc/runtime.h>

#define OBJC_INGOT_CLASS_WORDS 5

// How objects of a class are counted, in place of the runtime's own count. Called from any thread.
typedef struct objc_ingot_counting {
    void (*retain)(void *object);
    void (*release)(void *object);
    // For weak references: takes a reference unless the last one is gone. NULL: objects never die.
    bool (*try_retain)(void *object);
    size_t (*count)(void *object); // NULL: unknown, answered as 1
} objc_ingot_counting;

// "-name:" is a method of instances, "+name:" of the class. types may be NULL: no signature.
typedef struct objc_ingot_method {
    const char *name;
    IMP imp;
    const char *types;
} objc_ingot_method;

// Makes a record a class. counting NULL: as the superclass counts. NULL if the name is taken.
OBJC_EXPORT Class objc_ingot_adopt(void *record, const char *name, Class superclass,
                                   const objc_ingot_counting *counting);
// A class whose instances hold n_bytes (0: as many as the superclass's) and are counted by the
// runtime.
OBJC_EXPORT Class objc_ingot_new_class(const char *name, Class superclass, size_t n_bytes);
// The list ends with a NULL name. Methods that are there are replaced.
OBJC_EXPORT void objc_ingot_add_methods(Class cls, const objc_ingot_method *methods);
// An adopted object is about to go: weak references to it become nil, associated objects are let
// go. Cheap if there never were any. After the last reference, before the memory is freed.
OBJC_EXPORT void objc_ingot_destroyed(void *object);
// C++ members and strong variables of a subclass of an adopted class are made, and end.
OBJC_EXPORT void objc_ingot_construct(id object);
OBJC_EXPORT void objc_ingot_destruct(id object);

// For Foundation: arguments of a message that no method answered. The handler returns false if
// nobody takes the message; see src/mac/objc/invoke.h for frames.
struct ObjcFrame;
typedef bool (*objc_ingot_forwarder)(id self, SEL selector, struct ObjcFrame *frame);
OBJC_EXPORT void objc_ingot_set_forwarder(objc_ingot_forwarder forwarder);
#endif
