// SPDX-License-Identifier: Apache-2.0
// test_report.c: results of `ingot test`: TAP on standard output, JUnit's XML in a file, and in
// GitHub's runners annotations of the lines that are wrong.
#include "base/files.h"
#include "base/array.h"
#include "apps/tools/test_int.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Text of a file on one line of TAP. `#` begins a directive there ("# SKIP"), and GitHub's runners
// take commands from whatever is printed: at the beginning of a line, or behind "##[".
static void put_line(const char *before, const char *s, size_t n, bool is_title) {
    Text t = {0};
    size_t blank = strspn(s, " \t");
    text_add_visible(&t, s, n, false);
    fputs(before, stdout);
    for (const char *p = t.data ? t.data : ""; *p; p++) {
        bool command = (size_t)(p - t.data) == blank && !strncmp(p, "::", 2);
        if ((is_title && *p == '#') || command || !strncmp(p, "##[", 3)) putchar('\\');
        putchar(*p);
    }
    text_free(&t);
}

// The same in a command to the runner: a part of its list of properties, or its text.
static void put_data(const char *s, size_t n, bool is_property) {
    Text t = {0};
    text_add_visible(&t, s, n, false);
    for (const char *p = t.data ? t.data : ""; *p; p++) {
        if (*p == '%' || (is_property && (*p == ':' || *p == ',')))
            printf("%%%02X", *p);
        else
            putchar(*p);
    }
    text_free(&t);
}

static void put_error(const char *file, size_t n_file, unsigned row, unsigned column,
                      const char *text, size_t n) {
    fputs("::error file=", stdout);
    put_data(file, n_file, true);
    if (row) printf(",line=%u,col=%u", row, column);
    fputs("::", stdout);
    put_data(text, n, false);
    putchar('\n');
}

// "file:line:column: error: text" of a compiler's message as GitHub's runners understand it.
static void annotate(const char *file, const char *message) {
    for (const char *line = message; *line;) {
        size_t n = strcspn(line, "\n");
        const char *mark = strstr(line, ": error: ");
        unsigned row, column;
        if (mark && mark < line + n) {
            const char *where = mark;
            int colons = 0;
            while (where > line && colons < 2) colons += *--where == ':';
            if (colons == 2 && sscanf(where, ":%u:%u", &row, &column) == 2)
                put_error(line, (size_t)(where - line), row, column, mark + 9,
                          (size_t)(line + n - mark - 9));
        }
        line += n + (line[n] == '\n');
    }
    if (!strstr(message, ": error: "))
        put_error(file, strlen(file), 0, 0, message, strcspn(message, "\n"));
}

void report_case(TestReport *r, const char *file, const char *name, char *message, double seconds) {
    must_have(array_more(&r->cases, r->n));
    r->cases[r->n++] = (TestCase){strdup(file), strdup(name), message, seconds};
    if (r->n == 1) puts("TAP version 13");
    printf("%s %zu - ", message ? "not ok" : "ok", r->n);
    put_line("", file, strlen(file), true);
    put_line(": ", name, strlen(name), true);
    putchar('\n');
    if (message) {
        const char *github = getenv("GITHUB_ACTIONS");
        r->n_failed++;
        puts("  ---\n  message: |");
        for (const char *line = message; *line;) {
            size_t n = strcspn(line, "\n");
            put_line("    ", line, n, false);
            putchar('\n');
            line += n + (line[n] == '\n');
        }
        puts("  ...");
        if (github && !strcmp(github, "true")) annotate(file, message);
    }
    fflush(stdout);
}

static void add_xml(Text *t, const char *s) {
    for (; *s; s++) {
        if (*s == '&' || *s == '<' || *s == '>' || *s == '"')
            text_printf(t, "&#%d;", *s);
        else if ((unsigned char)*s >= ' ' || *s == '\n' || *s == '\t')
            text_add_bytes(t, s, 1); // other control characters have no place in XML
    }
}

static bool write_junit(const TestReport *r, const char *path) {
    Text t = {0};
    text_printf(&t,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ingot test\" "
                "tests=\"%zu\" failures=\"%zu\">\n",
                r->n, r->n_failed);
    for (size_t i = 0; i < r->n; i++) {
        const TestCase *c = &r->cases[i];
        text_add(&t, "  <testcase classname=\"");
        add_xml(&t, c->file);
        text_add(&t, "\" name=\"");
        add_xml(&t, c->name);
        text_printf(&t, "\" time=\"%.3f\"", c->seconds);
        if (c->message) {
            text_add(&t, ">\n    <failure>");
            add_xml(&t, c->message);
            text_add(&t, "</failure>\n  </testcase>\n");
        } else {
            text_add(&t, "/>\n");
        }
    }
    text_add(&t, "</testsuite>\n");
    bool ok = !t.failed && file_write_atomic(path, t.data, t.n_bytes, false);
    if (!ok) complain(EXIT_INPUT, "test", "cannot write %s: %s", path, strerror(errno));
    text_free(&t);
    return ok;
}

int report_end(TestReport *r, const char *junit) {
    bool ok = !r->n_failed;
    printf("1..%zu\n", r->n);
    if (r->n_failed) printf("# %zu of %zu failed\n", r->n_failed, r->n);
    if (junit && !write_junit(r, junit)) ok = false;
    for (size_t i = 0; i < r->n; i++)
        free(r->cases[i].file), free(r->cases[i].name), free(r->cases[i].message);
    free(r->cases);
    return ok ? EXIT_FINE : EXIT_INPUT;
}
