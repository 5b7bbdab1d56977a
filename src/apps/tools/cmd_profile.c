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
    {"--json", "FILE", "write all data", OPT_TEXT, OPT_AT(Job, json)},
    {"--top", "N", "rows per table", OPT_WHOLE, OPT_AT(Job, top), 1, 1e6, .initial = "15"},
    {"--keep", "FOLDER", "keep the code objects and samples here", OPT_TEXT, OPT_AT(Job, folder)},
    {"--lanes", NULL,
     "count instead of sampling: active threads of a SIMD-group and bytes\nmoved "
     "for each line; the program runs slower",
     OPT_FLAG, OPT_AT(Job, lanes)},
    {"-q", NULL, "no tables", OPT_FLAG, OPT_AT(Job, quiet)},
};
static const CommandLine line = {
    .program = "ingot profile",
    .usage = "[options] PROGRAM ARGS...",
    .about =
        "Runs a program and samples its Metal functions on the CPU device every millisecond: time\n"
        "by pipeline function, draw, source function and source line. The program need not be\n"
        "recompiled; .metallib files have line information if built with -g. The exit status is\n"
        "the program's (128 + N if signal N ended it).",
    OPT_ROWS(rows),
    .rest = offsetof(Job, program) + 1,
    .tail = "Hot lines are shown with the reason why they are slow; `ingot build --remarks "
            "FILE.metal`\n"
            "lists the reasons for all lines.",
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
        complain(0, "profile", "no samples: the Metal functions ran for only a few milliseconds");
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
    if (!job.program)
        return options_wrong(&line, "a program is required (see `ingot profile --help`)");
    char own[] = "/tmp/ingot-profile-XXXXXX";
    char *folder = job.folder ? (make_dirs(job.folder, 0700) ? realpath(job.folder, NULL) : NULL)
                              : mkdtemp(own);
    if (!folder)
        return complain(EXIT_INPUT, "profile", "cannot create a folder for the samples: %s",
                        strerror(errno));
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
