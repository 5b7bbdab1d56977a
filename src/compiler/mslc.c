// SPDX-License-Identifier: Apache-2.0
// mslc.c: the Metal Shading Language compiler's command line. `build` is for people and build
// systems, `serve` for libingot (see serve.c).
#include "abi/compiler_id.h"
#include "compiler/driver.h"
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "mslc: compiles Metal Shading Language for this machine's CPU.\n"
    "\n"
    "  mslc build FILE.metal [options]   compile a file; `mslc build --help` lists the options\n"
    "  mslc serve                        answer libingot's requests (it starts this by itself)\n"
    "  mslc precompile                   precompile the Metal headers (building does this)\n"
    "  mslc lines CODE.so                source lines of the hexadecimal offsets in standard "
    "input\n"
    "  mslc confinement                  what keeps it from the rest of this machine\n"
    "  mslc --version\n";

int main(int argc, char **argv) {
    const char *command = argc > 1 ? argv[1] : "";
    if (!strcmp(command, "serve")) return serve_main();
    if (!strcmp(command, "build")) return build_main(argc - 1, argv + 1);
    if (!strcmp(command, "precompile")) return precompile_main();
    if (!strcmp(command, "lines")) return lines_main(argc - 1, argv + 1);
    if (!strcmp(command, "confinement")) return confinement_main();
    if (!strcmp(command, "--version")) {
        printf("mslc " INGOT_VERSION " (%.12s)\n", compiler_id());
        return 0;
    }
    if (!strcmp(command, "--help") || !strcmp(command, "help")) {
        fputs(usage, stdout);
        return 0;
    }
    fputs(usage, stderr);
    return 2;
}
