// SPDX-License-Identifier: Apache-2.0
// files_safetensors.c: the safetensors format (huggingface/safetensors, "Format"): eight bytes with
// the length of a header in JSON, the header, and the tensors one after the other:
//     {"__metadata__": {"key": "value"}, "name": {"dtype": "F32", "shape": [2, 3],
//      "data_offsets": [0, 24]}, ...}
// A reader must not believe it: types and shapes are checked against the offsets, the offsets
// against the file, and together they must cover its data without holes or overlaps, as the
// reference implementation demands.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "tensor/files.h"

// The reference implementation's limit of the header.
#define MAX_HEADER 100000000u
// Whole numbers are read as double.
#define MAX_NUMBER 9007199254740992u

static const struct {
    const char *name;
    IgFileType type;
} types[] = {{"F16", {'f', 2, false}},  {"F32", {'f', 4, false}}, {"F64", {'f', 8, false}},
             {"BF16", {'B', 2, false}}, {"I8", {'i', 1, false}},  {"I16", {'i', 2, false}},
             {"I32", {'i', 4, false}},  {"I64", {'i', 8, false}}, {"U8", {'u', 1, false}},
             {"U16", {'u', 2, false}},  {"U32", {'u', 4, false}}, {"U64", {'u', 8, false}},
             {"BOOL", {'b', 1, false}}};
enum { N_FORMAT_TYPES = sizeof types / sizeof *types };

// ---- Reading ----

typedef struct Item {
    char *name;
    IgFileType type;
    IgShape shape;
    uint64_t begin, end;
} Item;

typedef struct File {
    const char *name;
    JsonReader *json;
    char *scratch; // as long as the header: any text in it fits
    size_t n_scratch;
    Item *items;
    size_t n, capacity;
    IgDict *dict;
    MTLError **error;
} File;

static bool read_type(File *f, Item *item) {
    if (!json_string_value(f->json, f->scratch, f->n_scratch)) return false;
    for (int i = 0; i < N_FORMAT_TYPES; i++)
        if (!strcmp(types[i].name, f->scratch)) {
            item->type = types[i].type;
            return true;
        }
    f->scratch[32] = 0;
    return json_fail(f->json, "type '%s', which tensors do not have", f->scratch);
}

// Up to max whole numbers.
static bool read_numbers(File *f, uint64_t *to, size_t max, size_t *n) {
    *n = 0;
    if (!json_enter_array(f->json)) return false;
    while (json_next_item(f->json)) {
        if (*n == max) return json_fail(f->json, "more than %zu numbers", max);
        if (!json_uint(f->json, &to[(*n)++], 0, MAX_NUMBER)) return false;
    }
    return json_ok(f->json);
}

static bool read_item(File *f, Item *item) {
    bool seen[3] = {false, false, false};
    uint64_t lengths[IG_MAX_RANK], offsets[2];
    size_t rank = 0, n = 0;
    if (!json_enter_object(f->json)) return false;
    char key[32];
    while (json_next_key_text(f->json, key, sizeof key)) {
        int which = !strcmp(key, "dtype") ? 0 : !strcmp(key, "shape") ? 1 : 2;
        if (which == 2 && strcmp(key, "data_offsets")) return json_fail(f->json, "an unknown key");
        if (seen[which]) return json_fail(f->json, "it comes twice");
        seen[which] = true;
        if (!(which == 0   ? read_type(f, item)
              : which == 1 ? read_numbers(f, lengths, IG_MAX_RANK, &rank)
                           : read_numbers(f, offsets, 2, &n)))
            return false;
    }
    if (!json_ok(f->json)) return false;
    if (!seen[0] || !seen[1] || n != 2)
        return ig_fail(f->error, IgErrorFile,
                       "%s: tensor '%s' lacks a dtype, a shape or two data_offsets", f->name,
                       item->name);
    item->begin = offsets[0], item->end = offsets[1];
    return ig_file_shape(f->name, rank, lengths, &item->shape, f->error);
}

static bool read_metadata(File *f) {
    if (!json_enter_object(f->json)) return false;
    while (json_next_key_text(f->json, f->scratch, f->n_scratch)) {
        char *key = strdup(f->scratch);
        bool ok = key != NULL;
        if (ok && ig_dict_metadata(f->dict, key)) ok = json_fail(f->json, "it comes twice");
        ok = ok && json_string_value(f->json, f->scratch, f->n_scratch) &&
             (*key || json_fail(f->json, "an empty key")) &&
             ig_dict_set_metadata(f->dict, key, f->scratch, f->error);
        free(key);
        if (!ok) return false;
    }
    return json_ok(f->json);
}

static bool read_header(File *f) {
    bool metadata = false;
    if (!json_enter_object(f->json)) return false;
    while (json_next_key_text(f->json, f->scratch, f->n_scratch)) {
        if (!strcmp(f->scratch, "__metadata__")) {
            if (metadata) return json_fail(f->json, "it comes twice");
            metadata = true;
            if (!read_metadata(f)) return false;
            continue;
        }
        if (!*f->scratch) return json_fail(f->json, "a tensor without a name");
        if (f->n == f->capacity) {
            size_t capacity = f->capacity ? f->capacity * 2 : 16;
            Item *more = realloc(f->items, capacity * sizeof *more);
            if (!more) return ig_fail_no_memory(f->error);
            f->items = more;
            f->capacity = capacity;
        }
        Item *item = &f->items[f->n];
        *item = (Item){.name = strdup(f->scratch)};
        if (!item->name) return ig_fail_no_memory(f->error);
        f->n++;
        if (!read_item(f, item)) return false;
    }
    return json_finish(f->json);
}

static int by_place(const void *a, const void *b) {
    const Item *x = *(Item *const *)a, *y = *(Item *const *)b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

// No holes, no overlaps, nothing outside.
static bool check_places(File *f, uint64_t n_data) {
    Item **order = malloc((f->n + 1) * sizeof *order);
    if (!order) return ig_fail_no_memory(f->error);
    for (size_t i = 0; i < f->n; i++) order[i] = &f->items[i];
    qsort(order, f->n, sizeof *order, by_place);
    uint64_t at = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < f->n; i++) {
        const Item *item = order[i];
        uint64_t n = (uint64_t)ig_shape_numel(&item->shape) * item->type.n_bytes;
        if (item->end < item->begin || item->end - item->begin != n)
            ok =
                ig_fail(f->error, IgErrorFile,
                        "%s: tensor '%s' of shape %s has %llu bytes, its offsets are %llu and %llu",
                        f->name, item->name, ig_shape_text(item->shape.rank, item->shape.n),
                        (unsigned long long)n, (unsigned long long)item->begin,
                        (unsigned long long)item->end);
        else if (item->begin != at)
            ok = ig_fail(f->error, IgErrorFile,
                         "%s: tensor '%s' begins at %llu, the one before it ends at %llu", f->name,
                         item->name, (unsigned long long)item->begin, (unsigned long long)at);
        at = item->end;
    }
    free(order);
    if (!ok || at == n_data) return ok;
    return ig_fail(f->error, IgErrorFile, "%s: the tensors take %llu bytes, the file has %llu",
                   f->name, (unsigned long long)at, (unsigned long long)n_data);
}

static bool make_tensors(File *f, IgDevice *device, const unsigned char *data) {
    for (size_t i = 0; i < f->n; i++) {
        const Item *item = &f->items[i];
        if (ig_dict_get(f->dict, item->name))
            return ig_fail(f->error, IgErrorFile, "%s: tensor '%s' comes twice", f->name,
                           item->name);
        IgTensor *t = ig_file_tensor(device, f->name, &item->type, &item->shape, data + item->begin,
                                     f->error);
        bool ok = t && ig_dict_set(f->dict, item->name, t, f->error);
        ig_drop(t);
        if (!ok) return false;
    }
    return true;
}

// The length of the header, checked.
static bool read_length(const char *name, const unsigned char *bytes, size_t n_bytes, size_t *n,
                        MTLError **error) {
    uint64_t length = 0;
    if (n_bytes < 8) return ig_fail(error, IgErrorFile, "%s: it is no safetensors file", name);
    for (int i = 0; i < 8; i++) length |= (uint64_t)bytes[i] << 8 * i;
    if (length > MAX_HEADER || length > n_bytes - 8)
        return ig_fail(error, IgErrorFile,
                       "%s: it is truncated, or no safetensors file: a header of %llu bytes, and "
                       "%zu in the file",
                       name, (unsigned long long)length, n_bytes);
    *n = (size_t)length;
    return true;
}

IgDict *ig_read_safetensors(IgDevice *device, const void *bytes, size_t n_bytes, const char *name,
                            MTLError **error) {
    if (!device || (!bytes && n_bytes)) {
        ig_fail(error, device ? IgErrorArgument : IgErrorDevice, "ig_read_safetensors: no %s",
                device ? "bytes" : "device");
        return NULL;
    }
    if (!name) name = "safetensors";
    size_t n = 0;
    if (!read_length(name, bytes, n_bytes, &n, error)) return NULL;
    const unsigned char *header = (const unsigned char *)bytes + 8;
    char message[JSON_MESSAGE_BYTES] = "";
    MTLError *why = NULL;
    File f = {.name = name, .n_scratch = n + 64, .error = &why};
    f.json = malloc(sizeof *f.json);
    f.scratch = calloc(1, f.n_scratch);
    f.dict = ig_dict_new();
    bool ok = f.json && f.scratch && f.dict;
    if (!ok) ig_fail_no_memory(&why);
    if (ok) {
        json_begin(f.json, (const char *)header, n, name, message);
        ok = read_header(&f) && check_places(&f, n_bytes - 8 - n) &&
             make_tensors(&f, device, header + n);
        if (!ok && !why) ig_fail(&why, IgErrorFile, "%s", *message ? message : "out of memory");
    }
    for (size_t i = 0; i < f.n; i++) free(f.items[i].name);
    free(f.items);
    free(f.scratch);
    free(f.json);
    if (ok) return f.dict;
    ig_dict_release(f.dict);
    if (error)
        *error = why;
    else
        mtl_release(why);
    return NULL;
}

IgDict *ig_load_safetensors(IgDevice *device, const char *path, MTLError **error) {
    size_t n;
    unsigned char *file = path ? file_read(path, &n) : NULL;
    if (!file) {
        ig_fail(error, IgErrorFile, "cannot read '%s': %s", path ? path : "",
                path ? strerror(errno) : "no path");
        return NULL;
    }
    IgDict *dict = ig_read_safetensors(device, file, n, path, error);
    free(file);
    return dict;
}

// ---- Writing ----

static const char *type_name(IgType type) {
    for (int i = 0; i < N_FORMAT_TYPES; i++) {
        IgType of;
        if (ig_file_type(&types[i].type, &of) && of == type &&
            types[i].type.n_bytes == ig_type_size(type))
            return types[i].name;
    }
    return "";
}

static void write_metadata(Text *t, const IgDict *dict) {
    for (int i = 0; i < ig_dict_metadata_count(dict); i++) {
        const char *key = ig_dict_metadata_key(dict, i);
        text_add(t, i ? "," : "{\"__metadata__\":{");
        json_string(t, key);
        text_add(t, ":");
        json_string(t, ig_dict_metadata(dict, key));
    }
    text_add(t, ig_dict_metadata_count(dict) ? "}" : "{");
}

// Wide elements first: then every tensor stands at a multiple of its element's size.
static bool next_in_size(const IgDict *dict, int *i, size_t *size) {
    for (; *size; *size /= 2, *i = -1)
        while (++*i < ig_dict_count(dict))
            if (ig_type_size(ig_type(ig_dict_tensor(dict, *i))) == *size) return true;
    return false;
}

static void write_header(Text *t, const IgDict *dict) {
    write_metadata(t, dict);
    unsigned long long at = 0;
    bool any = ig_dict_metadata_count(dict) > 0;
    size_t size = 8;
    for (int i = -1; next_in_size(dict, &i, &size); any = true) {
        IgTensor *tensor = ig_dict_tensor(dict, i);
        unsigned long long n = (unsigned long long)ig_numel(tensor) * size;
        text_add(t, any ? "," : "");
        json_string(t, ig_dict_name(dict, i));
        text_printf(t, ":{\"dtype\":\"%s\",\"shape\":[", type_name(ig_type(tensor)));
        for (int k = 0; k < ig_rank(tensor); k++)
            text_printf(t, k ? ",%lld" : "%lld", (long long)ig_shape(tensor)[k]);
        text_printf(t, "],\"data_offsets\":[%llu,%llu]}", at, at + n);
        at += n;
    }
    text_add(t, "}");
    while (t->n_bytes % 8 && !t->failed) text_add(t, " ");
}

bool ig_save_safetensors(const char *path, const IgDict *dict, MTLError **error) {
    if (!path || !dict)
        return ig_fail(error, IgErrorArgument, "ig_save_safetensors: no %s",
                       path ? "dictionary" : "path");
    if (ig_dict_get(dict, "__metadata__"))
        return ig_fail(error, IgErrorArgument,
                       "ig_save_safetensors: a tensor cannot be called __metadata__");
    Text header = {0}, file = {0};
    write_header(&header, dict);
    char length[8];
    for (int i = 0; i < 8; i++) length[i] = (char)(header.n_bytes >> 8 * i);
    text_add_bytes(&file, length, 8);
    if (!header.failed) text_add_bytes(&file, header.data, header.n_bytes);
    bool ok = !header.failed || ig_fail_no_memory(error);
    if (ok && header.n_bytes > MAX_HEADER)
        ok = ig_fail(error, IgErrorFile, "ig_save_safetensors: a header of %zu bytes is too long",
                     header.n_bytes);
    size_t size = 8;
    for (int i = -1; ok && next_in_size(dict, &i, &size);) {
        size_t n;
        unsigned char *bytes = ig_file_bytes(ig_dict_tensor(dict, i), &n, error);
        ok = bytes != NULL;
        if (ok) text_add_bytes(&file, (const char *)bytes, n);
        free(bytes);
    }
    if (ok && file.failed) ok = ig_fail_no_memory(error);
    if (ok && !file_write_atomic(path, file.data, file.n_bytes, false))
        ok = ig_fail(error, IgErrorFile, "cannot write '%s': %s", path, strerror(errno));
    text_free(&header);
    text_free(&file);
    return ok;
}
