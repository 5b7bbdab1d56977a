// SPDX-License-Identifier: Apache-2.0
// debug_int.h: between the files behind `ingot debug`.
#ifndef INGOT_TOOLS_DEBUG_INT_H
#define INGOT_TOOLS_DEBUG_INT_H
#include <stdbool.h>
#include <stdint.h>

typedef enum DebugAt { AT_ANY, AT_THREAD, AT_PIXEL, AT_VERTEX } DebugAt;

typedef struct DebugStop { // where to stop in a capture
    const char *file;
    bool has_command;
    uint64_t command;
    DebugAt at;
    uint32_t position[3]; // of a thread; of a pixel x, y; of a vertex its vertex_id
    // What debug_find_stop finds, malloc'd:
    char *function;
    char *source; // its name, as debuggers know it
    char *folder; // holds the sources of the capture under their names
} DebugStop;

// What a command of gdb can hold in double quotes without meaning anything else; and what it takes
// for the name of a function and nothing more: identifiers, with :: between.
bool debug_is_plain(const char *text);
bool debug_is_identifier(const char *text);

// The function that is to be looked at, with its source as a file. False: said why.
bool debug_find_stop(DebugStop *stop);
void debug_stop_free(DebugStop *stop);
#endif
