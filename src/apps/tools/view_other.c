// SPDX-License-Identifier: Apache-2.0
// view_other.c: the second of two captures (see view_int.h): `ingot view` of it in a process of its
// own, whose answers are handed on.
#include "apps/tools/view_int.h"
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool view_other_start(View *v, const char *path, const char *device) {
    char self[64], line[256] = "";
    char *argv[] = {self, "view", "--no-browser", (char *)(uintptr_t)path, NULL, NULL, NULL};
    if (device) argv[4] = "--device", argv[5] = (char *)(uintptr_t)device;
    int ends[2];
    pid_t pid;
    snprintf(self, sizeof self, "/proc/%ld/exe", (long)getpid());
    if (pipe(ends)) return complain(EXIT_INPUT, "view", "%s", strerror(errno)), false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    int e = posix_spawn(&pid, self, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    if (e) complain(EXIT_INPUT, "view", "cannot start another process: %s", strerror(e));
    if (!e) v->other_pid = pid;
    // Its address; or it has said on standard error why there is none.
    if (!e && f && fgets(line, sizeof line, f)) line[strcspn(line, "\n")] = 0;
    if (f) fclose(f);
    if (!strncmp(line, "http://127.0.0.1:", 17)) v->other_address = strdup(line);
    return v->other_address != NULL;
}

void view_other_stop(View *v) {
    int status;
    if (v->other_pid > 0) {
        kill((pid_t)v->other_pid, SIGTERM);
        waitpid((pid_t)v->other_pid, &status, 0);
    }
    free(v->other_address);
    v->other_address = NULL;
    v->other_pid = 0;
}

// All that the process answers to one request. malloc'd; NULL: nothing.
static char *exchange(unsigned port, const char *request, size_t *n) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Text t = {0};
    char part[65536];
    if (fd >= 0 && !connect(fd, (struct sockaddr *)&at, sizeof at) &&
        send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request))
        for (ssize_t k; (k = recv(fd, part, sizeof part, 0)) > 0;)
            text_add_bytes(&t, part, (size_t)k);
    if (fd >= 0) close(fd);
    *n = t.n_bytes;
    return t.n_bytes ? text_take(&t) : NULL;
}

void view_other_ask(const View *v, const WebRequest *request, WebReply *reply) {
    unsigned port = 0, status = 0;
    char token[64] = "", type[64] = "application/json";
    sscanf(v->other_address, "http://127.0.0.1:%u/%63[0-9a-f]/", &port, token);
    char *text = text_format("GET /%s/api/%s%s%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                             "Connection: close\r\n\r\n",
                             token, request->path + strlen("other/"), *request->query ? "?" : "",
                             request->query, port);
    size_t n = 0;
    char *answer = text ? exchange(port, text, &n) : NULL;
    char *body = answer ? strstr(answer, "\r\n\r\n") : NULL;
    if (!body || sscanf(answer, "HTTP/1.1 %u", &status) != 1) {
        web_reply_error(reply, 503, "the process of the other capture has exited");
    } else {
        const char *field = strcasestr(answer, "Content-Type: ");
        if (field && field < body) sscanf(field + 14, "%63[^;\r]", type);
        reply->status = status == 200 ? 0 : (int)status;
        reply->type = !strcmp(type, "application/octet-stream") ? "application/octet-stream" : NULL;
        text_add_bytes(&reply->body, body + 4, n - (size_t)(body + 4 - answer));
    }
    free(answer);
    free(text);
}
