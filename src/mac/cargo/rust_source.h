// SPDX-License-Identifier: Apache-2.0
// rust_source.h: Rust source as a Mac means it, for a rustc of this system. Every replacement has
// the length of what it replaces, so that lines, columns and sizes stay the file's.
#ifndef INGOT_MAC_RUST_SOURCE_H
#define INGOT_MAC_RUST_SOURCE_H
#include <stdbool.h>
#include <stddef.h>

typedef struct RustSource {
    bool is_mac; // the crate is compiled as a Mac's
    // Told of every framework that is linked, by its name in the text; may be NULL.
    void (*framework)(void *context, const char *name, size_t n_bytes);
    void *context;
} RustSource;

// In the text, not in its comments and strings:
//   link(..., kind = "framework")    becomes "dylib", which this system's rustc takes
// and in a Mac's crate, as one condition of a cfg:
//   target_os = "macos", "linux"     change places
//   target_vendor = "apple"          becomes target_os = "linux"
// The number of replacements.
size_t rust_source_rewrite(const RustSource *how, char *text, size_t n_bytes);
#endif
