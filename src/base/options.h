// SPDX-License-Identifier: Apache-2.0
// options.h: command lines as tables. A row says how an option is called, what it takes, where its
// value goes, what it is without being given and what the help says of it; reading, checks,
// messages and --help follow from the rows.
//
//     typedef struct Job { const char *file; uint32_t steps; bool quiet; } Job;
//     static const Option rows[] = {
//         {"-s, --steps", "N", "training steps", OPT_WHOLE, OPT_AT(Job, steps), 1, 1e6,
//          .initial = "500"},
//         {"-q", NULL, "say nothing", OPT_FLAG, OPT_AT(Job, quiet)},
//     };
//     static const CommandLine line = {.program = "tool", .usage = "FILE [options]",
//                                      OPT_ROWS(rows), OPT_WORD(Job, file)};
//     Job job = {0};
//     int status = options_read(&line, &job, argc, argv);
//     if (status != OPTIONS_GO_ON) return status;
//
// "--name value", "--name=value", "-n value" and "-nvalue" are understood. argp is not used: its
// help and messages cannot be shared between `ingot`, `mslc` and `train_siren`, and it knows
// neither ranges nor choices.
#ifndef INGOT_BASE_OPTIONS_H
#define INGOT_BASE_OPTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum OptionKind {
    OPT_FLAG,    // bool
    OPT_TEXT,    // const char *
    OPT_LIST,    // Strings: may be given again
    OPT_WHOLE,   // unsigned, of 4 or 8 bytes: from low to high
    OPT_REAL,    // double: from low to high
    OPT_CHOICE,  // an enum (4 bytes): the index in words
    OPT_SIZE,    // uint32_t or size_t, [2] (one number: a square) or [3]: 1 to high each
    OPT_CALL,    // what take makes of it
    OPT_HEADING, // no option: the names are a heading in the help
} OptionKind;

// A list of borrowed strings.
typedef struct Strings {
    char **items;
    size_t n;
} Strings;
bool strings_add(Strings *s, char *item); // false: no memory
void strings_free(Strings *s);

typedef struct Option Option;
typedef struct CommandLine CommandLine;
struct Option {
    const char *names; // "-o, --output"; messages use the last one
    const char *value; // as the help shows it, "FILE"; "[=KIND]": may be left out; NULL: a flag
    const char *help;  // lines; NULL: not shown
    OptionKind kind;
    size_t at, bytes;         // OPT_AT: where the value goes
    double low, high;         // whole numbers up to 2^53
    const char *initial;      // what it is at first, as text; NULL: it is left alone
    const char *const *words; // OPT_CHOICE, OPT_TEXT: the only values; ends with NULL
    size_t given;             // OPT_GIVEN: a bool that says it was there
    // 0, or the exit status of the program: it has said why. value is NULL where it was left out.
    int (*take)(const CommandLine *line, const Option *row, void *options, char *value);
};
#define OPT_AT(TYPE, FIELD) .at = offsetof(TYPE, FIELD), .bytes = sizeof(((TYPE *)0)->FIELD)
#define OPT_SPAN(TYPE, FIRST, LAST) /* several fields */                                           \
    .at = offsetof(TYPE, FIRST),                                                                   \
    .bytes = offsetof(TYPE, LAST) + sizeof(((TYPE *)0)->LAST) - offsetof(TYPE, FIRST)
#define OPT_GIVEN(TYPE, FIELD) .given = offsetof(TYPE, FIELD) + 1
// Of a CommandLine: its rows, and its one word.
#define OPT_ROWS(ROWS) .rows = ROWS, .n_rows = sizeof ROWS / sizeof *ROWS
#define OPT_WORD(TYPE, FIELD) .words = {offsetof(TYPE, FIELD)}, .n_words = 1

struct CommandLine {
    const char *program; // "ingot run"
    const char *usage;   // behind the program's name; several lines: whole lines from the second on
    const char *about;   // what it does, before the options
    const Option *rows;
    size_t n_rows;
    const Option *shared; // rows of several commands, for a struct at this place of the options
    size_t n_shared, shared_at;
    size_t words[2], n_words; // const char * or char * each: arguments that are no options
    size_t rest;              // offset + 1 of a char **: the first word and what follows are its
    size_t list;              // offset + 1 of a Strings: every word is its
    // An option that no row has: 0 to go on, or the exit status. NULL: the command line is wrong.
    int (*unknown)(const CommandLine *line, void *options, char *arg);
    const char *tail; // of the help
    int column;       // where the texts of the help begin; 0: 22
    bool classic;     // messages as train_siren has had them, the usage behind some
};

enum { OPTIONS_GO_ON = -1, OPTIONS_WRONG = 2 };
// Fills the struct. OPTIONS_GO_ON, or the status to exit with: 0 (the help was printed), 2 (the
// command line is wrong, said on standard error), 1 (no memory), or what a take function returned.
int options_read(const CommandLine *line, void *options, int argc, char **argv);
// "program: text" on standard error; returns OPTIONS_WRONG.
int options_wrong(const CommandLine *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void options_usage(const CommandLine *line, FILE *file); // what --help prints
const char *options_name(const Option *row);             // that messages use, "--steps"
// 1 to n positive numbers up to high with ',' or 'x' between; missing ones are 1. The count of
// those that are there, or 0.
int options_size(const char *text, double high, int n, uint64_t *sizes);
#endif
