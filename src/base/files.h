// SPDX-License-Identifier: Apache-2.0
// files.h: whole files in and out, folders, and where things live. Every function reports failure
// through its result and errno; strings returned are malloc'd.
#ifndef INGOT_BASE_FILES_H
#define INGOT_BASE_FILES_H
#include <stdbool.h>
#include <stddef.h>

// All bytes of a file and a zero after them (not counted). NULL and errno on failure; EFBIG: a pipe
// or device gave 64 MiB and no end.
unsigned char *file_read(const char *path, size_t *n_bytes);
// The same for the file `name` that lies in `folder` itself: ELOOP if it is a symbolic link. For
// folders that strangers filled, whose links would name files of the reader.
unsigned char *file_read_own(const char *folder, const char *name, size_t *n_bytes);
// Replaces the file in one step: readers see the old bytes or the new ones, never a part. A path
// that names something else than a plain file (a terminal, /dev/null, a pipe) is written to
// directly. durable: also after a power cut.
bool file_write_atomic(const char *path, const void *data, size_t n, bool durable);
bool write_all(int fd, const void *data, size_t n);
// mkdir -p; true if the folder is there at the end.
bool make_dirs(const char *path, unsigned mode);

char *path_join(const char *folder, const char *name);
// path itself if absolute (copied), else under folder. "." parts are not folded.
char *path_under(const char *folder, const char *path);
// Folder of this executable, from /proc; NULL if unknown.
char *executable_dir(void);
bool is_dir(const char *path);

// Ingot's cache folder, not created: $INGOT_CACHE_DIR, $XDG_CACHE_HOME/ingot or ~/.cache/ingot;
// NULL if none of the three is set ("" counts as not set), if INGOT_CACHE_DIR is "off", or if
// others than this user and root could write there: what it holds is compiled headers and code.
char *cache_dir(void);
// A whole number from the environment, or the fallback if unset or not a number.
unsigned long long env_number(const char *name, unsigned long long fallback);
#endif
