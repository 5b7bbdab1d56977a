// SPDX-License-Identifier: Apache-2.0
// apple_metallib.h: metallibs and objects (.air) that Apple's compiler made, read from bytes that
// may be anybody's. Numbers are little-endian.
//
//   0 "MTLB"   4 u16 platform (top bit: macOS)   6 u16 major   8 u16 minor   10 u8 type
//  11 u8 system (low seven bits)   12 u16, 14 u16 its version   16 u64 bytes
//  24 functions, 40 public metadata, 56 private metadata, 72 bitcode: u64 offset, u64 bytes each
//
// The list of functions is a u32 count and, for each, u32 bytes (these included) and tags: four
// letters, u16 bytes, data; ENDT, which has no size, ends them. The size of the list leaves its
// count out. Behind it, in newer files, come tags of the whole file: offsets and sizes of
// reflection, sources, headers of dynamic libraries. Tags that are not known are skipped.
//
// A universal file has such libraries for several architectures; the one with AIR is read. An
// object is bitcode alone, mostly in LLVM's wrapper. The bitcode itself is not looked into here.
#ifndef INGOT_ABI_APPLE_METALLIB_H
#define INGOT_ABI_APPLE_METALLIB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/sha256.h"

typedef struct AppleBytes { // borrowed
    const unsigned char *data;
    size_t n_bytes;
} AppleBytes;

typedef struct AppleFunction {
    const char *name;                                              // borrowed
    uint8_t stage;                                                 // apple_stage_name
    uint16_t air_major, air_minor, language_major, language_minor; // 0: not said
    const unsigned char *hash;                                     // SHA-256 of bitcode; NULL: none
    AppleBytes bitcode, public_metadata, private_metadata;         // tags, without their size
} AppleFunction;

typedef struct AppleMetallib {
    bool is_object;  // .air: nothing but bitcode is known
    AppleBytes file; // the container, or the object
    uint16_t major, minor, os_major, os_minor;
    uint8_t type, os;
    bool is_macos; // as the platform says
    uint32_t n_functions;
    AppleFunction *functions; // owned
    AppleBytes file_tags;     // of the whole file; empty in older ones
} AppleMetallib;

// Why a file cannot be read: one line, without a full stop.
typedef struct AppleProblem {
    char text[160];
} AppleProblem;

// True if the bytes begin like a metallib or an object of Apple's, whatever their version and
// state. What Ingot wraps likewise (abi/mtlb.h) is none.
bool apple_metallib_recognised(const void *data, size_t n);
// Borrows the bytes, which must outlive it. On failure *why says what was found, also for files of
// other systems (SPIR-V, DXIL, ...), and lib needs no apple_metallib_close.
bool apple_metallib_open(const void *data, size_t n, AppleMetallib *lib, AppleProblem *why);
void apple_metallib_close(AppleMetallib *lib); // {0} is fine

// The next of some tags, which it takes off them. False: there are no more, or they are damaged.
typedef struct AppleTag {
    char name[5];
    AppleBytes value;
} AppleTag;
bool apple_tag_next(AppleBytes *tags, AppleTag *tag);

bool apple_function_intact(const AppleFunction *f); // its bitcode has the hash it is said to have
// In words; "unknown" for those of later versions.
const char *apple_stage_name(uint8_t stage);
const char *apple_type_name(uint8_t type);
const char *apple_system_name(const AppleMetallib *lib);
#endif
