// SPDX-License-Identifier: Apache-2.0
// Apple's metallibs, made here after the layout in abi/apple_metallib.h: what is in them comes out,
// and no cut, changed byte or foreign file is believed or read out of bounds.
#include "testing.h"
#include "abi/apple_metallib.h"

enum { HEADER = 88, CODE = 48, MAX = 1024 };

typedef struct Made {
    unsigned char data[MAX];
    size_t n;
} Made;

static void put(Made *m, uint64_t value, unsigned n) {
    for (unsigned i = 0; i < n; i++) m->data[m->n++] = (unsigned char)(value >> 8 * i);
}
static void put_at(Made *m, size_t at, uint64_t value, unsigned n) {
    Made there = {.n = 0};
    put(&there, value, n);
    memcpy(m->data + at, there.data, n);
}
static void put_bytes(Made *m, const void *data, size_t n) {
    memcpy(m->data + m->n, data, n);
    m->n += n;
}
static void put_tag(Made *m, const char *name, const void *data, size_t n) {
    put_bytes(m, name, 4);
    put(m, n, 2);
    put_bytes(m, data, n);
}

// Bitcode in its wrapper, with something in it that differs.
static void make_code(unsigned char code[CODE], unsigned char fill) {
    Made m = {.n = 0};
    put(&m, 0x0b17c0de, 4), put(&m, 0, 4), put(&m, 20, 4), put(&m, CODE - 20, 4), put(&m, 7, 4);
    put_bytes(&m, "BC\xc0\xde", 4);
    memcpy(code, m.data, m.n);
    memset(code + m.n, fill, CODE - m.n);
}

static void put_function(Made *m, const char *name, unsigned i, bool sized) {
    unsigned char code[CODE], hash[SHA256_BYTES], stage = (unsigned char)(2 - i);
    Made numbers = {.n = 0};
    const size_t at = m->n;
    make_code(code, (unsigned char)i);
    sha256(code, CODE, hash);
    put(m, 0, 4);
    put_tag(m, "NAME", name, strlen(name) + 1);
    put_tag(m, "TYPE", &stage, 1);
    put_tag(m, "HASH", hash, sizeof hash);
    put(&numbers, 0, 8), put(&numbers, 0, 8), put(&numbers, (uint64_t)CODE * i, 8);
    put_tag(m, "OFFT", numbers.data, 24);
    put_tag(m, "VERS", "\2\0\6\0\3\0\1\0", 8);
    put_tag(m, "LATR", "??", 2); // of a later version: skipped
    if (sized) put_tag(m, "MDSZ", "\x30\0\0\0\0\0\0\0", 8);
    put_bytes(m, "ENDT", 4);
    put_at(m, at, m->n - at, 4);
}

static void section(Made *m, unsigned i, size_t from, size_t n) {
    put_at(m, 24 + (size_t)16 * i, from, 8);
    put_at(m, 32 + (size_t)16 * i, n, 8);
}

// Two functions, "first" (a kernel) and "second" (a fragment function).
static Made make(bool sized) {
    Made m = {.n = HEADER};
    unsigned char code[CODE];
    put(&m, 2, 4);
    put_function(&m, "first", 0, sized);
    put_function(&m, "second", 1, sized);
    section(&m, 0, HEADER, m.n - HEADER - 4);
    put_tag(&m, "UUID", "0123456789abcdef", 16);
    put_bytes(&m, "ENDT", 4);
    section(&m, 1, m.n, 8 + 12);
    put(&m, 16, 4), put_tag(&m, "CNST", "\1\0k\0\x35\1", 6), put_bytes(&m, "ENDT", 4);
    section(&m, 2, m.n, 8);
    put(&m, 4, 4), put_bytes(&m, "ENDT", 4);
    section(&m, 3, m.n, (size_t)2 * CODE);
    for (unsigned i = 0; i < 2; i++) {
        make_code(code, (unsigned char)i);
        put_bytes(&m, code, CODE);
    }
    memcpy(m.data, "MTLB\1\x80\2\0\7\0\0\x81\x0e\0\2\0", 16);
    put_at(&m, 16, m.n, 8);
    return m;
}

static void check_functions(const AppleMetallib *lib) {
    assert_int_equal(lib->n_functions, 2);
    const AppleFunction *f = &lib->functions[1];
    assert_string_equal(lib->functions[0].name, "first");
    assert_string_equal(apple_stage_name(lib->functions[0].stage), "kernel");
    assert_string_equal(f->name, "second");
    assert_string_equal(apple_stage_name(f->stage), "fragment");
    assert_int_equal(f->air_major, 2);
    assert_int_equal(f->air_minor, 6);
    assert_int_equal(f->language_major, 3);
    assert_int_equal(f->bitcode.n_bytes, CODE);
    assert_int_equal(f->bitcode.data[CODE - 1], 1);
    assert_true(apple_function_intact(f));
}

static void comes_back(void **state) {
    (void)state;
    for (int sized = 0; sized < 2; sized++) { // the oldest leave the size to the wrapper
        Made m = make(sized);
        AppleMetallib lib;
        AppleProblem why;
        AppleTag tag;
        assert_true(apple_metallib_recognised(m.data, m.n));
        assert_true(apple_metallib_open(m.data, m.n, &lib, &why));
        check_functions(&lib);
        assert_string_equal(apple_system_name(&lib), "macOS");
        assert_string_equal(apple_type_name(lib.type), "executable");
        assert_int_equal(lib.os_major, 14);
        AppleBytes tags = lib.functions[0].public_metadata;
        assert_true(apple_tag_next(&tags, &tag));
        assert_string_equal(tag.name, "CNST");
        assert_int_equal(tag.value.n_bytes, 6);
        assert_false(apple_tag_next(&tags, &tag));
        tags = lib.file_tags;
        assert_true(apple_tag_next(&tags, &tag));
        assert_string_equal(tag.name, "UUID");
        assert_memory_equal(tag.value.data, "0123456789abcdef", 16);
        apple_metallib_close(&lib);
    }
}

// Of its own size, so that sanitizers see its end.
static bool opens(const unsigned char *data, size_t n, AppleProblem *why) {
    unsigned char *copy = malloc(n ? n : 1);
    AppleMetallib lib;
    memcpy(copy, data, n);
    const bool ok = apple_metallib_open(copy, n, &lib, why);
    for (uint32_t i = 0; ok && i < lib.n_functions; i++) apple_function_intact(&lib.functions[i]);
    if (ok) apple_metallib_close(&lib);
    free(copy);
    return ok;
}

static void truncated(void **state) {
    (void)state;
    const Made m = make(true);
    for (size_t n = 0; n < m.n; n++) {
        AppleProblem why = {""};
        assert_false(opens(m.data, n, &why));
        assert_string_not_equal(why.text, "");
    }
}

static void every_byte_changed(void **state) {
    (void)state;
    const Made m = make(false);
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < m.n; i++)
        for (size_t k = 0; k < sizeof values; k++) {
            Made bad = m;
            AppleProblem why = {""};
            bad.data[i] = values[k];
            if (!opens(bad.data, bad.n, &why)) assert_string_not_equal(why.text, "");
        }
}

static void changed_bitcode_is_noticed(void **state) {
    (void)state;
    Made m = make(true);
    AppleMetallib lib;
    AppleProblem why;
    m.data[m.n - 1] ^= 1;
    assert_true(apple_metallib_open(m.data, m.n, &lib, &why));
    assert_true(apple_function_intact(&lib.functions[0]));
    assert_false(apple_function_intact(&lib.functions[1]));
    apple_metallib_close(&lib);
}

static void universal(void **state) {
    (void)state;
    const Made inner = make(true);
    for (int with_air = 0; with_air < 2; with_air++) {
        Made m = {.n = 0};
        AppleMetallib lib;
        AppleProblem why;
        put(&m, 0xcbfebabe, 4), put(&m, 2, 4);
        put(&m, 0x1000013, 4), put(&m, 0, 4), put(&m, 48, 4), put(&m, 4, 4), put(&m, 0, 4);
        put(&m, 0x1000017, 4), put(&m, 0, 4), put(&m, 52, 4), put(&m, inner.n, 4), put(&m, 0, 4);
        put_bytes(&m, "MTLB", 4); // another processor's, which would not open
        put_bytes(&m, inner.data, inner.n);
        if (!with_air) m.data[52] = 'X', m.data[48] = 'X';
        assert_int_equal(apple_metallib_open(m.data, m.n, &lib, &why), with_air);
        if (!with_air) {
            assert_string_equal(why.text, "it is a universal file without a metallib");
            continue;
        }
        check_functions(&lib);
        apple_metallib_close(&lib);
    }
}

static void objects(void **state) {
    (void)state;
    unsigned char code[CODE];
    AppleMetallib lib;
    AppleProblem why;
    make_code(code, 3);
    assert_true(apple_metallib_open(code, CODE, &lib, &why));
    assert_true(lib.is_object);
    assert_int_equal(lib.file.n_bytes, CODE);
    assert_true(apple_metallib_open(code + 20, CODE - 20, &lib, &why));
    for (size_t n = 5; n < CODE; n++) assert_false(opens(code, n, &why));
    code[20] = 'X';
    assert_false(opens(code, CODE, &why));
    assert_string_equal(why.text, "it is damaged: there is no bitcode in its wrapper");
}

static void others_are_named(void **state) {
    (void)state;
    Made m = make(true);
    AppleProblem why;
    assert_false(opens((const unsigned char *)"DXBC....", 8, &why));
    assert_string_equal(why.text, "it is no metallib but a shader for Direct3D (DXBC or DXIL)");
    assert_false(opens((const unsigned char *)"\x03\x02\x23\x07....", 8, &why));
    assert_string_equal(why.text, "it is no metallib but SPIR-V, as Vulkan uses it");
    assert_false(apple_metallib_recognised("MTLBINGT", 8));
    assert_false(opens((const unsigned char *)"MTLBINGT", 8, &why));
    assert_string_equal(why.text, "it is a metallib of Ingot's, not of Apple's");
    assert_false(opens(m.data, m.n - 1, &why));
    assert_non_null(strstr(why.text, "it is truncated: "));
    m.data[6] = 3;
    assert_false(opens(m.data, m.n, &why));
    assert_string_equal(why.text,
                        "it has version 3.7 of Apple's format; versions up to 2 are known");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),         cmocka_unit_test(truncated),
        cmocka_unit_test(every_byte_changed), cmocka_unit_test(changed_bitcode_is_noticed),
        cmocka_unit_test(universal),          cmocka_unit_test(objects),
        cmocka_unit_test(others_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
