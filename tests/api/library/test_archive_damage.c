// SPDX-License-Identifier: Apache-2.0
// test_archive_damage.c: archives and metallibs with one byte flipped, cut short, from another
// compiler, another machine or somebody else: an error or the right result, never a crash.
#include <sys/stat.h>
#include "archive.h"
#include "abi/archive.h"
#include "abi/compiler_id.h"

enum { SEAL_AT = 12 + SHA256_BYTES, HEADER = SEAL_AT + SHA256_BYTES };

static unsigned char *archive_file, *library_file;
static size_t archive_bytes, library_bytes;
static MTLFunction *function;

static int make_files(void **state) {
    if (make_folder(state)) return -1;
    MTLLibrary *library = compile("#include <metal_stdlib>\n"
                                  "kernel void scale(device float *x [[buffer(0)]],\n"
                                  "    uint i [[thread_position_in_grid]]) { x[i] *= 2; }\n");
    function = mtl_library_new_function(library, "scale");
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, NULL);
    mtl_binary_archive_add_compute_pipeline_functions(
        archive, &(MTLComputePipelineDescriptor){.compute_function = function}, NULL);
    mtl_binary_archive_serialize_to_url(archive, in_folder("good"), NULL);
    archive_file = read_file(in_folder("good"), &archive_bytes);
    void *data = mtl_library_copy_data(library, &library_bytes);
    library_file = malloc(library_bytes);
    memcpy(library_file, data, library_bytes);
    mtl_free_data(data);
    mtl_release(archive), mtl_release(library);
    return 0;
}

static int drop_files(void **state) {
    free(archive_file), free(library_file);
    mtl_release(function);
    return remove_folder(state);
}

// The bytes as an archive's file: refused with an error that names call and file, or right.
static bool accepted(const void *data, size_t n) {
    const char *path = in_folder("bad");
    write_file(path, data, n);
    MTLError *error = NULL;
    MTLBinaryArchive *archive =
        mtl_device_new_binary_archive(device, &(MTLBinaryArchiveDescriptor){.url = path}, &error);
    if (!archive) {
        assert_int_equal(mtl_error_code(error), MTLBinaryArchiveErrorInvalidFile);
        assert_non_null(strstr(mtl_error_localized_description(error), path));
        assert_non_null(
            strstr(mtl_error_localized_description(error), "mtl_device_new_binary_archive"));
        mtl_release(error);
        return false;
    }
    MTLComputePipelineState *s =
        from_archive(function, archive, MTLPipelineOptionFailOnBinaryArchiveMiss, NULL);
    if (s) check_scale(s, 64, 2);
    mtl_release(s);
    mtl_release(archive);
    return true;
}

// All of them in memory; in files (slower) the header and some of the rest.
static void every_byte_of_an_archive(void **state) {
    (void)state;
    assert_true(accepted(archive_file, archive_bytes));
    for (size_t i = 0; i < archive_bytes; i++) {
        archive_file[i] ^= (unsigned char)(1u << i % 8);
        const char *why = NULL;
        Blob *bytes = blob_copy(archive_file, archive_bytes);
        Archive *content = archive_open(bytes, &why);
        bool in_seal = i >= SEAL_AT && i < HEADER; // known to be wrong when it is trusted, or not
        bool bad = (in_seal || (!content && why)) &&
                   ((i > 128 && i % 64) || !accepted(archive_file, archive_bytes));
        if (!bad) fail_msg("byte %zu is not protected", i);
        archive_release(content);
        blob_release(bytes);
        archive_file[i] ^= (unsigned char)(1u << i % 8);
    }
}

static void an_archive_cut_short(void **state) {
    (void)state;
    for (size_t n = 1; n < archive_bytes; n += n < 60 ? 1 : 197)
        if (accepted(archive_file, n)) fail_msg("%zu bytes of %zu were accepted", n, archive_bytes);
    unsigned char *longer = malloc(archive_bytes + 1);
    memcpy(longer, archive_file, archive_bytes);
    longer[archive_bytes] = 0;
    assert_false(accepted(longer, archive_bytes + 1));
    free(longer);
}

static void every_byte_of_a_metallib(void **state) {
    (void)state;
    for (size_t i = 0; i < library_bytes; i++) {
        MTLError *error = NULL;
        library_file[i] ^= (unsigned char)(1u << i % 8);
        MTLLibrary *library =
            mtl_device_new_library_with_data(device, library_file, library_bytes, &error);
        library_file[i] ^= (unsigned char)(1u << i % 8);
        if (library) fail_msg("byte %zu is not protected", i);
        assert_string_equal(mtl_error_domain(error), MTLLibraryErrorDomain);
        mtl_release(error);
    }
    for (size_t n = 0; n < library_bytes; n += n < 200 ? 1 : 97)
        assert_null(mtl_device_new_library_with_data(device, library_file, n, NULL));
    MTLLibrary *library =
        mtl_device_new_library_with_data(device, library_file, library_bytes, NULL);
    assert_non_null(library);
    mtl_release(library);
}

static void a_file_that_is_no_metallib(void **state) {
    (void)state;
    MTLError *error = NULL;
    const char *path = in_folder("no.metallib");
    write_file(path, "MTLB and then something else", 28);
    assert_null(mtl_device_new_library_with_url(device, path, &error));
    assert_int_equal(mtl_error_code(error), MTLLibraryErrorUnsupported);
    if (!strstr(mtl_error_localized_description(error), path))
        fail_msg("the file is not named: %s", mtl_error_localized_description(error));
    mtl_release(error);
    write_file(path, "", 0);
    assert_null(mtl_device_new_library_with_url(device, path, NULL));
    assert_null(mtl_device_new_library_with_url(device, in_folder("missing"), &error));
    assert_int_equal(mtl_error_code(error), MTLLibraryErrorFileNotFound);
    mtl_release(error);
    assert_null(mtl_device_new_library_with_url(device, folder, NULL));
}

static Blob *sealed(Archive *content, const ArchiveOrigin *origin) {
    Blob *bytes = archive_encode(content, origin);
    assert_non_null(bytes);
    assert_true(archive_seal(bytes, NULL, NULL, 0));
    return bytes;
}

// Why the file does not open, with a key or without; "": it opens.
static const char *refusal(const char *path, const void *key, size_t n_key) {
    static char text[1024];
    MTLError *error = NULL;
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(
        device,
        &(MTLBinaryArchiveDescriptor){.url = path, .trusted_key = key, .trusted_key_bytes = n_key},
        &error);
    snprintf(text, sizeof text, "%s", archive ? "" : mtl_error_localized_description(error));
    mtl_release(archive), mtl_release(error);
    return text;
}

// Whole, for this compiler and machine, but somebody else's: its code never runs.
static void of_a_stranger(void **state) {
    (void)state;
    static const char theirs[] = "a secret of theirs", other[] = "another one, of mine";
    const char *why;
    Blob *bytes = blob_copy(archive_file, archive_bytes);
    Archive *content = archive_open(bytes, &why);
    ArchiveOrigin origin = archive_origin(content);
    Blob *bare = archive_encode(content, &origin);
    assert_false(accepted(bare->data, bare->n_bytes));
    assert_true(archive_seal(bare, &(SealKey){theirs, sizeof theirs}, NULL, 0));
    assert_false(accepted(bare->data, bare->n_bytes));
    const char *path = in_folder("bad");
    assert_non_null(strstr(refusal(path, NULL, 0), "trusted"));
    assert_non_null(strstr(refusal(path, other, sizeof other), "trusted"));
    assert_non_null(strstr(refusal(path, theirs, 8), "8 bytes"));
    assert_string_equal(refusal(path, theirs, sizeof theirs), "");
    // Their key in a file: ours to name, and ours alone to read.
    char key[200];
    snprintf(key, sizeof key, "%s", in_folder("key"));
    write_file(key, theirs, sizeof theirs);
    assert_int_equal(setenv("INGOT_KEYS", key, 1), 0);
    assert_int_equal(chmod(key, 0644), 0);
    assert_non_null(strstr(refusal(in_folder("bad"), NULL, 0), "trusted"));
    assert_int_equal(chmod(key, 0600), 0);
    assert_string_equal(refusal(in_folder("bad"), NULL, 0), "");
    assert_string_equal(refusal(in_folder("good"), NULL, 0), ""); // the user's own still counts
    unsetenv("INGOT_KEYS");
    assert_non_null(strstr(refusal(in_folder("bad"), NULL, 0), "trusted"));
    blob_release(bare), archive_release(content), blob_release(bytes);
}

// A whole, undamaged archive that says it comes from elsewhere.
static void of_another_compiler_or_machine(void **state) {
    (void)state;
    const char *why;
    Blob *bytes = blob_copy(archive_file, archive_bytes);
    Archive *content = archive_open(bytes, &why);
    assert_non_null(content);
    ArchiveOrigin origin = archive_origin(content);
    Blob *same = sealed(content, &origin);
    assert_int_equal(same->n_bytes, archive_bytes);
    assert_memory_equal(same->data, archive_file, archive_bytes);
    assert_true(accepted(same->data, same->n_bytes));
    origin.compiler_id = "0123456789abcdef";
    Blob *older = sealed(content, &origin);
    assert_false(accepted(older->data, older->n_bytes));
    origin.compiler_id = compiler_id();
    origin.machine[5] ^= 1;
    origin.machine_name = "a machine with AVX-512";
    Blob *elsewhere = sealed(content, &origin);
    assert_false(accepted(elsewhere->data, elsewhere->n_bytes));
    blob_release(elsewhere), blob_release(older), blob_release(same);
    archive_release(content);
    blob_release(bytes);
}

// Code for a CPU with more than this one, as far as the archive can tell: never run.
static void for_another_cpu(void **state) {
    (void)state;
    char path[160];
    snprintf(path, sizeof path, "%s", in_folder("v3"));
    MTLError *error = NULL;
    assert_int_equal(setenv("INGOT_CPU", "x86-64-v3", 1), 0);
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, NULL);
    bool added = mtl_binary_archive_add_compute_pipeline_functions(
        archive, &(MTLComputePipelineDescriptor){.compute_function = function}, &error);
    bool saved = added && mtl_binary_archive_serialize_to_url(archive, path, &error);
    mtl_release(archive);
    archive = saved ? open_archive(path) : NULL; // as long as that is the CPU asked for
    unsetenv("INGOT_CPU");
    if (!saved) leave_out_if_lacking(error);
    if (!saved) fail_msg("%s", mtl_error_localized_description(error));
    // Now this machine is the CPU: what is in the archive is for another.
    assert_null(from_archive(function, archive, MTLPipelineOptionFailOnBinaryArchiveMiss, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "'scale'"));
    mtl_release(error), mtl_release(archive);
    assert_null(
        mtl_device_new_binary_archive(device, &(MTLBinaryArchiveDescriptor){.url = path}, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "another machine"));
    mtl_release(error);
}

// Parts that lie about their size, under a checksum that is right.
static void a_lie_with_a_checksum(void **state) {
    (void)state;
    unsigned char *copy = malloc(archive_bytes);
    for (size_t i = HEADER; i < archive_bytes; i += i < HEADER + 400 ? 1 : 61) {
        for (int k = 0; k < 2; k++) {
            memcpy(copy, archive_file, archive_bytes);
            copy[i] ^= k ? 0xff : 1;
            sha256(copy + HEADER, archive_bytes - HEADER, copy + 12);
            const char *why;
            Blob *bytes = blob_copy(copy, archive_bytes);
            Archive *content = archive_open(bytes, &why);
            assert_true(content || why);
            archive_release(content);
            blob_release(bytes);
        }
    }
    free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_of_an_archive),
        cmocka_unit_test(an_archive_cut_short),
        cmocka_unit_test(every_byte_of_a_metallib),
        cmocka_unit_test(a_file_that_is_no_metallib),
        cmocka_unit_test(of_a_stranger),
        cmocka_unit_test(of_another_compiler_or_machine),
        cmocka_unit_test(for_another_cpu),
        cmocka_unit_test(a_lie_with_a_checksum),
    };
    return cmocka_run_group_tests_name("archive_damage", tests, make_files, drop_files);
}
