// SPDX-License-Identifier: Apache-2.0
// cmd_debug.c: `ingot debug`: gdb on Metal functions. A .metal file with a kernel is run as `ingot
// run` does, a capture as `ingot replay` does, any other program as it is; what is left to do here
// is to load gdb/ingot_gdb.py, to set the breakpoints that the command line names, and to become
// gdb.
#include "base/files.h"
#include "base/text.h"
#include "apps/tools/debug_int.h"
#include "apps/tools/tools.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Job {
    const char *thread, *pixel, *vertex, *gdb;
    Strings breaks, commands;
    bool batch, script, has_command;
    uint64_t command;
    char **program; // and its arguments
    DebugStop stop; // where
} Job;

static const Option rows[] = {
    {"--thread", "X[,Y[,Z]]", "stop in this thread of the grid only", OPT_TEXT,
     OPT_AT(Job, thread)},
    {"--pixel", "X,Y", "in a draw: stop in the fragment function for this pixel only", OPT_TEXT,
     OPT_AT(Job, pixel)},
    {"--vertex", "N", "in a draw: stop in the vertex function for this vertex_id only", OPT_TEXT,
     OPT_AT(Job, vertex)},
    {"--command", "N", "in a capture: the command to stop in (default: the first dispatch or draw)",
     OPT_WHOLE, OPT_AT(Job, command), 0, 9e15, OPT_GIVEN(Job, has_command)},
    {"-b, --break", "PLACE",
     "set a breakpoint: a line of the file, FILE:LINE or a function\n(repeatable)", OPT_LIST,
     OPT_AT(Job, breaks)},
    {"--ex", "COMMAND", "gdb command to execute at the first stop (repeatable)", OPT_LIST,
     OPT_AT(Job, commands)},
    {"--batch", NULL, "exit after these commands", OPT_FLAG, OPT_AT(Job, batch)},
    {"--gdb", "PROGRAM", "the gdb to start", OPT_TEXT, OPT_AT(Job, gdb), .initial = "gdb"},
    {"--script", NULL, "print the path of the gdb extension, for use in ~/.gdbinit", OPT_FLAG,
     OPT_AT(Job, script)},
};
static const CommandLine line = {
    .program = "ingot debug",
    .usage = "FILE.metal KERNEL --grid X[,Y[,Z]] [options, and those of `ingot run`]\n"
             "       ingot debug FILE.ingottrace [--command N] [--thread X[,Y[,Z]] | --pixel X,Y]\n"
             "       ingot debug [options] PROGRAM ARGS...",
    .about =
        "Runs a kernel, a command of a capture, or a program with its Metal functions in gdb.\n"
        "Functions run one thread at a time and unoptimised: break, step, print and backtrace "
        "work\n"
        "as for C. In gdb:\n"
        "  break FILE.metal:LINE if thread_position_in_grid.x == 5\n"
        "  info metal-threads           list the threads of the threadgroup and their positions\n"
        "  metal-thread X,Y,Z           switch to another thread that waits at a barrier\n"
        "  print $texel(texture, X, Y)  a texel",
    OPT_ROWS(rows),
    .rest = offsetof(Job, program) + 1,
    .tail = "A kernel without --break stops at its first line. In your own gdb session: `source` "
            "the file\n"
            "that --script prints, and run the program with MTL_SHADER_DEBUG=1.",
};

static bool ends_in(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static bool is_shader(const char *name) {
    return ends_in(name, ".metal") || ends_in(name, ".metallib");
}

static bool is_capture(const char *name) { return ends_in(name, ".ingottrace"); }

// The words an option of ours has from here on: 0, 1 or 2.
static int words_of(const char *arg) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = strstr(rows[i].names, "--"); // every row has one
        size_t n = strlen(name);
        if (!strcmp(arg, name)) return rows[i].value ? 2 : 1;
        if (!strncmp(arg, name, n) && arg[n] == '=') return 1;
    }
    return !strcmp(arg, "-b") ? 2 : !strcmp(arg, "--help") || !strcmp(arg, "-h") ? 1 : 0;
}

// Behind a capture, or a shader, among the options of `ingot run`, ours may stand, too: they are
// moved to the front.
static char **our_options_first(int argc, char **argv) {
    char **sorted = must_alloc(2 * (size_t)argc + 1, sizeof *sorted), **rest = sorted + argc;
    int n = 0, n_rest = 0;
    bool found = false, ours_too = false;
    for (int i = 0; i < argc;) {
        int words = i ? words_of(argv[i]) : 1;
        bool ours = words && (!found || ours_too);
        if (!ours && !found) found = true, ours_too = is_shader(argv[i]) || is_capture(argv[i]);
        for (int k = ours ? words : 1; k > 0 && i < argc; k--, i++)
            *(ours ? &sorted[n++] : &rest[n_rest++]) = argv[i];
    }
    memmove(sorted + n, rest, (size_t)n_rest * sizeof *sorted);
    sorted[argc] = NULL;
    return sorted;
}

// ---- The thread ----

// A position of up to n numbers.
static int read_position(Job *job, const char *text, const char *option, int n, DebugAt kind) {
    static const char *const forms[] = {"a number, N", "a pixel, X,Y",
                                        "a position in the grid, X, X,Y or X,Y,Z"};
    const char *at = text;
    if (!text) return EXIT_FINE;
    if (job->stop.at)
        return options_wrong(&line, "give only one of --thread, --pixel and --vertex");
    job->stop.at = kind;
    int d = 0;
    for (; d < n && at; d++) {
        char *end;
        errno = 0;
        unsigned long number = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || errno || number > UINT32_MAX || (*end && *end != ',')) break;
        job->stop.position[d] = (uint32_t)number;
        at = *end ? end + 1 : NULL;
    }
    if (!at && (kind != AT_PIXEL || d == 2)) return EXIT_FINE;
    return options_wrong(&line, "%s needs %s, not '%s'", option, forms[n - 1], text);
}

static int read_positions(Job *job) {
    int status = read_position(job, job->thread, "--thread", 3, AT_THREAD);
    if (!status) status = read_position(job, job->pixel, "--pixel", 2, AT_PIXEL);
    return status ? status : read_position(job, job->vertex, "--vertex", 1, AT_VERTEX);
}

static const char *value_of(char *const *args, const char *option) {
    size_t n = strlen(option);
    for (; *args; args++) {
        if (!strcmp(*args, option)) return args[1];
        if (!strncmp(*args, option, n) && (*args)[n] == '=') return *args + n + 1;
    }
    return NULL;
}

static int check_position(const Job *job) {
    const char *text = value_of(job->program, "--grid");
    const uint32_t *p = job->stop.position;
    MTLSize grid;
    if (!job->thread || !text || !parse_size(text, &grid))
        return EXIT_FINE; // `ingot run` says more
    if (p[0] < grid.width && p[1] < grid.height && p[2] < grid.depth) return EXIT_FINE;
    return complain(EXIT_USAGE, "debug", "thread %u,%u,%u lies outside the grid of %zu x %zu x %zu",
                    p[0], p[1], p[2], grid.width, grid.height, grid.depth);
}

// ---- Arguments of gdb ----

static void add_argument(Strings *args, char *text) {
    if (text && strings_add(args, text)) return;
    fputs("ingot: out of memory\n", stderr);
    exit(EXIT_INPUT);
}

static void add_command(Strings *args, char *text) {
    add_argument(args, "-ex");
    add_argument(args, text);
}

// A bare number is a line of the source, a name a function of it; source NULL: of a program.
static void add_break(Strings *args, const char *source, const char *place) {
    Text t = {0};
    bool number = strspn(place, "0123456789") == strlen(place);
    if (source && number)
        text_printf(&t, "break -source \"%s\" -line %s", source, place);
    else if (source && debug_is_identifier(place) && !ends_in(source, ".metallib"))
        text_printf(&t, "break -source \"%s\" -function %s", source, place);
    else
        text_printf(&t, "break %s", place); // the user's own words
    add_command(args, text_take(&t));
}

// The source that the breakpoints are in, and the function to stop in unless there are any.
static void add_breaks(Strings *args, const Job *job, const char *source, const char *function) {
    static const char *const kinds[] = {"", "thread", "pixel", "vertex"};
    const uint32_t *p = job->stop.position;
    for (size_t i = 0; i < job->breaks.n; i++) add_break(args, source, job->breaks.items[i]);
    if (function && !job->breaks.n) add_break(args, source, function);
    if (job->stop.at)
        add_command(args,
                    text_format("metal-focus %s %u,%u,%u", kinds[job->stop.at], p[0], p[1], p[2]));
    if (function || job->breaks.n || job->batch) add_command(args, "run");
}

static char *find_program(const char *name) {
    const char *path = getenv("PATH");
    if (strchr(name, '/')) return strdup(name);
    while (path && *path) {
        size_t n = strcspn(path, ":");
        char *folder = strndup(path, n), *found = folder ? path_join(folder, name) : NULL;
        free(folder);
        if (found && !access(found, X_OK)) return found;
        free(found);
        path += n + (path[n] == ':');
    }
    return NULL;
}

// gdb knows no scripts: it runs the interpreter, and follows it when that becomes another program.
static void add_interpreter(Strings *args, const char *path) {
    static char text[256];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    if (n < 3 || memcmp(text, "#!", 2)) return;
    text[strcspn(text, "\n")] = 0;
    char *at = text + 2 + strspn(text + 2, " \t"), *rest = at + strcspn(at, " \t");
    if (*rest) *rest++ = 0;
    add_argument(args, at);
    rest += strspn(rest, " \t");
    if (*rest) add_argument(args, rest);
}

// `ingot COMMAND` of this program.
static void add_self(Strings *args, char *command) {
    static char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    add_argument(args, self);
    add_argument(args, command);
}

static void add_program(Strings *args, const Job *job) {
    char **word = job->program;
    add_argument(args, "--args");
    if (is_shader(*word)) {
        add_self(args, "run");
    } else if (is_capture(*word)) {
        add_self(args, "replay");
        add_argument(args, "--device"), add_argument(args, "cpu");
        add_argument(args, "--debug"), add_argument(args, "--until");
        add_argument(args, text_format("%llu", (unsigned long long)job->stop.command));
    } else {
        char *path = find_program(*word);
        if (path) add_interpreter(args, path);
        add_argument(args, path ? path : *word);
        word++;
    }
    for (; *word; word++) add_argument(args, *word);
}

static char *find_script(void) {
    char *folder = executable_dir();
    char *path = folder ? path_join(folder, "../share/ingot/gdb/ingot_gdb.py") : NULL;
    free(folder);
    if (path && !access(path, R_OK)) return path;
    free(path);
    return NULL;
}

// What is to be debugged, and where to stop in it.
static int add_target(Strings *args, Job *job) {
    char *name = job->program[0];
    DebugStop *stop = &job->stop;
    if (is_shader(name)) {
        if (!job->program[1])
            return options_wrong(&line, "a kernel of '%s' is required (see `ingot debug --help`)",
                                 name);
        if (!debug_is_plain(name))
            return complain(EXIT_INPUT, "debug", "gdb cannot handle this file name");
        if (!debug_is_identifier(job->program[1]) && !job->breaks.n)
            return complain(EXIT_INPUT, "debug",
                            "gdb cannot stop in a kernel of that name: say where with --break");
        int status = check_position(job);
        if (!status) add_breaks(args, job, name, job->program[1]);
        return status;
    }
    if (!is_capture(name)) {
        add_breaks(args, job, NULL, NULL);
        return EXIT_FINE;
    }
    stop->file = name, stop->has_command = job->has_command, stop->command = job->command;
    if (job->program[1])
        return options_wrong(&line, "unexpected argument '%s' after the capture", job->program[1]);
    if (!debug_find_stop(stop)) return EXIT_INPUT;
    // The text of the capture is found first, whatever the program's own file says now.
    const char *slash = strrchr(stop->source, '/'), *last = slash ? slash + 1 : stop->source;
    add_command(args, text_format("set substitute-path \"%s\" \"%s/%s\"", stop->source,
                                  stop->folder, last));
    add_command(args, text_format("directory \"%s\"", stop->folder));
    add_breaks(args, job, last, stop->function);
    return EXIT_FINE;
}

static int start(Job *job, char *script) {
    Strings args = {0};
    add_argument(&args, (char *)(uintptr_t)job->gdb);
    add_argument(&args, "-q");
    // Of the folder, the program and its libraries nothing is run by gdb itself.
    add_argument(&args, "-nx");
    static const char *const off[] = {"local-gdbinit", "gdb-scripts", "python-scripts"};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        add_argument(&args, "-iex"),
            add_argument(&args, text_format("set auto-load %s off", off[i]));
    if (job->batch) add_argument(&args, "-batch");
    add_argument(&args, "-x");
    add_argument(&args, script);
    int status = add_target(&args, job);
    if (status) return status;
    for (size_t i = 0; i < job->commands.n; i++) add_command(&args, job->commands.items[i]);
    add_program(&args, job);
    setenv("MTL_SHADER_DEBUG", "1", 1);
    setenv("INGOT_THREADS", "1", 0); // threadgroups and draws in order
    fflush(stdout);
    int e = ENOMEM;
    if (strings_add(&args, NULL)) {
        execvp(job->gdb, args.items);
        e = errno;
    }
    strings_free(&args);
    if (e == ENOENT)
        return complain(EXIT_INPUT, "debug",
                        "'%s' not found: install gdb (apt install gdb), "
                        "or name it with --gdb",
                        job->gdb);
    return complain(EXIT_INPUT, "debug", "cannot start '%s': %s", job->gdb, strerror(e));
}

int cmd_debug(int argc, char **argv) {
    Job job = {0};
    char **sorted = our_options_first(argc, argv), *script = find_script();
    int status = options_read(&line, &job, argc, sorted);
    if (status != OPTIONS_GO_ON) goto done;
    status = read_positions(&job);
    if (!status && !script)
        status = complain(EXIT_INPUT, "debug",
                          "the commands for gdb are not beside this program: "
                          "../share/ingot/gdb/ingot_gdb.py");
    if (status) goto done;
    if (job.script)
        puts(script);
    else if (!job.program)
        status = options_wrong(
            &line, "a shader, capture or program is required (see `ingot debug --help`)");
    else
        status = start(&job, script);
done:
    debug_stop_free(&job.stop);
    strings_free(&job.breaks);
    strings_free(&job.commands);
    free(sorted);
    free(script);
    return status;
}
