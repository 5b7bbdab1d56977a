// SPDX-License-Identifier: Apache-2.0
// profile.c: where threads that run compiled code spend their time (INGOT_PROFILE=FOLDER, which
// `ingot profile` sets). A thread of ours sends those that are in a run a signal every millisecond,
// whose handler counts the place where they are; timers of processor time would be simpler, and
// fire a hundred times in a second on many systems. Written into the folder:
//   code-HASH.so      a code object that was loaded, and stays loaded until the end
//   samples-PID.txt   "code HASH FUNCTION", and for each place
//                     "at HASH OFFSET WAY DRAW COUNT": WAY 0: in compiled code, 1: in what it
//                     called (textures, tensors), at the place of the call; DRAW counts those of a
//                     pass from 1, 0: none; then "other COUNT" (outside of compiled code), "lost
//                     COUNT" and "interval_us N". "command N" stands before what a replay's
//                     command N took (DevTable.mark), "command -1" before the rest
//   jit-PID.dump      code and lines for perf (jitdump.c)
//   remarks-HASH.txt  why its lines are slow (passes/remarks.c)
//   lines-HASH.txt    of counted code (INGOT_PROFILE_LANES=1): what its blocks do
//                     (abi/cpu_count.h). No samples are taken of it; instead there is, for each
//                     block, "ran HASH SITE DRAW STEPS LANES"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "base/files.h"
#include "base/sha256.h"
#include "base/text.h"
#include "devices/cpu/engine.h"
#include "os/clock.h"
#include "os/thread.h"

enum { INTERVAL_US = 1000, PLACES = 1 << 14, MAX_PROBES = 64, STACK_WORDS = 512 };
#define WRITE_NS UINT64_C(1000000000) // what is there is written as often, and at the end

typedef struct Place { // written by the handler of one thread
    uintptr_t pc;      // 0: free
    uint32_t way, number;
    _Atomic uint64_t count, lanes;
} Place;
enum { WAY_CODE, WAY_CALLED, WAY_COUNTED };

typedef struct Samples { // of one thread; never freed
    Place places[PLACES];
    _Atomic uint32_t other, lost;
    struct Samples *next;
} Samples;

typedef struct Image { // a code object; never freed
    CpuRange range;
    char name[24];     // of its file: hexadecimal digits
    const char *lines; // the table of counted code, or NULL
    char function[128];
    struct Image *next;
} Image;

bool cpu_profiled;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *folder;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Image *_Atomic images;    // grows under the lock
static Samples *_Atomic samples; // the same
static _Atomic uint64_t written_ns;
static FILE *past; // what was marked; under the lock
static char *past_bytes;
static size_t n_past;

// ---- Counting ----

static const Image *image_at(uintptr_t pc) {
    for (const Image *i = atomic_load(&images); i; i = i->next)
        if (pc >= (uintptr_t)i->range.start && pc < (uintptr_t)i->range.end) return i;
    return NULL;
}

static void count(Samples *s, uintptr_t pc, uint32_t way, uint32_t number, uint32_t lanes) {
    uint64_t hash = (pc ^ (uint64_t)number << 40 ^ (uint64_t)way << 60) * 0x9e3779b97f4a7c15u;
    for (unsigned k = 0; k < MAX_PROBES; k++) {
        Place *p = &s->places[((hash >> 40) + k) % PLACES];
        if (!p->pc) *p = (Place){.way = way, .number = number, .pc = pc};
        if (p->pc != pc || p->way != way || p->number != number) continue;
        // This thread alone adds; who writes them down reads.
        atomic_store_explicit(&p->count, atomic_load_explicit(&p->count, memory_order_relaxed) + 1,
                              memory_order_relaxed);
        atomic_store_explicit(&p->lanes,
                              atomic_load_explicit(&p->lanes, memory_order_relaxed) + lanes,
                              memory_order_relaxed);
        return;
    }
    atomic_fetch_add_explicit(&s->lost, 1, memory_order_relaxed);
}

// The place of compiled code that called what runs now: the nearest return address on the stack.
static uintptr_t caller_of(const CpuThread *t, uintptr_t sp) {
    const uintptr_t *at = (const uintptr_t *)((sp + 7) & ~(uintptr_t)7);
    uintptr_t top = (uintptr_t)t->escape.top, low = top - CPU_KERNEL_STACK;
    for (unsigned k = 0; k < STACK_WORDS; k++, at++) {
        if ((uintptr_t)at < low || (uintptr_t)(at + 1) > top) return 0;
        if (image_at(*at)) return *at - 1;
    }
    return 0;
}

static void on_tick(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    const ucontext_t *c = context;
    const CpuThread *t = cpu_thread_current();
    Samples *s = t ? t->samples : NULL;
    if (!s) return;
#if defined(__x86_64__)
    uintptr_t pc = (uintptr_t)c->uc_mcontext.gregs[REG_RIP],
              sp = (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
#else
    uintptr_t pc = c->uc_mcontext.pc, sp = c->uc_mcontext.sp;
#endif
    uint32_t way = WAY_CODE;
    const CpuContextLaunch *launch = t->launch;
    if (t->escape.inside && !image_at(pc)) pc = caller_of(t, sp), way = WAY_CALLED;
    if (t->escape.inside && pc && image_at(pc))
        count(s, pc, way, launch ? launch->number : 0, 0);
    else
        atomic_fetch_add_explicit(&s->other, 1, memory_order_relaxed);
}

// A table's bytes are more than its blocks: its address and a block's number are one place.
void cpu_profile_count(const CpuLaunch *launch, const char *table, uint32_t site, uint32_t mask) {
    const CpuThread *t = cpu_thread_current();
    if (t && t->samples)
        count(t->samples, (uintptr_t)table + site, WAY_COUNTED,
              ((const CpuContextLaunch *)(const void *)launch)->number,
              (uint32_t)__builtin_popcount(mask));
}

// ---- Writing ----

typedef struct Sum {
    uint64_t other, lost;
} Sum;

static void write_place(FILE *f, const Place *p) {
    unsigned long long n = atomic_load(&p->count), lanes = atomic_load(&p->lanes);
    const Image *i = n ? image_at(p->pc) : NULL;
    if (i && p->way == WAY_COUNTED)
        fprintf(f, "ran %s %llu %u %llu %llu\n", i->name,
                (unsigned long long)(p->pc - (uintptr_t)i->lines), p->number, n, lanes);
    else if (i)
        fprintf(f, "at %s %llx %u %u %llu\n", i->name,
                (unsigned long long)(p->pc - (uintptr_t)i->range.start), p->way, p->number, n);
}

static Sum write_places(FILE *f) {
    Sum sum = {0};
    for (const Samples *s = atomic_load(&samples); s; s = s->next) {
        sum.other += atomic_load(&s->other);
        sum.lost += atomic_load(&s->lost);
        for (unsigned k = 0; k < PLACES; k++) write_place(f, &s->places[k]);
    }
    return sum;
}

// Nothing runs: the places are free again.
void cpu_profile_mark(void *context, uint64_t command) {
    (void)context;
    if (!cpu_profiled) return;
    pthread_mutex_lock(&lock);
    if (!past) past = open_memstream(&past_bytes, &n_past);
    if (past) {
        fprintf(past, "command %llu\n", (unsigned long long)command);
        write_places(past);
    }
    for (Samples *s = atomic_load(&samples); past && s; s = s->next)
        memset(s->places, 0, sizeof s->places);
    pthread_mutex_unlock(&lock);
}

static void write_all_samples(void) {
    char name[64];
    snprintf(name, sizeof name, "samples-%ld.txt", (long)getpid());
    char *path = path_join(folder, name), *bytes = NULL;
    size_t n = 0;
    pthread_mutex_lock(&lock);
    FILE *f = path ? open_memstream(&bytes, &n) : NULL;
    for (const Image *i = atomic_load(&images); f && i; i = i->next)
        fprintf(f, "code %s %s\n", i->name, i->function);
    if (f && past && !fflush(past)) fprintf(f, "%scommand -1\n", past_bytes);
    if (f) {
        Sum sum = write_places(f);
        fprintf(f, "other %llu\nlost %llu\ninterval_us %d\n", (unsigned long long)sum.other,
                (unsigned long long)sum.lost, INTERVAL_US);
        if (!fclose(f)) file_write_atomic(path, bytes, n, false);
    }
    pthread_mutex_unlock(&lock);
    free(bytes);
    free(path);
}

void cpu_profile_run_ended(void) {
    uint64_t now = os_now_ns(), last = atomic_load(&written_ns);
    if (now - last > WRITE_NS && atomic_compare_exchange_strong(&written_ns, &last, now))
        write_all_samples();
}

// ---- Beginning ----

static void *send_ticks(void *nothing) {
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = INTERVAL_US * 1000}, NULL);
        pthread_mutex_lock(&cpu_threads_lock); // nobody exits meanwhile
        for (const CpuThread *t = cpu_threads; t; t = t->next)
            if (t->samples && atomic_load(&t->run)) pthread_kill(t->id, SIGPROF);
        pthread_mutex_unlock(&cpu_threads_lock);
    }
    return nothing;
}

static void begin(void) {
    folder = getenv("INGOT_PROFILE");
    if (!folder || !is_dir(folder)) return;
    struct sigaction action = {.sa_sigaction = on_tick,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGPROF, &action, NULL) != 0 || atexit(write_all_samples) != 0) return;
    atomic_store(&written_ns, os_now_ns());
    cpu_jitdump_begin(folder);
    pthread_t thread;
    const char *lanes = getenv("INGOT_PROFILE_LANES");
    bool counts = lanes && *lanes == '1';
    cpu_profiled = counts || os_thread_start(&thread, send_ticks, NULL);
}

void cpu_profile_thread(CpuThread *t) {
    if (t->samples) return;
    Samples *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED) return;
    pthread_mutex_lock(&lock);
    s->next = atomic_load(&samples);
    atomic_store(&samples, s);
    pthread_mutex_unlock(&lock);
    sigset_t tick;
    sigemptyset(&tick);
    sigaddset(&tick, SIGPROF);
    pthread_sigmask(SIG_UNBLOCK, &tick, NULL);
    t->samples = s;
}

// Everything that the file's name may be: what perf and others show of it.
static void copy_plain(char *to, size_t room, const char *from) {
    size_t n = 0;
    for (; from && from[n] && n + 1 < room; n++)
        to[n] = from[n] > ' ' && from[n] < 127 ? from[n] : '_';
    to[n] = 0;
}

// /tmp/perf-PID.map, for those that read such maps. perf itself does not for code that is in a
// file, as ours is, a nameless one: it has the jitdump. Everybody may write in that folder: the
// file is ours alone, a new one and no link, and goes with the process.
static struct PerfMap {
    int fd;     // -1: there is none
    pid_t made; // by this process; 0: not yet
} perf_map;     // under lock

static void perf_map_path(char path[64]) {
    snprintf(path, 64, "/tmp/perf-%ld.map", (long)getpid());
}

__attribute__((destructor)) static void remove_perf_map(void) {
    char path[64];
    perf_map_path(path);
    if (perf_map.made == getpid() && perf_map.fd >= 0) unlink(path);
}

static void write_perf_map(const Image *i) {
    char path[64];
    pthread_mutex_lock(&lock);
    if (perf_map.made != getpid()) {
        if (perf_map.made && perf_map.fd >= 0) close(perf_map.fd); // the parent's
        perf_map_path(path);
        perf_map.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        perf_map.made = getpid();
    }
    if (perf_map.fd >= 0)
        dprintf(perf_map.fd, "%llx %llx metal:%s\n", (unsigned long long)(uintptr_t)i->range.start,
                (unsigned long long)(i->range.end - i->range.start), i->function);
    pthread_mutex_unlock(&lock);
}

static void write_file(const char *kind, const char *name, const char *end, const void *bytes,
                       size_t n_bytes) {
    char *file = text_format("%s-%s.%s", kind, name, end),
         *path = file ? path_join(folder, file) : NULL;
    if (path) file_write_atomic(path, bytes, n_bytes, false);
    free(path);
    free(file);
}

void cpu_profile_code(const DevCode *code, const DevCodeSource *source) {
    pthread_once(&once, begin);
    if (!cpu_profiled) return;
    Image *i = calloc(1, sizeof *i);
    size_t n;
    if (!i) return;
    unsigned char hash[SHA256_BYTES];
    sha256(source->bytes, source->n_bytes, hash);
    for (int k = 0; k < 8; k++) sprintf(i->name + 2 * k, "%02x", hash[k]);
    i->range = cpu_code(code)->image;
    copy_plain(i->function, sizeof i->function, source->function ? source->function->name : "");
    write_file("code", i->name, "so", source->bytes, source->n_bytes);
    const char *remarks = cpu_code_text(cpu_code(code), CPU_ELF_REMARKS, &n);
    if (remarks) write_file("remarks", i->name, "txt", remarks, n);
    i->lines = cpu_code_text(cpu_code(code), CPU_ELF_LINES, &n);
    if (i->lines) write_file("lines", i->name, "txt", i->lines, n);
    write_perf_map(i);
    char *shown = text_format("metal:%s", i->function);
    pthread_mutex_lock(&lock);
    cpu_jitdump_code(cpu_code(code), source, shown ? shown : "metal");
    free(shown);
    i->next = atomic_load(&images);
    atomic_store(&images, i);
    pthread_mutex_unlock(&lock);
}
