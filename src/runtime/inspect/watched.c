// SPDX-License-Identifier: Apache-2.0
// watched.c: messages of the race detector (MTL_SHADER_VALIDATION=races): data races, divergent
// barriers, and operations whose result Metal leaves undefined.
#include <stdio.h>
#include <string.h>
#include "runtime/inspect/inspect_int.h"

bool rt_turn_race(const AbiReport *r, AbiReport *turned) {
    if (r->access != ABI_RACE) return false;
    *turned = *r;
    turned->n_bytes = r->other.n_bytes;
    turned->line = r->other.line;
    turned->column = r->other.column;
    turned->other.line = r->line;
    turned->other.column = r->column;
    return true;
}

static void describe_race(const AbiReport *r, const char *memory, char *text, size_t n_bytes) {
    static const char *const deeds[] = {"load", "store", "atomic operation"};
    char at[64] = "", place[48] = "", size[2][24] = {"", ""};
    const AbiBadAccess access[2] = {
        (AbiBadAccess)(r->length <= ABI_BAD_ATOMIC ? r->length : 0),
        (AbiBadAccess)(r->other.access <= ABI_BAD_ATOMIC ? r->other.access : 0)};
    if (r->space == ABI_SPACE_POINTER)
        snprintf(at, sizeof at, " at address 0x%llx", (unsigned long long)r->offset);
    else if (r->space != ABI_SPACE_HANDLE)
        snprintf(at, sizeof at, " at offset %lld", (long long)r->offset);
    if (r->other.line)
        snprintf(place, sizeof place, " at line %u, column %u", r->other.line, r->other.column);
    if (r->n_bytes) snprintf(size[0], sizeof size[0], " of %u bytes", r->n_bytes);
    if (r->other.n_bytes) snprintf(size[1], sizeof size[1], " of %u bytes", r->other.n_bytes);
    snprintf(text, n_bytes,
             "race on %s%s: its %s%s and the %s%s of thread (%u, %u, %u)%s have no order", memory,
             at, deeds[access[0]], size[0], deeds[access[1]], size[1], r->other.thread[0],
             r->other.thread[1], r->other.thread[2], place);
}

static void describe_texel(const AbiReport *r, const char *memory, char *text, size_t n_bytes) {
    snprintf(text, n_bytes, "texel (%u, %u) outside %s (depth or slice %u, level or sample %u)",
             (uint32_t)r->offset, (uint32_t)((uint64_t)r->offset >> 32), memory,
             (uint32_t)r->length, (uint32_t)(r->length >> 32));
}

void rt_describe_watched(const AbiReport *r, const char *memory, char *text, size_t n_bytes) {
    char place[48] = "";
    if (r->other.line)
        snprintf(place, sizeof place, " at line %u, column %u", r->other.line, r->other.column);
    const uint32_t *t = r->other.thread;
    unsigned long long n = (unsigned long long)r->offset, of = (unsigned long long)r->length;
    switch ((AbiBadAccess)r->access) {
    case ABI_RACE: describe_race(r, memory, text, n_bytes); return;
    case ABI_UNWRITTEN:
        if (r->space == ABI_SPACE_THREAD && *r->name)
            snprintf(text, n_bytes, "variable '%s' is read, but was never written", r->name);
        else if (r->space == ABI_SPACE_THREAD)
            snprintf(text, n_bytes, "a variable is read that was never written");
        else
            snprintf(text, n_bytes,
                     "load of %u bytes from %s at offset %lld, which is uninitialised", r->n_bytes,
                     memory, (long long)r->offset);
        return;
    case ABI_BARRIER_LEFT:
        snprintf(text, n_bytes,
                 "barrier that %llu of %llu threads of the threadgroup reach; thread (%u, %u, %u) "
                 "does not",
                 n, of, t[0], t[1], t[2]);
        return;
    case ABI_BARRIER_MIXED:
        snprintf(text, n_bytes,
                 "barrier while thread (%u, %u, %u) of the threadgroup waits at another one%s",
                 t[0], t[1], t[2], place);
        return;
    case ABI_DIVISION:
        snprintf(text, n_bytes, "division of integers by zero, or one that overflows");
        return;
    case ABI_SHIFT:
        snprintf(text, n_bytes, "shift by as many bits as the number has, or more");
        return;
    case ABI_NAN: snprintf(text, n_bytes, "NaN made of numbers"); return;
    case ABI_NOT_UNIFORM:
        snprintf(text, n_bytes,
                 "%s with %llu, another thread of the SIMD-group with %llu: it must be the same",
                 r->name, n, of);
        return;
    case ABI_INACTIVE:
        if (of)
            snprintf(text, n_bytes, "%s of lane %llu, which does not take part: its value is open",
                     r->name, n);
        else
            snprintf(text, n_bytes, "%s with %llu, which no lane is", r->name, n);
        return;
    case ABI_PARTIAL:
        snprintf(text, n_bytes, "%s by %llu of the %llu threads of the SIMD-group", r->name, n, of);
        return;
    case ABI_TEXEL: describe_texel(r, memory, text, n_bytes); return;
    default: break;
    }
    snprintf(text, n_bytes, "no memory to watch all that it touches");
}
