// SPDX-License-Identifier: Apache-2.0
// cargo_int.h: between `ingot cargo` (cmd_cargo.c) and what cargo calls then (cargo_rustc.c). They
// meet in a folder of their own inside cargo's target folder, named by INGOT_CARGO_FOLDER:
//   ingot.plan         "# SETTINGS", then what cargo_plan_write writes
//   ingot.frameworks   the notes of libingot-rustc: frameworks that Ingot has not
//   ingot.ld           what it has the linker link, needed or not
//   ingot.lib/         empty libraries under the names that were asked for
#ifndef INGOT_TOOLS_CARGO_INT_H
#define INGOT_TOOLS_CARGO_INT_H
#include "apps/tools/tools.h"
#include "base/text.h"

#define CARGO_PLAN "ingot.plan"
#define CARGO_NOTES "ingot.frameworks"
#define CARGO_LIBRARIES "ingot.lib"
#define CARGO_SCRIPT "ingot.ld"

// What a program prints, with its errors where ours go. False: it could not be started, errno.
bool capture_program(char **argv, Text *out, int *status);
// Appends to *items what must not be freed; never fails silently: out of memory ends the program.
void cargo_add(Strings *s, const char *item);

// cargo_cache.c: the answer to a question (one line) of before, if the files that it came from are
// as they were: the system that is compiled for, and INGOT_CARGO_FOLDER.
bool cargo_recall(const char *question, char **host, char **folder);
void cargo_remember(const char *question, const char *host, const char *folder,
                    const Strings *files);

// cargo_watch.c: runs argv, passes its errors on and explains those that are ours to explain.
typedef struct CargoWatch {
    const char *crate;
    const char *folder; // INGOT_CARGO_FOLDER
    bool is_mac, is_member;
} CargoWatch;
int cargo_watch(const CargoWatch *watch, char **argv);

// `ingot` called as ingot-rustc, ingot-rustdoc, ingot-rust-cc or ingot-rust-c++ (cargo_rustc.c).
// True: it was, and *status is the exit status.
bool cargo_stand_in(int argc, char **argv, int *status);
#endif
