// SPDX-License-Identifier: Apache-2.0
// mach_assembly.c: assembly written for a Mac, as this system's assembler wants it. Projects embed
// files by a few lines of it (.section, .incbin, symbols with an underscore in front), and these
// lines are all that is understood here: instructions stay as they are.
#include "apps/tools/mach_assembly.h"
#include "base/files.h"
#include "base/text.h"
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct Directive {
    const char *mach, *elf; // a line that begins with the one becomes the other; "" is left out
} Directive;

// Those with a segment are what `.section SEGMENT,SECTION` names.
static const Directive directives[] = {
    {".section __TEXT,__text", ".text"},
    {".section __TEXT,__const", ".section .rodata"},
    {".section __TEXT,__cstring", ".section .rodata"},
    {".section __DATA,__data", ".data"},
    {".section __DATA,__const", ".section .data.rel.ro,\"aw\",@progbits"},
    {".section __DATA,__bss", ".bss"},
    {".const_data", ".section .data.rel.ro,\"aw\",@progbits"},
    {".const", ".section .rodata"},
    {".cstring", ".section .rodata"},
    {".subsections_via_symbols", ""},
    {".build_version", ""},
    {".macosx_version_min", ""},
};

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

// Copies a line; names outside of quotes lose the underscore that a Mac's compiler puts in front.
static void add_without_underscores(Text *out, const char *line, size_t n) {
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (line[i] == '"' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
        const bool begins = i + 1 < n && !quoted && line[i] == '_' &&
                            (i == 0 || (!is_name(line[i - 1]) && line[i - 1] != '.')) &&
                            is_name(line[i + 1]) && !isdigit((unsigned char)line[i + 1]);
        if (!begins) text_add_bytes(out, line + i, 1);
    }
}

// The line with one space between words and none at commas: what directives are compared with.
static void squeeze(const char *line, size_t n, char out[PATH_MAX]) {
    size_t to = 0;
    for (size_t i = 0; i < n && to + 2 < PATH_MAX; i++) {
        const bool space = isspace((unsigned char)line[i]);
        if (space && (to == 0 || out[to - 1] == ' ' || out[to - 1] == ',')) continue;
        if (line[i] == ',' && to && out[to - 1] == ' ') to--;
        out[to++] = space ? ' ' : line[i];
    }
    while (to && out[to - 1] == ' ') to--;
    out[to] = 0;
}

static bool begins_with(const char *line, const char *words) {
    const size_t n = strlen(words);
    return !strncmp(line, words, n) && !is_name(line[n]);
}

// True: the line was one of a Mac's alone.
static bool add_directive(Text *out, const char *line) {
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (begins_with(line, directives[i].mach)) {
            text_add(out, directives[i].elf);
            return true;
        }
    static const char hidden[] = ".private_extern _", section[] = ".section __";
    if (!strncmp(line, hidden, sizeof hidden - 1)) {
        const char *name = line + sizeof hidden - 1;
        text_printf(out, ".globl %s; .hidden %s", name, name);
        return true;
    }
    const char *name = strncmp(line, section, sizeof section - 1) ? NULL : strchr(line, ',');
    if (!name) return false;
    text_printf(out, ".section %.*s,\"%s\",@progbits", (int)strcspn(name + 1, ","), name + 1,
                begins_with(line, ".section __TEXT") ? "a" : "aw");
    return true;
}

bool mach_assembly(const char *path, char out[32]) {
    size_t n;
    char *source = (char *)file_read(path, &n), line[PATH_MAX];
    Text all = {0};
    bool found = false, written = false;
    text_printf(&all, "# 1 \"%s\"\n", path);
    for (const char *at = source; source && at < source + n;) {
        const char *end = memchr(at, '\n', (size_t)(source + n - at));
        const size_t length = (size_t)((end ? end : source + n) - at);
        squeeze(at, length, line);
        if (add_directive(&all, line))
            found = true;
        else
            add_without_underscores(&all, at, length);
        text_add(&all, "\n");
        at += length + 1;
    }
    text_add(&all, ".section .note.GNU-stack,\"\",@progbits\n"); // the stack is no code
    free(source);
    const int fd = found && !all.failed ? memfd_create("assembly", 0) : -1;
    if (fd >= 0) {
        written = write_all(fd, all.data, all.n_bytes) && lseek(fd, 0, SEEK_SET) == 0;
        if (written)
            snprintf(out, 32, "/proc/self/fd/%d", fd); // stays open in the assembler
        else
            close(fd);
    }
    text_free(&all);
    return written;
}
