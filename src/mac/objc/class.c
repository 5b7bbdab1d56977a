// SPDX-License-Identifier: Apache-2.0
// class.c: the classes of the process: what the compiler wrote becomes a ClassInfo (realising),
// tables of methods, the tree of subclasses, the table of names. Everything here is locked.
#include "mac/objc/objc_int.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t objc_lock = PTHREAD_MUTEX_INITIALIZER;
static Table by_name; // a selector of the same text -> class

void objc_fatal(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("objc: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}
void *objc_must(void *memory) {
    if (!memory) objc_fatal("no memory");
    return memory;
}
void *objc_zeroed(size_t n_bytes) { return objc_must(calloc(1, n_bytes ? n_bytes : 1)); }

static void *appended(void *list, uint32_t n, size_t item_bytes) {
    if (n & (n - 1)) return list; // room doubles at powers of two
    return objc_must(realloc(list, (n ? (size_t)n * 2 : 1) * item_bytes));
}

// ---- Methods ----

static size_t method_place(const ClassInfo *info, SEL name) {
    size_t mask = info->method_room - 1, at = ((uintptr_t)name >> 3) & mask;
    while (info->methods[at] && info->methods[at]->described.name != name) at = (at + 1) & mask;
    return at;
}

static void methods_grow(ClassInfo *info) {
    Method *old = info->methods;
    uint32_t old_room = info->method_room;
    info->method_room = old_room ? old_room * 2 : 8;
    info->methods = objc_zeroed(info->method_room * sizeof *info->methods);
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i]) info->methods[method_place(info, old[i]->described.name)] = old[i];
    free(old);
}

Method class_own_method(Class cls, SEL name) {
    const ClassInfo *info = cls->info;
    return info->n_methods ? info->methods[method_place(info, name)] : NULL;
}

Method class_method(Class cls, SEL name) {
    Method found = NULL;
    for (; cls && !found; cls = cls->superclass) found = class_own_method(cls, name);
    return found;
}

static void uncount(Class cls) { // a class that counts by methods of its own: all below it, too
    atomic_fetch_and(&cls->info->flags, ~(unsigned)CLASS_COUNTED);
    for (Class c = cls->info->first_subclass; c; c = c->info->next_sibling) uncount(c);
}

static bool counts(SEL name) {
    return name == objc_sel.retain || name == objc_sel.release || name == objc_sel.autorelease ||
           name == objc_sel.retainCount || name == objc_sel.allowsWeakReference ||
           name == objc_sel.retainWeakReference;
}

Method class_put_method(Class cls, SEL name, IMP imp, const char *types) {
    ClassInfo *info = cls->info;
    if ((info->n_methods + 1) * 2 > info->method_room) methods_grow(info);
    size_t at = method_place(info, name);
    Method m = info->methods[at];
    if (!m) {
        m = objc_zeroed(sizeof *m);
        m->described.name = name, m->cls = cls;
        info->methods[at] = m, info->n_methods++;
    }
    m->described.types = (char *)(uintptr_t)(types ? types : "");
    atomic_store(&m->imp, imp);
    if (name == objc_sel.cxx_construct) info->cxx_construct = imp;
    if (name == objc_sel.cxx_destruct) info->cxx_destruct = imp;
    if (cls != &objc_class_NSObject && !class_is(cls, CLASS_META) && counts(name)) uncount(cls);
    return m;
}

void class_put_methods(Class cls, const AbiMethods *list) {
    for (uint32_t i = 0; list && i < list->count; i++)
        class_put_method(cls, objc_selector(list->items[i].name), list->items[i].imp,
                         list->items[i].types);
}

// ---- Protocols, properties, variables ----

void class_put_protocol(Class cls, Protocol *protocol) {
    ClassInfo *info = cls->info;
    info->protocols = appended(info->protocols, info->n_protocols, sizeof *info->protocols);
    info->protocols[info->n_protocols++] = protocol;
}

void class_put_protocols(Class cls, const AbiProtocols *list) {
    for (uintptr_t i = 0; list && i < list->count; i++)
        class_put_protocol(cls, (Protocol *)list->items[i]);
}

void class_put_property(Class cls, struct objc_property *property) {
    ClassInfo *info = cls->info;
    info->properties = appended(info->properties, info->n_properties, sizeof *info->properties);
    info->properties[info->n_properties++] = property;
}

void class_put_properties(Class cls, const AbiProperties *list) {
    for (uint32_t i = 0; list && i < list->count; i++)
        class_put_property(cls, (struct objc_property *)(uintptr_t)&list->items[i]);
}

void class_put_ivar(Class cls, struct objc_ivar *ivar) {
    ClassInfo *info = cls->info;
    info->ivars = appended(info->ivars, info->n_ivars, sizeof *info->ivars);
    info->ivars[info->n_ivars++] = ivar;
}

static void put_ivars(Class cls, const AbiIvars *list) {
    for (uint32_t i = 0; list && i < list->count; i++) {
        const AbiIvar *from = &list->items[i];
        struct objc_ivar *ivar = objc_zeroed(sizeof *ivar);
        *ivar = (struct objc_ivar){.name = from->name,
                                   .types = from->types,
                                   .offset = from->offset,
                                   .n_bytes = from->n_bytes,
                                   .log2_alignment =
                                       from->log2_alignment == ~0u ? 3 : from->log2_alignment};
        class_put_ivar(cls, ivar);
    }
}

// ---- Realising ----

static ClassInfo *new_info(Class cls, const char *name, unsigned flags, size_t instance_bytes) {
    ClassInfo *info = objc_zeroed(sizeof *info);
    info->name = name, info->instance_bytes = (uint32_t)instance_bytes;
    atomic_init(&info->flags, flags);
    if (cls->superclass) atomic_init(&info->counting, cls->superclass->info->counting);
    cls->info = info;
    return info;
}

static unsigned inherited_flags(Class superclass) {
    return superclass ? atomic_load(&superclass->info->flags) & CLASS_COUNTED : 0;
}

static void join_tree(Class cls) {
    if (!cls->superclass) return;
    cls->info->next_sibling = cls->superclass->info->first_subclass;
    cls->superclass->info->first_subclass = cls;
}

// Variables begin behind those of the superclass, which may have grown since this class was
// compiled.
static uint32_t place_ivars(Class cls, const AbiClass *abi) {
    uint32_t above = cls->superclass ? cls->superclass->info->instance_bytes : 0;
    if (abi->instance_start >= above) return abi->instance_bytes;
    uint32_t alignment = 8;
    for (uint32_t i = 0; abi->ivars && i < abi->ivars->count; i++)
        if (abi->ivars->items[i].log2_alignment < 16 &&
            1u << abi->ivars->items[i].log2_alignment > alignment)
            alignment = 1u << abi->ivars->items[i].log2_alignment;
    uint32_t shift = (above - abi->instance_start + alignment - 1) & ~(alignment - 1);
    for (uint32_t i = 0; abi->ivars && i < abi->ivars->count; i++)
        if (abi->ivars->items[i].offset) *abi->ivars->items[i].offset += (int32_t)shift;
    return abi->instance_bytes + shift;
}

void class_realise(Class cls) {
    if (!cls || cls->info) return;
    class_realise(cls->superclass);
    const AbiClass *abi = (const AbiClass *)((uintptr_t)cls->abi & ~(uintptr_t)7);
    Class meta = cls->isa;
    const AbiClass *meta_abi = (const AbiClass *)((uintptr_t)meta->abi & ~(uintptr_t)7);
    uint32_t n_bytes = place_ivars(cls, abi);
    new_info(cls, abi->name, inherited_flags(cls->superclass), n_bytes);
    if (!cls->superclass)
        atomic_store(&cls->info->flags, CLASS_COUNTED); // a root of the program's own
    if (!meta->superclass) meta->superclass = cls;
    new_info(meta, abi->name, CLASS_META, sizeof(struct objc_class))->owner = cls;
    atomic_store(&meta->info->counting, NULL);
    put_ivars(cls, abi->ivars);
    class_put_methods(cls, abi->methods);
    class_put_methods(meta, meta_abi->methods);
    class_put_protocols(cls, abi->protocols);
    class_put_properties(cls, abi->properties);
    class_put_properties(meta, meta_abi->properties);
    join_tree(cls);
    if (class_named(abi->name)) // both work; the first one has the name
        fprintf(stderr, "objc: class %s is in two images; its name means the first\n", abi->name);
    else
        class_enter(cls);
}

void class_define(Class cls, Class meta, const char *name, Class superclass,
                  size_t instance_bytes) {
    if (superclass) class_realise(superclass);
    Class root = superclass;
    while (root && root->superclass) root = root->superclass;
    cls->isa = meta, cls->superclass = superclass;
    meta->isa = root ? root->isa : meta;
    meta->superclass = superclass ? superclass->isa : cls;
    atomic_store(&cls->cache, EMPTY_CACHE);
    atomic_store(&meta->cache, EMPTY_CACHE);
    if (!instance_bytes && superclass) instance_bytes = superclass->info->instance_bytes;
    ClassInfo *info = new_info(cls, name, inherited_flags(superclass), instance_bytes);
    info->version = superclass ? superclass->info->version : 0;
    if (!superclass) atomic_store(&info->flags, CLASS_COUNTED);
    cls->superclass = superclass;
    ClassInfo *meta_info = objc_zeroed(sizeof *meta_info);
    meta_info->name = name, meta_info->owner = cls;
    meta_info->instance_bytes = sizeof(struct objc_class);
    atomic_init(&meta_info->flags, CLASS_META);
    meta->info = meta_info;
    join_tree(cls);
}

// ---- Names ----

void class_enter(Class cls) { table_set(&by_name, objc_selector(cls->info->name), cls); }

void class_leave(Class cls) {
    if (class_named(cls->info->name) == cls) table_remove(&by_name, objc_selector(cls->info->name));
    if (!cls->superclass) return;
    Class *at = &cls->superclass->info->first_subclass;
    while (*at && *at != cls) at = &(*at)->info->next_sibling;
    if (*at) *at = cls->info->next_sibling;
}

Class class_named(const char *name) { return table_get(&by_name, objc_selector(name)); }

Class *class_all(size_t *n) {
    Class *all = objc_zeroed((by_name.n + 1) * sizeof *all);
    *n = 0;
    for (size_t i = 0; i < by_name.room; i++)
        if (by_name.keys[i]) all[(*n)++] = by_name.values[i];
    return all;
}
