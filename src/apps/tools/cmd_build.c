// SPDX-License-Identifier: Apache-2.0
// cmd_build.c: `ingot build`: runs `mslc build` with the same arguments and tells a compiler that
// crashed from a shader that is wrong. With --archive it is the runtime's work (build_archive.c).
#include "base/environment.h"
#include "apps/tools/build_archive.h"
#include "apps/tools/tools.h"
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

int cmd_build(int argc, char **argv) {
    return wants_archive(argc, argv) ? build_archive(argc, argv)
                                     : build_as("ingot build", argc, argv);
}

int build_as(const char *program, int argc, char **argv) {
    char **child = must_alloc((size_t)argc + 2, sizeof *child);
    child[0] = "mslc";
    child[1] = "build";
    for (int i = 1; i < argc; i++) child[i + 1] = argv[i];
    setenv("INGOT_PROGRAM", program, 1); // the name in its messages
    char *path = find_compiler();
    char **environment = environment_of_compiler();
    pid_t pid;
    int status = 0,
        e = path && environment ? posix_spawnp(&pid, path, NULL, NULL, child, environment) : ENOMEM;
    free(environment);
    free(child);
    if (e) {
        complain(EXIT_INPUT, "build",
                 "cannot start the compiler '%s': %s (set INGOT_MSLC to its path)",
                 path ? path : "mslc", strerror(e));
        free(path);
        return EXIT_INPUT;
    }
    free(path);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return complain(
        EXIT_INPUT, "build",
        "the compiler crashed (%s). Please report it with the shader; meanwhile smaller "
        "pieces of the file may compile",
        strsignal(WTERMSIG(status)));
}
