// SPDX-License-Identifier: Apache-2.0
// view_int.h: shared by the files behind `ingot view`. The page asks by short paths (view_answer);
// a file made with --html holds the answers to those paths that the page asks first (view_html.c),
// so that there is one way to say what is in a capture.
//
//     index                      the capture as JSON: replay_json.c's, and the types of functions
//     bytes?COMMAND,ADDRESS,N    memory after a command
//     texture?COMMAND,NUMBER,LEVEL,SLICE   texels after a command, as floats
//     times                      how long each command takes when it is replayed
//     lines                      what each line of the shaders cost: samples and counts
//     history?COMMAND,NUMBER,DEPTH,X,Y   which draws of a pass changed a pixel; DEPTH: the number
//                                of the depth attachment, or NUMBER again
#ifndef INGOT_TOOLS_VIEW_INT_H
#define INGOT_TOOLS_VIEW_INT_H
#include <pthread.h>
#include "apps/tools/replay_int.h"
#include "apps/web/server.h"

enum {
    VIEW_MOST_BYTES = 4 << 20,      // of one answer about memory
    VIEW_FIRST_BYTES = 64 << 10,    // of a buffer, that the page asks for at first
    VIEW_OTHER_BYTES = 4 << 10,     // the same of other memory: constants
    VIEW_MOST_TEXELS = 1024 * 1024, // of one answer about a texture; more are thinned out
    VIEW_FILE_TEXELS = 400 * 400,   // the same in a file
    VIEW_MOST_DRAWS = 256,          // that a history looks at
};

typedef struct View {
    const char *path, *device_name; // NULL: the default one
    uint32_t most_texels;           // of one answer
    Capture *capture;
    MTLDevice *device;
    CapReplay *replay;
    uint64_t at;          // the command after which the replay stands, plus 1; 0: it has not begun
    pthread_mutex_t lock; // of the replay and what is below
    char *index;          // JSON; NULL: not asked for yet
    size_t n_index;
    uint64_t total_ns; // of a replay; 0: not known
    pthread_mutex_t lines_lock;
    char *lines;         // JSON, under that lock; NULL: not asked for yet
    struct View *other;  // to compare with; served by a process of its own
    char *other_address; // where that is
    long other_pid;
} View;

// device: as in INGOT_DEVICES; NULL: the default. False: said why.
bool view_open(View *v, const char *path, const char *device);
void view_close(View *v);
// One question; false: there is no such path.
bool view_answer(View *v, const char *path, const char *query, WebReply *reply);
// Everything up to a command is done. False and a sentence.
bool view_go(View *v, uint64_t command, char why[CAP_WHY]);

// view_lines.c: JSON about the lines of shaders. Takes seconds the first time.
bool view_lines(View *v, Text *to, char why[CAP_WHY]);

// view_debug.c: the words that start `ingot debug` on this capture, for a shell; and a terminal
// with it, "COMMAND[,thread|pixel|vertex,POSITION]". False and a sentence.
void view_debug_words(const View *v, Text *t);
bool view_has_terminal(void);
bool view_debug_start(const View *v, const char *query, char why[CAP_WHY]);

// view_html.c: the page with the answers in it. Exit status.
int view_html(View *v, const char *path, uint64_t most_bytes);

// view_other.c: the second capture, through a process of its own: one process can place the memory
// of one capture only.
bool view_other_start(View *v, const char *path, const char *device);
void view_other_ask(const View *v, const WebRequest *request, WebReply *reply);
void view_other_stop(View *v);
#endif
