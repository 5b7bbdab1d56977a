// SPDX-License-Identifier: Apache-2.0
// dependencies.h: the dependency graph of a sequence of commands, by the memory they access.
#ifndef INGOT_CUDA_DEPENDENCIES_H
#define INGOT_CUDA_DEPENDENCIES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CudaTouch {
    uint64_t memory; // a name of it, not 0
    bool writes;
} CudaTouch;

typedef struct CudaEdge {
    uint32_t from, to; // numbers of commands: `to` begins when `from` is done
} CudaEdge;

typedef struct CudaDependencies {
    size_t n_commands, most; // so many at most
    CudaEdge *edges;         // as few as say it all; ordered by `to`
    size_t n_edges, edges_capacity;
    // What was touched, by its name, and who reads it since it was written.
    struct CudaPlace *places;
    size_t n_places, places_capacity;
    struct CudaReader *readers;
    size_t n_readers, readers_capacity;
    uint64_t *before;    // [most][most / 64] bits: who is done when a command begins
    uint32_t *wanted;    // [most] for the command at hand
    unsigned char *last; // [most] nobody waits for it yet
    size_t n_wanted;
    uint32_t barrier; // the last command that touches anything; UINT32_MAX: none
    bool failed;      // no memory
} CudaDependencies;

// For at most `most` commands. cuda_dependencies_end frees it; false: no memory.
bool cuda_dependencies_begin(CudaDependencies *order, size_t most);
// The next command; n < 0: it may touch anything.
void cuda_dependencies_add(CudaDependencies *order, const CudaTouch *touches, int n);
void cuda_dependencies_end(CudaDependencies *order);
uint64_t cuda_dependencies_hash(const CudaDependencies *order); // of the edges
#endif
