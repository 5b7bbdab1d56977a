// SPDX-License-Identifier: Apache-2.0
// lines.c: `mslc lines CODE.so`: for `ingot profile`, which has no LLVM. Offsets in hexadecimal
// come from standard input, one a line; for each its frames go to standard output, the innermost
// first: OFFSET <tab> FUNCTION <tab> FILE <tab> LINE.
#include "compiler/driver.h"
#include "base/array.h"
#include "base/files.h"
#include "compiler/compiler.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_place(void *context, size_t place, const char *function, const char *file,
                        uint32_t line) {
    const uint64_t *places = context;
    printf("%" PRIx64 "\t%s\t%s\t%" PRIu32 "\n", places[place], function, file, line);
}

static uint64_t *read_places(size_t *n) {
    uint64_t *places = NULL, at;
    for (*n = 0; scanf("%" SCNx64, &at) == 1; (*n)++) {
        if (!array_more(&places, *n)) break;
        places[*n] = at;
    }
    return places;
}

int lines_main(int argc, char **argv) {
    size_t n_bytes = 0, n = 0;
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        puts("usage: mslc lines CODE.so\n\n"
             "Reads offsets in a code object, hexadecimal numbers, from standard input and prints "
             "the\n"
             "source lines they come from, for `ingot profile`: offset, function, file and line "
             "with\n"
             "tabs between them, the innermost function first. The code was compiled with -g.");
        return 0;
    }
    unsigned char *code = argc == 2 ? file_read(argv[1], &n_bytes) : NULL;
    if (!code) {
        fprintf(stderr, "mslc lines: %s\n", argc == 2 ? "the file cannot be read" : "which file?");
        return argc == 2 ? 1 : 2;
    }
    driver_confine(NULL, 0, NULL, 0); // all that it needs is open
    uint64_t *places = read_places(&n);
    bool ok = msl_name_places(code, n_bytes, places, n, print_place, places);
    if (!ok) fprintf(stderr, "mslc lines: '%s' is no code object\n", argv[1]);
    free(places);
    free(code);
    return ok ? 0 : 1;
}
