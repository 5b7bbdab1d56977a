// SPDX-License-Identifier: Apache-2.0
// jitdump.c: jit-PID.dump in the folder of a profile: the code that was loaded, with its lines, for
// `perf inject --jit` (tools/perf/Documentation/jitdump-specification.txt of Linux). perf learns of
// the file because it is mapped, executable.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/files.h"
#include "base/text.h"
#include "devices/cpu/engine.h"
#include "devices/cpu/line_table.h"
#include "os/clock.h"

typedef struct Head {
    uint32_t magic, version, size, machine, zero, pid;
    uint64_t time, flags;
} Head;
typedef struct Record {
    uint32_t kind, size;
    uint64_t time;
} Record;
typedef struct Load { // behind a Record; then the name, with its zero, and the code
    uint32_t pid, tid;
    uint64_t address, code_address, n_bytes, number;
} Load;
typedef struct Lines { // behind a Record; then the rows
    uint64_t address, n;
} Lines;
enum { CODE_LOAD = 0, CODE_DEBUG_INFO = 2 };

static int file = -1;
static uint64_t n_codes;

// CLOCK_MONOTONIC, as `perf record -k 1` has it.
static Record record(uint32_t kind, size_t n_bytes) {
    return (Record){kind, (uint32_t)(sizeof(Record) + n_bytes), os_now_ns()};
}

void cpu_jitdump_begin(const char *folder) {
    char name[64];
    snprintf(name, sizeof name, "jit-%ld.dump", (long)getpid());
    char *path = path_join(folder, name);
    file = path ? open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600) : -1;
    free(path);
    if (file < 0) return;
#if defined(__x86_64__)
    enum { MACHINE = EM_X86_64 };
#else
    enum { MACHINE = EM_AARCH64 };
#endif
    Head head = {.magic = 0x4A695444,
                 .version = 1,
                 .size = sizeof head,
                 .machine = MACHINE,
                 .pid = (uint32_t)getpid(),
                 .time = os_now_ns()};
    write_all(file, &head, sizeof head);
    // It stays mapped: the mark is all that perf wants of it.
    mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
}

typedef struct Rows {
    Text text;
    uint64_t n, base;
} Rows;

static void add_row(void *context, uint64_t address, uint32_t line, const char *folder,
                    const char *name) {
    Rows *r = context;
    uint64_t at = r->base + address;
    uint32_t words[2] = {line, 0};
    if (!line) return;
    text_add_bytes(&r->text, (const char *)&at, sizeof at);
    text_add_bytes(&r->text, (const char *)words, sizeof words);
    text_printf(&r->text, "%s%s%s", folder, *folder && *name != '/' ? "/" : "", name);
    text_add_bytes(&r->text, "", 1);
    r->n++;
}

// All or nothing: half a record would be the end of the file for perf.
static void write_lines(const CpuCode *code, const DevCodeSource *source, uint64_t start) {
    Rows r = {.base = (uintptr_t)code->base};
    cpu_read_lines(source->bytes, source->n_bytes, add_row, &r);
    Lines lines = {start, r.n};
    Record head = record(CODE_DEBUG_INFO, sizeof lines + r.text.n_bytes);
    Text all = {0};
    text_add_bytes(&all, (const char *)&head, sizeof head);
    text_add_bytes(&all, (const char *)&lines, sizeof lines);
    if (r.n) text_add_bytes(&all, r.text.data, r.text.n_bytes);
    if (r.n && !r.text.failed && !all.failed) write_all(file, all.data, all.n_bytes);
    text_free(&all);
    text_free(&r.text);
}

void cpu_jitdump_code(const CpuCode *code, const DevCodeSource *source, const char *function) {
    const Elf64_Phdr *run = NULL;
    for (size_t i = 0; i < code->elf.n_segments; i++)
        if (code->elf.segments[i].p_flags & PF_X) run = &code->elf.segments[i];
    if (file < 0 || !run) return;
    uint64_t start = (uintptr_t)code->base + run->p_vaddr;
    write_lines(code, source, start);
    Load load = {(uint32_t)getpid(), (uint32_t)syscall(SYS_gettid), start, start, run->p_filesz,
                 ++n_codes};
    Text all = {0};
    size_t n_name = strlen(function) + 1;
    Record head = record(CODE_LOAD, sizeof load + n_name + run->p_filesz);
    text_add_bytes(&all, (const char *)&head, sizeof head);
    text_add_bytes(&all, (const char *)&load, sizeof load);
    text_add_bytes(&all, function, n_name);
    text_add_bytes(&all, code->base + run->p_vaddr, run->p_filesz);
    if (!all.failed) write_all(file, all.data, all.n_bytes);
    text_free(&all);
}
