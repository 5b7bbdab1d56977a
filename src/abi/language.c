// SPDX-License-Identifier: Apache-2.0
// language.c: versions of the shading language as command lines write them.
#include "abi/requests.h"
#include <stdio.h>
#include <string.h>

bool msl_language_version(const char *text, uint32_t *version) {
    static const unsigned last_minor[] = {0, 2, 4, 2, 0}; // of Metal 1 to 4
    unsigned major, minor;
    char rest;
    if (!strncmp(text, "macos-", 6) || !strncmp(text, "ios-", 4))
        text = strchr(text, '-') + 1; // -std=macos-metal2.4
    if (sscanf(text, "metal%u.%u%c", &major, &minor, &rest) != 2) return false;
    if (major < 1 || major > 4 || minor > last_minor[major]) return false;
    *version = major << 16 | minor;
    return true;
}
