// SPDX-License-Identifier: Apache-2.0
// line_table.c: the line number program of DWARF 4, section 6.2 of its specification, as far as
// LLVM writes it.
#include "devices/cpu/line_table.h"
#include <elf.h>
#include <stdbool.h>
#include <string.h>

typedef struct Bytes {
    const unsigned char *at, *end;
    bool bad;
} Bytes;

enum { MAX_NAMES = 256 };
typedef struct Program {
    Bytes b;
    uint8_t min_length, opcode_base, line_range, operands[256];
    int8_t line_base;
    const char *folders[MAX_NAMES], *files[MAX_NAMES];
    uint64_t folder_of[MAX_NAMES];
    size_t n_folders, n_files;
    CpuLineFn *row;
    void *context;
} Program;

// ---- Numbers ----

static uint64_t read_integer(Bytes *b, size_t n) { // little-endian
    uint64_t v = 0;
    if ((size_t)(b->end - b->at) < n) {
        b->bad = true;
        b->at = b->end;
        return 0;
    }
    for (size_t i = 0; i < n; i++) v |= (uint64_t)b->at[i] << 8 * i;
    b->at += n;
    return v;
}

static uint64_t take_leb(Bytes *b, bool is_signed) {
    uint64_t v = 0;
    unsigned shift = 0;
    for (;;) {
        uint8_t byte = (uint8_t)read_integer(b, 1);
        if (shift < 64) v |= (uint64_t)(byte & 127) << shift;
        shift += 7;
        if (byte & 128 && !b->bad) continue;
        if (is_signed && shift < 64 && byte & 64) v |= ~UINT64_C(0) << shift;
        return v;
    }
}

static const char *take_text(Bytes *b) {
    const unsigned char *start = b->at, *zero = memchr(start, 0, (size_t)(b->end - start));
    if (!zero) {
        b->bad = true;
        b->at = b->end;
        return "";
    }
    b->at = zero + 1;
    return (const char *)start;
}

// ---- The head of a program ----

static void read_names(Program *p) {
    Bytes *b = &p->b;
    p->folders[0] = ""; // the compiler's own, which stands elsewhere
    for (p->n_folders = 1; !b->bad && b->at < b->end && *b->at;) {
        const char *name = take_text(b);
        if (p->n_folders < MAX_NAMES) p->folders[p->n_folders++] = name;
    }
    read_integer(b, 1);
    for (p->n_files = 1; !b->bad && b->at < b->end && *b->at;) {
        const char *name = take_text(b);
        uint64_t folder = take_leb(b, false);
        take_leb(b, false), take_leb(b, false); // time, size
        if (p->n_files == MAX_NAMES) continue;
        p->folder_of[p->n_files] = folder;
        p->files[p->n_files++] = name;
    }
    read_integer(b, 1);
}

static bool read_head(Program *p) {
    enum { VERSION = 4 };
    Bytes *b = &p->b;
    uint64_t version = read_integer(b, 2), length = read_integer(b, 4);
    if (b->bad || version != VERSION || length > (uint64_t)(b->end - b->at)) return false;
    const unsigned char *code = b->at + length;
    p->min_length = (uint8_t)read_integer(b, 1);
    read_integer(b, 2); // operations of an instruction, whether rows are statements
    p->line_base = (int8_t)read_integer(b, 1);
    p->line_range = (uint8_t)read_integer(b, 1);
    p->opcode_base = (uint8_t)read_integer(b, 1);
    for (unsigned i = 1; i < p->opcode_base; i++) p->operands[i] = (uint8_t)read_integer(b, 1);
    read_names(p);
    b->at = code;
    return !b->bad && p->line_range && p->opcode_base;
}

// ---- Running it ----

typedef struct State {
    uint64_t address, file, line;
} State;
static const State first = {.file = 1, .line = 1};

static void tell(const Program *p, const State *s, bool end) {
    const char *file = s->file && s->file < p->n_files ? p->files[s->file] : "",
               *folder = s->file && s->file < p->n_files && p->folder_of[s->file] < p->n_folders
                             ? p->folders[p->folder_of[s->file]]
                             : "";
    p->row(p->context, s->address, end ? 0 : (uint32_t)s->line, folder, file);
}

static void extended(Program *p, State *s) {
    enum { END = 1, SET_ADDRESS = 2 };
    Bytes *b = &p->b;
    uint64_t n = take_leb(b, false);
    if (b->bad || !n || n > (uint64_t)(b->end - b->at)) {
        b->bad = true;
        return;
    }
    const unsigned char *next = b->at + n;
    uint8_t op = (uint8_t)read_integer(b, 1);
    if (op == SET_ADDRESS) s->address = read_integer(b, n - 1 > 8 ? 8 : n - 1);
    if (op == END) {
        tell(p, s, true);
        *s = first;
    }
    b->at = next;
}

static void standard(Program *p, State *s, uint8_t op) {
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
    Bytes *b = &p->b;
    switch (op) {
    case COPY: tell(p, s, false); break;
    case ADVANCE_PC: s->address += take_leb(b, false) * p->min_length; break;
    case ADVANCE_LINE: s->line += take_leb(b, true); break;
    case SET_FILE: s->file = take_leb(b, false); break;
    case CONST_ADD_PC:
        s->address += (uint64_t)((255 - p->opcode_base) / p->line_range) * p->min_length;
        break;
    case FIXED_ADVANCE_PC: s->address += read_integer(b, 2); break;
    default:
        for (unsigned i = 0; i < p->operands[op]; i++) take_leb(b, false);
    }
}

static void run_program(Program *p) {
    State s = first;
    while (!p->b.bad && p->b.at < p->b.end) {
        uint8_t op = (uint8_t)read_integer(&p->b, 1);
        if (op >= p->opcode_base) {
            unsigned k = op - (unsigned)p->opcode_base;
            s.address += (uint64_t)(k / p->line_range) * p->min_length;
            s.line += (uint64_t)(int64_t)(p->line_base + (int)(k % p->line_range));
            tell(p, &s, false);
        } else if (op) {
            standard(p, &s, op);
        } else {
            extended(p, &s);
        }
    }
}

// ---- The section ----

static bool is_inside(uint64_t at, uint64_t n, size_t n_bytes) {
    return at <= n_bytes && n <= n_bytes - at;
}

static Bytes find_section(const unsigned char *elf, size_t n_bytes) {
    Elf64_Ehdr head;
    Elf64_Shdr names, s;
    if (n_bytes < sizeof head) return (Bytes){0};
    memcpy(&head, elf, sizeof head);
    uint64_t size = sizeof s, table = head.e_shoff;
    if (head.e_shentsize != size || head.e_shstrndx >= head.e_shnum ||
        !is_inside(table, head.e_shnum * size, n_bytes))
        return (Bytes){0};
    memcpy(&names, elf + table + head.e_shstrndx * size, size);
    for (unsigned i = 0; i < head.e_shnum; i++) {
        static const char wanted[] = ".debug_line";
        memcpy(&s, elf + table + i * size, size);
        if (!is_inside(names.sh_offset + s.sh_name, sizeof wanted, n_bytes) ||
            memcmp(elf + names.sh_offset + s.sh_name, wanted, sizeof wanted) ||
            !is_inside(s.sh_offset, s.sh_size, n_bytes))
            continue;
        return (Bytes){elf + s.sh_offset, elf + s.sh_offset + s.sh_size, false};
    }
    return (Bytes){0};
}

void cpu_read_lines(const void *elf, size_t n_bytes, CpuLineFn *row, void *context) {
    Bytes all = find_section(elf, n_bytes);
    while (!all.bad && all.at && (size_t)(all.end - all.at) >= 4) {
        uint64_t length = read_integer(&all, 4);
        if (length > (uint64_t)(all.end - all.at)) return;
        Program p = {.b = {all.at, all.at + length, false}, .row = row, .context = context};
        all.at += length;
        if (read_head(&p)) run_program(&p);
    }
}
