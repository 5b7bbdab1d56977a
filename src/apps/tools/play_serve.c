// SPDX-License-Identifier: Apache-2.0
// play_serve.c: what the page of `ingot play` asks for:
//     api/start     what there is to open: the file of the command line, examples, lessons
//     api/file?NAME one of those, as text
//     api/compile   (the source) its functions and types, or what is wrong with it
//     api/run       (settings) one run: JSON about it, and the bytes of its buffers and pictures
//     api/check     (settings) the exercise's checks
//     api/save      (a text) into the file of the command line, and no other
#include "base/files.h"
#include "base/json.h"
#include "play_examples.h"
#include "play_lessons.h"
#include "play_solutions.h"
#include "apps/tools/play_int.h"
#include "apps/tools/reflect_web.h"
#include "apps/tools/serve_page.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Site {
    PlaySession *s;
    const char *path; // of the command line; NULL: none
} Site;

// ---- Files ----

static void put_names(Text *t, const char *key, const EmbeddedText *texts) {
    text_printf(t, ", \"%s\": [", key);
    for (size_t i = 0; texts[i].name; i++) {
        if (i) text_add(t, ", ");
        json_string(t, texts[i].name);
    }
    text_add(t, "]");
}

static void start(Site *site, WebReply *reply) {
    Text *t = &reply->body;
    char *why = NULL;
    pthread_mutex_lock(&site->s->lock);
    bool ok = play_session_open(site->s, &why);
    pthread_mutex_unlock(&site->s->lock);
    if (!ok) {
        web_reply_error(reply, 503, "%s", why);
        free(why);
        return;
    }
    text_printf(t, "{\"isolated\": %s, \"file\": ", site->s->isolated ? "true" : "false");
    if (site->path)
        json_string(t, site->path);
    else
        text_add(t, "null");
    put_names(t, "examples", play_examples);
    put_names(t, "lessons", play_lessons);
    put_names(t, "solutions", play_solutions);
    text_add(t, "}");
}

// "own", or "lessons/NAME" and so on.
static void file(const Site *site, const char *name, WebReply *reply) {
    static const struct {
        const char *folder;
        const EmbeddedText *texts;
    } folders[] = {
        {"examples/", play_examples}, {"lessons/", play_lessons}, {"solutions/", play_solutions}};
    reply->type = "text/plain; charset=utf-8";
    if (!strcmp(name, "own") && site->path) {
        size_t n;
        char *text = (char *)file_read(site->path, &n);
        if (text)
            text_add_bytes(&reply->body, text, n);
        else if (errno != ENOENT) // a new file is empty
            web_reply_error(reply, 404, "cannot read '%s': %s", site->path, strerror(errno));
        free(text);
        return;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i].folder);
        const char *text =
            strncmp(name, folders[i].folder, n) ? NULL : embedded_text(folders[i].texts, name + n);
        if (!text) continue;
        text_add(&reply->body, text);
        return;
    }
    web_reply_error(reply, 404, "no such file");
}

static void save(const Site *site, const WebRequest *request, WebReply *reply) {
    if (!site->path)
        web_reply_error(reply, 404, "no file was given to `ingot play`: download it instead");
    else if (!file_write_atomic(site->path, request->body, request->n_body, true))
        web_reply_error(reply, 503, "cannot write '%s': %s", site->path, strerror(errno));
    else
        text_add(&reply->body, "{}");
}

// ---- Running ----

static void put_diagnostics(Text *t, const MTLError *error) {
    text_add(t, "\"diagnostics\": [");
    for (size_t i = 0; i < mtl_error_diagnostic_count(error) && i < 100; i++) {
        const MTLDiagnostic *d = mtl_error_diagnostic(error, i);
        text_printf(t, "%s{\"severity\": %d, \"line\": %u, \"column\": %u, \"message\": ",
                    i ? ", " : "", d->severity, d->line, d->column);
        json_string(t, d->message);
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void compile(PlaySession *s, const WebRequest *request, WebReply *reply) {
    MTLError *error = NULL;
    double begin = seconds_now();
    PlayProgram *p = play_compile(s, request->body, request->n_body, &error);
    Text *t = &reply->body;
    text_printf(t, "{\"ms\": %.2f, \"program\": %llu, ", (seconds_now() - begin) * 1e3,
                p ? (unsigned long long)p->id : 0);
    put_diagnostics(t, error);
    if (!p && !mtl_error_diagnostic_count(error)) {
        text_add(t, ", \"error\": ");
        json_string(t, error ? mtl_error_localized_description(error) : "out of memory");
    }
    if (p) {
        text_add(t, ", ");
        reflect_web(p->data->reflection, t);
    }
    text_add(t, "}");
    mtl_release(error);
}

static size_t n_sent(const PlayOutput *out) {
    enum { MOST = 4 << 20 };
    return out->n_bytes < MOST || out->picture ? out->n_bytes : MOST;
}

static void put_result(const PlayResult *r, double ms, WebReply *reply) {
    Text json = {0}, bytes = {0};
    text_printf(&json, "{\"ms\": %.2f, \"device_ms\": %.3f, \"lost\": %s, \"error\": ", ms,
                r->seconds * 1e3, r->lost ? "true" : "false");
    if (r->error)
        json_string(&json, r->error);
    else
        text_add(&json, "null");
    text_add(&json, ", \"log\": ");
    json_string(&json, r->log ? r->log : "");
    text_add(&json, ", \"outputs\": [");
    for (size_t i = 0; i < r->n_outputs; i++) {
        const PlayOutput *out = &r->outputs[i];
        size_t n = n_sent(out);
        text_printf(&json, "%s{\"name\": ", i ? ", " : "");
        json_string(&json, out->name);
        text_printf(&json,
                    ", \"picture\": %s, \"written\": %s, \"type\": %u, \"width\": %zu, "
                    "\"height\": %zu, \"bytes\": %zu, \"at\": %zu, \"n\": %zu}",
                    out->picture ? "true" : "false", out->written ? "true" : "false", out->type,
                    out->width, out->height, out->n_bytes, bytes.n_bytes, n);
        if (r->n_outputs > 1) text_add_bytes(&bytes, (const char *)out->data, n);
    }
    text_add(&json, "]}");
    if (r->n_outputs == 1) { // a picture, sixty times a second: as it is
        const PlayOutput *out = &r->outputs[0];
        Text whole = {.data = (char *)out->data, .n_bytes = n_sent(out)};
        web_reply_bytes(reply, &json, &whole);
    } else {
        web_reply_bytes(reply, &json, &bytes);
    }
    text_free(&json);
    text_free(&bytes);
}

static void run_or_check(PlaySession *s, const WebRequest *request, bool check, WebReply *reply) {
    PlaySettings o;
    char why[JSON_MESSAGE_BYTES];
    double begin = seconds_now();
    play_settings_init(&o);
    if (!play_settings_read(&o, request->body, request->n_body, why)) {
        web_reply_error(reply, 400, "%s", why);
        play_settings_free(&o);
        return;
    }
    PlayProgram *p = play_program(s, o.program);
    if (!p) {
        web_reply_error(reply, 410, "the program has exited");
    } else if (check) {
        Text lines = {0};
        bool ok = play_check(s, p, request->body, request->n_body, &lines);
        text_printf(&reply->body, "{\"ok\": %s, \"checks\": %s}", ok ? "true" : "false",
                    lines.data ? lines.data : "[]");
        text_free(&lines);
    } else {
        PlayResult r;
        play_run(s, p, &o, &r);
        put_result(&r, (seconds_now() - begin) * 1e3, reply);
        play_result_free(&r);
    }
    play_settings_free(&o);
}

static void on_device(PlaySession *s, const WebRequest *request, WebReply *reply) {
    char *why = NULL;
    pthread_mutex_lock(&s->lock);
    if (!play_session_open(s, &why))
        web_reply_error(reply, 503, "%s", why);
    else if (!strcmp(request->path, "api/compile"))
        compile(s, request, reply);
    else
        run_or_check(s, request, !strcmp(request->path, "api/check"), reply);
    pthread_mutex_unlock(&s->lock);
    free(why);
}

static void answer(void *context, const WebRequest *request, WebReply *reply) {
    Site *site = context;
    const char *path = request->path;
    if (request->post) {
        if (!strcmp(path, "api/save"))
            save(site, request, reply);
        else if (!strcmp(path, "api/compile") || !strcmp(path, "api/run") ||
                 !strcmp(path, "api/check"))
            on_device(site->s, request, reply);
        else
            web_reply_error(reply, 404, "unknown request");
    } else if (!strcmp(path, "api/start")) {
        start(site, reply);
    } else if (!strcmp(path, "api/file")) {
        file(site, request->query, reply);
    } else if (!web_page_reply(&web_play, path, reply)) {
        web_reply_error(reply, 404, "no such page");
    }
}

int play_serve(PlaySession *s, const char *path, uint32_t port, bool browser) {
    Site site = {s, path};
    return serve_page("play", port, browser, answer, &site);
}
