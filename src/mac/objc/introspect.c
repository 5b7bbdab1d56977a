// SPDX-License-Identifier: Apache-2.0
// introspect.c: questions to classes, methods, variables and properties (objc/runtime.h).
#include "mac/objc/objc_int.h"
#include "mac/objc/invoke.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// ---- Objects and classes ----

Class object_getClass(id object) { return object ? object->isa : NULL; }
Class object_setClass(id object, Class cls) {
    if (!object) return NULL;
    Class old = object->isa;
    object->isa = cls;
    return old;
}
BOOL object_isClass(id object) { return object && class_isMetaClass(object->isa); }
const char *object_getClassName(id object) { return class_getName(object_getClass(object)); }

static ClassInfo *info_of(Class cls) { // a class that nobody used yet is realised
    if (!cls->info) {
        lock_runtime();
        class_realise(cls);
        unlock_runtime();
    }
    return cls->info;
}
const char *class_getName(Class cls) { return cls ? info_of(cls)->name : "nil"; }
BOOL class_isMetaClass(Class cls) { return cls && info_of(cls)->flags & CLASS_META; }
Class class_getSuperclass(Class cls) { return cls ? cls->superclass : NULL; }
size_t class_getInstanceSize(Class cls) {
    return cls ? (info_of(cls)->instance_bytes + 7u) & ~7u : 0;
}
int class_getVersion(Class cls) { return cls ? (int)info_of(cls)->version : 0; }
void class_setVersion(Class cls, int version) {
    if (cls) info_of(cls)->version = (uint32_t)version;
}
const char *class_getImageName(Class cls) {
    Dl_info found;
    return cls && dladdr(cls, &found) ? found.dli_fname : NULL;
}

Class objc_lookUpClass(const char *name) {
    if (!name) return NULL;
    lock_runtime();
    Class found = class_named(name);
    unlock_runtime();
    return found;
}
Class objc_getClass(const char *name) { return objc_lookUpClass(name); }
Class objc_getRequiredClass(const char *name) {
    Class found = objc_lookUpClass(name);
    if (!found) objc_fatal("class %s is required and not there", name ? name : "(null)");
    return found;
}
Class objc_getMetaClass(const char *name) {
    Class found = objc_lookUpClass(name);
    return found ? found->isa : NULL;
}
Class *objc_copyClassList(unsigned int *n) {
    size_t count;
    lock_runtime();
    Class *all = class_all(&count);
    unlock_runtime();
    if (n) *n = (unsigned)count;
    return all;
}
int objc_getClassList(Class *buffer, int n) {
    unsigned count;
    Class *all = objc_copyClassList(&count);
    for (int i = 0; buffer && i < n && i < (int)count; i++) buffer[i] = all[i];
    free(all);
    return (int)count;
}

// ---- Methods ----

Method class_getInstanceMethod(Class cls, SEL name) {
    if (!cls || !name) return NULL;
    objc_find(cls, name, NULL, true); // it may be made on demand
    lock_runtime();
    Method found = class_method(cls, name);
    unlock_runtime();
    return found;
}
Method class_getClassMethod(Class cls, SEL name) {
    if (!cls) return NULL;
    return class_getInstanceMethod(class_isMetaClass(cls) ? cls : cls->isa, name);
}
IMP class_getMethodImplementation(Class cls, SEL name) {
    if (!cls || !name) return NULL;
    IMP imp = objc_find(cls, name, NULL, true);
    return imp ? imp : (IMP)_objc_msgForward;
}
#if defined(__x86_64__)
IMP class_getMethodImplementation_stret(Class cls, SEL name) {
    if (!cls || !name) return NULL;
    IMP imp = objc_find(cls, name, NULL, true);
    return imp ? imp : (IMP)_objc_msgForward_stret;
}
#endif
BOOL class_respondsToSelector(Class cls, SEL name) {
    return cls && name && objc_find(cls, name, NULL, true);
}

Method *class_copyMethodList(Class cls, unsigned int *n) {
    unsigned count = 0;
    Method *list = NULL;
    lock_runtime();
    const ClassInfo *info = cls ? cls->info : NULL;
    if (info && info->n_methods) list = objc_zeroed((info->n_methods + 1) * sizeof *list);
    for (uint32_t i = 0; list && i < info->method_room; i++)
        if (info->methods[i]) list[count++] = info->methods[i];
    unlock_runtime();
    if (n) *n = count;
    return list;
}

BOOL class_addMethod(Class cls, SEL name, IMP imp, const char *types) {
    if (!cls || !name || !imp) return NO;
    lock_runtime();
    class_realise(cls);
    bool fresh = !class_own_method(cls, name);
    if (fresh) {
        class_put_method(cls, name, imp, types ? objc_must(strdup(types)) : NULL);
        cache_flush(cls);
    }
    unlock_runtime();
    return fresh;
}
IMP class_replaceMethod(Class cls, SEL name, IMP imp, const char *types) {
    if (!cls || !name || !imp) return NULL;
    if (class_addMethod(cls, name, imp, types)) return NULL;
    return method_setImplementation(class_getInstanceMethod(cls, name), imp);
}

SEL method_getName(Method m) { return m ? m->described.name : NULL; }
IMP method_getImplementation(Method m) { return m ? atomic_load(&m->imp) : NULL; }
const char *method_getTypeEncoding(Method m) { return m ? m->described.types : NULL; }
struct objc_method_description *method_getDescription(Method m) { return m ? &m->described : NULL; }

IMP method_setImplementation(Method m, IMP imp) {
    if (!m || !imp) return NULL;
    lock_runtime();
    IMP old = atomic_exchange(&m->imp, imp);
    class_put_method(m->cls, m->described.name, imp, m->described.types);
    cache_flush(m->cls);
    unlock_runtime();
    return old;
}
void method_exchangeImplementations(Method a, Method b) {
    if (!a || !b) return;
    lock_runtime();
    IMP imp = atomic_load(&a->imp);
    class_put_method(a->cls, a->described.name, atomic_load(&b->imp), a->described.types);
    class_put_method(b->cls, b->described.name, imp, b->described.types);
    cache_flush(a->cls), cache_flush(b->cls);
    unlock_runtime();
}

unsigned int method_getNumberOfArguments(Method m) {
    return m ? (unsigned)objc_type_count(m->described.types) : 0;
}
static char *type_text(const char *type) {
    if (!*type) return NULL;
    const char *end = objc_type_skip(type);
    while (end > type && ((end[-1] >= '0' && end[-1] <= '9') || end[-1] == '-'))
        end--; // the offset
    // An array of numbers ends with ']', a bit-field's width belongs to it.
    if (*type == 'b') end = objc_type_skip(type);
    return objc_must(strndup(type, (size_t)(end - type)));
}
char *method_copyReturnType(Method m) { return m ? type_text(m->described.types) : NULL; }
char *method_copyArgumentType(Method m, unsigned int index) {
    if (!m || index >= method_getNumberOfArguments(m)) return NULL;
    const char *type = objc_type_skip(m->described.types);
    while (index--) type = objc_type_skip(type);
    return type_text(type);
}
static void give_text(char *text, char *to, size_t room) { // as strncpy: the rest is zeroed
    if (to && room) strncpy(to, text ? text : "", room);
    free(text);
}
void method_getReturnType(Method m, char *text, size_t room) {
    give_text(method_copyReturnType(m), text, room);
}
void method_getArgumentType(Method m, unsigned int index, char *text, size_t room) {
    give_text(method_copyArgumentType(m, index), text, room);
}

// ---- Variables ----

Ivar class_getInstanceVariable(Class cls, const char *name) {
    if (!cls || !name) return NULL;
    Ivar found = NULL;
    lock_runtime();
    for (Class c = cls; c && !found; c = c->superclass)
        for (uint32_t i = 0; i < c->info->n_ivars && !found; i++)
            if (c->info->ivars[i]->name && !strcmp(c->info->ivars[i]->name, name))
                found = c->info->ivars[i];
    unlock_runtime();
    return found;
}
Ivar class_getClassVariable(Class cls, const char *name) {
    return cls ? class_getInstanceVariable(cls->isa, name) : NULL;
}
static void *copy_list(const void *items, uint32_t count, unsigned int *n) {
    if (n) *n = count;
    if (!count) return NULL;
    void **list = objc_zeroed((count + 1) * sizeof *list);
    memcpy(list, items, count * sizeof *list);
    return list;
}
Ivar *class_copyIvarList(Class cls, unsigned int *n) {
    lock_runtime();
    Ivar *list = cls ? copy_list(cls->info->ivars, cls->info->n_ivars, n) : copy_list(NULL, 0, n);
    unlock_runtime();
    return list;
}
const char *ivar_getName(Ivar ivar) { return ivar ? ivar->name : NULL; }
const char *ivar_getTypeEncoding(Ivar ivar) { return ivar ? ivar->types : NULL; }
ptrdiff_t ivar_getOffset(Ivar ivar) { return ivar ? *ivar->offset : 0; }

static id *variable(id object, Ivar ivar) {
    return (id *)(void *)((char *)object + ivar_getOffset(ivar));
}
id object_getIvar(id object, Ivar ivar) { return object && ivar ? *variable(object, ivar) : NULL; }
void object_setIvar(id object, Ivar ivar, id value) {
    if (object && ivar) *variable(object, ivar) = value;
}
void object_setIvarWithStrongDefault(id object, Ivar ivar, id value) {
    if (object && ivar) objc_storeStrong(variable(object, ivar), value);
}
Ivar object_getInstanceVariable(id object, const char *name, void **value) {
    Ivar ivar = class_getInstanceVariable(object_getClass(object), name);
    if (value) *value = ivar ? *(void **)variable(object, ivar) : NULL;
    return ivar;
}
Ivar object_setInstanceVariable(id object, const char *name, void *value) {
    Ivar ivar = class_getInstanceVariable(object_getClass(object), name);
    if (ivar) *(void **)variable(object, ivar) = value;
    return ivar;
}

// ---- Properties ----

objc_property_t class_getProperty(Class cls, const char *name) {
    if (!cls || !name) return NULL;
    objc_property_t found = NULL;
    lock_runtime();
    for (Class c = cls; c && !found; c = c->superclass)
        for (uint32_t i = 0; i < c->info->n_properties && !found; i++)
            if (!strcmp(c->info->properties[i]->name, name)) found = c->info->properties[i];
    unlock_runtime();
    return found;
}
objc_property_t *class_copyPropertyList(Class cls, unsigned int *n) {
    lock_runtime();
    objc_property_t *list =
        cls ? copy_list(cls->info->properties, cls->info->n_properties, n) : copy_list(NULL, 0, n);
    unlock_runtime();
    return list;
}
const char *property_getName(objc_property_t p) { return p ? p->name : NULL; }
const char *property_getAttributes(objc_property_t p) { return p ? p->attributes : NULL; }

// "T@\"NSString\",C,N,V_name": a name is one letter (or quoted), the rest its value.
static const char *next_attribute(const char *at, const char **name, size_t *n_name,
                                  const char **value, size_t *n_value) {
    if (!*at) return NULL;
    *name = at, *n_name = 1;
    if (*at == '"') {
        *name = at + 1;
        const char *end = strchr(at + 1, '"');
        *n_name = end ? (size_t)(end - at - 1) : strlen(at + 1);
        at = end ? end + 1 : at + 1 + *n_name;
    } else
        at++;
    *value = at;
    bool quoted = false;
    while (*at && (quoted || *at != ',')) quoted ^= *at++ == '"';
    *n_value = (size_t)(at - *value);
    return *at ? at + 1 : at;
}
objc_property_attribute_t *property_copyAttributeList(objc_property_t p, unsigned int *n) {
    const char *name, *value;
    size_t n_name, n_value;
    unsigned count = 0;
    if (n) *n = 0;
    if (!p) return NULL;
    for (const char *at = p->attributes;
         (at = next_attribute(at, &name, &n_name, &value, &n_value));)
        count++;
    if (!count) return NULL;
    // One block for the caller to free: the list, then the texts.
    size_t list_bytes = (count + 1) * sizeof(objc_property_attribute_t);
    objc_property_attribute_t *list =
        objc_zeroed(list_bytes + strlen(p->attributes) + 2 * count + 1);
    char *text = (char *)list + list_bytes;
    unsigned i = 0;
    for (const char *at = p->attributes;
         (at = next_attribute(at, &name, &n_name, &value, &n_value)); i++) {
        list[i].name = memcpy(text, name, n_name), text += n_name + 1;
        list[i].value = memcpy(text, value, n_value), text += n_value + 1;
    }
    if (n) *n = count;
    return list;
}
char *property_copyAttributeValue(objc_property_t p, const char *wanted) {
    const char *name, *value;
    size_t n_name, n_value;
    if (!p || !wanted) return NULL;
    for (const char *at = p->attributes;
         (at = next_attribute(at, &name, &n_name, &value, &n_value));)
        if (strlen(wanted) == n_name && !memcmp(name, wanted, n_name))
            return objc_must(strndup(value, n_value));
    return NULL;
}
