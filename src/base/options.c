// SPDX-License-Identifier: Apache-2.0
// options.c: reads command lines and writes their help (see options.h).
#include "base/options.h"
#include "base/array.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool strings_add(Strings *s, char *item) {
    if (!array_more(&s->items, s->n)) return false;
    s->items[s->n++] = item;
    return true;
}

void strings_free(Strings *s) {
    free(s->items);
    *s = (Strings){0};
}

int options_wrong(const CommandLine *line, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s: ", line->program);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return OPTIONS_WRONG;
}

// ---- Help ----

static void write_row(FILE *f, const Option *row, int column) {
    if (row->kind == OPT_HEADING) {
        fprintf(f, "\n%s\n", row->names);
        return;
    }
    if (!row->help) return;
    const char *space = row->value && *row->value != '=' && strncmp(row->value, "[=", 2) ? " " : "";
    int n = fprintf(f, "  %s%s%s", row->names, space, row->value ? row->value : "");
    if (n + 1 > column) {
        fputc('\n', f);
        n = 0;
    }
    for (const char *text = row->help; *text; n = 0) {
        size_t length = strcspn(text, "\n");
        fprintf(f, "%*s%.*s", column - n, "", (int)length, text);
        text += length;
        if (*text) fputc(*text++, f);
    }
    if (row->initial) fprintf(f, " (default: %s)", row->initial);
    fputc('\n', f);
}

void options_usage(const CommandLine *line, FILE *f) {
    int column = line->column ? line->column : 22;
    const char *space = *line->usage && *line->usage != '\n' ? " " : "";
    fprintf(f, "usage: %s%s%s\n", line->program, space, line->usage);
    if (line->about) fprintf(f, "\n%s\n", line->about);
    if (line->n_rows && line->rows[0].help) fputc('\n', f);
    for (size_t i = 0; i < line->n_rows; i++) write_row(f, &line->rows[i], column);
    for (size_t i = 0; i < line->n_shared; i++) write_row(f, &line->shared[i], column);
    if (line->tail) fprintf(f, "\n%s\n", line->tail);
}

// ---- Values ----

const char *options_name(const Option *row) {
    const char *comma = strrchr(row->names, ' ');
    return comma ? comma + 1 : row->names;
}

static int out_of_range(const CommandLine *line, const Option *row, const char *value) {
    if (row->high >= 0x1p53) // any that there can be
        return options_wrong(line, "%s must be at least %.16g, not %s", options_name(row), row->low,
                             value);
    return options_wrong(line, "%s must be %.16g to %.16g, not %s", options_name(row), row->low,
                         row->high, value);
}

static int take_whole(const CommandLine *line, const Option *row, void *to, const char *value) {
    char *end;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    if (end == value || *end || errno || strchr(" \t\n\v\f\r", *value))
        return options_wrong(line, "Invalid integer for %s: '%s'", options_name(row), value);
    if ((double)n < row->low || (double)n > row->high) return out_of_range(line, row, value);
    if (row->bytes == 4)
        *(uint32_t *)to = (uint32_t)n;
    else
        *(uint64_t *)to = (uint64_t)n;
    return 0;
}

static int take_real(const CommandLine *line, const Option *row, void *to, const char *value) {
    char *end;
    double x = strtod(value, &end);
    if (end == value || *end || !isfinite(x) || strchr(" \t\n\v\f\r", *value))
        return options_wrong(line, "Invalid float for %s: '%s'", options_name(row), value);
    if (x < row->low || x > row->high) return out_of_range(line, row, value);
    *(double *)to = x;
    return 0;
}

// The index of the value among the row's words; -1: it is none of them, and that is said.
static int choose(const CommandLine *line, const Option *row, const char *value) {
    for (int i = 0; row->words[i]; i++)
        if (!strcmp(row->words[i], value)) return i;
    char all[256] = "";
    for (int i = 0; row->words[i]; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", row->words[i]);
    }
    if (line->classic)
        options_wrong(line, "Invalid %s '%s': it is one of %s", options_name(row), value, all);
    else
        options_wrong(line, "%s is one of %s, not '%s'", options_name(row), all, value);
    return -1;
}

int options_size(const char *text, double high, int n, uint64_t *sizes) {
    for (int i = 0; i < n; i++) sizes[i] = 1;
    for (int i = 0; i < n; i++) {
        char *end;
        errno = 0;
        if (*text < '0' || *text > '9') return 0;
        unsigned long long v = strtoull(text, &end, 10);
        if (errno || !v || (double)v > high) return 0;
        sizes[i] = v;
        if (!*end) return i + 1;
        if (*end != ',' && *end != 'x') return 0;
        text = end + 1;
    }
    return 0;
}

static int take_size(const CommandLine *line, const Option *row, void *to, const char *value) {
    const int n = row->bytes % 12 ? 2 : 3; // 8 or 16 bytes, 12 or 24
    const size_t each = row->bytes / (size_t)n;
    uint64_t sizes[3];
    const int given = options_size(value, row->high, n, sizes);
    if (!given)
        return options_wrong(line, "%s needs %s, positive numbers up to %.16g, not '%s'",
                             options_name(row), row->value, row->high, value);
    if (n == 2 && given == 1) sizes[1] = sizes[0];
    for (int i = 0; i < n; i++)
        if (each == 4)
            ((uint32_t *)to)[i] = (uint32_t)sizes[i];
        else
            ((uint64_t *)to)[i] = sizes[i];
    return 0;
}

static int add_word(const CommandLine *line, Strings *to, char *word) {
    if (strings_add(to, word)) return 0;
    options_wrong(line, "out of memory");
    return 1;
}

static int take_value(const CommandLine *line, const Option *row, void *options, char *value) {
    void *to = (char *)options + row->at;
    switch (row->kind) {
    case OPT_FLAG: *(bool *)to = true; return 0;
    case OPT_TEXT:
        if (row->words && choose(line, row, value) < 0) return OPTIONS_WRONG;
        *(const char **)to = value;
        return 0;
    case OPT_LIST: return add_word(line, to, value);
    case OPT_WHOLE: return take_whole(line, row, to, value);
    case OPT_REAL: return take_real(line, row, to, value);
    case OPT_CHOICE: {
        const int32_t i = choose(line, row, value);
        if (i < 0) return OPTIONS_WRONG;
        memcpy(to, &i, sizeof i);
        return 0;
    }
    case OPT_SIZE: return take_size(line, row, to, value);
    case OPT_CALL: return row->take(line, row, options, value);
    case OPT_HEADING: break;
    }
    return 0;
}

// ---- Reading ----

// How arg is the option of that name, n characters long.
typedef enum Match { NO, ALONE, WITH_VALUE, ATTACHED } Match; // ATTACHED: "-nvalue"

static Match matches(const char *name, size_t n, char *arg, bool takes, char **value) {
    if (strncmp(arg, name, n)) return NO;
    if (!arg[n]) return ALONE;
    if (!takes) return NO;
    *value = n > 2 ? arg + n + 1 : arg + n;
    return n == 2 ? ATTACHED : arg[n] == '=' ? WITH_VALUE : NO;
}

static Match row_matches(const Option *row, char *arg, char **value) {
    if (row->kind == OPT_HEADING) return NO;
    for (const char *name = row->names; *name;) {
        size_t n = strcspn(name, ",");
        Match how = matches(name, n, arg, row->value != NULL, value);
        if (how != NO) return how;
        name += n;
        name += strspn(name, ", ");
    }
    return NO;
}

// The row of an option; what is attached to a letter is one only if there is no longer name
// ("-std=x" is not "-s" with "td=x").
static const Option *find_option(const CommandLine *line, char *arg, char **value, bool *shared) {
    const Option *found = NULL;
    for (size_t i = 0; i < line->n_rows + line->n_shared; i++) {
        const bool is_shared = i >= line->n_rows;
        const Option *row = is_shared ? &line->shared[i - line->n_rows] : &line->rows[i];
        char *its = NULL;
        const Match how = row_matches(row, arg, &its);
        if (how == NO || (how == ATTACHED && found)) continue;
        found = row;
        *shared = is_shared;
        *value = its;
        if (how != ATTACHED) break;
    }
    return found;
}

static int unknown(const CommandLine *line, const char *arg) {
    if (!line->classic)
        return options_wrong(line, "%s '%s' (`%s --help` lists the options)",
                             *arg == '-' ? "unknown option" : "unexpected argument", arg,
                             line->program);
    options_wrong(line, "Unknown argument: %s", arg);
    options_usage(line, stderr);
    return OPTIONS_WRONG;
}

static int missing(const CommandLine *line, const Option *row) {
    if (!line->classic)
        return options_wrong(line, "a value is missing after %s", options_name(row));
    options_wrong(line, "Missing value for %s", options_name(row));
    options_usage(line, stderr);
    return OPTIONS_WRONG;
}

static int read_option(const CommandLine *line, void *options, int argc, char **argv, int *i) {
    char *value = NULL;
    bool shared = false;
    const Option *row = find_option(line, argv[*i], &value, &shared);
    if (!row && line->unknown) return line->unknown(line, options, argv[*i]);
    if (!row) return unknown(line, argv[*i]);
    bool optional = row->value && !strncmp(row->value, "[=", 2);
    if (!value && row->value && !optional) {
        if (*i + 1 >= argc) return missing(line, row);
        value = argv[++*i];
    }
    char *base = (char *)options + (shared ? line->shared_at : 0);
    if (row->given) *(bool *)(base + row->given - 1) = true;
    return take_value(line, row, base, value);
}

static bool wants_help(const char *arg) { return !strcmp(arg, "--help") || !strcmp(arg, "-h"); }

static int set_initial(const CommandLine *line, void *options) {
    int status = 0;
    for (size_t i = 0; !status && i < line->n_rows; i++)
        if (line->rows[i].initial)
            status =
                take_value(line, &line->rows[i], options, (char *)(uintptr_t)line->rows[i].initial);
    return status;
}

int options_read(const CommandLine *line, void *options, int argc, char **argv) {
    size_t n_words = 0;
    int status = set_initial(line, options);
    for (int i = 1; i < argc && !line->rest; i++) // wherever it stands
        if (wants_help(argv[i])) {
            options_usage(line, stdout);
            return 0;
        }
    for (int i = 1; i < argc && !status; i++) {
        char *arg = argv[i];
        bool dashes = !strcmp(arg, "--"), option = *arg == '-' && arg[1];
        if (wants_help(arg)) { // before the rest
            options_usage(line, stdout);
            return 0;
        }
        if (line->rest && (!option || (dashes && i + 1 < argc))) {
            *(char ***)((char *)options + line->rest - 1) = argv + i + dashes;
            break;
        }
        if (option)
            status = read_option(line, options, argc, argv, &i);
        else if (line->list)
            status = add_word(line, (Strings *)((char *)options + line->list - 1), arg);
        else if (n_words < line->n_words)
            *(char **)((char *)options + line->words[n_words++]) = arg;
        else
            status = unknown(line, arg);
    }
    return status ? status : OPTIONS_GO_ON;
}
