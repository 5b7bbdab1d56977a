// SPDX-License-Identifier: Apache-2.0
// compiler_process.c: a small pool of mslc processes (see compiler_process_int.h). A slot is used
// by one thread at a time; the lock guards only who has which slot and is never held while waiting
// for a process. Forked children of the application forget the processes; they belong to the
// parent.
#include "runtime/program/compiler_process_int.h"
#include "abi/compiler_id.h"
#include "base/environment.h"
#include "base/files.h"
#include "base/text.h"
#include "runtime/program/single_flight_int.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PROCESSES = 8, MAX_KNOWN = 16, FIRST_FD = 10 };

struct Compiler {
    // Under `lock`:
    bool busy;
    pid_t pid; // 0: not running
    // The holder's alone:
    int fd;  // our end of the socket pair
    int log; // memory file: what the process prints
    bool foreign;
    uint64_t n_requests;
    unsigned n_known; // libraries sent or made; the server may have dropped old ones
    unsigned char known[MAX_KNOWN][SHA256_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // compilers serve all devices
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static Compiler slots[MAX_PROCESSES]; // see struct
static unsigned n_waiting;            // threads that wait for a slot in the foreground; under lock
static bool ended;                    // the library is being unloaded; under lock
static atomic_ullong n_started, n_lost;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// ---- fork ----

static void before_fork(void) {
    flight_before_fork();
    pthread_mutex_lock(&lock);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&lock);
    flight_after_fork(false);
}

static void after_fork_child(void) {
    for (int i = 0; i < MAX_PROCESSES; i++) {
        // Our copies would keep the socket open when the parent dies.
        if (slots[i].pid) {
            close(slots[i].fd);
            close(slots[i].log);
        }
        slots[i] = (Compiler){0};
    }
    n_waiting = 0;
    pthread_cond_init(&freed, NULL);
    pthread_mutex_init(&lock, NULL);
    flight_after_fork(true);
}

static void set_up(void) { pthread_atfork(before_fork, after_fork_parent, after_fork_child); }

void compiler_prepare(void) { pthread_once(&once, set_up); }

// ---- finding and starting ----

// Paths to try, in order; the last, without a slash, is looked up in PATH.
static char *find_mslc(void) {
    const char *own = getenv("INGOT_MSLC");
    if (own && *own) return strdup(own);
    static const char *const beside[] = {"../bin/mslc", "../libexec/ingot/mslc", "../../bin/mslc",
                                         "mslc"};
    Dl_info info;
    if (dladdr((void *)(uintptr_t)&n_started, &info) && info.dli_fname) {
        char *file = realpath(info.dli_fname, NULL);
        char *slash = file ? strrchr(file, '/') : NULL;
        if (slash) *slash = 0;
        for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
            char *path = path_join(file, beside[i]);
            if (path && !access(path, X_OK)) {
                free(file);
                return path;
            }
            free(path);
        }
        free(file);
    }
    return strdup("mslc");
}

// Away from 0, 1, 2 and 3, which the child uses; the application may have closed its own.
static int move_up(int fd) {
    if (fd < 0) return -1;
    int up = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
    close(fd);
    return up;
}

static int spawn(const char *path, int server, int log, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    char *argv[] = {"mslc", "serve", NULL};
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    char **environment = environment_of_compiler();
    int e = environment ? posix_spawn_file_actions_init(&actions) : ENOMEM;
    if (!e && (e = posix_spawnattr_init(&attr))) posix_spawn_file_actions_destroy(&actions);
    if (e) {
        free(environment);
        return e;
    }
    e = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, log, 1);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, log, 2);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, server, MSG_FD);
    if (!e) e = posix_spawnattr_setsigmask(&attr, &none);
    if (!e) e = posix_spawnattr_setsigdefault(&attr, &all);
    // A session of its own: Ctrl-C in the terminal is the application's to handle.
    if (!e)
        e = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                POSIX_SPAWN_SETSID);
    if (!e) e = posix_spawnp(pid, path, &actions, &attr, argv, environment);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return e;
}

static char *say_no_compiler(const char *path, int e) {
    return text_format(
        "cannot start the Metal compiler '%s': %s (set INGOT_MSLC to the path of mslc; "
        "without a compiler only what is in a binary archive or in the cache can run)",
        path, strerror(e));
}

// Starts a process in a slot this thread holds. False and *why on failure; the slot stays empty.
static bool start(Compiler *c, char **why) {
    int pair[2] = {-1, -1}, log = -1;
    pid_t pid = 0;
    char *path = find_mslc();
    *why = NULL;
    if (!path) goto fail;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) goto fail_system;
    pair[0] = move_up(pair[0]);
    pair[1] = move_up(pair[1]);
    log = move_up(memfd_create("mslc-log", MFD_CLOEXEC));
    if (pair[0] < 0 || pair[1] < 0 || log < 0) goto fail_system;
    int e = spawn(path, pair[1], log, &pid);
    if (e) {
        *why = say_no_compiler(path, e);
        goto fail;
    }
    close(pair[1]);
    atomic_fetch_add(&n_started, 1);
    c->fd = pair[0];
    c->log = log;
    c->foreign = false;
    c->n_requests = 0;
    c->n_known = 0;
    pthread_mutex_lock(&lock);
    c->pid = pid;
    bool too_late = ended;
    pthread_mutex_unlock(&lock);
    free(path);
    if (too_late) kill(pid, SIGKILL); // the destructor did not see it; the socket is closed then
    return true;
fail_system:
    *why = say_no_compiler(path, errno);
fail:
    if (pair[0] >= 0) close(pair[0]);
    if (pair[1] >= 0) close(pair[1]);
    if (log >= 0) close(log);
    free(path);
    return false;
}

// The first message of a new process: who it is.
static MsgIo greet(Compiler *c, int64_t deadline) {
    MsgType type;
    Blob *payload;
    MsgIo io = msg_receive(c->fd, &type, &payload, deadline);
    if (io != MSG_IO_OK) return io;
    WireIn r = {payload->data, payload->data + payload->n_bytes, false};
    uint32_t version = wire_get_u32(&r);
    char *id = wire_get_str(&r);
    if (type != MSG_HELLO || r.failed || version != MSG_VERSION)
        io = MSG_IO_BAD;
    else
        c->foreign = strcmp(id, compiler_id()) != 0;
    free(id);
    blob_release(payload);
    return io;
}

// ---- the pool ----

bool compiler_knows(const Compiler *c, const unsigned char library[SHA256_BYTES]) {
    unsigned n = c->n_known < MAX_KNOWN ? c->n_known : MAX_KNOWN;
    for (unsigned i = 0; i < n; i++)
        if (!memcmp(c->known[i], library, SHA256_BYTES)) return true;
    return false;
}

void compiler_learnt(Compiler *c, const unsigned char library[SHA256_BYTES]) {
    if (!compiler_knows(c, library))
        memcpy(c->known[c->n_known++ % MAX_KNOWN], library, SHA256_BYTES);
}

bool compiler_foreign(const Compiler *c) { return c->foreign; }

bool compiler_first_request(const Compiler *c) { return c->n_requests <= 1; }

// An idle slot, best first: running and knows the library, running, empty. Work in the background
// leaves the first of several to those who wait, and gives way to them. Under lock.
static Compiler *choose(const unsigned char *library, bool background) {
    unsigned n = (unsigned)env_number("INGOT_COMPILE_PROCESSES", 2);
    n = n < 1 ? 1 : n > MAX_PROCESSES ? MAX_PROCESSES : n;
    Compiler *best = NULL;
    int best_score = -1;
    if (background && n_waiting) return NULL;
    for (unsigned i = background && n > 1; i < n; i++) {
        Compiler *c = &slots[i];
        if (c->busy) continue;
        int score = !c->pid ? 0 : library && compiler_knows(c, library) ? 2 : 1;
        if (score > best_score) {
            best = c;
            best_score = score;
        }
    }
    return best;
}

// Killed while it was idle: not the next request's fault.
static bool hung_up(const Compiler *c) {
    struct pollfd p = {.fd = c->fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0;
}

// Ends a process this thread holds; the slot stays held and is empty then. Returns what waitpid
// said.
static pid_t end_process(Compiler *c, int *status) {
    kill(c->pid, SIGKILL); // one that is on its way out keeps its own status
    pid_t reaped;
    do reaped = waitpid(c->pid, status, 0);
    while (reaped < 0 && errno == EINTR);
    close(c->fd);
    close(c->log);
    pthread_mutex_lock(&lock);
    c->pid = 0;
    pthread_mutex_unlock(&lock);
    return reaped;
}

// The last lines the process printed, without their final newline.
static void add_last_words(Text *t, int log) {
    enum { MAX = 2000 };
    char words[MAX + 1];
    off_t size = lseek(log, 0, SEEK_END);
    ssize_t n = size > 0 ? pread(log, words, MAX, size > MAX ? size - MAX : 0) : 0;
    while (n > 0 && (words[n - 1] == '\n' || words[n - 1] == 0)) n--;
    if (n <= 0) return;
    text_add(t, "; it said: ");
    text_add_bytes(t, words, (size_t)n);
}

// Ends a process that failed and says how it ended; the slot stays held.
static char *bury(Compiler *c, MsgIo io) {
    Text t = {0};
    int status = 0;
    atomic_fetch_add(&n_lost, 1);
    int log = fcntl(c->log, F_DUPFD_CLOEXEC, FIRST_FD); // end_process closes it
    pid_t reaped = end_process(c, &status);
    if (io == MSG_IO_TIMEOUT)
        text_add(&t, "it took too long and was ended");
    else if (io == MSG_IO_BAD)
        text_add(&t, "it gave an answer that makes no sense");
    else if (io == MSG_IO_NO_MEMORY)
        text_add(&t, "out of memory for its answer");
    else if (reaped < 0)
        text_add(&t, "it ended unexpectedly"); // reaped by the application
    else if (WIFSIGNALED(status))
        text_printf(&t, "it died of signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        text_printf(&t, "it ended with status %d", WEXITSTATUS(status));
    if (io != MSG_IO_TIMEOUT && log >= 0) add_last_words(&t, log);
    if (log >= 0) close(log);
    return text_take(&t);
}

Compiler *compiler_acquire(const unsigned char *library, bool fresh, bool background,
                           int64_t timeout_ns, char **why) {
    *why = NULL;
    pthread_mutex_lock(&lock);
    Compiler *c;
    while (!(c = choose(library, background))) {
        n_waiting += !background;
        pthread_cond_wait(&freed, &lock);
        n_waiting -= !background;
    }
    c->busy = true;
    bool running = c->pid != 0;
    pthread_mutex_unlock(&lock);
    if (running && !fresh && !hung_up(c)) return c;
    int status;
    if (running) end_process(c, &status);
    for (int attempt = 0; attempt < 2 && start(c, why); attempt++) {
        MsgIo io = greet(c, msg_now() + timeout_ns);
        if (io == MSG_IO_OK) return c;
        char *how = bury(c, io);
        if (attempt == 0 && io == MSG_IO_CLOSED) { // killed before it said a word: once more
            free(how);
            continue;
        }
        *why = text_format("the Metal compiler does not start: %s", how ? how : "out of memory");
        free(how);
        break;
    }
    compiler_release(c);
    return NULL;
}

void compiler_release(Compiler *c) {
    pthread_mutex_lock(&lock);
    c->busy = false;
    pthread_cond_broadcast(&freed); // not all of them may have it
    pthread_mutex_unlock(&lock);
}

// Answers a question of the compiler's in the middle of its work; takes the payload.
static MsgIo lend_file(const Compiler *c, SourceFiles *files, Blob *payload, int64_t deadline) {
    WireIn r = {payload->data, payload->data + payload->n_bytes, false};
    char *path = wire_get_str(&r);
    MsgIo io = files && !r.failed ? MSG_IO_NO_MEMORY : MSG_IO_BAD;
    if (path && io != MSG_IO_BAD) {
        WireOut w = {0};
        MslFile file = source_files_find(files, path);
        msg_put_file(&w, &file);
        io = msg_send(c->fd, MSG_FOUND_FILE, &w, deadline);
        wire_free(&w);
        blob_release(file.bytes);
    }
    free(path);
    blob_release(payload);
    return io;
}

MsgIo compiler_ask(Compiler *c, MsgType type, const WireOut *request, SourceFiles *files,
                   int64_t deadline, MsgType *answer, Blob **payload) {
    *payload = NULL;
    c->n_requests++;
    if (!ftruncate(c->log, 0)) lseek(c->log, 0, SEEK_SET); // the child shares this position
    MsgIo io = msg_send(c->fd, type, request, deadline);
    while (io == MSG_IO_OK) {
        io = msg_receive(c->fd, answer, payload, deadline);
        if (io != MSG_IO_OK || *answer != MSG_FIND_FILE) break;
        io = lend_file(c, files, *payload, deadline);
        *payload = NULL;
    }
    return io;
}

char *compiler_lost(Compiler *c, MsgIo io) {
    char *how = bury(c, io);
    compiler_release(c);
    return how;
}

size_t compiler_list(int *pids, size_t max) {
    size_t n = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_PROCESSES; i++)
        if (slots[i].pid && n < max) pids[n++] = slots[i].pid;
    pthread_mutex_unlock(&lock);
    return n;
}

void compiler_count(uint64_t *started, uint64_t *lost) {
    *started = atomic_load(&n_started);
    *lost = atomic_load(&n_lost);
}

// At exit or dlclose. The processes hold nothing worth saving, so they are ended and reaped. A
// thread that is still compiling meets a closed socket and `ended`.
__attribute__((destructor)) static void end_all(void) {
    pthread_mutex_lock(&lock);
    ended = true;
    for (int i = 0; i < MAX_PROCESSES; i++) {
        Compiler *c = &slots[i];
        if (!c->pid) continue;
        kill(c->pid, SIGKILL);
        if (c->busy) continue; // its holder reaps it
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        close(c->fd);
        close(c->log);
        *c = (Compiler){0};
    }
    pthread_mutex_unlock(&lock);
}
