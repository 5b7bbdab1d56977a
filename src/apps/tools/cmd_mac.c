// SPDX-License-Identifier: Apache-2.0
// cmd_mac.c: `ingot mac PROGRAM ARGS...`: a program that calls the libraries of macOS by name
// (Python with ctypes, Rust with objc) finds Ingot's. Only the environment is set; the program
// that is run replaces this one, and what it starts inherits the same.
#include "base/text.h"
#include "apps/tools/tools.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: ingot mac PROGRAM [ARGS...]\n"
    "\n"
    "Runs a program that loads Metal, Foundation, libobjc, libSystem, ... by their macOS names:\n"
    "dlopen, ctypes.util.find_library and linkers find Ingot's libraries, and xcrun, metal,\n"
    "sw_vers and sysctl are stand-ins. The reported version of macOS is 26. Nothing else in the\n"
    "environment changes.\n"
    "\n"
    "  DEV=METAL ingot mac python3 train.py\n";

// NAME=FIRST, or NAME=FIRST:what it was.
static bool put_first(const char *name, const char *first) {
    const char *old = getenv(name);
    char *value = old && *old ? text_format("%s:%s", first, old) : strdup(first);
    bool ok = value && !setenv(name, value, 1);
    free(value);
    return ok;
}

int cmd_mac(int argc, char **argv) {
    MacPlaces places;
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        fputs(usage, argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : EXIT_FINE;
    }
    if (*argv[1] == '-')
        return complain(EXIT_USAGE, "mac", "unknown option '%s' (see `ingot mac --help`)", argv[1]);
    char *tools = stand_in_folder();
    char *preload = mac_places(&places) ? text_format("%s/libingot-mac.so", places.lib) : NULL;
    if (!tools || !preload || access(preload, R_OK)) {
        free(tools), free(preload);
        return complain(EXIT_INPUT, "mac", "the libraries for macOS programs are not installed");
    }
    bool ok = put_first("PATH", tools) && put_first("LD_PRELOAD", preload) &&
              put_first("LD_LIBRARY_PATH", places.lib) && put_first("LIBRARY_PATH", places.lib);
    free(tools), free(preload);
    if (!ok) return complain(EXIT_INPUT, "mac", "out of memory");
    execvp(argv[1], argv + 1);
    return complain(EXIT_INPUT, "mac", "cannot run '%s': %s", argv[1], strerror(errno));
}
