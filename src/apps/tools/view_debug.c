// SPDX-License-Identifier: Apache-2.0
// view_debug.c: from a command on the page to the debugger: the words that start `ingot debug`
// there, to be copied, and a terminal with it where there is a desktop.
#include "apps/tools/view_int.h"
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool is_there(const char *name) {
    const char *path = getenv("PATH");
    char whole[PATH_MAX];
    if (strchr(name, '/')) return access(name, X_OK) == 0;
    while (path && *path) {
        size_t n = strcspn(path, ":");
        snprintf(whole, sizeof whole, "%.*s/%s", (int)n, path, name);
        if (!access(whole, X_OK)) return true;
        path += n + (path[n] == ':');
    }
    return false;
}

// ---- A terminal ----

typedef struct Terminal {
    const char *name, *option; // before the command; NULL: nothing
} Terminal;

static Terminal find_terminal(void) {
    static const Terminal known[] = {
        {"x-terminal-emulator", "-e"}, {"gnome-terminal", "--"}, {"konsole", "-e"},
        {"xfce4-terminal", "-x"},      {"kitty", NULL},          {"foot", NULL},
        {"alacritty", "-e"},           {"xterm", "-e"}};
    const char *own = getenv("TERMINAL");
    if (own && *own && is_there(own)) return (Terminal){own, "-e"};
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) return (Terminal){0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_there(known[i].name)) return known[i];
    return (Terminal){0};
}

bool view_has_terminal(void) { return find_terminal().name != NULL; }

// ---- The command ----

static char *self(void) {
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return strdup(n > 0 ? path : "ingot");
}

// As a shell takes it for one word.
static void put_word(Text *t, const char *word) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,=:@";
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(t, word);
        return;
    }
    text_add(t, "'");
    for (; *word; word++) text_printf(t, *word == '\'' ? "'\\''" : "%c", *word);
    text_add(t, "'");
}

void view_debug_words(const View *v, Text *t) {
    char *path = realpath(v->path, NULL), *own = self();
    put_word(t, is_there("ingot") || !own ? "ingot" : own);
    text_add(t, " debug ");
    put_word(t, path ? path : v->path);
    free(own);
    free(path);
}

// "COMMAND[,KIND,POSITION]" as options; the strings are the caller's. False: it is none.
static bool read_place(const char *query, char command[32], char kind[16], char position[64]) {
    static const char *const kinds[] = {"--thread", "--pixel", "--vertex"};
    char word[8] = "";
    int end = 0,
        n = sscanf(query, "%31[0-9]%n,%7[a-z],%63[0-9,]%n", command, &end, word, position, &end);
    if (query[end]) return false;
    for (size_t i = 0; n == 3 && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i] + 2, word)) return strcpy(kind, kinds[i]) != NULL;
    return n == 1;
}

bool view_debug_start(const View *v, const char *query, char why[CAP_WHY]) {
    Terminal terminal = find_terminal();
    char command[32] = "", kind[16] = "", position[64] = "", *own = self(),
         *path = realpath(v->path, NULL), *argv[16];
    size_t n = 0;
    int e = ENOENT;
    if (!terminal.name) {
        snprintf(why, CAP_WHY, "no terminal found: copy the command");
    } else if (!read_place(query, command, kind, position)) {
        snprintf(why, CAP_WHY, "it is COMMAND, or COMMAND,thread|pixel|vertex,POSITION");
    } else {
        // The shell ends at once: whose child the terminal is then is not our business.
        argv[n++] = "sh", argv[n++] = "-c", argv[n++] = "\"$@\" >/dev/null 2>&1 &",
        argv[n++] = "sh";
        argv[n++] = (char *)(uintptr_t)terminal.name;
        if (terminal.option) argv[n++] = (char *)(uintptr_t)terminal.option;
        argv[n++] = own, argv[n++] = "debug", argv[n++] = path;
        argv[n++] = "--command", argv[n++] = command;
        if (*kind) argv[n++] = kind, argv[n++] = position;
        argv[n] = NULL;
        pid_t pid;
        e = own && path ? posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) : ENOENT;
        while (!e && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
        if (e) snprintf(why, CAP_WHY, "cannot start '%s': %s", terminal.name, strerror(e));
    }
    free(own);
    free(path);
    return !e;
}
