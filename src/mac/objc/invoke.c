// SPDX-License-Identifier: Apache-2.0
// invoke.c: arguments and results of calls that are known by their types only, after the calling
// conventions of System V for x86-64 and of AArch64 (AAPCS64). For NSInvocation and forwarding.
#include "mac/objc/objc_int.h"
#include "mac/objc/types.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 16, MAX_PIECES = 4 };
enum Place { IN_INTEGER, IN_FLOAT, ON_STACK, BY_REFERENCE };
typedef struct Piece { // of a value: n_bytes at offset are in register index, or at stack + index
    enum Place place;
    size_t index, offset, n_bytes;
} Piece;
typedef struct Placed {
    Piece pieces[MAX_PIECES];
    size_t n, size;
    bool memory; // of a result: it is returned in memory
    bool x87;    // of a result
} Placed;
typedef struct Cursor {
    size_t integers, floats, stack;
} Cursor;

// How a value travels when registers are free: one piece for each register. n == 0: in memory.
#if defined(__x86_64__)
static void classify(const TypePart *parts, size_t n, size_t size, Placed *to) {
    to->n = 0;
    if (size > 16 || n > MAX_PARTS) return;
    for (size_t i = 0; i < n; i++)
        if (parts[i].kind == 'D') return;
    for (size_t at = 0; at < size; at += 8) { // an eightbyte is SSE if all in it is floating
        bool floats = true;
        for (size_t i = 0; i < n; i++)
            if (parts[i].offset < at + 8 && parts[i].offset + parts[i].size > at)
                floats &= part_is_float(&parts[i]);
        to->pieces[to->n++] =
            (Piece){floats ? IN_FLOAT : IN_INTEGER, 0, at, size - at < 8 ? size - at : 8};
    }
}
#else
static void classify(const TypePart *parts, size_t n, size_t size, Placed *to) {
    to->n = 0;
    bool homogeneous = n > 0 && n <= 4;
    for (size_t i = 0; i < n && i < MAX_PARTS; i++)
        homogeneous &= (part_is_float(&parts[i]) || parts[i].kind == 'D') &&
                       parts[i].kind == parts[0].kind && parts[i].offset == i * parts[0].size;
    if (homogeneous) {
        for (; to->n < n; to->n++)
            to->pieces[to->n] = (Piece){IN_FLOAT, 0, parts[to->n].offset, parts[to->n].size};
        return;
    }
    if (size > 16) return;
    for (size_t at = 0; at < size; at += 8)
        to->pieces[to->n++] = (Piece){IN_INTEGER, 0, at, size - at < 8 ? size - at : 8};
}
#endif

static bool take_apart(const char *type, Placed *to) {
    TypePart parts[MAX_PARTS];
    size_t n;
    *to = (Placed){0};
    if (!type_parts(type, parts, MAX_PARTS, &n, &to->size)) return false;
    classify(parts, n, to->size, to);
    to->memory = to->size && !to->n;
#if defined(__x86_64__)
    to->x87 = to->memory && n == 1 && parts[0].kind == 'D' && *objc_type_unqualified(type) == 'D';
#endif
    return true;
}

// Gives the pieces of an argument their registers; all of them or none.
static bool place_argument(const char *type, Cursor *c, Placed *to) {
    if (!take_apart(type, to)) return false;
    size_t integers = 0, floats = 0;
    for (size_t i = 0; i < to->n; i++) to->pieces[i].place == IN_FLOAT ? floats++ : integers++;
#if defined(__aarch64__)
    if (to->memory) { // a copy, whose address is passed
        to->n = 1, to->pieces[0] = (Piece){BY_REFERENCE, c->integers, 0, to->size};
        if (c->integers < FRAME_INTEGERS) {
            c->integers++;
            return true;
        }
        return false; // a reference on the stack: no message needs it
    }
    bool fits = c->integers + integers <= FRAME_INTEGERS && c->floats + floats <= FRAME_FLOATS;
    if (!fits && integers) c->integers = FRAME_INTEGERS;
    if (!fits && floats) c->floats = FRAME_FLOATS;
#else
    bool fits =
        to->n && c->integers + integers <= FRAME_INTEGERS && c->floats + floats <= FRAME_FLOATS;
#endif
    if (fits) {
        for (size_t i = 0; i < to->n; i++)
            to->pieces[i].index = to->pieces[i].place == IN_FLOAT ? c->floats++ : c->integers++;
        return true;
    }
    size_t alignment;
    objc_type_size(type, &alignment);
    if (alignment > 8) c->stack = (c->stack + 15) & ~(size_t)15;
    to->n = 1, to->pieces[0] = (Piece){ON_STACK, c->stack, 0, to->size};
    c->stack += (to->size + 7) & ~(size_t)7;
    return true;
}

static Cursor first_cursor(bool memory) {
#if defined(__x86_64__)
    return (Cursor){.integers = memory ? 1 : 0};
#else
    (void)memory;
    return (Cursor){0};
#endif
}

bool objc_frame_get(const ObjcFrame *f, const char *types, void *const *arguments) {
    Placed p;
    if (!take_apart(types, &p)) return false;
    Cursor c = first_cursor(p.memory && !p.x87);
    const char *type = objc_type_skip(types);
    for (size_t i = 0; *type; i++, type = objc_type_skip(type)) {
        if (!place_argument(type, &c, &p)) return false;
        for (size_t k = 0; k < p.n; k++) {
            const Piece *piece = &p.pieces[k];
            const void *from = piece->place == IN_INTEGER ? (const void *)&f->integers[piece->index]
                               : piece->place == IN_FLOAT ? (const void *)f->floats[piece->index]
                               : piece->place == ON_STACK ? (const void *)(f->stack + piece->index)
                                                          : (const void *)f->integers[piece->index];
            memcpy((char *)arguments[i] + piece->offset, from, piece->n_bytes);
        }
    }
    return true;
}

// A value in a register: narrow integers are widened, as callers expect of results and callees of
// arguments.
static void store_integer(uint64_t *to, const void *from, const Piece *p, char kind) {
    uint64_t v = 0;
    memcpy(&v, (const char *)from + p->offset, p->n_bytes);
    unsigned shift = 64 - 8 * (unsigned)p->n_bytes;
    if (shift && shift < 64 && strchr("csilq", kind))
        v = (uint64_t)((int64_t)(v << shift) >> shift);
    *to = v;
}

bool objc_frame_set_result(ObjcFrame *f, const char *types, const void *result) {
    Placed p;
    if (!take_apart(types, &p)) return false;
    if (!p.size) return true;
    if (p.x87) {
        f->x87 = 1;
        memcpy(f->x87_result, result, p.size);
        return true;
    }
    if (p.memory) {
#if defined(__x86_64__)
        void *to = (void *)f->integers[0];
        f->results[0] = f->integers[0];
#else
        void *to = (void *)f->extra;
#endif
        memcpy(to, result, p.size);
        return true;
    }
    size_t integers = 0, floats = 0;
    for (size_t k = 0; k < p.n; k++)
        if (p.pieces[k].place == IN_FLOAT)
            memcpy(f->float_results[floats++], (const char *)result + p.pieces[k].offset,
                   p.pieces[k].n_bytes);
        else
            store_integer(&f->results[integers++], result, &p.pieces[k],
                          *objc_type_unqualified(types));
    return true;
}

void objc_frame_enter(IMP imp, ObjcFrame *frame);

static void put_argument(ObjcFrame *f, const Placed *p, void *value, char kind) {
    for (size_t k = 0; k < p->n; k++) {
        const Piece *piece = &p->pieces[k];
        if (piece->place == IN_INTEGER)
            store_integer(&f->integers[piece->index], value, piece, kind);
        else if (piece->place == BY_REFERENCE)
            f->integers[piece->index] = (uintptr_t)value;
        else
            memcpy(piece->place == IN_FLOAT ? f->floats[piece->index] : f->stack + piece->index,
                   (char *)value + piece->offset, piece->n_bytes);
    }
}

static void get_result(const ObjcFrame *f, const Placed *p, void *result) {
    size_t integers = 0, floats = 0;
    if (p->x87) memcpy(result, f->x87_result, p->size);
    for (size_t k = 0; k < p->n; k++)
        memcpy((char *)result + p->pieces[k].offset,
               p->pieces[k].place == IN_FLOAT ? (const void *)f->float_results[floats++]
                                              : (const void *)&f->results[integers++],
               p->pieces[k].n_bytes);
}

bool objc_frame_call(IMP imp, const char *types, void *const *arguments, void *result) {
    Placed returned, p;
    if (!take_apart(types, &returned)) return false;
    bool memory = returned.memory && !returned.x87;
    ObjcFrame f = {.x87 = returned.x87};
    Cursor c = first_cursor(memory);
    for (const char *t = objc_type_skip(types); *t;
         t = objc_type_skip(t)) // how much goes on the stack
        if (!place_argument(t, &c, &p)) return false;
    f.n_stack = (c.stack + 15) & ~(size_t)15;
    f.stack = objc_zeroed(f.n_stack);
    void *place = memory && !result ? objc_zeroed(returned.size) : result;
#if defined(__x86_64__)
    f.extra = FRAME_FLOATS;
    if (memory) f.integers[0] = (uintptr_t)place;
#else
    f.extra = (uintptr_t)place;
#endif
    c = first_cursor(memory);
    size_t i = 0;
    for (const char *t = objc_type_skip(types); *t; t = objc_type_skip(t)) {
        place_argument(t, &c, &p);
        put_argument(&f, &p, arguments[i++], *objc_type_unqualified(t));
    }
    objc_frame_enter(imp, &f);
    if (result && !memory) get_result(&f, &returned, result);
    if (place != result) free(place);
    free(f.stack);
    return true;
}
