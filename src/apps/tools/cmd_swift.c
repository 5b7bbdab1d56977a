// SPDX-License-Identifier: Apache-2.0
// cmd_swift.c: `ingot swift` and `ingot swiftc`: Swift with Ingot's Metal. What they do is written
// in Python (src/mac/swift/driver), which is started with the places it needs.
#include "base/files.h"
#include "base/text.h"
#include "apps/tools/tools.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int start(const char *command, int argc, char **argv) {
    MacPlaces places;
    char *here = executable_dir();
    if (!here || !mac_places(&places))
        return complain(EXIT_INPUT, command, "the libraries for macOS programs are not here");
    char *program = text_format("%s/ingot", here);
    char *driver = text_format("%s/../share/ingot/swift/driver", here);
    char *modules = text_format("%s/../share/ingot/swift/modules", here);
    if (!program || !driver || !modules) return complain(EXIT_INPUT, command, "out of memory");
    if (access(driver, R_OK))
        return complain(EXIT_INPUT, command, "the Swift part of Ingot is not here: %s", driver);
    char *head[] = {"python3", "-B", driver, program, places.lib, modules, (char *)command};
    enum { N_HEAD = sizeof head / sizeof *head };
    char **words = must_alloc((size_t)argc + N_HEAD, sizeof *words);
    memcpy(words, head, sizeof head);
    memcpy(words + N_HEAD, argv + 1, (size_t)(argc - 1) * sizeof *words);
    execvp(words[0], words);
    return complain(EXIT_INPUT, command, "python3 does not start: %s", strerror(errno));
}

int cmd_swift(int argc, char **argv) { return start("swift", argc, argv); }
int cmd_swiftc(int argc, char **argv) { return start("swiftc", argc, argv); }
