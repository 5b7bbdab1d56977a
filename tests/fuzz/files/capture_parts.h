// SPDX-License-Identifier: Apache-2.0
// capture_parts.h: a capture taken apart, so that what lies behind its checksums and its
// compression can be changed and put together again.
#ifndef INGOT_TESTS_FUZZ_CAPTURE_PARTS_H
#define INGOT_TESTS_FUZZ_CAPTURE_PARTS_H
#include "base/wire.h"
#include "devices/capture/file_int.h"

typedef struct Part { // a chunk
    uint32_t kind;
    unsigned char hash[SHA256_BYTES]; // as the file says
    unsigned char *bytes;             // unpacked
    size_t n;
} Part;

enum { MAX_PARTS = 64 };
typedef struct Parts {
    Part parts[MAX_PARTS];
    size_t n;
} Parts;

// Any bytes: what is no chunk ends it.
void parts_take(Parts *p, const uint8_t *data, size_t n);
void parts_free(Parts *p);
// Hashes of blocks become those of their bytes, also where runs and functions speak of them.
void parts_mend(Parts *p);
// A plain file. own_index: with the index that it has, as it is; else with one that is right.
void parts_write(const Parts *p, bool own_index, WireOut *out);
Part *parts_index(Parts *p); // NULL: there is none
// Where an event of a run ends that begins at `at`; n: there is none that is whole.
size_t parts_event_end(const Part *run, size_t at);
#endif
