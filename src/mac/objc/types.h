// SPDX-License-Identifier: Apache-2.0
// types.h: a type taken apart into scalars, for passing its values in registers.
#ifndef INGOT_OBJC_TYPES_H
#define INGOT_OBJC_TYPES_H
#include "mac/objc/invoke.h"

typedef struct TypePart {
    char kind; // 'f', 'd', 'i', '@' ...
    size_t offset, size;
} TypePart;
static inline bool part_is_float(const TypePart *p) { return p->kind == 'f' || p->kind == 'd'; }

// The scalars of a type: n may be more than room. false: it holds a bit-field.
bool type_parts(const char *type, TypePart *parts, size_t room, size_t *n, size_t *size);
#endif
