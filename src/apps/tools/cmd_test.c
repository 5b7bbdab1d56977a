// SPDX-License-Identifier: Apache-2.0
// cmd_test.c: `ingot test FOLDER`: compiles every .metal file below a folder, to machine code, and
// runs the kernels that have an expectation beside them (test_kernel.c).
#include "base/environment.h"
#include "base/files.h"
#include "apps/tools/test_int.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const Option rows[] = {
    {"-I", "DIR", "add a directory to search for #include files (repeatable)", OPT_LIST,
     OPT_AT(TestJob, include_dirs)},
    {"-D", "NAME[=VALUE]", "define a macro (repeatable)", OPT_LIST, OPT_AT(TestJob, defines)},
    {"--junit", "FILE.xml", "also write a JUnit report", OPT_TEXT, OPT_AT(TestJob, junit)},
    {"--timeout", "MS", "default time limit of a kernel", OPT_WHOLE, OPT_AT(TestJob, timeout_ms), 1,
     1e9, "10000"},
    {"--trusted", NULL,
     "run kernels without shader validation and isolation, in the current\nenvironment", OPT_FLAG,
     OPT_AT(TestJob, trusted)},
};
static const CommandLine line = {
    .program = "ingot test",
    .usage = "[FOLDER | FILE.metal]... [options]",
    .about =
        "Compiles every .metal file to machine code, and runs the kernels that have a test file:\n"
        "for blur.metal it is blur.test.toml, with one table per test:\n"
        "\n"
        "  [saxpy]                       # the kernel, unless kernel = \"...\" names another\n"
        "  grid = [8]                    # group = [4], constants = [\"0=1\"], timeout = 500 (ms)\n"
        "  args = [\"0=f32[8]=iota\", \"1=f32[8]=fill:1\", \"2=f32:10\"]   # as --arg of ingot "
        "run\n"
        "  expect = [\"1=1,11,21,31,41,51,61,71\"]                     # or [\"1=expected.npy\"]\n"
        "  tolerance = 1e-6              # relative for values above 1\n"
        "\n"
        "Kernels run with shader validation in a sandboxed process; a validation report is a\n"
        "failure. Prints TAP; on GitHub runners errors become annotations of source lines.",
    OPT_ROWS(rows),
    .list = offsetof(TestJob, words) + 1,
    .tail = "Exit status: 0 success, 1 a test failed, 2 usage error.",
};

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n > m && !strcmp(s + n - m, end);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Adds the .metal files below a folder. Hidden folders are not looked into.
static bool find_files(const char *folder, Strings *files) {
    DIR *d = opendir(folder);
    if (!d) return false;
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        char *path = e->d_name[0] == '.' ? NULL : path_join(folder, e->d_name);
        bool keep = false;
        if (path && !lstat(path, &st)) {
            if (S_ISDIR(st.st_mode)) find_files(path, files);
            keep = S_ISREG(st.st_mode) && ends_with(path, ".metal") && strings_add(files, path);
        }
        if (!keep) free(path);
    }
    closedir(d);
    return true;
}

static void compile(const TestJob *job, const char *path, TestReport *r) {
    size_t n = 0;
    char **argv = must_alloc(8 + 2 * (job->include_dirs.n + job->defines.n), sizeof *argv);
    char *compiler = find_compiler(), *said = NULL;
    argv[n++] = compiler;
    argv[n++] = "build";
    argv[n++] = "--check";
    argv[n++] = "-q";
    for (size_t i = 0; i < job->include_dirs.n; i++)
        argv[n++] = "-I", argv[n++] = job->include_dirs.items[i];
    for (size_t i = 0; i < job->defines.n; i++) argv[n++] = "-D", argv[n++] = job->defines.items[i];
    argv[n++] = (char *)(uintptr_t)path;
    double start = seconds_now();
    int status = test_child(argv, environment_of_compiler(), NULL, &said);
    if (status == 0) {
        free(said);
        said = NULL;
    } else if (!said || !*said) {
        free(said);
        said = strdup("the compiler failed and did not say why");
    }
    report_case(r, path, "compiles", said, seconds_now() - start);
    free(compiler);
    free(argv);
}

static void test_file(const TestJob *job, const char *path, TestReport *r) {
    size_t failed = r->n_failed;
    compile(job, path, r);
    char *toml = text_format("%.*s.test.toml", (int)(strlen(path) - strlen(".metal")), path);
    if (toml && !access(toml, F_OK) && r->n_failed == failed) test_kernels(job, path, toml, r);
    free(toml);
}

// Kernels run in the folder of their file: what is looked for from here gets its whole path.
static void make_absolute(Strings *folders) {
    for (size_t i = 0; i < folders->n; i++) {
        char *real = realpath(folders->items[i], NULL);
        if (real) folders->items[i] = real; // for the life of the process
    }
}

int cmd_test(int argc, char **argv) {
    TestJob job = {0};
    Strings files = {0};
    TestReport report = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) goto done;
    setenv("INGOT_PROGRAM", "ingot test", 1);
    make_absolute(&job.include_dirs);
    if (!job.words.n && !strings_add(&job.words, (char *)(uintptr_t)".")) goto done;
    for (size_t i = 0; i < job.words.n; i++) {
        const char *word = job.words.items[i];
        bool folder = is_dir(word);
        if (folder ? !find_files(word, &files)
                   : access(word, R_OK) || !ends_with(word, ".metal") ||
                         !strings_add(&files, strdup(word))) {
            status =
                complain(EXIT_INPUT, "test", "'%s' is neither a folder nor a .metal file", word);
            goto done;
        }
    }
    if (files.n) qsort(files.items, files.n, sizeof *files.items, by_name);
    for (size_t i = 0; i < files.n; i++) test_file(&job, files.items[i], &report);
    if (!files.n)
        status = complain(EXIT_INPUT, "test", "no .metal files found");
    else
        status = report_end(&report, job.junit);
done:
    for (size_t i = 0; i < files.n; i++) free(files.items[i]);
    strings_free(&files);
    strings_free(&job.words);
    strings_free(&job.include_dirs);
    strings_free(&job.defines);
    return status;
}
