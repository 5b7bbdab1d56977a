// SPDX-License-Identifier: Apache-2.0
// code.c: code objects, ELF shared objects that mslc wrote, brought into this process through an
// anonymous file and dlopen. Debuggers and profilers then see them like any library.
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cpu/engine.h"

// Sanitizers open the files of all loaded libraries again at every dlopen. The number in the path
// must still mean the code object then, not whatever file has got it since.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { KEEP_FILE = 1 };
#else
enum { KEEP_FILE = 0 };
#endif

// glibc takes a path it has seen before for the library it loaded then, and the numbers of closed
// files come back. So every load spells the same path differently: a serial number in binary, "/."
// for a 0 and "//." for a 1.
static void unique_path(int fd, char *path, size_t n_bytes) {
    static atomic_uint serial;
    unsigned number = atomic_fetch_add(&serial, 1);
    int at = snprintf(path, n_bytes, "/proc/self/fd");
    for (int bit = 0; bit < 32; bit++)
        at += snprintf(path + at, n_bytes - (size_t)at, number >> bit & 1 ? "//." : "/.");
    snprintf(path + at, n_bytes - (size_t)at, "/%d", fd);
}

static bool write_all(int fd, const void *bytes, size_t n_bytes) {
    const char *at = bytes;
    while (n_bytes > 0) {
        ssize_t n = write(fd, at, n_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        n_bytes -= (size_t)n;
    }
    return true;
}

// ---- What is loaded, by address ----

static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER;
static CpuCode *loaded; // under the lock

static void note_segment(CpuCode *code, const char *base, const Elf64_Phdr *p) {
    CpuRange r = {base + p->p_vaddr, base + p->p_vaddr + p->p_memsz};
    if (p->p_type != PT_LOAD) return;
    if (!code->image.start || r.start < code->image.start) code->image.start = r.start;
    if (r.end > code->image.end) code->image.end = r.end;
    if (!(p->p_flags & PF_W) && code->n_constants < CPU_MAX_CONSTANTS)
        code->constants[code->n_constants++] = r;
}

// The loader took the file: its tables are sound.
static void note_loaded(CpuCode *code, const void *bytes) {
    const struct link_map *map;
    Elf64_Ehdr head;
    if (dlinfo(code->handle, RTLD_DI_LINKMAP, &map)) return;
    memcpy(&head, bytes, sizeof head);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, (const char *)bytes + head.e_phoff + i * sizeof p, sizeof p);
        note_segment(code, (const char *)(uintptr_t)map->l_addr, &p);
    }
    pthread_mutex_lock(&loaded_lock);
    code->next = loaded;
    loaded = code;
    pthread_mutex_unlock(&loaded_lock);
}

static void forget_loaded(const CpuCode *code) {
    pthread_mutex_lock(&loaded_lock);
    CpuCode **at = &loaded;
    while (*at && *at != code) at = &(*at)->next;
    if (*at) *at = code->next;
    pthread_mutex_unlock(&loaded_lock);
}

static bool is_in(CpuRange r, const void *p) {
    return (const char *)p >= r.start && (const char *)p < r.end;
}

bool cpu_code_has_text(const void *caller, const char *text) {
    bool has = false;
    pthread_mutex_lock(&loaded_lock);
    const CpuCode *code = loaded;
    while (code && !is_in(code->image, caller)) code = code->next;
    for (size_t i = 0; code && i < code->n_constants; i++) {
        CpuRange r = code->constants[i];
        if (is_in(r, text)) has = memchr(text, 0, (size_t)(r.end - text)) != NULL;
    }
    pthread_mutex_unlock(&loaded_lock);
    return has;
}

// ---- Loading ----

DevCode *cpu_code_load(const void *bytes, size_t n_bytes, char *why, size_t why_bytes) {
    CpuCode *code = NULL;
    char path[160];
    int fd = memfd_create("ingot-kernel", MFD_CLOEXEC);
    if (fd < 0 || !write_all(fd, bytes, n_bytes)) {
        snprintf(why, why_bytes, "no memory for %zu bytes of code: %s", n_bytes, strerror(errno));
        goto fail;
    }
    code = calloc(1, sizeof *code);
    if (!code) {
        snprintf(why, why_bytes, "out of memory");
        goto fail;
    }
    unique_path(fd, path, sizeof path);
    code->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!code->handle) {
        const char *message = dlerror();
        snprintf(why, why_bytes, "the code object does not load: %s", message ? message : "?");
        goto fail;
    }
    const CpuKernelInfo *info = dlsym(code->handle, CPU_KERNEL_INFO_SYMBOL);
    // A function pointer from a data pointer: POSIX says it works, ISO C has no cast for it.
    void *entry = dlsym(code->handle, CPU_KERNEL_SYMBOL);
    memcpy(&code->kernel, &entry, sizeof entry);
    const AbiStageInfo *stage = dlsym(code->handle, CPU_STAGE_INFO_SYMBOL);
    void *vertex = dlsym(code->handle, CPU_VERTEX_SYMBOL);
    void *fragment = dlsym(code->handle, CPU_FRAGMENT_SYMBOL);
    memcpy(&code->vertex, &vertex, sizeof vertex);
    memcpy(&code->fragment, &fragment, sizeof fragment);
    bool has_stage = stage && (vertex || fragment);
    if (!info || !(entry || has_stage)) {
        snprintf(why, why_bytes, "the code object has no %s",
                 info ? CPU_KERNEL_SYMBOL : CPU_KERNEL_INFO_SYMBOL);
        goto fail;
    }
    if (info->abi != ABI_VERSION) {
        snprintf(why, why_bytes, "the code object is for interface %u, this library for %u",
                 info->abi, ABI_VERSION);
        goto fail;
    }
    code->info = *info;
    if (has_stage) code->stage = *stage;
    code->head = (DevCode){.n_slots = info->n_slots,
                           .threadgroup_bytes = info->threadgroup_bytes,
                           .stack_bytes = info->stack_bytes,
                           .stage = has_stage ? &code->stage : NULL};
    note_loaded(code, bytes);
    code->fd = KEEP_FILE ? fd : -1;
    if (!KEEP_FILE) close(fd);
    return &code->head;

fail:
    if (code && code->handle) dlclose(code->handle);
    free(code);
    if (fd >= 0) close(fd);
    return NULL;
}

void cpu_code_free(DevCode *head) {
    if (!head) return;
    CpuCode *code = cpu_code(head);
    forget_loaded(code);
    dlclose(code->handle);
    if (code->fd >= 0) close(code->fd);
    free(code);
}

CpuVertexFn *cpu_code_vertex(const DevCode *code) { return cpu_code(code)->vertex; }
CpuFragmentFn *cpu_code_fragment(const DevCode *code) { return cpu_code(code)->fragment; }
