// SPDX-License-Identifier: Apache-2.0
// zstd_int.h: compression by the system's libzstd, which is looked for at first use: libingot
// depends on none. Where there is none files are written plain, and read if they are plain.
#ifndef INGOT_CAPTURE_ZSTD_INT_H
#define INGOT_CAPTURE_ZSTD_INT_H
#include <stdbool.h>
#include <stddef.h>

bool zstd_is_there(void);
size_t zstd_bound(size_t n_bytes);
// How many bytes it took; 0: it cannot be done.
size_t zstd_pack(const void *from, size_t n_from, void *to, size_t n_to);
// False: they are not n_to bytes.
bool zstd_unpack(const void *from, size_t n_from, void *to, size_t n_to);
#endif
