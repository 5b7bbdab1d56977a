// SPDX-License-Identifier: Apache-2.0
// play_settings.c: settings as JSON: of a share file, or of a request of the page. Unknown keys are
// left alone: what the page keeps for itself (places of sliders, the title) is nothing to us.
#include "apps/tools/play_int.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>

void play_settings_init(PlaySettings *s) {
    *s = (PlaySettings){.grid = {64, 1, 1},
                        .width = 512,
                        .height = 512,
                        .vertices = 3,
                        .instances = 1,
                        .primitive = MTLPrimitiveTypeTriangle,
                        .clear = {0, 0, 0, 1}};
}

const PlayEntry *play_find(const PlayEntries *entries, const char *key) {
    for (size_t i = 0; i < entries->n; i++)
        if (!strcmp(entries->items[i].key, key)) return &entries->items[i];
    return NULL;
}

// The entry of a key, empty; NULL: no memory.
static PlayEntry *entry(PlayEntries *e, const char *key) {
    for (size_t i = 0; i < e->n; i++)
        if (!strcmp(e->items[i].key, key)) {
            free(e->items[i].text);
            e->items[i].text = NULL;
            e->items[i].n_numbers = 0;
            return &e->items[i];
        }
    if (!array_more(&e->items, e->n)) return NULL;
    PlayEntry *entry = &e->items[e->n++];
    *entry = (PlayEntry){0};
    strcpy(entry->key, key);
    return entry;
}

// A string of any length, as JSON has it. malloc'd.
static char *whole_string(JsonReader *r) {
    size_t most = (size_t)(r->end - r->at) + 1;
    char *text = malloc(most);
    if (!text) {
        json_fail(r, "out of memory");
        return NULL;
    }
    if (!json_string_value(r, text, most)) {
        free(text);
        return NULL;
    }
    return text;
}

// One number or several in brackets; the count.
static size_t numbers(JsonReader *r, double *to, size_t most) {
    size_t n = 0;
    if (json_peek(r) != '[') return json_double(r, to) ? 1 : 0;
    if (!json_enter_array(r)) return 0;
    while (json_next_item(r)) {
        if (n == most)
            json_fail(r, "more than %zu numbers", most);
        else if (json_double(r, to + n))
            n++;
    }
    return n;
}

static void read_entries(JsonReader *r, PlayEntries *to) {
    char key[PLAY_NAME_BYTES];
    if (!json_enter_object(r)) return;
    while (json_next_key_text(r, key, sizeof key)) {
        PlayEntry *e = entry(to, key);
        if (!e)
            json_fail(r, "out of memory");
        else if (json_peek(r) == '"')
            e->text = whole_string(r);
        else
            e->n_numbers = numbers(r, e->numbers, sizeof e->numbers / sizeof *e->numbers);
    }
}

// 1 to 3 sizes; those that are missing are 1.
static void read_sizes(JsonReader *r, size_t sizes[3], double most) {
    double v[3];
    size_t n = numbers(r, v, 3);
    for (size_t i = 0; i < 3 && json_ok(r); i++) {
        if (i < n && !(v[i] >= 1 && v[i] <= most)) json_fail(r, "it is not from 1 to %g", most);
        sizes[i] = i < n && json_ok(r) ? (size_t)v[i] : 1;
    }
}

static void read_whole(JsonReader *r, size_t *to, uint64_t low, uint64_t high) {
    uint64_t v;
    if (json_uint(r, &v, low, high)) *to = (size_t)v;
}

static void read_flag(JsonReader *r, bool *to) {
    char c = json_peek(r);
    if (c != 't' && c != 'f') {
        json_fail(r, "it is not true or false");
        return;
    }
    *to = c == 't';
    json_skip(r);
}

static void read_word(JsonReader *r, const char *const *words, uint32_t *to) {
    char word[32];
    if (!json_string_value(r, word, sizeof word)) return;
    for (uint32_t i = 0; words[i]; i++)
        if (!strcmp(word, words[i])) {
            *to = i;
            return;
        }
    json_fail(r, "'%s' is not one of its words", word);
}

// ---- Checks ----

static void read_expect(JsonReader *r, PlayExpect *e) {
    const char *key;
    double v[4];
    *e = (PlayExpect){.tolerance = -1};
    bool pixel = false, color = false;
    if (!json_enter_object(r)) return;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "buffer")) {
            json_string_value(r, e->output, sizeof e->output);
        } else if (!strcmp(key, "is")) {
            e->values = whole_string(r);
        } else if (!strcmp(key, "pixel")) {
            pixel = numbers(r, v, 2) == 2 && v[0] >= 0 && v[1] >= 0 && v[0] < PLAY_MAX_SIDE &&
                    v[1] < PLAY_MAX_SIDE;
            for (int i = 0; pixel && i < 2; i++) e->pixel[i] = (size_t)v[i];
        } else if (!strcmp(key, "color")) {
            color = numbers(r, e->color, 4) == 4;
        } else if (!strcmp(key, "tolerance")) {
            json_double(r, &e->tolerance);
        } else {
            json_fail(r, "it is not one of buffer, is, pixel, color, tolerance");
        }
    }
    if (json_ok(r) && !(*e->output && e->values) && !(pixel && color))
        json_fail(r, "it has neither buffer and is, nor pixel and color");
}

static void read_expects(JsonReader *r, PlaySettings *s) {
    if (!json_enter_array(r)) return;
    while (json_next_item(r)) {
        if (!array_more(&s->expects, s->n_expects)) {
            json_fail(r, "out of memory");
            return;
        }
        read_expect(r, &s->expects[s->n_expects++]);
    }
}

static void read_checks(JsonReader *r, PlaySettings *s) {
    if (!json_enter_array(r)) return;
    while (json_next_item(r)) {
        json_peek(r); // goes to the value
        const char *begin = r->at;
        if (!json_skip(r)) return;
        char *text = strndup(begin, (size_t)(r->at - begin));
        if (!text || !array_more(&s->checks, s->n_checks)) {
            free(text);
            json_fail(r, "out of memory");
            return;
        }
        s->checks[s->n_checks++] = text;
    }
}

// ---- The object ----

static const char *const primitives[] = {"point",    "line",           "line-strip",
                                         "triangle", "triangle-strip", NULL};
static const char *const culls[] = {"none", "front", "back", NULL};

static bool read_drawing(JsonReader *r, PlaySettings *s, const char *key) {
    uint32_t word;
    double v[4];
    if (!strcmp(key, "vertices"))
        read_whole(r, &s->vertices, 1, 1 << 22);
    else if (!strcmp(key, "instances"))
        read_whole(r, &s->instances, 1, 1 << 16);
    else if (!strcmp(key, "primitive"))
        word = s->primitive, read_word(r, primitives, &word), s->primitive = word;
    else if (!strcmp(key, "cull"))
        word = s->cull, read_word(r, culls, &word), s->cull = word;
    else if (!strcmp(key, "depth"))
        read_flag(r, &s->depth);
    else if (!strcmp(key, "wireframe"))
        read_flag(r, &s->wireframe);
    else if (!strcmp(key, "clear")) {
        if (numbers(r, v, 4) == 4)
            memcpy(s->clear, v, sizeof v);
        else
            json_fail(r, "it is not four numbers");
    } else if (!strcmp(key, "size")) {
        size_t size[3];
        read_sizes(r, size, PLAY_MAX_SIDE);
        s->width = size[0], s->height = size[1];
    } else
        return false;
    return true;
}

static bool read_common(JsonReader *r, PlaySettings *s, const char *key) {
    static const char *const stages[PLAY_STAGES] = {"function", "vertex", "object", "mesh"};
    for (int i = 0; i < PLAY_STAGES; i++)
        if (!strcmp(key, stages[i])) {
            json_string_value(r, s->functions[i], PLAY_NAME_BYTES);
            return true;
        }
    if (!strcmp(key, "program"))
        json_uint(r, &s->program, 0, UINT32_MAX);
    else if (!strcmp(key, "grid"))
        read_sizes(r, s->grid, 1 << 24);
    else if (!strcmp(key, "group"))
        read_sizes(r, s->group, 1024);
    else if (!strcmp(key, "object_group"))
        read_sizes(r, s->object_group, 1024);
    else if (!strcmp(key, "buffers"))
        read_entries(r, &s->buffers);
    else if (!strcmp(key, "textures"))
        read_entries(r, &s->textures);
    else if (!strcmp(key, "values"))
        read_entries(r, &s->values);
    else if (!strcmp(key, "unchecked"))
        read_flag(r, &s->unchecked);
    else
        return false;
    return true;
}

bool play_settings_read(PlaySettings *s, const char *json, size_t n, char *why) {
    JsonReader r;
    const char *key;
    json_begin(&r, json, n, "settings", why);
    if (!json_enter_object(&r)) return false;
    while (json_next_key(&r, &key)) {
        if (read_common(&r, s, key) || read_drawing(&r, s, key)) continue;
        if (!strcmp(key, "time"))
            json_double(&r, &s->time);
        else if (!strcmp(key, "mouse"))
            numbers(&r, s->mouse, 4);
        else if (!strcmp(key, "frame"))
            json_uint(&r, &s->frame, 0, UINT32_MAX);
        else if (!strcmp(key, "expect"))
            read_expects(&r, s);
        else if (!strcmp(key, "checks"))
            read_checks(&r, s);
        else
            json_skip(&r);
    }
    return json_finish(&r);
}

static void free_entries(PlayEntries *e) {
    for (size_t i = 0; i < e->n; i++) free(e->items[i].text);
    free(e->items);
}

void play_settings_free(PlaySettings *s) {
    free_entries(&s->buffers);
    free_entries(&s->textures);
    free_entries(&s->values);
    for (size_t i = 0; i < s->n_expects; i++) free(s->expects[i].values);
    free(s->expects);
    for (size_t i = 0; i < s->n_checks; i++) free(s->checks[i]);
    free(s->checks);
    *s = (PlaySettings){0};
}
