// SPDX-License-Identifier: Apache-2.0
// modules.c: see modules.h. Several modules: a mark, their number and the functions', the module of
// each function, then the modules.
#include "abi/modules.h"
#include <string.h>

static const unsigned char mark[8] = {'I', 'N', 'G', 'O', 'T', 'M', 'D', 'S'};

void abi_modules_encode(const AbiModule *modules, uint32_t n, const uint32_t *of,
                        uint32_t n_functions, WireOut *w) {
    wire_raw(w, mark, sizeof mark);
    wire_u32(w, n);
    wire_u32(w, n_functions);
    for (uint32_t i = 0; i < n_functions; i++) wire_u32(w, of[i]);
    for (uint32_t i = 0; i < n; i++) wire_bytes(w, modules[i].bitcode, modules[i].n_bytes);
}

typedef struct Head {
    uint32_t n, n_functions;
    const unsigned char *of; // n_functions words
    WireIn rest;             // the modules
} Head;

// False: it is one module, and nothing else.
static bool read_head(const void *code, size_t n_bytes, Head *h) {
    *h = (Head){.rest = {code, (const unsigned char *)code + n_bytes, false}};
    if (n_bytes < sizeof mark || memcmp(code, mark, sizeof mark) != 0) return false;
    h->rest.at += sizeof mark;
    h->n = wire_get_u32(&h->rest);
    h->n_functions = wire_get_u32(&h->rest);
    size_t left = (size_t)(h->rest.end - h->rest.at);
    if (h->n > left / 8 || h->n_functions > left / 4) h->rest.failed = true;
    if (h->rest.failed) {
        h->n = h->n_functions = 0;
        return true;
    }
    h->of = h->rest.at;
    h->rest.at += (size_t)h->n_functions * 4;
    return true;
}

uint32_t abi_modules_count(const void *code, size_t n_bytes) {
    Head h;
    return read_head(code, n_bytes, &h) ? h.n : 1;
}

AbiModule abi_module_at(const void *code, size_t n_bytes, uint32_t number) {
    Head h;
    if (!read_head(code, n_bytes, &h)) return (AbiModule){code, number ? 0 : n_bytes};
    AbiModule m = {0};
    if (number >= h.n) return m;
    for (uint32_t i = 0; i <= number; i++) m.bitcode = wire_get_bytes(&h.rest, &m.n_bytes);
    return m;
}

uint32_t abi_module_of(const void *code, size_t n_bytes, uint32_t function) {
    Head h;
    if (!read_head(code, n_bytes, &h)) return 0;
    if (function >= h.n_functions) return UINT32_MAX;
    WireIn r = {h.of + (size_t)function * 4, h.rest.end, false};
    uint32_t number = wire_get_u32(&r);
    return number < h.n ? number : UINT32_MAX;
}
