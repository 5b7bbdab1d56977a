// SPDX-License-Identifier: Apache-2.0
// cmd_view.c: `ingot view`: a page to look at a capture on, or two.
#include "apps/tools/serve_page.h"
#include "apps/tools/view_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
    const char *file, *other, *html, *device;
    bool no_browser;
    uint32_t port, most_mb;
} Job;

static const Option rows[] = {
    {"--html", "FILE", "no server: write one self-contained file", OPT_TEXT, OPT_AT(Job, html)},
    {"--most", "MB", "limit for contents in that file", OPT_WHOLE, OPT_AT(Job, most_mb), 1, 2000,
     .initial = "32"},
    {"--device", "NAME", "replay on this device: cpu, isolated, ...", OPT_TEXT,
     OPT_AT(Job, device)},
    {"--port", "N", "port on 127.0.0.1; 0: any free port", OPT_WHOLE, OPT_AT(Job, port), 0, 65535,
     .initial = "0"},
    {"--no-browser", NULL, "only print the address", OPT_FLAG, OPT_AT(Job, no_browser)},
};
static const CommandLine line = {
    .program = "ingot view",
    .usage = "FILE.ingottrace [OTHER.ingottrace] [OPTIONS]",
    .about =
        "Shows a capture (`ingot capture`) in the browser: commands and their times, arguments,\n"
        "buffers, textures, meshes and sources at each command; for two captures also the\n"
        "differences. The printed URL contains a secret: keep it private. Stop with Ctrl-C.",
    OPT_ROWS(rows),
    .words = {offsetof(Job, file), offsetof(Job, other)},
    .n_words = 2,
};

static void answer(void *context, const WebRequest *request, WebReply *reply) {
    View *v = context;
    const char *path = request->path;
    if (request->post && !strcmp(path, "api/debug")) {
        char why[CAP_WHY];
        if (view_debug_start(v, request->query, why))
            text_add(&reply->body, "{}");
        else
            web_reply_error(reply, 404, "%s", why);
    } else if (request->post)
        web_reply_error(reply, 405, "the request has no body");
    else if (!strncmp(path, "api/", 4)) {
        if (!view_answer(v, path + 4, request->query, reply))
            web_reply_error(reply, 404, "unknown request");
    } else if (!strncmp(path, "other/", 6) && v->other_address)
        view_other_ask(v, request, reply);
    else if (!web_page_reply(&web_view, path, reply))
        web_reply_error(reply, 404, "no such page");
}

static int serve(View *v, const Job *job) {
    return serve_page("view", job->port, !job->no_browser, answer, v);
}

int cmd_view(int argc, char **argv) {
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.file) return options_wrong(&line, "a capture is required (see `ingot view --help`)");
    if (job.html && job.other) return options_wrong(&line, "--html takes one capture");
    View v;
    status = EXIT_INPUT;
    if (view_open(&v, job.file, job.device) &&
        (!job.other || view_other_start(&v, job.other, job.device)))
        status = job.html ? view_html(&v, job.html, (uint64_t)job.most_mb << 20) : serve(&v, &job);
    view_close(&v);
    return status;
}
