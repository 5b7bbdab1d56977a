// SPDX-License-Identifier: Apache-2.0
// safetensors.h: the safetensors format (huggingface/safetensors, "Format"): eight bytes with the
// length of a header in JSON, the header, and the tensors one after the other:
//     {"__metadata__": {"key": "value"}, "name": {"dtype": "F32", "shape": [2, 3],
//      "data_offsets": [0, 24]}, ...}
// What the numbers become is up to the reader (src/tensor/files_safetensors.c,
// src/runtime/network/read.c).
#ifndef INGOT_BASE_SAFETENSORS_H
#define INGOT_BASE_SAFETENSORS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/json_reader.h" // JSON_MESSAGE_BYTES

enum { SAFETENSORS_RANK = 8, SAFETENSORS_DTYPE_BYTES = 32 };
#define SAFETENSORS_MAX_HEADER 100000000u // the reference implementation's

typedef struct SafeTensor {
    char *name;
    char dtype[SAFETENSORS_DTYPE_BYTES]; // as it stands, cut to fit: "F32"
    char kind;                           // 'f', 'B' (bfloat), 'i', 'u', 'b'; 0: none we know
    size_t n_bytes;                      // of an element; 0: a type we do not know
    size_t rank;
    int64_t shape[SAFETENSORS_RANK];
    int64_t n_elements;
    uint64_t begin, end; // in the data, checked
} SafeTensor;

typedef struct SafeTensors {
    SafeTensor *items;
    size_t n, capacity;
    char **metadata;                      // key, value, key, value ...
    size_t n_metadata, metadata_capacity; // strings
    const unsigned char *data;            // in the bytes that were read
} SafeTensors;

// Reads the header and believes nothing in it: shapes are checked against the offsets, the offsets
// against the file, and together they must cover its data without holes or overlaps, as the
// reference implementation demands. The bytes are the caller's and must stay. False: the message
// (JSON_MESSAGE_BYTES) names the file; "" there: no memory.
bool safetensors_read(SafeTensors *s, const void *bytes, size_t n_bytes, const char *name,
                      char *message);
void safetensors_free(SafeTensors *s);
const SafeTensor *safetensors_find(const SafeTensors *s, const char *name); // NULL: none
// "F32" for ('f', 4); "" if the format has no such type.
const char *safetensors_dtype(char kind, size_t n_bytes);
#endif
