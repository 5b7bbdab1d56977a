// SPDX-License-Identifier: Apache-2.0
// cargo_rustc.c: what cargo calls under `ingot cargo`: ingot-rustc (RUSTC_WRAPPER), ingot-rustdoc
// (RUSTDOC), ingot-rust-cc and ingot-rust-c++ (CC, CXX of build scripts). Each is a link to `ingot`
// that adds what the crate needs and runs the real one.
#include "apps/tools/cargo_int.h"
#include "base/files.h"
#include "mac/cargo/plan.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct RustCall {
    Strings args; // the program first
    const char *crate, *package, *version, *folder;
    bool asks_cfg, asks_version;
    bool is_script, is_macro, links; // links: a program or a shared library is made
    bool is_mac, is_doctest;
    MacPlaces places;
    char *plan; // its text; NULL: none
} RustCall;

static bool same(const char *a, const char *b) { return a && b && !strcmp(a, b); }

static void add_format(RustCall *c, const char *format, const char *value) {
    char *text = text_format(format, value); // lives as long as the process
    cargo_add(&c->args, text ? text : format);
}

// ---- What is asked for ----

static void take_type(RustCall *c, const char *type) {
    c->is_macro |= same(type, "proc-macro");
    c->links |= same(type, "bin") || same(type, "cdylib") || same(type, "dylib");
}

static void read_call(RustCall *c) {
    for (size_t i = 1; i < c->args.n; i++) {
        const char *a = c->args.items[i], *next = i + 1 < c->args.n ? c->args.items[i + 1] : NULL;
        if (same(a, "--crate-name"))
            c->crate = next;
        else if (same(a, "--crate-type"))
            take_type(c, next);
        else if (!strncmp(a, "--crate-type=", 13))
            take_type(c, a + 13);
        else if (same(a, "--test"))
            c->links = true;
        else if (same(a, "--print=cfg") || (same(a, "--print") && same(next, "cfg")))
            c->asks_cfg = true;
        else if (same(a, "-vV"))
            c->asks_version = true;
    }
    c->is_script = c->crate && !strncmp(c->crate, "build_script_", 13) && c->links;
    c->package = getenv("CARGO_PKG_NAME");
    c->version = getenv("CARGO_PKG_VERSION");
    c->folder = getenv("INGOT_CARGO_FOLDER");
}

static void read_plan(RustCall *c) {
    size_t n;
    char *path = c->folder ? path_join(c->folder, CARGO_PLAN) : NULL;
    c->plan = path ? (char *)file_read(path, &n) : NULL;
    free(path);
    c->is_mac = c->plan && c->package && c->version && !c->is_macro &&
                cargo_plan_is_mac(c->plan, c->package, c->version);
}

static int run(RustCall *c) {
    cargo_add(&c->args, NULL);
    execvp(c->args.items[0], c->args.items);
    fprintf(stderr, "ingot cargo: cannot run %s: %s\n", c->args.items[0], strerror(errno));
    return 127;
}

// ---- Questions of cargo's ----

// Cargo is told that the target is a Mac, too: it then has the dependencies of both.
static void add_mac(Text *out, const char *answer) {
    static const char vendor[] = "target_vendor=\"unknown\"";
    const char *at = strstr(answer, vendor);
    if (at) {
        text_add_bytes(out, answer, (size_t)(at - answer));
        text_add(out, "target_vendor=\"apple\"");
        answer = at + sizeof vendor - 1;
    }
    text_add(out, answer);
    text_add(out, "target_os=\"macos\"\n");
}

static int answer(RustCall *c) {
    Text said = {0}, out = {0};
    int status = 0;
    cargo_add(&c->args, NULL);
    if (!capture_program(c->args.items, &said, &status)) {
        fprintf(stderr, "ingot cargo: cannot run %s: %s\n", c->args.items[0], strerror(errno));
        return 127;
    }
    const char *text = said.data ? said.data : "";
    if (status == 0 && c->asks_cfg) {
        add_mac(&out, text);
    } else {
        text_add(&out, text);
        // A part of the version that cargo makes fingerprints of: other settings, other crates.
        if (status == 0 && c->plan)
            text_printf(&out, "ingot: %.*s\n", (int)strcspn(c->plan, "\n"), c->plan);
    }
    fwrite(out.data ? out.data : "", 1, out.n_bytes, stdout);
    text_free(&said), text_free(&out);
    return status;
}

// ---- Crates ----

static void preload(const RustCall *c) {
    char *ours = text_format("%s/libingot-rustc.so", c->places.lib);
    const char *theirs = getenv("LD_PRELOAD");
    char *all = ours && theirs && *theirs ? text_format("%s:%s", ours, theirs) : NULL;
    char *notes = c->folder ? path_join(c->folder, CARGO_NOTES) : NULL;
    if (ours) setenv("LD_PRELOAD", all ? all : ours, 1);
    char *script = c->folder ? path_join(c->folder, CARGO_SCRIPT) : NULL;
    if (notes) setenv("INGOT_RUSTC_NOTES", notes, 1);
    if (script) setenv("INGOT_RUSTC_SCRIPT", script, 1);
    setenv("INGOT_RUSTC_MODE", c->is_mac && !c->is_script ? "mac" : "linux", 1);
    free(ours), free(all), free(notes), free(script);
}

// Where the libraries are, when it is linked and when it runs. On a Mac every program is linked
// with libSystem.
static void add_libraries(RustCall *c) {
    char path[PATH_MAX];
    cargo_add(&c->args, "-L");
    add_format(c, "native=%s", c->places.lib);
    snprintf(path, sizeof path, "%s/%s", c->folder ? c->folder : "", CARGO_LIBRARIES);
    if (is_dir(path)) {
        cargo_add(&c->args, "-L");
        add_format(c, "native=%s", path);
    }
    if (!c->links) return;
    cargo_add(&c->args, "-C");
    add_format(c, "link-arg=-Wl,-rpath,%s", c->places.lib);
    cargo_add(&c->args, "-C");
    cargo_add(&c->args, "link-arg=-lSystem");
}

// The script that libingot-rustc writes: there from the first time on, and no library in it counts
// as not needed.
static void add_script(RustCall *c) {
    static const char head[] = "/* frameworks of crates */\n";
    char *path = c->folder ? path_join(c->folder, CARGO_SCRIPT) : NULL;
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (fd >= 0) write_all(fd, head, sizeof head - 1), close(fd);
    if (path && access(path, R_OK) == 0) {
        cargo_add(&c->args, "-C");
        cargo_add(&c->args, "link-arg=-Wl,--push-state,--no-as-needed");
        cargo_add(&c->args, "-C");
        add_format(c, "link-arg=%s", path);
        cargo_add(&c->args, "-C");
        cargo_add(&c->args, "link-arg=-Wl,--pop-state");
    }
    free(path);
}

static int compile(RustCall *c) {
    if (!mac_places(&c->places)) {
        fputs("ingot cargo: the libraries for macOS programs are not here\n", stderr);
        return EXIT_INPUT;
    }
    preload(c);
    if (c->is_script) {
        cargo_add(&c->args, "-C");
        add_format(
            c, c->is_mac ? "link-arg=%s/build-script-mac.o" : "link-arg=%s/build-script-linux.o",
            c->places.lib);
    } else if (!c->is_macro) {
        add_libraries(c);
        if (c->links && c->is_mac) add_script(c);
    }
    const bool is_member = getenv("CARGO_PRIMARY_PACKAGE") != NULL;
    if (c->is_script || c->is_macro || (!c->links && (!c->is_mac || is_member))) return run(c);
    const CargoWatch watch = {.crate = c->package ? c->package : c->crate,
                              .folder = c->folder,
                              .is_mac = c->is_mac,
                              .is_member = is_member};
    cargo_add(&c->args, NULL);
    return cargo_watch(&watch, c->args.items);
}

static int wrap_rustc(int argc, char **argv) {
    RustCall c = {0};
    if (argc < 2) {
        fputs("ingot-rustc: is called by cargo, under `ingot cargo`\n", stderr);
        return EXIT_USAGE;
    }
    for (int i = 1; i < argc; i++) cargo_add(&c.args, argv[i]);
    read_call(&c);
    read_plan(&c);
    const bool asks = c.asks_cfg ? same(c.crate, "___") : c.asks_version;
    int status = asks ? answer(&c) : !c.crate || same(c.crate, "___") ? run(&c) : compile(&c);
    strings_free(&c.args);
    free(c.plan);
    return status;
}

static int wrap_rustdoc(int argc, char **argv) {
    RustCall c = {0};
    const char *real = getenv("INGOT_CARGO_RUSTDOC");
    cargo_add(&c.args, real && *real ? real : "rustdoc");
    for (int i = 1; i < argc; i++) cargo_add(&c.args, argv[i]);
    read_call(&c);
    read_plan(&c);
    if (!c.crate) return run(&c);
    if (!mac_places(&c.places)) return run(&c);
    preload(&c);
    add_libraries(&c); // c.links: `--test`, the examples in its comments are programs
    if (c.links && c.is_mac) add_script(&c);
    return run(&c);
}

// ---- C compilers of build scripts ----

// The words of a variable such as CC="ccache gcc".
static void add_words(Strings *s, const char *text) {
    for (char *copy = strdup(text), *word = copy ? strtok(copy, " ") : NULL; word;
         word = strtok(NULL, " "))
        cargo_add(s, word);
}

static bool ends_in(const char *s, const char *end) {
    const size_t n = strlen(s), m = strlen(end);
    return n > m && !strcmp(s + n - m, end);
}

static int wrap_cc(int argc, char **argv, bool is_cxx) {
    for (int i = 1; i < argc; i++)
        if (ends_in(argv[i], ".m") || ends_in(argv[i], ".mm")) {
            argv[0] = is_cxx ? "c++" : "cc";
            return is_cxx ? cmd_cxx(argc, argv) : cmd_cc(argc, argv);
        }
    RustCall c = {0};
    const char *real = getenv(is_cxx ? "INGOT_CARGO_CXX" : "INGOT_CARGO_CC");
    add_words(&c.args, real && *real ? real : is_cxx ? "c++" : "cc");
    for (int i = 1; i < argc; i++) cargo_add(&c.args, argv[i]);
    return run(&c);
}

bool cargo_stand_in(int argc, char **argv, int *status) {
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    if (same(name, "ingot-rustc"))
        *status = wrap_rustc(argc, argv);
    else if (same(name, "ingot-rustdoc"))
        *status = wrap_rustdoc(argc, argv);
    else if (same(name, "ingot-rust-cc") || same(name, "ingot-rust-c++"))
        *status = wrap_cc(argc, argv, same(name, "ingot-rust-c++"));
    else
        return false;
    return true;
}
