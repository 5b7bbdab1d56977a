// SPDX-License-Identifier: Apache-2.0
// wire.h: the one way Ingot writes structured bytes (metallib files, the cache, the compiler
// protocol). Little-endian, length-prefixed, no padding. A reader never runs past its end: after
// the first bad read it is `failed` and every later read gives zero, so callers check once at the
// end.
#ifndef INGOT_BASE_WIRE_H
#define INGOT_BASE_WIRE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct WireOut {
    unsigned char *data; // owned; free with wire_free
    size_t n_bytes, capacity;
    bool failed; // out of memory
} WireOut;

typedef struct WireIn {
    const unsigned char *at, *end;
    bool failed; // truncated or inconsistent
} WireIn;

#ifdef __cplusplus
extern "C" {
#endif
void wire_u8(WireOut *w, uint8_t v);
void wire_u32(WireOut *w, uint32_t v);
void wire_u64(WireOut *w, uint64_t v);
void wire_raw(WireOut *w, const void *data, size_t n);   // the bytes alone
void wire_bytes(WireOut *w, const void *data, size_t n); // u64 length, then the bytes
void wire_str(WireOut *w, const char *s);                // as wire_bytes; NULL is written as ""
void wire_free(WireOut *w);

uint8_t wire_get_u8(WireIn *r);
uint32_t wire_get_u32(WireIn *r);
uint64_t wire_get_u64(WireIn *r);
void wire_get_raw(WireIn *r, void *to, size_t n);
const void *wire_get_bytes(WireIn *r, size_t *n); // borrowed from the input; NULL and 0 on failure
char *wire_get_str(WireIn *r); // malloc'd copy, "" on failure; NULL only without memory
#ifdef __cplusplus
}
#endif
#endif
