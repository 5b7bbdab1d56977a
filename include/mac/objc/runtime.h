// SPDX-License-Identifier: Apache-2.0
// objc/runtime.h: classes, methods, variables, properties and protocols at run time. Lists that a
// "copy" function returns are the caller's (free); NULL takes the place of an empty one.
#ifndef INGOT_MAC_OBJC_RUNTIME_H
#define INGOT_MAC_OBJC_RUNTIME_H
#include <objc/objc.h>

typedef struct objc_method *Method;
typedef struct objc_ivar *Ivar;
typedef struct objc_category *Category;
typedef struct objc_property *objc_property_t;
#ifdef __OBJC__
@class Protocol;
#else
typedef struct objc_object Protocol;
#endif

struct objc_method_description {
    SEL name;
    char *types;
};
typedef struct {
    const char *name;
    const char *value;
} objc_property_attribute_t;

typedef uintptr_t objc_AssociationPolicy;
enum {
    OBJC_ASSOCIATION_ASSIGN = 0,
    OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1,
    OBJC_ASSOCIATION_COPY_NONATOMIC = 3,
    OBJC_ASSOCIATION_RETAIN = 01401,
    OBJC_ASSOCIATION_COPY = 01403
};

#ifdef __OBJC__
#define OBJC_LISTED(type) type __unsafe_unretained *
#else
#define OBJC_LISTED(type) type *
#endif

// Objects
OBJC_EXPORT Class object_getClass(id object);
OBJC_EXPORT Class object_setClass(id object, Class cls); // the class it was of
OBJC_EXPORT BOOL object_isClass(id object);
OBJC_EXPORT id object_copy(id object, size_t n_bytes);
OBJC_EXPORT id object_dispose(id object); // nil
OBJC_EXPORT id object_getIvar(id object, Ivar ivar);
OBJC_EXPORT void object_setIvar(id object, Ivar ivar, id value);
OBJC_EXPORT void object_setIvarWithStrongDefault(id object, Ivar ivar, id value);
OBJC_EXPORT Ivar object_setInstanceVariable(id object, const char *name, void *value);
OBJC_EXPORT Ivar object_getInstanceVariable(id object, const char *name, void **value);

// Classes
OBJC_EXPORT Class objc_getClass(const char *name);         // nil: none of that name
OBJC_EXPORT Class objc_lookUpClass(const char *name);      // the same
OBJC_EXPORT Class objc_getRequiredClass(const char *name); // ends the process if there is none
OBJC_EXPORT Class objc_getMetaClass(const char *name);
OBJC_EXPORT int objc_getClassList(OBJC_LISTED(Class) buffer, int n);
OBJC_EXPORT OBJC_LISTED(Class) objc_copyClassList(unsigned int *n);
OBJC_EXPORT const char *class_getName(Class cls); // "nil" for nil
OBJC_EXPORT BOOL class_isMetaClass(Class cls);
OBJC_EXPORT Class class_getSuperclass(Class cls);
OBJC_EXPORT int class_getVersion(Class cls);
OBJC_EXPORT void class_setVersion(Class cls, int version);
OBJC_EXPORT size_t class_getInstanceSize(Class cls);
OBJC_EXPORT const char *class_getImageName(Class cls); // the file that holds it, or NULL
OBJC_EXPORT id class_createInstance(Class cls, size_t extra_bytes);
OBJC_EXPORT id objc_constructInstance(Class cls, void *bytes);
OBJC_EXPORT void *objc_destructInstance(id object);
OBJC_EXPORT Ivar class_getInstanceVariable(Class cls, const char *name);
OBJC_EXPORT Ivar class_getClassVariable(Class cls, const char *name);
OBJC_EXPORT Ivar *class_copyIvarList(Class cls, unsigned int *n);
OBJC_EXPORT Method class_getInstanceMethod(Class cls, SEL name);
OBJC_EXPORT Method class_getClassMethod(Class cls, SEL name);
OBJC_EXPORT IMP class_getMethodImplementation(Class cls, SEL name); // never NULL: forwards
#if defined(__x86_64__)
OBJC_EXPORT IMP class_getMethodImplementation_stret(Class cls, SEL name);
#endif
OBJC_EXPORT BOOL class_respondsToSelector(Class cls, SEL name);
OBJC_EXPORT Method *class_copyMethodList(Class cls, unsigned int *n);
OBJC_EXPORT BOOL class_conformsToProtocol(Class cls, Protocol *protocol); // not its superclasses
OBJC_EXPORT OBJC_LISTED(Protocol *) class_copyProtocolList(Class cls, unsigned int *n);
OBJC_EXPORT objc_property_t class_getProperty(Class cls, const char *name);
OBJC_EXPORT objc_property_t *class_copyPropertyList(Class cls, unsigned int *n);
OBJC_EXPORT BOOL class_addMethod(Class cls, SEL name, IMP imp, const char *types);
OBJC_EXPORT IMP class_replaceMethod(Class cls, SEL name, IMP imp, const char *types);
OBJC_EXPORT BOOL class_addIvar(Class cls, const char *name, size_t n_bytes, uint8_t log2_alignment,
                               const char *types);
OBJC_EXPORT BOOL class_addProtocol(Class cls, Protocol *protocol);
OBJC_EXPORT BOOL class_addProperty(Class cls, const char *name,
                                   const objc_property_attribute_t *attributes, unsigned int n);
OBJC_EXPORT void class_replaceProperty(Class cls, const char *name,
                                       const objc_property_attribute_t *attributes, unsigned int n);
OBJC_EXPORT Class objc_allocateClassPair(Class superclass, const char *name, size_t extra_bytes);
OBJC_EXPORT void objc_registerClassPair(Class cls);
OBJC_EXPORT void objc_disposeClassPair(Class cls);

// Methods, variables, properties
OBJC_EXPORT SEL method_getName(Method method);
OBJC_EXPORT IMP method_getImplementation(Method method);
OBJC_EXPORT const char *method_getTypeEncoding(Method method);
OBJC_EXPORT unsigned int method_getNumberOfArguments(Method method);
OBJC_EXPORT char *method_copyReturnType(Method method);
OBJC_EXPORT char *method_copyArgumentType(Method method, unsigned int index);
OBJC_EXPORT void method_getReturnType(Method method, char *text, size_t room);
OBJC_EXPORT void method_getArgumentType(Method method, unsigned int index, char *text, size_t room);
OBJC_EXPORT struct objc_method_description *method_getDescription(Method method);
OBJC_EXPORT IMP method_setImplementation(Method method, IMP imp);
OBJC_EXPORT void method_exchangeImplementations(Method a, Method b);
OBJC_EXPORT const char *ivar_getName(Ivar ivar);
OBJC_EXPORT const char *ivar_getTypeEncoding(Ivar ivar);
OBJC_EXPORT ptrdiff_t ivar_getOffset(Ivar ivar);
OBJC_EXPORT const char *property_getName(objc_property_t property);
OBJC_EXPORT const char *property_getAttributes(objc_property_t property);
OBJC_EXPORT objc_property_attribute_t *property_copyAttributeList(objc_property_t property,
                                                                  unsigned int *n);
OBJC_EXPORT char *property_copyAttributeValue(objc_property_t property, const char *name);

// Protocols
OBJC_EXPORT Protocol *objc_getProtocol(const char *name);
OBJC_EXPORT OBJC_LISTED(Protocol *) objc_copyProtocolList(unsigned int *n);
OBJC_EXPORT const char *protocol_getName(Protocol *protocol);
OBJC_EXPORT BOOL protocol_isEqual(Protocol *a, Protocol *b);
OBJC_EXPORT BOOL protocol_conformsToProtocol(Protocol *protocol, Protocol *other);
OBJC_EXPORT struct objc_method_description protocol_getMethodDescription(Protocol *protocol,
                                                                         SEL name, BOOL required,
                                                                         BOOL instance);
OBJC_EXPORT struct objc_method_description *protocol_copyMethodDescriptionList(Protocol *protocol,
                                                                               BOOL required,
                                                                               BOOL instance,
                                                                               unsigned int *n);
OBJC_EXPORT objc_property_t protocol_getProperty(Protocol *protocol, const char *name,
                                                 BOOL required, BOOL instance);
OBJC_EXPORT objc_property_t *protocol_copyPropertyList(Protocol *protocol, unsigned int *n);
OBJC_EXPORT OBJC_LISTED(Protocol *) protocol_copyProtocolList(Protocol *protocol, unsigned int *n);
OBJC_EXPORT Protocol *objc_allocateProtocol(const char *name); // NULL: the name is taken
OBJC_EXPORT void objc_registerProtocol(Protocol *protocol);
OBJC_EXPORT void protocol_addMethodDescription(Protocol *protocol, SEL name, const char *types,
                                               BOOL required, BOOL instance);
OBJC_EXPORT void protocol_addProtocol(Protocol *protocol, Protocol *addition);

// Selectors, blocks, associated objects
OBJC_EXPORT BOOL sel_isEqual(SEL a, SEL b);
OBJC_EXPORT IMP imp_implementationWithBlock(id block);
OBJC_EXPORT id imp_getBlock(IMP imp);
OBJC_EXPORT BOOL imp_removeBlock(IMP imp);
OBJC_EXPORT id objc_getAssociatedObject(id object, const void *key);
OBJC_EXPORT void objc_setAssociatedObject(id object, const void *key, id value,
                                          objc_AssociationPolicy policy);
OBJC_EXPORT void objc_removeAssociatedObjects(id object);
OBJC_EXPORT void objc_enumerationMutation(id object);
OBJC_EXPORT void objc_setEnumerationMutationHandler(void (*handler)(id object));
OBJC_EXPORT id objc_loadWeak(id *location);
OBJC_EXPORT id objc_storeWeak(id *location, id object);

// Type encodings
#define _C_ID '@'
#define _C_CLASS '#'
#define _C_SEL ':'
#define _C_CHR 'c'
#define _C_UCHR 'C'
#define _C_SHT 's'
#define _C_USHT 'S'
#define _C_INT 'i'
#define _C_UINT 'I'
#define _C_LNG 'l'
#define _C_ULNG 'L'
#define _C_LNG_LNG 'q'
#define _C_ULNG_LNG 'Q'
#define _C_FLT 'f'
#define _C_DBL 'd'
#define _C_LNG_DBL 'D'
#define _C_BOOL 'B'
#define _C_VOID 'v'
#define _C_UNDEF '?'
#define _C_PTR '^'
#define _C_CHARPTR '*'
#define _C_ARY_B '['
#define _C_ARY_E ']'
#define _C_UNION_B '('
#define _C_UNION_E ')'
#define _C_STRUCT_B '{'
#define _C_STRUCT_E '}'
#define _C_CONST 'r'
#endif
