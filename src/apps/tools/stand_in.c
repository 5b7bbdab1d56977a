// SPDX-License-Identifier: Apache-2.0
// stand_in.c: the names that build systems of macOS call: xcrun, metal, metallib, metal-ar,
// metal-libtool, ld, sw_vers, sysctl, zsh. Each is a link to `ingot` in a folder of its own
// (libexec/ingot/mac-bin), which goes to the front of PATH; what is done is `ingot build`, `ingot
// cc` or a tool of this system. They answer as macOS 26 would.
#include "base/files.h"
#include "mac/launch/system_info.h"
#include "apps/tools/mach_linker.h"
#include "apps/tools/tools.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool same(const char *a, const char *b) { return !strcmp(a, b); }

// Also "--option".
static bool is_option(const char *arg, const char *name) {
    return same(arg, name) || (*arg == '-' && same(arg + 1, name));
}

// A tool of this system: the first on PATH that is not one of our links.
static int run_other(char **argv) {
    char self[PATH_MAX], found[PATH_MAX], path[PATH_MAX];
    const char *list = getenv("PATH");
    if (!realpath("/proc/self/exe", self)) *self = 0;
    for (const char *at = list ? list : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
        int n = (int)strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", n, at, argv[0]);
        if (access(path, X_OK) || !realpath(path, found) || same(found, self)) continue;
        execv(path, argv);
    }
    return -1;
}

// ---- Compiling and linking ----

static int run_metal(int argc, char **argv) {
    static const char *const says_what[] = {"-o",     "-c", "-E", "-M", "-MM", "-fsyntax-only",
                                            "--help", "-h"};
    bool said = argc < 2;
    for (int i = 1; i < argc; i++) {
        if (is_option(argv[i], "-version")) {
            puts("Ingot's metal, in place of Apple's\nTarget: air64-apple-macos" MAC_VERSION);
            return EXIT_FINE;
        }
        for (size_t k = 0; k < sizeof says_what / sizeof *says_what; k++)
            said |= same(argv[i], says_what[k]) || (k == 0 && !strncmp(argv[i], "-o", 2));
    }
    char **more = must_alloc((size_t)argc + 3, sizeof *more);
    memcpy(more, argv, (size_t)argc * sizeof *more);
    if (!said) more[argc++] = "-o", more[argc++] = "default.metallib";
    int status = build_as(argv[0], argc, more);
    free(more);
    return status;
}

// metallib links what is there already: a pipe that brings nothing must not become a library.
static int run_metallib(int argc, char **argv) { return run_metal(argc, argv); }

static int run_ar(int argc, char **argv) {
    static char *const names[] = {"ar", "llvm-ar-22", "llvm-ar"};
    (void)argc;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        argv[0] = names[i];
        run_other(argv);
    }
    fputs("metal-ar: error: no `ar` found (package binutils)\n", stderr);
    return EXIT_INPUT;
}

// metal-libtool -static -o OUT FILES: an archive of them.
static int run_libtool(int argc, char **argv) {
    Strings all = {0};
    const char *out = NULL;
    strings_add(&all, "ar");
    strings_add(&all, "rcs");
    strings_add(&all, NULL);
    for (int i = 1; i < argc; i++) {
        if (same(argv[i], "-o") && i + 1 < argc)
            out = all.items[2] = argv[++i];
        else if (*argv[i] != '-')
            strings_add(&all, argv[i]);
    }
    if (!out || all.n < 4) {
        fputs("usage: metal-libtool -static -o OUT FILE.air...\n", stderr);
        return EXIT_USAGE;
    }
    unlink(out); // a new one, not an old one with more
    strings_add(&all, NULL);
    return run_ar(argc, all.items);
}

static int run_ld(int argc, char **argv) {
    Strings all = {0};
    strings_add(&all, "ld");
    mach_linker(&all, argc - 1, argv + 1);
    strings_add(&all, NULL);
    run_other(all.items);
    fputs("ld: no linker found (package binutils)\n", stderr);
    return EXIT_INPUT;
}

// ---- Facts ----

static int run_sw_vers(int argc, char **argv) {
    static const struct {
        const char *option, *name, *value;
    } rows[] = {{"-productName", "ProductName", "macOS"},
                {"-productVersion", "ProductVersion", MAC_VERSION},
                {"-buildVersion", "BuildVersion", MAC_BUILD}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (argc < 2)
            printf("%s:\t\t%s\n", rows[i].name, rows[i].value);
        else if (is_option(argv[1], rows[i].option))
            return puts(rows[i].value) < 0 ? EXIT_INPUT : EXIT_FINE;
    if (argc < 2) return EXIT_FINE;
    fprintf(stderr, "sw_vers: unknown option '%s'\n", argv[1]);
    return EXIT_USAGE;
}

static int run_sysctl(int argc, char **argv) {
    bool bare = argc > 1 && same(argv[1], "-n");
    MacSystemInfo fact;
    for (int i = 1 + bare; i < argc; i++)
        if (*argv[i] == '-' || !mac_system_info(argv[i], &fact)) { // a name of this system
            run_other(argv);
            fprintf(stderr, "sysctl: unknown oid '%s'\n", argv[i]);
            return EXIT_INPUT;
        }
    for (int i = 1 + bare; i < argc; i++)
        if (mac_system_info(argv[i], &fact))
            printf("%s%s%s\n", bare ? "" : argv[i], bare ? "" : ": ", fact.text);
    if (argc < 2) run_other(argv);
    return EXIT_FINE;
}

// Builds run short scripts with it; any shell of this system reads those.
static int run_zsh(int argc, char **argv) {
    static char *const names[] = {"zsh", "bash", "sh"};
    (void)argc;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        argv[0] = names[i];
        run_other(argv);
    }
    fputs("zsh: no shell found\n", stderr);
    return EXIT_INPUT;
}

// ---- xcrun ----

static int run_xcrun(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} names[] = {{"xcrun", run_xcrun},
             {"metal", run_metal},
             {"metallib", run_metallib},
             {"metal-ar", run_ar},
             {"metal-libtool", run_libtool},
             {"ld", run_ld},
             {"sw_vers", run_sw_vers},
             {"sysctl", run_sysctl},
             {"zsh", run_zsh},
             {"clang", cmd_cc},
             {"cc", cmd_cc},
             {"clang++", cmd_cxx},
             {"c++", cmd_cxx}};
enum { N_LINKS = 9, N_NAMES = sizeof names / sizeof *names }; // the first ones are links

char *stand_in_folder(void) {
    char *here = executable_dir(),
         *path = here ? path_join(here, "../libexec/ingot/mac-bin") : NULL;
    char *folder = path ? realpath(path, NULL) : NULL;
    free(here);
    free(path);
    return folder;
}

// Where a tool is that xcrun would run. False: nowhere.
static bool find_tool(const char *tool, char *path, size_t n) {
    char *folder = stand_in_folder();
    for (int i = 0; folder && i < N_LINKS; i++) {
        if (!same(tool, names[i].name)) continue;
        snprintf(path, n, "%s/%s", folder, tool);
        free(folder);
        return !access(path, X_OK);
    }
    free(folder);
    const char *list = getenv("PATH");
    for (const char *at = list ? list : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
        snprintf(path, n, "%.*s/%s", (int)strcspn(at, ":"), at, tool);
        if (!access(path, X_OK)) return true;
    }
    return false;
}

enum { NO_TOOL = 72 }; // Apple's exit status
static int no_tool(const char *tool) {
    fprintf(stderr,
            "xcrun: error: unable to find utility \"%s\": it is not one of Ingot's stand-ins "
            "and not on PATH\n",
            tool);
    return NO_TOOL;
}

static int run_tool(int argc, char **argv) {
    for (int i = 0; i < N_NAMES; i++)
        if (same(argv[0], names[i].name)) return names[i].run(argc, argv);
    execvp(argv[0], argv);
    return no_tool(argv[0]);
}

static int run_xcrun(int argc, char **argv) {
    static const char *const with_value[] = {"-sdk", "-toolchain"};
    static const struct {
        const char *option, *answer;
    } facts[] = {{"-show-sdk-version", MAC_VERSION},          {"-show-sdk-path", "/"},
                 {"-show-sdk-build-version", MAC_BUILD},      {"-show-sdk-platform-path", "/"},
                 {"-show-sdk-platform-version", MAC_VERSION}, {"-version", "xcrun of Ingot"}};
    char path[PATH_MAX];
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (*a != '-') return run_tool(argc - i, argv + i);
        bool known = false;
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++)
            if (is_option(a, with_value[k])) known = true, i++;
        for (size_t k = 0; k < sizeof facts / sizeof *facts; k++)
            if (is_option(a, facts[k].option))
                return puts(facts[k].answer) < 0 ? EXIT_INPUT : EXIT_FINE;
        if (!known && (is_option(a, "-find") || same(a, "-f"))) {
            if (i + 1 >= argc) break;
            if (!find_tool(argv[i + 1], path, sizeof path)) return no_tool(argv[i + 1]);
            return puts(path) < 0 ? EXIT_INPUT : EXIT_FINE;
        } // -r, -n, -k, -v, -l and their long names change nothing
    }
    fputs("usage: xcrun [--sdk NAME] TOOL ARGS...\n"
          "       xcrun [--sdk NAME] --find TOOL | --show-sdk-path | --show-sdk-version\n\n"
          "Ingot's stand-in for Apple's: runs metal, metallib, metal-ar and metal-libtool of "
          "Ingot,\nclang as `ingot cc`, and other tools from PATH.\n",
          argc < 2 ? stderr : stdout);
    return argc > 1 && is_option(argv[1], "-help") ? EXIT_FINE : EXIT_USAGE;
}

bool stand_in(int argc, char **argv, int *status) {
    const char *slash = argc ? strrchr(argv[0], '/') : NULL;
    for (int i = 0; argc && i < N_LINKS; i++) {
        if (!same(slash ? slash + 1 : argv[0], names[i].name)) continue;
        argv[0] = (char *)(uintptr_t)names[i].name;
        *status = names[i].run(argc, argv);
        if ((fflush(stdout) || ferror(stdout)) && !*status) *status = EXIT_INPUT;
        return true;
    }
    return false;
}
