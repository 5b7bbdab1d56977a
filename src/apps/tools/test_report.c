// SPDX-License-Identifier: Apache-2.0
// test_report.c: results of `ingot test`: TAP on standard output, JUnit's XML in a file, and in
// GitHub's runners annotations of the lines that are wrong.
#include "base/files.h"
#include "apps/tools/test_int.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
                printf("::error file=%.*s,line=%u,col=%u::%.*s\n", (int)(where - line), line, row,
                       column, (int)(line + n - mark - 9), mark + 9);
        }
        line += n + (line[n] == '\n');
    }
    if (!strstr(message, ": error: "))
        printf("::error file=%s::%.*s\n", file, (int)strcspn(message, "\n"), message);
}

void report_case(TestReport *r, const char *file, const char *name, char *message, double seconds) {
    TestCase *more = realloc(r->cases, (r->n + 1) * sizeof *more);
    if (!more) {
        complain(EXIT_INPUT, "test", "out of memory");
        exit(EXIT_INPUT);
    }
    r->cases = more;
    r->cases[r->n++] = (TestCase){strdup(file), strdup(name), message, seconds};
    if (r->n == 1) puts("TAP version 13");
    printf("%s %zu - %s: %s\n", message ? "not ok" : "ok", r->n, file, name);
    if (message) {
        const char *github = getenv("GITHUB_ACTIONS");
        r->n_failed++;
        puts("  ---\n  message: |");
        for (const char *line = message; *line;) {
            size_t n = strcspn(line, "\n");
            printf("    %.*s\n", (int)n, line);
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
