// SPDX-License-Identifier: Apache-2.0
// fake_compiler.c: the real server (serve.c) around a front end and a back end that do what the
// source says: ok, error, crash, hang, exit, slow, once:PATH (crash the first time), include:PATH.
// Every compilation adds a byte to $INGOT_FAKE_COUNT.
#include "base/files.h"
#include "base/text.h"
#include "compiler/driver.h"
#include "library_fixture.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void count(void) {
    const char *path = getenv("INGOT_FAKE_COUNT");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd >= 0 && write(fd, "x", 1) == 1) close(fd);
}

static bool says(const MslSource *s, const char *word) {
    return !strncmp(s->text, word, strlen(word));
}

_Noreturn static void crash(void) {
    fputs("fake compiler: about to crash\n", stderr);
    fflush(stderr);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    _exit(9);
}

// Until there is a file of the counter's name and ".gate".
static void wait_at_gate(void) {
    char *path = text_format("%s.gate", getenv("INGOT_FAKE_COUNT"));
    while (path && access(path, F_OK)) usleep(1000);
    free(path);
}

bool msl_frontend(const MslSource *s, MslLibrary *out) {
    *out = (MslLibrary){.ok = true};
    count();
    if (says(s, "crash")) crash();
    if (says(s, "once:")) {
        size_t n;
        unsigned char *mark = file_read(s->text + 5, &n);
        if (!mark) {
            file_write_atomic(s->text + 5, "", 0, false);
            crash();
        }
        free(mark);
    }
    if (says(s, "exit")) exit(3);
    if (says(s, "hang"))
        for (;;) pause();
    if (says(s, "slow")) usleep(300000);
    if (says(s, "error")) {
        out->ok = false;
        out->log = text_format("%s:1:2: error: you said so\n error\n ^\n", s->name);
        out->n_diagnostics = 1;
        out->diagnostics = calloc(1, sizeof *out->diagnostics);
        out->diagnostics[0] = (MslDiagnostic){3, strdup(s->name), 1, 2, strdup("you said so")};
        return false;
    }
    if (says(s, "include:")) {
        out->files = calloc(1, sizeof *out->files);
        out->files[0].path = strdup(s->text + 8);
        out->n_files += !sha256_file(s->text + 8, out->files[0].hash);
    }
    out->log = strdup("");
    out->reflection = fixture_reflection();
    out->bitcode = (unsigned char *)strdup(s->text);
    out->bitcode_bytes = s->n_bytes;
    return true;
}

bool msl_stitch(const MslStitchRequest *request, MslLibrary *out) {
    (void)request;
    *out = (MslLibrary){.log = strdup("the fake compiler does not stitch")};
    return false;
}

void msl_library_free(MslLibrary *lib) {
    free(lib->log);
    for (size_t i = 0; i < lib->n_diagnostics; i++) {
        free((char *)(uintptr_t)lib->diagnostics[i].file);
        free((char *)(uintptr_t)lib->diagnostics[i].message);
    }
    free(lib->diagnostics);
    free(lib->bitcode);
    rf_free(lib->reflection);
    for (size_t i = 0; i < lib->n_files; i++) free(lib->files[i].path);
    free(lib->files);
}

bool msl_backend(const MslKernelRequest *q, MslKernel *out) {
    *out = (MslKernel){0};
    count();
    out->ok = !strcmp(q->function, "first");
    if (!out->ok) {
        out->error = strdup("this kernel is beyond the fake compiler");
        return false;
    }
    if (q->bitcode_bytes >= 12 && !memcmp(q->bitcode, "ok, bad code", 12)) crash();
    if (q->bitcode_bytes >= 9 && !memcmp(q->bitcode, "ok, gated", 9)) wait_at_gate();
    out->code = (unsigned char *)text_format(
        "%.*s|%s|%u,%u,%u|%u|%s", (int)q->bitcode_bytes, (const char *)q->bitcode, q->function,
        q->shape[0], q->shape[1], q->shape[2], q->width, q->cpu ? q->cpu : "");
    out->code_bytes = strlen((char *)out->code);
    return true;
}

void msl_kernel_free(MslKernel *k) {
    free(k->error);
    free(k->code);
    free(k->log);
}

int main(void) { return serve_main(); }
