// SPDX-License-Identifier: Apache-2.0
// Half and bfloat against values worked out by hand and a slow definition; text to numbers.
#include "testing.h"
#include "base/numbers.h"
#include <math.h>

// The value of a half from its definition, in double.
static double slow_half(uint16_t h) {
    int e = h >> 10 & 31, m = h & 1023;
    double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -v : v;
}

static void every_half(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        float f = float_from_half((uint16_t)h);
        double expected = slow_half((uint16_t)h);
        if (isnan(expected)) {
            assert_true(isnan(f));
            assert_true(isnan(float_from_half(half_from_float(f))));
            continue;
        }
        assert_true(f == expected && !signbit(f) == !signbit(expected));
        assert_int_equal(half_from_float(f), h);
    }
}

// Between two neighbouring halves the nearer wins, the even one at the middle.
static void half_rounding(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 0x7c00; h++) {
        double low = slow_half((uint16_t)h);
        double high = h == 0x7bff ? 65536.0 : slow_half((uint16_t)(h + 1));
        float middle = (float)((low + high) / 2);
        assert_int_equal(half_from_float(middle), h & 1 ? h + 1 : h);
        assert_int_equal(half_from_float(nextafterf(middle, 0)), h);
        assert_int_equal(half_from_float(nextafterf(middle, 1e9f)), h + 1);
    }
    assert_int_equal(half_from_float(1e30f), 0x7c00);
    assert_int_equal(half_from_float(-1e30f), 0xfc00);
}

static void bfloat(void **state) {
    (void)state;
    assert_int_equal(bfloat_from_float(1.0f), 0x3f80);
    assert_int_equal(bfloat_from_float(1.0f + 0x1p-8f), 0x3f80); // middle: to even
    assert_int_equal(bfloat_from_float(1.0f + 0x1.8p-7f), 0x3f82);
    assert_int_equal(bfloat_from_float(-INFINITY), 0xff80);
    assert_true(isnan(float_from_bfloat(bfloat_from_float(NAN))));
    assert_int_equal(bfloat_from_float(0x1.ffp127f), 0x7f80); // rounds up to infinity
    assert_true(float_from_bfloat(0x4049) == 3.140625f);
}

static bool parses(const char *type, const char *text, double expected) {
    unsigned char v[8];
    const NumberType *t = number_type(type);
    return number_parse(t, text, v) && number_get(t, v) == expected;
}
static bool refuses(const char *type, const char *text) {
    unsigned char v[8];
    return !number_parse(number_type(type), text, v);
}

static void text_to_numbers(void **state) {
    (void)state;
    assert_true(parses("f32", "1.5", 1.5));
    assert_true(parses("f32", "-2e3f", -2000));
    assert_true(parses("f32", "inf", INFINITY));
    assert_true(parses("half", "0.1", 0.0999755859375));
    assert_true(parses("bf16", "3.14", 3.140625));
    assert_true(parses("u8", "255", 255) && refuses("u8", "256") && refuses("u8", "-1"));
    assert_true(parses("i8", "-128", -128) && refuses("i8", "-129") && refuses("i8", "128"));
    assert_true(parses("u32", "0xffffffff", 4294967295.0) && refuses("u32", "0x100000000"));
    assert_true(parses("i64", "-9223372036854775808", -9223372036854775808.0));
    assert_true(refuses("i64", "9223372036854775808"));
    assert_true(parses("u64", "18446744073709551615", 18446744073709551615.0));
    assert_true(parses("bool", "true", 1) && parses("bool", "0", 0) && refuses("bool", "2"));
    assert_true(refuses("i32", "") && refuses("i32", "1.5") && refuses("f32", "abc"));
    assert_true(refuses("i32", "1 ") && refuses("f32", " 1"));
    assert_null(number_type("f64"));
}

static void numbers_to_text(void **state) {
    (void)state;
    char s[64];
    int16_t i = -7;
    number_print(number_type("i16"), &i, s, sizeof s);
    assert_string_equal(s, "-7");
    float f = 0.1f;
    number_print(number_type("f32"), &f, s, sizeof s);
    assert_string_equal(s, "0.100000001");
    unsigned char v[8];
    number_set(number_type("i8"), 1000, v);
    assert_true(number_get(number_type("i8"), v) == 127);
    number_set(number_type("i64"), -1e30, v);
    assert_true(number_get(number_type("i64"), v) == -9223372036854775808.0);
    number_set(number_type("u16"), -5, v);
    assert_true(number_get(number_type("u16"), v) == 0);
}

static void constants(void **state) {
    (void)state;
    unsigned char v[32];
    float f3[3] = {1, 2.5f, -3};
    assert_int_equal(constant_parse(3 + 2, "1,2.5,-3", v), 16); // float3
    assert_memory_equal(v, f3, 12);
    assert_int_equal(constant_parse(53, "true", v), 1);
    assert_int_equal(v[0], 1);
    assert_int_equal(constant_parse(29, "1,2", v), 0);
    assert_int_equal(constant_parse(30, "1", v), 0);
    assert_int_equal(constant_parse(1, "1", v), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half),      cmocka_unit_test(half_rounding),
        cmocka_unit_test(bfloat),          cmocka_unit_test(text_to_numbers),
        cmocka_unit_test(numbers_to_text), cmocka_unit_test(constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
