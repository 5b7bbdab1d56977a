// SPDX-License-Identifier: Apache-2.0
// test_rust_source.c: what is replaced in Rust source, what is not, and that every byte keeps its
// place.
#include "mac/cargo/rust_source.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static char frameworks[256];
static void note(void *context, const char *name, size_t n) {
    (void)context;
    strncat(frameworks, name, n);
    strcat(frameworks, " ");
}

// The text as rustc is given it; the caller's until the next call.
static const char *rewritten(const char *text, bool is_mac) {
    static char out[4096];
    const RustSource how = {.is_mac = is_mac, .framework = note};
    const size_t n = strlen(text);
    *frameworks = 0;
    char *exact = malloc(n ? n : 1); // so that reading past it is seen
    memcpy(exact, text, n);
    size_t changes = rust_source_rewrite(&how, exact, n);
    memcpy(out, exact, n);
    out[n] = 0;
    assert_int_equal(changes != 0, strcmp(text, out) != 0);
    free(exact);
    return out;
}

typedef struct Case {
    const char *text, *linux_, *mac; // NULL: as it was
} Case;

static void check(const Case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const Case *c = &cases[i];
        assert_string_equal(rewritten(c->text, false), c->linux_ ? c->linux_ : c->text);
        assert_string_equal(rewritten(c->text, true), c->mac ? c->mac : c->text);
    }
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))

TEST(conditions_of_a_macs_crate) {
    static const Case cases[] = {
        {"#[cfg(target_os = \"macos\")]", NULL, "#[cfg(target_os = \"linux\")]"},
        {"#[cfg(target_os=\"linux\")]", NULL, "#[cfg(target_os=\"macos\")]"},
        {"cfg!(not(target_os\n\t=\n\"linux\"))", NULL, "cfg!(not(target_os\n\t=\n\"macos\"))"},
        {"#![cfg(any(target_os = \"ios\", target_vendor = \"apple\"))]", NULL,
         "#![cfg(any(target_os = \"ios\", target_os     = \"linux\"))]"},
        {"#[cfg_attr(target_vendor=\"apple\", path = \"a.rs\")]", NULL,
         "#[cfg_attr(target_os    =\"linux\", path = \"a.rs\")]"},
        {"cfg_select! { target_os = \"macos\" => { a() } }", NULL,
         "cfg_select! { target_os = \"linux\" => { a() } }"},
        {"#[cfg(target_os /* here */ = \"macos\")]", NULL,
         "#[cfg(target_os /* here */ = \"linux\")]"},
        {"#[cfg(target_os = \"macos", NULL, NULL}, // the file ends
        {"target_os = \"windows\"", NULL, NULL},
        {"my_target_os = \"macos\", target_os2 = \"macos\")", NULL, NULL},
        {"", NULL, NULL},
    };
    CHECK(cases);
}

TEST(frameworks_of_every_crate) {
    static const char text[] = "#[cfg_attr(feature = \"link\", link(name = \"Metal\", kind = "
                               "\"framework\"))] #[link(kind=\"framework\",name=\"CoreML\")]";
    static const char as_linux[] = "#[cfg_attr(feature = \"link\", link(name = \"Metal\", kind = "
                                   "\"dylib\"    ))] #[link(kind=\"dylib\"    ,name=\"CoreML\")]";
    const Case cases[] = {{text, as_linux, as_linux},
                          {"#[link(name = \"z\", kind = \"static\")]", NULL, NULL},
                          {"let kind = \"framework\"; f(kind = \"framework\")", NULL, NULL}};
    CHECK(cases);
    rewritten(text, false);
    assert_string_equal(frameworks, "Metal CoreML ");
    rewritten("#[link(name = \"z\")] #[link(kind = \"framework\")]", true);
    assert_string_equal(frameworks, "");
}

// What looks like a condition and is none.
TEST(comments_strings_and_characters) {
    static const Case cases[] = {
        {"// target_os = \"macos\")", NULL, NULL},
        {"/* a /* target_os = \"macos\" */ target_os = \"macos\" */", NULL, NULL},
        {"/// ```\n/// #[cfg(target_os = \"macos\")]\n/// ```", NULL, NULL},
        {"r#\"target_os = \"macos\" \"#; br##\"target_os = \"macos\"\"# \"##", NULL, NULL},
        {"\"target_os = \\\"macos\\\"\"", NULL, NULL},
        {"let target_os = \"macos\"; x.target_os == \"macos\"", NULL, NULL},
        // A quotation mark as a character, lifetimes, and code behind them.
        {"'\"' '\\'' b'\"' '\\u{22}' '\xc3\xa4' #[cfg(target_os = \"macos\")]", NULL,
         "'\"' '\\'' b'\"' '\\u{22}' '\xc3\xa4' #[cfg(target_os = \"linux\")]"},
        {"fn f<'a, 'b>(x: &'a str, y: &'b r#type) { cfg!(target_os = \"macos\") }", NULL,
         "fn f<'a, 'b>(x: &'a str, y: &'b r#type) { cfg!(target_os = \"linux\") }"},
        {"'static target_os = \"macos\")", NULL, "'static target_os = \"linux\")"},
    };
    CHECK(cases);
}

// Lines and columns stay: only the replaced words differ, and no line end moves.
TEST(places_stay) {
    static const char text[] = "#[cfg(all(\n    target_vendor = \"apple\",\n    target_os\n  = "
                               "\"macos\"))]\n#[link(name = \"Metal\",\n kind = \"framework\")]\n";
    const char *out = rewritten(text, true);
    assert_int_equal(strlen(out), strlen(text));
    for (size_t i = 0; text[i]; i++) assert_int_equal(text[i] == '\n', out[i] == '\n');
}

// Whatever bytes there are, it ends, inside the text.
TEST(any_bytes) {
    static const char letters[] = "\"'rbc#/*\\=()a_ \n{}";
    char text[200];
    unsigned seed = 1;
    for (int k = 0; k < 20000; k++) {
        for (size_t i = 0; i + 1 < sizeof text; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = letters[(seed >> 16) % (sizeof letters - 1)];
        }
        text[sizeof text - 1] = 0;
        char before[sizeof text];
        memcpy(before, text, sizeof text);
        rewritten(text, true);
        assert_memory_equal(before, text, sizeof text);
    }
}

int main(void) { return unit_run(NULL, NULL); }
