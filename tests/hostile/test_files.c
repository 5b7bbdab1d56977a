// SPDX-License-Identifier: Apache-2.0
// test_files.c: sources that want to see files they were not given. Each is compiled through the
// API, so that both guards are in the way: what the front end lets Clang look at, and the
// confinement of its process. A secret lies in several places; nothing of it may be in the message,
// the library must not be made, and the message is about the line of the attempt.
#include "../unit.h"
#include "base/files.h"
#include "base/text.h"
#include "ingot/metal.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/ingot-files-XXXXXX";
static MTLDevice *device;

static void put(const char *name, const char *text) {
    char *path = path_join(root, name);
    assert_true(file_write_atomic(path, text, strlen(text), false));
    free(path);
}

// The root holds what nobody allowed, given/ what the caller allows.
static int set_up(void **state) {
    (void)state;
    char path[PATH_MAX];
    if (!mkdtemp(root)) return 1;
    const char *const folders[] = {"given",        "given/inner", "given/.hidden",
                                   "beside",       ".hidden",     "project",
                                   "project/.git", "project/src", "project/bin"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        if (mkdir(path, 0700)) return 1;
    }
    put("secret", "the 5ecret\n");
    put("secret.h", "constant int x = the_5ecret;\n");
    put(".hidden/config.h", "constant int x = the_5ecret;\n");
    put("beside/shared.h", "constant int shared = 1;\n");
    put("given/fine.h", "constant int fine = 1;\n");
    put("given/inner/up.h", "#include \"../fine.h\"\n");
    put("given/inner/out.h", "#include \"../../secret\"\n");
    put("project/.git/config.h", "constant int x = the_5ecret;\n");
    put("project/src/beside.h", "constant int beside = 1;\n");
    put("project/bin/shared.fx", "constant int shared = 1;\n");
    snprintf(path, sizeof path, "%s/project/open", root);
    if (symlink(".git", path)) return 1;
    snprintf(path, sizeof path, "%s/project/src/link.h", root);
    if (symlink("../../secret.h", path)) return 1;
    snprintf(path, sizeof path, "%s/given/link.h", root);
    if (symlink("../secret", path)) return 1;
    snprintf(path, sizeof path, "%s/given/folder", root);
    if (symlink("..", path)) return 1;
    snprintf(path, sizeof path, "%s/given/back.h", root);
    if (symlink("folder/given/fine.h", path)) return 1;
    device = mtl_create_system_default_device();
    return !device || chdir(root);
}

static int tear_down(void **state) {
    (void)state;
    mtl_release(device);
    char *remove = text_format("rm -r '%s'", root);
    int status = system(remove);
    free(remove);
    return status;
}

// The text with @ for the root.
static char *with_root(const char *text) {
    Text t = {0};
    for (; *text; text++)
        if (*text == '@')
            text_add(&t, root);
        else
            text_add_bytes(&t, text, 1);
    return text_take(&t);
}

// expect: a part of the message, or NULL: it compiles.
static void attempt(const char *source, const MTLCompileOptions *options, const char *expect) {
    char *text = with_root(source);
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(device, text, options, &error);
    const char *message = error ? mtl_error_localized_description(error) : "";
    if (!expect != (library != NULL) || (expect && !strstr(message, expect)) ||
        strstr(message, "5ecret"))
        fail_msg("%s\n%s: %s", text, library ? "compiled" : "refused", message);
    if (expect) {
        assert_true(mtl_error_diagnostic_count(error) >= 1);
        assert_int_equal(mtl_error_diagnostic(error, 0)->line, 1);
    }
    mtl_release(library);
    mtl_release(error);
    free(text);
}

static const char *const outside[] = {
    "#include \"/etc/passwd\"\n",
    "#include </etc/passwd>\n",
    "#include \"@/secret\"\n",
    "#include \"@/secret.h\"\n",
    "#include \"secret\"\n", // of the folder in which the application happens to run
    "#include \"secret.h\"\n",
    "#include \"./secret\"\n",
    "#include <secret.h>\n",
    "#include \"../secret\"\n",
    "#include <../../../../../../../../../../../../../../../../etc/passwd>\n",
    "#include <detail/../../../../../../../../../../../../../../../etc/passwd>\n",
    "#include \"/proc/self/environ\"\n",
    "#include \"/proc/self/cmdline\"\n",
    "#include \"/dev/zero\"\n",
    "#include \"/dev/stdin\"\n",
    "#include \"/memory/../etc/passwd\"\n",
    "#include \"/nowhere/at/all\"\n", // nobody learns what there is
    "#import \"@/secret.h\"\n",
    "#include_next </etc/passwd>\n",
};

TEST(a_text_sees_no_files) {
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        attempt(outside[i], NULL, "file not found");
    const char *given = "given";
    MTLCompileOptions options = {.include_paths = &given, .include_path_count = 1};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        attempt(outside[i], &options, "file not found");
}

TEST(the_message_says_why) {
    attempt("#include \"/etc/passwd\"\n", NULL,
            "'/etc/passwd' file not found: it is outside of the folders that the source may "
            "include");
    attempt("#include \"/nowhere\"\n", NULL, "'/nowhere' file not found: it is outside of");
}

TEST(bytes_are_not_embedded) {
    static const char refused[] = "'#embed' is not supported in Metal";
    attempt("#embed \"/etc/hostname\"\n", NULL, refused);
    attempt("#embed \"@/secret\"\n", NULL, refused);
    attempt("#embed <../../../../../../../../../../../../../../../etc/passwd>\n", NULL, refused);
    attempt("#embed \"program_source\"", NULL, refused);
}

TEST(questions_are_answered_no) {
    attempt("#if __has_include(\"/etc/passwd\") || __has_include(\"@/secret.h\") || "
            "__has_include(\"secret\") || __has_include_next(</etc/passwd>)\n#error it is there\n"
            "#endif\n",
            NULL, NULL);
    attempt("#if __has_embed(\"/etc/passwd\") || __has_embed(\"@/secret\")\n#error it is there\n"
            "#endif\n",
            NULL, NULL);
}

TEST(lines_of_other_files_are_not_shown) {
    attempt("int a = nothing; \n#line 1 \"@/secret\"\nint b = nothing;\n", NULL, "nothing");
    attempt("int a = nothing; \n# 1 \"@/secret\" 1\nint b = nothing;\n", NULL, "nothing");
    attempt("int a = nothing; \n# 1 \"@/secret.h\" 1 3\nint b = nothing;\n", NULL, "nothing");
}

TEST(folders_that_were_given) {
    const char *const given[] = {"given"};
    MTLCompileOptions options = {.include_paths = given, .include_path_count = 1};
    attempt("#include \"fine.h\"\nconstant int y = fine;\n", &options, NULL);
    attempt("#include <inner/up.h>\nconstant int y = fine;\n", &options, NULL);
    attempt("#include \"back.h\"\nconstant int y = fine;\n", &options, NULL);
    attempt("#include \"@/given/fine.h\"\nconstant int y = fine;\n", &options, NULL);
    attempt("#if !__has_include(\"fine.h\")\n#error it is not there\n#endif\n", &options, NULL);
    attempt("#include \"link.h\"\n", &options, "file not found");
    attempt("#include \"folder/secret\"\n", &options, "file not found");
    attempt("#include \"folder/secret.h\"\n", &options, "file not found");
    attempt("#include \"inner/../../secret\"\n", &options, "file not found");
    attempt("#include \"inner/../../beside/shared.h\"\n", &options, "file not found");
    attempt("#include \"inner/out.h\"\n", &options, "file not found");
    attempt("#include \"inner\"\n", &options, "file not found");
}

// What is its project's is the source's, whatever it is called; nothing beside it, above it or
// hidden in it is, by no way.
TEST(the_project_of_a_file) {
    put("project/src/own.metal", "");
    MTLCompileOptions options = {.source_name = "project/src/own.metal"};
    attempt("#include \"beside.h\"\nconstant int y = beside;\n", &options, NULL);
    attempt("#include \"../bin/shared.fx\"\nconstant int y = shared;\n", &options, NULL);
    attempt("#include \"../bin/missing.fx\"\n", &options, "'../bin/missing.fx' file not found\n");
    static const char *const refused[] = {"../../secret.h",
                                          "../.git/config.h",
                                          "../open/config.h",
                                          "../../.hidden/config.h",
                                          "../../given/fine.h",
                                          "link.h",
                                          "@/secret.h",
                                          "@/project/.git/config.h",
                                          "../../../../../../../../../../etc/passwd"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *source = text_format("#include \"%s\"\n", refused[i]);
        attempt(source, &options, "it is outside of the folders");
        free(source);
    }
    options.source_name = "project/src/no_such_file.metal";
    attempt("#include \"beside.h\"\n", &options, "file not found");
    attempt("#include \"../bin/shared.fx\"\n", &options, "file not found");
}

// Without version control: the current folder.
TEST(the_folder_of_a_file) {
    put("given/own.metal", "");
    MTLCompileOptions options = {.source_name = "given/own.metal"};
    attempt("#include \"fine.h\"\nconstant int y = fine;\n", &options, NULL);
    attempt("#include \"../beside/shared.h\"\nconstant int y = shared;\n", &options, NULL);
    attempt("#include \"../.hidden/config.h\"\n", &options, "file not found");
    attempt("#include \"../../../../../../../../../../etc/passwd\"\n", &options, "file not found");
    options.source_name = "given/no_such_file.metal";
    attempt("#include \"fine.h\"\n", &options, "file not found");
    attempt("#include \"../beside/shared.h\"\n", &options, "file not found");
}

int main(void) { return unit_run(set_up, tear_down); }
