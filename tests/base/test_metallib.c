// SPDX-License-Identifier: Apache-2.0
// The container and the reflection in it: what goes in comes out; damage at any byte is found by
// the checksum; damaged reflection behind a right checksum is never believed nor read out of
// bounds.
#include "testing.h"
#include "abi/compiler_id.h"
#include "abi/metallib.h"
#include "library_fixture.h"

static void comes_back(void **state) {
    (void)state;
    Blob *b = fixture_metallib("shader.metal", "BITCODE");
    const char *why = "";
    Metallib *m = metallib_open(b, &why);
    assert_null(why);
    assert_non_null(m);
    assert_string_equal(m->source_name, "shader.metal");
    assert_string_equal(m->compiler_id, compiler_id());
    assert_string_equal(m->log, "a warning\n");
    assert_int_equal(m->math_mode, 2);
    assert_int_equal(m->bitcode_bytes, 7);
    assert_memory_equal(m->bitcode, "BITCODE", 7);
    const RfFunction *f = rf_find_function(m->reflection, "first");
    assert_non_null(f);
    assert_int_equal(f->n_args, 3);
    assert_string_equal(f->args[1].name, "list");
    assert_string_equal(f->args[1].condition, "_ZL5scale");
    assert_int_equal(f->args[1].count, 2);
    assert_int_equal(f->required_threads[0], 64);
    assert_int_equal(m->reflection->constants[0].index, 7);
    assert_string_equal(m->reflection->types[3].members[1].name, "next");
    assert_int_equal(m->reflection->types[3].members[1].id, -1);
    assert_null(rf_find_function(m->reflection, "third"));
    assert_true(metallib_fresh(m));
    metallib_release(metallib_retain(m));
    metallib_release(m);
    blob_release(b);
}

static void truncated(void **state) {
    (void)state;
    Blob *b = fixture_metallib("shader.metal", "BITCODE");
    for (size_t n = 0; n < b->n_bytes; n++) {
        Blob *cut = blob_copy(b->data, n);
        const char *why = NULL;
        assert_null(metallib_open(cut, &why));
        assert_non_null(why);
        blob_release(cut);
    }
    blob_release(b);
}

static void every_byte_changed(void **state) {
    (void)state;
    Blob *b = fixture_metallib("shader.metal", "BITCODE");
    for (size_t i = 0; i < b->n_bytes; i++) {
        Blob *bad = blob_copy(b->data, b->n_bytes);
        bad->data[i] ^= 0x41;
        assert_null(metallib_open(bad, NULL));
        blob_release(bad);
    }
    blob_release(b);
}

// With the checksum made right again only the checks inside stand between damage and a crash.
static void damage_behind_a_right_checksum(void **state) {
    (void)state;
    Blob *b = fixture_metallib("shader.metal", "BITCODE");
    static const unsigned char flips[] = {0x01, 0x80, 0xff, 0x10};
    for (size_t i = 44; i < b->n_bytes; i++)
        for (size_t k = 0; k < sizeof flips; k++) {
            Blob *bad = blob_copy(b->data, b->n_bytes);
            bad->data[i] ^= flips[k];
            sha256(bad->data + 44, bad->n_bytes - 44, bad->data + 12);
            Metallib *m = metallib_open(bad, NULL); // may be fine: a letter of a name
            if (m) {
                for (uint32_t f = 0; f < m->reflection->n_functions; f++)
                    for (uint32_t a = 0; a < m->reflection->functions[f].n_args; a++)
                        assert_true(m->reflection->functions[f].args[a].type <
                                    m->reflection->n_types);
            }
            metallib_release(m);
            blob_release(bad);
        }
    blob_release(b);
}

static void reflection_truncated(void **state) {
    (void)state;
    RfLibrary *rf = fixture_reflection();
    WireOut w = {0};
    rf_encode(rf, &w);
    for (size_t n = 0; n < w.n_bytes; n++) {
        unsigned char *copy = malloc(n ? n : 1);
        memcpy(copy, w.data, n);
        WireIn r = {copy, copy + n, false};
        assert_null(rf_decode(&r));
        assert_true(r.failed);
        free(copy);
    }
    WireIn whole = {w.data, w.data + w.n_bytes, false};
    RfLibrary *back = rf_decode(&whole);
    assert_non_null(back);
    rf_free(back);
    wire_free(&w);
    rf_free(rf);
}

static bool decodes(const RfLibrary *rf) {
    WireOut w = {0};
    rf_encode(rf, &w);
    WireIn r = {w.data, w.data + w.n_bytes, false};
    RfLibrary *back = rf_decode(&r);
    rf_free(back);
    wire_free(&w);
    return back != NULL;
}

static void tensors_in_reflection(void **state) {
    (void)state;
    RfLibrary *rf = fixture_reflection();
    RfType *t = &rf->types[0];
    t->data_type = 140; // Tensor
    t->rank = RF_MAX_RANK;
    t->index_type = 29;
    for (uint32_t i = 0; i < RF_MAX_RANK; i++) t->extents[i] = i % 2 ? UINT32_MAX : i + 1;
    rf->functions[0].args[0].kind = RF_ARG_TENSOR;
    WireOut w = {0};
    rf_encode(rf, &w);
    WireIn r = {w.data, w.data + w.n_bytes, false};
    RfLibrary *back = rf_decode(&r);
    assert_non_null(back);
    assert_int_equal(back->types[0].rank, RF_MAX_RANK);
    assert_int_equal(back->types[0].index_type, 29);
    assert_memory_equal(back->types[0].extents, t->extents, sizeof t->extents);
    assert_int_equal(back->types[1].rank, 0);
    assert_int_equal(back->functions[0].args[0].kind, RF_ARG_TENSOR);
    rf_free(back);
    for (size_t i = 0; i < w.n_bytes; i++) // a rank beyond 16 is refused, wherever it stands
        for (int k = 0; k < 2; k++) {
            w.data[i] ^= k ? 0xff : 0x10;
            WireIn bad = {w.data, w.data + w.n_bytes, false};
            back = rf_decode(&bad);
            for (uint32_t n = 0; back && n < back->n_types; n++)
                assert_true(back->types[n].rank <= RF_MAX_RANK);
            rf_free(back);
            w.data[i] ^= k ? 0xff : 0x10;
        }
    wire_free(&w);
    rf_free(rf);
}

static void inconsistent_reflection(void **state) {
    (void)state;
    RfLibrary *rf = fixture_reflection();
    assert_true(decodes(rf));
#define REFUSED(place, value)                                                                      \
    do {                                                                                           \
        uint32_t kept = (place);                                                                   \
        (place) = (value);                                                                         \
        assert_false(decodes(rf));                                                                 \
        (place) = kept;                                                                            \
    } while (0)
    REFUSED(rf->types[1].element, 4);
    REFUSED(rf->types[3].members[0].type, 4);
    REFUSED(rf->types[3].members[0].type, 3); // contains itself
    REFUSED(rf->types[1].element, 3);         // through the array
    REFUSED(rf->functions[0].args[0].type, 99);
    REFUSED(rf->functions[0].args[0].slot, 3);
    REFUSED(rf->functions[0].args[1].count, UINT32_MAX);
    REFUSED(rf->functions[0].constants[0], 1);
    REFUSED(rf->constants[0].type, 4);
    REFUSED(rf->functions[0].n_slots, UINT32_MAX);
#undef REFUSED
    rf->functions[0].args[2].builtin = RF_N_BUILTINS;
    assert_false(decodes(rf));
    rf->functions[0].args[2].builtin = 0;
    rf->functions[0].stage = 200;
    assert_false(decodes(rf));
    rf->functions[0].stage = RF_KERNEL;
    assert_true(decodes(rf));
    rf_free(rf);
}

static void builtin_names(void **state) {
    (void)state;
    for (unsigned i = 0; i < RF_N_BUILTINS; i++) {
        assert_non_null(rf_builtin_name(i));
        assert_int_equal(rf_builtin_from_name(rf_builtin_name(i)), i);
    }
    assert_null(rf_builtin_name(RF_N_BUILTINS));
    assert_int_equal(rf_builtin_from_name("thread_position"), -1);
    assert_string_equal(rf_builtin_name(RF_QUADGROUP_INDEX_IN_THREADGROUP),
                        "quadgroup_index_in_threadgroup");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(truncated),
        cmocka_unit_test(every_byte_changed),
        cmocka_unit_test(damage_behind_a_right_checksum),
        cmocka_unit_test(reflection_truncated),
        cmocka_unit_test(inconsistent_reflection),
        cmocka_unit_test(tensors_in_reflection),
        cmocka_unit_test(builtin_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
