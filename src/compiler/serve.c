// SPDX-License-Identifier: Apache-2.0
// serve.c: mslc as libingot's child. Answers one request at a time from the socket pair on MSG_FD
// and keeps the libraries it saw last, so that a library travels once and its kernels are made from
// there. It ends when the other side goes away, also in the middle of a compilation: a
// thread does nothing but watch for that. (A parent-death signal would not do: it fires when the
// thread that started us ends, not the process.) Before the first request it gives up the file
// system but for our headers and its cache, and what else of the system no compiler needs: a
// source that breaks Clang has gained nothing. Files of #include come from the client.
#include "abi/compiler_id.h"
#include "abi/protocol.h"
#include "base/files.h"
#include "compiler/driver.h"
#include "os/confine.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_KEPT = 32 };
static const size_t max_kept_bytes = (size_t)256 << 20;

typedef struct Server {
    char *stdlib, *pch, *shipped_pch;
    Metallib *kept[MAX_KEPT]; // most recently used first
    size_t n_kept;
} Server;

static Metallib *find_kept(Server *s, const unsigned char hash[SHA256_BYTES]) {
    for (size_t i = 0; i < s->n_kept; i++) {
        Metallib *m = s->kept[i];
        if (memcmp(m->hash, hash, SHA256_BYTES)) continue;
        memmove(s->kept + 1, s->kept, i * sizeof *s->kept);
        s->kept[0] = m;
        return m;
    }
    return NULL;
}

// Takes the reference over.
static void keep(Server *s, Metallib *m) {
    if (find_kept(s, m->hash)) {
        metallib_release(m);
        return;
    }
    if (s->n_kept == MAX_KEPT) metallib_release(s->kept[--s->n_kept]);
    memmove(s->kept + 1, s->kept, s->n_kept * sizeof *s->kept);
    s->kept[0] = m;
    s->n_kept++;
    size_t total = 0;
    for (size_t i = 0; i < s->n_kept; i++) total += s->kept[i]->bytes->n_bytes;
    while (s->n_kept > 1 && total > max_kept_bytes) {
        total -= s->kept[s->n_kept - 1]->bytes->n_bytes;
        metallib_release(s->kept[--s->n_kept]);
    }
}

static MsgIo refuse(const char *why) {
    WireOut w = {0};
    wire_str(&w, why);
    MsgIo io = msg_send(MSG_FD, MSG_BAD_REQUEST, &w, INT64_MAX);
    wire_free(&w);
    return io;
}

static MsgIo answer_library(Server *s, const MslLibrary *lib, bool ok, Blob *metallib) {
    MsgLibrary answer = {
        .ok = ok && metallib,
        .log = ok && !metallib ? "out of memory" : lib->log,
        .diagnostics = lib->diagnostics,
        .n_diagnostics = lib->n_diagnostics,
        .metallib = metallib ? metallib->data : NULL,
        .metallib_bytes = metallib ? metallib->n_bytes : 0,
    };
    WireOut w = {0};
    msg_put_library(&w, &answer);
    MsgIo io = msg_send(MSG_FD, MSG_LIBRARY, &w, INT64_MAX);
    wire_free(&w);
    Metallib *opened = metallib ? metallib_open(metallib, NULL) : NULL;
    if (opened) keep(s, opened);
    return io;
}

// A file of #include, by a question to the client: this process sees none of them itself.
static MslFile find_file(void *unused, const char *path) {
    (void)unused;
    MslFile file = {MSL_FILE_NONE, 0, NULL};
    WireOut w = {0};
    MsgType type;
    Blob *payload = NULL;
    wire_str(&w, path);
    MsgIo io = msg_send(MSG_FD, MSG_FIND_FILE, &w, INT64_MAX);
    wire_free(&w);
    if (io == MSG_IO_OK) io = msg_receive(MSG_FD, &type, &payload, INT64_MAX);
    if (io != MSG_IO_OK || type != MSG_FOUND_FILE || !msg_get_file(payload, &file)) _exit(1);
    blob_release(payload);
    return file;
}

static MsgIo serve_library(Server *s, Blob *payload) {
    BaseArena arena = {0};
    WireIn r = {payload->data, payload->data + payload->n_bytes, false};
    MslSource source;
    const char *cwd;
    if (!msg_get_source(&r, &arena, &source, &cwd)) {
        base_arena_free(&arena);
        return refuse("the request to compile a library is malformed");
    }
    source.stdlib_dir = s->stdlib;
    source.pch_dir = s->pch;
    source.pch_shipped_dir = s->shipped_pch;
    source.files = &(MslFiles){NULL, find_file};
    // Relative names mean the client's folder. If it is gone, only absolute names can be found.
    if (*cwd && chdir(cwd)) cwd = "/";
    MslLibrary lib;
    Blob *metallib = NULL;
    bool ok = driver_library(&source, cwd, &lib, &metallib);
    MsgIo io = answer_library(s, &lib, ok, metallib);
    blob_release(metallib);
    msl_library_free(&lib);
    base_arena_free(&arena);
    return io;
}

// The library of one entry of a request, with a reference for the caller. NULL: *why, or NULL there
// if the client has to send it.
static Metallib *get_part(Server *s, const MsgPart *part, const char **why) {
    Metallib *m = find_kept(s, part->hash);
    *why = NULL;
    if (m || !part->bytes) return metallib_retain(m);
    *why = "out of memory";
    Blob *bytes = blob_copy(part->bytes, part->n_bytes);
    m = bytes ? metallib_open(bytes, why) : NULL;
    blob_release(bytes);
    if (m) keep(s, metallib_retain(m));
    return m;
}

static MsgIo answer_kernel(const MslKernelRequest *request) {
    MslKernel out = {0};
    bool ok = msl_backend(request, &out);
    MsgCode answer = {ok, out.error, out.log, out.code, out.code_bytes};
    WireOut w = {0};
    msg_put_code(&w, &answer);
    MsgIo io = msg_send(MSG_FD, MSG_KERNEL, &w, INT64_MAX);
    wire_free(&w);
    msl_kernel_free(&out);
    return io;
}

// The libraries of a request, with references (keeping one may let go of another); NULL, and the
// answer is sent.
static Metallib **get_libraries(Server *s, const MsgPart *parts, size_t n, MsgIo *io) {
    Metallib **libraries = calloc(n + 1, sizeof *libraries);
    if (!libraries) {
        *io = refuse("out of memory");
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const char *why;
        if ((libraries[i] = get_part(s, &parts[i], &why))) continue;
        *io = why ? refuse(why) : msg_send(MSG_FD, MSG_NEED_LIBRARY, NULL, INT64_MAX);
        for (size_t k = 0; k < i; k++) metallib_release(libraries[k]);
        free(libraries);
        return NULL;
    }
    return libraries;
}

static void release_libraries(Metallib **libraries, size_t n) {
    for (size_t i = 0; i < n; i++) metallib_release(libraries[i]);
    free(libraries);
}

static MslPart *to_parts(BaseArena *arena, Metallib *const *libraries, size_t n) {
    MslPart *parts = base_arena_alloc(arena, n + 1, sizeof *parts);
    for (size_t i = 0; parts && i < n; i++)
        parts[i] =
            (MslPart){libraries[i]->bitcode, libraries[i]->bitcode_bytes, libraries[i]->reflection};
    return parts;
}

static MsgIo serve_kernel(Server *s, Blob *payload) {
    BaseArena arena = {0};
    WireIn r = {payload->data, payload->data + payload->n_bytes, false};
    MsgKernel k;
    MsgIo io = MSG_IO_OK;
    Metallib **libraries = NULL;
    if (!msg_get_kernel(&r, &arena, &k))
        io = refuse("the request to compile a kernel is malformed");
    else if ((libraries = get_libraries(s, k.libraries, k.request.n_parts + 1, &io))) {
        k.request.bitcode = libraries[0]->bitcode;
        k.request.bitcode_bytes = libraries[0]->bitcode_bytes;
        k.request.reflection = libraries[0]->reflection;
        k.request.math_mode = (MslMathMode)libraries[0]->math_mode;
        k.request.parts = to_parts(&arena, libraries + 1, k.request.n_parts);
        io = k.request.parts ? answer_kernel(&k.request) : refuse("out of memory");
        release_libraries(libraries, k.request.n_parts + 1);
    }
    base_arena_free(&arena);
    return io;
}

static MsgIo serve_stitch(Server *s, Blob *payload) {
    BaseArena arena = {0};
    WireIn r = {payload->data, payload->data + payload->n_bytes, false};
    MsgStitch stitch;
    MsgIo io = MSG_IO_OK;
    Metallib **libraries = NULL;
    if (!msg_get_stitch(&r, &arena, &stitch))
        io = refuse("the request to stitch a library is malformed");
    else if ((libraries = get_libraries(s, stitch.libraries, stitch.request.n_parts, &io))) {
        MslLibrary lib = {0};
        Blob *metallib = NULL;
        stitch.request.parts = to_parts(&arena, libraries, stitch.request.n_parts);
        bool ok =
            stitch.request.parts && driver_stitch(&stitch.request, libraries[0], &lib, &metallib);
        io = answer_library(s, &lib, ok, metallib);
        blob_release(metallib);
        msl_library_free(&lib);
        release_libraries(libraries, stitch.request.n_parts);
    }
    base_arena_free(&arena);
    return io;
}

static MsgIo serve_one(Server *s) {
    MsgType type;
    Blob *payload;
    MsgIo io = msg_receive(MSG_FD, &type, &payload, INT64_MAX);
    if (io != MSG_IO_OK) return io;
    if (type == MSG_COMPILE_LIBRARY)
        io = serve_library(s, payload);
    else if (type == MSG_COMPILE_KERNEL)
        io = serve_kernel(s, payload);
    else if (type == MSG_STITCH_LIBRARY)
        io = serve_stitch(s, payload);
    else
        io = refuse("the compiler does not know this request");
    blob_release(payload);
    return io;
}

static int serve(void *server) {
    Server *s = server;
    WireOut hello = {0};
    wire_u32(&hello, MSG_VERSION);
    wire_str(&hello, compiler_id());
    MsgIo io = msg_send(MSG_FD, MSG_HELLO, &hello, INT64_MAX);
    wire_free(&hello);
    while (io == MSG_IO_OK) io = serve_one(s);
    _exit(io == MSG_IO_CLOSED ? 0 : 1); // nothing to save, and LLVM's destructors take their time
}

_Noreturn static void *watch(void *unused) {
    (void)unused;
    for (;;) {
        struct pollfd p = {.fd = MSG_FD, .events = POLLRDHUP};
        if (poll(&p, 1, -1) < 0 && errno != EINTR) _exit(1);
        if (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) _exit(0);
    }
}

// Finds what the server reads, then closes everything else to it.
static unsigned confine(Server *s) {
    *s = (Server){.stdlib = driver_stdlib_dir(),
                  .pch = driver_pch_dir(),
                  .shipped_pch = driver_shipped_pch_dir()};
    const struct rlimit files = {256, 256}, size = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    setrlimit(RLIMIT_NOFILE, &files);
    setrlimit(RLIMIT_FSIZE, &size);
    return driver_confine((const char *[]){s->stdlib, s->shipped_pch}, 2, (const char *[]){s->pch},
                          1);
}

int confinement_main(void) {
    Server s;
    char text[64];
    os_confined_text(confine(&s), text, sizeof text);
    puts(text);
    return 0;
}

int serve_main(void) {
    static Server s;
    int type;
    socklen_t n = sizeof type;
    if (getsockopt(MSG_FD, SOL_SOCKET, SO_TYPE, &type, &n)) {
        fputs("mslc: `mslc serve` is started by libingot; to compile by hand: mslc build FILE\n",
              stderr);
        return 2;
    }
    // What the application left open is none of our business, and would stay open with us.
    close_range(MSG_FD + 1, ~0u, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int sig = 1; sig < NSIG; sig++) signal(sig, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    driver_limits();
    confine(&s);
    if (!s.stdlib) { // before the greeting: this is a compiler that does not start
        fputs("mslc: the Metal headers are missing; set INGOT_STDLIB to their folder\n", stderr);
        return 1;
    }
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch, NULL)) return 1;
    driver_run_deep(serve, &s);
}
