// SPDX-License-Identifier: Apache-2.0
// build_archive.h: `ingot build --archive`, which the runtime does and not mslc.
#ifndef INGOT_TOOLS_BUILD_ARCHIVE_H
#define INGOT_TOOLS_BUILD_ARCHIVE_H
#include <stdbool.h>

bool wants_archive(int argc, char **argv);
int build_archive(int argc, char **argv); // exit status
#endif
