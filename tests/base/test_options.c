// SPDX-License-Identifier: Apache-2.0
// Command lines from tables: every way to write an option, ranges, messages and the help.
#include "testing.h"
#include "base/options.h"

typedef enum Colour { RED, GREEN } Colour;
typedef struct Job {
    const char *file, *output, *mode;
    bool quiet, has_steps, called;
    uint32_t steps, size[2];
    uint64_t seed;
    double rate;
    size_t grid[3];
    Colour colour;
    Strings names;
    char **program;
} Job;

static int take_call(const CommandLine *line, const Option *row, void *options, char *value) {
    Job *job = options;
    (void)row;
    job->called = true;
    return value && !strcmp(value, "bad") ? options_wrong(line, "not this") : 0;
}

static const char *const colours[] = {"red", "green", NULL};
static const Option rows[] = {
    {"-o, --output", "FILE", "what to write", OPT_TEXT, OPT_AT(Job, output), .initial = "out"},
    {"--mode", "=WORD", "one of two", OPT_TEXT, OPT_AT(Job, mode), .words = colours},
    {"-q", NULL, "say nothing", OPT_FLAG, OPT_AT(Job, quiet)},
    {"-s, --steps", "N", "first line\nsecond line", OPT_WHOLE, OPT_AT(Job, steps), 1, 100, "5",
     OPT_GIVEN(Job, has_steps)},
    {"--seed", "N", NULL, OPT_WHOLE, OPT_AT(Job, seed), 0, 0x1p53},
    {"--rate", "X", "a number", OPT_REAL, OPT_AT(Job, rate), 1e-6, 10},
    {"--grid", "X[,Y[,Z]]", "threads", OPT_SIZE, OPT_AT(Job, grid), 1, 1000},
    {"--size", "WxH", "pixels", OPT_SIZE, OPT_AT(Job, size), 1, 1000},
    {"--colour", "NAME", "red or green", OPT_CHOICE, OPT_AT(Job, colour), .words = colours},
    {"-D", "NAME", "again and again", OPT_LIST, OPT_AT(Job, names)},
    {"--call", "[=X]", "may go without", OPT_CALL, .take = take_call},
    {"-std", "=V", "one dash", OPT_TEXT, OPT_AT(Job, mode)},
};
static CommandLine line = {.program = "tool",
                           .usage = "FILE [options]",
                           .about = "Does things.",
                           .rows = rows,
                           .n_rows = sizeof rows / sizeof *rows,
                           .words = {offsetof(Job, file)},
                           .n_words = 1};

// Reads the arguments, with what goes to a stream in `said`.
static int read_line(Job *job, FILE **stream, char *said, const char *const *arguments) {
    static char copies[10][64]; // options keep pointers to them
    char *argv[10] = {"tool"};
    int argc = 1;
    for (; arguments[argc - 1]; argc++) {
        snprintf(copies[argc], sizeof copies[0], "%s", arguments[argc - 1]);
        argv[argc] = copies[argc];
    }
    FILE *was = *stream, *to = tmpfile();
    *stream = to;
    *job = (Job){0};
    int status = options_read(&line, job, argc, argv);
    *stream = was;
    rewind(to);
    said[fread(said, 1, 4095, to)] = 0;
    fclose(to);
    return status;
}
#define READ(STREAM, ...) read_line(&job, &STREAM, said, (const char *const[]){__VA_ARGS__, NULL})

static void spellings(void **state) {
    Job job;
    char said[4096];
    (void)state;
    assert_int_equal(READ(stderr, "in"), OPTIONS_GO_ON);
    assert_string_equal(job.file, "in");
    assert_string_equal(job.output, "out");
    assert_true(job.steps == 5 && !job.has_steps && !job.quiet && !job.called);
    assert_int_equal(READ(stderr, "--output", "a", "-s7", "-q", "-"), OPTIONS_GO_ON);
    assert_true(!strcmp(job.output, "a") && job.steps == 7 && job.has_steps && job.quiet);
    assert_string_equal(job.file, "-");
    assert_int_equal(READ(stderr, "--output=", "-s", "9", "-std=x", "--seed=9007199254740992"),
                     OPTIONS_GO_ON);
    assert_true(!*job.output && job.steps == 9 && job.seed == UINT64_C(1) << 53);
    assert_string_equal(job.mode, "x");
    assert_int_equal(
        READ(stderr, "--grid", "4,5", "--size", "6", "--colour", "green", "-Da", "-D", "b"),
        OPTIONS_GO_ON);
    assert_true(job.grid[0] == 4 && job.grid[1] == 5 && job.grid[2] == 1);
    assert_true(job.size[0] == 6 && job.size[1] == 6 && job.colour == GREEN && job.names.n == 2);
    assert_string_equal(job.names.items[1], "b");
    strings_free(&job.names);
    assert_int_equal(READ(stderr, "--call", "--rate", "0.5"), OPTIONS_GO_ON);
    assert_true(job.called && job.rate == 0.5);
    assert_string_equal(said, "");
}

static void mistakes(void **state) {
    static const struct {
        const char *arguments[4], *message;
    } cases[] = {
        {{"--what"}, "tool: unknown option '--what' (`tool --help` lists the options)\n"},
        {{"a", "b"}, "tool: unexpected argument 'b' (`tool --help` lists the options)\n"},
        {{"-qx"}, "tool: unknown option '-qx' (`tool --help` lists the options)\n"},
        {{"-s"}, "tool: a value is missing after --steps\n"},
        {{"-s", "0"}, "tool: --steps must be 1 to 100, not 0\n"},
        {{"-s", "101"}, "tool: --steps must be 1 to 100, not 101\n"},
        {{"--steps=x"}, "tool: Invalid integer for --steps: 'x'\n"},
        {{"-s", "1.5"}, "tool: Invalid integer for --steps: '1.5'\n"},
        {{"-s", " 1"}, "tool: Invalid integer for --steps: ' 1'\n"},
        {{"-s", "99999999999999999999"},
         "tool: Invalid integer for --steps: '99999999999999999999'\n"},
        {{"--rate", "nan"}, "tool: Invalid float for --rate: 'nan'\n"},
        {{"--rate", "11"}, "tool: --rate must be 1e-06 to 10, not 11\n"},
        {{"--grid", "0"}, "tool: --grid needs X[,Y[,Z]], positive numbers up to 1000, not '0'\n"},
        {{"--grid", "1,2,3,4"},
         "tool: --grid needs X[,Y[,Z]], positive numbers up to 1000, not '1,2,3,4'\n"},
        {{"--size", "1x2x3"}, "tool: --size needs WxH, positive numbers up to 1000, not '1x2x3'\n"},
        {{"--colour", "blue"}, "tool: --colour is one of red, green, not 'blue'\n"},
        {{"--mode=blue"}, "tool: --mode is one of red, green, not 'blue'\n"},
        {{"--call=bad"}, "tool: not this\n"},
    };
    Job job;
    char said[4096];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_line(&job, &stderr, said, cases[i].arguments), OPTIONS_WRONG);
        assert_string_equal(said, cases[i].message);
    }
}

static void help(void **state) {
    Job job;
    char said[4096];
    (void)state;
    assert_int_equal(READ(stdout, "--what", "--help"), 0);
    assert_non_null(strstr(said, "usage: tool FILE [options]\n\nDoes things.\n\n"
                                 "  -o, --output FILE   what to write (default: out)\n"
                                 "  --mode=WORD         one of two\n"
                                 "  -q                  say nothing\n"
                                 "  -s, --steps N       first line\n"
                                 "                      second line (default: 5)\n"
                                 "  --rate X            a number\n"));
    assert_non_null(strstr(said, "  --call[=X]          may go without\n"));
    assert_null(strstr(said, "--seed")); // it has no text
}

static void another_programs_arguments(void **state) {
    Job job;
    char said[4096];
    (void)state;
    line.rest = offsetof(Job, program) + 1;
    assert_int_equal(READ(stderr, "-q", "run", "--help"), OPTIONS_GO_ON);
    assert_true(job.quiet && !strcmp(job.program[0], "run") && !strcmp(job.program[1], "--help"));
    assert_int_equal(READ(stderr, "--", "-x"), OPTIONS_GO_ON);
    assert_string_equal(job.program[0], "-x");
    assert_int_equal(READ(stdout, "-h", "run"), 0);
    line.rest = 0;
}

static int note(const CommandLine *its_line, void *options, char *arg) {
    (void)its_line;
    ((Job *)options)->mode = arg;
    return strcmp(arg, "-bad") ? 0 : 7;
}

static void all_words_and_unknown_options(void **state) {
    (void)state;
    static const CommandLine many = {.program = "tool",
                                     .usage = "FILES",
                                     .rows = rows,
                                     .n_rows = sizeof rows / sizeof *rows,
                                     .list = offsetof(Job, names) + 1,
                                     .unknown = note};
    Job job = {0};
    char *argv[] = {"tool", "one", "-zzz", "-q", "-", "two"}, *bad[] = {"tool", "-bad"};
    assert_int_equal(options_read(&many, &job, 6, argv), OPTIONS_GO_ON);
    assert_int_equal(job.names.n, 3);
    assert_string_equal(job.names.items[1], "-");
    assert_string_equal(job.mode, "-zzz");
    assert_true(job.quiet);
    assert_int_equal(options_read(&many, &job, 2, bad), 7);
    strings_free(&job.names);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spellings), cmocka_unit_test(mistakes),
                                       cmocka_unit_test(help),
                                       cmocka_unit_test(another_programs_arguments),
                                       cmocka_unit_test(all_words_and_unknown_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
