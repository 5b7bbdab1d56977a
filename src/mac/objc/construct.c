// SPDX-License-Identifier: Apache-2.0
// construct.c: classes made at run time, from Objective-C's functions or from C
// (objc/objc-ingot.h).
#include "mac/objc/objc_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Class pairs ----

Class objc_allocateClassPair(Class superclass, const char *name, size_t extra_bytes) {
    if (!name) return NULL;
    lock_runtime();
    bool taken = class_named(name) ||
                 (superclass && superclass->info && class_is(superclass, CLASS_BUILDING));
    Class cls = NULL;
    if (!taken) {
        cls = objc_zeroed(2 * sizeof *cls + extra_bytes);
        Class meta = objc_zeroed(sizeof *meta);
        class_define(cls, meta, objc_must(strdup(name)), superclass, 0);
        if (!superclass) cls->info->instance_bytes = sizeof(Class);
        atomic_fetch_or(&cls->info->flags, CLASS_BUILDING | CLASS_MADE);
    }
    unlock_runtime();
    return cls;
}

void objc_registerClassPair(Class cls) {
    if (!cls) return;
    lock_runtime();
    if (class_is(cls, CLASS_BUILDING) && !class_named(cls->info->name)) {
        atomic_fetch_and(&cls->info->flags, ~(unsigned)CLASS_BUILDING);
        class_enter(cls);
    }
    unlock_runtime();
}

static void free_info(Class cls) {
    ClassInfo *info = cls->info;
    for (uint32_t i = 0; i < info->method_room; i++) {
        if (info->methods[i] && *info->methods[i]->described.types)
            free(info->methods[i]->described.types);
        free(info->methods[i]);
    }
    for (uint32_t i = 0; i < info->n_ivars; i++) {
        free((void *)(uintptr_t)info->ivars[i]->name),
            free((void *)(uintptr_t)info->ivars[i]->types);
        free(info->ivars[i]);
    }
    for (uint32_t i = 0; i < info->n_properties; i++) free(info->properties[i]);
    free(info->methods), free(info->ivars), free(info->properties), free(info->protocols);
    free(info);
}

// Only classes made at run time, and only if nothing is below them. Instances must be gone.
void objc_disposeClassPair(Class cls) {
    if (!cls) return;
    lock_runtime();
    if (!class_is(cls, CLASS_MADE) || cls->info->first_subclass) {
        fprintf(stderr, "objc: class %s cannot be disposed of\n", cls->info->name);
        unlock_runtime();
        return;
    }
    cache_flush(cls);
    class_leave(cls);
    Class meta = cls->isa;
    char *name = (char *)(uintptr_t)cls->info->name;
    free_info(cls), free_info(meta);
    free(name), free(meta), free(cls);
    unlock_runtime();
}

BOOL class_addIvar(Class cls, const char *name, size_t n_bytes, uint8_t log2_alignment,
                   const char *types) {
    if (!cls || class_isMetaClass(cls) || log2_alignment > 12) return NO;
    if (name && class_getInstanceVariable(cls, name)) return NO;
    lock_runtime();
    bool can = class_is(cls, CLASS_BUILDING);
    if (can) {
        struct objc_ivar *ivar = objc_zeroed(sizeof *ivar);
        size_t alignment = (size_t)1 << log2_alignment;
        size_t at = (cls->info->instance_bytes + alignment - 1) & ~(alignment - 1);
        *ivar = (struct objc_ivar){.name = name ? objc_must(strdup(name)) : NULL,
                                   .types = objc_must(strdup(types ? types : "")),
                                   .n_bytes = n_bytes,
                                   .log2_alignment = log2_alignment,
                                   .own_offset = (int32_t)at};
        ivar->offset = &ivar->own_offset;
        cls->info->instance_bytes = (uint32_t)(at + n_bytes);
        class_put_ivar(cls, ivar);
    }
    unlock_runtime();
    return can;
}

BOOL class_addProtocol(Class cls, Protocol *protocol) {
    if (!cls || !protocol || class_conformsToProtocol(cls, protocol)) return NO;
    lock_runtime();
    class_put_protocol(cls, protocol);
    unlock_runtime();
    return YES;
}

// name and attributes in one block: "T@\"NSString\",C,V_x"
static struct objc_property *new_property(const char *name, const objc_property_attribute_t *list,
                                          unsigned n) {
    size_t bytes = sizeof(struct objc_property) + strlen(name) + 2;
    for (unsigned i = 0; i < n; i++) bytes += strlen(list[i].name) + strlen(list[i].value) + 3;
    struct objc_property *p = objc_zeroed(bytes);
    char *text = strcpy((char *)(p + 1), name);
    p->name = text, text += strlen(name) + 1;
    p->attributes = text;
    for (unsigned i = 0; i < n; i++) {
        const char *quote = strlen(list[i].name) > 1 ? "\"" : "";
        text +=
            sprintf(text, "%s%s%s%s%s", i ? "," : "", quote, list[i].name, quote, list[i].value);
    }
    return p;
}

static objc_property_t own_property(Class cls, const char *name) {
    for (uint32_t i = 0; i < cls->info->n_properties; i++)
        if (!strcmp(cls->info->properties[i]->name, name)) return cls->info->properties[i];
    return NULL;
}

BOOL class_addProperty(Class cls, const char *name, const objc_property_attribute_t *attributes,
                       unsigned int n) {
    if (!cls || !name) return NO;
    lock_runtime();
    bool fresh = !own_property(cls, name);
    if (fresh) class_put_property(cls, new_property(name, attributes, n));
    unlock_runtime();
    return fresh;
}

void class_replaceProperty(Class cls, const char *name, const objc_property_attribute_t *attributes,
                           unsigned int n) {
    if (!cls || !name || class_addProperty(cls, name, attributes, n)) return;
    lock_runtime();
    objc_property_t p = own_property(cls, name);
    for (uint32_t i = 0; i < cls->info->n_properties; i++)
        if (cls->info->properties[i] == p) // the old one may be in somebody's hands: it stays
            cls->info->properties[i] = new_property(name, attributes, n);
    unlock_runtime();
}

// ---- From C ----

Class objc_ingot_adopt(void *record, const char *name, Class superclass,
                       const objc_ingot_counting *counting) {
    lock_runtime();
    Class cls = record;
    if (class_named(name)) {
        unlock_runtime();
        return NULL;
    }
    class_define(cls, objc_zeroed(sizeof *cls), objc_must(strdup(name)), superclass, 0);
    if (counting) {
        atomic_store(&cls->info->counting, counting);
        atomic_fetch_and(&cls->info->flags, ~(unsigned)CLASS_COUNTED);
    }
    atomic_fetch_or(&cls->info->flags, CLASS_DEFINED);
    class_enter(cls);
    unlock_runtime();
    return cls;
}

Class objc_ingot_new_class(const char *name, Class superclass, size_t n_bytes) {
    Class record = objc_zeroed(sizeof *record),
          cls = objc_ingot_adopt(record, name, superclass, NULL);
    if (!cls)
        free(record);
    else if (n_bytes)
        cls->info->instance_bytes = (uint32_t)n_bytes;
    return cls;
}

void objc_ingot_add_methods(Class cls, const objc_ingot_method *m) {
    if (!cls) return;
    lock_runtime();
    for (; m->name; m++)
        class_put_method(*m->name == '+' ? cls->isa : cls, objc_selector(m->name + 1), m->imp,
                         m->types);
    cache_flush(cls);
    unlock_runtime();
}
