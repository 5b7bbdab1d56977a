// SPDX-License-Identifier: Apache-2.0
// test_files.c: safetensors and .npy: what is written is read back, files of others are read, and
// files that lie give an error that says where, whatever byte is wrong.
#include <sys/stat.h>
#include <unistd.h>
#include "ingot/tensor_files.h"
#include "tensor_test.h"

static char folder[] = "/tmp/ingot_files_XXXXXX", path[64];

static int make_folder(void **state) {
    if (set_up(state) || !mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}
static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder); // fails if a temporary file is left
}

enum { N_TYPES = 9 };
static const IgType all_types[N_TYPES] = {IgFloat16, IgFloat32, IgBFloat16, IgInt8, IgInt32,
                                          IgInt64,   IgBool,    IgUInt8,    IgInt16};

static void same_bits(IgTensor *a, IgTensor *b) {
    assert_non_null(a);
    assert_int_equal(ig_type(a), ig_type(b));
    assert_int_equal(ig_rank(a), ig_rank(b));
    for (int i = 0; i < ig_rank(a); i++) assert_int_equal(ig_shape(a)[i], ig_shape(b)[i]);
    unsigned char x[4096], y[4096];
    size_t n = (size_t)ig_numel(a) * ig_type_size(ig_type(a));
    assert_true(n <= sizeof x);
    CHECK(ig_read(a, x, n, &error));
    CHECK(ig_read(b, y, n, &error));
    assert_memory_equal(x, y, n);
}

static IgTensor *sample(IgType type, int rank, const int64_t *shape, uint64_t seed) {
    IgTensor *t = ig_uniform(device, IgFloat32, rank, shape, -9, 9, seed, &error);
    t = ig_cast(t, type, &error);
    CHECK(t);
    return t;
}

// ---- safetensors ----

static IgDict *sample_dict(void) {
    IgDict *dict = ig_dict_new();
    for (int i = 0; i < N_TYPES; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer.%d.weight", i);
        CHECK(ig_dict_set(dict, name, sample(all_types[i], SHAPE(3, 5), (uint64_t)i), &error));
    }
    CHECK(ig_dict_set(dict, "scalar", sample(IgFloat32, 0, NULL, 8), &error));
    CHECK(ig_dict_set(dict, "empty", sample(IgInt64, SHAPE(0, 4), 9), &error));
    IgTensor *turned = ig_transpose(sample(IgFloat32, SHAPE(4, 6), 10), 0, 1, &error);
    CHECK(ig_dict_set(dict, "a view, \"quoted\" \\ \xc3\xa9\xf0\x9f\x98\x80", turned, &error));
    CHECK(ig_dict_set_metadata(dict, "format", "pt", &error));
    CHECK(ig_dict_set_metadata(dict, "note", "two\nlines", &error));
    return dict;
}

static void a_dictionary_keeps_order_and_replaces(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgDict *dict = ig_dict_new();
    IgTensor *one = sample(IgFloat32, SHAPE(1), 1), *two = sample(IgFloat32, SHAPE(2), 2);
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        CHECK(ig_dict_set(dict, name, one, &error));
    }
    CHECK(ig_dict_set(dict, "t7", two, &error));
    assert_int_equal(ig_dict_count(dict), 200);
    assert_string_equal(ig_dict_name(dict, 7), "t7");
    assert_ptr_equal(ig_dict_tensor(dict, 7), two);
    assert_true(ig_dict_remove(dict, "t7") && !ig_dict_remove(dict, "t7"));
    assert_int_equal(ig_dict_count(dict), 199);
    assert_null(ig_dict_get(dict, "t7"));
    assert_ptr_equal(ig_dict_get(dict, "t199"), one);
    assert_null(ig_dict_name(dict, 199));
    assert_null(ig_dict_tensor(dict, -1));
    FAILS(ig_dict_set(dict, "", one, &error), IgErrorArgument, "empty name");
    FAILS(ig_dict_set(NULL, "x", one, &error), IgErrorArgument, "no dictionary");
    assert_false(ig_dict_set(dict, "x", NULL, &error));
    assert_int_equal(ig_dict_count(NULL), 0);
    assert_null(ig_dict_get(NULL, "x"));
    ig_dict_release(ig_dict_retain(dict));
    ig_dict_release(dict);
    ig_dict_release(NULL);
    ig_scope_end(scope);
}

static void safetensors_come_back(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgDict *dict = sample_dict();
    CHECK(ig_save_safetensors(path, dict, &error));
    IgDict *back = ig_load_safetensors(device, path, &error);
    CHECK(back);
    assert_int_equal(ig_dict_count(back), ig_dict_count(dict));
    for (int i = 0; i < ig_dict_count(dict); i++)
        same_bits(ig_dict_get(back, ig_dict_name(dict, i)), ig_dict_tensor(dict, i));
    assert_int_equal(ig_dict_metadata_count(back), 2);
    assert_string_equal(ig_dict_metadata(back, "format"), "pt");
    assert_string_equal(ig_dict_metadata(back, "note"), "two\nlines");
    // Over an existing file, and nothing at all.
    ig_dict_release(back);
    IgDict *none = ig_dict_new();
    CHECK(ig_save_safetensors(path, none, &error));
    back = ig_load_safetensors(device, path, &error);
    CHECK(back);
    assert_int_equal(ig_dict_count(back), 0);
    ig_dict_release(none);
    ig_dict_release(back);
    ig_dict_release(dict);
    ig_scope_end(scope);
}

// A file by hand: a header, and so many bytes 0, 1, 2, ...
static IgDict *read_text(const char *header, size_t n_data) {
    unsigned char file[4096] = {0};
    size_t n = strlen(header);
    assert_true(8 + n + n_data <= sizeof file);
    file[0] = (unsigned char)n, file[1] = (unsigned char)(n >> 8);
    memcpy(file + 8, header, n);
    for (size_t i = 0; i < n_data; i++) file[8 + n + i] = (unsigned char)i;
    return ig_read_safetensors(device, file, 8 + n + n_data, "f", &error);
}

static void files_of_others(void **state) {
    (void)state;
    // Offsets in another order than names, spaces behind, an escape, and types tensors lack.
    IgDict *dict =
        read_text("{\"b\\u00e9\":{\"shape\":[2],\"dtype\":\"U8\",\"data_offsets\":[2,4]},"
                  "\"a\":{\"dtype\":\"I16\",\"shape\":[1],\"data_offsets\":[0,2]},"
                  "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[4,12]},"
                  "\"u\":{\"dtype\":\"U32\",\"shape\":[],\"data_offsets\":[12,16]}}    ",
                  16);
    CHECK(dict);
    CLOSE(ig_dict_get(dict, "b\xc3\xa9"), 0, 2, 3);
    CLOSE(ig_dict_get(dict, "a"), 0, 256);
    CLOSE(ig_dict_get(dict, "u"), 0, 252579088.0f); // 0x0f0e0d0c as float
    assert_int_equal(ig_type(ig_dict_get(dict, "a")), IgInt16);
    assert_int_equal(ig_type(ig_dict_get(dict, "d")), IgFloat32);
    assert_int_equal(ig_type(ig_dict_get(dict, "u")), IgInt64);
    ig_dict_release(dict);
}

#define T(TYPE, SHAPE_TEXT, FROM, TO)                                                              \
    "{\"dtype\":\"" TYPE "\",\"shape\":" SHAPE_TEXT ",\"data_offsets\":[" #FROM "," #TO "]}"
static const struct {
    const char *header;
    size_t n_data;
    const char *says;
} lies[] = {
    {"{\"a\":" T("F32", "[2]", 0, 4) "}", 4, "has 8 bytes, its offsets are 0 and 4"},
    {"{\"a\":" T("F32", "[2]", 0, 8) "}", 4, "the tensors take 8 bytes, the file has 4"},
    {"{\"a\":" T("F32", "[1]", 0, 4) "}", 8, "the tensors take 4 bytes, the file has 8"},
    {"{\"a\":" T("F32", "[1]", 4, 8) "}", 8, "begins at 4"},
    {"{\"a\":" T("F32", "[1]", 0, 4) ",\"b\":" T("F32", "[1]", 0, 4) "}", 4, "begins at 0"},
    {"{\"a\":" T("F32", "[1]", 0, 4) ",\"b\":" T("F32", "[1]", 8, 12) "}", 12, "begins at 8"},
    {"{\"a\":" T("F32", "[1]", 4, 0) "}", 4, "its offsets are 4 and 0"},
    {"{\"a\":" T("F32", "[4294967296,4294967296]", 0, 4) "}", 4, "too large"},
    {"{\"a\":" T("F32", "[65536,65536]", 0, 4) "}", 4, "too large"},
    {"{\"a\":" T("F32", "[0,9007199254740992]", 0, 0) "}", 0, "too large"},
    {"{\"a\":" T("F32", "[-1]", 0, 4) "}", 4, "whole number"},
    {"{\"a\":" T("F32", "[1.5]", 0, 4) "}", 4, "whole number"},
    {"{\"a\":" T("F32", "[1,1,1,1,1,1,1,1,1]", 0, 4) "}", 4, "more than 8 numbers"},
    {"{\"a\":" T("F8_E4M3", "[4]", 0, 4) "}", 4, "type 'F8_E4M3'"},
    {"{\"a\":" T("F32", "[1]", 0, 4) ",\"a\":" T("F32", "[1]", 4, 8) "}", 8, "'a' comes twice"},
    {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4,
     "twice"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "lacks"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "lacks"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1}}", 4, "unknown key"},
    {"{\"\":" T("F32", "[1]", 0, 4) "}", 4, "without a name"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "expected a string"},
    {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, "twice"},
    {"[]", 0, "expected an object"},
    {"{\"a\":", 0, "f: "},
    {"{} x", 0, "more after the end"},
    {"", 0, "f: "},
};

static void lies_are_found(void **state) {
    (void)state;
    uint64_t live = ig_pool_statistics(ig_device_pool(device)).live_memory;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        FAILS(read_text(lies[i].header, lies[i].n_data), IgErrorFile, lies[i].says);
    FAILS(ig_read_safetensors(device, "\x08\0\0\0\0\0\0", 7, NULL, &error), IgErrorFile,
          "no safetensors file");
    FAILS(ig_read_safetensors(device, "\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10, "f", &error),
          IgErrorFile, "a header of 9223372036854775807 bytes");
    FAILS(ig_load_safetensors(device, "/nowhere/at/all", &error), IgErrorFile, "cannot read");
    FAILS(ig_load_npy(device, "/nowhere/at/all", &error), IgErrorFile, "cannot read");
    FAILS(ig_load_safetensors(NULL, "/dev/null", &error), IgErrorDevice, "no device");
    assert_int_equal(ig_pool_statistics(ig_device_pool(device)).live_memory, live);
}

// ---- .npy ----

static void npy_comes_back(void **state) {
    (void)state;
    static const int64_t shapes[4][3] = {{0}, {5}, {2, 3}, {2, 3, 4}};
    for (int t = 0; t < N_TYPES; t++)
        for (int rank = 0; rank < 4; rank++) {
            IgScope *scope = ig_scope_begin();
            IgTensor *x = sample(all_types[t], rank, shapes[rank], 3);
            if (rank == 2) x = ig_transpose(x, 0, 1, &error);
            CHECK(ig_save_npy(path, x, &error));
            IgTensor *back = ig_load_npy(device, path, &error);
            CHECK(back);
            same_bits(back, all_types[t] == IgBFloat16 ? ig_cast(x, IgFloat32, &error) : x);
            ig_scope_end(scope);
        }
}

static IgTensor *read_npy(int version, const char *dictionary, const void *data, size_t n_data) {
    unsigned char file[1024] = "\x93NUMPY";
    size_t n = strlen(dictionary), at = version == 1 ? 10 : 12;
    assert_true(at + n + n_data <= sizeof file);
    file[6] = (unsigned char)version;
    file[8] = (unsigned char)n, file[9] = (unsigned char)(n >> 8);
    memcpy(file + at, dictionary, n);
    memcpy(file + at + n, data, n_data);
    return ig_read_npy(device, file, at + n + n_data, "f.npy", &error);
}

static void npy_of_others(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    const float six[6] = {1, 2, 3, 4, 5, 6};
    IgTensor *t =
        read_npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }     \n", six, 24);
    CHECK(t);
    assert_int_equal(ig_dim(t, 0), 2);
    CLOSE(t, 0, 1, 3, 5, 2, 4, 6);
    t = read_npy(2, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
                 (double[]){0.5, -1e300}, 16);
    assert_int_equal(ig_type(t), IgFloat32);
    CLOSE(t, 0, 0.5f, -INFINITY);
    t = read_npy(3, "{\"shape\":(2,),\"descr\":\">i2\",\"fortran_order\":False}",
                 "\xff\xfe\x01\x02", 4);
    assert_int_equal(ig_type(t), IgInt16);
    CLOSE(t, 0, -2, 258);
    t = read_npy(1, "{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "\x40\x49\x0f\xdb", 4);
    CLOSE(t, 1e-7, 3.14159265f);
    t = read_npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", "\0\x07\x01", 3);
    assert_int_equal(ig_type(t), IgBool);
    CLOSE(t, 0, 0, 1, 1);
    t = read_npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", "\xff", 1);
    CLOSE(t, 0, 255);
    t = read_npy(1, "{'descr': '<u4', 'fortran_order': False, 'shape': (1,)}", "\0\0\0\x80", 4);
    CLOSE(t, 0, 2147483648.0f);
    t = read_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0, 2)}", "", 0);
    CHECK(t);
    assert_int_equal(ig_numel(t), 0);
    ig_scope_end(scope);
}

static void npy_lies_are_found(void **state) {
    (void)state;
    static const struct {
        const char *dictionary, *says;
    } wrong[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (7,)}",
         "needs 28 bytes, the file has 24"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296)}", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4611686018427387904)}",
         "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "9 axes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "invalid shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 4}", "invalid shape"},
        {"{'descr': '<f4', 'fortran_order': None, 'shape': (4,)}", "neither True nor False"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "'<c8'"},
        {"{'descr': '|O8', 'fortran_order': False, 'shape': (1,)}", "'|O8'"},
        {"{'descr': 'bfloat16', 'fortran_order': False, 'shape': (1,)}", "'bfloat16'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "records"},
        {"{'descr': '<f4', 'shape': (1,)}", "no 'fortran_order'"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "twice"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "unknown key"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "goes on"},
        {"", "not a dictionary"},
    };
    float six[6] = {0};
    IgScope *scope = ig_scope_begin();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        FAILS(read_npy(1, wrong[i].dictionary, six, 24), IgErrorFile, wrong[i].says);
    FAILS(read_npy(1, "{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}",
                   "\0\0\0\0\0\0\0\x80", 8),
          IgErrorFile, "element 0 is 9223372036854775808");
    FAILS(read_npy(9, "{}", "", 0), IgErrorFile, "version 9");
    FAILS(ig_read_npy(device, "PK", 2, NULL, &error), IgErrorFile, "not an .npy file");
    FAILS(ig_save_npy("/nowhere/at/all", sample(IgFloat32, 0, NULL, 1), &error), IgErrorFile,
          "cannot write");
    assert_false(ig_save_npy(path, NULL, &error));
    assert_null(error);
    ig_scope_end(scope);
}

// ---- Mutants ----

static uint64_t seed = 1;
static unsigned dice(unsigned n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static unsigned char *read_whole(size_t *n) {
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    *n = (size_t)ftell(in);
    rewind(in);
    unsigned char *bytes = malloc(*n);
    assert_int_equal(fread(bytes, 1, *n, in), *n);
    fclose(in);
    return bytes;
}

// A copy in a block of exactly its size, so that a read behind it shows under a checker.
static unsigned char *mutate(bool npy, const unsigned char *file, size_t n_file, size_t n_header,
                             size_t *n) {
    static const char *const words[] = {
        "9", "99999999999999999999", "-1",  "0",   "[",    "]",  "{", "}", "\"",
        ",", "4294967296",           "F64", "<f8", "True", "e9", "\\"};
    const char *word = words[dice(sizeof words / sizeof *words)];
    size_t n_word = strlen(word), at = dice((unsigned)n_header);
    *n = n_file;
    unsigned kind = dice(5);
    if (kind == 0) *n = dice((unsigned)n_file);      // cut
    if (kind == 1) *n = n_file + n_word;             // a word put in
    if (kind == 2 && at + n_word > n_file) kind = 3; // a word over others
    unsigned char *copy = malloc(*n ? *n : 1);
    assert_non_null(copy);
    memcpy(copy, file, *n < n_file ? *n : n_file);
    if (kind == 1) {
        memcpy(copy + at + n_word, file + at, n_file - at);
        memcpy(copy + at, word, n_word);
        if (dice(2) && at >= 10) { // half of the time the header's length is right again
            unsigned place = npy ? 8 : 0, length = copy[place] | (unsigned)copy[place + 1] << 8;
            length += (unsigned)n_word;
            copy[place] = (unsigned char)length;
            copy[place + 1] = (unsigned char)(length >> 8);
        }
    }
    if (kind == 2) memcpy(copy + at, word, n_word);
    for (unsigned i = 0; kind >= 3 && i <= dice(3); i++)
        copy[dice((unsigned)n_header)] = (unsigned char)dice(256);
    return copy;
}

// Whatever a mutant gives, no memory beyond its own size is asked for and none is left.
static void survive(bool npy, int n_mutants) {
    IgPool *pool = ig_device_pool(device);
    size_t n_file;
    unsigned char *file = read_whole(&n_file);
    size_t n_header = npy ? 128 : 8 + (file[0] | (size_t)file[1] << 8);
    uint64_t live = ig_pool_statistics(pool).live_memory;
    ig_pool_clear(pool);
    ig_pool_set_memory_limit(pool, live + 65536 + 16 * n_file);
    int read = 0, refused = 0;
    for (int i = 0; i < n_mutants; i++) {
        size_t n;
        unsigned char *bytes = mutate(npy, file, n_file, n_header, &n);
        IgDict *dict = NULL;
        IgTensor *t = NULL;
        if (npy)
            t = ig_read_npy(device, bytes, n, "mutant", &error);
        else
            dict = ig_read_safetensors(device, bytes, n, "mutant", &error);
        free(bytes);
        if (t || dict) {
            assert_null(error);
            read++;
            IgTensor *first = t ? t : ig_dict_tensor(dict, 0);
            void *data;
            if (first && ig_numel(first)) CHECK(ig_map(first, &data, &error));
        } else {
            assert_non_null(error);
            assert_int_equal(mtl_error_code(error), IgErrorFile);
            mtl_release(error);
            error = NULL;
            refused++;
        }
        ig_release(t);
        ig_dict_release(dict);
    }
    ig_pool_set_memory_limit(pool, 0);
    free(file);
    assert_int_equal(ig_pool_statistics(pool).live_memory, live);
    assert_true(refused > n_mutants / 4 && read > 0); // both happen: the mutants are near the truth
}

static void mutants_of_safetensors(void **state) {
    (void)state;
    IgScope *scope = ig_scope_begin();
    IgDict *dict = sample_dict();
    CHECK(ig_save_safetensors(path, dict, &error));
    ig_dict_release(dict);
    ig_scope_end(scope);
    survive(false, 4000);
}

static void mutants_of_npy(void **state) {
    (void)state;
    IgTensor *t = ig_randn(device, IgFloat32, SHAPE(3, 5), 1, &error);
    CHECK(ig_save_npy(path, t, &error));
    ig_release(t);
    survive(true, 4000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dictionary_keeps_order_and_replaces),
        cmocka_unit_test(safetensors_come_back),
        cmocka_unit_test(files_of_others),
        cmocka_unit_test(lies_are_found),
        cmocka_unit_test(npy_comes_back),
        cmocka_unit_test(npy_of_others),
        cmocka_unit_test(npy_lies_are_found),
        cmocka_unit_test(mutants_of_safetensors),
        cmocka_unit_test(mutants_of_npy),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
