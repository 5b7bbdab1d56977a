// SPDX-License-Identifier: Apache-2.0
// view_answer.c: what the page of `ingot view` asks about a capture (see view_int.h).
#include "abi/pixel_format.h"
#include "base/json.h"
#include "texel/format.h"
#include "apps/tools/reflect_web.h"
#include "apps/tools/view_int.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool view_open(View *v, const char *path, const char *device) {
    char why[CAP_WHY];
    *v = (View){.path = path, .device_name = device, .most_texels = VIEW_MOST_TEXELS};
    pthread_mutex_init(&v->lock, NULL);
    pthread_mutex_init(&v->lines_lock, NULL);
    v->capture = cap_open(path, why);
    if (!v->capture) {
        complain(EXIT_INPUT, "view", "%s: %s", path, why);
        return false;
    }
    v->replay = open_replay(device, v->capture, "view", &v->device);
    return v->replay != NULL;
}

void view_close(View *v) {
    view_other_stop(v);
    cap_replay_free(v->replay);
    mtl_release(v->device);
    cap_close(v->capture);
    free(v->index);
    free(v->lines);
    pthread_mutex_destroy(&v->lock);
    pthread_mutex_destroy(&v->lines_lock);
}

bool view_go(View *v, uint64_t command, char why[CAP_WHY]) {
    if (v->at == command + 1) return true;
    v->at = 0;
    if (!cap_replay_run(v->replay, command, NULL, why)) return false;
    v->at = command + 1;
    return true;
}

// ---- The index ----

// The types of every function's library, each library once.
static bool put_reflection(View *v, Text *t, char why[CAP_WHY]) {
    const RfLibrary *known[256];
    size_t n = 0;
    bool first = true, ok = true;
    Text libraries = {0};
    text_add(t, ",\"reflection\":{");
    for (size_t i = 0; ok && i < cap_n_runs(v->capture); i++) {
        CapRun run;
        if (!(ok = cap_read_run(v->capture, i, &run, why))) break;
        for (size_t k = 0; k < run.n_events; k++) {
            const RfLibrary *library = NULL;
            const CapEvent *e = &run.events[k];
            if (e->kind != CAP_CODE || !cap_replay_function(v->replay, e->code.id, &library))
                continue;
            size_t at = 0;
            while (at < n && known[at] != library) at++;
            if (at == n && n == sizeof known / sizeof *known) continue;
            if (at == n) {
                known[n++] = library;
                text_add(&libraries, at ? ",{" : "{");
                reflect_web(library, &libraries);
                text_add(&libraries, "}");
            }
            text_printf(t, "%s\"%" PRIu64 "\":%zu", first ? "" : ",", e->code.id, at);
            first = false;
        }
        cap_run_free(&run);
    }
    text_printf(t, "},\"libraries\":[%s]", libraries.data ? libraries.data : "");
    text_free(&libraries);
    return ok;
}

static bool make_index(View *v, char why[CAP_WHY]) {
    if (v->index) return true;
    char *json = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&json, &n);
    bool ok = f && print_json(v->capture, v->replay, f, why);
    v->at = 0; // it stands at the end now
    if (f) fclose(f);
    while (n && (json[n - 1] == '\n' || json[n - 1] == '}')) n--; // more members follow
    Text t = {0};
    if (ok) {
        text_add_bytes(&t, json, n);
        ok = put_reflection(v, &t, why);
        text_add(&t, ",\"file\":");
        json_string(&t, v->path);
        Text words = {0};
        view_debug_words(v, &words);
        text_add(&t, ",\"debug\":");
        json_string(&t, words.data ? words.data : "");
        text_free(&words);
        text_printf(&t, ",\"terminal\":%s,\"other\":%s}", view_has_terminal() ? "true" : "false",
                    v->other_address ? "true" : "false");
    }
    free(json);
    v->n_index = t.n_bytes;
    v->index = ok ? text_take(&t) : NULL;
    if (!v->index) text_free(&t);
    if (ok && !v->index) snprintf(why, CAP_WHY, "out of memory");
    return v->index != NULL;
}

// ---- Contents ----

static bool answer_bytes(View *v, const char *query, WebReply *reply, char why[CAP_WHY]) {
    uint64_t command, address, n, start, length;
    if (sscanf(query, "%" SCNu64 ",0x%" SCNx64 ",%" SCNu64, &command, &address, &n) != 3) {
        snprintf(why, CAP_WHY, "it is COMMAND,ADDRESS,BYTES");
        return false;
    }
    if (!view_go(v, command, why)) return false;
    if (!cap_replay_memory_at(v->replay, address, &start, &length)) {
        snprintf(why, CAP_WHY, "no such memory at this command");
        return false;
    }
    if (n > start + length - address) n = start + length - address;
    if (n > VIEW_MOST_BYTES) n = VIEW_MOST_BYTES;
    char *bytes = must_alloc(n + 1, 1);
    if (cap_replay_read(v->replay, address, bytes, n)) {
        reply->type = "application/octet-stream";
        Text json = {0}, data = {.data = bytes, .n_bytes = n, .capacity = n + 1};
        text_printf(&json, "{\"bytes\":%" PRIu64 ",\"left\":%" PRIu64 "}", n,
                    start + length - address);
        web_reply_bytes(reply, &json, &data);
        text_free(&json);
        free(bytes);
        return true;
    }
    free(bytes);
    snprintf(why, CAP_WHY, "that memory cannot be read");
    return false;
}

static const CapObject *texture_of(View *v, uint64_t number, char why[CAP_WHY]) {
    const CapObject *objects;
    size_t n = cap_replay_objects(v->replay, &objects);
    if (number < n && objects[number].texture) return &objects[number];
    snprintf(why, CAP_WHY, "no such texture at this command");
    return NULL;
}

// How texels travel: bytes where they are bytes, one float of depth, else four floats.
typedef enum Packing { PACK_BYTES, PACK_ONE, PACK_FOUR } Packing;

static Packing packing_of(const AbiPixelFormat *f) {
    bool bytes = f->coding == ABI_CODING_BITS && f->bits[0].n_bits == 8;
    if (bytes && (f->kind == ABI_KIND_UNORM || f->kind == ABI_KIND_SRGB)) return PACK_BYTES;
    return f->caps & ABI_FORMAT_DEPTH ? PACK_ONE : PACK_FOUR;
}

static void put_texel(Text *t, const AbiPixelFormat *f, Packing packing, const float *rgba) {
    if (packing != PACK_BYTES) {
        text_add_bytes(t, (const char *)rgba, packing == PACK_ONE ? 4 : 16);
        return;
    }
    char bytes[4];
    for (int c = 0; c < 4; c++) {
        bool curved = f->kind == ABI_KIND_SRGB && c < 3;
        bytes[c] =
            (char)(curved ? texel_linear_to_srgb8(rgba[c]) : (unsigned char)(rgba[c] * 255 + 0.5f));
    }
    text_add_bytes(t, bytes, 4);
}

static bool answer_texture(View *v, const char *query, WebReply *reply, char why[CAP_WHY]) {
    static const char *const names[] = {"bytes", "one", "four"};
    uint64_t command, number;
    unsigned level, slice;
    uint32_t w, h, step = 1;
    float *rgba;
    if (sscanf(query, "%" SCNu64 ",%" SCNu64 ",%u,%u", &command, &number, &level, &slice) != 4) {
        snprintf(why, CAP_WHY, "it is COMMAND,NUMBER,LEVEL,SLICE");
        return false;
    }
    if (!view_go(v, command, why)) return false;
    const CapObject *o = texture_of(v, number, why);
    if (!o || !read_texels(v->replay, o, level, slice, &w, &h, &rgba, why)) return false;
    while ((uint64_t)(w / step) * (h / step) > v->most_texels) step++;
    const AbiPixelFormat *f = abi_pixel_format(o->texture->pixel_format);
    Packing packing = packing_of(f);
    Text json = {0}, data = {0};
    text_printf(&json,
                "{\"width\":%u,\"height\":%u,\"step\":%u,\"shownWidth\":%u,\"shownHeight\":%u,"
                "\"integer\":%s,\"depth\":%s,\"srgb\":%s,\"packing\":\"%s\"}",
                w, h, step, (w + step - 1) / step, (h + step - 1) / step,
                abi_format_is_integer(f) ? "true" : "false",
                f->caps & (ABI_FORMAT_DEPTH | ABI_FORMAT_STENCIL) ? "true" : "false",
                f->kind == ABI_KIND_SRGB ? "true" : "false", names[packing]);
    for (uint32_t y = 0; y < h; y += step)
        for (uint32_t x = 0; x < w; x += step)
            put_texel(&data, f, packing, rgba + 4 * ((size_t)y * w + x));
    free(rgba);
    web_reply_bytes(reply, &json, &data);
    text_free(&json);
    text_free(&data);
    return true;
}

// ---- Times ----

typedef struct Times {
    uint64_t *ns, n;
} Times;

static bool take_time(void *context, const CapEvent *event, uint64_t ns) {
    Times *t = context;
    // The quickest of the turns: what disturbs a run only makes it longer.
    if (event->command < t->n && (!t->ns[event->command] || ns < t->ns[event->command]))
        t->ns[event->command] = ns ? ns : 1;
    return true;
}

static bool answer_times(View *v, WebReply *reply, char why[CAP_WHY]) {
    Times t = {.n = cap_n_commands(v->capture)};
    t.ns = must_alloc(t.n + 1, sizeof *t.ns);
    v->at = 0;
    bool ok = true;
    for (int turn = 0; ok && turn < 2; turn++) {
        cap_replay_rewind(v->replay);
        ok = cap_replay_run(v->replay, UINT64_MAX, &(CapWatch){.after = take_time, .context = &t},
                            why);
    }
    text_add(&reply->body, "[");
    v->total_ns = 0;
    for (uint64_t i = 0; ok && i < t.n; i++) {
        text_printf(&reply->body, "%s%" PRIu64, i ? "," : "", t.ns[i]);
        v->total_ns += t.ns[i];
    }
    text_add(&reply->body, "]");
    free(t.ns);
    return ok;
}

// ---- The history of a pixel ----

typedef struct Pixel {
    float rgba[4]; // zeros outside of the texture
} Pixel;

static bool read_pixel(View *v, uint64_t command, uint64_t number, uint32_t x, uint32_t y, Pixel *p,
                       char why[CAP_WHY]) {
    uint32_t w, h;
    float *rgba;
    *p = (Pixel){0};
    if (!view_go(v, command, why)) return false;
    const CapObject *o = texture_of(v, number, why);
    if (!o || !read_texels(v->replay, o, 0, 0, &w, &h, &rgba, why)) return false;
    if (x < w && y < h) memcpy(p->rgba, rgba + 4 * ((size_t)y * w + x), sizeof p->rgba);
    free(rgba);
    return true;
}

// The pass that a command belongs to: its first command (the pass itself) and its draws.
static bool find_pass(View *v, uint64_t command, uint64_t *first, uint32_t *n_draws,
                      char why[CAP_WHY]) {
    size_t index = cap_run_of(v->capture, command);
    CapRun run;
    bool found = false;
    if (index == SIZE_MAX || !cap_read_run(v->capture, index, &run, why)) return false;
    for (size_t i = 0; i < run.n_events; i++) {
        const CapEvent *e = &run.events[i];
        if (e->kind != CAP_RENDER || command < e->command ||
            command > e->command + e->render.n_draws)
            continue;
        *first = e->command, *n_draws = e->render.n_draws;
        found = true;
    }
    cap_run_free(&run);
    if (!found) snprintf(why, CAP_WHY, "that command is not in a render pass");
    return found;
}

static void put_pixel(Text *t, const char *key, const Pixel pixel[2]) {
    const float *p = pixel[0].rgba;
    text_printf(t, "\"%s\":[%.9g,%.9g,%.9g,%.9g],\"%sDepth\":%.9g", key, (double)p[0], (double)p[1],
                (double)p[2], (double)p[3], key, (double)pixel[1].rgba[0]);
}

// Both numbers of a pixel: its colour and its depth.
static bool read_both(View *v, uint64_t command, const uint64_t numbers[2], uint32_t x, uint32_t y,
                      Pixel pixel[2], char why[CAP_WHY]) {
    return read_pixel(v, command, numbers[0], x, y, &pixel[0], why) &&
           read_pixel(v, command, numbers[1], x, y, &pixel[1], why);
}

static bool answer_history(View *v, const char *query, WebReply *reply, char why[CAP_WHY]) {
    uint64_t command, numbers[2], first = 0;
    uint32_t x, y, n = 0;
    if (sscanf(query, "%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%u,%u", &command, &numbers[0],
               &numbers[1], &x, &y) != 5) {
        snprintf(why, CAP_WHY, "it is COMMAND,NUMBER,DEPTH,X,Y");
        return false;
    }
    if (!find_pass(v, command, &first, &n, why)) return false;
    Pixel before[2], now[2];
    if (!read_both(v, first, numbers, x, y, before, why)) return false;
    uint32_t looked = n < VIEW_MOST_DRAWS ? n : VIEW_MOST_DRAWS;
    CapTouch *touches = must_alloc(looked, sizeof *touches);
    v->at = 0;
    // Where samples cannot be counted every draw is looked at, and those that changed it are told.
    bool counted = cap_replay_pixel(v->replay, first, x, y, touches, looked, why), ok = true;
    Text *t = &reply->body;
    text_printf(t, "{\"counted\":%s,", counted ? "true" : "false");
    put_pixel(t, "begin", before);
    text_add(t, ",\"draws\":[");
    const char *gap = "";
    for (uint32_t i = 1; ok && i <= looked; i++) {
        uint64_t covered = touches[i - 1].covered, passed = touches[i - 1].passed;
        memcpy(now, before, sizeof now);
        if (!counted || passed) ok = read_both(v, first + i, numbers, x, y, now, why);
        if (counted ? !covered && !passed : !memcmp(now, before, sizeof now)) continue;
        text_printf(t, "%s{\"command\":%" PRIu64 ",\"covered\":%" PRIu64 ",\"passed\":%" PRIu64 ",",
                    gap, first + i, covered, passed);
        put_pixel(t, "before", before);
        text_add(t, ",");
        put_pixel(t, "after", now);
        text_add(t, "}");
        gap = ",";
        memcpy(before, now, sizeof now);
    }
    text_printf(t, "],\"looked\":%u,\"of\":%u}", looked, n);
    free(touches);
    return ok;
}

bool view_answer(View *v, const char *path, const char *query, WebReply *reply) {
    char why[CAP_WHY] = "out of memory";
    bool ok = true, known = true;
    if (!strcmp(path, "lines")) { // takes long, and needs nothing of the replay
        if (!view_lines(v, &reply->body, why)) web_reply_error(reply, 404, "%s", why);
        return true;
    }
    pthread_mutex_lock(&v->lock);
    if (!strcmp(path, "index")) {
        ok = make_index(v, why);
        if (ok) text_add_bytes(&reply->body, v->index, v->n_index);
    } else if (!strcmp(path, "bytes")) {
        ok = answer_bytes(v, query, reply, why);
    } else if (!strcmp(path, "texture")) {
        ok = answer_texture(v, query, reply, why);
    } else if (!strcmp(path, "times")) {
        ok = answer_times(v, reply, why);
    } else if (!strcmp(path, "history")) {
        ok = answer_history(v, query, reply, why);
    } else {
        known = false;
    }
    pthread_mutex_unlock(&v->lock);
    if (!ok) web_reply_error(reply, 404, "%s", why);
    return known;
}
