// SPDX-License-Identifier: Apache-2.0
// cargo_watch.c: runs rustc for `ingot cargo` and reads along what it says. Where it fails for a
// reason that is ours, one more line names the crate, what is missing, and the switch that helps.
#include "apps/tools/cargo_int.h"
#include "base/files.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Running ----

// Starts argv with its errors into a pipe, whose other end it gives. -1: errno.
static int start(char **argv, pid_t *child) {
    extern char **environ;
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    int failed = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (!failed) return ends[0];
    close(ends[0]);
    errno = failed;
    return -1;
}

// Passes everything on at once, and keeps it.
static void pass_on(int from, Text *kept) {
    char piece[16384];
    for (;;) {
        ssize_t n = read(from, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        write_all(STDERR_FILENO, piece, (size_t)n);
        text_add_bytes(kept, piece, (size_t)n);
    }
}

// ---- Explaining ----

enum { NAME_BYTES = 128, MAX_NAMES = 8 };

// The name behind the first of the phrases at or after *at, which moves behind it. False: no more.
static bool next_name(const char **at, const char *const *phrases, size_t n, char *name) {
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *p = strstr(*at, phrases[i]);
        if (p && (!found || p < found)) found = p + strlen(phrases[i]);
    }
    if (!found) return false;
    const char *end = found + strspn(found, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                            "0123456789_+.$-");
    snprintf(name, NAME_BYTES, "%.*s", (int)(end - found), found);
    *at = end;
    return true;
}

// The crate that links a framework, by the notes of libingot-rustc. "": none does.
static void crate_that_links(const char *folder, const char *framework, char *crate) {
    size_t bytes;
    const size_t n = strlen(framework);
    char *path = folder ? path_join(folder, CARGO_NOTES) : NULL;
    char *notes = path ? (char *)file_read(path, &bytes) : NULL;
    *crate = 0;
    for (char *at = notes; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        if (!strncmp(at, framework, n) && at[n] == ' ')
            snprintf(crate, NAME_BYTES, "%.*s", (int)strcspn(at + n + 1, "\n"), at + n + 1);
    free(path), free(notes);
}

// Frameworks that the linker did not find. True: there was one.
static bool explain_frameworks(const CargoWatch *watch, const char *text) {
    static const char *const phrases[] = {"unable to find library -l", "cannot find -l",
                                          "library not found for -l"};
    char names[MAX_NAMES][NAME_BYTES], crate[NAME_BYTES];
    bool any = false;
    for (int i = 0; i < MAX_NAMES && next_name(&text, phrases, 3, names[i]); i++) {
        const char *name = names[i];
        bool again = false; // rustc says everything twice, as text and as parts of it
        for (int k = 0; k < i; k++) again |= !strcmp(name, names[k]);
        crate_that_links(watch->folder, name, crate);
        if (again || !*crate) continue;
        fprintf(stderr,
                "ingot cargo: '%s' does not link: crate '%s' wants the framework '%s', of which "
                "Ingot has nothing; INGOT_CARGO_FRAMEWORKS=%s links an empty one\n",
                watch->crate, crate, name, name);
        any = true;
    }
    return any;
}

static bool explain_symbols(const CargoWatch *watch, const char *text) {
    static const char *const phrases[] = {"undefined symbol: ", "undefined reference to `"};
    char name[NAME_BYTES];
    if (!next_name(&text, phrases, 2, name)) return false;
    fprintf(stderr,
            "ingot cargo: crate '%s' calls '%s', which none of its libraries has; if a dependency "
            "calls it, INGOT_CARGO_LINUX=NAME compiles that one as Linux's\n",
            watch->crate, name);
    return true;
}

static void explain(const CargoWatch *watch, const char *text) {
    if (explain_frameworks(watch, text) || explain_symbols(watch, text)) return;
    if (watch->is_mac && !watch->is_member)
        fprintf(stderr,
                "ingot cargo: crate '%s' is compiled as a Mac's: INGOT_CARGO_LINUX=%s compiles it "
                "as Linux's\n",
                watch->crate, watch->crate);
}

int cargo_watch(const CargoWatch *watch, char **argv) {
    pid_t child;
    int how = 0, from = start(argv, &child);
    Text kept = {0};
    if (from < 0) {
        fprintf(stderr, "ingot cargo: cannot run %s: %s\n", argv[0], strerror(errno));
        return 127;
    }
    pass_on(from, &kept);
    close(from);
    while (waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
    if (how && kept.data) explain(watch, kept.data);
    text_free(&kept);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}
