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
    char *kernel;  // the function of the pipeline
    bool library;  // in what the place calls: textures, tensors, rays
    uint32_t draw; // of its pass, from 1; 0: a dispatch
    uint64_t count;
    ProfileFrame *frames; // the kernel first
    size_t n_frames;
} ProfileStack;

typedef struct Profile {
    ProfileStack *stacks;
    size_t n_stacks;
    uint64_t total;       // in compiled code
    uint64_t other, lost; // outside of it; that found no room
    unsigned interval_us;
    size_t n_processes;
} Profile;

// profile_data.c: what a program left in the folder. False: it left nothing, or no memory.
bool profile_read(Profile *p, const char *folder);
void profile_free(Profile *p);

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
