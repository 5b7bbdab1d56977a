// SPDX-License-Identifier: Apache-2.0
// play_check.c: exercises: a source is run as each check of the settings says, and what it left is
// compared with what is expected.
#include "base/files.h"
#include "base/json.h"
#include "apps/tools/play_int.h"
#include "apps/tools/run_values.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const PlayOutput *find_output(const PlayResult *r, const char *name) {
    for (size_t i = 0; i < r->n_outputs; i++)
        if (!strcmp(r->outputs[i].name, name)) return &r->outputs[i];
    return NULL;
}

static bool close_to(double got, double want, double tolerance) {
    if (got == want || (isnan(got) && isnan(want))) return true;
    return fabs(got - want) <= tolerance * (fabs(want) > 1 ? fabs(want) : 1);
}

// NULL: as expected; else what is wrong (malloc'd).
static char *compare_buffer(const PlayResult *r, const PlayExpect *e) {
    const PlayOutput *out = find_output(r, e->output);
    NpyArray want;
    bool is_value;
    if (!out) return text_format("no buffer '%s'", e->output);
    char *why = run_value_parse_within(e->values, PLAY_MAX_BYTES, &want, &is_value);
    if (why) return why;
    size_t size = want.type->n_bytes, n = want.n_elements;
    if (n * size > out->n_bytes)
        why = text_format("'%s' has %zu numbers, %zu are expected", e->output, out->n_bytes / size,
                          n);
    double tolerance = e->tolerance >= 0                  ? e->tolerance
                       : want.type->kind <= NUMBER_BFLOAT ? 1e-4
                                                          : 0;
    for (size_t i = 0; !why && i < n; i++) {
        char got[64], wanted[64];
        if (close_to(number_get(want.type, out->data + i * size),
                     number_get(want.type, want.data + i * size), tolerance))
            continue;
        number_print(want.type, out->data + i * size, got, sizeof got);
        number_print(want.type, want.data + i * size, wanted, sizeof wanted);
        why = text_format("%s[%zu] is %s, expected %s", e->output, i, got, wanted);
    }
    npy_free(&want);
    return why;
}

static char *compare_pixel(const PlayResult *r, const PlayExpect *e) {
    const PlayOutput *out = NULL;
    for (size_t i = 0; i < r->n_outputs && !out; i++)
        if (r->outputs[i].picture) out = &r->outputs[i];
    if (!out || e->pixel[0] >= out->width || e->pixel[1] >= out->height)
        return text_format("pixel (%zu, %zu) is outside the image", e->pixel[0], e->pixel[1]);
    const unsigned char *p = out->data + 4 * (e->pixel[1] * out->width + e->pixel[0]);
    double tolerance = e->tolerance >= 0 ? e->tolerance : 0.02;
    for (int i = 0; i < 4; i++)
        if (fabs(p[i] / 255.0 - e->color[i]) > tolerance)
            return text_format("pixel (%zu, %zu) is %.2f %.2f %.2f %.2f, expected %.2f %.2f %.2f "
                               "%.2f",
                               e->pixel[0], e->pixel[1], p[0] / 255.0, p[1] / 255.0, p[2] / 255.0,
                               p[3] / 255.0, e->color[0], e->color[1], e->color[2], e->color[3]);
    return NULL;
}

// One check: NULL if it is as expected.
static char *check_one(PlaySession *s, PlayProgram *program, const PlaySettings *o) {
    PlayResult r;
    play_run(s, program, o, &r);
    char *why = r.error ? strdup(r.error) : NULL;
    if (!why && r.log && *r.log) why = text_format("%.300s", r.log);
    if (!why && !o->n_expects) why = text_format("the check expects nothing");
    for (size_t i = 0; !why && i < o->n_expects; i++)
        why = *o->expects[i].output ? compare_buffer(&r, &o->expects[i])
                                    : compare_pixel(&r, &o->expects[i]);
    play_result_free(&r);
    return why;
}

static void line(Text *json, bool first, bool ok, const char *text) {
    text_printf(json, "%s{\"ok\": %s, \"text\": ", first ? "" : ", ", ok ? "true" : "false");
    json_string(json, text);
    text_add(json, "}");
}

bool play_check(PlaySession *s, PlayProgram *program, const char *settings, size_t n, Text *json) {
    PlaySettings base;
    char why[JSON_MESSAGE_BYTES];
    play_settings_init(&base);
    text_add(json, "[");
    bool all = play_settings_read(&base, settings, n, why), first = true;
    if (!all) line(json, true, false, why);
    if (all && !base.n_checks) {
        line(json, true, false, "there is nothing to check here");
        all = false;
    }
    uint64_t id = program->id;
    for (size_t i = 0; i < base.n_checks; i++, first = false) {
        PlaySettings o;
        play_settings_init(&o);
        char *wrong = NULL;
        if (!play_settings_read(&o, settings, n, why) ||
            !play_settings_read(&o, base.checks[i], strlen(base.checks[i]), why))
            wrong = strdup(why);
        else if (!(program = play_program(s, id))) // an earlier check took the device with it
            wrong = strdup("it was not run");
        else
            wrong = check_one(s, program, &o);
        line(json, first, !wrong, wrong ? wrong : "as expected");
        all &= !wrong;
        free(wrong);
        play_settings_free(&o);
    }
    text_add(json, "]");
    play_settings_free(&base);
    return all;
}

// ---- On the command line ----

static bool check_file(PlaySession *s, const char *path) {
    size_t n;
    char *text = (char *)file_read(path, &n), *why = NULL;
    if (!text) {
        complain(EXIT_INPUT, "play", "cannot read '%s': %s", path, strerror(errno));
        return false;
    }
    PlayFile file;
    Text json = {0};
    MTLError *error = NULL;
    bool ok = false;
    play_file_split(text, n, &file);
    if (!file.n_settings) {
        complain(EXIT_INPUT, "play", "'%s' has no settings, /*play {...} */, to check by", path);
    } else if (!play_session_open(s, &why)) {
        complain(EXIT_INPUT, "play", "%s", why);
    } else {
        // The whole file: lines of messages are those that an editor shows.
        PlayProgram *program = play_compile(s, text, n, &error);
        if (program)
            ok = play_check(s, program, file.settings, file.n_settings, &json);
        else
            fprintf(stderr, "%s\n", mtl_error_localized_description(error));
        printf("%s %s%s%s\n", ok ? "ok  " : "FAIL", path, json.data ? ": " : "",
               json.data ? json.data : "");
    }
    mtl_release(error);
    text_free(&json);
    free(why);
    free(text);
    return ok;
}

int play_check_files(PlaySession *s, const Strings *files) {
    bool ok = true;
    for (size_t i = 0; i < files->n; i++) ok &= check_file(s, files->items[i]);
    return ok ? EXIT_FINE : EXIT_INPUT;
}
