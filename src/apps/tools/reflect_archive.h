// SPDX-License-Identifier: Apache-2.0
// reflect_archive.h: `ingot reflect` of a binary archive.
#ifndef INGOT_TOOLS_REFLECT_ARCHIVE_H
#define INGOT_TOOLS_REFLECT_ARCHIVE_H
#include <stdbool.h>

bool is_archive_file(const char *path);
int reflect_archive(const char *path, bool json); // exit status
#endif
