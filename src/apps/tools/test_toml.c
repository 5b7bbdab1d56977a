// SPDX-License-Identifier: Apache-2.0
// test_toml.c: see test_toml.h. What it does not know (dates, tables in tables, strings of several
// lines) is an error that names the line, never skipped.
#include "apps/tools/test_toml.h"
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "apps/tools/tools.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
    const char *p;
    size_t line;
    const char *wrong; // what is wrong at this line; NULL so far
} Reader;

// Blanks; with lines also ends of lines and comments. Where something is wrong it stays: the
// message names the line.
static void skip(Reader *r, bool lines) {
    for (; !r->wrong; r->p++) {
        if (*r->p == '#') r->p += strcspn(r->p, "\n");
        if (*r->p == '\n' && lines)
            r->line++;
        else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r')
            return;
    }
}

static void end_of_line(Reader *r) {
    skip(r, false);
    if (*r->p && *r->p != '\n' && !r->wrong) r->wrong = "there is something behind the value";
}

static char *take_string(Reader *r) {
    Text t = {0};
    char quote = *r->p++;
    for (; *r->p != quote; r->p++) {
        if (!*r->p || *r->p == '\n') {
            r->wrong = "the string has no end";
            break;
        }
        if (*r->p == '\\' && quote == '"') {
            static const char from[] = "nt\"\\", to[] = "\n\t\"\\";
            const char *at = strchr(from, *++r->p);
            if (!*r->p || !at) {
                r->wrong = "the string has an escape other than \\n, \\t, \\\" and \\\\";
                break;
            }
            text_add_bytes(&t, &to[at - from], 1);
        } else {
            text_add_bytes(&t, r->p, 1);
        }
    }
    if (!r->wrong) r->p++;
    return text_take(&t);
}

// A key, a number or a word: what stands there without quotes.
static char *take_bare(Reader *r) {
    Text t = {0};
    for (; isalnum((unsigned char)*r->p) || (*r->p && strchr("_-+.", *r->p)); r->p++)
        text_add_bytes(&t, r->p, 1);
    char *word = text_take(&t);
    if (word && !*word) r->wrong = "a name, a string or a number is missing";
    return word;
}

static char *take_word(Reader *r) {
    return *r->p == '"' || *r->p == '\'' ? take_string(r) : take_bare(r);
}

static void add_value(Reader *r, Strings *values) {
    char *word = take_word(r);
    if (!word || !strings_add(values, word)) r->wrong = "out of memory";
}

static void take_value(Reader *r, Strings *values) {
    skip(r, false);
    if (*r->p != '[') {
        add_value(r, values);
        return;
    }
    r->p++;
    for (skip(r, true); !r->wrong && *r->p != ']'; skip(r, true)) {
        add_value(r, values);
        skip(r, true);
        if (*r->p == ',')
            r->p++;
        else if (*r->p != ']' && !r->wrong)
            r->wrong = "',' or ']' is missing in the array";
    }
    if (!r->wrong) r->p++;
}

static void take_table(Reader *r, TomlFile *f) {
    if (!array_more(&f->tables, f->n_tables)) {
        r->wrong = "out of memory";
        return;
    }
    r->p++;
    skip(r, false);
    if (*r->p == '[') {
        r->wrong = "arrays of tables are not understood: give each table a name";
        return;
    }
    TomlTable *t = &f->tables[f->n_tables++];
    *t = (TomlTable){.line = r->line, .name = take_word(r)};
    skip(r, false);
    if (*r->p == ']')
        r->p++;
    else if (!r->wrong)
        r->wrong = "']' is missing behind the table's name";
    for (size_t i = 0; !r->wrong && i + 1 < f->n_tables; i++)
        if (!strcmp(f->tables[i].name, t->name)) r->wrong = "there are two tables of this name";
}

static void take_entry(Reader *r, TomlFile *f) {
    TomlTable *t = f->n_tables ? &f->tables[f->n_tables - 1] : NULL;
    if (!t) {
        r->wrong = "a table, [name], must come first";
        return;
    }
    if (!array_more(&t->entries, t->n_entries)) {
        r->wrong = "out of memory";
        return;
    }
    TomlEntry *e = &t->entries[t->n_entries++];
    *e = (TomlEntry){.line = r->line, .key = take_word(r)};
    skip(r, false);
    if (!r->wrong && *r->p != '=') r->wrong = "'=' is missing behind the key";
    if (r->wrong) return;
    r->p++;
    take_value(r, &e->values);
    for (size_t i = 0; !r->wrong && i + 1 < t->n_entries; i++)
        if (!strcmp(t->entries[i].key, e->key)) r->wrong = "the table has this key already";
}

char *toml_read(const char *path, TomlFile *f) {
    size_t n;
    char *text = (char *)file_read(path, &n), *message = NULL;
    *f = (TomlFile){0};
    if (!text) return text_format("%s: %s", path, strerror(errno));
    Reader r = {.p = text, .line = 1};
    for (skip(&r, true); !r.wrong && *r.p; skip(&r, true)) {
        if (*r.p == '[')
            take_table(&r, f);
        else
            take_entry(&r, f);
        end_of_line(&r);
    }
    if (!r.wrong && (size_t)(r.p - text) != n) r.wrong = "the file has a zero byte";
    if (r.wrong) {
        message = text_format("%s:%zu: %s", path, r.line, r.wrong);
        toml_free(f);
    }
    free(text);
    return message;
}

void toml_free(TomlFile *f) {
    for (size_t i = 0; i < f->n_tables; i++) {
        TomlTable *t = &f->tables[i];
        for (size_t k = 0; k < t->n_entries; k++) {
            for (size_t v = 0; v < t->entries[k].values.n; v++) free(t->entries[k].values.items[v]);
            strings_free(&t->entries[k].values);
            free(t->entries[k].key);
        }
        free(t->entries);
        free(t->name);
    }
    free(f->tables);
    *f = (TomlFile){0};
}

const TomlEntry *toml_find(const TomlTable *t, const char *key) {
    for (size_t i = 0; i < t->n_entries; i++)
        if (!strcmp(t->entries[i].key, key)) return &t->entries[i];
    return NULL;
}
