// SPDX-License-Identifier: Apache-2.0
// browse.c: the browser that is asked to show a server's page. Arguments of programs are there for
// every user of the machine to read, and the address holds the token: the browser is given the name
// of a file instead, which its user alone can read, and which leads to the address.
#include "base/files.h"
#include "apps/web/server.h"
#include "os/thread.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct WebBrowser {
    char *path;
    const char *program; // for messages
    pthread_t thread;
};

// A file of mode 0600 in a folder of the user's. False: there is none.
static bool write_leader(WebBrowser *b, const char *address) {
    char *cache = cache_dir(), *folder = cache ? path_join(cache, "web") : NULL;
    b->path = folder && make_dirs(folder, 0700) ? path_join(folder, "open-XXXXXX.html") : NULL;
    int fd = b->path ? mkostemps(b->path, 5, O_CLOEXEC) : -1;
    free(folder);
    free(cache);
    if (fd < 0) return false;
    dprintf(fd,
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" "
            "content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n"
            "<a href=\"%s\">Ingot</a>\n",
            address, address);
    close(fd);
    return true;
}

// xdg-open may not end before the browser does: the server answers meanwhile.
static void *open_leader(void *browser) {
    const WebBrowser *b = browser;
    char *argv[] = {"xdg-open", b->path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes; // signals are this thread's to leave alone, not the browser's
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t pid;
    int status = 0, e = posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    while (!e && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (e || !WIFEXITED(status) || WEXITSTATUS(status))
        fprintf(stderr, "%s: no browser found: open the address above\n", b->program);
    return NULL;
}

WebBrowser *web_browse(const char *address, const char *program) {
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    WebBrowser *b = NULL;
    if ((x && *x) || (wayland && *wayland)) b = calloc(1, sizeof *b);
    if (b) b->program = program;
    if (b && write_leader(b, address) && os_thread_start(&b->thread, open_leader, b)) {
        pthread_detach(b->thread);
        return b;
    }
    fprintf(stderr, "%s: no browser found: open the address above\n", program);
    if (b) free(b->path);
    free(b);
    return NULL;
}

// The thread may still wait for a browser: what it reads stays.
void web_browse_end(WebBrowser *b) {
    if (b) unlink(b->path);
}
