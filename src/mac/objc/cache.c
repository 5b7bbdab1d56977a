// SPDX-License-Identifier: Apache-2.0
// cache.c: the method cache of a class: selector -> implementation, read by the assembly without a
// lock.
//
// Entries are only added, and never overwritten; a cache that is full or stale is replaced as a
// whole. Other threads may be reading the old one, so it is not freed (it is smaller than the new
// one, or was invalidated by a change of methods, which is rare).
#include "mac/objc/objc_int.h"

enum { CACHE_FIRST = 8, CACHE_SPILL = 8 };

// What the compiler gives every class: no entry, one place that ends a search.
__attribute__((visibility("default"))) struct EmptyCache _objc_empty_cache;
static CacheEntry *entries(const Cache *cache) { return (CacheEntry *)(uintptr_t)(cache + 1); }

static struct Old {
    struct Old *next;
    Cache *cache;
} *old_caches; // kept reachable

static Cache *new_cache(uint32_t room) {
    Cache *cache = objc_zeroed(sizeof *cache + (room + CACHE_SPILL + 1) * sizeof(CacheEntry));
    cache->room = room, cache->mask = (uint64_t)(room - 1) * sizeof(CacheEntry);
    return cache;
}

static bool insert_method(Cache *cache, SEL name, IMP imp) {
    size_t at = (((uintptr_t)name * 2) & cache->mask) / sizeof(CacheEntry);
    for (size_t end = cache->room + CACHE_SPILL; at < end; at++) {
        CacheEntry *entry = &entries(cache)[at];
        SEL there = atomic_load_explicit(&entry->name, memory_order_relaxed);
        if (there == name) return true;
        if (there) continue;
        atomic_store_explicit(&entry->imp, imp, memory_order_relaxed);
        atomic_store_explicit(&entry->name, name, memory_order_release);
        cache->used++;
        return true;
    }
    return false;
}

static void retire(Cache *cache) {
    if (cache == EMPTY_CACHE) return;
    struct Old *old = objc_zeroed(sizeof *old);
    *old = (struct Old){old_caches, cache};
    old_caches = old;
}

static bool copy_all(Cache *to, const Cache *from) {
    for (uint32_t i = 0; i < from->room + CACHE_SPILL; i++)
        if (entries(from)[i].name &&
            !insert_method(to, entries(from)[i].name, entries(from)[i].imp))
            return false;
    return true;
}

void cache_insert(Class cls, SEL name, IMP imp) {
    Cache *cache = atomic_load(&cls->cache);
    bool none = cache == EMPTY_CACHE;
    if (!none && cache->used * 4 < cache->room * 3 && insert_method(cache, name, imp)) return;
    uint32_t room = none ? CACHE_FIRST : cache->room * 2;
    Cache *bigger = new_cache(room);
    // A cluster that does not fit behind the last place asks for more room: it spreads.
    while ((!none && !copy_all(bigger, cache)) || !insert_method(bigger, name, imp)) {
        retire(bigger);
        bigger = new_cache(room *= 2);
    }
    atomic_store_explicit(&cls->cache, bigger, memory_order_release);
    retire(cache);
}

static void flush_one(Class cls) {
    retire(atomic_load(&cls->cache));
    atomic_store_explicit(&cls->cache, EMPTY_CACHE, memory_order_release);
}

void cache_flush(Class cls) {
    if (class_is(cls, CLASS_META)) cls = cls->info->owner;
    flush_one(cls), flush_one(cls->isa);
    for (Class c = cls->info->first_subclass; c; c = c->info->next_sibling) cache_flush(c);
}
