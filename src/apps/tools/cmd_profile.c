// SPDX-License-Identifier: Apache-2.0
// cmd_profile.c: `ingot profile PROGRAM ARGS...`: runs a program and says which lines of its Metal
// functions take the time. The library in the program takes the samples (INGOT_PROFILE); what is
// left to do here is to start it and to report.
#include "base/files.h"
#include "apps/tools/profile.h"
#include "apps/tools/tools.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
    const char *svg, *json, *folder;
    uint32_t top;
    bool quiet, lanes;
    char **program; // and its arguments
} Job;

static const Option rows[] = {
    {"--svg", "FILE", "write a flame graph", OPT_TEXT, OPT_AT(Job, svg)},
    {"--json", "FILE", "write all numbers", OPT_TEXT, OPT_AT(Job, json)},
    {"--top", "N", "rows of each table", OPT_WHOLE, OPT_AT(Job, top), 1, 1e6, .initial = "15"},
    {"--keep", "FOLDER", "keep the code objects and samples here", OPT_TEXT, OPT_AT(Job, folder)},
    {"--lanes", NULL,
     "count instead of sampling: how many of a SIMD-group's threads were\nactive in each line, and "
     "what it moved; the program runs slower",
     OPT_FLAG, OPT_AT(Job, lanes)},
    {"-q", NULL, "no tables", OPT_FLAG, OPT_AT(Job, quiet)},
};
static const CommandLine line = {
    .program = "ingot profile",
    .usage = "[options] PROGRAM ARGS...",
    .about = "Runs a program and samples what its Metal functions do, on the CPU device, every "
             "millisecond: time\n"
             "by function of the pipeline, by draw, by function and by line of the source. The "
             "program need not be\n"
             "recompiled; libraries in .metallib files know their lines if they were built with "
             "-g. The exit\n"
             "status is the program's (128 + N if signal N ended it).",
    OPT_ROWS(rows),
    .rest = offsetof(Job, program) + 1,
    .tail =
        "Why a line is slow stands below it; `ingot build --remarks FILE.metal` says it of all.",
};

static int write_file(const Profile *p, const char *path, void (*make)(const Profile *, Text *)) {
    Text t = {0};
    if (!path) return EXIT_FINE;
    make(p, &t);
    bool ok = !t.failed && file_write_atomic(path, t.data, t.n_bytes, false);
    int e = errno;
    text_free(&t);
    return ok ? EXIT_FINE
              : complain(EXIT_INPUT, "profile", "cannot write '%s': %s", path, strerror(e));
}

static int report(const Job *job, const char *folder) {
    Profile p;
    int status = EXIT_FINE;
    if (!profile_read(&p, folder))
        complain(0, "profile",
                 "%s ran no Metal function on the CPU device: there is nothing to show",
                 job->program[0]);
    else if (job->lanes && !p.n_lines)
        complain(0, "profile", "nothing was counted: no Metal function ran");
    else if (job->lanes && !job->quiet)
        profile_print_counts(&p, job->top);
    else if (!job->lanes && !p.total)
        complain(0, "profile", "no samples: the Metal functions took less than some milliseconds");
    else if (!job->quiet)
        profile_print(&p, job->top);
    status = write_file(&p, job->svg, profile_svg);
    if (!status) status = write_file(&p, job->json, profile_json);
    profile_free(&p);
    return status;
}

int cmd_profile(int argc, char **argv) {
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.program) return options_wrong(&line, "which program? (`ingot profile --help`)");
    char own[] = "/tmp/ingot-profile-XXXXXX";
    char *folder = job.folder ? (make_dirs(job.folder, 0700) ? realpath(job.folder, NULL) : NULL)
                              : mkdtemp(own);
    if (!folder)
        return complain(EXIT_INPUT, "profile", "no folder for the samples: %s", strerror(errno));
    setenv("INGOT_PROFILE", folder, 1);
    setenv("INGOT_SYNC_SPECIALISE", "1", 0); // the code that stays, not what runs until it is there
    if (job.lanes) setenv("INGOT_PROFILE_LANES", "1", 1);
    if (run_program(job.program, "profile", &status)) {
        unsetenv("INGOT_PROFILE");
        int wrong = report(&job, folder);
        if (!status) status = wrong;
    }
    if (!job.folder) profile_remove_folder(folder);
    if (job.folder) free(folder);
    return status;
}
