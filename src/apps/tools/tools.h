// SPDX-License-Identifier: Apache-2.0
// tools.h: shared by the sub-commands of `ingot`. Each command is one function that gets its own
// argv (argv[0] is its name) and returns the exit status: 0 fine, 1 the shader or the input is
// wrong, 2 the command line is wrong. Commands print; they may give up with a message at any point.
#ifndef INGOT_TOOLS_TOOLS_H
#define INGOT_TOOLS_TOOLS_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/options.h"
#include "ingot/metal.h"

enum { EXIT_FINE = 0, EXIT_INPUT = 1, EXIT_USAGE = 2 };

int cmd_info(int argc, char **argv);
int cmd_build(int argc, char **argv);
int cmd_reflect(int argc, char **argv);
int cmd_objdump(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_render(int argc, char **argv);
int cmd_cache(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_debug(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_implicit(int argc, char **argv);
int cmd_compress(int argc, char **argv);
int cmd_denoise(int argc, char **argv);
int cmd_cc(int argc, char **argv);
int cmd_cxx(int argc, char **argv);
int cmd_mac(int argc, char **argv);
int cmd_cargo(int argc, char **argv);
int cmd_swift(int argc, char **argv);
int cmd_swiftc(int argc, char **argv);
int cmd_play(int argc, char **argv);
int cmd_view(int argc, char **argv);

// `ingot build` under another name, which its messages have.
int build_as(const char *program, int argc, char **argv);

// stand_in.c: `ingot` called as xcrun, metal, metallib, ... does what build systems of macOS want
// of those. True: it was, and *status is the exit status.
bool stand_in(int argc, char **argv, int *status);
// Where the headers and libraries of macOS are. False: they are not here.
typedef struct MacPlaces {
    char include[PATH_MAX], lib[PATH_MAX];
} MacPlaces;
bool mac_places(MacPlaces *places);
char *stand_in_folder(void); // of those names; NULL: it is not there. malloc'd

// "ingot run: text" on standard error; returns the status given, to be returned on.
int complain(int status, const char *command, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Ends the program without memory, where a half-made result would be of no use.
void must_have(bool memory);

// A line on standard output with text of files in it: control characters, which terminals obey, are
// shown as \xNN.
void show_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

// run_program.c: a program with its arguments, in this environment. *status is its exit status, 128
// + N if signal N ended it. False: it could not be started, which was said.
bool run_program(char **argv, const char *command, int *status);
// What `ingot trace` and `ingot capture` are told: the options of their command lines, and reading
// them. The status, as of options_read.
typedef struct RunJob {
    const char *output;
    bool quiet;
    char **program; // and its arguments
} RunJob;
enum { N_RUN_ROWS = 2 };
extern const Option run_rows[N_RUN_ROWS];
#define RUN_ROWS                                                                                   \
    .rows = run_rows, .n_rows = N_RUN_ROWS, .rest = offsetof(RunJob, program) + 1, .column = 12
int read_run_job(const CommandLine *line, RunJob *job, int argc, char **argv);
// Where a program of ours is to write a file: absolute, malloc'd, and not there any more. NULL:
// said why.
char *fresh_output(const char *output, const char *command);

void *must_alloc(size_t n, size_t size); // zeroed; out of memory ends the program

// X[,Y[,Z]] (also with 'x' between): missing ones are 1. False if it is not 1 to 3 positive
// numbers.
bool parse_size(const char *text, MTLSize *size);

// Path of mslc as `ingot build` finds it. malloc'd.
char *find_compiler(void);

// What the commands that compile have in common: -I, -D, --math, -std.
typedef struct SourceOptions {
    Strings include_dirs, defines;
    MTLCompileOptions options;
    MTLPreprocessorMacro *macros;
} SourceOptions;
enum { N_SOURCE_ROWS = 4 };
extern const Option source_rows[N_SOURCE_ROWS];
// Of a CommandLine: those rows, for the SourceOptions in a struct.
#define SOURCE_ROWS(TYPE, FIELD)                                                                   \
    .shared = source_rows, .n_shared = N_SOURCE_ROWS, .shared_at = offsetof(TYPE, FIELD)
// OPT_CALL: KEY=VALUE into the Strings at its place.
int take_constant(const CommandLine *line, const Option *row, void *options, char *value);
// To be said in a help of theirs.
#define SOURCE_HELP "  -I DIR, -D NAME[=VALUE], --math=MODE, -std=metalM.N   as in `ingot build`"
void source_options_free(SourceOptions *o);
// Before loading: what its functions log will be seen, on stderr.
void show_logs(SourceOptions *o);
// A library from a .metal or .metallib file; says what is wrong, prints warnings, NULL on failure.
MTLLibrary *load_library(MTLDevice *device, SourceOptions *o, const char *path,
                         const char *command);
#define DEVICE_ROW(AT)                                                                             \
    {"--device", "NAME", "the device: cpu, cuda, cuda:1 (default: $INGOT_DEVICE, or the CPU)",     \
     OPT_TEXT, AT}
MTLDevice *open_device(const char *command);                         // NULL: said why
MTLDevice *open_device_named(const char *name, const char *command); // NULL: the default
// A function of a library with its constants ("key=value") set; NULL: said why.
typedef struct FunctionQuery {
    const char *path, *name;
    const char *what; // "kernel"
    const Strings *constants;
    bool optional; // constants the function does not have are left out
} FunctionQuery;
MTLFunction *get_function(MTLLibrary *library, const FunctionQuery *query, const char *command);

// Threads of a threadgroup that suit a kernel and its grid.
MTLSize default_group(const MTLComputePipelineState *pipeline, MTLSize grid);
// Commits, waits; the time on the device in seconds, or -1 and "WHAT failed: why" said.
double run_and_time(MTLCommandBuffer *commands, const char *command, const char *what);
// The status of a command that ran functions: 1, and said, where one of them was reported.
int check_reports(int status, const char *command, const char *what);
double seconds_now(void);                // CLOCK_MONOTONIC
double median(double *values, size_t n); // sorts them

// ---- `ingot bench` ----
// A line of its report; a negative value: it failed.
void bench_line(const char *what, double value, const char *unit);
void bench_resources(MTLDevice *device, MTLCommandQueue *queue); // bench_resources.c
#endif
