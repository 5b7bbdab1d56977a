// SPDX-License-Identifier: Apache-2.0
// bridge.h: Foundation's objects for the C files of the face. Names no type of libingot's:
// bridge.m, which has these functions, sees Foundation's headers, and the two have names in common.
#ifndef INGOT_FACE_BRIDGE_H
#define INGOT_FACE_BRIDGE_H
#include <stdbool.h>
#include <stddef.h>
#include <objc/objc.h>

// Memory of one call: strings, arrays and structs that libingot reads while the call lasts.
typedef struct FaceArena {
    struct FaceChunk *first;
} FaceArena;
void *face_alloc(FaceArena *arena, size_t n_bytes); // zeroed
void face_arena_free(FaceArena *arena);

// Strings live as long as the NSString (its autorelease pool, if it has to be made); NULL for nil.
const char *face_utf8(id string);
const char *face_path(id url);
id face_string(const char *text); // autoreleased; nil for NULL
id face_label(const char *text);  // the same; nil for ""
id face_url(const char *path);

size_t face_count(id array);
id *face_items(FaceArena *arena, id array);
const char **face_strings(FaceArena *arena, id array);
id face_array(id const *items, size_t n); // autoreleased
id face_dictionary(id const *keys, id const *values, size_t n);

typedef struct FacePair {
    const char *name; // the key
    const char *text; // the value's, if it is no array
    id value;
} FacePair;
FacePair *face_pairs(FaceArena *arena, id dictionary, size_t *n);

// NSData and dispatch_data_t.
const void *face_bytes(id data);
size_t face_length(id data);
id face_data(const void *bytes, size_t n); // autoreleased copy
id face_zeros(size_t n); // autoreleased; bytes that may be written, and are copied with an object

const char *face_bundle_resource(id bundle, const char *name, const char *type); // NULL: not there
// Runs work(item) on a dispatch queue; nil: any thread.
void face_dispatch(id queue, void (*work)(void *item), void *item);
id face_number(unsigned long value);
id face_float(float value);
float face_float_value(id number);
id face_dictionary_put(id dictionary, id key, id value); // a new dictionary, autoreleased
id face_dictionary_get(id dictionary, id key);
#endif
