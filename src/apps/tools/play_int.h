// SPDX-License-Identifier: Apache-2.0
// play_int.h: shared by the files behind `ingot play`.
//
// A share file is a .metal file that any compiler takes: one comment holds the settings as JSON,
// another, in lessons, the text (play_file.c). What a settings object says (play_settings.c) is all
// that is needed to run the source: which functions, on which grid, with which arguments. Sources
// are a stranger's code: they are compiled by the confined compiler, and run with shader
// validation and a time limit on a device in a process of its own (play_session.c). A process that
// is lost is replaced, and programs are made anew for the new one.
#ifndef INGOT_TOOLS_PLAY_INT_H
#define INGOT_TOOLS_PLAY_INT_H
#include <pthread.h>
#include "abi/metallib.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "apps/tools/tools.h"

enum {
    PLAY_PROGRAMS = 8, // that are kept compiled
    PLAY_NAME_BYTES = 128,
    PLAY_MAX_SIDE = 4096,      // of a picture
    PLAY_MAX_BYTES = 64 << 20, // of a buffer
    PLAY_MAX_LOG = 64 << 10,
    PLAY_OUTPUTS = 16,
};

// ---- play_file.c ----

typedef struct PlayFile { // pieces of a text, which they point into
    const char *settings, *lesson, *source;
    size_t n_settings, n_lesson, n_source; // n_settings 0: there are none
    size_t first_line;                     // of the source, from 1
} PlayFile;
void play_file_split(const char *text, size_t n, PlayFile *file);

// ---- play_settings.c ----

typedef struct PlayEntry { // "x": "f32[8]=iota" or "speed": [1.5]
    char key[PLAY_NAME_BYTES];
    char *text;
    double numbers[16];
    size_t n_numbers;
} PlayEntry;
typedef struct PlayEntries {
    PlayEntry *items;
    size_t n;
} PlayEntries;

typedef struct PlayExpect {       // of a check
    char output[PLAY_NAME_BYTES]; // a buffer; "": a pixel
    char *values;                 // "0,2,4" as the buffer's numbers; NULL: a pixel
    size_t pixel[2];
    double color[4];
    double tolerance; // < 0: not given
} PlayExpect;

typedef enum PlayStage {
    PLAY_FUNCTION, // a kernel, or a fragment function
    PLAY_VERTEX,
    PLAY_OBJECT,
    PLAY_MESH,
    PLAY_STAGES
} PlayStage;

typedef struct PlaySettings {
    uint64_t program;
    char functions[PLAY_STAGES][PLAY_NAME_BYTES]; // "": the first of its kind, or none
    size_t grid[3], group[3]; // group[0] 0: chosen. Mesh: threadgroups, threads of one
    size_t object_group[3];
    size_t width, height, vertices, instances;
    MTLPrimitiveType primitive;
    MTLCullMode cull;
    bool depth, wireframe, unchecked;
    double time, mouse[4], clear[4];
    uint64_t frame;
    PlayEntries buffers, textures, values;
    PlayExpect *expects;
    size_t n_expects;
    char **checks; // settings over these, each with what it expects, as JSON
    size_t n_checks;
} PlaySettings;

void play_settings_init(PlaySettings *s);
// Adds what the JSON says to what is there. False, and why (JSON_MESSAGE_BYTES).
bool play_settings_read(PlaySettings *s, const char *json, size_t n, char *why);
void play_settings_free(PlaySettings *s);
const PlayEntry *play_find(const PlayEntries *entries, const char *key);

// ---- play_session.c ----

typedef struct PlayPipeline {
    char *key; // of the settings it is made of
    MTLComputePipelineState *compute;
    MTLRenderPipelineState *render;
} PlayPipeline;

typedef struct PlayProgram {
    uint64_t id; // 0: none
    uint64_t used;
    MTLLibrary *library;
    Metallib *data; // of the library: what its functions take
    PlayPipeline *pipelines;
    size_t n_pipelines;
} PlayProgram;

typedef struct PlaySession {
    pthread_mutex_t lock; // of everything below: one thing runs at a time
    MTLDevice *device;    // NULL: the next run makes one
    MTLCommandQueue *queue;
    MTLLogState *logs;
    MTLLibrary *own; // the vertex function of pictures
    MTLSamplerState *sampler;
    MTLDepthStencilState *depth_state;
    MTLTexture *color, *depth; // of the last picture
    PlayProgram programs[PLAY_PROGRAMS];
    uint64_t next, clock;
    uint32_t timeout_ms;
    bool isolated; // known after the first device
    pthread_mutex_t log_lock;
    Text log; // what shaders logged in this run; under log_lock
} PlaySession;

void play_session_init(PlaySession *s, uint32_t timeout_ms);
void play_session_free(PlaySession *s);
// With the lock held, all of them. False, and why (malloc'd).
bool play_session_open(PlaySession *s, char **why);
void play_session_lose(PlaySession *s); // the device, with all that was made on it
// The program, kept under an id; what the compiler says goes to error. NULL: it does not compile.
PlayProgram *play_compile(PlaySession *s, const char *source, size_t n, MTLError **error);
PlayProgram *play_program(PlaySession *s, uint64_t id); // NULL: it is gone

// ---- play_run.c ----

typedef struct PlayOutput {
    char name[PLAY_NAME_BYTES];
    bool picture;  // width x height, RGBA of 8 bits; else a buffer
    uint32_t type; // buffers: of an element, in the program's reflection
    bool written;  // the function may write it
    size_t width, height;
    unsigned char *data;
    size_t n_bytes;
} PlayOutput;

typedef struct PlayResult {
    char *error; // NULL: it ran
    bool lost;   // the device with it
    char *log;   // what shaders logged, what shader validation found
    PlayOutput outputs[PLAY_OUTPUTS];
    size_t n_outputs;
    double seconds; // on the device
} PlayResult;

// Runs what the settings say.
void play_run(PlaySession *s, PlayProgram *program, const PlaySettings *settings,
              PlayResult *result);
void play_result_free(PlayResult *r);

// ---- play_bind.c ----

typedef struct PlayBound { // what an argument is given
    const RfArg *arg;
    PlayStage stage;
    MTLBuffer *buffer;
    MTLTexture *texture;
    bool sampler;
    size_t threadgroup; // bytes
} PlayBound;
typedef struct PlayBinding {
    PlayBound *items;
    size_t n;
} PlayBinding;
// Everything that a function takes, added. NULL, or why not (malloc'd).
char *play_bind(PlaySession *s, const RfLibrary *rf, const PlaySettings *settings,
                const RfFunction *f, PlayStage stage, size_t n_threads, size_t n_group,
                PlayBinding *binding);
void play_unbind(PlayBinding *binding);

// play_texture.c: a texture of what a settings object says ("checker"), or an empty one to write.
// NULL and *why.
MTLTexture *play_texture(PlaySession *s, const RfLibrary *rf, const RfType *type, const char *what,
                         size_t width, size_t height, char **why);

// ---- play_check.c ----

// Runs every check of the settings with the program. True: all are as expected. Lines of
// {"ok", "text"} go to json, an array.
bool play_check(PlaySession *s, PlayProgram *program, const char *settings, size_t n, Text *json);
// `ingot play --check`: the files one after the other. Exit status.
int play_check_files(PlaySession *s, const Strings *files);

// ---- play_serve.c ----

// Serves the page until a signal comes. Exit status.
int play_serve(PlaySession *s, const char *path, uint32_t port, bool browser);
#endif
