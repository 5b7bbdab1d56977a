// SPDX-License-Identifier: Apache-2.0
// cmd_cargo.c: `ingot cargo ARGS...`: cargo, for crates written for a Mac. Cargo itself is this
// system's and so is rustc; cargo is given wrappers for rustc and rustdoc (cargo_rustc.c) and a
// plan of which crates are a Mac's (mac/cargo/plan.h), and replaces this process.
#include "apps/tools/cargo_int.h"
#include "base/files.h"
#include "mac/cargo/plan.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "usage: ingot cargo [+TOOLCHAIN] COMMAND [cargo's options]\n"
    "       ingot cargo --crates [cargo's options]\n"
    "\n"
    "Runs cargo so that crates for macOS (metal, objc2-metal, what uses them, and the workspace) "
    "are\n"
    "compiled as on a Mac and linked with Ingot's libraries; all others stay Linux's. Everything "
    "is\n"
    "built in a folder `ingot` of the target folder. --crates lists which crate is compiled as "
    "what.\n"
    "\n"
    "  INGOT_CARGO_MAC=a,b         compile these crates as a Mac's too; `*` ends a name\n"
    "  INGOT_CARGO_LINUX=a,b       compile these as Linux's\n"
    "  INGOT_CARGO_FRAMEWORKS=A,B  frameworks that Ingot does not have: link empty ones\n"
    "\n"
    "The same in a Cargo.toml: [package.metadata.ingot] mac = [...], linux = [...], frameworks = "
    "[...].\n"
    "\n"
    "  ingot cargo test --features metal\n";

typedef struct CargoJob {
    int argc;
    char **argv;         // of cargo: argv[0] is "cargo"
    const char *command; // of cargo; NULL: none
    const char *toolchain;
    char *host;    // the system that is compiled for: x86_64-unknown-linux-gnu
    char *sysroot; // of rustc
    char *tools;   // the folder with our names
    MacPlaces places;
    CargoPlan plan;
    char *folder; // INGOT_CARGO_FOLDER
} CargoJob;

void cargo_add(Strings *s, const char *item) {
    if (!strings_add(s, (char *)item)) exit(complain(EXIT_INPUT, "cargo", "out of memory"));
}

static char *must(char *text) {
    if (!text) exit(complain(EXIT_INPUT, "cargo", "out of memory"));
    return text;
}

static void set(const char *name, const char *value) {
    if (setenv(name, value, 1)) exit(complain(EXIT_INPUT, "cargo", "out of memory"));
}

bool capture_program(char **argv, Text *out, int *status) {
    extern char **environ;
    posix_spawn_file_actions_t actions;
    int ends[2], how = 0;
    pid_t child;
    if (pipe2(ends, O_CLOEXEC)) return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int failed = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char piece[65536];
    for (ssize_t n; !failed && (n = read(ends[0], piece, sizeof piece)) != 0;)
        if (n > 0)
            text_add_bytes(out, piece, (size_t)n);
        else if (errno != EINTR)
            break;
    close(ends[0]);
    if (failed) return errno = failed, false;
    while (waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return true;
}

// ---- Cargo's command line ----

// Options that `cargo metadata` understands too; those with a value.
static const char *const shared_options[] = {"--locked",
                                             "--offline",
                                             "--frozen",
                                             "--all-features",
                                             "-q",
                                             "--quiet",
                                             "--no-default-features"};
static const char *const shared_values[] = {"--manifest-path", "--features", "-F",
                                            "--config",        "-Z",         "--color"};
#define N(list) (sizeof(list) / sizeof *(list))

static bool is_one_of(const char *const *list, size_t n, const char *text) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], text)) return true;
    return false;
}

// "--features=a"
static bool has_shared_value(const char *text) {
    for (size_t i = 0; i < N(shared_values); i++) {
        const size_t n = strlen(shared_values[i]);
        if (!strncmp(text, shared_values[i], n) && text[n] == '=') return true;
    }
    return false;
}

// The value of an option, "--a b" or "--a=b"; NULL: it is not given.
static const char *value_of(const CargoJob *job, const char *option) {
    const size_t n = strlen(option);
    for (int i = 1; i < job->argc && strcmp(job->argv[i], "--") != 0; i++) {
        if (!strcmp(job->argv[i], option) && i + 1 < job->argc) return job->argv[i + 1];
        if (!strncmp(job->argv[i], option, n) && job->argv[i][n] == '=')
            return job->argv[i] + n + 1;
    }
    return NULL;
}

static void find_command(CargoJob *job) {
    for (int i = 1; i < job->argc && !job->command; i++) {
        const char *a = job->argv[i];
        if (i == 1 && *a == '+')
            job->toolchain = a;
        else if (is_one_of(shared_values, N(shared_values), a) || !strcmp(a, "-C"))
            i++;
        else if (*a != '-')
            job->command = a;
    }
}

static bool compiles(const char *command) {
    static const char *const all[] = {"build", "b",      "check",   "c",      "test", "t",
                                      "run",   "r",      "bench",   "doc",    "d",    "rustc",
                                      "fix",   "clippy", "rustdoc", "install"};
    return command && is_one_of(all, N(all), command);
}

// ---- Rustc ----

// Whether a program has no loader that could be asked to preload a library.
static bool is_static(const char *path) {
    size_t n;
    unsigned char *file = file_read(path, &n);
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)file;
    bool known = file && n >= sizeof *elf && !memcmp(elf->e_ident, ELFMAG, SELFMAG) &&
                 elf->e_ident[EI_CLASS] == ELFCLASS64 && elf->e_phentsize == sizeof(Elf64_Phdr) &&
                 elf->e_phoff <= n && elf->e_phnum <= (n - elf->e_phoff) / sizeof(Elf64_Phdr);
    bool loader = !known;
    for (int i = 0; known && i < elf->e_phnum; i++) {
        Elf64_Phdr part;
        memcpy(&part, file + elf->e_phoff + (size_t)i * sizeof part, sizeof part);
        loader |= part.p_type == PT_INTERP;
    }
    free(file);
    return !loader;
}

// A line of the text that starts with `name`, without it; NULL: there is none.
static char *line_after(const char *text, const char *name) {
    const size_t n = strlen(name);
    for (const char *at = text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        if (!strncmp(at, name, n)) return must(strndup(at + n, strcspn(at + n, "\n")));
    return NULL;
}

static const char *rustc_of(void) {
    const char *rustc = getenv("RUSTC");
    return rustc && *rustc ? rustc : "rustc";
}

static bool ask_rustc(const CargoJob *job, const char *question, Text *answer) {
    Strings args = {0};
    int status = 0;
    cargo_add(&args, rustc_of());
    if (job->toolchain) cargo_add(&args, job->toolchain);
    cargo_add(&args, question);
    cargo_add(&args, NULL);
    bool ok = capture_program(args.items, answer, &status) && status == 0 && answer->data;
    strings_free(&args);
    return ok;
}

// The rustc that will be called: for which system, and whether it can be wrapped. 0, or a status.
static int look_at_rustc(CargoJob *job) {
    Text version = {0}, sysroot = {0};
    if (!ask_rustc(job, "-vV", &version) || !ask_rustc(job, "--print=sysroot", &sysroot)) {
        text_free(&version), text_free(&sysroot);
        return complain(EXIT_INPUT, "cargo", "cannot run %s (rustup's or the package rustc)",
                        rustc_of());
    }
    job->host = line_after(version.data, "host: ");
    job->sysroot = must(strndup(sysroot.data, strcspn(sysroot.data, "\n")));
    text_free(&version), text_free(&sysroot);
    if (!job->host) return complain(EXIT_INPUT, "cargo", "%s -vV names no host", rustc_of());
    char *compiler = must(path_join(job->sysroot, "bin/rustc"));
    bool refused = is_static(compiler);
    if (refused)
        complain(EXIT_INPUT, "cargo",
                 "%s is linked statically, so that nothing can be preloaded into it: use a rustc "
                 "for glibc (rustup's or Debian's)",
                 compiler);
    free(compiler);
    return refused ? EXIT_INPUT : EXIT_FINE;
}

// ---- The plan ----

// The arguments of `cargo metadata` for what the command will resolve: the same features, manifest
// and network. *manifest must live as long.
static void add_metadata_args(const CargoJob *job, Strings *args, char **manifest) {
    const char *path = value_of(job, "--path");
    bool installs = job->command && !strcmp(job->command, "install");
    *manifest = installs && path ? must(path_join(path, "Cargo.toml")) : NULL;
    cargo_add(args, "cargo");
    if (job->toolchain) cargo_add(args, job->toolchain);
    cargo_add(args, "metadata");
    cargo_add(args, "--format-version=1");
    if (*manifest) cargo_add(args, "--manifest-path"), cargo_add(args, *manifest);
    for (int i = 1; i < job->argc && strcmp(job->argv[i], "--") != 0; i++) {
        const char *a = job->argv[i];
        if (is_one_of(shared_options, N(shared_options), a) || has_shared_value(a)) {
            cargo_add(args, a);
        } else if (is_one_of(shared_values, N(shared_values), a) && i + 1 < job->argc) {
            cargo_add(args, a);
            cargo_add(args, job->argv[++i]);
        }
    }
}

static int ask_metadata(const CargoJob *job, Text *out) {
    Strings args = {0};
    int status = 0;
    const char *target = value_of(job, "--target");
    char *manifest;
    add_metadata_args(job, &args, &manifest);
    cargo_add(&args, "--filter-platform");
    cargo_add(&args, target ? target : job->host);
    cargo_add(&args, NULL);
    if (!capture_program(args.items, out, &status))
        status = complain(EXIT_INPUT, "cargo", "cannot run cargo: %s", strerror(errno));
    strings_free(&args);
    free(manifest);
    return status;
}

static int make_plan(CargoJob *job) {
    Text metadata = {0};
    char message[JSON_MESSAGE_BYTES] = "";
    bool installs = job->command && !strcmp(job->command, "install");
    if (installs && !value_of(job, "--path"))
        return complain(EXIT_USAGE, "cargo",
                        "install needs --path: the sources of a crate say which crates are a "
                        "Mac's");
    int status = ask_metadata(job, &metadata);
    if (status == EXIT_FINE) {
        cargo_plan_ask(&job->plan, getenv("INGOT_CARGO_MAC"), getenv("INGOT_CARGO_LINUX"),
                       getenv("INGOT_CARGO_FRAMEWORKS"));
        if (!cargo_plan_make(&job->plan, metadata.data ? metadata.data : "", metadata.n_bytes,
                             message))
            status = complain(EXIT_INPUT, "cargo", "%s", message);
    }
    text_free(&metadata);
    return status;
}

// What was asked for, which is a part of every crate's fingerprint (cargo_rustc.c: -vV).
static char *settings_of(const CargoJob *job) {
    const Strings *lists[] = {&job->plan.mac, &job->plan.linux_, &job->plan.frameworks};
    Text t = {0};
    text_add(&t, "# 1"); // of the rules in plan.c
    for (size_t k = 0; k < N(lists); k++) {
        text_add(&t, ";");
        for (size_t i = 0; i < lists[k]->n; i++) text_printf(&t, " %s", lists[k]->items[i]);
    }
    text_add(&t, ";");
    for (size_t i = 0; i < job->plan.n; i++) {
        const CargoCrate *c = &job->plan.crates[i];
        if (c->said) text_printf(&t, " %s=%d", c->name, c->said);
    }
    text_printf(&t, "; %s\n", job->places.lib);
    return must(text_take(&t));
}

// Empty libraries for frameworks that were asked for.
static bool link_frameworks(const CargoJob *job) {
    char to[PATH_MAX + 32], from[2 * PATH_MAX];
    snprintf(to, sizeof to, "%s/libingot-empty.so", job->places.lib);
    for (size_t i = 0; i < job->plan.frameworks.n; i++) {
        const char *name = job->plan.frameworks.items[i];
        snprintf(from, sizeof from, "%s/%s", job->folder, CARGO_LIBRARIES);
        if (strchr(name, '/') || !make_dirs(from, 0777)) return false;
        snprintf(from, sizeof from, "%s/%s/lib%s.so", job->folder, CARGO_LIBRARIES, name);
        unlink(from);
        if (symlink(to, from)) return false;
    }
    return true;
}

// Writes the plan. Cargo remembers what rustc said of itself; where the settings are new ones it
// has to ask again.
static int write_plan(CargoJob *job) {
    Text text = {0};
    size_t n;
    char *settings = settings_of(job), *path = must(path_join(job->folder, CARGO_PLAN));
    unsigned char *old = file_read(path, &n);
    bool other = !old || strncmp((char *)old, settings, strlen(settings)) != 0;
    text_add(&text, settings);
    cargo_plan_write(&job->plan, &text);
    bool ok = make_dirs(job->folder, 0777) && link_frameworks(job) && !text.failed;
    if (ok && (other || n != text.n_bytes || memcmp(old, text.data, n) != 0))
        ok = file_write_atomic(path, text.data, text.n_bytes, false);
    char *remembered = must(path_join(job->folder, ".rustc_info.json"));
    if (other) unlink(remembered);
    int status = ok ? EXIT_FINE
                    : complain(EXIT_INPUT, "cargo", "cannot write %s: %s", path, strerror(errno));
    free(old), free(settings), free(path), free(remembered);
    text_free(&text);
    return status;
}

// ---- Cargo's environment ----

// CC_x86_64_unknown_linux_gnu and the like: our name, which sends Objective-C to `ingot cc` and the
// rest to what was there before.
static void set_compiler(const CargoJob *job, const char *kind, const char *tool) {
    char *own = must(text_format("%s_%s", kind, job->host)),
         *target = must(text_format("TARGET_%s", kind)),
         *kept = must(text_format("INGOT_CARGO_%s", kind)),
         *ours = must(path_join(job->tools, tool));
    for (char *c = own; *c; c++)
        if (*c == '-') *c = '_';
    const char *const names[] = {own, target, kind};
    const char *before = NULL;
    for (size_t i = 0; i < N(names) && !before; i++) before = getenv(names[i]);
    if (before && strcmp(before, ours) != 0) set(kept, before);
    set(own, ours);
    free(own), free(target), free(kept), free(ours);
}

static void set_wrappers(const CargoJob *job) {
    char *rustc = must(path_join(job->tools, "ingot-rustc")),
         *rustdoc = must(path_join(job->tools, "ingot-rustdoc"));
    const char *other = getenv("RUSTC_WRAPPER"), *documenter = getenv("RUSTDOC");
    if (other && *other && strcmp(other, rustc) != 0)
        fprintf(stderr, "ingot cargo: RUSTC_WRAPPER=%s is not used: rustc has a wrapper here\n",
                other);
    if (documenter && *documenter && strcmp(documenter, rustdoc) != 0)
        set("INGOT_CARGO_RUSTDOC", documenter);
    set("RUSTC_WRAPPER", rustc);
    set("RUSTDOC", rustdoc);
    free(rustc), free(rustdoc);
}

// Whether everything of ours is here. A status.
static int find_places(CargoJob *job) {
    char *here = executable_dir(),
         *path = here ? path_join(here, "../libexec/ingot/cargo-bin") : NULL;
    job->tools = path ? realpath(path, NULL) : NULL;
    free(here), free(path);
    char *preload =
        mac_places(&job->places) ? text_format("%s/libingot-rustc.so", job->places.lib) : NULL;
    bool there = job->tools && preload && access(preload, R_OK) == 0;
    free(preload);
    if (there) return EXIT_FINE;
    return complain(EXIT_INPUT, "cargo", "the libraries for macOS programs are not here");
}

// Asks rustc and cargo, and plans. A status.
static int find_out(CargoJob *job) {
    int status = look_at_rustc(job);
    return status ? status : make_plan(job);
}

static int list_crates(CargoJob *job) {
    int status = find_places(job);
    if (!status) set_wrappers(job);
    if (!status) status = find_out(job);
    for (size_t i = 0; !status && i < job->plan.n; i++) {
        const CargoCrate *c = &job->plan.crates[i];
        printf("%-5s  %s %s  (%s)\n", c->is_mac ? "mac" : "linux", c->name, c->version, c->why);
    }
    return status;
}

// ---- What was found out before ----

// Everything that the answers of rustc and cargo depend on, beside files, in one line.
static char *question_of(const CargoJob *job) {
    static const char *const variables[] = {"PATH",
                                            "HOME",
                                            "RUSTC",
                                            "RUSTUP_TOOLCHAIN",
                                            "CARGO_HOME",
                                            "CARGO_TARGET_DIR",
                                            "CARGO_BUILD_TARGET_DIR",
                                            "INGOT_CARGO_MAC",
                                            "INGOT_CARGO_LINUX",
                                            "INGOT_CARGO_FRAMEWORKS"};
    Strings args = {0};
    Text t = {0};
    char *manifest, here[PATH_MAX];
    const char *target = value_of(job, "--target"), *to = value_of(job, "--target-dir");
    add_metadata_args(job, &args, &manifest);
    text_printf(&t, "1 %s %s %s %s", job->places.lib, getcwd(here, sizeof here) ? here : "?",
                target ? target : "", to ? to : "");
    for (size_t i = 0; i < args.n; i++) text_printf(&t, "\x1f%s", args.items[i]);
    for (size_t i = 0; i < N(variables); i++) {
        const char *value = getenv(variables[i]);
        text_printf(&t, "\x1e%s", value ? value : "");
    }
    strings_free(&args);
    free(manifest);
    char *question = must(text_take(&t));
    for (char *c = question; *c; c++)
        if (*c == '\n') *c = ' ';
    return question;
}

// The files they answered from: of the workspace, and rustc's own.
static void remember(const CargoJob *job, const char *question) {
    static const char *const names[] = {"Cargo.lock", "rust-toolchain", "rust-toolchain.toml",
                                        ".cargo/config.toml", ".cargo/config"};
    const char *root = job->plan.workspace_root, *home = getenv("HOME");
    Strings files = {0}, made = {0};
    for (size_t i = 0; i < job->plan.manifests.n; i++)
        cargo_add(&files, job->plan.manifests.items[i]);
    for (size_t i = 0; root && i < N(names); i++) cargo_add(&made, must(path_join(root, names[i])));
    if (root) cargo_add(&made, must(path_join(root, "Cargo.toml")));
    if (home) cargo_add(&made, must(path_join(home, ".rustup/settings.toml")));
    cargo_add(&made, must(path_join(job->sysroot, "bin/rustc")));
    cargo_add(&made, must(path_join(job->folder, CARGO_PLAN)));
    for (size_t i = 0; i < made.n; i++) cargo_add(&files, made.items[i]);
    cargo_remember(question, job->host, job->folder, &files);
    for (size_t i = 0; i < made.n; i++) free(made.items[i]);
    strings_free(&made), strings_free(&files);
}

// Where the plan and everything else is put: the folder of --target-dir, or one in cargo's.
static char *folder_of(const CargoJob *job) {
    const char *given = value_of(job, "--target-dir");
    if (!given) return must(path_join(job->plan.target_folder, "ingot"));
    make_dirs(given, 0777);
    char *whole = realpath(given, NULL);
    return whole ? whole : must(strdup(given));
}

// Everything that cargo is to be given, in the environment. A status.
static int set_up(CargoJob *job) {
    int status = find_places(job);
    if (status) return status;
    set_wrappers(job);
    char *question = question_of(job);
    if (!cargo_recall(question, &job->host, &job->folder)) {
        status = find_out(job);
        if (!status) {
            job->folder = folder_of(job);
            status = write_plan(job);
        }
        if (!status) remember(job, question);
    }
    free(question);
    if (status) return status;
    set_compiler(job, "CC", "ingot-rust-cc");
    set_compiler(job, "CXX", "ingot-rust-c++");
    if (!value_of(job, "--target-dir")) set("CARGO_TARGET_DIR", job->folder);
    set("INGOT_CARGO_FOLDER", job->folder);
    return EXIT_FINE;
}

static void free_job(CargoJob *job) {
    cargo_plan_free(&job->plan);
    free(job->host), free(job->sysroot), free(job->tools), free(job->folder);
}

int cmd_cargo(int argc, char **argv) {
    CargoJob job = {.argc = argc, .argv = argv};
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        fputs(usage, argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : EXIT_FINE;
    }
    find_command(&job);
    int status = EXIT_FINE;
    if (!strcmp(argv[1], "--crates")) {
        status = list_crates(&job);
        free_job(&job);
        return status;
    }
    if (compiles(job.command)) {
        status = set_up(&job);
        free_job(&job);
        if (status) return status;
    }
    argv[0] = "cargo";
    execvp("cargo", argv);
    return complain(EXIT_INPUT, "cargo", "cannot run cargo: %s", strerror(errno));
}
