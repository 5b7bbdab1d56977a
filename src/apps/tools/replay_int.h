// SPDX-License-Identifier: Apache-2.0
// replay_int.h: what `ingot replay` and `ingot diff` have in common.
#ifndef INGOT_TOOLS_REPLAY_INT_H
#define INGOT_TOOLS_REPLAY_INT_H
#include <stdio.h>
#include "devices/capture/capture.h"
#include "devices/capture/replay.h"
#include "abi/replay.h"
#include "apps/tools/tools.h"

// cmd_replay.c: a device (NULL: the default one) and the replay on it; NULL: said why.
CapReplay *open_replay(const char *device_name, const Capture *capture, const char *command,
                       MTLDevice **device);

// replay_list.c: what commands are called: "dispatch saxpy 1024x1x1", "draw textured_vertex".
typedef struct CommandNames {
    char **names; // by command
    size_t n;
    struct CodeName *codes;
    size_t n_codes;
    const char *operation; // the last that was said
} CommandNames;
bool command_names_add(CommandNames *names, const Capture *capture, size_t run, char why[CAP_WHY]);
const char *command_name(const CommandNames *names, uint64_t command);
void command_names_free(CommandNames *names);
bool list_commands(const Capture *capture, char why[CAP_WHY]);

// replay_save.c
void object_describe(const CapObject *object, size_t number, char *text, size_t n_bytes);
// "RES[@PART]=FILE"
bool save_object(CapReplay *replay, const char *wish, char why[CAP_WHY]);
// The texels of a level and slice (or plane) as r, g, b, a, malloc'd; integers as numbers.
bool read_texels(CapReplay *replay, const CapObject *object, unsigned level, unsigned slice,
                 uint32_t *width, uint32_t *height, float **rgba, char why[CAP_WHY]);

// replay_json.c: commands, arguments, resources of the whole capture.
bool print_json(const Capture *capture, CapReplay *replay, FILE *to, char why[CAP_WHY]);
#endif
