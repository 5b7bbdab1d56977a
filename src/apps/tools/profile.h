// SPDX-License-Identifier: Apache-2.0
// profile.h: what `ingot profile` knows, between its files: samples as stacks of functions.
#ifndef INGOT_TOOLS_PROFILE_H
#define INGOT_TOOLS_PROFILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/text.h"

typedef struct ProfileFrame {
    char *function, *file; // "": not known
    uint32_t line;
} ProfileFrame;

typedef struct ProfileStack { // samples at one place
    char code[24];            // its code object
    uint64_t offset;
    const char *kernel; // the function of the pipeline; of Profile.codes
    bool library;       // in what the place calls: textures, tensors, rays
    uint32_t draw;      // of its pass, from 1; 0: a dispatch
    int64_t command;    // of a replayed capture; -1: not known
    uint64_t count;
    ProfileFrame *frames; // the kernel first
    size_t n_frames;
} ProfileStack;

// What counted code did (`--lanes`; abi/cpu_count.h): sums over all steps.
typedef struct ProfileCounts {
    uint64_t threads;         // that began here
    uint64_t room, active;    // lanes of vector instructions: that there were, that did something
    uint64_t scalar;          // instructions that were done once for all lanes
    uint64_t gathers, serial; // lanes of accesses and operations that were done one by one
    uint64_t texels;          // texture functions called
    uint64_t read, written;   // bytes of buffers
} ProfileCounts;
typedef struct ProfileLine { // of one line of a kernel, in one command
    const char *kernel;      // of Profile.codes
    char *file;
    uint32_t line, draw;
    int64_t command;
    ProfileCounts counts;
} ProfileLine;
typedef struct ProfileRemark { // why a line is slow (compiler/passes/remarks.c)
    char *file, *kind, *text;
    uint32_t line;
} ProfileRemark;

typedef struct Profile {
    ProfileStack *stacks;
    size_t n_stacks;
    ProfileLine *lines; // of counted code
    size_t n_lines;
    ProfileRemark *remarks;
    size_t n_remarks;
    struct ProfileCode { // a code object
        char name[24], *kernel;
    } *codes;
    size_t n_codes;
    uint64_t total;       // in compiled code
    uint64_t other, lost; // outside of it; that found no room
    unsigned interval_us;
    size_t n_processes;
} Profile;

// profile_data.c: what a program left in the folder. False: it left nothing, or no memory.
bool profile_read(Profile *p, const char *folder);
void profile_free(Profile *p);
void profile_remove_folder(const char *folder);

// profile_counts.c: lines and remarks of a code object, as the folder has them.
struct ProfileRan { // a block of it
    char code[24];
    uint64_t site, steps, lanes;
    uint32_t draw;
    int64_t command;
};
void profile_add_counts(Profile *p, const char *folder, const struct ProfileCode *code,
                        const struct ProfileRan *ran, size_t n_ran);
void profile_add_remarks(Profile *p, const char *folder, const struct ProfileCode *code);
void profile_counts_add(ProfileCounts *sum, const ProfileCounts *more);
void profile_counts_json(const ProfileCounts *c, Text *t);
void profile_print_counts(const Profile *p, size_t top);
void profile_json_counts(const Profile *p, Text *t);
// The text of a line without what stands in front of it; "" if the file is not there.
void profile_line_text(const char *file, uint32_t line, char *to, size_t room);
void profile_print_remarks(const Profile *p, const char *file, uint32_t line);

// profile_report.c
typedef enum ProfileBy { BY_KERNEL, BY_DRAW, BY_FUNCTION, BY_LINE } ProfileBy;
typedef struct ProfileRow {
    char *name; // what it is, as a text
    const ProfileFrame *frame;
    uint64_t self, all; // samples there, and in what it calls too
} ProfileRow;
ProfileRow *profile_rows(const Profile *p, ProfileBy by, size_t *n); // most first
void profile_rows_free(ProfileRow *rows, size_t n);
void profile_print(const Profile *p, size_t top);
void profile_json(const Profile *p, Text *t);
void profile_svg(const Profile *p, Text *t); // profile_svg.c: a flame graph
#endif
