// SPDX-License-Identifier: Apache-2.0
// codec_int.h: events as bytes. One function for each struct does both ways, so that what is
// written is what is read: with `out` it writes what the fields hold, with `in` it fills them. A
// value beyond its limit fails the reader, as one that is cut does.
#ifndef INGOT_CAPTURE_CODEC_INT_H
#define INGOT_CAPTURE_CODEC_INT_H
#include "base/wire.h"
#include "devices/capture/capture.h"

typedef struct Codec {
    WireOut *out; // one of the two
    WireIn *in;
    BaseArena *arena; // with `in`
} Codec;

void codec_u8(Codec *c, uint8_t *v, unsigned most);
void codec_bool(Codec *c, bool *v);
void codec_u16(Codec *c, uint16_t *v, unsigned most);
void codec_u32(Codec *c, uint32_t *v, uint32_t most);
void codec_u64(Codec *c, uint64_t *v);
void codec_f32(Codec *c, float *v);
void codec_f64(Codec *c, double *v);
void codec_size(Codec *c, size_t *v);
void codec_text(Codec *c, const char **v); // NULL is written as ""
void codec_raw(Codec *c, void *v, size_t n);
void codec_pointer(Codec *c, void *pointer); // any pointer to an object: 64 bits
// An array of n items, read into the arena: *array is set, and the items follow, one by one.
// least: bytes that an item takes at least. NULL: there are none, or it failed.
void *codec_array(Codec *c, const void *array, size_t n, size_t item_bytes, size_t least);
// Whether something that may be missing is there.
bool codec_there(Codec *c, const void *thing);
void codec_fail(Codec *c);

// codec_draw.c
void codec_texture(Codec *c, AbiTexture *t);
void codec_pass(Codec *c, CapRender *render);
void codec_draw(Codec *c, CapDraw *draw);

void codec_build(Codec *c, CapBuild *build); // codec_rays.c

// codec.c: an event with its kind and length in front. Reading: false, if it is no event.
void cap_put_event(WireOut *out, CapEvent *event);
bool cap_get_event(WireIn *in, BaseArena *arena, CapEvent *event);
#endif
