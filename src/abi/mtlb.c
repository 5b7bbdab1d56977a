// SPDX-License-Identifier: Apache-2.0
// mtlb.c: see mtlb.h.
#include "abi/mtlb.h"
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1 };
static const char magic[] = "MTLBINGT", end[] = "ENDT";
typedef struct Header {
    char magic[8];
    uint32_t version, math_mode, language_version, reserved;
    uint64_t library_bytes, source_bytes;
} Header;

void *mtlb_wrap(const Mtlb *p, size_t *n_bytes) {
    Header h = {.version = VERSION,
                .math_mode = p->math_mode,
                .language_version = p->language_version,
                .library_bytes = p->library_bytes,
                .source_bytes = p->source_bytes};
    memcpy(h.magic, magic, sizeof h.magic);
    *n_bytes = sizeof h + p->library_bytes + p->source_bytes + 4;
    char *all = malloc(*n_bytes), *at = all;
    if (!all) return NULL;
    memcpy(at, &h, sizeof h), at += sizeof h;
    memcpy(at, p->library, p->library_bytes), at += p->library_bytes;
    memcpy(at, p->source, p->source_bytes), at += p->source_bytes;
    memcpy(at, end, 4);
    return all;
}

bool mtlb_open(const void *data, size_t n, Mtlb *p) {
    Header h;
    if (n < sizeof h + 4) return false;
    memcpy(&h, data, sizeof h);
    const size_t room = n - sizeof h - 4;
    if (memcmp(h.magic, magic, sizeof h.magic) != 0 || h.version != VERSION ||
        h.library_bytes > room || h.source_bytes != room - h.library_bytes ||
        memcmp((const char *)data + n - 4, end, 4) != 0)
        return false;
    const char *at = (const char *)data + sizeof h;
    *p = (Mtlb){h.math_mode,     h.language_version,   at,
                h.library_bytes, at + h.library_bytes, h.source_bytes};
    return true;
}
