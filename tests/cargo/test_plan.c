// SPDX-License-Identifier: Apache-2.0
// test_plan.c: which crates are a Mac's, from metadata as cargo writes it.
#include "mac/cargo/plan.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A workspace `app` over a renderer on Metal, a window library, a table of time zones.
#define PACKAGE(name, more)                                                                        \
    "{\"name\":\"" name "\",\"version\":\"1.0.0\",\"id\":\"reg#" name "\",\"license\":null," more  \
    "\"features\":{\"default\":[]},\"targets\":[{\"kind\":[\"lib\"],\"crate_types\":[\"lib\"]}]}"
#define USE(name, kind) "{\"name\":\"x\",\"pkg\":\"reg#" name "\",\"dep_kinds\":[" kind "]}"
#define NORMAL "{\"kind\":null,\"target\":null}"
#define ON_MAC "{\"kind\":null,\"target\":\"cfg(target_os = \\\"macos\\\")\"}"
#define BUILD "{\"kind\":\"build\",\"target\":null}"
#define NODE(name, uses) "{\"id\":\"reg#" name "\",\"dependencies\":[],\"deps\":[" uses "]}"
#define METADATA(settings, macro, end)                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              \
    "{\"packages\":[" PACKAGE("app", settings) "," PACKAGE(                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         \
        "metal",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    \
        "") "," PACKAGE("objc2",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    \
                        "") "," PACKAGE("renderer",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 \
                                        "") "," PACKAGE("engine", "") "," PACKAGE("winit", "") "," PACKAGE("menus", "") "," PACKAGE("user-of-menus", "") "," PACKAGE("builder", "") "," PACKAGE("core-foundation-sys", "") "," PACKAGE("zones", "") ","                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             \
                                                                                                                                                                                                                                                    "{\"name\":\"macros\",\"version\":\"1.0.0\",\"id\":\"reg#macros\",\"targets\":[{\"kind\":["                                                                                                                                                                                                                                                                                                                                                                                                     \
                                                                                                                                                                                                                                                    "\"" macro                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      \
                                                                                                                                                                                                                                                    "\"]}]}],"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      \
                                                                                                                                                                                                                                                    "\"workspace_members\":[\"reg#app\"],\"resolve\":{\"nodes\":[" NODE("app",                                                                                                                                                                                                                                                                                                                                                                                                                      \
                                                                                                                                                                                                                                                                                                                        USE("engine", NORMAL) "," USE("winit",                                                                                                                                                                                                                                                                                                                                                                                      \
                                                                                                                                                                                                                                                                                                                                                      NORMAL)) "," NODE("engine",                                                                                                                                                                                                                                                                                                                                                                   \
                                                                                                                                                                                                                                                                                                                                                                        USE("renderer", NORMAL) "," USE("zones", NORMAL)) "," NODE("renderer",                                                                                                                                                                                                                                                                                                      \
                                                                                                                                                                                                                                                                                                                                                                                                                                   USE("metal", ON_MAC)) "," NODE("winit",                                                                                                                                                                                                                                                                          \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                  USE("objc2", ON_MAC)) "," NODE("menus", USE("objc2", NORMAL)) "," NODE("user-of-menus", USE("menus", NORMAL)) "," NODE("builder",                                                                                                                                                 \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         USE("metal", BUILD)) "," NODE("zones", USE("core-foundation-sys",                                                                                          \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    ON_MAC)) "," NODE("macros",                                                                                     \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      USE("objc2",                                                                                  \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          NORMAL)) "],\"root\":\"reg#app\"},"                                                       \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "\"target_directory\":\"/somewhere/target\",\"version\":1,\"metadata\":null" end \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "}"

static char message[JSON_MESSAGE_BYTES];

// "app:m engine:l ...", or the message.
static const char *plan_of(const char *metadata, const char *mac, const char *linux_) {
    static char out[1024];
    CargoPlan plan = {0};
    Text text = {0};
    *message = 0;
    cargo_plan_ask(&plan, mac, linux_, NULL);
    bool ok = cargo_plan_make(&plan, metadata, strlen(metadata), message);
    cargo_plan_write(&plan, &text);
    *out = 0;
    for (size_t i = 0; ok && i < plan.n; i++) {
        const CargoCrate *c = &plan.crates[i];
        bool written = cargo_plan_is_mac(text.data, c->name, c->version);
        assert_int_equal(written, c->is_mac);
        assert_non_null(c->why);
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s:%c ", c->name,
                 c->is_mac ? 'm' : 'l');
    }
    if (ok) assert_string_equal(plan.target_folder, "/somewhere/target");
    text_free(&text);
    cargo_plan_free(&plan);
    return ok ? out : message;
}

TEST(by_itself) {
    assert_string_equal(plan_of(METADATA("", "proc-macro", ""), NULL, NULL),
                        "app:m metal:m objc2:m renderer:m engine:m winit:l menus:m user-of-menus:l "
                        "builder:l core-foundation-sys:m zones:l macros:l ");
}

TEST(by_the_environment) {
    const char *out = plan_of(METADATA("", "proc-macro", ""), "zones, win*", "engine");
    assert_non_null(strstr(out, "zones:m"));
    assert_non_null(strstr(out, "winit:m"));
    assert_non_null(strstr(out, "engine:l"));
    assert_non_null(strstr(out, "renderer:m"));
}

TEST(by_manifests) {
#define SETTINGS "\"metadata\":{\"docs\":{},\"ingot\":{\"mac\":[\"zones\"],\"linux\":[\"menus\"]}},"
    const char *out = plan_of(METADATA(SETTINGS, "proc-macro", ""), NULL, NULL);
    assert_non_null(strstr(out, "zones:m"));
    assert_non_null(strstr(out, "menus:l"));
    out = plan_of(METADATA(SETTINGS, "proc-macro", ""), "menus", "zones"); // which counts more
    assert_non_null(strstr(out, "zones:l"));
    assert_non_null(strstr(out, "menus:m"));
    out = plan_of(METADATA("\"metadata\":{\"ingot\":{\"system\":\"linux\"}},", "proc-macro", ""),
                  NULL, NULL);
    assert_non_null(strstr(out, "app:l"));
    out = plan_of(METADATA("", "proc-macro", ",\"metadata\":{\"ingot\":{\"linux\":[\"engine\"]}}"),
                  NULL, NULL);
    assert_non_null(strstr(out, "engine:l"));
}

TEST(mistakes) {
    static const struct {
        const char *metadata, *mac, *says;
    } cases[] = {
        {METADATA("", "proc-macro", ""), "nobody",
         "INGOT_CARGO_MAC names 'nobody', which is no crate of this build"},
        {METADATA("", "proc-macro", ""), "macros",
         "INGOT_CARGO_MAC names 'macros', a procedural macro"},
        {METADATA("\"metadata\":{\"ingot\":{\"mac\":[\"nobody\"]}},", "lib", ""), NULL,
         "[package.metadata.ingot] names 'nobody'"},
        {METADATA("\"metadata\":{\"ingot\":{\"mac\":\"zones\"}},", "lib", ""), NULL, "mac"},
        {METADATA("\"metadata\":{\"ingot\":{\"system\":\"bsd\"}},", "lib", ""), NULL, "bsd"},
        {METADATA("\"metadata\":{\"ingot\":{\"macs\":[]}},", "lib", ""), NULL, "macs"},
        {"{\"packages\":[{\"name\":\"a\"}]}", NULL, "without name, version or id"},
        {"{\"packages\":[]}", NULL, "no target_directory"},
        {"", NULL, "cargo metadata"},
        {"{\"packages\":[", NULL, "cargo metadata"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = plan_of(cases[i].metadata, cases[i].mac, NULL);
        if (!strstr(said, cases[i].says)) fail_msg("'%s' does not say '%s'", said, cases[i].says);
        assert_null(strchr(said, '\n'));
    }
}

// Names are whole names.
TEST(lines_of_a_plan) {
    static const char text[] =
        "# 1;;;\nmetal-sys 1.0.0 linux x\nmetal 1.0.0 linux y\nmetal 2.0.0 mac z\n";
    assert_true(cargo_plan_is_mac(text, "metal", "2.0.0"));
    assert_false(cargo_plan_is_mac(text, "metal", "1.0.0"));
    assert_false(cargo_plan_is_mac(text, "metal", "2.0"));
    assert_false(cargo_plan_is_mac(text, "met", "2.0.0"));
    assert_false(cargo_plan_is_mac("", "metal", "2.0.0"));
}

int main(void) { return unit_run(NULL, NULL); }
