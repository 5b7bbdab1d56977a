// SPDX-License-Identifier: Apache-2.0
// elf.c: see elf.h. The system's loader runs what a file tells it to run (initialisers, resolvers),
// loads other files, and lets symbols of one library stand for those of another. None of that is
// needed: a code object is a few segments, the addresses of its entry and of what describes it, and
// at most some words that hold addresses in it, or those of the three functions that compilers call
// unasked. So it is read and mapped here, and whatever else a file has is an error.
#include "devices/cpu/elf.h"
#include "abi/cpu_kernel.h"
#include "abi/cpu_stage.h"
#include "base/files.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum {
    MACHINE = EM_X86_64,
    R_RELATIVE = R_X86_64_RELATIVE,
    R_GLOBAL = R_X86_64_GLOB_DAT,
    R_JUMP = R_X86_64_JUMP_SLOT,
    R_ADDRESS = R_X86_64_64
};
#elif defined(__aarch64__)
enum {
    MACHINE = EM_AARCH64,
    R_RELATIVE = R_AARCH64_RELATIVE,
    R_GLOBAL = R_AARCH64_GLOB_DAT,
    R_JUMP = R_AARCH64_JUMP_SLOT,
    R_ADDRESS = R_AARCH64_ABS64
};
#endif

enum { MAX_HEADERS = 32, MAX_TAGS = 64, MAX_SECTIONS = 256 };
#define MAX_SPAN ((uint64_t)1 << 32)

typedef struct Reader {
    CpuElf *elf;
    char *why;
    size_t why_bytes;
    uint64_t n_relocation_bytes[2]; // as the file says
    Elf64_Phdr dynamic;
} Reader;

static bool refuse(const Reader *r, const char *what, const char *name) {
    char readable[48];
    size_t n = 0;
    for (; name && name[n] && n < sizeof readable - 1; n++)
        readable[n] = name[n] > ' ' && name[n] <= '~' ? name[n] : '?';
    readable[n] = 0;
    snprintf(r->why, r->why_bytes, "the code object is refused: %s%s%s%s", what, n ? " '" : "",
             readable, n ? "'" : "");
    return false;
}

static bool in_file(const CpuElf *e, uint64_t at, uint64_t n) {
    return at <= e->n_bytes && n <= e->n_bytes - at;
}

// Where the file holds what lies at an address; false: nowhere, or not all of it.
static bool place_of(const CpuElf *e, uint64_t address, uint64_t n, uint64_t *at) {
    for (size_t i = 0; i < e->n_segments; i++) {
        const Elf64_Phdr *s = &e->segments[i];
        if (address < s->p_vaddr || address - s->p_vaddr > s->p_filesz ||
            n > s->p_filesz - (address - s->p_vaddr))
            continue;
        *at = s->p_offset + (address - s->p_vaddr);
        return true;
    }
    return false;
}

// The segment that holds all of [address, address + n).
static const Elf64_Phdr *segment_of(const CpuElf *e, uint64_t address, uint64_t n) {
    for (size_t i = 0; i < e->n_segments; i++) {
        const Elf64_Phdr *s = &e->segments[i];
        if (address >= s->p_vaddr && address - s->p_vaddr <= s->p_memsz &&
            n <= s->p_memsz - (address - s->p_vaddr))
            return s;
    }
    return NULL;
}

// ---- Segments ----

static bool read_load(Reader *r, const Elf64_Phdr *p) {
    CpuElf *e = r->elf;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (e->n_segments == CPU_ELF_SEGMENTS) return refuse(r, "too many segments", NULL);
    if (p->p_filesz > p->p_memsz || !in_file(e, p->p_offset, p->p_filesz))
        return refuse(r, "a segment outside of the file", NULL);
    if (p->p_vaddr > MAX_SPAN || p->p_memsz > MAX_SPAN - p->p_vaddr)
        return refuse(r, "a segment that is too large", NULL);
    if ((p->p_vaddr ^ p->p_offset) % page || p->p_vaddr / page * page < e->span)
        return refuse(r, "segments on each other's pages", NULL);
    if (p->p_flags & ~(uint32_t)(PF_R | PF_W | PF_X) ||
        (p->p_flags & (PF_W | PF_X)) == (PF_W | PF_X))
        return refuse(r, "a segment that is writable and executable", NULL);
    if (!(p->p_flags & PF_R)) return refuse(r, "a segment without read permission", NULL);
    e->segments[e->n_segments++] = *p;
    e->span = (p->p_vaddr + p->p_memsz + page - 1) / page * page;
    return true;
}

// Whether all that a segment holds is settled once it is loaded.
static bool is_settled(const CpuElf *e, const Elf64_Phdr *s) {
    return s->p_vaddr >= e->settled_from && s->p_vaddr + s->p_memsz <= e->settled_to;
}

static bool read_segments(Reader *r, const Elf64_Ehdr *head) {
    CpuElf *e = r->elf;
    int n_code = 0, n_written = 0;
    if (head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phnum > MAX_HEADERS ||
        !in_file(e, head->e_phoff, (uint64_t)head->e_phnum * sizeof(Elf64_Phdr)))
        return refuse(r, "its table of segments", NULL);
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, e->bytes + head->e_phoff + i * sizeof p, sizeof p);
        switch (p.p_type) {
        case PT_LOAD:
            if (!read_load(r, &p)) return false;
            break;
        case PT_DYNAMIC: r->dynamic = p; break;
        case PT_GNU_RELRO:
            if (p.p_vaddr > MAX_SPAN || p.p_memsz > MAX_SPAN)
                return refuse(r, "a segment that is too large", NULL);
            e->settled_from = p.p_vaddr, e->settled_to = p.p_vaddr + p.p_memsz;
            break;
        case PT_GNU_STACK:
            if (p.p_flags & PF_X) return refuse(r, "a stack to run", NULL);
            break;
        case PT_NULL:
        case PT_PHDR:
        case PT_NOTE:
        case PT_GNU_PROPERTY:
        case PT_GNU_EH_FRAME: break;
        default: return refuse(r, "a segment of a kind that it has no use for", NULL);
        }
    }
    for (size_t i = 0; i < e->n_segments; i++) {
        n_code += (e->segments[i].p_flags & PF_X) != 0;
        n_written += (e->segments[i].p_flags & PF_W) && !is_settled(e, &e->segments[i]);
    }
    if (n_code > 1) return refuse(r, "more than one segment of code", NULL);
    if (n_written > 1) return refuse(r, "more than one segment to write", NULL);
    return true;
}

// ---- What is said to the loader ----

static bool read_tag(Reader *r, const Elf64_Dyn *d) {
    CpuElf *e = r->elf;
    switch (d->d_tag) {
    case DT_RELA: e->relocations[0].at = d->d_un.d_val; break;
    case DT_RELASZ: r->n_relocation_bytes[0] = d->d_un.d_val; break;
    case DT_JMPREL: e->relocations[1].at = d->d_un.d_val; break;
    case DT_PLTRELSZ: r->n_relocation_bytes[1] = d->d_un.d_val; break;
    case DT_SYMTAB: e->names = d->d_un.d_val; break;
    case DT_STRTAB: e->strings = d->d_un.d_val; break;
    case DT_STRSZ: e->n_strings = d->d_un.d_val; break;
    case DT_RELAENT:
        if (d->d_un.d_val != sizeof(Elf64_Rela)) return refuse(r, "its relocations", NULL);
        break;
    case DT_SYMENT:
        if (d->d_un.d_val != sizeof(Elf64_Sym)) return refuse(r, "its symbols", NULL);
        break;
    case DT_PLTREL:
        if (d->d_un.d_val != DT_RELA) return refuse(r, "its relocations", NULL);
        break;
    case DT_FLAGS:
        if (d->d_un.d_val & DF_TEXTREL) return refuse(r, "code that is written to", NULL);
        break;
    case DT_SONAME: // a name that nobody asks for, and ways to find symbols that are not needed
    case DT_FLAGS_1:
    case DT_HASH:
    case DT_GNU_HASH:
    case DT_RELACOUNT:
    case DT_PLTGOT: break;
    case DT_INIT:
    case DT_FINI:
    case DT_INIT_ARRAY:
    case DT_INIT_ARRAYSZ:
    case DT_FINI_ARRAY:
    case DT_FINI_ARRAYSZ:
    case DT_PREINIT_ARRAY:
    case DT_PREINIT_ARRAYSZ: return refuse(r, "initialisers or finalisers", NULL);
    case DT_NEEDED: return refuse(r, "another library", NULL);
    case DT_TEXTREL: return refuse(r, "code that is written to", NULL);
    default: return refuse(r, "words to the loader", NULL);
    }
    return true;
}

static bool read_dynamic(Reader *r) {
    CpuElf *e = r->elf;
    uint64_t at, n = r->dynamic.p_filesz / sizeof(Elf64_Dyn);
    if (n > MAX_TAGS || !place_of(e, r->dynamic.p_vaddr, n * sizeof(Elf64_Dyn), &at))
        return refuse(r, "its table for the loader", NULL);
    for (uint64_t i = 0; i < n; i++) {
        Elf64_Dyn d;
        memcpy(&d, e->bytes + at + i * sizeof d, sizeof d);
        if (d.d_tag == DT_NULL) break;
        if (!read_tag(r, &d)) return false;
    }
    for (int i = 0; i < 2; i++) {
        uint64_t bytes = r->n_relocation_bytes[i];
        if (bytes % sizeof(Elf64_Rela) ||
            (bytes && !place_of(e, e->relocations[i].at, bytes, &e->relocations[i].at)))
            return refuse(r, "relocations outside of the file", NULL);
        e->relocations[i].n = bytes / sizeof(Elf64_Rela);
    }
    return true;
}

// How many symbols there are is said by the sections only.
static bool find_symbols(Reader *r, const Elf64_Ehdr *head) {
    CpuElf *e = r->elf;
    if (head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shnum > MAX_SECTIONS ||
        !in_file(e, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr)))
        return refuse(r, "its table of sections", NULL);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, e->bytes + head->e_shoff + i * sizeof s, sizeof s);
        if (s.sh_type == SHT_DYNSYM && s.sh_addr == e->names)
            e->n_names = s.sh_size / sizeof(Elf64_Sym);
    }
    if (!e->n_names || e->n_names > e->n_bytes ||
        !place_of(e, e->names, e->n_names * sizeof(Elf64_Sym), &e->names) || !e->n_strings ||
        !place_of(e, e->strings, e->n_strings, &e->strings) ||
        e->bytes[e->strings + e->n_strings - 1])
        return refuse(r, "its symbols", NULL);
    return true;
}

// ---- Symbols and relocations ----

static Elf64_Sym symbol_at(const CpuElf *e, uint64_t i) {
    Elf64_Sym s;
    memcpy(&s, e->bytes + e->names + i * sizeof s, sizeof s);
    return s;
}

static const char *name_of(const CpuElf *e, const Elf64_Sym *s) {
    return s->st_name < e->n_strings ? (const char *)e->bytes + e->strings + s->st_name : NULL;
}

// Functions that compilers call for copies of memory. NULL: no other is given.
static void *host_function(const char *name) {
    static const struct {
        const char *name;
        void (*f)(void);
    } functions[] = {{"memcpy", (void (*)(void))memcpy},
                     {"memmove", (void (*)(void))memmove},
                     {"memset", (void (*)(void))memset}};
    void *address = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i].name, name))
            memcpy(&address, &functions[i].f, sizeof address); // ISO C has no cast for it
    return address;
}

static const struct {
    const char *name;
    uint64_t n_bytes; // what is read of it; 0: it is called
} contract[CPU_ELF_N_SYMBOLS] = {
    [CPU_ELF_KERNEL_INFO] = {CPU_KERNEL_INFO_SYMBOL, sizeof(CpuKernelInfo)},
    [CPU_ELF_STAGE_INFO] = {CPU_STAGE_INFO_SYMBOL, sizeof(AbiStageInfo)},
    [CPU_ELF_KERNEL] = {CPU_KERNEL_SYMBOL, 0},
    [CPU_ELF_VERTEX] = {CPU_VERTEX_SYMBOL, 0},
    [CPU_ELF_FRAGMENT] = {CPU_FRAGMENT_SYMBOL, 0},
    [CPU_ELF_SITES] = {CPU_SITES_SYMBOL, sizeof(CpuSite)},
    [CPU_ELF_LINES] = {CPU_LINES_SYMBOL, 1},
    [CPU_ELF_REMARKS] = {CPU_REMARKS_SYMBOL, 1}};

static bool read_symbol(Reader *r, const Elf64_Sym *s) {
    CpuElf *e = r->elf;
    const char *name = name_of(e, s);
    unsigned type = ELF64_ST_TYPE(s->st_info);
    if (!name) return refuse(r, "its symbols", NULL);
    if (s->st_shndx == SHN_UNDEF)
        return host_function(name) || refuse(r, "a function of somebody else", name);
    for (size_t i = 0; i < CPU_ELF_N_SYMBOLS; i++) {
        if (strcmp(contract[i].name, name)) continue;
        bool called = !contract[i].n_bytes;
        const Elf64_Phdr *in = segment_of(e, s->st_value, called ? 1 : contract[i].n_bytes);
        if (e->symbols[i] || !s->st_value || !in || type != (called ? STT_FUNC : STT_OBJECT) ||
            ((in->p_flags & PF_X) != 0) != called)
            return refuse(r, "a symbol that is not what it should be", name);
        e->symbols[i] = s->st_value;
        return true;
    }
    return refuse(r, "a symbol beyond the contract", name);
}

static Elf64_Rela relocation_at(const CpuElf *e, int table, size_t i) {
    Elf64_Rela a;
    memcpy(&a, e->bytes + e->relocations[table].at + i * sizeof a, sizeof a);
    return a;
}

// Words in memory to write only, which become addresses of the object, or of what it may call.
static bool check_relocation(const Reader *r, const Elf64_Rela *a) {
    const CpuElf *e = r->elf;
    const Elf64_Phdr *in = segment_of(e, a->r_offset, 8);
    uint64_t i = ELF64_R_SYM(a->r_info), type = ELF64_R_TYPE(a->r_info);
    if (!in || !(in->p_flags & PF_W) || (in->p_flags & PF_X))
        return refuse(r, "a relocation of memory that is not writable", NULL);
    if (type == (unsigned)R_RELATIVE)
        return (uint64_t)a->r_addend <= e->span || refuse(r, "an address outside of it", NULL);
    if ((type != (unsigned)R_GLOBAL && type != (unsigned)R_JUMP && type != (unsigned)R_ADDRESS) ||
        !i || i >= e->n_names) // the first is no symbol
        return refuse(r, "a relocation of a kind that it has no use for", NULL);
    Elf64_Sym s = symbol_at(e, i);
    if (s.st_shndx != SHN_UNDEF && (s.st_value > e->span || a->r_addend))
        return refuse(r, "an address outside of it", NULL);
    return true; // read_symbol has seen the name of one that is undefined
}

bool cpu_elf_read(CpuElf *e, const void *bytes, size_t n_bytes, char *why, size_t why_bytes) {
    Reader r = {.elf = e, .why = why, .why_bytes = why_bytes};
    Elf64_Ehdr head;
    *e = (CpuElf){.bytes = bytes, .n_bytes = n_bytes};
    if (n_bytes < sizeof head) return refuse(&r, "it is too short", NULL);
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_type != ET_DYN || head.e_machine != MACHINE)
        return refuse(&r, "it is no shared object for this machine", NULL);
    if (!read_segments(&r, &head) || !read_dynamic(&r) || !find_symbols(&r, &head)) return false;
    for (uint64_t i = 1; i < e->n_names; i++) {
        Elf64_Sym s = symbol_at(e, i);
        if (!read_symbol(&r, &s)) return false;
    }
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < e->relocations[t].n; i++) {
            Elf64_Rela a = relocation_at(e, t, i);
            if (!check_relocation(&r, &a)) return false;
        }
    return true;
}

// ---- Into memory ----

static int protection(const Elf64_Phdr *s) {
    return (s->p_flags & PF_R ? PROT_READ : 0) | (s->p_flags & PF_W ? PROT_WRITE : 0) |
           (s->p_flags & PF_X ? PROT_EXEC : 0);
}

// A segment's pages are the file's, so that profilers find them, but for those beyond its end.
static bool map_segment(const Elf64_Phdr *s, int fd, char *base, uint64_t page) {
    uint64_t from = s->p_vaddr / page * page, in_page = s->p_vaddr - from;
    uint64_t end = s->p_vaddr + s->p_memsz, file_end = s->p_vaddr + s->p_filesz;
    uint64_t mapped = (file_end + page - 1) / page * page, whole = (end + page - 1) / page * page;
    if (s->p_filesz && mmap(base + from, mapped - from, protection(s), MAP_PRIVATE | MAP_FIXED, fd,
                            (off_t)(s->p_offset - in_page)) == MAP_FAILED)
        return false;
    if (!s->p_filesz) mapped = from;
    if (s->p_flags & PF_W && mapped > file_end) // the rest of the last page is other parts' bytes
        memset(base + file_end, 0, mapped - file_end);
    return whole <= mapped || mmap(base + mapped, whole - mapped, protection(s),
                                   MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static void relocate(const CpuElf *e, char *base, const Elf64_Rela *a) {
    uint64_t value = (uint64_t)(uintptr_t)base + (uint64_t)a->r_addend;
    if (ELF64_R_TYPE(a->r_info) != (unsigned)R_RELATIVE) {
        Elf64_Sym s = symbol_at(e, ELF64_R_SYM(a->r_info));
        value = s.st_shndx == SHN_UNDEF ? (uint64_t)(uintptr_t)host_function(name_of(e, &s))
                                        : (uint64_t)(uintptr_t)base + s.st_value;
    }
    memcpy(base + a->r_offset, &value, sizeof value);
}

static bool settle(const CpuElf *e, char *base, uint64_t page) {
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < e->relocations[t].n; i++) {
            Elf64_Rela a = relocation_at(e, t, i);
            relocate(e, base, &a);
        }
    for (size_t i = 0; i < e->n_segments; i++) {
        const Elf64_Phdr *p = &e->segments[i];
        uint64_t from = p->p_vaddr / page * page, to = p->p_vaddr + p->p_memsz;
        if (!(p->p_flags & PF_W)) continue;
        if (!is_settled(e, p)) { // whole pages of it that are
            uint64_t first = (e->settled_from + page - 1) / page * page,
                     end = e->settled_to / page * page;
            from = first > from ? first : from, to = end < to ? end : to;
        }
        if (from < to && mprotect(base + from, to - from, PROT_READ)) return false;
    }
    return true;
}

char *cpu_elf_map(const CpuElf *e, char *why, size_t why_bytes) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    char *base = MAP_FAILED;
    int fd = memfd_create("ingot-kernel", MFD_CLOEXEC);
    bool ok = fd >= 0 && write_all(fd, e->bytes, e->n_bytes) && e->span;
    if (ok) {
        base = mmap(NULL, e->span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        ok = base != MAP_FAILED;
    }
    for (size_t i = 0; ok && i < e->n_segments; i++)
        ok = map_segment(&e->segments[i], fd, base, page);
    ok = ok && settle(e, base, page);
    if (!ok)
        snprintf(why, why_bytes, "no memory for %zu bytes of code: %s", e->n_bytes,
                 strerror(errno));
    if (!ok && base != MAP_FAILED) munmap(base, e->span);
    if (fd >= 0) close(fd);
    return ok ? base : NULL;
}

void cpu_elf_unmap(const CpuElf *e, char *base) {
    if (base) munmap(base, e->span);
}
