// SPDX-License-Identifier: Apache-2.0
// page.c: what browsers ask `ingot view` and `ingot play`: a request as it comes, "POST /TOKEN/path
// HTTP/1.1", fields, an empty line, a body. The head is read as the server reads it; then its path
// and query are asked of two captures among the seeds, replayed on a device that runs no kernels,
// and its body is read as settings, also where the head is refused.
#include "fuzz.h"
#include "apps/tools/play_int.h"
#include "apps/tools/view_int.h"
#include "apps/web/http_int.h"
#include <stdio.h>

extern const DevTable null_device;
static const HttpAddress address = {"0123456789abcdef0123456789abcdef", 80};

void show_line(const char *format, ...) { (void)format; } // nobody looks

// The tools end by these; nothing that is asked may make them.
int complain(int status, const char *command, const char *format, ...) {
    (void)status, (void)command, (void)format;
    abort();
}

void must_have(bool memory) {
    if (!memory) abort();
}
void *must_alloc(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p) abort();
    return p;
}
// What these do is no answer: they start processes, or need Metal's own objects.
CapReplay *open_replay(const char *device, const Capture *capture, const char *command,
                       MTLDevice **made) {
    (void)device, (void)capture, (void)command, (void)made;
    abort();
}
bool view_lines(View *v, Text *to, char why[CAP_WHY]) {
    (void)v, (void)to;
    snprintf(why, CAP_WHY, "not here");
    return false;
}
void view_other_stop(View *v) { (void)v; }
void view_debug_words(const View *v, Text *t) { (void)v, (void)t; }
bool view_has_terminal(void) { return false; }
void mtl_release(void *object) { (void)object; }

// ---- Captures to ask about ----

static bool make_memory(void *context, size_t n_bytes, DevStorage storage, DevMemory *memory) {
    (void)context;
    char *bytes = calloc(1, n_bytes);
    *memory = (DevMemory){
        .address = bytes, .host = bytes, .n_bytes = n_bytes, .storage = (uint8_t)storage};
    return bytes != NULL;
}
static void free_memory(void *context, DevMemory *memory) {
    (void)context;
    free(memory->host);
}
static DevCode *load_code(void *context, const DevCodeSource *source, char *why, size_t why_bytes) {
    (void)context, (void)why, (void)why_bytes;
    DevCode *code = calloc(1, sizeof *code);
    if (code) code->n_slots = source->function->n_slots;
    return code;
}
static void free_code(DevCode *code) { free(code); }

enum { N_VIEWS = 2 };
static View *views(void) {
    static const char *const paths[N_VIEWS] = {FUZZ_SEEDS "/capture/mipmaps",
                                               FUZZ_SEEDS "/capture/tensor"};
    static View made[N_VIEWS];
    static DevTable table;
    static CapDevice device = {.table = &table};
    char why[CAP_WHY];
    if (made[0].replay) return made;
    table = null_device;
    table.memory_make = make_memory, table.memory_free = free_memory, table.memory_wrap = NULL;
    table.code_load = load_code, table.code_free = free_code;
    table.copy = NULL, table.fill = NULL, table.move = NULL;
    for (int i = 0; i < N_VIEWS; i++) {
        View *v = &made[i];
        v->path = paths[i], v->most_texels = VIEW_MOST_TEXELS;
        pthread_mutex_init(&v->lock, NULL);
        v->capture = cap_open(v->path, why);
        v->replay = v->capture ? cap_replay_new(v->capture, &device, why) : NULL;
        if (!v->replay) {
            fprintf(stderr, "%s: %s\n", v->path, why);
            abort();
        }
    }
    return made;
}

static void ask(const char *path, const char *query) {
    View *all = views();
    for (int i = 0; i < N_VIEWS; i++) {
        WebReply reply = {0};
        if (view_answer(&all[i], path, query, &reply) && !reply.body.n_bytes) abort();
        fuzz_keep(fuzz_touch(reply.body.data, reply.body.n_bytes));
        char *head = http_reply_head(&reply, false);
        fuzz_text(head);
        free(head);
        text_free(&reply.body);
    }
}

// ---- Settings ----

static void look_at(const PlayEntries *e) {
    for (size_t i = 0; i < e->n; i++) {
        fuzz_text(e->items[i].key);
        fuzz_text(e->items[i].text);
        fuzz_keep(
            fuzz_touch(e->items[i].numbers, e->items[i].n_numbers * sizeof *e->items[i].numbers));
        if (play_find(e, e->items[i].key) != &e->items[i]) abort(); // a key is there once
    }
}

static void read_settings(const char *body, size_t n) {
    PlaySettings s;
    char why[JSON_MESSAGE_BYTES] = "";
    play_settings_init(&s);
    if (!play_settings_read(&s, body, n, why) && !*why) abort();
    look_at(&s.buffers), look_at(&s.textures), look_at(&s.values);
    for (int i = 0; i < PLAY_STAGES; i++) fuzz_text(s.functions[i]);
    for (size_t i = 0; i < s.n_checks; i++) { // settings over these
        PlaySettings check;
        play_settings_init(&check);
        if (play_settings_read(&check, body, n, why))
            play_settings_read(&check, s.checks[i], strlen(s.checks[i]), why);
        play_settings_free(&check);
    }
    play_settings_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char *text = malloc(n + 1);
    if (!text) return 0;
    memcpy(text, data, n);
    text[n] = 0;
    char *end = strstr(text, "\r\n\r\n"), *body = end ? end + 4 : text + strlen(text);
    size_t n_body = n - (size_t)(body - text);
    read_settings(body, n_body);
    if (end) *end = 0;
    // The target as it is, whoever asks.
    char *line = strndup(text, strcspn(text, "\r\n")), *at = line;
    if (line) {
        strsep(&at, " ");
        char *target = strsep(&at, " "), *query = target;
        strsep(&query, "?");
        if (target && strrchr(target, '/')) ask(strrchr(target, '/') + 1, query ? query : "");
    }
    free(line);
    HttpHead head;
    http_read_head(&address, text, &head);
    if (head.refused ? head.status < 400 : head.n_body > WEB_MAX_BODY) abort();
    if (!head.refused) ask(head.path, head.query);
    free(text);
    return 0;
}
