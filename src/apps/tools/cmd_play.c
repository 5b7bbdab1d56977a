// SPDX-License-Identifier: Apache-2.0
// cmd_play.c: `ingot play`: a page to write shaders on, and its checks on the command line.
#include "apps/tools/play_int.h"
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Job {
    Strings files;
    bool check, no_browser;
    uint32_t port, timeout_ms;
} Job;

static const Option rows[] = {
    {"--port", "N", "port on 127.0.0.1; 0: any free port", OPT_WHOLE, OPT_AT(Job, port), 0, 65535,
     .initial = "0"},
    {"--no-browser", NULL, "only print the address", OPT_FLAG, OPT_AT(Job, no_browser)},
    {"--timeout", "MS", "time limit of a run", OPT_WHOLE, OPT_AT(Job, timeout_ms), 1, 600000,
     .initial = "2000"},
    {"--check", NULL,
     "no server: run the checks in the files (lessons) as the page does, and\n"
     "fail if one does not pass",
     OPT_FLAG, OPT_AT(Job, check)},
};
static const CommandLine line = {
    .program = "ingot play",
    .usage = "[FILE.metal] [--port N] [--no-browser]\n"
             "       ingot play --check FILE.metal...",
    .about =
        "Opens a playground in the browser, served on 127.0.0.1: an editor that shows errors as\n"
        "you type, the image of a fragment function or the buffers of a kernel, sliders for\n"
        "uniforms, examples, and a course of ten lessons. The printed URL contains a secret: keep\n"
        "it private. FILE is opened, and changes are saved to it. Stop with Ctrl-C.",
    OPT_ROWS(rows),
    .list = offsetof(Job, files) + 1,
};

// A word about a file that can be neither read nor begun, before a browser opens.
static int check_path(const char *path) {
    struct stat st;
    if (!stat(path, &st) && !S_ISREG(st.st_mode))
        return complain(EXIT_INPUT, "play", "'%s' is no file", path);
    if (access(path, R_OK) && errno != ENOENT)
        return complain(EXIT_INPUT, "play", "cannot read '%s': %s", path, strerror(errno));
    return EXIT_FINE;
}

// A megabyte for each frame comes and goes: without this the kernel maps it, clears it, and takes
// it back sixty times a second, which takes longer than the frame (2.3 ms of 4 were its).
static void keep_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
}

int cmd_play(int argc, char **argv) {
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) goto done;
    status = EXIT_FINE;
    if (job.check && !job.files.n)
        status = options_wrong(&line, "files are required (see `ingot play --help`)");
    else if (!job.check && job.files.n > 1)
        status = options_wrong(&line, "one file at a time; '%s' is the second", job.files.items[1]);
    else if (!job.check && job.files.n)
        status = check_path(job.files.items[0]);
    if (status) goto done;
    keep_memory();
    PlaySession session;
    play_session_init(&session, job.timeout_ms);
    status = job.check ? play_check_files(&session, &job.files)
                       : play_serve(&session, job.files.n ? job.files.items[0] : NULL, job.port,
                                    !job.no_browser);
    play_session_free(&session);
done:
    strings_free(&job.files);
    return status;
}
