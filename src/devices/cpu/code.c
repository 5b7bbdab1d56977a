// SPDX-License-Identifier: Apache-2.0
// code.c: code objects, ELF shared objects that mslc wrote, in this process. elf.c validates and
// maps them; the system's loader is not involved.
//
// Code for debuggers is loaded by the system from a file (debug.c). Other code is mapped from an
// anonymous file with all of its symbols, seen as "/memfd:ingot-kernel" in /proc/PID/maps.
// `add-symbol-file FILE -o BASE` tells gdb of it, where BASE is the start of the first such range
// and FILE a copy of the code object: the code of `mslc build --emit=obj`, or the bytes at that
// range's /proc/PID/map_files.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/elf.h"
#include "devices/cpu/engine.h"

// ---- What is loaded, by address ----

static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER;
static CpuCode *loaded; // under the lock

static void note_loaded(CpuCode *code) {
    const CpuElf *e = &code->elf;
    code->image = (CpuRange){code->base, code->base + e->span};
    for (size_t i = 0; i < e->n_segments; i++) {
        const Elf64_Phdr *p = &e->segments[i];
        const char *start = code->base + p->p_vaddr;
        if (!(p->p_flags & PF_W))
            code->constants[code->n_constants++] = (CpuRange){start, start + p->p_memsz};
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

static bool has(const CpuCode *code, CpuElfSymbol symbol) { return code->elf.symbols[symbol] != 0; }

// What it says of itself, before anything of it is mapped: cpu_elf_read has seen that it is there.
static void copy_info(const CpuElf *e, CpuElfSymbol symbol, void *to, size_t n_bytes) {
    for (size_t i = 0; i < e->n_segments; i++) {
        const Elf64_Phdr *p = &e->segments[i];
        uint64_t at = e->symbols[symbol] - p->p_vaddr;
        if (e->symbols[symbol] < p->p_vaddr || at >= p->p_filesz) continue;
        size_t n = p->p_filesz - at < n_bytes ? (size_t)(p->p_filesz - at) : n_bytes;
        memcpy(to, e->bytes + p->p_offset + at, n); // zeros follow
    }
}

// A function pointer from a data pointer: POSIX says it works, ISO C has no cast for it.
static void take_function(const CpuCode *code, CpuElfSymbol symbol, void *function) {
    const char *at = has(code, symbol) ? code->base + code->elf.symbols[symbol] : NULL;
    memcpy(function, &at, sizeof at);
}

static bool describe(CpuCode *code, char *why, size_t why_bytes) {
    bool has_stage =
        has(code, CPU_ELF_STAGE_INFO) && (has(code, CPU_ELF_VERTEX) || has(code, CPU_ELF_FRAGMENT));
    bool has_info = has(code, CPU_ELF_KERNEL_INFO);
    if (!has_info || !(has(code, CPU_ELF_KERNEL) || has_stage)) {
        snprintf(why, why_bytes, "the code object has no %s",
                 has_info ? CPU_KERNEL_SYMBOL : CPU_KERNEL_INFO_SYMBOL);
        return false;
    }
    copy_info(&code->elf, CPU_ELF_KERNEL_INFO, &code->info, sizeof code->info);
    if (code->info.abi != ABI_VERSION) {
        snprintf(why, why_bytes, "the code object is for interface %u, this library for %u",
                 code->info.abi, ABI_VERSION);
        return false;
    }
    if (has_stage) copy_info(&code->elf, CPU_ELF_STAGE_INFO, &code->stage, sizeof code->stage);
    code->head = (DevCode){.n_slots = code->info.n_slots,
                           .threadgroup_bytes = code->info.threadgroup_bytes,
                           .stack_bytes = code->info.stack_bytes,
                           .stage = has_stage ? &code->stage : NULL};
    return true;
}

// How many bytes there are from an address on.
static uint64_t room_at(const CpuElf *e, uint64_t at) {
    for (size_t i = 0; i < e->n_segments; i++)
        if (at >= e->segments[i].p_vaddr && at - e->segments[i].p_vaddr < e->segments[i].p_memsz)
            return e->segments[i].p_memsz - (at - e->segments[i].p_vaddr);
    return 0;
}

const char *cpu_code_text(const CpuCode *code, CpuElfSymbol symbol, size_t *n_bytes) {
    uint64_t at = code->elf.symbols[symbol], room = at ? room_at(&code->elf, at) : 0;
    const char *text = code->base + at, *end = room ? memchr(text, 0, room) : NULL;
    *n_bytes = end ? (size_t)(end - text) : 0;
    return end ? text : NULL;
}

// The table of watched code: whole, and of arguments that there are.
static bool take_sites(CpuCode *code, char *why, size_t why_bytes) {
    const CpuElf *e = &code->elf;
    if (!(code->info.flags & CPU_KERNEL_WATCHED)) return true;
    uint64_t at = e->symbols[CPU_ELF_SITES], room = room_at(e, at);
    const CpuSite *sites = (const void *)(code->base + at);
    uint32_t n = at && room >= sizeof *sites ? sites[0].id : 0;
    bool ok = n && n <= CPU_MAX_SITES && room / sizeof *sites >= n;
    for (uint32_t i = 1; ok && i < n; i++) {
        const CpuSite *s = &sites[i];
        ok = s->id == i && s->kind < CPU_N_SITE_KINDS && !s->name[sizeof s->name - 1] &&
             (s->slot < code->info.n_slots ||
              (s->slot == UINT32_MAX && s->space != ABI_SPACE_BUFFER));
    }
    if (!ok) snprintf(why, why_bytes, "the code object's %s is damaged", CPU_SITES_SYMBOL);
    code->sites = sites;
    return ok;
}

static void give_back(CpuCode *code) {
    if (code->debugged)
        cpu_debug_close(code->debugged);
    else if (code->base)
        cpu_elf_unmap(&code->elf, code->base);
}

DevCode *cpu_code_load(const void *bytes, size_t n_bytes, char *why, size_t why_bytes) {
    CpuCode *code = calloc(1, sizeof *code);
    if (!code) {
        snprintf(why, why_bytes, "out of memory");
        return NULL;
    }
    if (!cpu_elf_read(&code->elf, bytes, n_bytes, why, why_bytes) ||
        !describe(code, why, why_bytes))
        goto fail;
    code->base = cpu_debug_open(bytes, n_bytes, &code->debugged);
    if (!code->base) code->base = cpu_elf_map(&code->elf, why, why_bytes);
    if (!code->base || !take_sites(code, why, why_bytes)) goto fail;
    take_function(code, CPU_ELF_KERNEL, &code->kernel);
    take_function(code, CPU_ELF_VERTEX, &code->vertex);
    take_function(code, CPU_ELF_FRAGMENT, &code->fragment);
    code->elf.bytes = NULL; // the caller's, who frees them
    note_loaded(code);
    return &code->head;

fail:
    give_back(code);
    free(code);
    return NULL;
}

void cpu_code_free(DevCode *head) {
    if (!head) return;
    CpuCode *code = cpu_code(head);
    forget_loaded(code);
    give_back(code);
    free(code);
}

CpuVertexFn *cpu_code_vertex(const DevCode *code) { return cpu_code(code)->vertex; }
CpuFragmentFn *cpu_code_fragment(const DevCode *code) { return cpu_code(code)->fragment; }
