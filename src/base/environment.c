// SPDX-License-Identifier: Apache-2.0
// environment.c: see environment.h.
#include "base/environment.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static const char *const of_compiler[] = {
    "INGOT_",        "HOME=",          "XDG_CACHE_HOME=", "LD_LIBRARY_PATH=",
    "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "TSAN_OPTIONS=",   "LSAN_OPTIONS=",
    "COLORTERM=",    "TERM=",          "NO_COLOR=",       NULL};
static const char *const of_command[] = {
    "MTL_", "METAL_", "PATH=", "TMPDIR=", "LANG=", "LC_", NULL};

static bool begins(const char *setting, const char *const *with) {
    for (; with && *with; with++)
        if (!strncmp(setting, *with, strlen(*with))) return true;
    return false;
}

static bool is_named(const char *setting, char *const *among) {
    size_t n = strcspn(setting, "=") + 1;
    for (; among && *among; among++)
        if (!strncmp(setting, *among, n)) return true;
    return false;
}

static char **choose(const char *const *others, char *const *more) {
    size_t n = 0, n_more = 0, k = 0;
    while (environ && environ[n]) n++;
    while (more && more[n_more]) n_more++;
    char **out = calloc(n + n_more + 1, sizeof *out);
    for (size_t i = 0; out && i < n; i++)
        if ((begins(environ[i], of_compiler) || begins(environ[i], others)) &&
            !is_named(environ[i], more))
            out[k++] = environ[i];
    for (size_t i = 0; out && i < n_more; i++) out[k++] = more[i];
    return out;
}

char **environment_of_compiler(void) { return choose(NULL, NULL); }

char **environment_of_command(char *const *more) { return choose(of_command, more); }
