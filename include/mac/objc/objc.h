// SPDX-License-Identifier: Apache-2.0
// objc/objc.h: the types of Objective-C, and what makes an image's classes known to the runtime.
#ifndef INGOT_MAC_OBJC_OBJC_H
#define INGOT_MAC_OBJC_OBJC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <objc/objc-api.h>

#if !OBJC_TYPES_DEFINED
typedef struct objc_class *Class;
struct objc_object {
    Class isa;
};
typedef struct objc_object *id;
typedef struct objc_selector *SEL;
typedef void (*IMP)(void /* id, SEL, ... */); // cast it to the method's type before a call
#endif

#if defined(__x86_64__)
typedef signed char BOOL;
#else
typedef bool BOOL; // as on Apple's 64-bit ARM systems
#endif
#define OBJC_BOOL_DEFINED

#ifdef __OBJC__
#define YES __objc_yes
#define NO __objc_no
#else
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#endif

#ifndef Nil
#ifdef __cplusplus
#define Nil nullptr
#else
#define Nil ((void *)0)
#endif
#endif
#ifndef nil
#ifdef __cplusplus
#define nil nullptr
#else
#define nil ((void *)0)
#endif
#endif

#ifndef __strong
#if !__has_feature(objc_arc)
#define __strong
#endif
#endif
#ifndef __unsafe_unretained
#if !__has_feature(objc_arc)
#define __unsafe_unretained
#endif
#endif
#ifndef __autoreleasing
#if !__has_feature(objc_arc)
#define __autoreleasing
#endif
#endif

OBJC_EXPORT const char *sel_getName(SEL selector);
OBJC_EXPORT SEL sel_registerName(const char *name);
OBJC_EXPORT SEL sel_getUid(const char *name);
OBJC_EXPORT BOOL sel_isMapped(SEL selector);
OBJC_EXPORT const char *object_getClassName(id object);
OBJC_EXPORT void *object_getIndexedIvars(id object);

// The compiler leaves lists of a file's classes in sections of their own and calls nobody: on a Mac
// the loader reads them. Here each file brings this constructor; the linker keeps one for an image,
// and it hands the image's lists to the runtime before any other constructor of the image runs.
typedef struct objc_image_list {
    const void *start, *stop;
} objc_image_list;
typedef struct objc_image {
    objc_image_list classes, categories, selectors, protocols, protocol_uses, load_classes,
        load_categories;
} objc_image;
OBJC_EXPORT void objc_ingot_register_image(const objc_image *image);

#ifdef __OBJC__
#define OBJC_IMAGE_LIST(list)                                                                      \
    OBJC_EXTERN const char objc_start_##list[] __asm__("__start_objc_" #list)                      \
        __attribute__((weak, visibility("hidden")));                                               \
    OBJC_EXTERN const char objc_stop_##list[] __asm__("__stop_objc_" #list)                        \
        __attribute__((weak, visibility("hidden")));
OBJC_IMAGE_LIST(classlist)
OBJC_IMAGE_LIST(catlist)
OBJC_IMAGE_LIST(selrefs)
OBJC_IMAGE_LIST(protolist)
OBJC_IMAGE_LIST(protorefs)
OBJC_IMAGE_LIST(nlclslist)
OBJC_IMAGE_LIST(nlcatlist)
#undef OBJC_IMAGE_LIST
OBJC_EXTERN __attribute__((weak, visibility("hidden"),
                           constructor(101))) void objc_ingot_image_constructor(void) {
    static bool registered;
    if (registered) return; // the list of constructors has one entry for each file
    registered = true;
    const objc_image image = {
        {objc_start_classlist, objc_stop_classlist}, {objc_start_catlist, objc_stop_catlist},
        {objc_start_selrefs, objc_stop_selrefs},     {objc_start_protolist, objc_stop_protolist},
        {objc_start_protorefs, objc_stop_protorefs}, {objc_start_nlclslist, objc_stop_nlclslist},
        {objc_start_nlcatlist, objc_stop_nlcatlist},
    };
    objc_ingot_register_image(&image);
}
#endif
#endif
