// SPDX-License-Identifier: Apache-2.0
// test_kernel.c: kernels with an expectation. A table of FILE.test.toml is one run of `ingot run`,
// a process of its own, so that a kernel that faults or never ends is one failed test.
#include "base/environment.h"
#include "base/files.h"
#include "base/npy.h"
#include "apps/tools/test_int.h"
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// What `ingot run` is told of a test that somebody else may have written.
static char **environment_of_test(bool trusted) {
    static char *const walls[] = {"MTL_SHADER_VALIDATION=1", "INGOT_ISOLATE=1", NULL};
    const char *own = getenv("MTL_SHADER_VALIDATION"); // also races, say
    if (!trusted) return environment_of_command(own && strcmp(own, "0") ? walls + 1 : walls);
    size_t n = 0;
    while (environ[n]) n++;
    char **all = calloc(n + 1, sizeof *all);
    if (all) memcpy(all, environ, n * sizeof *all);
    return all;
}

int test_child(char **argv, char **environment, const char *folder, char **said) {
    posix_spawn_file_actions_t actions;
    int log = memfd_create("ingot-test", MFD_CLOEXEC), status = 0;
    pid_t pid;
    *said = NULL;
    posix_spawn_file_actions_init(&actions);
    int e = log < 0 ? errno : environment ? 0 : ENOMEM;
    if (!e && folder) e = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
    if (!e) e = posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
    if (!e) e = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environment);
    free(environment);
    posix_spawn_file_actions_destroy(&actions);
    if (e) {
        if (log >= 0) close(log);
        *said = text_format("cannot start %s: %s", argv[0], strerror(e));
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    off_t n = lseek(log, 0, SEEK_END);
    *said = must_alloc((size_t)(n > 0 ? n : 0) + 1, 1);
    if (n > 0 && pread(log, *said, (size_t)n, 0) != n) **said = 0;
    close(log);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    char *all = text_format("%s%s", *said, strsignal(WTERMSIG(status)));
    free(*said);
    *said = all;
    return -1;
}

// What a table may have; the rest is a mistake that would go unnoticed.
static char *check_keys(const TomlTable *t) {
    static const char *const known[] = {"kernel",    "grid",   "group",     "args",
                                        "constants", "expect", "tolerance", "timeout"};
    for (size_t i = 0; i < t->n_entries; i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            found |= !strcmp(t->entries[i].key, known[k]);
        if (!found)
            return text_format("line %zu: '%s' is not one of kernel, grid, group, args, constants, "
                               "expect, tolerance, timeout",
                               t->entries[i].line, t->entries[i].key);
        if (!t->entries[i].values.n && strcmp(t->entries[i].key, "args"))
            return text_format("line %zu: '%s' is empty", t->entries[i].line, t->entries[i].key);
    }
    if (!toml_find(t, "grid")) return text_format("line %zu: 'grid' is missing", t->line);
    if (!toml_find(t, "expect")) return text_format("line %zu: 'expect' is missing", t->line);
    return NULL;
}

// "1,2,3" as an array of the type and length of another.
static char *parse_values(const char *text, const NpyArray *like, NpyArray *a) {
    *a = (NpyArray){.type = like->type, .n_elements = 0};
    size_t n_bytes = like->type->n_bytes, n = 1;
    for (const char *p = text; *p; p++) n += *p == ',';
    a->data = must_alloc(n, n_bytes);
    char *copy = strdup(text), *next = copy, *message = NULL;
    for (char *word; !message && (word = strsep(&next, ","));) {
        while (*word == ' ') word++;
        if (!number_parse(a->type, word, a->data + a->n_elements++ * n_bytes))
            message = text_format("'%s' is no %s", word, a->type->name);
    }
    free(copy);
    return message;
}

// NULL: equal within the tolerance.
static char *compare(const char *key, const NpyArray *got, const NpyArray *want, double tolerance) {
    if (got->n_elements != want->n_elements)
        return text_format("buffer %s has %zu numbers, %zu are expected", key, got->n_elements,
                           want->n_elements);
    size_t n_wrong = 0, first = 0;
    for (size_t i = 0; i < got->n_elements; i++) {
        double a = number_get(got->type, got->data + i * got->type->n_bytes);
        double b = number_get(want->type, want->data + i * want->type->n_bytes);
        bool same = a == b || (isnan(a) && isnan(b)) ||
                    fabs(a - b) <= tolerance * (fabs(b) > 1 ? fabs(b) : 1);
        if (!same && !n_wrong++) first = i;
    }
    if (!n_wrong) return NULL;
    double a = number_get(got->type, got->data + first * got->type->n_bytes);
    double b = number_get(want->type, want->data + first * want->type->n_bytes);
    return text_format("buffer %s: %zu of %zu numbers are wrong; number %zu is %.9g, expected %.9g "
                       "(tolerance %g)",
                       key, n_wrong, got->n_elements, first, a, b, tolerance);
}

// "KEY=FILE.npy" or "KEY=1,2,3" against what the run left in the folder of results.
static char *check_expectation(const TomlTable *t, const char *text, const char *folder,
                               const char *result) {
    const char *equals = strchr(text, '=');
    char *key = strndup(text, (size_t)(equals - text)), *message;
    NpyArray got = {0}, want = {0};
    size_t n = strlen(equals + 1);
    const TomlEntry *given = toml_find(t, "tolerance");
    message = npy_read(result, &got);
    if (!message && n > 4 && !strcmp(equals + 1 + n - 4, ".npy")) {
        char *path = path_under(folder, equals + 1);
        message = path ? npy_read(path, &want) : strdup("out of memory");
        free(path);
    } else if (!message) {
        message = parse_values(equals + 1, &got, &want);
    }
    if (!message) {
        double tolerance = got.type->kind <= NUMBER_BFLOAT ? 1e-5 : 0;
        if (given) tolerance = strtod(given->values.items[0], NULL);
        message = compare(key, &got, &want, tolerance);
    }
    npy_free(&got);
    npy_free(&want);
    free(key);
    return message;
}

typedef struct Arguments {
    Strings words;   // for exec
    Strings results; // paths, one for each expectation
} Arguments;

static void add_argument(Arguments *a, char *word) {
    if (word && strings_add(&a->words, word)) return;
    complain(EXIT_INPUT, "test", "out of memory");
    exit(EXIT_INPUT);
}

static void add_each(Arguments *a, const char *option, const TomlEntry *e) {
    for (size_t i = 0; e && i < e->values.n; i++) {
        add_argument(a, strdup(option));
        add_argument(a, strdup(e->values.items[i]));
    }
}

// [8, 4] or "8,4" as --grid wants it.
static void add_size(Arguments *a, const char *option, const TomlEntry *e) {
    Text t = {0};
    for (size_t i = 0; e && i < e->values.n; i++)
        text_printf(&t, "%s%s", i ? "," : "", e->values.items[i]);
    if (e) {
        add_argument(a, strdup(option));
        add_argument(a, text_take(&t));
    }
    text_free(&t);
}

// The command line of the run; NULL, or what is wrong with the table.
static char *command(const TestJob *job, const TomlTable *t, const char *file, const char *scratch,
                     Arguments *a) {
    const TomlEntry *kernel = toml_find(t, "kernel"), *expect = toml_find(t, "expect");
    const TomlEntry *timeout = toml_find(t, "timeout");
    add_argument(a, text_format("/proc/%ld/exe", (long)getpid()));
    add_argument(a, strdup("run"));
    add_argument(a, text_format("./%s", file)); // neither is an option
    if (*(kernel ? kernel->values.items[0] : t->name) == '-')
        return text_format("line %zu: no kernel has a name that begins with '-'", t->line);
    add_argument(a, strdup(kernel ? kernel->values.items[0] : t->name));
    add_size(a, "--grid", toml_find(t, "grid"));
    add_size(a, "--group", toml_find(t, "group"));
    add_each(a, "--arg", toml_find(t, "args"));
    add_each(a, "--constant", toml_find(t, "constants"));
    for (size_t i = 0; i < job->include_dirs.n; i++)
        add_argument(a, text_format("-I%s", job->include_dirs.items[i]));
    for (size_t i = 0; i < job->defines.n; i++)
        add_argument(a, text_format("-D%s", job->defines.items[i]));
    add_argument(a, strdup("--timeout"));
    add_argument(a,
                 timeout ? strdup(timeout->values.items[0]) : text_format("%u", job->timeout_ms));
    for (size_t i = 0; i < expect->values.n; i++) {
        const char *text = expect->values.items[i], *equals = strchr(text, '=');
        if (!equals)
            return text_format("line %zu: '%s' is not BUFFER=FILE.npy or BUFFER=1,2,3",
                               expect->line, text);
        char *result = text_format("%s/%zu.npy", scratch, i);
        add_argument(a, strdup("--out"));
        add_argument(a, text_format("%.*s=%s", (int)(equals - text), text, result));
        if (!result || !strings_add(&a->results, result)) return strdup("out of memory");
    }
    add_argument(a, strdup("-q"));
    return NULL;
}

static void free_all(Strings *s, bool files) {
    for (size_t i = 0; i < s->n; i++) {
        if (files) unlink(s->items[i]);
        free(s->items[i]);
    }
    strings_free(s);
}

// NULL: as expected.
static char *run_table(const TestJob *job, const TomlTable *t, const char *folder,
                       const char *file) {
    const char *where = getenv("TMPDIR");
    char *message = check_keys(t), *said = NULL;
    Arguments a = {0};
    if (message) return message;
    char *scratch = text_format("%s/ingot-test-XXXXXX", where && *where ? where : "/tmp");
    if (!scratch || !mkdtemp(scratch)) {
        message = text_format("%s: %s", scratch ? scratch : "folder", strerror(errno));
        free(scratch);
        return message;
    }
    message = command(job, t, file, scratch, &a);
    if (!message) {
        char **argv = must_alloc(a.words.n + 1, sizeof *argv);
        memcpy(argv, a.words.items, a.words.n * sizeof *argv);
        if (test_child(argv, environment_of_test(job->trusted), folder, &said) != 0)
            message = said ? strdup(said) : strdup("failed");
        free(argv);
    }
    const TomlEntry *expect = toml_find(t, "expect");
    for (size_t i = 0; !message && i < expect->values.n; i++)
        message = check_expectation(t, expect->values.items[i], folder, a.results.items[i]);
    free(said);
    free_all(&a.words, false);
    free_all(&a.results, true);
    rmdir(scratch);
    free(scratch);
    return message;
}

void test_kernels(const TestJob *job, const char *metal, const char *toml, TestReport *r) {
    TomlFile f;
    char *message = toml_read(toml, &f);
    if (!message && !f.n_tables) message = strdup("the file has no table, [name of a kernel]");
    if (message) {
        report_case(r, toml, "is understood", message, 0);
        return;
    }
    const char *slash = strrchr(metal, '/');
    char *folder = slash ? strndup(metal, (size_t)(slash - metal)) : strdup(".");
    for (size_t i = 0; i < f.n_tables; i++) {
        double start = seconds_now();
        message = run_table(job, &f.tables[i], folder, slash ? slash + 1 : metal);
        report_case(r, metal, f.tables[i].name, message, seconds_now() - start);
    }
    free(folder);
    toml_free(&f);
}
