// SPDX-License-Identifier: Apache-2.0
// cmd_replay.c: `ingot replay FILE`: runs a capture again: lists, checks and times its commands,
// and saves what resources hold on the way.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/replay_int.h"

typedef struct Job {
    const char *file, *device;
    Strings save;
    uint64_t until;
    bool has_until, check, list, json, quiet, debug;
    unsigned repeat;
} Job;

static const Option rows[] = {
    {"--device", "NAME", "run on this device, as in INGOT_DEVICES: cpu, isolated, ...", OPT_TEXT,
     OPT_AT(Job, device)},
    {"--check", NULL, "compare results with those of the capture, bit for bit", OPT_FLAG,
     OPT_AT(Job, check)},
    {"--repeat", "N", "replay N times and report the median time of every command", OPT_WHOLE,
     OPT_AT(Job, repeat), 1, 1e6},
    {"--until", "N", "stop after command N (counted from 0)", OPT_WHOLE, OPT_AT(Job, until), 0,
     9e15, OPT_GIVEN(Job, has_until)},
    {"--debug", NULL, "with --until: compile command N for debugging (`ingot debug`)", OPT_FLAG,
     OPT_AT(Job, debug)},
    {"--save", "RES=FILE", "write the contents of a resource at that point (repeatable)", OPT_LIST,
     OPT_AT(Job, save)},
    {"--list", NULL, "list the commands without running them", OPT_FLAG, OPT_AT(Job, list)},
    {"--json", NULL, "the same with arguments and resources, as JSON", OPT_FLAG, OPT_AT(Job, json)},
    {"-q", NULL, "print errors only", OPT_FLAG, OPT_AT(Job, quiet)},
};
static const CommandLine line = {
    .program = "ingot replay",
    .usage = "FILE.ingottrace [OPTIONS]",
    .about = "Replays a capture (`ingot capture`) on any device, bit for bit.",
    OPT_ROWS(rows),
    OPT_WORD(Job, file),
    .column = 20,
    .tail =
        "RES is a label, or \"buffer 3\" with a number from the list that --until N alone prints.\n"
        "RES@TYPE selects the element type of a buffer (f32, u16, ...), RES@LEVEL,SLICE a part of "
        "a\n"
        "texture. FILE.npy is written as NumPy array, FILE.png as image, anything else as raw "
        "bytes.",
};

// ---- Times ----

typedef struct Times {
    double *ns; // [repeat][n_commands]
    uint64_t n_commands;
    unsigned turn;
} Times;

static bool take_time(void *context, const CapEvent *event, uint64_t ns) {
    Times *t = context;
    if (event->command < t->n_commands)
        t->ns[t->turn * t->n_commands + event->command] = (double)ns;
    return true;
}

static int time_commands(const Job *job, const Capture *capture, CapReplay *replay) {
    char why[CAP_WHY];
    uint64_t n = cap_n_commands(capture);
    if (job->has_until && job->until + 1 < n) n = job->until + 1;
    Times t = {.ns = must_alloc((size_t)n * job->repeat + 1, sizeof(double)), .n_commands = n};
    const CapWatch watch = {.check = job->check, .after = take_time, .context = &t};
    double *values = must_alloc(job->repeat, sizeof *values);
    int status = EXIT_FINE;
    for (t.turn = 0; !status && t.turn < job->repeat; t.turn++)
        if (cap_replay_rewind(replay), !cap_replay_run(replay, n ? n - 1 : 0, &watch, why))
            status = complain(EXIT_INPUT, "replay", "%s: %s", job->file, why);
    CommandNames names = {0};
    for (size_t run = 0; !status && run < cap_n_runs(capture); run++)
        if (!command_names_add(&names, capture, run, why))
            status = complain(EXIT_INPUT, "replay", "%s: %s", job->file, why);
    double sum = 0;
    if (!status) printf("%8s  %12s  %s\n", "command", "median us", "what");
    for (uint64_t i = 0; !status && i < n; i++) {
        for (unsigned k = 0; k < job->repeat; k++) values[k] = t.ns[k * n + i];
        double m = median(values, job->repeat) / 1e3;
        sum += m;
        show_line("%8llu  %12.1f  %s", (unsigned long long)i, m, command_name(&names, i));
    }
    if (!status) printf("%8s  %12.1f  all, in %u turns\n", "", sum, job->repeat);
    command_names_free(&names);
    free(values);
    free(t.ns);
    return status;
}

// ---- One turn ----

static void list_objects(const CapReplay *replay) {
    const CapObject *objects;
    size_t n = cap_replay_objects(replay, &objects);
    for (size_t i = 0; i < n; i++) {
        char text[256];
        object_describe(&objects[i], i, text, sizeof text);
        show_line("%s", text);
    }
}

static int save_all(const Job *job, CapReplay *replay) {
    for (size_t i = 0; i < job->save.n; i++) {
        char why[CAP_WHY];
        if (!save_object(replay, job->save.items[i], why))
            return complain(EXIT_INPUT, "replay", "%s", why);
    }
    return EXIT_FINE;
}

static int run_once(const Job *job, const Capture *capture, CapReplay *replay) {
    char why[CAP_WHY];
    uint64_t until = job->has_until ? job->until : UINT64_MAX, n = cap_n_commands(capture);
    if (job->has_until && job->until >= n)
        return complain(EXIT_INPUT, "replay", "%s has %llu commands: no command %llu", job->file,
                        (unsigned long long)n, (unsigned long long)job->until);
    if (job->debug && job->has_until) cap_replay_debug(replay, until);
    bool ok = cap_replay_run(replay, until, &(CapWatch){.check = job->check}, why);
    const char *unknown = cap_replay_unknown(replay);
    if (!ok && *unknown)
        return complain(EXIT_INPUT, "replay", "%s: %s (%s)", job->file, why, unknown);
    if (!ok) return complain(EXIT_INPUT, "replay", "%s: %s", job->file, why);
    if (*unknown) complain(0, "replay", "%s: %s", job->file, unknown);
    int status = save_all(job, replay);
    if (status || job->quiet) return status;
    if (job->has_until && !job->save.n) list_objects(replay);
    unsigned long long done = job->has_until ? job->until + 1 : n;
    show_line("%s: %llu command%s in %zu run%s replayed%s%s", job->file, done, done == 1 ? "" : "s",
              cap_n_runs(capture), cap_n_runs(capture) == 1 ? "" : "s",
              job->check ? ", results are those of the capture" : "",
              cap_is_cut(capture) ? " (the capture ends early)" : "");
    return EXIT_FINE;
}

CapReplay *open_replay(const char *device_name, const Capture *capture, const char *command,
                       MTLDevice **device) {
    char why[CAP_WHY];
    // A replay is not to be captured: its memory lies where that of a capture would.
    unsetenv("INGOT_CAPTURE"), unsetenv("MTL_CAPTURE_ENABLED"), unsetenv("METAL_CAPTURE_ENABLED");
    if (device_name) setenv("INGOT_DEVICES", device_name, 1);
    *device = open_device(command);
    if (!*device) return NULL;
    CapReplay *replay = rt_replay_open(capture, *device, why);
    if (!replay) complain(EXIT_INPUT, command, "%s", why);
    if (!replay) mtl_release(*device);
    return replay;
}

int cmd_replay(int argc, char **argv) {
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.file) return options_wrong(&line, "a capture is required (see `ingot replay --help`)");
    char why[CAP_WHY];
    Capture *capture = cap_open(job.file, why);
    if (!capture) return complain(EXIT_INPUT, "replay", "%s: %s", job.file, why);
    MTLDevice *device = NULL;
    CapReplay *replay = NULL;
    status = EXIT_FINE;
    if (job.list) {
        if (!list_commands(capture, why))
            status = complain(EXIT_INPUT, "replay", "%s: %s", job.file, why);
    } else if (!(replay = open_replay(job.device, capture, "replay", &device))) {
        status = EXIT_INPUT;
    } else if (job.json) {
        if (!print_json(capture, replay, stdout, why))
            status = complain(EXIT_INPUT, "replay", "%s: %s", job.file, why);
    } else {
        status =
            job.repeat ? time_commands(&job, capture, replay) : run_once(&job, capture, replay);
    }
    cap_replay_free(replay);
    mtl_release(device);
    cap_close(capture);
    strings_free(&job.save);
    return status;
}
