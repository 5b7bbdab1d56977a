// SPDX-License-Identifier: Apache-2.0
// protocol.c: protocols. Each image has a copy of those it names; the first one of a name stands
// for all.
#include "mac/objc/objc_int.h"
#include <stdlib.h>
#include <string.h>

static Table by_name; // a selector of the same text -> AbiProtocol; locked

static const AbiProtocol *abi(const Protocol *protocol) {
    return (const AbiProtocol *)(const void *)protocol;
}

// The root class is written in C and conforms to a protocol that images bring: this stands in until
// then.
static AbiProtocol root_protocol = {.name = "NSObject", .n_bytes = sizeof(AbiProtocol)};
void protocol_start(void) {
    root_protocol.isa = &objc_class_Protocol;
    table_set(&by_name, objc_selector("NSObject"), &root_protocol);
    class_put_protocol(&objc_class_NSObject, (Protocol *)&root_protocol);
}

void protocol_enter(AbiProtocol *protocol) {
    SEL key = objc_selector(protocol->name);
    AbiProtocol *known = table_get(&by_name, key);
    if (!known || known == &root_protocol) table_set(&by_name, key, protocol);
    if (!protocol->isa) protocol->isa = &objc_class_Protocol;
}
AbiProtocol *protocol_named(const char *name) { return table_get(&by_name, objc_selector(name)); }

bool protocol_conforms(const AbiProtocol *p, const char *name) {
    if (!strcmp(p->name, name)) return true;
    for (uintptr_t i = 0; p->protocols && i < p->protocols->count; i++)
        if (protocol_conforms(p->protocols->items[i], name)) return true;
    return false;
}

Protocol *objc_getProtocol(const char *name) {
    if (!name) return NULL;
    lock_runtime();
    AbiProtocol *found = protocol_named(name);
    unlock_runtime();
    return (Protocol *)found;
}
const char *protocol_getName(Protocol *p) { return p ? abi(p)->name : "nil"; }
BOOL protocol_isEqual(Protocol *a, Protocol *b) {
    return a == b || (a && b && !strcmp(abi(a)->name, abi(b)->name));
}
BOOL protocol_conformsToProtocol(Protocol *p, Protocol *other) {
    return p && other && protocol_conforms(abi(p), abi(other)->name);
}

BOOL class_conformsToProtocol(Class cls, Protocol *protocol) {
    if (!cls || !protocol) return NO;
    bool conforms = false;
    lock_runtime();
    class_realise(cls);
    for (uint32_t i = 0; i < cls->info->n_protocols && !conforms; i++)
        conforms = protocol_conforms(abi(cls->info->protocols[i]), abi(protocol)->name);
    unlock_runtime();
    return conforms;
}

static Protocol *canonical(const AbiProtocol *p) {
    AbiProtocol *known = protocol_named(p->name);
    return (Protocol *)(uintptr_t)(known ? known : p);
}
Protocol **class_copyProtocolList(Class cls, unsigned int *n) {
    lock_runtime();
    uint32_t count = cls ? cls->info->n_protocols : 0;
    Protocol **list = count ? objc_zeroed((count + 1) * sizeof *list) : NULL;
    for (uint32_t i = 0; i < count; i++) list[i] = canonical(abi(cls->info->protocols[i]));
    unlock_runtime();
    if (n) *n = count;
    return list;
}
Protocol **protocol_copyProtocolList(Protocol *p, unsigned int *n) {
    const AbiProtocols *from = p ? abi(p)->protocols : NULL;
    uintptr_t count = from ? from->count : 0;
    Protocol **list = count ? objc_zeroed((count + 1) * sizeof *list) : NULL;
    lock_runtime();
    for (uintptr_t i = 0; i < count; i++) list[i] = canonical(from->items[i]);
    unlock_runtime();
    if (n) *n = (unsigned)count;
    return list;
}
Protocol **objc_copyProtocolList(unsigned int *n) {
    lock_runtime();
    Protocol **list = objc_zeroed((by_name.n + 1) * sizeof *list);
    unsigned count = 0;
    for (size_t i = 0; i < by_name.room; i++)
        if (by_name.keys[i]) list[count++] = by_name.values[i];
    unlock_runtime();
    if (n) *n = count;
    return list;
}

// ---- What a protocol asks for ----

static const AbiMethods *methods(const AbiProtocol *p, bool required, bool instance) {
    return p->methods[(instance ? METHODS_INSTANCE : METHODS_CLASS) +
                      (required ? 0 : METHODS_OPTIONAL)];
}

struct objc_method_description protocol_getMethodDescription(Protocol *p, SEL name, BOOL required,
                                                             BOOL instance) {
    struct objc_method_description none = {0};
    if (!p || !name) return none;
    const AbiMethods *list = methods(abi(p), required, instance);
    for (uint32_t i = 0; list && i < list->count; i++)
        if (objc_selector(list->items[i].name) == name)
            return (struct objc_method_description){name, (char *)(uintptr_t)list->items[i].types};
    for (uintptr_t i = 0; abi(p)->protocols && i < abi(p)->protocols->count; i++) {
        struct objc_method_description found = protocol_getMethodDescription(
            (Protocol *)abi(p)->protocols->items[i], name, required, instance);
        if (found.name) return found;
    }
    return none;
}

struct objc_method_description *protocol_copyMethodDescriptionList(Protocol *p, BOOL required,
                                                                   BOOL instance, unsigned int *n) {
    const AbiMethods *from = p ? methods(abi(p), required, instance) : NULL;
    uint32_t count = from ? from->count : 0;
    struct objc_method_description *list = count ? objc_zeroed((count + 1) * sizeof *list) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        list[i].name = objc_selector(from->items[i].name);
        list[i].types = (char *)(uintptr_t)from->items[i].types;
    }
    if (n) *n = count;
    return list;
}

objc_property_t *protocol_copyPropertyList(Protocol *p, unsigned int *n) {
    AbiProperties *from = p ? abi(p)->properties : NULL;
    uint32_t count = from ? from->count : 0;
    objc_property_t *list = count ? objc_zeroed((count + 1) * sizeof *list) : NULL;
    for (uint32_t i = 0; i < count; i++) list[i] = &from->items[i];
    if (n) *n = count;
    return list;
}
objc_property_t protocol_getProperty(Protocol *p, const char *name, BOOL required, BOOL instance) {
    if (!p || !name || !required) return NULL;
    AbiProperties *list = instance ? abi(p)->properties : abi(p)->class_properties;
    for (uint32_t i = 0; list && i < list->count; i++)
        if (!strcmp(list->items[i].name, name)) return &list->items[i];
    return NULL;
}

// ---- Protocols made at run time ----

Protocol *objc_allocateProtocol(const char *name) {
    if (!name || objc_getProtocol(name)) return NULL;
    AbiProtocol *p = objc_zeroed(sizeof *p);
    p->name = objc_must(strdup(name)), p->n_bytes = sizeof *p;
    return (Protocol *)p;
}
void objc_registerProtocol(Protocol *protocol) {
    if (!protocol) return;
    lock_runtime();
    if (!protocol_named(abi(protocol)->name)) protocol_enter((AbiProtocol *)(void *)protocol);
    unlock_runtime();
}
static AbiProtocol *unregistered(Protocol *p) {
    return p && !abi(p)->isa ? (AbiProtocol *)(void *)p : NULL;
}

void protocol_addMethodDescription(Protocol *protocol, SEL name, const char *types, BOOL required,
                                   BOOL instance) {
    AbiProtocol *p = unregistered(protocol);
    if (!p || !name) return;
    AbiMethods **list = &p->methods[(instance ? METHODS_INSTANCE : METHODS_CLASS) +
                                    (required ? 0 : METHODS_OPTIONAL)];
    uint32_t n = *list ? (*list)->count : 0;
    *list = objc_must(realloc(*list, sizeof **list + (n + 1) * sizeof(AbiMethod)));
    (*list)->item_bytes = sizeof(AbiMethod), (*list)->count = n + 1;
    (*list)->items[n] = (AbiMethod){sel_getName(name), objc_must(strdup(types ? types : "")), NULL};
}
void protocol_addProtocol(Protocol *protocol, Protocol *addition) {
    AbiProtocol *p = unregistered(protocol);
    if (!p || !addition) return;
    uintptr_t n = p->protocols ? p->protocols->count : 0;
    p->protocols =
        objc_must(realloc(p->protocols, sizeof *p->protocols + (n + 1) * sizeof(AbiProtocol *)));
    p->protocols->items[n] = (AbiProtocol *)(void *)addition;
    p->protocols->count = n + 1;
}
