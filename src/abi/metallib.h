// SPDX-License-Identifier: Apache-2.0
// metallib.h: a compiled library as a file or as bytes: what mslc makes from a source, what the
// cache keeps, what `ingot build -o x.metallib` writes and the runtime opens. Bitcode of all
// functions plus reflection; machine code is made from it per kernel.
//
// Layout: "INGOTLIB", u32 version, SHA-256 of all that follows, then (wire.h) compiler id, source
// name, math mode, language version, log, library type, install name, libraries linked against,
// dependencies, reflection, bitcode.
#ifndef INGOT_ABI_METALLIB_H
#define INGOT_ABI_METALLIB_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/reflect.h"
#include "base/blob.h"
#include "base/sha256.h"

typedef struct MetallibFile { // a file read by #include
    char *path;               // absolute
    unsigned char hash[SHA256_BYTES];
} MetallibFile;

// An object (.air): a library whose functions may be defined in another one. It is made and linked
// by `ingot build`; nothing runs it.
enum { METALLIB_OBJECT = 2 };

// Immutable once opened; shared by reference count.
typedef struct Metallib {
    atomic_uint refs;
    Blob *bytes;                      // the whole container; write these to a file
    unsigned char hash[SHA256_BYTES]; // names the content
    char *compiler_id, *source_name;
    uint32_t math_mode, language_version;
    char *log;             // warnings, as Clang prints them; "" if none
    uint32_t library_type; // MTLLibraryType: 0 executable, 1 dynamic; or METALLIB_OBJECT
    char *install_name;    // of a dynamic library; "" otherwise
    uint32_t n_links;
    char **links; // install names of the dynamic libraries it was linked against
    uint32_t n_files;
    MetallibFile *files;
    RfLibrary *reflection;
    const unsigned char *bitcode; // inside bytes
    size_t bitcode_bytes;
} Metallib;

// Writes the container of a library (refs, bytes and hash are not read). NULL without memory.
Blob *metallib_encode(const Metallib *lib);
// Opens a container; retains bytes. On failure NULL and *error (if not NULL) says why in one line,
// a literal.
Metallib *metallib_open(Blob *bytes, const char **error);
Metallib *metallib_retain(Metallib *lib); // NULL is a no-op in both
void metallib_release(Metallib *lib);
// True if the bytes begin like a metallib of ours.
bool metallib_recognised(const void *data, size_t n);
// True if every file the library was made from still has the same content.
bool metallib_fresh(const Metallib *lib);
#endif
