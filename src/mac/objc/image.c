// SPDX-License-Identifier: Apache-2.0
// image.c: what an image (a program or a library) brings, handed over by its constructor
// (objc/objc.h), and the runtime's own start, before any image.
#include "mac/objc/objc_int.h"
#include <stdlib.h>

typedef struct Load { // a +load to call
    Class cls;
    IMP imp;
} Load;
typedef struct Loads {
    Load *items;
    size_t n;
} Loads;

static size_t list_count(const objc_image_list *list) {
    return list->start
               ? (size_t)((const char *)list->stop - (const char *)list->start) / sizeof(void *)
               : 0;
}
#define LIST(image, list, type) ((type *)(uintptr_t)(image)->list.start)

static void selectors(const objc_image *image) {
    const char **names = LIST(image, selectors, const char *);
    for (size_t i = 0, n = list_count(&image->selectors); i < n; i++)
        names[i] = (const char *)objc_selector(names[i]);
}

static void protocols(const objc_image *image) {
    AbiProtocol **list = LIST(image, protocols, AbiProtocol *);
    for (size_t i = 0, n = list_count(&image->protocols); i < n; i++)
        if (list[i]) protocol_enter(list[i]);
    AbiProtocol **uses = LIST(image, protocol_uses, AbiProtocol *);
    for (size_t i = 0, n = list_count(&image->protocol_uses); i < n; i++) {
        AbiProtocol *known = uses[i] ? protocol_named(uses[i]->name) : NULL;
        if (known) uses[i] = known; // @protocol(X) is one object in the process
    }
}

static void categories(const objc_image *image) {
    AbiCategory **list = LIST(image, categories, AbiCategory *);
    for (size_t i = 0, n = list_count(&image->categories); i < n; i++) {
        const AbiCategory *c = list[i];
        if (!c || !c->cls) continue; // of a class that a library does not have (weak)
        class_realise(c->cls);
        class_put_methods(c->cls, c->methods);
        class_put_methods(c->cls->isa, c->class_methods);
        class_put_protocols(c->cls, c->protocols);
        class_put_properties(c->cls, c->properties);
        if (c->n_bytes >= sizeof *c) class_put_properties(c->cls->isa, c->class_properties);
        cache_flush(c->cls);
    }
}

// The compiler's own list of +load, not the class's table: there a category may have replaced it.
static IMP load_of(const AbiMethods *methods) {
    for (uint32_t i = 0; methods && i < methods->count; i++)
        if (objc_selector(methods->items[i].name) == objc_sel.load) return methods->items[i].imp;
    return NULL;
}

static void add_load(Loads *loads, Class cls, IMP imp) {
    for (size_t i = 0; i < loads->n; i++)
        if (loads->items[i].imp == imp) return; // as somebody's superclass
    loads->items = objc_must(realloc(loads->items, (loads->n + 1) * sizeof *loads->items));
    loads->items[loads->n++] = (Load){cls, imp};
}

static void add_class_load(Loads *loads, const objc_image *image, Class cls) {
    if (!cls) return;
    Class *list = LIST(image, load_classes, Class);
    for (size_t i = 0, n = list_count(&image->load_classes); i < n; i++) {
        if (list[i] != cls) continue;
        add_class_load(loads, image, cls->superclass);
        const AbiClass *meta = (const AbiClass *)((uintptr_t)cls->isa->abi & ~(uintptr_t)7);
        IMP imp = load_of(meta->methods);
        if (imp) add_load(loads, cls, imp);
        return;
    }
    add_class_load(loads, image, cls->superclass); // has none, but its superclass may
}

// Classes, superclasses first; then categories. Loads of other images were called as those came.
static Loads find_loads(const objc_image *image) {
    Loads loads = {0};
    Class *classes = LIST(image, load_classes, Class);
    for (size_t i = 0, n = list_count(&image->load_classes); i < n; i++)
        add_class_load(&loads, image, classes[i]);
    AbiCategory **list = LIST(image, load_categories, AbiCategory *);
    for (size_t i = 0, n = list_count(&image->load_categories); i < n; i++) {
        IMP imp = list[i] && list[i]->cls ? load_of(list[i]->class_methods) : NULL;
        if (imp) add_load(&loads, list[i]->cls, imp);
    }
    return loads;
}

void objc_ingot_register_image(const objc_image *image) {
    lock_runtime();
    selectors(image);
    protocols(image);
    Class *classes = LIST(image, classes, Class);
    for (size_t i = 0, n = list_count(&image->classes); i < n; i++) class_realise(classes[i]);
    categories(image);
    Loads loads = find_loads(image);
    unlock_runtime();
    if (!loads.n) return;
    void *pool = objc_autoreleasePoolPush();
    for (size_t i = 0; i < loads.n; i++)
        ((void (*)(Class, SEL))loads.items[i].imp)(loads.items[i].cls, objc_sel.load);
    objc_autoreleasePoolPop(pool);
    free(loads.items);
}

__attribute__((constructor(101))) static void start(void) {
    objc_selectors_start();
    weak_start();
    lock_runtime();
    nsobject_start();
    protocol_start();
    block_start();
    unlock_runtime();
}
