// SPDX-License-Identifier: Apache-2.0
// lsda.c: reads a function's table of handlers: call sites with their landing pads, chains of
// actions, and types. The format is that of the Itanium C++ ABI's exception handling tables (DWARF
// encodings).
#include "mac/objc/lsda.h"
#include <stddef.h>
#include <string.h>

// DWARF: how a pointer is written: its form, what it is relative to, and that it is only the place
// of another.
enum { FORM_ABSOLUTE, FORM_ULEB, FORM_U2, FORM_U4, FORM_U8, FORM_MASK = 0x0f };
enum { FORM_SLEB = 9, FORM_S2, FORM_S4, FORM_S8 };
enum { RELATIVE_PC = 0x10, RELATIVE_MASK = 0x70, INDIRECT = 0x80, OMITTED = 0xff };

// LEB128: seven bits a byte, the lowest first; where they end, in *shift, and the last byte.
static uint64_t read_leb(const uint8_t **at, unsigned *shift, uint8_t *byte) {
    uint64_t value = 0;
    *shift = 0;
    do {
        *byte = *(*at)++;
        value |= (uint64_t)(*byte & 0x7f) << *shift;
        *shift += 7;
    } while (*byte & 0x80);
    return value;
}

static uint64_t read_uleb(const uint8_t **at) {
    unsigned shift;
    uint8_t byte;
    return read_leb(at, &shift, &byte);
}

static int64_t read_sleb(const uint8_t **at) {
    unsigned shift;
    uint8_t byte;
    uint64_t value = read_leb(at, &shift, &byte);
    if (shift < 64 && byte & 0x40) value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

static uint64_t read_fixed(const uint8_t **at, size_t n_bytes, bool is_signed) {
    uint64_t value = 0;
    memcpy(&value, *at, n_bytes); // little-endian
    *at += n_bytes;
    unsigned shift = 64 - 8 * (unsigned)n_bytes;
    return is_signed && shift ? (uint64_t)((int64_t)(value << shift) >> shift) : value;
}

static uintptr_t read_pointer(const uint8_t **at, uint8_t encoding) {
    const uint8_t *start = *at;
    uint64_t value;
    switch (encoding & FORM_MASK) {
    case FORM_ULEB: value = read_uleb(at); break;
    case FORM_SLEB: value = (uint64_t)read_sleb(at); break;
    case FORM_U2: value = read_fixed(at, 2, false); break;
    case FORM_S2: value = read_fixed(at, 2, true); break;
    case FORM_U4: value = read_fixed(at, 4, false); break;
    case FORM_S4: value = read_fixed(at, 4, true); break;
    default: value = read_fixed(at, 8, false); // absolute, 8 bytes
    }
    if (!value) return 0;
    if ((encoding & RELATIVE_MASK) == RELATIVE_PC) value += (uintptr_t)start;
    if (encoding & INDIRECT) value = *(const uintptr_t *)(uintptr_t)value;
    return (uintptr_t)value;
}

static size_t form_bytes(uint8_t encoding) {
    switch (encoding & FORM_MASK) {
    case FORM_U2:
    case FORM_S2: return 2;
    case FORM_U4:
    case FORM_S4: return 4;
    default: return 8;
    }
}

typedef struct Lsda {
    uintptr_t function, pads; // landing pads count from here
    const uint8_t *types, *sites, *actions;
    uint8_t type_encoding, site_encoding;
} Lsda;

static bool open_lsda(struct _Unwind_Context *context, Lsda *l) {
    const uint8_t *at = (const uint8_t *)_Unwind_GetLanguageSpecificData(context);
    if (!at) return false;
    l->function = _Unwind_GetRegionStart(context);
    uint8_t encoding = *at++;
    l->pads = encoding == OMITTED ? l->function : read_pointer(&at, encoding);
    l->type_encoding = *at++;
    l->types = NULL;
    if (l->type_encoding != OMITTED) {
        uint64_t offset = read_uleb(&at);
        l->types = at + offset;
    }
    l->site_encoding = *at++;
    uint64_t n_bytes = read_uleb(&at);
    l->sites = at, l->actions = at + n_bytes;
    return true;
}

static const void *type_at(const Lsda *l, uint64_t index) {
    const uint8_t *at = l->types - index * form_bytes(l->type_encoding);
    return (const void *)read_pointer(&at, l->type_encoding);
}

// Follows a chain of actions: selectors above 0 are handlers, 0 a cleanup; those below 0 (exception
// specifications of C++) are no business of ours.
static LsdaHandler follow(const Lsda *l, uintptr_t pad, uint64_t action, LsdaMatch match,
                          void *exception, bool cleanups_only) {
    LsdaHandler cleanup = {0};
    if (!action) return (LsdaHandler){pad, 0};
    const uint8_t *at = l->actions + action - 1;
    for (;;) {
        int64_t selector = read_sleb(&at);
        const uint8_t *here = at;
        int64_t next = read_sleb(&at);
        if (selector > 0 && !cleanups_only && match(type_at(l, (uint64_t)selector), exception))
            return (LsdaHandler){pad, (intptr_t)selector};
        if (selector == 0) cleanup.landing_pad = pad;
        if (!next) return cleanup;
        at = here + next;
    }
}

bool lsda_only_all(const void *type, void *exception) {
    (void)exception;
    return !type;
}

LsdaHandler lsda_find(struct _Unwind_Context *context, LsdaMatch match, void *exception,
                      bool cleanups_only) {
    Lsda l;
    int before = 0;
    uintptr_t ip = _Unwind_GetIPInfo(context, &before);
    if (!before) ip--; // the call, not what follows it
    if (!open_lsda(context, &l)) return (LsdaHandler){0};
    for (const uint8_t *at = l.sites; at < l.actions;) {
        uintptr_t start = read_pointer(&at, l.site_encoding & FORM_MASK);
        uintptr_t n_bytes = read_pointer(&at, l.site_encoding & FORM_MASK);
        uintptr_t pad = read_pointer(&at, l.site_encoding & FORM_MASK);
        uint64_t action = read_uleb(&at);
        if (ip < l.function + start) break; // sites are sorted
        if (ip >= l.function + start + n_bytes) continue;
        if (!pad) break;
        return follow(&l, l.pads + pad, action, match, exception, cleanups_only);
    }
    return (LsdaHandler){0};
}
