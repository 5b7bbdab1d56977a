// SPDX-License-Identifier: Apache-2.0
// The JSON reader on what it must take and what it must refuse: the grammar of RFC 8259 case by
// case, UTF-8, numbers against strtod, nesting, files that are cut off, and its messages.
#include "testing.h"
#include "base/json_reader.h"
#include <math.h>

static bool accepts_bytes(const char *text, size_t n, char *message) {
    // A copy of its own: reading behind the end is noticed by the sanitizer.
    char *copy = malloc(n ? n : 1);
    if (n) memcpy(copy, text, n);
    JsonReader r;
    *message = 0;
    json_begin(&r, copy, n, "file", message);
    bool ok = json_skip(&r) && json_finish(&r);
    free(copy);
    return ok;
}

#define BYTES(TEXT) {TEXT, sizeof TEXT - 1}
typedef struct Bytes {
    const char *text;
    size_t n;
} Bytes;

static const Bytes good[] = {
    // arrays
    BYTES("[]"),
    BYTES("[[]]"),
    BYTES("[[]   ]"),
    BYTES("[\"\"]"),
    BYTES("[1]"),
    BYTES("[1,2]"),
    BYTES(" [1] "),
    BYTES("[1\n]"),
    BYTES("[null, 1, \"1\", {}]"),
    BYTES("[1,null,null,2]"),
    BYTES("[false]"),
    BYTES("[null]"),
    BYTES("\t\r\n[]\t\r\n"),
    // objects
    BYTES("{}"),
    BYTES("{\"a\":[]}"),
    BYTES("{\"a\":\"b\"}"),
    BYTES("{\"a\":\"b\",\"c\":1}"),
    BYTES("{\"a\":1,\"a\":2}"),
    BYTES("{\"\":0}"),
    BYTES("{\"a\":{\"b\":{}}}"),
    BYTES("{\"\\u0061\\n\":1}"),
    BYTES("{\n\"a\": \"b\"\n}"),
    BYTES("{\"a\" : null }"),
    // a value alone
    BYTES("1"),
    BYTES("null"),
    BYTES("true"),
    BYTES("false"),
    BYTES("\"x\""),
    BYTES("-0.1"),
    BYTES("\"\""),
    BYTES("  42  "),
    // numbers
    BYTES("[0]"),
    BYTES("[-0]"),
    BYTES("[-1]"),
    BYTES("[123]"),
    BYTES("[0.5]"),
    BYTES("[1e5]"),
    BYTES("[1E5]"),
    BYTES("[1e+5]"),
    BYTES("[1e-5]"),
    BYTES("[1.25e2]"),
    BYTES("[0e1]"),
    BYTES("[0e+1]"),
    BYTES("[123e65]"),
    BYTES("[20e1]"),
    BYTES("[1E22]"),
    BYTES("[1E-2]"),
    BYTES("[123.456789]"),
    BYTES("[-123123123123123123]"),
    BYTES("[1.7976931348623157e308]"),
    BYTES("[4.9e-324]"),
    BYTES("[1e-400]"),
    BYTES("[0.000000000000000000000000000000000000001]"),
    BYTES("[1234567890123456789012345678901234567890]"),
    // strings
    BYTES("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]"),
    BYTES("[\"\\u0000\"]"),
    BYTES("[\"\\u0060\\u012a\"]"),
    BYTES("[\"\\uD801\\udc37\"]"),
    BYTES("[\"\\ud83d\\ude39\\ud83d\\udc8d\"]"),
    BYTES("[\"\\uFFFF\"]"),
    BYTES("[\"\\u00e9\"]"),
    BYTES("[\"a/*b*/c\"]"),
    BYTES("[\"\x7f\"]"),
    BYTES("[\"\xc3\xa9\"]"),
    BYTES("[\"\xe2\x82\xac\"]"),
    BYTES("[\"\xf0\x9f\x98\x80\"]"),
    BYTES("[\"\xef\xbf\xbf\"]"),
    BYTES("[\"\xf4\x8f\xbf\xbf\"]"),
    BYTES("[\"\xee\x80\x80\"]"),
    BYTES("[\"\xed\x9f\xbf\"]"),
    BYTES("{\"\xc3\xa9\":0}"),
    // halves of pairs are no text, but JSON
    BYTES("[\"\\uD800\"]"),
    BYTES("[\"\\uDC00\"]"),
    BYTES("[\"\\uD800\\n\"]"),
    BYTES("[\"\\uD800\\uD800\"]"),
    // a byte order mark may be there
    BYTES("\xef\xbb\xbf{}"),
};

static const Bytes bad[] = {
    BYTES(""),
    BYTES(" "),
    BYTES("\xef\xbb\xbf"),
    BYTES("\xef\xbb{}"),
    BYTES("\xff\xfe[\0]\0"),
    // structure
    BYTES("["),
    BYTES("]"),
    BYTES("[1"),
    BYTES("[1,"),
    BYTES("[1,]"),
    BYTES("[,1]"),
    BYTES("[,]"),
    BYTES("[1,,2]"),
    BYTES("[1 2]"),
    BYTES("[1]]"),
    BYTES("[1]x"),
    BYTES("[1]\0"),
    BYTES("[]["),
    BYTES("[1}"),
    BYTES("[\"a\" \"b\"]"),
    BYTES("[:]"),
    BYTES("[\"a\",\n4\n,1,"),
    BYTES("[*]"),
    BYTES("{"),
    BYTES("}"),
    BYTES("{]"),
    BYTES("{\"a\"}"),
    BYTES("{\"a\":}"),
    BYTES("{\"a\":1,}"),
    BYTES("{\"a\":1,,\"b\":2}"),
    BYTES("{,\"a\":1}"),
    BYTES("{a:1}"),
    BYTES("{'a':1}"),
    BYTES("{1:1}"),
    BYTES("{\"a\" 1}"),
    BYTES("{\"a\"::1}"),
    BYTES("{\"a\":1 \"b\":2}"),
    BYTES("{\"a\":1"),
    BYTES("{\"a\":1]"),
    BYTES("{null:1}"),
    BYTES("{\"a\":1}#"),
    BYTES("{}}"),
    BYTES("[1]//"),
    BYTES("/**/[1]"),
    BYTES("[1,#\n2]"),
    BYTES("<null>"),
    BYTES("{[1]:2}"),
    // words
    BYTES("[nul]"),
    BYTES("[tru]"),
    BYTES("[fals]"),
    BYTES("[True]"),
    BYTES("[NULL]"),
    BYTES("n"),
    BYTES("[truetrue]"),
    BYTES("nullx"),
    BYTES("[NaN]"),
    BYTES("[Infinity]"),
    BYTES("[-Infinity]"),
    BYTES("[undefined]"),
    // numbers
    BYTES("[-]"),
    BYTES("[+1]"),
    BYTES("[.5]"),
    BYTES("[1.]"),
    BYTES("[1.e2]"),
    BYTES("[01]"),
    BYTES("[-01]"),
    BYTES("[00]"),
    BYTES("[1e]"),
    BYTES("[1e+]"),
    BYTES("[1e-]"),
    BYTES("[1eE2]"),
    BYTES("[1.2.3]"),
    BYTES("[0x10]"),
    BYTES("[1_000]"),
    BYTES("[1 000]"),
    BYTES("[--1]"),
    BYTES("[- 1]"),
    BYTES("[-a]"),
    BYTES("[1a]"),
    BYTES("[0.1.2]"),
    BYTES("[0e]"),
    BYTES("[2.e+3]"),
    BYTES("[1e400]"),
    BYTES("[-1e400]"),
    BYTES("[1e99999999999999999999]"),
    BYTES("[\xef\xbc\x91]"),
    // strings
    BYTES("\""),
    BYTES("[\"a]"),
    BYTES("[\"\\\"]"),
    BYTES("[\"\\x00\"]"),
    BYTES("[\"\\a\"]"),
    BYTES("[\"\\u\"]"),
    BYTES("[\"\\u00\"]"),
    BYTES("[\"\\u00g0\"]"),
    BYTES("[\"\\\0\"]"),
    BYTES("[\"\\uD800\\u\"]"),
    BYTES("[\"\\uD800\\u1x\"]"),
    BYTES("[\"new\nline\"]"),
    BYTES("[\"tab\t\"]"),
    BYTES("[\"a\0b\"]"),
    BYTES("['a']"),
    BYTES("[\\u0020\"a\"]"),
    BYTES("\"\\"),
    BYTES("\"\\u12"),
    BYTES("[\"\x1f\"]"),
    BYTES("[\"\\U0041\"]"),
    // UTF-8: stray and missing bytes, overlong forms, surrogates, beyond U+10FFFF
    BYTES("[\"\x80\"]"),
    BYTES("[\"\xbf\"]"),
    BYTES("[\"\xc3\"]"),
    BYTES("[\"\xe2\x82\"]"),
    BYTES("[\"\xf0\x9f\x98\"]"),
    BYTES("[\"\xc0\xaf\"]"),
    BYTES("[\"\xc1\xbf\"]"),
    BYTES("[\"\xe0\x80\xaf\"]"),
    BYTES("[\"\xe0\x9f\xbf\"]"),
    BYTES("[\"\xf0\x80\x80\xaf\"]"),
    BYTES("[\"\xf0\x8f\xbf\xbf\"]"),
    BYTES("[\"\xed\xa0\x80\"]"),
    BYTES("[\"\xed\xbf\xbf\"]"),
    BYTES("[\"\xf4\x90\x80\x80\"]"),
    BYTES("[\"\xf5\x80\x80\x80\"]"),
    BYTES("[\"\xfe\"]"),
    BYTES("[\"\xff\"]"),
    BYTES("[\"\xc3\x28\"]"),
    BYTES("[\"\xe2\x28\xa1\"]"),
    BYTES("\"\xc3"),
    BYTES("{\"\xff\":1}"),
    BYTES("[\xc3\xa9]"),
};

static void grammar(void **state) {
    char message[JSON_MESSAGE_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!accepts_bytes(good[i].text, good[i].n, message))
            fail_msg("refused: %s: %s", good[i].text, message);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (accepts_bytes(bad[i].text, bad[i].n, message)) fail_msg("taken: %s", bad[i].text);
        if (strncmp(message, "file: ", 6)) fail_msg("'%s' is no message", message);
        for (const char *p = message; *p; p++) assert_true((unsigned char)*p >= 32);
    }
}

static void nesting(void **state) {
    char text[4 * JSON_MAX_DEPTH + 8], message[JSON_MESSAGE_BYTES];
    (void)state;
    for (int depth = 1; depth <= 2 * JSON_MAX_DEPTH; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        assert_int_equal(accepts_bytes(text, (size_t)depth * 2, message), depth <= JSON_MAX_DEPTH);
    }
    assert_string_equal(strstr(message, "nested"), "nested more than 64 levels deep");
    size_t n = 1 << 20; // and one that never ends
    char *many = malloc(n);
    for (size_t i = 0; i < n; i += 4) memcpy(many + i, "{\"\":", 4);
    assert_false(accepts_bytes(many, n, message));
    memset(many, '[', n);
    assert_false(accepts_bytes(many, n, message));
    free(many);
}

// Whatever is missing at the end, it is noticed.
static void cut_off(void **state) {
    static const char whole[] =
        "{\"a\":[1,-2.5e3,true,false,null],\"b\":{\"\\u00e9\":\"\xc3\xa9\"}}";
    char message[JSON_MESSAGE_BYTES];
    (void)state;
    assert_true(accepts_bytes(whole, sizeof whole - 1, message));
    for (size_t n = 0; n < sizeof whole - 1; n++) assert_false(accepts_bytes(whole, n, message));
}

static void check_number(const char *text) {
    JsonReader r;
    double ours = 0, theirs = strtod(text, NULL);
    json_begin(&r, text, strlen(text), "file", NULL);
    assert_true(json_double(&r, &ours) && json_finish(&r));
    if (memcmp(&ours, &theirs, sizeof ours)) fail_msg("%s: %.17g, not %.17g", text, ours, theirs);
}

static void numbers(void **state) {
    static const char *const some[] = {"0",
                                       "-0",
                                       "1",
                                       "-1",
                                       "0.1",
                                       "1e22",
                                       "1e23",
                                       "9007199254740993",
                                       "9007199254740992.5",
                                       "0.30000000000000004",
                                       "2.2250738585072014e-308",
                                       "5e-324",
                                       "179769313486231570e291",
                                       "123456789012345678901234567890e-10",
                                       "0.00000000000000000001e22"};
    uint64_t seed = 88172645463325252u;
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) check_number(some[i]);
    for (int i = 0; i < 200000; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        double x;
        memcpy(&x, &seed, sizeof x);
        if (!isfinite(x)) continue;
        snprintf(text, sizeof text, "%.*g", (int)(seed % 20) + 1, x);
        if (!isfinite(strtod(text, NULL))) continue;
        check_number(text);
    }
}

static bool whole(const char *text, uint64_t low, uint64_t high, uint64_t *n) {
    JsonReader r;
    json_begin(&r, text, strlen(text), "file", NULL);
    return json_uint(&r, n, low, high) && json_finish(&r);
}

static void whole_numbers(void **state) {
    uint64_t n;
    (void)state;
    assert_true(whole("7", 0, 10, &n) && n == 7);
    assert_true(whole("1e1", 0, 10, &n) && n == 10);
    assert_true(whole("9007199254740992", 0, UINT64_MAX, &n) && n == UINT64_C(9007199254740992));
    assert_false(whole("11", 0, 10, &n));
    assert_false(whole("-1", 0, 10, &n));
    assert_false(whole("1.5", 0, 10, &n));
    assert_false(whole("18446744073709551616", 0, UINT64_MAX, &n));
    assert_false(whole("1e300", 0, UINT64_MAX, &n));
    float f;
    JsonReader r;
    json_begin(&r, "3.5e38", 6, "file", NULL);
    assert_false(json_float(&r, &f));
}

static void strings(void **state) {
    static const struct {
        const char *json, *text;
    } cases[] = {{"\"a\\u00e9\\ud83d\\ude00\\n\"", "a\xc3\xa9\xf0\x9f\x98\x80\n"},
                 {"\"\\ud800x\\udc00\"", "?x?"},
                 {"\"\\u0000\"", "?"},
                 {"\"\xe2\x82\xac\"", "\xe2\x82\xac"},
                 {"\"\\uFFFF\"", "\xef\xbf\xbf"}};
    char to[64];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        JsonReader r;
        json_begin(&r, cases[i].json, strlen(cases[i].json), "file", NULL);
        assert_true(json_string_value(&r, to, sizeof to) && json_finish(&r));
        assert_string_equal(to, cases[i].text);
    }
    JsonReader r; // cut to fit, never inside a character, and read to its end
    json_begin(&r, "\"abc\xe2\x82\xac\"", 8, "file", NULL);
    assert_true(json_string_value(&r, to, 6) && json_finish(&r));
    assert_string_equal(to, "abc");
}

// Members are read in turn, and a mistake is said with its path, once.
static void walking(void **state) {
    static const char text[] = "{\"skip\":[[1,{}],2],\"list\":[{\"x\":1},{\"x\":\"two\"}]}";
    char message[JSON_MESSAGE_BYTES] = "";
    JsonReader r;
    const char *key;
    double sum = 0, x;
    (void)state;
    json_begin(&r, text, sizeof text - 1, "w.json", message);
    assert_true(json_enter_object(&r));
    while (json_next_key(&r, &key)) {
        if (strcmp(key, "list")) {
            assert_true(json_skip(&r));
            continue;
        }
        assert_true(json_enter_array(&r));
        while (json_next_item(&r)) {
            if (!json_enter_object(&r)) break;
            while (json_next_key(&r, &key))
                if (json_double(&r, &x)) sum += x;
        }
    }
    assert_true(sum == 1 && !json_ok(&r) && !json_finish(&r));
    assert_string_equal(message, "w.json: list[1].x: expected a number, but there is a string");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(grammar),       cmocka_unit_test(nesting),
                                       cmocka_unit_test(cut_off),       cmocka_unit_test(numbers),
                                       cmocka_unit_test(whole_numbers), cmocka_unit_test(strings),
                                       cmocka_unit_test(walking)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
