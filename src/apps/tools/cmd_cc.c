// SPDX-License-Identifier: Apache-2.0
// cmd_cc.c: `ingot cc` and `ingot c++`: clang for programs written for a Mac. Adds the flags of the
// Objective-C ABI, the headers under Apple's names and the libraries, and takes out what only
// Apple's linker knows.
#include "apps/tools/mach_assembly.h"
#include "apps/tools/tools.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: ingot cc  [clang's options] FILES...\n"
    "       ingot c++ [clang's options] FILES...\n"
    "       ingot cc --show          print the flags, for other build systems\n"
    "\n"
    "Compiles and links C, C++ and Objective-C programs written for macOS, using clang with "
    "Ingot's\n"
    "Objective-C runtime, Foundation and Metal. -framework NAME links NAME if Ingot has it; "
    "-arch,\n"
    "-isysroot and -mmacosx-version-min are ignored. INGOT_CLANG selects another clang (22 or "
    "newer).\n"
    "\n"
    "  ingot cc -fobjc-arc triangle.m -o triangle -framework Metal -framework Foundation\n"
    "  ingot c++ -std=c++17 -I metal-cpp add.cpp -o add\n";

// Beside the program: in the folder of a build, or as installed.
bool mac_places(MacPlaces *p) {
    static const struct {
        const char *include, *lib;
    } tries[] = {{"../face/include", "../lib/mac"},
                 {"../include/ingot/mac", "../lib/ingot"},
                 {"../include/ingot/mac", "../lib64/ingot"},
                 {"../include/ingot/mac", "../lib/x86_64-linux-gnu/ingot"},
                 {"../include/ingot/mac", "../lib/aarch64-linux-gnu/ingot"}};
    char exe[PATH_MAX - 64], path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0) return false;
    exe[n] = 0;
    *strrchr(exe, '/') = 0;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        snprintf(path, sizeof path, "%s/%s", exe, tries[i].include);
        if (!realpath(path, p->include)) continue;
        snprintf(path, sizeof path, "%s/%s", exe, tries[i].lib);
        if (realpath(path, p->lib)) return true;
    }
    return false;
}

static char *text(const char *format, const char *value) {
    size_t n = strlen(format) + strlen(value) + 1;
    char *out = must_alloc(n, 1);
    snprintf(out, n, format, value);
    return out;
}

static void add_argument(Strings *s, const char *item) { strings_add(s, (char *)item); }

static void add_compile_flags(Strings *s, const MacPlaces *p) {
    add_argument(s, "-fobjc-runtime=macosx-10.15");
    add_argument(s, "-fblocks");
    add_argument(s, "-fexceptions");
    add_argument(
        s, "-fno-delete-null-pointer-checks"); // metal-cpp sends messages to nil: `this` is NULL
    add_argument(s, "-isystem");
    add_argument(s, p->include);
    add_argument(s, "-include");
    strings_add(s, text("%s/ingot_available.h", p->include));
#ifdef __aarch64__
    add_argument(s, "-D__arm64__"); // metal-cpp asks for Apple's name of the architecture
#endif
}

static void add_link_flags(Strings *s, const MacPlaces *p) {
    static const char *const libraries[] = {"Metal", "Foundation", "dispatch", "objc", "System"};
    char path[PATH_MAX + 32];
    strings_add(s, text("-L%s", p->lib));
    strings_add(s, text("-Wl,-rpath,%s", p->lib));
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        snprintf(path, sizeof path, "%s/lib%s.so", p->lib, libraries[i]);
        if (access(path, R_OK) == 0) strings_add(s, text("-l%s", libraries[i]));
    }
    add_argument(s, "-lm"); // a part of libSystem on a Mac
    char *folder = stand_in_folder();
    snprintf(path, sizeof path, "%s/ld", folder ? folder : "");
    if (access(path, X_OK) == 0) strings_add(s, text("--ld-path=%s", path));
    free(folder);
}

static bool ends_in(const char *s, const char *end) {
    const size_t n = strlen(s), m = strlen(end);
    return n > m && !strcmp(s + n - m, end);
}

// True: a file of assembly written for a Mac, which the compiler gets in this system's words.
static bool take_assembly(Strings *s, const char *path, bool names_object) {
    char readable[32];
    const bool plain = ends_in(path, ".s");
    if ((!plain && !ends_in(path, ".S")) || !mach_assembly(path, readable)) return false;
    const char *name = strrchr(path, '/'), *base = name ? name + 1 : path;
    if (names_object) {
        add_argument(s, "-o");
        strings_add(s, text("%s", base));
        s->items[s->n - 1][strlen(base) - 1] = 'o';
    }
    if (!plain && name) {
        add_argument(s, "-I"); // what it includes lies beside it
        strings_add(s, text("%s", path));
        *strrchr(s->items[s->n - 1], '/') = 0;
    }
    add_argument(s, "-x");
    add_argument(s, plain ? "assembler" : "assembler-with-cpp");
    strings_add(s, text("%s", readable));
    add_argument(s, "-x");
    add_argument(s, "none");
    return true;
}

static bool has(const char *option, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], option)) return true;
    return false;
}

// The program's own arguments, less what Apple's compiler alone has. False: nothing is linked.
static bool take_arguments(Strings *s, const MacPlaces *p, int argc, char **argv) {
    static const char *const with_value[] = {"-arch", "-isysroot", "-weak_framework"};
    const bool names_objects = has("-c", argc, argv) && !has("-o", argc, argv);
    bool links = true;
    char path[PATH_MAX + 64];
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        bool dropped = strncmp(a, "-mmacosx-version-min", 20) == 0 ||
                       strncmp(a, "-mmacos-version-min", 19) == 0;
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++)
            if (!strcmp(a, with_value[k])) dropped = true, ++i;
        if (dropped) continue;
        if (!strcmp(a, "-framework") && i + 1 < argc) {
            snprintf(path, sizeof path, "%s/lib%s.so", p->lib, argv[++i]);
            if (access(path, R_OK) == 0) strings_add(s, text("-l%s", argv[i]));
            continue;
        }
        if (!strcmp(a, "-c") || !strcmp(a, "-E") || !strcmp(a, "-S") || !strcmp(a, "-fsyntax-only"))
            links = false;
        if (strcmp(argv[i - 1], "-o") != 0 && take_assembly(s, a, names_objects)) continue;
        add_argument(s, a);
    }
    return links;
}

// Whether it lies beside the compiler, which is where it is installed.
static bool lies_beside(const char *compiler_path, const char *name) {
    char path[PATH_MAX];
    const char *slash = strrchr(compiler_path, '/');
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - compiler_path), compiler_path, name);
    return access(path, R_OK) == 0;
}

// A Mac's C++ library is libc++, whose headers bring more of each other along than libstdc++'s do:
// programs rely on it. The archive is linked, not the shared library: Debian's packages pair these
// headers with a shared library of years before, which lacks what they call.
static bool has_libcxx(const char *compiler) {
    const char *path = getenv("PATH");
    char name[PATH_MAX], real[PATH_MAX];
    if (strchr(compiler, '/')) path = "", snprintf(name, sizeof name, "%s", compiler);
    for (const char *at = path ? path : ""; at;) {
        const size_t n = strcspn(at, ":");
        if (*path) snprintf(name, sizeof name, "%.*s/%s", (int)n, at, compiler);
        if (realpath(name, real) && access(real, X_OK) == 0)
            return lies_beside(real, "../include/c++/v1/version") &&
                   lies_beside(real, "../lib/libc++.a") && lies_beside(real, "../lib/libc++abi.a");
        at = at[n] ? at + n + 1 : NULL;
    }
    return false;
}

static int compile(int argc, char **argv, const char *compiler, const char *command) {
    MacPlaces places;
    Strings all = {0};
    bool show = argc > 1 && !strcmp(argv[1], "--show");
    if (argc < 2 || !strcmp(argv[1], "--help")) {
        fputs(usage, argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : EXIT_FINE;
    }
    if (!mac_places(&places))
        return complain(EXIT_INPUT, command,
                        "the headers and libraries for macOS programs are not installed");
    const char *other = getenv("INGOT_CLANG");
    if (other && *other) compiler = other;
    add_argument(&all, compiler);
    add_compile_flags(&all, &places);
    bool chosen = strcmp(command, "c++") != 0;
    for (int i = 1; i < argc; i++) chosen |= strncmp(argv[i], "-stdlib=", 8) == 0;
    const bool libcxx = !chosen && has_libcxx(compiler);
    if (libcxx) add_argument(&all, "-stdlib=libc++");
    bool links = show || take_arguments(&all, &places, argc, argv);
    if (links && libcxx) {
        static const char *const archives[] = {"-nostdlib++", "-l:libc++.a", "-l:libc++abi.a"};
        for (size_t i = 0; i < sizeof archives / sizeof *archives; i++)
            add_argument(&all, archives[i]);
    }
    if (links) add_link_flags(&all, &places);
    if (show) {
        for (size_t i = 1; i < all.n; i++) printf("%s%s", all.items[i], i + 1 < all.n ? " " : "\n");
        strings_free(&all);
        return EXIT_FINE;
    }
    strings_add(&all, NULL);
    execvp(all.items[0], all.items);
    return complain(EXIT_INPUT, command, "cannot run %s", all.items[0]);
}

int cmd_cc(int argc, char **argv) { return compile(argc, argv, "clang-22", "cc"); }
int cmd_cxx(int argc, char **argv) { return compile(argc, argv, "clang++-22", "c++"); }
