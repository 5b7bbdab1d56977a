// SPDX-License-Identifier: Apache-2.0
// files_safetensors.c: safetensors files as dictionaries of tensors. Headers are read by
// base/safetensors.c.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "base/json.h"
#include "base/safetensors.h"
#include "tensor/files.h"

_Static_assert((int)SAFETENSORS_RANK == (int)IG_MAX_RANK, "the same axes");

// ---- Reading ----

static bool add_tensor(IgDict *dict, IgDevice *device, const char *name, const SafeTensors *s,
                       const SafeTensor *item, MTLError **error) {
    const IgFileType type = {item->kind, item->n_bytes, false};
    IgShape shape = {.rank = (int)item->rank};
    memcpy(shape.n, item->shape, item->rank * sizeof *shape.n);
    if (!item->kind)
        return ig_fail(error, IgErrorFile,
                       "%s: tensor '%s' is of type '%s', which tensors do not have", name,
                       item->name, item->dtype);
    IgTensor *t = ig_file_tensor(device, name, &type, &shape, s->data + item->begin, error);
    bool ok = t && ig_dict_set(dict, item->name, t, error);
    ig_drop(t);
    return ok;
}

IgDict *ig_read_safetensors(IgDevice *device, const void *bytes, size_t n_bytes, const char *name,
                            MTLError **error) {
    if (!ig_file_given("ig_read_safetensors", device, bytes, n_bytes, error)) return NULL;
    if (!name) name = "safetensors";
    char message[JSON_MESSAGE_BYTES];
    SafeTensors s;
    if (!safetensors_read(&s, bytes, n_bytes, name, message)) {
        if (*message)
            ig_fail(error, IgErrorFile, "%s", message);
        else
            ig_fail_no_memory(error);
        return NULL;
    }
    IgDict *dict = ig_dict_new();
    bool ok = dict || ig_fail_no_memory(error);
    for (size_t i = 0; ok && i < s.n_metadata; i += 2)
        ok = ig_dict_set_metadata(dict, s.metadata[i], s.metadata[i + 1], error);
    for (size_t i = 0; ok && i < s.n; i++)
        ok = add_tensor(dict, device, name, &s, &s.items[i], error);
    safetensors_free(&s);
    if (ok) return dict;
    ig_dict_release(dict);
    return NULL;
}

IgDict *ig_load_safetensors(IgDevice *device, const char *path, MTLError **error) {
    size_t n;
    unsigned char *file = ig_file_load(path, &n, error);
    if (!file) return NULL;
    IgDict *dict = ig_read_safetensors(device, file, n, path, error);
    free(file);
    return dict;
}

// ---- Writing ----

static const char *type_name(IgType type) {
    static const char kinds[IG_N_TYPES] = {[IgFloat16] = 'f', [IgFloat32] = 'f', [IgBFloat16] = 'B',
                                           [IgInt8] = 'i',    [IgInt32] = 'i',   [IgInt64] = 'i',
                                           [IgBool] = 'b',    [IgUInt8] = 'u',   [IgInt16] = 'i'};
    return safetensors_dtype(kinds[type], ig_type_size(type));
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
    if (ok && header.n_bytes > SAFETENSORS_MAX_HEADER)
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
