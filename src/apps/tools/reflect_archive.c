// SPDX-License-Identifier: Apache-2.0
// reflect_archive.c: `ingot reflect` of a binary archive: where it was made and what it holds.
#include "abi/archive.h"
#include "abi/compiler_id.h"
#include "base/files.h"
#include "base/json.h"
#include "apps/tools/reflect_archive.h"
#include "apps/tools/tools.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool is_archive_file(const char *path) {
    unsigned char head[8];
    FILE *f = strcmp(path, "-") ? fopen(path, "rb") : NULL;
    size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f) fclose(f);
    return archive_recognised(head, n);
}

static void print_text(Archive *a) {
    ArchiveOrigin origin = archive_origin(a);
    bool here = !strcmp(origin.compiler_id, compiler_id());
    show_line("binary archive of %zu, made on %s by %s compiler (%.12s)", archive_count(a),
              origin.machine_name, here ? "this" : "another", origin.compiler_id);
    for (size_t i = 0; i < archive_count(a); i++) {
        const ArchiveEntry *e = archive_entry(a, i);
        char shape[48] = "any threadgroup";
        if (e->shape[0])
            snprintf(shape, sizeof shape, "%u x %u x %u", e->shape[0], e->shape[1], e->shape[2]);
        show_line("  %-24s %-16s %8zu bytes  %s%s%s", e->function, shape, e->code_bytes, e->library,
                  *e->note ? "  " : "", e->note);
    }
}

static bool print_json(Archive *a) {
    ArchiveOrigin origin = archive_origin(a);
    Text t = {0};
    text_add(&t, "{\n  \"compiler\": ");
    json_string(&t, origin.compiler_id);
    text_add(&t, ", \"machine\": ");
    json_string(&t, origin.machine_name);
    text_add(&t, ",\n  \"entries\": [");
    for (size_t i = 0; i < archive_count(a); i++) {
        const ArchiveEntry *e = archive_entry(a, i);
        text_add(&t, i ? ",\n    {\"function\": " : "\n    {\"function\": ");
        json_string(&t, e->function);
        text_add(&t, ", \"library\": ");
        json_string(&t, e->library);
        text_printf(&t, ", \"threadgroup\": [%u, %u, %u], \"bytes\": %zu, \"note\": ", e->shape[0],
                    e->shape[1], e->shape[2], e->code_bytes);
        json_string(&t, e->note);
        text_add(&t, "}");
    }
    text_add(&t, "\n  ]\n}\n");
    bool ok = !t.failed;
    if (ok) fputs(t.data, stdout);
    text_free(&t);
    return ok;
}

int reflect_archive(const char *path, bool json) {
    size_t n;
    unsigned char *data = file_read(path, &n);
    Blob *bytes = data ? blob_take(data, n) : NULL;
    const char *why = "out of memory";
    Archive *a = bytes ? archive_open(bytes, &why) : NULL;
    bool ok = a != NULL;
    if (!a)
        complain(EXIT_INPUT, "reflect", "'%s' cannot be listed: %s", path, why);
    else if (json)
        ok = print_json(a);
    else
        print_text(a);
    archive_release(a);
    blob_release(bytes);
    return ok ? EXIT_FINE : EXIT_INPUT;
}
