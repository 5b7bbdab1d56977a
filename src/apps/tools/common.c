// SPDX-License-Identifier: Apache-2.0
// common.c: messages, arguments, and opening a shader file, for all sub-commands (see tools.h).
#include "apps/tools/tools.h"
#include "abi/metallib.h"
#include "abi/requests.h"
#include "base/files.h"
#include "base/text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// What is said, as it can be shown: names of files and texts of files are in it.
static Text visible(bool lines, const char *format, va_list list) {
    Text t = {0};
    char *said = NULL;
    int n = vasprintf(&said, format, list);
    text_add_visible(&t, said, n < 0 ? 0 : (size_t)n, lines);
    if (n < 0) text_add(&t, "out of memory");
    if (n >= 0) free(said);
    return t;
}

int complain(int status, const char *command, const char *format, ...) {
    va_list list;
    va_start(list, format);
    Text t = visible(true, format, list);
    va_end(list);
    fprintf(stderr, "ingot %s: %s\n", command, t.failed ? "out of memory" : t.data ? t.data : "");
    text_free(&t);
    return status;
}

void show_line(const char *format, ...) {
    va_list list;
    va_start(list, format);
    Text t = visible(false, format, list);
    va_end(list);
    puts(t.data ? t.data : "");
    text_free(&t);
}

void must_have(bool memory) {
    if (memory) return;
    fputs("ingot: out of memory\n", stderr);
    exit(EXIT_INPUT);
}

void *must_alloc(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (p) return p;
    fputs("ingot: out of memory\n", stderr);
    exit(EXIT_INPUT);
}

bool parse_size(const char *text, MTLSize *size) {
    uint64_t sizes[3];
    if (!options_size(text, UINT32_MAX, 3, sizes)) return false;
    *size = mtl_size_make(sizes[0], sizes[1], sizes[2]);
    return true;
}

char *find_compiler(void) {
    const char *own = getenv("INGOT_MSLC");
    if (own && *own) return strdup(own);
    static const char *const beside[] = {"mslc", "../libexec/ingot/mslc"};
    char *here = executable_dir();
    for (size_t i = 0; here && i < sizeof beside / sizeof *beside; i++) {
        char *path = path_join(here, beside[i]);
        if (path && !access(path, X_OK)) {
            free(here);
            return path;
        }
        free(path);
    }
    free(here);
    return strdup("mslc");
}

static int take_std(const CommandLine *line, const Option *row, void *options, char *value) {
    SourceOptions *o = options;
    uint32_t version;
    (void)row;
    if (!msl_language_version(value, &version))
        return options_wrong(line, MSL_NO_LANGUAGE_VERSION, value);
    o->options.language_version = (MTLLanguageVersion)version;
    return EXIT_FINE;
}

int take_constant(const CommandLine *line, const Option *row, void *options, char *value) {
    if (!strchr(value, '=') || *value == '=')
        return options_wrong(line, "%s needs %s, not '%s'", row->names, row->value, value);
    if (strings_add((Strings *)((char *)options + row->at), value)) return EXIT_FINE;
    options_wrong(line, "out of memory");
    return EXIT_INPUT;
}

static const char *const math_modes[] = {"safe", "relaxed", "fast", NULL}; // MTLMathMode
const Option source_rows[N_SOURCE_ROWS] = {
    {"-I", "DIR", NULL, OPT_LIST, OPT_AT(SourceOptions, include_dirs)},
    {"-D", "NAME[=VALUE]", NULL, OPT_LIST, OPT_AT(SourceOptions, defines)},
    {"--math", "=MODE", NULL, OPT_CHOICE, OPT_AT(SourceOptions, options.math_mode),
     .words = math_modes, OPT_GIVEN(SourceOptions, options.math_mode_is_set)},
    {"-std", "=metalM.N", NULL, OPT_CALL, .take = take_std},
};

void show_logs(SourceOptions *o) {
    o->options.enable_logging = true;
    setenv("MTL_LOG_TO_STDERR", "1", 0);
}

void source_options_free(SourceOptions *o) {
    for (size_t i = 0; o->macros && i < o->defines.n; i++)
        free((char *)(uintptr_t)o->macros[i].name);
    free(o->macros);
    strings_free(&o->include_dirs);
    strings_free(&o->defines);
    *o = (SourceOptions){0};
}

static void fill_options(SourceOptions *o, const char *path) {
    free(o->macros);
    o->macros = must_alloc(o->defines.n, sizeof *o->macros);
    for (size_t i = 0; i < o->defines.n; i++) {
        char *name = strdup(o->defines.items[i]), *eq = name ? strchr(name, '=') : NULL;
        if (eq) *eq = 0;
        o->macros[i] = (MTLPreprocessorMacro){name, eq ? eq + 1 : NULL};
    }
    o->options.preprocessor_macros = o->macros;
    o->options.preprocessor_macro_count = o->defines.n;
    o->options.include_paths = (const char *const *)o->include_dirs.items;
    o->options.include_path_count = o->include_dirs.n;
    o->options.source_name = path;
}

MTLDevice *open_device(const char *command) { return open_device_named(NULL, command); }

MTLDevice *open_device_named(const char *name, const char *command) {
    MTLDevice *device =
        name ? mtl_create_device_named(name, NULL) : mtl_create_system_default_device();
    if (!device)
        complain(EXIT_INPUT, command,
                 name ? "no device '%s' (`ingot info` lists them)" : "no device", name);
    return device;
}

MTLLibrary *load_library(MTLDevice *device, SourceOptions *o, const char *path,
                         const char *command) {
    size_t n;
    bool standard_input = !strcmp(path, "-");
    unsigned char *data = file_read(standard_input ? "/dev/stdin" : path, &n);
    if (!data) {
        complain(EXIT_INPUT, command, "cannot read '%s': %s", path, strerror(errno));
        return NULL;
    }
    MTLError *error = NULL;
    MTLLibrary *library;
    if (metallib_recognised(data, n)) {
        library = mtl_device_new_library_with_data(device, data, n, &error);
    } else {
        fill_options(o, standard_input ? "<stdin>" : path);
        library = mtl_device_new_library_with_source_bytes(device, (const char *)data, n,
                                                           &o->options, &error);
    }
    if (error) { // also warnings, beside a library
        const char *text = mtl_error_localized_description(error);
        size_t length = strlen(text);
        if (!library && !mtl_error_diagnostic_count(error))
            fprintf(stderr, "ingot %s: '%s': ", command, path);
        fprintf(stderr, "%s%s", text, length && text[length - 1] == '\n' ? "" : "\n");
    } else if (!library) {
        complain(EXIT_INPUT, command, "'%s' does not compile", path);
    }
    mtl_release(error);
    free(data);
    return library;
}

static uint64_t n_reports; // of shader validation, in all that was run

int check_reports(int status, const char *command, const char *what) {
    if (status || !n_reports) return status;
    return complain(EXIT_INPUT, command,
                    "%s: shader validation reported %llu kind%s of bad access (above): what was "
                    "computed is not to be relied on",
                    what, (unsigned long long)n_reports, n_reports == 1 ? "" : "s");
}

double run_and_time(MTLCommandBuffer *commands, const char *command, const char *what) {
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    n_reports += mtl_command_buffer_log_count(commands);
    if (mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted)
        return mtl_command_buffer_gpu_end_time(commands) -
               mtl_command_buffer_gpu_start_time(commands);
    complain(EXIT_INPUT, command, "%s failed: %s", what,
             mtl_error_localized_description(mtl_command_buffer_error(commands)));
    return -1;
}

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double median(double *values, size_t n) {
    if (!n) return 0;
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
