// SPDX-License-Identifier: Apache-2.0
// codec_int.h: events as bytes: a kind, a length, and the fields in the order of their schema.
#ifndef INGOT_CAPTURE_CODEC_INT_H
#define INGOT_CAPTURE_CODEC_INT_H
#include "devices/capture/capture.h"
#include "devices/table/schema.h"

SchemaOf *cap_schema(CapKind kind); // NULL: there is no such event
void cap_put_event(WireOut *out, const CapEvent *event);
// Of a capture of this version. False: it is no event, or one that cannot be.
bool cap_get_event(WireIn *in, uint32_t version, BaseArena *arena, CapEvent *event);
#endif
