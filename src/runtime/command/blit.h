// SPDX-License-Identifier: Apache-2.0
// blit.h: the blit encoder, for those who add commands to it.
#ifndef INGOT_RUNTIME_BLIT_H
#define INGOT_RUNTIME_BLIT_H
#include "runtime/command/command_buffer.h"
#include "runtime/memory/texture.h"

struct MTLBlitCommandEncoder {
    MTLCommandEncoder encoder;
};

extern const RtClass rt_blit_encoder_class;

// Is it there and still open? Says so if not; else *site is where its messages go.
bool rt_blit_valid(MTLBlitCommandEncoder *encoder, const char *call, RtSite *site);
// Is it a buffer, and are offset .. offset + n_bytes in it?
bool rt_blit_valid_buffer(const RtSite *site, const MTLBuffer *buffer, const char *argument,
                          size_t offset, size_t n_bytes);
bool rt_blit_valid_texture(const RtSite *site, const MTLTexture *texture, const char *argument);
#endif
