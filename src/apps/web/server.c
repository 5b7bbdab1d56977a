// SPDX-License-Identifier: Apache-2.0
// server.c: see server.h. The thread that calls web_server_run accepts; each connection has a
// thread of its own that reads requests and answers them one after the other. Signals arrive
// through a descriptor, so that the end is an orderly one.
#include "apps/web/server.h"
#include "os/thread.h"
#include "apps/web/http_int.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct Connection {
    WebServer *server;
    pthread_t thread;
    int fd;         // -1: this place is free
    bool done;      // the thread is at its end
    bool known;     // it has shown the token
    bool busy;      // a request of it is answered
    uint64_t order; // when it came
} Connection;

struct WebServer {
    HttpAddress address;
    char *url;
    int fd;
    WebHandler *handler;
    void *context;
    pthread_mutex_t lock; // of the connections' fields
    uint64_t n_taken;
    Connection connections[WEB_MAX_CONNECTIONS];
};

// ---- One connection ----

static bool send_all(int fd, const char *data, size_t n, int flags) {
    while (n) {
        ssize_t k = send(fd, data, n, MSG_NOSIGNAL | flags);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        data += k;
        n -= (size_t)k;
    }
    return true;
}

static bool send_reply(int fd, WebReply *reply, bool keep) {
    if (reply->body.failed) {
        text_free(&reply->body);
        web_reply_error(reply, 503, "out of memory");
    }
    char *head = http_reply_head(reply, keep);
    bool ok = head && send_all(fd, head, strlen(head), reply->body.n_bytes ? MSG_MORE : 0) &&
              send_all(fd, reply->body.data, reply->body.n_bytes, 0);
    free(head);
    text_free(&reply->body);
    return ok;
}

// What has arrived of the requests to come. A request is taken from its beginning.
typedef struct Input {
    int fd;
    char *data;
    size_t n, capacity;
} Input;

// More bytes; false: the end, a pause that is too long, or no memory.
static bool receive(Input *in, size_t most) {
    if (in->n + 1 >= in->capacity) {
        size_t capacity = in->capacity ? in->capacity * 2 : 16384;
        if (capacity > most) capacity = most;
        if (capacity <= in->n + 1) return false;
        char *data = realloc(in->data, capacity);
        if (!data) return false;
        in->data = data;
        in->capacity = capacity;
    }
    for (;;) {
        ssize_t k = recv(in->fd, in->data + in->n, in->capacity - in->n - 1, 0);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        in->n += (size_t)k;
        in->data[in->n] = 0;
        return true;
    }
}

static void set_patience(int fd, int seconds) {
    struct timeval idle = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof idle);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &idle, sizeof idle);
}

// It has shown the token.
static void note(Connection *c, bool busy) {
    pthread_mutex_lock(&c->server->lock);
    if (!c->known) set_patience(c->fd, WEB_IDLE_SECONDS);
    c->known = true;
    c->busy = busy;
    pthread_mutex_unlock(&c->server->lock);
}

// One request and its reply; false: the connection ends.
static bool serve_one(Connection *c, Input *in) {
    WebServer *server = c->server;
    char *end;
    WebReply reply = {0};
    while (!in->n || !(end = strstr(in->data, "\r\n\r\n"))) {
        if (in->n && (in->n >= WEB_MAX_HEAD || memchr(in->data, 0, in->n))) {
            web_reply_error(&reply, 431, "the request header is too long or not text");
            send_reply(in->fd, &reply, false);
            return false;
        }
        if (!receive(in, WEB_MAX_HEAD + WEB_MAX_BODY + 8)) return false;
    }
    size_t n_head = (size_t)(end - in->data) + 4;
    HttpHead head;
    *end = 0;
    http_read_head(&server->address, in->data, &head);
    if (head.refused) {
        web_reply_error(&reply, head.status, "refused");
        send_reply(in->fd, &reply, false);
        return false;
    }
    note(c, true);
    while (in->n < n_head + head.n_body)
        if (!receive(in, WEB_MAX_HEAD + WEB_MAX_BODY + 8)) return false;
    char *body = in->data + n_head, after = body[head.n_body];
    body[head.n_body] = 0;
    WebRequest request = {head.post, head.path, head.query, body, head.n_body};
    server->handler(server->context, &request, &reply);
    body[head.n_body] = after;
    note(c, false);
    if (!send_reply(in->fd, &reply, head.keep) || !head.keep) return false;
    in->n -= n_head + head.n_body;
    memmove(in->data, body + head.n_body, in->n);
    in->data[in->n] = 0;
    return true;
}

static void *serve(void *context) {
    Connection *c = context;
    WebServer *server = c->server;
    Input in = {.fd = c->fd};
    while (serve_one(c, &in)) {
    }
    free(in.data);
    pthread_mutex_lock(&server->lock);
    shutdown(c->fd, SHUT_RDWR);
    c->done = true;
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

// ---- All connections ----

// Ends what is done, or everything.
static void collect(WebServer *server, bool all) {
    for (int i = 0; i < WEB_MAX_CONNECTIONS; i++) {
        Connection *c = &server->connections[i];
        pthread_mutex_lock(&server->lock);
        bool used = c->fd >= 0, done = c->done;
        if (used && all) shutdown(c->fd, SHUT_RDWR);
        pthread_mutex_unlock(&server->lock);
        if (!used || (!done && !all)) continue;
        pthread_join(c->thread, NULL);
        close(c->fd);
        *c = (Connection){.server = server, .fd = -1};
    }
}

static Connection *free_place(WebServer *server) {
    for (int i = 0; i < WEB_MAX_CONNECTIONS; i++)
        if (server->connections[i].fd < 0) return &server->connections[i];
    return NULL;
}

// Ends the connection that has waited longest, of those without a token first: who keeps many open
// keeps nobody out. None: all of them are being answered.
static void make_room(WebServer *server) {
    Connection *oldest = NULL;
    pthread_mutex_lock(&server->lock);
    for (int i = 0; i < WEB_MAX_CONNECTIONS; i++) {
        Connection *c = &server->connections[i];
        if (c->fd < 0 || c->done || c->busy) continue;
        if (!oldest || c->known < oldest->known ||
            (c->known == oldest->known && c->order < oldest->order))
            oldest = c;
    }
    if (oldest) shutdown(oldest->fd, SHUT_RDWR);
    pthread_mutex_unlock(&server->lock);
}

static void accept_connection(WebServer *server) {
    int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC), one = 1;
    if (fd < 0) return;
    set_patience(fd, WEB_STRANGER_SECONDS);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    // Where all places are taken, some connections may be at their end already.
    for (int tries = 0; tries < 50; tries++) {
        collect(server, false);
        Connection *c = free_place(server);
        if (c) {
            c->fd = fd;
            c->order = server->n_taken++;
            if (os_thread_start(&c->thread, serve, c)) return;
            c->fd = -1;
            break;
        }
        if (!tries) make_room(server);
        poll(NULL, 0, 20);
    }
    WebReply reply = {0};
    web_reply_error(&reply, 503, "too many connections");
    send_reply(fd, &reply, false);
    close(fd);
}

void web_server_run(WebServer *server) {
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    int stop = signalfd(-1, &signals, SFD_CLOEXEC);
    for (;;) {
        struct pollfd fds[] = {{server->fd, POLLIN, 0}, {stop, POLLIN, 0}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
        if (fds[1].revents) {
            // Taken, so that it does not end the program when signals are let through again.
            struct signalfd_siginfo taken;
            while (read(stop, &taken, sizeof taken) < 0 && errno == EINTR) {
            }
            break;
        }
        if (fds[0].revents) accept_connection(server);
    }
    collect(server, true);
    if (stop >= 0) close(stop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool make_token(char token[WEB_TOKEN_BYTES + 1]) {
    unsigned char bytes[WEB_TOKEN_BYTES / 2];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        token[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        token[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return true;
}

WebServer *web_server_new(uint32_t port, WebHandler *handler, void *context, char **why) {
    WebServer *server = calloc(1, sizeof *server);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int one = 1;
    *why = NULL;
    if (!server) return NULL;
    server->handler = handler;
    server->context = context;
    pthread_mutex_init(&server->lock, NULL);
    for (int i = 0; i < WEB_MAX_CONNECTIONS; i++)
        server->connections[i] = (Connection){.server = server, .fd = -1};
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->fd < 0) goto fail;
    setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(server->fd, (struct sockaddr *)&at, sizeof at) || listen(server->fd, 64) ||
        getsockname(server->fd, (struct sockaddr *)&at, &n) || !make_token(server->address.token))
        goto fail;
    server->address.port = ntohs(at.sin_port);
    server->url =
        text_format("http://127.0.0.1:%u/%s/", server->address.port, server->address.token);
    if (server->url) return server;
fail:
    *why = errno == EADDRINUSE
               ? text_format("port %u is taken; --port 0 takes any that is free", port)
               : text_format("cannot listen on port %u: %s", port, strerror(errno));
    web_server_free(server);
    return NULL;
}

const char *web_server_address(const WebServer *server) { return server->url; }

void web_server_free(WebServer *server) {
    if (!server) return;
    if (server->fd >= 0) close(server->fd);
    pthread_mutex_destroy(&server->lock);
    free(server->url);
    free(server);
}
