// SPDX-License-Identifier: Apache-2.0
// archive.c: binary archives. What opens must be readable whole, and be the same when it is written
// and opened again. Whether it is trusted is not asked: that is for the seal (base/seal.h).
#include "abi/archive.h"
#include "fuzz.h"

static void read_archive(Blob *bytes) {
    const char *why = NULL;
    Archive *a = bytes ? archive_open(bytes, &why) : NULL;
    if (a) {
        ArchiveOrigin origin = archive_origin(a);
        fuzz_text(origin.compiler_id);
        fuzz_text(origin.machine_name);
        for (size_t i = 0; i < archive_count(a); i++) {
            const ArchiveEntry *e = archive_entry(a, i);
            fuzz_text(e->function);
            fuzz_text(e->library);
            fuzz_text(e->note);
            Blob *code = archive_find(a, e->key);
            if (code) fuzz_keep(fuzz_touch(code->data, code->n_bytes));
            blob_release(code);
        }
        Blob *again = archive_encode(a, &origin);
        Archive *second = again ? archive_open(again, &why) : NULL;
        if (again && (!second || archive_count(second) != archive_count(a))) abort();
        archive_release(second);
        blob_release(again);
        archive_release(a);
    } else if (bytes && !why) {
        abort();
    }
    blob_release(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    read_archive(blob_copy(data, n));
    read_archive(fuzz_container(data, n, true));
    return 0;
}
